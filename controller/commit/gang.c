/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes next for a gang. Order of the record: plan -> claims -> phase Allocated -> gates ->
 * plan shrunk. A rollback is phase Releasing -> claims cleared -> plan dropped. Each step is
 * decided from the objects alone.
 */
#include <stdlib.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"

/* Where an open plan stands. */
struct progress {
    size_t planned, alive, gated, bound, finished, lost; /* members */
    size_t released; /* there, not finished, without our gate: even if being deleted */
    size_t open, written, foreign, gone; /* claims of members that are neither finished nor lost */
    bool shrunk;                         /* the plan lists no claims any more */
    const char *lost_pod, *bad_claim;
    const struct tg_pod *unbound; /* the first that was released and is not bound yet */
};

/* A released member of a plan that lists its claims no more, while the scheduler still needs them.
 */
static void count_claims_of_released(const struct tg_deciding *d, const struct tg_pod *pod,
                                     struct progress *p)
{
    for (size_t i = 0; i < d->in->unit->n_members; i++) {
        const struct tg_unit_member *member = &d->in->unit->members[i];

        for (size_t j = 0; member->pod == pod && j < member->n_claims; j++)
            if (!tg_claim_allocated(member->claims[j])) {
                p->open++;
                p->bad_claim = member->claims[j]->metadata->name;
            }
    }
}

static void count_planned_claims(const struct tg_deciding *d, const struct tg_plan_member *member,
                                 struct progress *p)
{
    for (size_t i = 0; i < member->claims.n; i++) {
        const struct tg_resource_claim *claim;
        enum tg_claim_state state =
            tg_plan_claim_state(d, member, &member->claims.items[i], &claim);

        p->open += state == TG_CLAIM_OPEN;
        p->written += state == TG_CLAIM_WRITTEN;
        p->foreign += state == TG_CLAIM_FOREIGN;
        p->gone += state == TG_CLAIM_GONE || state == TG_CLAIM_DELETING;
        if (state != TG_CLAIM_WRITTEN)
            p->bad_claim = member->claims.items[i].name;
    }
}

static void count_member(const struct tg_deciding *d, const struct tg_plan_member *member,
                         struct progress *p)
{
    struct tg_plan_pod state = tg_plan_pod_state(d->in->view, d->in->unit->namespace_, member);

    p->planned++;
    p->released += state.pod != NULL && !state.finished && !state.gated;
    if (state.pod == NULL || (state.deleting && !state.finished)) {
        p->lost++;
        p->lost_pod = member->pod;
        return;
    }
    if (state.finished) {
        p->finished++;
        return;
    }
    p->alive++;
    p->gated += state.gated;
    p->bound += state.bound;
    if (!state.gated && !state.bound && p->unbound == NULL)
        p->unbound = state.pod;
    if (member->claims.n == 0 && !state.gated && !state.bound)
        count_claims_of_released(d, state.pod, p);
    count_planned_claims(d, member, p);
}

static struct progress progress_of(const struct tg_deciding *d, const struct tg_plan *plan)
{
    struct progress p = {.shrunk = true};

    for (size_t i = 0; i < plan->members.n; i++) {
        count_member(d, &plan->members.items[i], &p);
        p.shrunk = p.shrunk && plan->members.items[i].claims.n == 0;
    }
    return p;
}

static const char *phase_of(const struct tg_unit *unit)
{
    return unit->gang->status == NULL ? NULL : unit->gang->status->phase;
}

/* Has a gate of the gang been removed? A member that stands un-gated proves it, and one that is
 * finished or a plan that has shrunk once the record said that all claims are allocated. A member
 * that is gone proves nothing. While all others are gated they are better taken back than started
 * without it: nothing of theirs runs, and its own claim is cleared only when its pod is gone. */
static bool past_the_gate(const struct tg_unit *unit, const struct progress *p)
{
    const char *phase = phase_of(unit);
    bool recorded = tg_streq(phase, TG_PHASE_ALLOCATED) || tg_streq(phase, TG_PHASE_RUNNING) ||
                    tg_streq(phase, TG_PHASE_DEGRADED);

    return p->released > 0 || (recorded && (p->finished > 0 || p->shrunk));
}

/* --- before the first gate ------------------------------------------------------------------- */

static int roll_back(struct tg_deciding *d)
{
    int r = tg_fence_unit(d, d->in->plan);

    if (r < 0 || d->out->n_writes > 0)
        return r;
    r = tg_write_clear_marked(d);
    if (r < 0 || d->out->n_writes > 0)
        return r;
    return tg_write_gang_status(
        d, &(struct tg_status_change){.phase = TG_PHASE_WAITING,
                                      .reason = "RolledBack",
                                      .text = d->in->unit->gang->status->explanation,
                                      .plan_change = TG_PLAN_DROP});
}

static int start_roll_back(struct tg_deciding *d, const char *why)
{
    const char *text =
        tg_arena_printf(d->arena, "The plan was given up and is rolled back: %s.", why);

    if (text == NULL)
        return tg_decide_out_of_memory(d);
    d->out->reason = "RolledBack";
    d->out->text = text;
    d->out->warning = true;
    return tg_write_gang_status(d, &(struct tg_status_change){.phase = TG_PHASE_RELEASING,
                                                              .reason = "RolledBack",
                                                              .text = text});
}

struct release {
    const struct tg_pod *pod;
    const char *node;
    int64_t slack;
};

static int compare_releases(const void *a, const void *b)
{
    const struct release *x = a, *y = b;

    if (x->slack != y->slack)
        return x->slack < y->slack ? -1 : 1;
    return tg_strcmp(x->pod->metadata->name, y->pod->metadata->name);
}

/* The member with the least room beside it on its node goes first: it is the one that a stranger
 * could crowd out. */
static int release_gates(struct tg_deciding *d, const struct tg_plan *plan)
{
    struct release *releases = tg_arena_alloc_array(d->arena, plan->members.n, sizeof(*releases));
    size_t n = 0;
    int r = 0;

    if (releases == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];
        struct tg_plan_pod state = tg_plan_pod_state(d->in->view, d->in->unit->namespace_, member);

        if (state.pod != NULL && state.gated && !state.finished && !state.deleting)
            releases[n++] =
                (struct release){.pod = state.pod,
                                 .node = member->node,
                                 .slack = tg_fleet_node_slack(d->in->fleet, member->node)};
    }
    if (n > 0)
        qsort(releases, n, sizeof(*releases), compare_releases);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = tg_write_release_pod(d, releases[i].pod, releases[i].node, false);
    return r;
}

static int go_forward(struct tg_deciding *d, const struct tg_plan *plan, const struct progress *p)
{
    if (p->open > 0)
        return tg_write_open_claims(d, plan);
    /* Recorded before the first gate goes: afterwards a member that is missing can not be told from
     * one that never had a gate removed. */
    if (!tg_streq(phase_of(d->in->unit), TG_PHASE_ALLOCATED))
        return tg_write_gang_status(
            d, &(struct tg_status_change){.phase = TG_PHASE_ALLOCATED, .reason = "Allocated"});
    return release_gates(d, plan);
}

static int decide_before(struct tg_deciding *d, const struct tg_plan *plan,
                         const struct progress *p)
{
    const char *why = NULL;

    if (tg_streq(phase_of(d->in->unit), TG_PHASE_RELEASING))
        return roll_back(d);
    switch (tg_plan_judge(d, plan, &why)) {
    case TG_PLAN_BROKEN:
        return start_roll_back(d, why);
    case TG_PLAN_STALLS:
        d->out->stalled = true;
        d->out->warning = true;
        return tg_decide_wait(d, TG_PHASE_COMMITTING, "Stalled",
                              "The plan waits, and is given up if this lasts: %s.", why);
    case TG_PLAN_STANDS:
        return go_forward(d, plan, p);
    }
    return 0;
}

/* --- after it -------------------------------------------------------------------------------- */

static int shrink(struct tg_deciding *d, const struct tg_plan *plan, const char *phase)
{
    struct tg_plan *small = tg_arena_alloc(d->arena, sizeof(*small));
    struct tg_plan_member *members =
        tg_arena_alloc_array(d->arena, plan->members.n, sizeof(*members));

    if (small == NULL || members == NULL)
        return tg_decide_out_of_memory(d);
    *small =
        (struct tg_plan){.epoch = plan->epoch, .allocation_timestamp = plan->allocation_timestamp};
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        members[i] = (struct tg_plan_member){
            .pod = member->pod, .uid = member->uid, .role = member->role, .node = member->node};
    }
    small->members.items = members;
    small->members.n = plan->members.n;
    return tg_write_gang_status(
        d, &(struct tg_status_change){
               .phase = phase, .reason = phase, .plan_change = TG_PLAN_SET, .plan = small});
}

/* What happens to a running gang is reported here; acting on it is onMemberLoss. */
static int decide_degraded(struct tg_deciding *d, const struct progress *p)
{
    d->out->warning = true;
    d->out->passing = p->lost > 0; /* a gang whose pods are being deleted one after the other */
    if (p->lost > 0)
        return tg_decide_wait(
            d, TG_PHASE_DEGRADED, "MemberLost",
            "%zu of %zu members are gone (pod %s, for one) while others have started.", p->lost,
            p->planned, p->lost_pod);
    return tg_decide_wait(d, TG_PHASE_DEGRADED, "AllocationLost",
                          "claim %s is no longer allocated as planned while members have started.",
                          p->bad_claim);
}

/* A pinned pod waits for ever when a stranger took its room. */
static int decide_unbound(struct tg_deciding *d, const struct tg_pod *pod)
{
    const struct tg_condition *scheduled =
        pod->status == NULL ? NULL
                            : tg_condition_find(pod->status->conditions.items,
                                                pod->status->conditions.n, "PodScheduled");

    d->out->warning = true;
    d->out->unbound = true;
    return tg_decide_wait(d, TG_PHASE_DEGRADED, "MemberNotBound",
                          "pod %s was released to its node, but is not bound: %s",
                          pod->metadata->name,
                          scheduled == NULL ? "the scheduler says nothing about it"
                                            : tg_or(scheduled->message, "no reason is given"));
}

static int close_plan(struct tg_deciding *d, const struct progress *p)
{
    bool completed = p->finished > 0;

    return tg_write_gang_status(
        d, &(struct tg_status_change){.phase = completed ? TG_PHASE_COMPLETED : TG_PHASE_GATHERING,
                                      .reason = completed ? "Completed" : "MembersGone",
                                      .plan_change = TG_PLAN_DROP});
}

/* All claims stand. */
static int go_on(struct tg_deciding *d, const struct tg_plan *plan, const struct progress *p,
                 const char *phase)
{
    /* Of those that were released none will stay: when they are gone the rest is taken back. */
    if (p->lost > 0 && p->alive == p->gated && p->finished == 0 && !p->shrunk)
        return decide_degraded(d, p);
    if (p->gated > 0)
        return release_gates(d, plan);
    if (!p->shrunk && d->in->unit->gang->metadata->deletion_timestamp == NULL)
        return shrink(d, plan, phase);
    return 0;
}

static int decide_after(struct tg_deciding *d, const struct tg_plan *plan, const struct progress *p)
{
    const struct tg_object_meta *meta = d->in->unit->gang->metadata;
    const char *phase = p->bound == p->alive ? TG_PHASE_RUNNING : TG_PHASE_ALLOCATED;
    bool hurt = p->open + p->foreign + p->gone > 0;
    int r = 0;

    if (p->alive == 0)
        return close_plan(d, p);
    if (!hurt)
        r = go_on(d, plan, p, phase);
    if (r < 0 || d->out->n_writes > 0 || d->out->reason != NULL)
        return r;
    if ((p->shrunk || meta->deletion_timestamp != NULL) &&
        tg_meta_has_finalizer(meta, TG_FINALIZER_PLAN))
        return tg_write_gang_finalizer(d, false);
    if (hurt || p->lost > 0)
        return decide_degraded(d, p);
    if (p->unbound != NULL && d->in->bind_over)
        return decide_unbound(d, p->unbound);
    d->out->unbound = p->unbound != NULL;
    d->out->kind = TG_DECIDE_WAIT;
    d->out->phase = phase;
    d->out->reason = phase;
    return 0;
}

/* --- without a plan -------------------------------------------------------------------------- */

/* The members that make the gang: per role the oldest, as many as its size. */
static int choose(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    struct tg_decision *out = d->out;

    out->chosen = tg_arena_alloc_array(d->arena, unit->n_members, sizeof(*out->chosen));
    if (out->chosen == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < unit->n_members; i++) {
        size_t size = tg_gang_role_size(unit->gang, unit->members[i].role), before = 0;

        if (unit->members[i].wait != NULL || !unit->members[i].gated)
            continue;
        for (size_t j = 0; j < out->n_chosen; j++)
            before += tg_streq(unit->members[out->chosen[j]].role, unit->members[i].role);
        if (before < size)
            out->chosen[out->n_chosen++] = i;
    }
    return 0;
}

/* Released by a plan that is no more: it runs, or will. */
static bool released(const struct tg_deciding *d, const struct tg_unit_member *member)
{
    struct tg_plan_marker marker;

    return !member->gated &&
           (member->pod->spec->node_name != NULL ||
            (member->n_claims > 0 && tg_claim_marker(member->claims[0], d->arena, &marker)));
}

static int explain_member(struct tg_deciding *d, const struct tg_unit_member *member, size_t wanted)
{
    const char *pod = member->pod->metadata->name;

    if (member->wait != NULL)
        return tg_decide_wait(d, TG_PHASE_GATHERING, "Gathering",
                              "%zu of %zu members are ready; pod %s is not: %s.", d->out->n_chosen,
                              wanted, pod, member->wait);
    if (released(d, member))
        return tg_decide_wait(
            d, TG_PHASE_GATHERING, "Gathering",
            "%zu of %zu members are ready; pod %s of an earlier run has not finished yet.",
            d->out->n_chosen, wanted, pod);
    return tg_decide_wait(d, TG_PHASE_GATHERING, "MemberNotGated",
                          "%zu of %zu members are ready; pod %s does not count: it has no "
                          "scheduling gate " TG_GATE
                          ". Delete it, and let it be created with the gate.",
                          d->out->n_chosen, wanted, pod);
}

static int explain_gathering(struct tg_deciding *d, size_t wanted)
{
    const struct tg_unit *unit = d->in->unit;

    for (size_t i = 0; i < unit->n_members; i++)
        if (unit->members[i].wait != NULL || !unit->members[i].gated)
            return explain_member(d, &unit->members[i], wanted);
    return tg_decide_wait(d, TG_PHASE_GATHERING, "Gathering", "%zu of %zu members exist.",
                          d->out->n_chosen, wanted);
}

static bool is_stray(const struct tg_deciding *d, const struct tg_resource_claim *claim)
{
    struct tg_plan_marker marker;

    return tg_claim_marker(claim, d->arena, &marker) && tg_claim_before_gate(d->in->view, claim);
}

/* Allocations that carry the marker of a plan that this gang (object) does not have: the Gang was
 * deleted, or lost its plan. Taken back while the pod is still gated, and fenced before. */
static int clear_strays(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    bool fenced = false;

    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_unit_member *member = &unit->members[i];

        for (size_t j = 0; j < member->n_claims && member->gated; j++) {
            int r;

            if (!is_stray(d, member->claims[j]))
                continue;
            r = fenced ? 0 : tg_fence_unit(d, NULL);
            if (r < 0 || (!fenced && d->out->n_writes > 0))
                return r;
            fenced = true;
            r = tg_write_clear(d, member->claims[j]);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int allocated_by_others(struct tg_deciding *d, bool *ret)
{
    const struct tg_unit *unit = d->in->unit;

    for (size_t i = 0; i < d->out->n_chosen; i++) {
        const struct tg_unit_member *member = &unit->members[d->out->chosen[i]];

        for (size_t j = 0; j < member->n_claims; j++) {
            if (!tg_claim_allocated(member->claims[j]))
                continue;
            *ret = true;
            d->out->warning = true;
            d->out->about = member->claims[j];
            return tg_decide_wait(
                d, TG_PHASE_WAITING, "AllocatedElsewhere",
                "claim %s of pod %s is allocated, but not by this gang: it must be released first.",
                member->claims[j]->metadata->name, member->pod->metadata->name);
        }
    }
    return 0;
}

static int decide_ready(struct tg_deciding *d)
{
    size_t wanted = tg_gang_total(d->in->unit->gang);
    bool theirs = false;
    int r = choose(d);

    if (r < 0)
        return r;
    if (d->out->n_chosen < wanted)
        return explain_gathering(d, wanted);
    r = allocated_by_others(d, &theirs);
    if (r < 0 || theirs)
        return r;
    d->out->kind = TG_DECIDE_PLACE;
    return 0;
}

static int decide_empty(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;

    d->out->kind = TG_DECIDE_WAIT;
    d->out->abandoned = tg_streq(tg_meta_label(unit->gang->metadata, TG_LABEL_AUTO), TG_LABEL_TRUE);
    if (d->out->abandoned && d->in->linger_over)
        return tg_write_gang_delete(d);
    if (tg_streq(phase_of(unit), TG_PHASE_COMPLETED)) {
        d->out->phase = TG_PHASE_COMPLETED;
        d->out->reason = "Completed";
        return 0;
    }
    return tg_decide_wait(d, TG_PHASE_GATHERING, "Gathering", "0 of %zu members exist.",
                          tg_gang_total(unit->gang));
}

static int decide_without_plan(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    int r;

    r = clear_strays(d);
    if (r < 0 || d->out->n_writes > 0)
        return r;
    if (tg_meta_has_finalizer(unit->gang->metadata, TG_FINALIZER_PLAN) &&
        (unit->gang->metadata->deletion_timestamp != NULL || unit->n_members == 0))
        return tg_write_gang_finalizer(d, false);
    if (unit->gang->metadata->deletion_timestamp != NULL)
        return 0;
    if (unit->n_members == 0)
        return decide_empty(d);
    if (tg_view_namespace_terminating(d->in->view, unit->namespace_))
        return tg_decide_wait(d, TG_PHASE_WAITING, "NamespaceTerminating",
                              "The namespace is terminating.");
    if (unit->problem.reason != NULL)
        return tg_decide_problem(d, TG_PHASE_WAITING);
    return decide_ready(d);
}

/* Nothing is left to do for a deleted Gang whose members have all been released. */
static bool all_released(const struct tg_deciding *d)
{
    for (size_t i = 0; i < d->in->unit->n_members; i++)
        if (!released(d, &d->in->unit->members[i]))
            return false;
    return true;
}

static int decide_without_object(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    int r = clear_strays(d);

    if (r < 0 || d->out->n_writes > 0 || all_released(d))
        return r;
    if (unit->problem.reason != NULL)
        return tg_decide_problem(d, NULL);
    if (tg_view_namespace_terminating(d->in->view, unit->namespace_))
        return tg_decide_wait(d, NULL, "NamespaceTerminating", "The namespace is terminating.");
    if (unit->declared == NULL || unit->declared->size == 0)
        return tg_decide_wait(
            d, NULL, "NoGang",
            "Gang %s/%s does not exist: create it, or give a size in the GangMember parameters.",
            unit->namespace_, unit->name);
    return tg_write_gang_create(d);
}

int tg_decide_gang(struct tg_deciding *d)
{
    const struct tg_plan *plan = d->in->plan;
    struct progress p;

    if (d->in->unit->gang == NULL)
        return decide_without_object(d);
    if (d->in->plan_unreadable)
        return tg_streq(phase_of(d->in->unit), TG_PHASE_RELEASING)
                   ? roll_back(d)
                   : start_roll_back(d, "it cannot be read");
    if (plan == NULL)
        return decide_without_plan(d);
    p = progress_of(d, plan);
    return past_the_gate(d->in->unit, &p) ? decide_after(d, plan, &p) : decide_before(d, plan, &p);
}
