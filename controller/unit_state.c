/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of units between passes. */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/plan_marker.h"
#include "controller/controller.h"

#define MARKER_MEMORY ((size_t)64 * 1024)

static void state_free(void *value)
{
    struct tg_unit_state *state = value;

    free(state->key);
    free(state->pending);
    free(state->said);
    free(state->marker_uid);
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

/* An allocation of ours vanished: its unit is told, and decided anew. (A rollback clears as well;
 * the hint does not change what it does.) */
static void claim_cleared(struct tg_controller *controller, const struct tg_resource_claim *before)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MARKER_MEMORY);
    struct tg_plan_marker marker;

    if (!tg_claim_marker(before, arena, &marker) || marker.gang_uid[0] == '\0')
        return;
    for (struct tg_map_entry *e = tg_map_first(controller->units); e != NULL; e = tg_map_next(e)) {
        struct tg_unit_state *state = tg_map_value(e);

        if (!tg_streq(state->marker_uid, marker.gang_uid))
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
    if (tg_claim_allocated(before) && !tg_claim_allocated(after) &&
        tg_streq(before->metadata->uid, after->metadata->uid))
        claim_cleared(controller, before);
}
