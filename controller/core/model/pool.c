/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices to devices. A pool is all slices of one driver and pool name; of them the highest
 * generation counts, and only when it is complete (the rule of the built-in allocator since 1.35).
 * Two devices of one name make the pool unusable.
 */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/counters.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"
#include "controller/core/model/view.h"

static bool derived(const struct tg_resource_slice_spec *slice, const struct tg_device *device)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, slice->driver, "derived");

    return a != NULL && a->bool_.set && a->bool_.value;
}

static bool reserved_domain(const struct tg_resource_slice_spec *slice,
                            const struct tg_device *device)
{
    return tg_attribute_has_domain(device, slice->driver, TG_GUARD_DOMAIN);
}

static bool per_device_selection(const struct tg_resource_slice_spec *slice,
                                 const struct tg_device *device)
{
    (void)device;
    return slice->per_device_node_selection.set && slice->per_device_node_selection.value;
}

static bool network_attached(const struct tg_resource_slice_spec *slice,
                             const struct tg_device *device)
{
    (void)device;
    return slice->node_name == NULL || slice->node_name[0] == '\0';
}

static bool consumes_counters(const struct tg_resource_slice_spec *slice,
                              const struct tg_device *device)
{
    (void)slice;
    return device->consumes_counters.n > 0;
}

static bool shareable(const struct tg_resource_slice_spec *slice, const struct tg_device *device)
{
    (void)slice;
    return device->allow_multiple_allocations.set && device->allow_multiple_allocations.value;
}

static bool binding_conditions(const struct tg_resource_slice_spec *slice,
                               const struct tg_device *device)
{
    (void)slice;
    return device->binding_conditions.n > 0;
}

/* What keeps a device out of every allocation of this version. */
static const struct {
    bool (*applies)(const struct tg_resource_slice_spec *slice, const struct tg_device *device);
    const char *text;
} unsupported[] = {
    {reserved_domain, "publishes an attribute of the reserved domain " TG_GUARD_DOMAIN},
    {per_device_selection, "perDeviceNodeSelection"},
    {network_attached, "not local to one node"},
    {consumes_counters, "consumesCounters"},
    {derived, "derived partition"},
    {shareable, "allowMultipleAllocations"},
    {binding_conditions, "bindingConditions"},
};

static const char *why_unsupported(const struct tg_resource_slice_spec *slice,
                                   const struct tg_device *device)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(unsupported); i++) {
        if (unsupported[i].applies(slice, device))
            return unsupported[i].text;
    }
    return NULL;
}

static int64_t generation(const struct tg_resource_slice *slice)
{
    return slice->spec->pool->generation.set ? slice->spec->pool->generation.value : 0;
}

static bool well_formed(const struct tg_resource_slice *slice)
{
    return slice->spec != NULL && slice->spec->driver != NULL && slice->spec->pool != NULL &&
           slice->spec->pool->name != NULL;
}

static int compare_pools(const struct tg_resource_slice *a, const struct tg_resource_slice *b)
{
    int order = strcmp(a->spec->driver, b->spec->driver);

    return order != 0 ? order : strcmp(a->spec->pool->name, b->spec->pool->name);
}

/* Driver, pool, then the newest generation first, then the name. */
static int compare_slices(const void *pa, const void *pb, const void *context)
{
    const struct tg_resource_slice *a = pa, *b = pb;
    int order = compare_pools(a, b);

    (void)context;
    if (order != 0)
        return order;
    if (generation(a) != generation(b))
        return generation(a) > generation(b) ? -1 : 1;
    return tg_strcmp(a->metadata->name, b->metadata->name);
}

static int compare_devices(const void *pa, const void *pb, const void *context)
{
    const struct tg_fleet_device *a = pa, *b = pb;

    (void)context;
    return tg_fleet_compare_id(a->driver, a->pool, a->name, b->driver, b->pool, b->name);
}

/* How many slices from the first one on are of its pool and generation. */
static size_t same_generation(const void *const *slices, size_t n)
{
    size_t k = 1;

    while (k < n && compare_pools(slices[0], slices[k]) == 0 &&
           generation(slices[0]) == generation(slices[k]))
        k++;
    return k;
}

/* NULL if the n slices are all of their generation. Slices that disagree about the count prove
 * nothing. */
static const char *why_incomplete(const void *const *slices, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_resource_slice *slice = slices[i];
        const struct tg_opt_int *count = &slice->spec->pool->resource_slice_count;

        if (!count->set || count->value < 0 || (uint64_t)count->value != n)
            return "incomplete";
    }
    return NULL;
}

struct devices { /* what is being gathered */
    struct tg_fleet_device *rows;
    size_t n;
    const void **order; /* scratch */
};

static void take_slice(const struct tg_fleet *fleet, const struct tg_resource_slice_spec *slice,
                       struct devices *out)
{
    size_t node = tg_fleet_find_node(fleet, slice->node_name);

    for (size_t i = 0; i < slice->devices.n; i++) {
        const struct tg_device *device = &slice->devices.items[i];

        if (device->name == NULL)
            continue;
        out->rows[out->n++] = (struct tg_fleet_device){
            .object = device,
            .driver = slice->driver,
            .pool = slice->pool->name,
            .name = device->name,
            .node = node,
            .unsupported = why_unsupported(slice, device),
        };
    }
}

/* Sorts the rows from `from` on by name; *ret_why is set if a name comes twice. */
static int sort_pool(struct devices *out, size_t from, struct tg_arena *arena, const char **ret_why,
                     struct tg_error *err)
{
    size_t n = out->n - from;
    struct tg_fleet_device *copy;
    int rc = tg_core_alloc(arena, n, sizeof(*copy), &copy, err);

    if (rc < 0)
        return rc;
    if (n > 0)
        memcpy(copy, out->rows + from, n * sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        out->order[i] = &copy[i];
    rc = tg_core_sort(out->order, n, compare_devices, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        out->rows[from + i] = *(const struct tg_fleet_device *)out->order[i];
        if (i > 0 && strcmp(out->rows[from + i - 1].name, out->rows[from + i].name) == 0)
            *ret_why = "has two devices of one name";
    }
    return rc;
}

/* One pool whose newest generation is the first n of slices. */
static int take_pool(struct tg_fleet *fleet, const void *const *slices, size_t n,
                     struct devices *out, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_resource_slice *first = slices[0];
    const char *why = why_incomplete(slices, n);
    size_t before = out->n;
    int rc = 0;

    if (why == NULL)
        rc = tg_counters_check(slices, n, arena, &why, err);
    for (size_t i = 0; rc == 0 && why == NULL && i < n; i++)
        take_slice(fleet, ((const struct tg_resource_slice *)slices[i])->spec, out);
    if (rc == 0 && why == NULL)
        rc = sort_pool(out, before, arena, &why, err);
    if (rc == 0 && why != NULL) {
        out->n = before;
        fleet->bad_pools[fleet->n_bad_pools++] = (struct tg_fleet_bad_pool){
            .driver = first->spec->driver, .pool = first->spec->pool->name, .why = why};
    }
    return rc;
}

static size_t well_formed_slices(const struct tg_fleet_input *input, const void **ret,
                                 size_t *ret_devices)
{
    size_t n = 0;

    *ret_devices = 0;
    for (size_t i = 0; i < input->n_slices; i++) {
        if (!well_formed(input->slices[i]))
            continue;
        ret[n++] = input->slices[i];
        *ret_devices += input->slices[i]->spec->devices.n;
    }
    return n;
}

/* Gives every node the list of its devices. The devices are in order, so the lists are. */
static int link_nodes(struct tg_fleet *fleet, struct tg_arena *arena, struct tg_error *err)
{
    size_t *links, at = 0;
    int rc = tg_core_alloc(arena, fleet->n_devices, sizeof(*links), &links, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < fleet->n_devices; i++) {
        if (fleet->devices[i].node != TG_NO_INDEX)
            fleet->nodes[fleet->devices[i].node].n_devices++;
    }
    for (size_t i = 0; i < fleet->n_nodes; i++) {
        fleet->nodes[i].devices = links + at;
        at += fleet->nodes[i].n_devices;
        fleet->nodes[i].n_devices = 0;
    }
    for (size_t i = 0; i < fleet->n_devices; i++) {
        struct tg_fleet_node *node;

        if (fleet->devices[i].node == TG_NO_INDEX)
            continue;
        node = &fleet->nodes[fleet->devices[i].node];
        links[(size_t)(node->devices - links) + node->n_devices++] = i;
    }
    return 0;
}

int tg_fleet_add_devices(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err)
{
    struct devices out = {.n = 0};
    const void **slices;
    size_t n = 0, n_devices = 0;
    int rc = tg_core_alloc(arena, input->n_slices, sizeof(*slices), &slices, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, input->n_slices, sizeof(*fleet->bad_pools), &fleet->bad_pools,
                           err);
    if (rc < 0)
        return rc;
    n = well_formed_slices(input, slices, &n_devices);
    rc = tg_core_alloc(arena, n, sizeof(*fleet->pools), &fleet->pools, err);
    if (rc < 0)
        return rc;
    rc = tg_core_sort(slices, n, compare_slices, NULL, arena, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n_devices, sizeof(*out.rows), &out.rows, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n_devices, sizeof(*out.order), &out.order, err);
    for (size_t i = 0; rc == 0 && i < n;) {
        size_t newest = same_generation((const void *const *)slices + i, n - i);
        const struct tg_resource_slice *first = slices[i];

        struct tg_fleet_pool *pool = &fleet->pools[fleet->n_pools++];

        *pool = (struct tg_fleet_pool){.driver = first->spec->driver,
                                       .name = first->spec->pool->name,
                                       .slices = (const void *)(slices + i)};
        rc = take_pool(fleet, (const void *const *)slices + i, newest, &out, arena, err);
        /* What is left of the pool is older. */
        for (; i < n && compare_pools(first, slices[i]) == 0; i++)
            pool->n_slices++;
    }
    fleet->devices = out.rows;
    fleet->n_devices = out.n;
    for (size_t i = 0; rc == 0 && i < out.n; i++) {
        const struct tg_taint_query query = {.driver = out.rows[i].driver,
                                             .pool = out.rows[i].pool,
                                             .device = out.rows[i].object,
                                             .published = true};

        rc =
            tg_taint_collect(fleet, &query, arena, &out.rows[i].taints, &out.rows[i].n_taints, err);
    }
    if (rc == 0)
        rc = link_nodes(fleet, arena, err);
    return rc < 0 ? rc : tg_fleet_link_pools(fleet, arena, err);
}
