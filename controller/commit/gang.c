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

const char *tg_gang_phase(const struct tg_unit *unit)
{
    return unit->gang->status == NULL ? NULL : unit->gang->status->phase;
}

/* Has a gate of the gang been removed? A member that stands un-gated proves it, and one that is
 * finished or a plan that has shrunk once the record said that all claims are allocated. A member
 * that is gone proves nothing. While all others are gated they are better taken back than started
 * without it: nothing of theirs runs, and its own claim is cleared only when its pod is gone. */
static bool past_the_gate(const struct tg_unit *unit, const struct tg_progress *p)
{
    const char *phase = tg_gang_phase(unit);
    bool recorded = tg_streq(phase, TG_PHASE_ALLOCATED) || tg_streq(phase, TG_PHASE_RUNNING) ||
                    tg_streq(phase, TG_PHASE_DEGRADED);

    return p->proof || (recorded && (p->ended > 0 || p->shrunk));
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
                                      .plan_change = TG_PLAN_DROP,
                                      .hold_change = TG_HOLDS_DROP});
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

static int go_forward(struct tg_deciding *d, const struct tg_plan *plan,
                      const struct tg_progress *p)
{
    if (p->open > 0)
        return tg_write_open_claims(d, plan);
    /* Recorded before the first gate goes: afterwards a member that is missing can not be told from
     * one that never had a gate removed. */
    if (!tg_streq(tg_gang_phase(d->in->unit), TG_PHASE_ALLOCATED))
        return tg_write_gang_status(
            d, &(struct tg_status_change){.phase = TG_PHASE_ALLOCATED, .reason = "Allocated"});
    return tg_release_gates(d, p);
}

static int decide_before(struct tg_deciding *d, const struct tg_plan *plan,
                         const struct tg_progress *p)
{
    const char *why = NULL;

    if (tg_streq(tg_gang_phase(d->in->unit), TG_PHASE_RELEASING))
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

/* --- without a plan -------------------------------------------------------------------------- */

static bool is_chosen(const struct tg_decision *out, size_t member)
{
    for (size_t i = 0; i < out->n_chosen; i++)
        if (out->chosen[i] == member)
            return true;
    return false;
}

/* Per role the oldest, up to so many. */
static void choose_up_to(struct tg_deciding *d,
                         size_t (*limit)(const struct tg_gang *gang, const char *role))
{
    const struct tg_unit *unit = d->in->unit;
    struct tg_decision *out = d->out;

    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_unit_member *member = &unit->members[i];
        size_t before = 0;

        if (member->wait != NULL || !member->gated || is_chosen(out, i))
            continue;
        for (size_t j = 0; j < out->n_chosen; j++)
            before += tg_streq(unit->members[out->chosen[j]].role, member->role);
        if (before < limit(unit->gang, member->role))
            out->chosen[out->n_chosen++] = i;
    }
}

/* The members that make the gang: those without which it cannot start, then those of elastic roles
 * that are there too. */
static int choose(struct tg_deciding *d)
{
    struct tg_decision *out = d->out;

    out->chosen = tg_arena_alloc_array(d->arena, d->in->unit->n_members, sizeof(*out->chosen));
    if (out->chosen == NULL)
        return tg_decide_out_of_memory(d);
    choose_up_to(d, tg_gang_role_min);
    out->n_required = out->n_chosen;
    if (out->n_required == tg_gang_min_total(d->in->unit->gang))
        choose_up_to(d, tg_gang_role_size);
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
    size_t wanted = tg_gang_min_total(d->in->unit->gang);
    bool theirs = false, over = false;
    int r = choose(d);

    if (r < 0)
        return r;
    r = tg_decide_timeout(d, &over);
    if (r < 0 || over)
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
    if (tg_streq(tg_gang_phase(unit), TG_PHASE_COMPLETED)) {
        d->out->phase = TG_PHASE_COMPLETED;
        d->out->reason = "Completed";
        return 0;
    }
    return tg_decide_wait(d, TG_PHASE_GATHERING, "Gathering", "0 of %zu members exist.",
                          tg_gang_min_total(unit->gang));
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
    struct tg_progress p;
    int r;

    if (d->in->unit->gang == NULL)
        return decide_without_object(d);
    if (d->in->plan_unreadable)
        return tg_streq(tg_gang_phase(d->in->unit), TG_PHASE_RELEASING)
                   ? roll_back(d)
                   : start_roll_back(d, "it cannot be read");
    if (plan == NULL)
        return decide_without_plan(d);
    r = tg_progress_of(d, plan, &p);
    if (r < 0)
        return r;
    return past_the_gate(d->in->unit, &p) ? tg_decide_after(d, &p) : decide_before(d, plan, &p);
}
