/* SPDX-License-Identifier: Apache-2.0 */
/* I1, devices: no two live allocations hold the same one. */
#include <stdlib.h>

#include "api/runtime/base/str.h"
#include "controller/audit/parts.h"
#include "controller/gather/grant.h"

static int compare_devices(const struct tg_audit_hold *a, const struct tg_audit_hold *b)
{
    int order = tg_strcmp(a->result->driver, b->result->driver);

    if (order == 0)
        order = tg_strcmp(a->result->pool, b->result->pool);
    return order != 0 ? order : tg_strcmp(a->result->device, b->result->device);
}

/* Of the same device: whole ones first, then by share, the oldest allocation first, so that the one
 * that came later is named. */
static int compare(const void *pa, const void *pb)
{
    const struct tg_audit_hold *a = pa, *b = pb;
    int order = compare_devices(a, b);

    if (order == 0)
        order = tg_strcmp(a->result->share_id, b->result->share_id);
    if (order == 0)
        order = tg_strcmp(a->claim->status->allocation->allocation_timestamp,
                          b->claim->status->allocation->allocation_timestamp);
    if (order == 0)
        order = tg_strcmp(a->claim->metadata->namespace_, b->claim->metadata->namespace_);
    return order != 0 ? order : tg_strcmp(a->claim->metadata->name, b->claim->metadata->name);
}

/* Different shares of a device that can be shared do not collide. */
static bool collide(const struct tg_audit_hold *a, const struct tg_audit_hold *b)
{
    return a->result->share_id == NULL || tg_streq(a->result->share_id, b->result->share_id);
}

static size_t collect(const struct tg_auditing *a, struct tg_audit_hold *ret)
{
    const struct tg_view_list *claims = &a->view->lists[TG_VIEW_CLAIM];
    size_t n = 0;

    for (size_t i = 0; i < claims->n; i++) {
        const struct tg_resource_claim *claim = claims->items[i];
        const struct tg_allocation_devices *devices =
            tg_claim_allocated(claim) ? claim->status->allocation->devices : NULL;

        for (size_t j = 0; devices != NULL && j < devices->results.n; j++) {
            const struct tg_allocation_device *result = &devices->results.items[j];

            if (result->admin_access.set && result->admin_access.value)
                continue;
            if (ret != NULL)
                ret[n] = (struct tg_audit_hold){.result = result, .claim = claim};
            n++;
        }
    }
    return n;
}

int tg_audit_devices(struct tg_auditing *a)
{
    size_t n = collect(a, NULL), first = 0;
    struct tg_audit_hold *holds = tg_arena_alloc_array(a->arena, n, sizeof(*holds));
    int r = 0;

    if (holds == NULL)
        return tg_audit_out_of_memory(a);
    a->holds = holds;
    a->n_holds = collect(a, holds);
    if (n > 0)
        qsort(holds, n, sizeof(*holds), compare);
    for (size_t i = 1; r == 0 && i < n; i++) {
        const struct tg_audit_hold *hold = &holds[i];

        /* `first`: of the same share, or the one that has the whole device. */
        if (compare_devices(&holds[first], hold) != 0 || !collide(&holds[first], hold)) {
            first = i;
            continue;
        }
        r = tg_audit_found(a, TG_FOUND_DEVICE_HELD_TWICE, &tg_kind_resource_claim,
                           hold->claim->metadata, "device %s/%s/%s is held by claim %s/%s too",
                           tg_or(hold->result->driver, ""), tg_or(hold->result->pool, ""),
                           tg_or(hold->result->device, ""),
                           tg_or(holds[first].claim->metadata->namespace_, ""),
                           holds[first].claim->metadata->name);
    }
    return r;
}
