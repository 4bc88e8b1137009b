/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gang of which a gate was removed. It cannot be taken back as a whole any more: what is gated
 * follows, what is lost is held, recreated or let go (loss.c), and whoever replaces it joins. Each
 * step is decided from the objects alone; the first that has something to do ends the look.
 */
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/commit/parts.h"

/* --- members that are still gated ------------------------------------------------------------ */

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
int tg_release_gates(struct tg_deciding *d, const struct tg_progress *p)
{
    struct release *releases = tg_arena_alloc_array(d->arena, p->n, sizeof(*releases));
    size_t n = 0;
    int r = 0;

    if (releases == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < p->n; i++) {
        const struct tg_member_view *view = &p->members[i];

        if (view->state == TG_MEMBER_GATED)
            releases[n++] =
                (struct release){.pod = view->pod,
                                 .node = view->member->node,
                                 .slack = tg_fleet_node_slack(d->in->fleet, view->member->node)};
    }
    if (n > 0)
        qsort(releases, n, sizeof(*releases), compare_releases);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = tg_write_release_pod(d, releases[i].pod, releases[i].node, false);
    return r;
}

/* A planned member that is gated cannot be served as planned: its claim is gone or in other hands,
 * or its place is. It alone is taken back, and becomes a candidate again. */
static int give_up(struct tg_deciding *d, const struct tg_progress *p,
                   const struct tg_member_view *view, const char *why)
{
    struct tg_plan one = *d->in->plan;
    int r;

    one.members.items = (struct tg_plan_member *)(uintptr_t)view->member;
    one.members.n = 1;
    d->out->reason = "RolledBack";
    d->out->text =
        tg_arena_printf(d->arena, "The place of pod %s is given up: %s.", view->member->pod, why);
    d->out->warning = true;
    if (d->out->text == NULL)
        return tg_decide_out_of_memory(d);
    r = tg_fence_plan(d, &one);
    if (r < 0 || d->out->n_writes > 0)
        return r;
    r = tg_write_clear_planned(d, &one);
    if (r < 0 || d->out->n_writes > 0)
        return r;
    return tg_loss_forget(d, p, view->member);
}

static int carry_on_member(struct tg_deciding *d, const struct tg_progress *p,
                           const struct tg_member_view *view)
{
    const char *why = NULL;
    int r;

    switch (tg_plan_judge_member(d, d->in->plan, view->member, &why)) {
    case TG_PLAN_BROKEN:
        return give_up(d, p, view, why);
    case TG_PLAN_STALLS:
        d->out->stalled = true;
        d->out->warning = true;
        return tg_decide_wait(d, tg_gang_phase(d->in->unit), "Stalled",
                              "The place of pod %s is not ready, and is given up if this lasts: "
                              "%s.",
                              view->member->pod, why);
    case TG_PLAN_STANDS:
        break;
    }
    for (size_t i = 0; i < view->member->claims.n; i++) {
        r = tg_write_open_claim(d, d->in->plan, view->member, &view->member->claims.items[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Of those that were released none will stay: when they are gone the rest is taken back. */
static bool stays_alone(const struct tg_progress *p)
{
    return p->lost > 0 && p->alive == p->gated && p->finished == 0 && !p->shrunk;
}

static int carry_on(struct tg_deciding *d, const struct tg_progress *p)
{
    int r = 0;

    if (stays_alone(p))
        return tg_loss_report(d, p);
    for (size_t i = 0; r == 0 && d->out->reason == NULL && i < p->n; i++)
        if (p->members[i].open + p->members[i].broken > 0)
            r = carry_on_member(d, p, &p->members[i]);
    return r;
}

/* I2: no gate goes while a claim of the gang is not as planned. */
static int release(struct tg_deciding *d, const struct tg_progress *p)
{
    if (p->gated == 0 || p->robbed > 0 || tg_loss_recreates(d, p))
        return 0;
    return tg_release_gates(d, p);
}

/* --- the record ------------------------------------------------------------------------------ */

static int shrink(struct tg_deciding *d, const struct tg_progress *p)
{
    struct tg_plan *small;

    if (p->gated > 0 || p->shrunk || d->in->unit->gang->metadata->deletion_timestamp != NULL)
        return 0;
    small = tg_plan_without_claims(d);
    if (small == NULL)
        return tg_decide_out_of_memory(d);
    return tg_write_gang_status(d, &(struct tg_status_change){.phase = tg_after_phase(d, p),
                                                              .reason = tg_after_phase(d, p),
                                                              .plan_change = TG_PLAN_SET,
                                                              .plan = small});
}

static int drop_finalizer(struct tg_deciding *d, const struct tg_progress *p)
{
    const struct tg_object_meta *meta = d->in->unit->gang->metadata;

    /* Who is about to join makes the plan open again. */
    if (d->out->kind == TG_DECIDE_PLACE || !(p->shrunk || meta->deletion_timestamp != NULL) ||
        !tg_meta_has_finalizer(meta, TG_FINALIZER_PLAN))
        return 0;
    return tg_write_gang_finalizer(d, false);
}

static int close_plan(struct tg_deciding *d, const struct tg_progress *p)
{
    bool completed = p->finished > 0;

    return tg_write_gang_status(
        d, &(struct tg_status_change){.phase = completed ? TG_PHASE_COMPLETED : TG_PHASE_GATHERING,
                                      .reason = completed ? "Completed" : "MembersGone",
                                      .plan_change = TG_PLAN_DROP,
                                      .hold_change = TG_HOLDS_DROP});
}

/* --- who takes a free place ------------------------------------------------------------------ */

static bool is_planned(const struct tg_plan *plan, const struct tg_pod *pod)
{
    for (size_t i = 0; i < plan->members.n; i++)
        if (tg_streq(plan->members.items[i].uid, pod->metadata->uid))
            return true;
    return false;
}

/* A place is free when its member was lost, failed, or never came. One that succeeded is done. */
static size_t taken_places(const struct tg_progress *p, const char *role)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += tg_streq(p->members[i].member->role, role) && p->members[i].state != TG_MEMBER_LOST &&
             !(p->members[i].state == TG_MEMBER_FINISHED && p->members[i].failed);
    return n;
}

/* The place that the n-th joiner of the role is to take: that of the n-th lost member. */
static const char *place_of_lost(const struct tg_progress *p, const char *role, size_t n)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->members[i].state == TG_MEMBER_LOST && tg_streq(p->members[i].member->role, role) &&
            n-- == 0)
            return p->members[i].member->node;
    return NULL;
}

static size_t chosen_of_role(const struct tg_deciding *d, const char *role)
{
    size_t n = 0;

    for (size_t i = 0; i < d->out->n_chosen; i++)
        n += tg_streq(d->in->unit->members[d->out->chosen[i]].role, role);
    return n;
}

static bool may_join(const struct tg_deciding *d, const struct tg_unit_member *member)
{
    return member->gated && member->wait == NULL && !is_planned(d->in->plan, member->pod);
}

static int join(struct tg_deciding *d, const struct tg_progress *p)
{
    const struct tg_unit *unit = d->in->unit;
    struct tg_decision *out = d->out;

    if (p->gated > 0 || !p->shrunk || p->robbed > 0 || unit->problem.reason != NULL ||
        unit->gang->metadata->deletion_timestamp != NULL ||
        tg_view_namespace_terminating(d->in->view, unit->namespace_))
        return 0;
    out->chosen = tg_arena_alloc_array(d->arena, unit->n_members, sizeof(*out->chosen));
    out->nodes = tg_arena_alloc_array(d->arena, unit->n_members, sizeof(*out->nodes));
    if (out->chosen == NULL || out->nodes == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_unit_member *member = &unit->members[i];
        size_t before = chosen_of_role(d, member->role);

        if (!may_join(d, member) ||
            taken_places(p, member->role) + before >= tg_gang_role_size(unit->gang, member->role))
            continue;
        out->nodes[out->n_chosen] = place_of_lost(p, member->role, before);
        out->chosen[out->n_chosen++] = i;
    }
    if (out->n_chosen == 0)
        return 0;
    out->kind = TG_DECIDE_PLACE;
    out->joins = true;
    out->n_required = 1;
    return 0;
}

/* Members for whom there is no place: those of the plan are all alive, or done. */
static int tell_surplus(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    const struct tg_pod *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < unit->n_members; i++) {
        if (!may_join(d, &unit->members[i]))
            continue;
        if (n++ == 0)
            first = unit->members[i].pod;
    }
    if (n == 0)
        return 0;
    d->out->to_waiting = true;
    return tg_decide_wait(d, d->out->phase, "GangComplete",
                          "The gang is complete: %zu more than its members wait until a place is "
                          "free (pod %s, for one).",
                          n, first->metadata->name);
}

/* --- the look -------------------------------------------------------------------------------- */

static int rest(struct tg_deciding *d, const struct tg_progress *p)
{
    if (d->out->phase == NULL) {
        d->out->phase = tg_after_phase(d, p);
        d->out->reason = d->out->phase;
        d->out->drop_holds = true;
    }
    d->out->unbound = p->unbound != NULL;
    if (d->out->kind == TG_DECIDE_PLACE)
        return 0;
    d->out->kind = TG_DECIDE_WAIT;
    return d->out->text == NULL && p->gated == 0 ? tell_surplus(d) : 0;
}

static bool is_decided(const struct tg_deciding *d, int r)
{
    return r < 0 || d->out->n_writes > 0;
}

int tg_decide_after(struct tg_deciding *d, const struct tg_progress *p)
{
    static int (*const steps[])(struct tg_deciding *,
                                const struct tg_progress *) = {carry_on, release, shrink};
    /* A loss that is only told leaves the place to whoever may take it. */
    static int (*const then[])(struct tg_deciding *,
                               const struct tg_progress *) = {tg_loss_decide, join, drop_finalizer};
    int r = 0;

    if (p->alive == 0)
        return close_plan(d, p);
    for (size_t i = 0; i < TG_ARRAY_SIZE(steps); i++) {
        r = steps[i](d, p);
        if (is_decided(d, r) || d->out->reason != NULL)
            return r;
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(then); i++) {
        r = then[i](d, p);
        if (is_decided(d, r))
            return r;
    }
    return rest(d, p);
}
