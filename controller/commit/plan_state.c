/* SPDX-License-Identifier: Apache-2.0 */
/* What has become of the pods, claims, nodes and devices that a plan names. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"

const char *tg_unit_marker_uid(const struct tg_unit *unit)
{
    switch (unit->kind) {
    case TG_UNIT_GANG:
        return unit->gang == NULL ? NULL : unit->gang->metadata->uid;
    case TG_UNIT_POD:
        return unit->members[0].pod->metadata->uid;
    case TG_UNIT_CLAIM:
        return "";
    }
    return NULL;
}

struct tg_plan_pod tg_plan_pod_state(const struct tg_view *view, const char *namespace_,
                                     const struct tg_plan_member *member)
{
    const struct tg_pod *pod = tg_view_pod(view, namespace_, member->pod);

    if (pod == NULL || pod->spec == NULL || !tg_streq(pod->metadata->uid, member->uid))
        return (struct tg_plan_pod){0};
    return (struct tg_plan_pod){.pod = pod,
                                .gated = tg_pod_has_gate(pod, TG_GATE),
                                .bound = pod->spec->node_name != NULL,
                                .finished = tg_pod_finished(pod),
                                .deleting = pod->metadata->deletion_timestamp != NULL};
}

/* The scheduler binds no pod of which a claim is not allocated, and no managed claim is allocated
 * by it. */
static bool cannot_start(const struct tg_view *view, const struct tg_pod *pod)
{
    if (tg_pod_has_gate(pod, TG_GATE))
        return true;
    if (pod->spec == NULL)
        return false; /* could not be read: it may have started long ago */
    for (size_t i = 0; pod->spec->node_name == NULL && i < pod->spec->resource_claims.n; i++) {
        const struct tg_resource_claim *claim =
            tg_view_claim(view, pod->metadata->namespace_,
                          tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]));

        if (claim == NULL || !tg_claim_allocated(claim))
            return true;
    }
    return false;
}

bool tg_claim_before_gate(const struct tg_view *view, const struct tg_resource_claim *claim)
{
    const struct tg_resource_claim_status *status = claim->status;

    for (size_t i = 0; status != NULL && i < status->reserved_for.n; i++) {
        const struct tg_consumer_reference *user = &status->reserved_for.items[i];
        const struct tg_pod *pod = tg_view_pod(view, claim->metadata->namespace_, user->name);

        if (pod != NULL && tg_streq(pod->metadata->uid, user->uid) && !cannot_start(view, pod))
            return false;
    }
    return true;
}

static bool same_results(const struct tg_plan *plan, const struct tg_plan_member *member,
                         const struct tg_plan_claim *planned,
                         const struct tg_allocation_devices *written)
{
    size_t k = 0;

    for (size_t i = 0; i < planned->results.n; i++) {
        const struct tg_plan_result *result = &planned->results.items[i];

        for (size_t j = 0; j < result->devices.n; j++, k++) {
            const struct tg_allocation_device *device;

            if (k >= written->results.n)
                return false;
            device = &written->results.items[k];
            if (!tg_streq(device->request, result->request) ||
                !tg_streq(device->device, result->devices.items[j]) ||
                !tg_streq(device->driver, tg_plan_result_driver(plan, result)) ||
                !tg_streq(device->pool, tg_plan_result_pool(member, result)))
                return false;
        }
    }
    return k == written->results.n;
}

enum tg_claim_state tg_plan_claim_state(const struct tg_deciding *d,
                                        const struct tg_plan_member *member,
                                        const struct tg_plan_claim *planned,
                                        const struct tg_resource_claim **ret)
{
    const struct tg_resource_claim *claim =
        tg_view_claim(d->in->view, d->in->unit->namespace_, planned->name);
    const struct tg_plan *plan = d->in->plan;
    struct tg_plan_marker marker;

    *ret = claim;
    if (claim == NULL || !tg_streq(claim->metadata->uid, planned->uid))
        return TG_CLAIM_GONE;
    if (claim->metadata->deletion_timestamp != NULL)
        return TG_CLAIM_DELETING;
    if (!tg_claim_allocated(claim))
        return TG_CLAIM_OPEN;
    if (!tg_claim_marker(claim, d->arena, &marker) ||
        !tg_streq(marker.gang_uid, tg_unit_marker_uid(d->in->unit)) ||
        marker.epoch != plan->epoch.value ||
        !same_results(plan, member, planned, claim->status->allocation->devices))
        return TG_CLAIM_FOREIGN;
    return TG_CLAIM_WRITTEN;
}

/* --- the left column of the event table ------------------------------------------------------ */

struct judging {
    struct tg_deciding *d;
    const struct tg_plan *plan;
    enum tg_plan_verdict verdict;
    const char *why;
};

static void judge(struct judging *j, enum tg_plan_verdict verdict, const char *why)
{
    if (verdict > j->verdict) {
        j->verdict = verdict;
        j->why = why == NULL ? "out of memory" : why;
    }
}

static void judge_devices(struct judging *j, const struct tg_plan_member *member,
                          const struct tg_plan_result *result,
                          const struct tg_resource_claim *claim)
{
    const struct tg_exact_request *request =
        tg_device_claim_request(claim->spec == NULL ? NULL : claim->spec->devices, result->request);
    const char *driver = tg_plan_result_driver(j->plan, result),
               *pool = tg_plan_result_pool(member, result);
    struct tg_arena *arena = j->d->arena;

    for (size_t i = 0; i < result->devices.n; i++) {
        const char *device = result->devices.items[i];

        switch (tg_fleet_device_state(j->d->in->fleet, driver, pool, device,
                                      request == NULL ? NULL : request->tolerations.items,
                                      request == NULL ? 0 : request->tolerations.n)) {
        case TG_DEVICE_OK:
            break;
        case TG_DEVICE_ABSENT:
            judge(j, TG_PLAN_STALLS,
                  tg_arena_printf(arena, "device %s/%s/%s is not published", driver, pool, device));
            break;
        case TG_DEVICE_TAINTED:
            judge(j, TG_PLAN_BROKEN,
                  tg_arena_printf(arena, "device %s/%s/%s is tainted or unhealthy", driver, pool,
                                  device));
            break;
        }
    }
}

/* The record of a pod is an annotation, which others may write too; and whatever happened, no
 * device is given away twice. */
static void judge_holders(struct judging *j, const struct tg_plan_member *member,
                          const struct tg_plan_result *result)
{
    const char *driver = tg_plan_result_driver(j->plan, result),
               *pool = tg_plan_result_pool(member, result);

    for (size_t i = 0; !result->admin_access.value && i < result->devices.n; i++) {
        const struct tg_fleet *fleet = j->d->in->fleet;
        const char *device = result->devices.items[i];
        const char *holder = tg_fleet_device_holder(fleet, driver, pool, device);
        const char *overdrawn =
            tg_fleet_overdrawn(fleet, member->node, driver, pool, device, j->d->arena);

        if (overdrawn != NULL)
            judge(j, TG_PLAN_BROKEN,
                  tg_arena_printf(j->d->arena, "device %s/%s/%s: %s is given away twice", driver,
                                  pool, device, overdrawn));
        if (holder != NULL && !tg_streq(holder, j->d->in->unit->key))
            judge(j, TG_PLAN_BROKEN,
                  tg_arena_printf(j->d->arena, "device %s/%s/%s is held by %s", driver, pool,
                                  device, holder));
    }
}

static void judge_claim(struct judging *j, const struct tg_plan_member *member,
                        const struct tg_plan_claim *planned)
{
    const char *ns = j->d->in->unit->namespace_;
    const struct tg_resource_claim *claim;

    switch (tg_plan_claim_state(j->d, member, planned, &claim)) {
    case TG_CLAIM_OPEN:
        for (size_t i = 0; i < planned->results.n; i++) {
            judge_devices(j, member, &planned->results.items[i], claim);
            judge_holders(j, member, &planned->results.items[i]);
        }
        break;
    case TG_CLAIM_WRITTEN:
        for (size_t i = 0; i < planned->results.n; i++)
            judge_devices(j, member, &planned->results.items[i], claim);
        break;
    case TG_CLAIM_FOREIGN:
        judge(j, TG_PLAN_BROKEN,
              tg_arena_printf(j->d->arena, "claim %s/%s was allocated by somebody else", ns,
                              planned->name));
        break;
    case TG_CLAIM_GONE:
    case TG_CLAIM_DELETING:
        judge(j, TG_PLAN_BROKEN,
              tg_arena_printf(j->d->arena, "claim %s/%s was deleted", ns, planned->name));
        break;
    }
}

static void judge_member(struct judging *j, const struct tg_plan_member *member)
{
    const char *ns = j->d->in->unit->namespace_;
    struct tg_plan_pod state = tg_plan_pod_state(j->d->in->view, ns, member);
    struct tg_arena *arena = j->d->arena;

    if (state.pod == NULL || state.deleting)
        judge(j, TG_PLAN_BROKEN, tg_arena_printf(arena, "pod %s/%s was deleted", ns, member->pod));
    else if (state.finished)
        judge(j, TG_PLAN_BROKEN, tg_arena_printf(arena, "pod %s/%s is finished", ns, member->pod));
    switch (tg_fleet_node_state(j->d->in->fleet, member->node)) {
    case TG_NODE_OK:
        break;
    case TG_NODE_NOT_READY:
        judge(j, TG_PLAN_STALLS,
              tg_arena_printf(arena, "node %s is not ready or cordoned", member->node));
        break;
    case TG_NODE_GONE:
        judge(j, TG_PLAN_BROKEN, tg_arena_printf(arena, "node %s was deleted", member->node));
        break;
    }
    for (size_t i = 0; i < member->claims.n; i++)
        judge_claim(j, member, &member->claims.items[i]);
}

static enum tg_plan_verdict verdict_of(const struct judging *j, const char **ret_why)
{
    *ret_why = j->why;
    return j->verdict == TG_PLAN_STALLS && j->d->in->stall_over ? TG_PLAN_BROKEN : j->verdict;
}

enum tg_plan_verdict tg_plan_judge_member(struct tg_deciding *d, const struct tg_plan *plan,
                                          const struct tg_plan_member *member, const char **ret_why)
{
    struct judging j = {.d = d, .plan = plan, .verdict = TG_PLAN_STANDS};

    judge_member(&j, member);
    return verdict_of(&j, ret_why);
}

enum tg_plan_verdict tg_plan_judge(struct tg_deciding *d, const struct tg_plan *plan,
                                   const char **ret_why)
{
    struct judging j = {.d = d, .plan = plan, .verdict = TG_PLAN_STANDS};
    const struct tg_unit *unit = d->in->unit;

    if (unit->gang != NULL && unit->gang->metadata->deletion_timestamp != NULL)
        judge(&j, TG_PLAN_BROKEN, "the Gang is being deleted");
    if (tg_view_namespace_terminating(d->in->view, unit->namespace_))
        judge(&j, TG_PLAN_BROKEN, "the namespace is terminating");
    if (d->in->disturbed)
        judge(&j, TG_PLAN_BROKEN, "somebody else cleared an allocation of the plan");
    for (size_t i = 0; i < plan->members.n; i++)
        judge_member(&j, &plan->members.items[i]);
    return verdict_of(&j, ret_why);
}
