/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds which device: allocations of all claims (those that are being deleted and those of
 * other controllers included, adminAccess not), then what the caller calls busy. Devices that no
 * slice publishes at the moment stay held.
 */
#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/view.h"

static bool holds(const struct tg_allocation_device *result)
{
    bool admin = result->admin_access.set && result->admin_access.value;

    return !admin && result->driver != NULL && result->pool != NULL && result->device != NULL;
}

static const struct tg_allocation_devices *allocated(const struct tg_resource_claim *claim)
{
    if (claim->status == NULL || claim->status->allocation == NULL)
        return NULL;
    return claim->status->allocation->devices;
}

static size_t count(const struct tg_fleet_input *input)
{
    size_t n = input->n_busy;

    for (size_t i = 0; i < input->n_claims; i++) {
        const struct tg_allocation_devices *devices = allocated(input->claims[i]);

        n += devices == NULL ? 0 : devices->results.n;
    }
    return n;
}

static int take_claim(struct tg_fleet *fleet, const struct tg_resource_claim *claim,
                      struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_allocation_devices *devices = allocated(claim);
    const char *holder = NULL;

    for (size_t i = 0; devices != NULL && i < devices->results.n; i++) {
        const struct tg_allocation_device *result = &devices->results.items[i];
        struct tg_error cause = TG_ERROR_INIT;
        struct tg_fleet_holder *row;
        int rc = 0;

        if (!holds(result))
            continue;
        if (holder == NULL)
            holder = tg_arena_printf(arena, "claim %s/%s", tg_or(claim->metadata->namespace_, ""),
                                     tg_or(claim->metadata->name, "?"));
        if (holder == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
        row = &fleet->holders[fleet->n_holders++];
        *row = (struct tg_fleet_holder){.driver = result->driver,
                                        .pool = result->pool,
                                        .device = result->device,
                                        .holder = holder,
                                        .allocated = true,
                                        .share = result->share_id};
        /* A share of which nobody knows how much it takes counts as the whole device. */
        rc = tg_capacity_amounts_read(result->consumed_capacity, arena, &row->consumed,
                                      &row->n_consumed, &cause);
        if (rc < 0)
            row->share = NULL;
        if (rc == -TG_RESOURCE_EXHAUSTED)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", cause.message);
    }
    return 0;
}

static void take_busy(struct tg_fleet *fleet, const struct tg_fleet_busy *busy)
{
    if (busy->driver == NULL || busy->pool == NULL || busy->device == NULL)
        return;
    fleet->holders[fleet->n_holders++] =
        (struct tg_fleet_holder){.driver = busy->driver,
                                 .pool = busy->pool,
                                 .device = busy->device,
                                 .holder = tg_or(busy->holder, "unknown"),
                                 .share = busy->share,
                                 .consumed = busy->consumed,
                                 .n_consumed = busy->n_consumed};
}

/* The whole device before shares of it. Allocations come before plans: they are what the API server
 * says. */
static int compare_holders(const void *pa, const void *pb, const void *context)
{
    const struct tg_fleet_holder *a = pa, *b = pb;
    int order = tg_fleet_compare_id(a->driver, a->pool, a->device, b->driver, b->pool, b->device);

    (void)context;
    if (order == 0)
        order = (int)(a->share != NULL) - (int)(b->share != NULL);
    if (order == 0)
        order = tg_strcmp(a->share, b->share);
    if (order == 0)
        order = (int)b->allocated - (int)a->allocated;
    return order != 0 ? order : strcmp(a->holder, b->holder);
}

/* A share that is planned and already allocated is one share. */
static bool is_same_share(const struct tg_fleet_holder *a, const struct tg_fleet_holder *b)
{
    return tg_streq(a->share, b->share) &&
           tg_fleet_compare_id(a->driver, a->pool, a->device, b->driver, b->pool, b->device) == 0;
}

/* Sorts and keeps the first of each device and share. */
static int sort_holders(struct tg_fleet *fleet, struct tg_arena *arena, struct tg_error *err)
{
    struct tg_fleet_holder *rows;
    const void **order;
    size_t n = fleet->n_holders, kept = 0;
    int rc = tg_core_alloc(arena, n, sizeof(*order), &order, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(*rows), &rows, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++)
        order[i] = &fleet->holders[i];
    rc = tg_core_sort(order, n, compare_holders, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tg_fleet_holder *h = order[i];

        if (kept > 0 && is_same_share(h, &rows[kept - 1]))
            continue;
        rows[kept++] = *h;
    }
    fleet->holders = rows;
    fleet->n_holders = kept;
    return rc;
}

int tg_fleet_add_holders(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err)
{
    int rc = tg_core_alloc(arena, count(input), sizeof(*fleet->holders), &fleet->holders, err);

    for (size_t i = 0; rc == 0 && i < input->n_claims; i++)
        rc = take_claim(fleet, input->claims[i], arena, err);
    for (size_t i = 0; rc == 0 && i < input->n_busy; i++)
        take_busy(fleet, &input->busy[i]);
    if (rc == 0)
        rc = sort_holders(fleet, arena, err);
    for (size_t i = 0; rc == 0 && i < fleet->n_holders; i++) {
        const struct tg_fleet_holder *h = &fleet->holders[i];
        size_t device = h->share != NULL
                            ? TG_NO_INDEX
                            : tg_fleet_find_device(fleet, h->driver, h->pool, h->device);

        if (device != TG_NO_INDEX)
            fleet->devices[device].holder = h->holder;
    }
    return rc;
}
