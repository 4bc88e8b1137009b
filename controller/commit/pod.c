/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next for a pod with several claims: an implicit gang, whose record is an annotation of
 * the pod. */
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"

/* Fences pod and claims, clears what carries the pod's marker, then removes the record. */
static int roll_back(struct tg_deciding *d, const char *why)
{
    const struct tg_pod *pod = d->in->unit->members[0].pod;
    int r;

    d->out->reason = "RolledBack";
    d->out->text = tg_arena_printf(d->arena, "The plan was given up and is rolled back: %s.", why);
    d->out->warning = true;
    r = tg_fence_unit(d, d->in->plan);
    if (r < 0 || d->out->n_writes > 0)
        return r;
    r = tg_write_clear_marked(d);
    if (r < 0 || d->out->n_writes > 0 ||
        tg_meta_annotation(pod->metadata, TG_ANNOTATION_PLAN) == NULL)
        return r;
    return tg_write_release_pod(d, pod, NULL, true);
}

static bool has_open_claim(const struct tg_deciding *d, const struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->members.n; i++)
        for (size_t j = 0; j < plan->members.items[i].claims.n; j++) {
            const struct tg_resource_claim *claim;

            if (tg_plan_claim_state(d, &plan->members.items[i],
                                    &plan->members.items[i].claims.items[j],
                                    &claim) == TG_CLAIM_OPEN)
                return true;
        }
    return false;
}

/* A claim of the pod that somebody else has allocated or, once all of the plan is written, one
 * beside the plan (shared with other pods) that is not allocated any more. */
static const struct tg_resource_claim *foreign_claim(const struct tg_deciding *d, bool open_too)
{
    const struct tg_unit_member *member = &d->in->unit->members[0];
    struct tg_plan_marker marker;

    for (size_t i = 0; i < member->n_claims; i++)
        if ((open_too || tg_claim_allocated(member->claims[i])) &&
            !tg_claim_marker(member->claims[i], d->arena, &marker))
            return member->claims[i];
    return NULL;
}

static int decide_open(struct tg_deciding *d, const struct tg_plan *plan)
{
    const struct tg_pod *pod = d->in->unit->members[0].pod;
    const char *why = NULL;

    switch (tg_plan_judge(d, plan, &why)) {
    case TG_PLAN_BROKEN:
        return roll_back(d, why);
    case TG_PLAN_STALLS:
        d->out->stalled = true;
        d->out->warning = true;
        return tg_decide_wait(d, NULL, "Stalled",
                              "The plan waits, and is given up if this lasts: %s.", why);
    case TG_PLAN_STANDS:
        break;
    }
    if (has_open_claim(d, plan))
        return tg_write_open_claims(d, plan);
    if (foreign_claim(d, true) != NULL)
        return roll_back(d, "a claim beside the plan is not allocated any more");
    return tg_write_release_pod(d, pod, plan->members.items[0].node, true);
}

static int decide_without_plan(struct tg_deciding *d)
{
    const struct tg_unit_member *member = &d->in->unit->members[0];
    const struct tg_resource_claim *foreign;
    struct tg_plan_marker marker;
    size_t open = 0;
    bool marked = false;

    for (size_t i = 0; i < member->n_claims; i++) {
        open += !tg_claim_allocated(member->claims[i]);
        marked = marked || (tg_claim_marker(member->claims[i], d->arena, &marker) &&
                            tg_streq(marker.gang_uid, member->pod->metadata->uid));
    }
    /* A record is removed with the gate, or (ungated pods) once everything is allocated:
     * allocations without one are left over from a plan that is no more. */
    if (marked && (open > 0 || member->gated))
        return roll_back(d, "its record is gone");
    if (open == 0 && !member->gated)
        return 0;
    if (tg_view_namespace_terminating(d->in->view, d->in->unit->namespace_))
        return tg_decide_wait(d, NULL, "NamespaceTerminating", "The namespace is terminating.");
    if (d->in->unit->problem.reason != NULL)
        return tg_decide_problem(d, NULL);
    foreign = foreign_claim(d, false);
    if (foreign != NULL) {
        d->out->warning = true;
        d->out->about = foreign;
        return tg_decide_wait(
            d, NULL, "AllocatedElsewhere",
            "claim %s of pod %s was allocated by somebody else: it must be released first.",
            foreign->metadata->name, member->pod->metadata->name);
    }
    if (member->wait != NULL)
        return tg_decide_wait(d, NULL, "Gathering", "pod %s waits: %s.",
                              member->pod->metadata->name, member->wait);
    d->out->chosen = tg_arena_alloc(d->arena, sizeof(*d->out->chosen));
    if (d->out->chosen == NULL)
        return tg_decide_out_of_memory(d);
    d->out->n_chosen = 1;
    d->out->kind = TG_DECIDE_PLACE;
    return 0;
}

int tg_decide_pod(struct tg_deciding *d)
{
    if (d->in->plan_unreadable)
        return roll_back(d, "it cannot be read");
    return d->in->plan == NULL ? decide_without_plan(d) : decide_open(d, d->in->plan);
}
