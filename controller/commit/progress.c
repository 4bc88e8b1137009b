/* SPDX-License-Identifier: Apache-2.0 */
/* Where an open plan stands: what has become of each of its members and of their claims. */
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"

/* Kubernetes says so itself when a pod fails because of what is done to it: preemption, eviction, a
 * taint, its node (KEP-3329). A pod that fails by itself was not lost. */
bool tg_pod_was_disrupted(const struct tg_pod *pod)
{
    const struct tg_condition *condition =
        pod->status == NULL ? NULL
                            : tg_condition_find(pod->status->conditions.items,
                                                pod->status->conditions.n, "DisruptionTarget");

    return tg_streq(pod->status == NULL ? NULL : pod->status->phase, "Failed") &&
           condition != NULL && tg_streq(condition->status, "True");
}

static const struct tg_unit_member *unit_member(const struct tg_unit *unit,
                                                const struct tg_pod *pod)
{
    for (size_t i = 0; i < unit->n_members; i++)
        if (unit->members[i].pod == pod)
            return &unit->members[i];
    return NULL;
}

/* Of a member whose claims the plan lists no more (any: of this pod's managed claims). */
static const char *robbed_claim(const struct tg_deciding *d, const struct tg_pod *pod)
{
    const struct tg_unit_member *member = unit_member(d->in->unit, pod);

    for (size_t i = 0; member != NULL && i < member->n_claims; i++) {
        struct tg_plan_marker marker;

        if (!tg_claim_marker(member->claims[i], d->arena, &marker) ||
            !tg_streq(marker.gang_uid, tg_unit_marker_uid(d->in->unit)))
            return member->claims[i]->metadata->name;
    }
    return NULL;
}

/* A claim that is only being deleted serves its pod to the end. */
static const char *robbed_planned_claim(const struct tg_deciding *d,
                                        const struct tg_plan_member *member)
{
    for (size_t i = 0; i < member->claims.n; i++) {
        const struct tg_resource_claim *claim;
        enum tg_claim_state state =
            tg_plan_claim_state(d, member, &member->claims.items[i], &claim);

        if (state != TG_CLAIM_WRITTEN && !(state == TG_CLAIM_DELETING && tg_claim_allocated(claim)))
            return member->claims.items[i].name;
    }
    return NULL;
}

static void look_at_gated(const struct tg_deciding *d, const struct tg_plan_member *member,
                          struct tg_member_view *ret)
{
    ret->state = TG_MEMBER_GATED;
    for (size_t i = 0; i < member->claims.n; i++) {
        const struct tg_resource_claim *claim;
        enum tg_claim_state state =
            tg_plan_claim_state(d, member, &member->claims.items[i], &claim);

        ret->open += state == TG_CLAIM_OPEN;
        ret->broken += state != TG_CLAIM_OPEN && state != TG_CLAIM_WRITTEN;
    }
}

struct tg_member_view tg_member_look(const struct tg_deciding *d,
                                     const struct tg_plan_member *member)
{
    struct tg_plan_pod state = tg_plan_pod_state(d->in->view, d->in->unit->namespace_, member);
    struct tg_member_view ret = {.member = member, .pod = state.pod, .state = TG_MEMBER_LOST};

    if (state.pod == NULL || (state.deleting && !state.finished))
        return ret;
    if (state.finished) {
        ret.state = tg_pod_was_disrupted(state.pod) ? TG_MEMBER_LOST : TG_MEMBER_FINISHED;
        ret.failed = tg_streq(state.pod->status->phase, "Failed");
        return ret;
    }
    if (state.gated) {
        look_at_gated(d, member, &ret);
        return ret;
    }
    ret.state = state.bound ? TG_MEMBER_BOUND : TG_MEMBER_RELEASED;
    ret.robbed =
        member->claims.n > 0 ? robbed_planned_claim(d, member) : robbed_claim(d, state.pod);
    return ret;
}

static void count(struct tg_progress *p, const struct tg_member_view *view)
{
    p->shrunk = p->shrunk && view->member->claims.n == 0;
    p->proof = p->proof || (view->pod != NULL && !tg_pod_finished(view->pod) &&
                            !tg_pod_has_gate(view->pod, TG_GATE));
    p->ended += view->pod != NULL && tg_pod_finished(view->pod);
    p->gated += view->state == TG_MEMBER_GATED;
    p->bound += view->state == TG_MEMBER_BOUND;
    p->finished += view->state == TG_MEMBER_FINISHED;
    p->open += view->open;
    p->broken += view->broken;
    if (view->state == TG_MEMBER_RELEASED && p->unbound == NULL)
        p->unbound = view->pod;
    if (view->state == TG_MEMBER_LOST && p->lost++ == 0)
        p->lost_pod = view->member->pod;
    if (view->robbed != NULL && p->robbed++ == 0)
        p->robbed_claim = view->robbed;
}

int tg_progress_of(struct tg_deciding *d, const struct tg_plan *plan, struct tg_progress *ret)
{
    *ret = (struct tg_progress){.shrunk = true, .n = plan->members.n};
    ret->members = tg_arena_alloc_array(d->arena, plan->members.n, sizeof(*ret->members));
    if (ret->members == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < ret->n; i++) {
        ret->members[i] = tg_member_look(d, &plan->members.items[i]);
        count(ret, &ret->members[i]);
    }
    ret->alive = ret->n - ret->lost - ret->finished;
    return 0;
}
