/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/inspector.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/audit/grants.h"
#include "controller/controller.h"
#include "controller/gather/grant.h"

#define TURN_CLAIMS 500
#define TURN_PAUSE (50 * TG_MILLISECOND)
#define SCENE_MEMORY ((size_t)64 << 20)
#define CLAIM_MEMORY ((size_t)64 << 20)

struct found {
    enum tg_finding_code code;
    struct tg_object_meta about;
    char *namespace_, *name, *uid, *text;
};

struct founds {
    TG_VEC(struct found) list;
};

struct tg_inspector {
    struct tg_controller *controller;
    void (*done)(void *data);
    void *data;
    struct tg_timer timer;
    bool under_way;
    size_t place; /* in the store of claims */
    struct founds now, last;
    size_t seen, seen_last;
    int64_t longest, longest_last;
};

static void founds_clear(struct founds *founds)
{
    for (size_t i = 0; i < founds->list.n; i++) {
        free(founds->list.items[i].namespace_);
        free(founds->list.items[i].name);
        free(founds->list.items[i].uid);
        free(founds->list.items[i].text);
    }
    TG_VEC_DONE(&founds->list);
}

static void keep(struct founds *founds, const struct tg_finding *finding)
{
    struct found *found;

    if (founds->list.n == TG_FINDINGS_MAX)
        return;
    found = TG_VEC_PUSH(&founds->list);
    *found = (struct found){.code = finding->code,
                            .namespace_ = tg_xstrdup(tg_or(finding->about->namespace_, "")),
                            .name = tg_xstrdup(tg_or(finding->about->name, "")),
                            .uid = tg_xstrdup(tg_or(finding->about->uid, "")),
                            .text = tg_xstrdup(finding->text)};
    found->about = (struct tg_object_meta){
        .namespace_ = found->namespace_, .name = found->name, .uid = found->uid};
}

/* --- one turn -------------------------------------------------------------------------------- */

struct turn {
    struct tg_inspector *inspector;
    struct tg_grants *grants;
    struct tg_arena *arena; /* of one claim */
    struct tg_error err;
    int r;
};

static bool list_object(void *data, const struct tg_stored *stored)
{
    struct tg_view_list *list = data;

    *TG_VEC_PUSH(list) = stored->object;
    return true;
}

static bool look(void *data, const struct tg_stored *stored)
{
    struct turn *turn = data;
    struct tg_inspector *inspector = turn->inspector;
    const struct tg_resource_claim *claim = (const void *)stored->object;
    const char *node = tg_claim_node(claim);
    const struct tg_stored *there =
        node == NULL ? NULL
                     : tg_informer_get(inspector->controller->informers[TG_VIEW_NODE], NULL, node);
    struct tg_findings findings = {.n = 0};

    inspector->seen++;
    tg_arena_reset(turn->arena);
    turn->r =
        tg_grants_check(turn->grants, claim, there == NULL ? NULL : (const void *)there->object,
                        turn->arena, &findings, &turn->err);
    for (size_t i = 0; i < findings.n; i++)
        keep(&inspector->now, &findings.items[i]);
    return turn->r == 0;
}

/* --- its slices: those that a node can see, of the nodes of the claims ---- */

struct sights {
    struct tg_controller *controller;
    struct tg_view *view;
    struct tg_map *nodes; /* seen so far */
};

static void list_slice(void *data, const char *name)
{
    struct sights *sights = data;
    const struct tg_stored *stored =
        tg_informer_get(sights->controller->informers[TG_VIEW_SLICE], NULL, name);

    if (stored != NULL)
        tg_view_add(sights->view, TG_VIEW_SLICE, stored->object);
}

static bool list_slices(void *data, const struct tg_stored *stored)
{
    struct sights *sights = data;
    const char *node = tg_claim_node((const void *)stored->object);

    if (node == NULL || tg_map_get(sights->nodes, node) != NULL)
        return true;
    tg_map_set(sights->nodes, node, sights);
    tg_fleet_slices_of(sights->controller->fleet, node, list_slice, sights);
    return true;
}

static void list_sights(const struct tg_inspector *inspector, struct tg_view *view)
{
    struct sights sights = {
        .controller = inspector->controller, .view = view, .nodes = tg_map_new(NULL)};
    size_t place = inspector->place;

    tg_fleet_slices_of(inspector->controller->fleet, NULL, list_slice, &sights);
    (void)tg_informer_walk(inspector->controller->informers[TG_VIEW_CLAIM], &place, TURN_CLAIMS,
                           list_slices, &sights);
    tg_map_free(sights.nodes);
}

/* False: there are no more claims, or no memory. */
static bool look_at_some(struct tg_inspector *inspector)
{
    struct tg_controller *controller = inspector->controller;
    TG_AUTOARENA struct tg_arena *scene = tg_arena_new(SCENE_MEMORY);
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(CLAIM_MEMORY);
    static const enum tg_view_kind lent[] = {TG_VIEW_CLAIM, TG_VIEW_SLICE, TG_VIEW_NODE};
    struct turn turn = {.inspector = inspector, .arena = arena};
    struct tg_view view;
    bool more = false;

    tg_view_init(&view);
    view.selectors = &controller->selectors;
    tg_informer_each(controller->informers[TG_VIEW_CLASS], list_object, &view.lists[TG_VIEW_CLASS]);
    list_sights(inspector, &view);
    turn.r = tg_grants_open(&view, tg_configuration_instance(controller->configuration),
                            tg_now_wall(controller->clock), scene, &turn.grants, &turn.err);
    if (turn.r == 0)
        more = tg_informer_walk(controller->informers[TG_VIEW_CLAIM], &inspector->place,
                                TURN_CLAIMS, look, &turn);
    if (turn.r < 0)
        TG_ERR(&turn.err, "Allocations are not judged this time");
    tg_view_done(&view);
    for (size_t i = 0; i < TG_ARRAY_SIZE(lent); i++)
        tg_informer_cool(controller->informers[lent[i]]);
    return more && turn.r == 0;
}

/* --- rounds ---------------------------------------------------------------------------------- */

static void end_round(struct tg_inspector *inspector)
{
    founds_clear(&inspector->last);
    inspector->last = inspector->now;
    inspector->now = (struct founds){.list = {0}};
    inspector->seen_last = inspector->seen;
    inspector->longest_last = inspector->longest;
    inspector->under_way = false;
    inspector->done(inspector->data);
}

static void on_turn(struct tg_timer *timer)
{
    struct tg_inspector *inspector = timer->data;
    const struct tg_clock *clock = inspector->controller->clock;
    int64_t began = tg_now_monotonic(clock), took;
    bool more = !inspector->controller->stopping && tg_controller_synced(inspector->controller) &&
                look_at_some(inspector);

    took = tg_now_monotonic(clock) - began;
    if (took > inspector->longest)
        inspector->longest = took;
    if (more)
        tg_timer_start(inspector->controller->loop, &inspector->timer, TURN_PAUSE);
    else
        end_round(inspector);
}

void tg_inspector_start(struct tg_inspector *inspector)
{
    if (inspector->under_way)
        return;
    inspector->under_way = true;
    inspector->place = inspector->seen = 0;
    inspector->longest = 0;
    tg_timer_start(inspector->controller->loop, &inspector->timer, 0);
}

void tg_inspector_add(const struct tg_inspector *inspector, struct tg_findings *findings)
{
    for (size_t i = 0; i < inspector->last.list.n; i++) {
        const struct found *found = &inspector->last.list.items[i];

        findings->total++;
        if (findings->n < TG_FINDINGS_MAX)
            findings->items[findings->n++] = (struct tg_finding){.code = found->code,
                                                                 .kind = &tg_kind_resource_claim,
                                                                 .about = &found->about,
                                                                 .text = found->text};
    }
}

size_t tg_inspector_seen(const struct tg_inspector *inspector)
{
    return inspector->seen_last;
}

int64_t tg_inspector_longest(const struct tg_inspector *inspector)
{
    return inspector->longest_last;
}

struct tg_inspector *tg_inspector_new(struct tg_controller *controller, void (*done)(void *data),
                                      void *data)
{
    struct tg_inspector *inspector = tg_xcalloc(1, sizeof(*inspector));

    *inspector = (struct tg_inspector){.controller = controller, .done = done, .data = data};
    inspector->timer = (struct tg_timer){.callback = on_turn, .data = inspector};
    return inspector;
}

void tg_inspector_free(struct tg_inspector *inspector)
{
    if (inspector == NULL)
        return;
    tg_timer_stop(&inspector->timer);
    founds_clear(&inspector->now);
    founds_clear(&inspector->last);
    free(inspector);
}
