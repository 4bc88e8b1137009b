/* SPDX-License-Identifier: Apache-2.0 */
/* How long it takes to find a place, and from the decision until every member may start. What a
 * predecessor has begun is not measured: nobody knows since when. */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/controller.h"

static void observe(struct tg_metric *metric, const char *outcome, int64_t ns)
{
    tg_metric_observe(metric, TG_LABELS(outcome), (double)ns / (double)TG_SECOND);
}

void tg_controller_searched(struct tg_controller *controller, struct tg_unit_state *state,
                            int64_t since, enum tg_search_outcome outcome)
{
    static const char *const names[] = {[TG_SEARCH_PLACED] = "placed",
                                        [TG_SEARCH_NO_PLACE] = "no_place",
                                        [TG_SEARCH_REFUSED] = "refused"};
    int64_t now = tg_now_monotonic(controller->clock);

    observe(controller->metric[TG_CONTROLLER_DECISION_DURATION], names[outcome], now - since);
    if (state->recorded)
        return;
    /* A plan that is not recorded yet is decided anew in each pass, until its record is written. */
    if (outcome != TG_SEARCH_PLACED)
        state->planned_since = 0;
    else if (state->planned_since == 0)
        state->planned_since = now;
}

static void end(struct tg_controller *controller, struct tg_unit_state *state, const char *outcome)
{
    observe(controller->metric[TG_CONTROLLER_COMMIT_DURATION], outcome,
            tg_now_monotonic(controller->clock) - state->planned_since);
    state->planned_since = 0;
    state->recorded = false;
}

static bool is_planned(const struct tg_unit_member *member, const struct tg_plan *record)
{
    if (record == NULL)
        return member->wait == NULL;
    for (size_t i = 0; i < record->members.n; i++)
        if (tg_streq(record->members.items[i].uid, member->pod->metadata->uid))
            return true;
    return false;
}

/* Of the planned members: is one still gated, and is a claim of one not allocated? */
static void look(const struct tg_unit *unit, const struct tg_plan *record, bool *ret_gated,
                 bool *ret_open)
{
    *ret_gated = false;
    *ret_open = false;
    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_unit_member *member = &unit->members[i];

        if (!is_planned(member, record))
            continue;
        *ret_gated = *ret_gated || member->gated;
        for (size_t j = 0; j < member->n_claims; j++)
            *ret_open = *ret_open || !tg_claim_allocated(member->claims[j]);
    }
}

void tg_controller_follow(struct tg_controller *controller, struct tg_unit_state *state,
                          const struct tg_unit *unit, const struct tg_plan *record)
{
    bool gated, open, stands;

    if (state->planned_since == 0 || state->in_flight > 0)
        return;
    look(unit, record, &gated, &open);
    /* The allocation of a single claim is its own record. */
    stands = record != NULL || (unit->kind == TG_UNIT_CLAIM && !open);
    if (!gated && !open && (state->recorded || (stands && unit->kind == TG_UNIT_CLAIM)))
        end(controller, state, "committed");
    else if (state->recorded && !stands)
        end(controller, state, "rolled_back");
    else
        /* Before those that join stand in it, the record is one that has long been made true. */
        state->recorded = stands && (gated || open);
}

/* Pods and single claims are no unit any more as soon as nothing is left to do for them.
 * "kind/ns/name"
 */
static bool came_true(const struct tg_view *view, const char *key)
{
    const char *namespace_ = strchr(key, '/') + 1, *name = strchr(namespace_, '/') + 1;
    TG_AUTOFREE char *ns = tg_xasprintf("%.*s", (int)(name - 1 - namespace_), namespace_);
    const struct tg_resource_claim *claim = tg_view_claim(view, ns, name);
    const struct tg_pod *pod = tg_view_pod(view, ns, name);

    return tg_has_prefix(key, "claim/") ? claim != NULL && tg_claim_allocated(claim)
                                        : pod != NULL && !tg_pod_has_gate(pod, TG_GATE);
}

void tg_controller_unfollow(struct tg_controller *controller, struct tg_unit_state *state,
                            const struct tg_view *view)
{
    if (state->planned_since != 0)
        end(controller, state, came_true(view, state->key) ? "committed" : "abandoned");
}
