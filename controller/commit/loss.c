/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of a gang that has started is lost: deleted, preempted, evicted; robbed of its
 * allocation; or released and not bound in time. What happens then is the gang's onMemberLoss. All
 * of it is decided from the objects: what is held, and until when, stands in status.holds, and an
 * end that has passed is what makes Hold recreate.
 */
#include <string.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"
#include "controller/gather/awake.h"

static enum tg_on_loss policy_of(const struct tg_deciding *d)
{
    return tg_gang_on_loss(d->in->unit->gang);
}

/* --- what is lost ---------------------------------------------------------------------------- */

static bool is_held(const struct tg_gang *gang, const char *pod)
{
    for (size_t i = 0; gang->status != NULL && i < gang->status->holds.n; i++)
        if (tg_streq(gang->status->holds.items[i].pod, pod))
            return true;
    return false;
}

/* Once its place is held it counts as lost until it is bound: a new process does not wait anew. */
static bool is_stranded(const struct tg_deciding *d, const struct tg_member_view *view)
{
    return view->state == TG_MEMBER_RELEASED &&
           (d->in->bind_over || is_held(d->in->unit->gang, view->member->pod));
}

static const struct tg_pod *stranded(const struct tg_deciding *d, const struct tg_progress *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_stranded(d, &p->members[i]))
            return p->members[i].pod;
    return NULL;
}

static bool is_lost(const struct tg_deciding *d, const struct tg_member_view *view)
{
    return view->state == TG_MEMBER_LOST || view->robbed != NULL || is_stranded(d, view);
}

static size_t present(const struct tg_deciding *d, const struct tg_progress *p, const char *role)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += tg_streq(p->members[i].member->role, role) && !is_lost(d, &p->members[i]);
    return n;
}

/* The rest goes on without it: so the gang says, or enough of an elastic role are left. */
static bool is_let_go(const struct tg_deciding *d, const struct tg_progress *p,
                      const struct tg_member_view *view)
{
    const struct tg_gang *gang = d->in->unit->gang;
    const char *role = view->member->role;
    size_t least = tg_gang_role_min(gang, role);

    return policy_of(d) == TG_LOSS_RELEASE ||
           (least < tg_gang_role_size(gang, role) && present(d, p, role) >= least);
}

/* A place of which nothing but the hold is left: its member was given up before its own gate. */
static bool held_place_is_empty(const struct tg_deciding *d, const struct tg_progress *p)
{
    const struct tg_gang *gang = d->in->unit->gang;

    if (gang->status == NULL || gang->status->holds.n == 0)
        return false;
    if (gang->spec->roles.n == 0)
        return present(d, p, NULL) < tg_gang_role_min(gang, NULL);
    for (size_t i = 0; i < gang->spec->roles.n; i++) {
        const char *role = gang->spec->roles.items[i].name;

        if (present(d, p, role) < tg_gang_role_min(gang, role))
            return true;
    }
    return false;
}

static bool hurts(const struct tg_deciding *d, const struct tg_progress *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_lost(d, &p->members[i]) && !is_let_go(d, p, &p->members[i]))
            return true;
    return policy_of(d) != TG_LOSS_RELEASE && held_place_is_empty(d, p);
}

const char *tg_after_phase(const struct tg_deciding *d, const struct tg_progress *p)
{
    if (hurts(d, p))
        return TG_PHASE_DEGRADED;
    return p->bound == p->alive ? TG_PHASE_RUNNING : TG_PHASE_ALLOCATED;
}

/* --- what is told ---------------------------------------------------------------------------- */

static const char *scheduler_says(const struct tg_pod *pod)
{
    const struct tg_condition *scheduled =
        pod->status == NULL ? NULL
                            : tg_condition_find(pod->status->conditions.items,
                                                pod->status->conditions.n, "PodScheduled");

    /* That was said while the gate was still on. */
    if (scheduled == NULL || tg_streq(scheduled->reason, "SchedulingGated"))
        return "the scheduler says nothing about it";
    return tg_or(scheduled->message, "no reason is given");
}

/* next: what becomes of it, a sentence, or "". */
static int report(struct tg_deciding *d, const struct tg_progress *p, const char *next)
{
    const struct tg_pod *unbound = stranded(d, p);

    d->out->warning = true;
    if (p->lost > 0)
        return tg_decide_wait(
            d, TG_PHASE_DEGRADED, "MemberLost",
            "%zu of %zu members are gone (pod %s, for one) while others have started.%s", p->lost,
            p->n, p->lost_pod, next);
    if (p->robbed > 0)
        return tg_decide_wait(
            d, TG_PHASE_DEGRADED, "AllocationLost",
            "claim %s is no longer allocated as planned while members have started.%s",
            p->robbed_claim, next);
    if (unbound != NULL)
        return tg_decide_wait(d, TG_PHASE_DEGRADED, "MemberNotBound",
                              "pod %s was released to its node, but is not bound: %s.%s",
                              unbound->metadata->name, scheduler_says(unbound), next);
    return tg_decide_wait(d, TG_PHASE_DEGRADED, "MemberLost",
                          "Members are missing while others have started.%s", next);
}

int tg_loss_report(struct tg_deciding *d, const struct tg_progress *p)
{
    d->out->passing = true; /* a gang whose pods are being deleted one after the other */
    return report(d, p, "");
}

/* --- evicting -------------------------------------------------------------------------------- */

static int evict(struct tg_deciding *d, const struct tg_pod *pod)
{
    const struct tg_object_meta *meta = pod->metadata;

    return tg_decide_write(
        d, &(struct tg_write){
               .kind = TG_WRITE_POD_EVICT,
               .namespace_ = meta->namespace_,
               .name = meta->name,
               .uid = meta->uid,
               .resource_version = meta->resource_version,
               .body = tg_arena_printf(
                   d->arena,
                   "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{"
                   "\"namespace\":\"%s\",\"name\":\"%s\"},\"deleteOptions\":{\"preconditions\":{"
                   "\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}}",
                   meta->namespace_, meta->name, meta->uid, meta->resource_version)});
}

static bool comes_back(const struct tg_pod *pod)
{
    return tg_meta_controller(pod->metadata) != NULL;
}

static bool has_started(const struct tg_member_view *view)
{
    return view->state == TG_MEMBER_RELEASED || view->state == TG_MEMBER_BOUND;
}

/* Evicts whoever has started and will be made again, gated; what is gated already is taken back
 * when they are gone. */
static int recreate(struct tg_deciding *d, const struct tg_progress *p)
{
    size_t bare = 0;
    int r;

    for (size_t i = 0; i < p->n; i++)
        bare += has_started(&p->members[i]) && !comes_back(p->members[i].pod);
    r = report(d, p,
               bare == 0 ? " The gang is recreated."
                         : " The gang is recreated, but for pods that no controller owns: delete "
                           "them, and create them anew.");
    for (size_t i = 0; r == 0 && i < p->n; i++)
        if (has_started(&p->members[i]) && comes_back(p->members[i].pod))
            r = evict(d, p->members[i].pod);
    return r;
}

/* --- holding --------------------------------------------------------------------------------- */

struct holding {
    struct tg_deciding *d;
    struct tg_gang_hold *items;
    size_t n, capacity;
    const char *until;
};

static int open_holding(struct holding *h, struct tg_deciding *d)
{
    const struct tg_gang_status *status = d->in->unit->gang->status;
    int64_t until = d->in->now + d->in->hold_for;
    char text[32];

    *h = (struct holding){.d = d, .capacity = TG_GANG_MAX_HOLDS};
    h->items = tg_arena_alloc_array(d->arena, h->capacity, sizeof(*h->items));
    tg_time_format_seconds((until + TG_SECOND - 1) / TG_SECOND, text);
    h->until = tg_arena_strdup(d->arena, text);
    if (h->items == NULL || h->until == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; status != NULL && i < status->holds.n && h->n < h->capacity; i++)
        h->items[h->n++] = status->holds.items[i];
    return 0;
}

/* What does not fit is not held: the object is bounded. */
static void add(struct holding *h, const struct tg_plan_member *member, const char *device)
{
    if (h->n < h->capacity)
        h->items[h->n++] = (struct tg_gang_hold){.pod = member->pod,
                                                 .node = member->node,
                                                 .device = device,
                                                 .until = h->until,
                                                 .why = "its member was lost"};
}

static int add_device(struct holding *h, const struct tg_plan_member *member, const char *driver,
                      const char *pool, const char *device)
{
    const char *name = tg_arena_printf(h->d->arena, "%s/%s/%s", driver, pool, device);

    if (name == NULL)
        return tg_decide_out_of_memory(h->d);
    add(h, member, name);
    return 0;
}

static int add_planned(struct holding *h, const struct tg_plan_member *member)
{
    int r = 0;

    for (size_t i = 0; i < member->claims.n; i++)
        for (size_t j = 0; j < member->claims.items[i].results.n; j++) {
            const struct tg_plan_result *result = &member->claims.items[i].results.items[j];

            for (size_t k = 0; r == 0 && !result->admin_access.value && k < result->devices.n; k++)
                r = add_device(h, member, tg_plan_result_driver(h->d->in->plan, result),
                               tg_plan_result_pool(member, result), result->devices.items[k]);
        }
    return r;
}

static bool is_for(const struct tg_resource_claim *claim, const struct tg_plan_member *member)
{
    for (size_t i = 0; i < claim->status->reserved_for.n; i++)
        if (tg_streq(claim->status->reserved_for.items[i].uid, member->uid))
            return true;
    return false;
}

/* The plan lists devices no more; the allocation stands until the claim controller has noticed. */
static int add_allocated(struct holding *h, const struct tg_plan_member *member)
{
    const char *uid = tg_unit_marker_uid(h->d->in->unit);
    struct tg_view_list claims;
    int r = 0;

    if (tg_awake_marked(h->d->in->view, uid, h->d->arena, &claims) < 0)
        return tg_decide_out_of_memory(h->d);
    for (size_t i = 0; i < claims.n; i++) {
        const struct tg_resource_claim *claim = claims.items[i];
        const struct tg_allocation_devices *devices;
        struct tg_plan_marker marker;

        if (!tg_streq(claim->metadata->namespace_, h->d->in->unit->namespace_) ||
            !tg_claim_marker(claim, h->d->arena, &marker) || !tg_streq(marker.gang_uid, uid) ||
            !is_for(claim, member))
            continue;
        devices = claim->status->allocation->devices;
        for (size_t j = 0; r == 0 && devices != NULL && j < devices->results.n; j++) {
            const struct tg_allocation_device *result = &devices->results.items[j];

            if (!result->admin_access.value)
                r = add_device(h, member, result->driver, result->pool, result->device);
        }
    }
    return r;
}

static void add_seen(struct holding *h, const struct tg_plan_member *member)
{
    for (size_t i = 0; i < h->d->in->n_lost; i++)
        if (tg_streq(h->d->in->lost[i].pod_uid, member->uid))
            add(h, member, h->d->in->lost[i].device);
}

static int hold_member(struct holding *h, const struct tg_plan_member *member)
{
    size_t before = h->n;
    int r = member->claims.n > 0 ? add_planned(h, member) : add_allocated(h, member);

    if (r == 0 && member->claims.n == 0)
        add_seen(h, member);
    if (r == 0 && h->n == before)
        add(h, member, NULL); /* nothing is known but its node */
    return r;
}

static int write_holds(struct tg_deciding *d, const struct tg_progress *p, struct holding *h)
{
    int r = report(d, p, "");

    if (r < 0)
        return r;
    return tg_write_gang_status(d, &(struct tg_status_change){.phase = TG_PHASE_DEGRADED,
                                                              .reason = d->out->reason,
                                                              .text = d->out->text,
                                                              .hold_change = TG_HOLDS_SET,
                                                              .holds = h->items,
                                                              .n_holds = h->n});
}

/* The first end of a hold; INT64_MAX if none can be read. */
static int64_t first_end(const struct tg_gang *gang)
{
    int64_t first = INT64_MAX, end;

    for (size_t i = 0; gang->status != NULL && i < gang->status->holds.n; i++)
        if (tg_time_parse(gang->status->holds.items[i].until, &end, NULL) == 0 && end < first)
            first = end;
    return first;
}

static int hold(struct tg_deciding *d, const struct tg_progress *p)
{
    const struct tg_gang *gang = d->in->unit->gang;
    size_t held = gang->status == NULL ? 0 : gang->status->holds.n;
    int64_t end = first_end(gang);
    struct holding h;
    int r = open_holding(&h, d);

    for (size_t i = 0; r == 0 && i < p->n; i++)
        if (is_lost(d, &p->members[i]) && !is_let_go(d, p, &p->members[i]) &&
            !is_held(gang, p->members[i].member->pod))
            r = hold_member(&h, p->members[i].member);
    if (r < 0)
        return r;
    if (h.n > held)
        return write_holds(d, p, &h);
    if (end <= d->in->now)
        return recreate(d, p);
    d->out->wake = end == INT64_MAX ? 0 : end;
    return report(d, p,
                  " Its place is held for a replacement; if none comes in time, the gang is "
                  "recreated.");
}

/* --- letting go ------------------------------------------------------------------------------ */

static int let_go(struct tg_deciding *d, const struct tg_progress *p)
{
    struct tg_plan *rest = tg_plan_copy(d);
    size_t n = 0;
    int r = 0;

    if (rest == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; r == 0 && i < p->n; i++) {
        const struct tg_member_view *view = &p->members[i];
        bool goes = is_lost(d, view) && is_let_go(d, p, view);

        if (!goes || view->state != TG_MEMBER_LOST)
            ((struct tg_plan_member *)(uintptr_t)rest->members.items)[n++] = *view->member;
        /* It occupies a place in which it does not run. */
        if (goes && has_started(view) && comes_back(view->pod))
            r = evict(d, view->pod);
    }
    if (r < 0 || d->out->n_writes > 0 || n == p->n)
        return r;
    rest->members.n = n;
    return tg_write_gang_status(d, &(struct tg_status_change){.phase = tg_after_phase(d, p),
                                                              .reason = tg_after_phase(d, p),
                                                              .plan_change = TG_PLAN_SET,
                                                              .plan = rest});
}

int tg_loss_forget(struct tg_deciding *d, const struct tg_progress *p,
                   const struct tg_plan_member *member)
{
    struct tg_plan *rest = tg_plan_copy(d);
    struct holding h;
    size_t n = 0;
    int r = rest == NULL ? tg_decide_out_of_memory(d) : open_holding(&h, d);

    if (r < 0)
        return r;
    for (size_t i = 0; i < p->n; i++)
        if (p->members[i].member != member)
            ((struct tg_plan_member *)(uintptr_t)rest->members.items)[n++] = *p->members[i].member;
    rest->members.n = n;
    if (policy_of(d) == TG_LOSS_HOLD && !is_held(d->in->unit->gang, member->pod))
        r = hold_member(&h, member);
    return r < 0 ? r
                 : tg_write_gang_status(
                       d, &(struct tg_status_change){.phase = tg_gang_phase(d->in->unit),
                                                     .reason = d->out->reason,
                                                     .text = d->out->text,
                                                     .plan_change = TG_PLAN_SET,
                                                     .plan = rest,
                                                     .hold_change = TG_HOLDS_SET,
                                                     .holds = h.items,
                                                     .n_holds = h.n});
}

bool tg_loss_recreates(const struct tg_deciding *d, const struct tg_progress *p)
{
    switch (policy_of(d)) {
    case TG_LOSS_HOLD:
        return hurts(d, p) && first_end(d->in->unit->gang) <= d->in->now;
    case TG_LOSS_RECREATE:
        return hurts(d, p);
    case TG_LOSS_RELEASE:
        break;
    }
    return false;
}

int tg_loss_decide(struct tg_deciding *d, const struct tg_progress *p)
{
    int r;

    /* Nobody is to replace them. */
    if (d->in->unit->gang->metadata->deletion_timestamp != NULL ||
        tg_view_namespace_terminating(d->in->view, d->in->unit->namespace_))
        return 0;
    r = let_go(d, p);
    if (d->out->n_writes > 0)
        d->out->passing = p->lost > 0; /* all of them may be going */
    if (r < 0 || d->out->n_writes > 0 || !hurts(d, p))
        return r;
    if (policy_of(d) == TG_LOSS_HOLD)
        return hold(d, p);
    d->out->passing = p->lost > 0;
    return recreate(d, p);
}
