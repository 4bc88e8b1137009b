/* SPDX-License-Identifier: Apache-2.0 */
/* I2 and I3, gangs: all of a plan's claims are allocated, or none; all before a gate goes. */
#include "api/runtime/base/str.h"
#include "api/tangram/kinds.h"
#include "api/tangram/names.h"
#include "controller/audit/parts.h"
#include "controller/gather/grant.h"
#include "controller/gather/instance.h"

/* Where a plan stands in the world. */
struct standing {
    size_t claims, allocated; /* of members that are there and have not finished */
    const char *open;         /* the first claim that is not allocated */
    const char *released;     /* a member without the gate */
};

static int look_at_claim(struct tg_auditing *a, const struct tg_gang *gang,
                         const struct tg_plan_claim *planned, struct standing *s)
{
    const struct tg_resource_claim *claim =
        tg_view_claim(a->view, gang->metadata->namespace_, planned->name);

    s->claims++;
    if (claim != NULL && tg_streq(claim->metadata->uid, planned->uid)) {
        s->allocated += tg_claim_allocated(claim);
        if (!tg_claim_allocated(claim) && s->open == NULL)
            s->open = planned->name;
        return 0;
    }
    if (s->open == NULL)
        s->open = planned->name;
    return tg_audit_found(a, TG_FOUND_PLAN_WITHOUT_CLAIM, &tg_kind_gang, gang->metadata,
                          "its plan names claim %s (UID %s), which does not exist", planned->name,
                          tg_or(planned->uid, "?"));
}

static int look_at_member(struct tg_auditing *a, const struct tg_gang *gang,
                          const struct tg_plan_member *member, struct standing *s)
{
    const struct tg_pod *pod =
        tg_audit_pod(a, gang->metadata->namespace_, member->pod, member->uid);
    int r = 0;

    if (pod == NULL || pod->spec == NULL || tg_pod_finished(pod) ||
        pod->metadata->deletion_timestamp != NULL)
        return 0;
    if (!tg_pod_has_gate(pod, TG_GATE))
        s->released = member->pod;
    for (size_t i = 0; r == 0 && i < member->claims.n; i++)
        r = look_at_claim(a, gang, &member->claims.items[i], s);
    return r;
}

static int check_plan(struct tg_auditing *a, const struct tg_gang *gang, const struct tg_plan *plan)
{
    struct standing s = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->members.n; i++)
        r = look_at_member(a, gang, &plan->members.items[i], &s);
    if (r < 0 || s.claims == s.allocated)
        return r;
    if (s.released != NULL)
        return tg_audit_found(a, TG_FOUND_STARTED_WITHOUT_CLAIM, &tg_kind_gang, gang->metadata,
                              "pod %s was released, and claim %s of the plan is not allocated",
                              s.released, s.open);
    if (s.allocated == 0)
        return 0;
    return tg_audit_found(a, TG_FOUND_PARTLY_ALLOCATED, &tg_kind_gang, gang->metadata,
                          "%zu of the %zu claims of its plan are allocated, and nothing goes on",
                          s.allocated, s.claims);
}

int tg_audit_gangs(struct tg_auditing *a)
{
    const struct tg_view_list *gangs = &a->view->lists[TG_VIEW_GANG];
    int r = 0;

    for (size_t i = 0; r == 0 && i < gangs->n; i++) {
        const struct tg_gang *gang = gangs->items[i];

        /* Of another instance: its auditor tells. */
        if (!tg_streq(tg_or(tg_instance_of_gang(gang), TG_INSTANCE_DEFAULT), a->instance))
            continue;
        if (gang->status != NULL && gang->status->plan != NULL)
            r = check_plan(a, gang, gang->status->plan);
        if (r == 0 && gang->metadata->deletion_timestamp != NULL &&
            tg_meta_has_finalizer(gang->metadata, TG_FINALIZER_PLAN))
            r = tg_audit_found(a, TG_FOUND_ORPHANED_FINALIZER, &tg_kind_gang, gang->metadata,
                               "it was deleted, and keeps finalizer " TG_FINALIZER_PLAN);
    }
    return r;
}
