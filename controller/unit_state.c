/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of units between passes. */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/plan_marker.h"
#include "controller/controller.h"

#define MARKER_MEMORY ((size_t)64 * 1024)

static void lost_free(struct tg_lost_device *lost)
{
    free(lost->pod_uid);
    free(lost->device);
}

static void state_free(void *value)
{
    struct tg_unit_state *state = value;

    tg_controller_forget_lost(state, NULL);
    TG_VEC_DONE(&state->lost);
    free(state->key);
    free(state->pending);
    free(state->said);
    free(state->marker_uid);
    tg_controller_forget_why(state);
    tg_draining_end(&state->draining);
    free(state);
}

struct tg_map *tg_controller_states_new(void)
{
    return tg_map_new(state_free);
}

struct tg_unit_state *tg_controller_state(struct tg_controller *controller, const char *key)
{
    struct tg_unit_state *state = tg_map_get(controller->units, key);

    if (state == NULL) {
        state = tg_xcalloc(1, sizeof(*state));
        state->key = tg_xstrdup(key);
        tg_map_set(controller->units, key, state);
    }
    return state;
}

uint64_t tg_controller_hash_members(const struct tg_unit *unit)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < unit->n_members; i++) {
        const char *uid = tg_or(unit->members[i].pod->metadata->uid, "");

        hash ^= tg_hash64(uid, strlen(uid));
    }
    return hash;
}

static bool lists(const struct tg_plan *plan, const char *uid)
{
    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        if (tg_streq(plan->members.items[i].uid, uid))
            return true;
    return false;
}

void tg_controller_forget_lost(struct tg_unit_state *state, const struct tg_plan *plan)
{
    size_t n = 0;

    for (size_t i = 0; i < state->lost.n; i++)
        if (lists(plan, state->lost.items[i].pod_uid))
            state->lost.items[n++] = state->lost.items[i];
        else
            lost_free(&state->lost.items[i]);
    state->lost.n = n;
}

static void remember(struct tg_unit_state *state, const struct tg_resource_claim *claim)
{
    const struct tg_allocation_devices *devices = claim->status->allocation->devices;

    for (size_t i = 0; i < claim->status->reserved_for.n; i++)
        for (size_t j = 0; devices != NULL && j < devices->results.n; j++) {
            const struct tg_allocation_device *result = &devices->results.items[j];

            if (result->admin_access.value)
                continue;
            *TG_VEC_PUSH(&state->lost) = (struct tg_lost_device){
                .pod_uid = tg_xstrdup(tg_or(claim->status->reserved_for.items[i].uid, "")),
                .device = tg_xasprintf("%s/%s/%s", result->driver, result->pool, result->device)};
        }
}

/* An allocation of ours vanished: its unit is told, and decided anew. (A rollback clears as well;
 * the hint does not change what it does.) */
static void claim_cleared(struct tg_controller *controller, const struct tg_resource_claim *before,
                          bool gone)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MARKER_MEMORY);
    struct tg_plan_marker marker;

    if (!tg_claim_marker(before, arena, &marker) || marker.gang_uid[0] == '\0')
        return;
    for (struct tg_map_entry *e = tg_map_first(controller->units); e != NULL; e = tg_map_next(e)) {
        struct tg_unit_state *state = tg_map_value(e);

        if (!tg_streq(state->marker_uid, marker.gang_uid))
            continue;
        remember(state, before);
        if (gone)
            continue;
        /* Gates that are about to be removed stay. */
        state->disturbed = true;
        tg_controller_drop_waiting(controller, state);
    }
}

void tg_controller_claim_changed(struct tg_controller *controller,
                                 const struct tg_resource_claim *before,
                                 const struct tg_resource_claim *after)
{
    if (!tg_claim_allocated(before) ||
        (after != NULL &&
         (tg_claim_allocated(after) || !tg_streq(before->metadata->uid, after->metadata->uid))))
        return;
    claim_cleared(controller, before, after == NULL);
}
