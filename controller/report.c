/* SPDX-License-Identifier: Apache-2.0 */
/* What a decision says, where people look: events on pods, claims and the gang, and one log line
 * when it changes. */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/kinds.h"
#include "controller/controller.h"

/* Members and claims that get an event of their own; the gang tells the rest. */
#define EVENTS_MAX 64

static bool says_the_same(struct tg_unit_state *state, const struct tg_unit *unit,
                          const struct tg_decision *decision)
{
    TG_AUTOFREE char *line = tg_xasprintf("%s: %s", decision->reason, decision->text);
    uint64_t members = tg_controller_hash_members(unit);

    if (tg_streq(line, state->said) && members == state->said_to)
        return true;
    free(state->said);
    state->said = TG_TAKE(line);
    state->said_to = members;
    return false;
}

static void tell(struct tg_controller *controller, const struct tg_kind *kind,
                 const struct tg_object_meta *meta, const struct tg_decision *decision)
{
    tg_events_record(controller->events, kind, meta, decision->warning ? "Warning" : "Normal",
                     decision->reason, decision->text);
}

static void tell_member(struct tg_controller *controller, const struct tg_unit_member *member,
                        const struct tg_decision *decision)
{
    tell(controller, &tg_kind_pod, member->pod->metadata, decision);
    for (size_t i = 0; i < member->n_claims; i++)
        if (decision->about == NULL || decision->about == member->claims[i])
            tell(controller, &tg_kind_resource_claim, member->claims[i]->metadata, decision);
}

static size_t count_gated(const struct tg_unit *unit)
{
    size_t n = 0;

    for (size_t i = 0; i < unit->n_members; i++)
        n += unit->members[i].gated;
    return n;
}

void tg_controller_report(struct tg_controller *controller, struct tg_unit_state *state,
                          const struct tg_unit *unit, const struct tg_decision *decision)
{
    state->waiting = count_gated(unit);
    if (decision->reason == NULL || decision->text == NULL) {
        free(state->said);
        state->said = NULL;
        return;
    }
    if (says_the_same(state, unit, decision))
        return;
    TG_INFO("Waits", TG_S("unit", unit->key), TG_S("reason", decision->reason),
            TG_S("why", decision->text));
    if (unit->gang != NULL)
        tell(controller, &tg_kind_gang, unit->gang->metadata, decision);
    for (size_t i = 0, told = 0; i < unit->n_members && told < EVENTS_MAX; i++) {
        if (decision->to_waiting && !unit->members[i].gated)
            continue;
        tell_member(controller, &unit->members[i], decision);
        told++;
    }
}

void tg_controller_report_class(struct tg_controller *controller,
                                const struct tg_device_class *klass, const char *reason,
                                const char *text)
{
    tg_events_record(controller->events, &tg_kind_device_class, klass->metadata, "Warning", reason,
                     text);
}
