/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next for a single claim with its pods. Its status write is the commit point; the
 * allocation is the record. */
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"

/* Un-gates the members that are still gated; pods that came later than the allocation follow to its
 * node. */
static int release_members(struct tg_deciding *d, const char *node)
{
    const struct tg_unit *unit = d->in->unit;

    for (size_t i = 0; i < unit->n_members; i++) {
        int r;

        if (!unit->members[i].gated || unit->members[i].wait != NULL)
            continue;
        r = tg_write_release_pod(d, unit->members[i].pod, node, false);
        if (r < 0)
            return r;
    }
    return 0;
}

static enum tg_plan_verdict judge(struct tg_deciding *d, const struct tg_resource_claim *claim,
                                  const char *node, const char **ret_why)
{
    enum tg_plan_verdict verdict = TG_PLAN_STANDS;
    const struct tg_allocation_devices *devices = claim->status->allocation->devices;

    if (claim->metadata->deletion_timestamp != NULL ||
        tg_view_namespace_terminating(d->in->view, d->in->unit->namespace_)) {
        *ret_why = "it is being deleted";
        return TG_PLAN_BROKEN;
    }
    switch (tg_fleet_node_state(d->in->fleet, node)) {
    case TG_NODE_OK:
        break;
    case TG_NODE_GONE:
        *ret_why = tg_arena_printf(d->arena, "node %s was deleted", node);
        return TG_PLAN_BROKEN;
    case TG_NODE_NOT_READY:
        *ret_why = tg_arena_printf(d->arena, "node %s is not ready or cordoned", node);
        verdict = TG_PLAN_STALLS;
        break;
    }
    for (size_t i = 0; devices != NULL && i < devices->results.n; i++) {
        const struct tg_allocation_device *device = &devices->results.items[i];
        enum tg_device_state state =
            tg_fleet_device_state(d->in->fleet, device->driver, device->pool, device->device,
                                  device->tolerations.items, device->tolerations.n);

        if (state == TG_DEVICE_OK)
            continue;
        *ret_why = tg_arena_printf(
            d->arena, "device %s/%s/%s is %s", device->driver, device->pool, device->device,
            state == TG_DEVICE_ABSENT ? "not published" : "tainted or unhealthy");
        if (state == TG_DEVICE_TAINTED)
            return TG_PLAN_BROKEN;
        verdict = TG_PLAN_STALLS;
    }
    return verdict == TG_PLAN_STALLS && d->in->stall_over ? TG_PLAN_BROKEN : verdict;
}

/* Its pods first: a late write of a predecessor must not un-gate one that waits for another place
 * by then. */
static int take_back(struct tg_deciding *d, const struct tg_resource_claim *claim)
{
    int r = tg_fence_unit(d, NULL);

    return r < 0 || d->out->n_writes > 0 ? r : tg_write_clear(d, claim);
}

static int decide_allocated(struct tg_deciding *d, const struct tg_resource_claim *claim)
{
    const char *node = tg_claim_node(claim), *why = "out of memory";
    struct tg_plan_marker marker;

    if (!tg_claim_marker(claim, d->arena, &marker) || node == NULL) {
        d->out->warning = true;
        return tg_decide_wait(
            d, NULL, "AllocatedElsewhere",
            "claim %s was allocated by somebody else; its class is allocated by Tangram alone.",
            claim->metadata->name);
    }
    if (!tg_claim_before_gate(d->in->view, claim))
        return release_members(d, node);
    /* Of a gang or a pod with several claims, which may still be rolled back. */
    if (marker.gang_uid[0] != '\0')
        return tg_decide_wait(d, NULL, "Gathering",
                              "claim %s is part of a plan that is not complete yet.",
                              claim->metadata->name);
    switch (judge(d, claim, node, &why)) {
    case TG_PLAN_BROKEN:
        d->out->reason = "RolledBack";
        d->out->text = tg_arena_printf(d->arena, "The allocation is taken back: %s.", why);
        d->out->warning = true;
        return take_back(d, claim);
    case TG_PLAN_STALLS:
        d->out->stalled = true;
        d->out->warning = true;
        return tg_decide_wait(d, NULL, "Stalled",
                              "The allocation waits, and is taken back if this lasts: %s.", why);
    case TG_PLAN_STANDS:
        return release_members(d, node);
    }
    return 0;
}

int tg_decide_claim(struct tg_deciding *d)
{
    const struct tg_unit *unit = d->in->unit;
    const struct tg_resource_claim *claim = unit->members[0].claims[0];

    if (tg_claim_allocated(claim))
        return decide_allocated(d, claim);
    if (claim->metadata->deletion_timestamp != NULL)
        return tg_decide_wait(d, NULL, "ClaimDeleted", "claim %s is being deleted.",
                              claim->metadata->name);
    if (tg_view_namespace_terminating(d->in->view, unit->namespace_))
        return tg_decide_wait(d, NULL, "NamespaceTerminating", "The namespace is terminating.");
    if (unit->problem.reason != NULL)
        return tg_decide_problem(d, NULL);
    d->out->chosen = tg_arena_alloc_array(d->arena, unit->n_members, sizeof(*d->out->chosen));
    if (d->out->chosen == NULL)
        return tg_decide_out_of_memory(d);
    for (size_t i = 0; i < unit->n_members; i++)
        if (unit->members[i].wait == NULL)
            d->out->chosen[d->out->n_chosen++] = i;
    if (d->out->n_chosen == 0)
        return tg_decide_wait(d, NULL, "Gathering", "pod %s waits: %s.",
                              unit->members[0].pod->metadata->name, unit->members[0].wait);
    d->out->kind = TG_DECIDE_PLACE;
    return 0;
}
