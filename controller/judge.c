/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/judge.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/value.h"
#include "controller/core/cel/selector.h"
#include "controller/core/check/check.h"

/* What others hold, and the devices of the placement that are not those of the piece in turn. */
struct holdings {
    struct tg_check_held *held;
    size_t n_held, held_room;
    struct tg_check_consumed *consumed;
    size_t n_consumed, consumed_room;
};

static int exhausted(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the memory for judging a placement is used up");
}

static bool is_placed(const struct tg_place_request *request, const struct tg_resource_claim *claim)
{
    for (size_t i = 0; i < request->n_pieces; i++) {
        for (size_t k = 0; k < request->pieces[i].n_claims; k++) {
            if (request->pieces[i].claims[k] == claim)
                return true;
        }
    }
    return false;
}

static const struct tg_allocation_devices *devices_of(const struct tg_resource_claim *claim)
{
    return claim->status == NULL || claim->status->allocation == NULL
               ? NULL
               : claim->status->allocation->devices;
}

static int add_amount(struct holdings *h, const struct tg_check_consumed *amount,
                      struct tg_arena *arena, struct tg_error *err)
{
    if (h->n_consumed == h->consumed_room) {
        size_t room = h->consumed_room == 0 ? 64 : 2 * h->consumed_room;
        struct tg_check_consumed *more = tg_arena_alloc_array(arena, room, sizeof(*more));

        if (more == NULL)
            return exhausted(err);
        if (h->n_consumed > 0)
            memcpy(more, h->consumed, h->n_consumed * sizeof(*more));
        h->consumed = more;
        h->consumed_room = room;
    }
    h->consumed[h->n_consumed++] = *amount;
    return 0;
}

/* A device, or a share of it, that is not free. consumed: of a share, JSON; NULL: nothing. */
static int add_held(struct holdings *h, const struct tg_check_held *held, const char *consumed,
                    struct tg_arena *arena, struct tg_error *err)
{
    struct tg_json *amounts = NULL;

    h->held[h->n_held++] = *held;
    if (consumed == NULL || tg_json_parse(consumed, strlen(consumed), arena, &amounts, NULL) < 0)
        return tg_arena_exhausted(arena) ? exhausted(err) : 0;
    for (size_t i = 0; amounts->kind == TG_JSON_OBJECT && i < amounts->n; i++) {
        const struct tg_check_consumed amount = {held->driver, held->pool, held->device,
                                                 amounts->keys[i], amounts->items[i]->text};
        int rc = add_amount(h, &amount, arena, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_busy(struct holdings *h, const struct tg_fleet_busy *busy, struct tg_arena *arena,
                    struct tg_error *err)
{
    int rc = 0;

    h->held[h->n_held++] =
        (struct tg_check_held){busy->driver, busy->pool, busy->device, busy->share};
    for (size_t i = 0; rc == 0 && i < busy->n_consumed; i++) {
        const struct tg_check_consumed amount = {busy->driver, busy->pool, busy->device,
                                                 busy->consumed[i].key, busy->consumed[i].value};

        rc = add_amount(h, &amount, arena, err);
    }
    return rc;
}

static int gather(const struct tg_view *view, const struct tg_fleet_busy *busy, size_t n_busy,
                  const struct tg_place_request *request, const struct tg_placement *placement,
                  struct tg_arena *arena, struct holdings *h, struct tg_error *err)
{
    const struct tg_view_list *claims = &view->lists[TG_VIEW_CLAIM];
    int rc = 0;

    h->held_room = n_busy;
    for (size_t i = 0; i < placement->n_pieces; i++)
        h->held_room += placement->pieces[i].n_devices;
    for (size_t i = 0; i < claims->n; i++)
        h->held_room +=
            devices_of(claims->items[i]) == NULL ? 0 : devices_of(claims->items[i])->results.n;
    h->held = tg_arena_alloc_array(arena, h->held_room, sizeof(*h->held));
    if (h->held == NULL)
        return exhausted(err);
    for (size_t i = 0; rc == 0 && i < n_busy; i++)
        rc = add_busy(h, &busy[i], arena, err);
    for (size_t i = 0; rc == 0 && i < claims->n; i++) {
        const struct tg_allocation_devices *devices = devices_of(claims->items[i]);

        if (devices == NULL || is_placed(request, claims->items[i]))
            continue;
        for (size_t k = 0; rc == 0 && k < devices->results.n; k++) {
            const struct tg_allocation_device *r = &devices->results.items[k];

            if (r->admin_access.set && r->admin_access.value)
                continue;
            rc = add_held(h, &(struct tg_check_held){r->driver, r->pool, r->device, r->share_id},
                          r->consumed_capacity, arena, err);
        }
    }
    return rc;
}

/* Ids come with the plan; until then any do that differ. */
static const char *share_id(const struct tg_placed_device *d, size_t index, struct tg_arena *arena,
                            struct tg_allocation_device *result)
{
    result->share_id = tg_arena_printf(arena, "00000000-0000-8000-8000-%012zx", index);
    result->consumed_capacity = tg_streq(d->consumed, "{}") ? NULL : d->consumed;
    return result->share_id;
}

/* What the placement gives to a claim, as an allocation would name it. */
static int allocation_of(const struct tg_placed_piece *piece, const struct tg_resource_claim *claim,
                         struct tg_arena *arena, struct tg_check_claim *ret, struct tg_error *err)
{
    struct {
        struct tg_allocation allocation;
        struct tg_allocation_devices devices;
    } *made = tg_arena_alloc(arena, sizeof(*made));
    struct tg_allocation_device *results =
        tg_arena_alloc_array(arena, piece->n_devices, sizeof(*results));
    size_t n = 0;

    if (made == NULL || results == NULL)
        return exhausted(err);
    for (size_t i = 0; i < piece->n_devices; i++) {
        const struct tg_placed_device *d = &piece->devices[i];

        if (d->claim != claim)
            continue;
        results[n] = (struct tg_allocation_device){
            .request = d->request, .driver = d->driver, .pool = d->pool, .device = d->device};
        results[n].admin_access = (struct tg_opt_bool){.set = d->admin, .value = d->admin};
        if (d->consumed != NULL && share_id(d, i, arena, &results[n]) == NULL)
            return exhausted(err);
        n++;
    }
    made->devices.results.items = results;
    made->devices.results.n = n;
    made->allocation.devices = &made->devices;
    *ret = (struct tg_check_claim){.claim = claim, .allocation = &made->allocation};
    return 0;
}

static int judge_piece(const struct tg_check_input *common, const struct tg_piece *piece,
                       const struct tg_placed_piece *placed, struct tg_arena *arena,
                       struct tg_error *err)
{
    struct tg_check_input input = *common;
    struct tg_check_claim *claims = tg_arena_alloc_array(arena, piece->n_claims, sizeof(*claims));
    int rc = claims == NULL ? exhausted(err) : 0;

    for (size_t i = 0; rc == 0 && i < piece->n_claims; i++)
        rc = allocation_of(placed, piece->claims[i], arena, &claims[i], err);
    if (rc < 0)
        return rc;
    input.claims = claims;
    input.n_claims = piece->n_claims;
    return tg_check_allocation(&input, arena, err);
}

/* Shares of one device must differ; which they are is nobody's business here. */
static int add_placed(struct holdings *h, const struct tg_placed_device *d, struct tg_arena *arena,
                      struct tg_error *err)
{
    const char *share = d->consumed == NULL ? NULL : tg_arena_printf(arena, "piece-%zu", h->n_held);

    if (d->admin)
        return 0;
    if (d->consumed != NULL && share == NULL)
        return exhausted(err);
    return add_held(h, &(struct tg_check_held){d->driver, d->pool, d->device, share}, d->consumed,
                    arena, err);
}

static const void *const *all_of(const struct tg_view *view, enum tg_view_kind kind)
{
    return (const void *const *)view->lists[kind].items;
}

int tg_judge_placement(const struct tg_view *view, const struct tg_fleet_busy *busy, size_t n_busy,
                       const struct tg_place_request *request, const struct tg_placement *placement,
                       struct tg_arena *arena, struct tg_error *err)
{
    struct holdings h = {.n_held = 0};
    struct tg_check_input input = {
        .classes = (const struct tg_device_class *const *)all_of(view, TG_VIEW_CLASS),
        .n_classes = view->lists[TG_VIEW_CLASS].n,
        .slices = (const struct tg_resource_slice *const *)all_of(view, TG_VIEW_SLICE),
        .n_slices = view->lists[TG_VIEW_SLICE].n,
        .taint_rules = (const struct tg_device_taint_rule *const *)all_of(view, TG_VIEW_TAINT_RULE),
        .n_taint_rules = view->lists[TG_VIEW_TAINT_RULE].n,
        .features = TG_CHECK_ALL_FEATURES,
        .minor = view->selectors == NULL || view->selectors->minor == 0 ? TG_CHECK_NEWEST_MINOR
                                                                        : view->selectors->minor,
        .zones = view->selectors == NULL ? NULL : view->selectors->zones,
        .devices_only = true,
    };
    int rc = gather(view, busy, n_busy, request, placement, arena, &h, err);

    for (size_t i = 0; rc == 0 && i < placement->n_pieces; i++) {
        const struct tg_placed_piece *placed = &placement->pieces[i];

        input.node = tg_view_get(view, TG_VIEW_NODE, NULL, placed->node);
        input.held = h.held;
        input.n_held = h.n_held;
        input.consumed = h.consumed;
        input.n_consumed = h.n_consumed;
        rc = judge_piece(&input, &request->pieces[i], placed, arena, err);
        /* For the pieces after this one they are taken. */
        for (size_t k = 0; rc == 0 && k < placed->n_devices; k++)
            rc = add_placed(&h, &placed->devices[k], arena, err);
    }
    return rc;
}
