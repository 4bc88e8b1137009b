/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/gang/drain.h"

#define NODES_TOLD 3
#define WHY "What is free there is kept for the gang, which waits for room."

static void let_go(struct tg_draining *draining)
{
    for (size_t i = 0; i < draining->nodes.n; i++)
        free(draining->nodes.items[i]);
    TG_VEC_DONE(&draining->nodes);
    draining->keeps_since = 0;
}

/* 0 says that it is not so. */
static int64_t moment(int64_t time)
{
    return time == 0 ? -1 : time;
}

void tg_draining_end(struct tg_draining *draining)
{
    let_go(draining);
    draining->waits_since = draining->rests_since = 0;
}

/* How much is left of a time that is `most` long, or, below 0, for how long it has been over, as
 * long again at most: another leader's clock may say anything. */
static int64_t left_until(int64_t end, int64_t wall, int64_t most)
{
    if (end <= wall - most)
        return -most;
    return end >= wall + most ? most : end - wall;
}

void tg_draining_recall(struct tg_draining *draining, const struct tg_gang *gang,
                        const struct tg_delays *delays, int64_t now, int64_t wall)
{
    const struct tg_gang_status *status = gang->status;
    int64_t left = 0, end = 0;

    if (draining->recalled)
        return;
    draining->recalled = true;
    if (status == NULL || status->plan != NULL || status->holds.n == 0 ||
        tg_time_parse(tg_or(status->holds.items[0].until, ""), &end, NULL) < 0)
        return;
    left = left_until(end, wall, delays->drain);
    if (left <= 0) {
        draining->rests_since = moment(now + left);
        return;
    }
    for (size_t i = 0; i < status->holds.n; i++) {
        if (status->holds.items[i].node != NULL)
            *TG_VEC_PUSH(&draining->nodes) = tg_xstrdup(status->holds.items[i].node);
    }
    draining->keeps_since = moment(now - (delays->drain - left));
    (void)snprintf(draining->until, sizeof(draining->until), "%s", status->holds.items[0].until);
}

bool tg_draining_keeps(struct tg_draining *draining, const struct tg_delays *delays, int64_t now)
{
    if (draining->keeps_since == 0)
        return false;
    if (now - draining->keeps_since < delays->drain)
        return true;
    let_go(draining);
    draining->rests_since = now;
    return false;
}

bool tg_draining_due(struct tg_draining *draining, const struct tg_delays *delays, int64_t now,
                     int64_t *ret_wake)
{
    int64_t begins;

    if (draining->waits_since == 0)
        draining->waits_since = now;
    if (tg_draining_keeps(draining, delays, now)) {
        *ret_wake = draining->keeps_since + delays->drain;
        return true;
    }
    begins = draining->rests_since != 0 ? draining->rests_since + delays->drain
                                        : draining->waits_since + delays->drain_after;
    *ret_wake = now >= begins ? now + delays->drain : begins;
    return now >= begins;
}

bool tg_draining_helps(const struct tg_search *search)
{
    static const char *const reasons[] = {"InsufficientDevices", "FragmentedDevices", "NoDomain"};

    for (size_t i = 0; search->no_place != NULL && i < TG_ARRAY_SIZE(reasons); i++) {
        if (tg_streq(search->no_place->reason, reasons[i]))
            return true;
    }
    return false;
}

static const char *tell(const struct tg_draining *draining, const struct tg_delays *delays,
                        const char *text, struct tg_arena *arena)
{
    const char *names = "";

    for (size_t i = 0; names != NULL && i < draining->nodes.n && i < NODES_TOLD; i++)
        names =
            tg_arena_printf(arena, "%s%s%s", names, i == 0 ? "" : ", ", draining->nodes.items[i]);
    if (names != NULL && draining->nodes.n > NODES_TOLD)
        names = tg_arena_printf(arena, "%s and %zu more", names, draining->nodes.n - NODES_TOLD);
    return names == NULL
               ? NULL
               : tg_arena_printf(arena,
                                 "%s. What is or becomes free on %s is kept for it, for %" PRId64
                                 "s at most",
                                 tg_or(text, ""), names, delays->drain / TG_SECOND);
}

static int write_kept(const struct tg_draining *draining, struct tg_arena *arena,
                      struct tg_decision *decision, struct tg_error *err)
{
    size_t n =
        draining->nodes.n < TG_GANG_MAX_HOLDS ? draining->nodes.n : (size_t)TG_GANG_MAX_HOLDS;
    struct tg_gang_hold *kept = tg_arena_alloc_array(arena, n, sizeof(*kept));
    const char *until = tg_arena_strdup(arena, draining->until);

    if (kept == NULL || until == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the memory budget of a pass is used up");
    for (size_t i = 0; i < n; i++) {
        kept[i] = (struct tg_gang_hold){
            .node = tg_arena_strdup(arena, draining->nodes.items[i]), .until = until, .why = WHY};
        if (kept[i].node == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the memory budget of a pass is used up");
    }
    decision->kept = kept;
    decision->n_kept = n;
    return 0;
}

int tg_draining_choose(struct tg_draining *draining, const struct tg_delays *delays,
                       const struct tg_fleet *fleet, const struct tg_search *search, int64_t now,
                       int64_t wall, struct tg_arena *arena, struct tg_decision *decision,
                       struct tg_error *err)
{
    struct tg_drain drain;
    int64_t since = draining->keeps_since;
    int r = tg_drain_choose(fleet, &search->request, (const char *const *)draining->nodes.items,
                            draining->nodes.n, arena, &drain, err);

    if (r < 0)
        return r;
    let_go(draining);
    /* By numbers there is room: what it lacks is nothing that others would have to give back. */
    if (drain.missing == 0)
        return 0;
    for (size_t i = 0; i < drain.n; i++)
        *TG_VEC_PUSH(&draining->nodes) = tg_xstrdup(drain.nodes[i]);
    draining->keeps_since = since == 0 ? now : since;
    if (since == 0)
        tg_time_format_seconds((wall + delays->drain) / TG_SECOND, draining->until);
    r = write_kept(draining, arena, decision, err);
    if (r < 0)
        return r;
    decision->text = tell(draining, delays, decision->text, arena);
    return decision->text != NULL
               ? 0
               : tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the memory budget of a pass is used up");
}
