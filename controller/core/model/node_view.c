/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_view.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/node_capacity.h"
#include "controller/core/model/node_match.h"
#include "controller/core/model/node_partitions.h"
#include "controller/core/model/node_shape.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"
#include "controller/core/model/view.h"

/* The releases that sort pools, and whose taints may only advise. */
#define RELEASE_OF_POOL_ORDER 36
#define RELEASE_OF_ANY_EFFECT 34
#define RELEASE_OF_INCOMPLETE_POOLS 34

struct builder {
    const struct tg_fleet *fleet;
    const struct tg_fleet_node *node;
    const struct tg_rules *rules;
    struct tg_arena *arena;
    struct tg_node_pool *pools; /* those that the node sees */
    size_t n_pools;
    struct tg_counter_pile pile;
    struct tg_view_pool *view_pools;
    struct tg_view_device *rows;
    size_t n_rows;
};

static int add_pool(struct builder *b, size_t index, struct tg_error *err)
{
    bool seen = false;
    int rc = tg_node_pool_judge(&b->fleet->pools[index], b->node->object, b->rules, b->arena,
                                &b->pools[b->n_pools], &seen, err);

    if (seen)
        b->n_pools++;
    return rc;
}

/* Both lists are in order of driver and name, and a pool may be in both. */
static int add_pools(struct builder *b, struct tg_error *err)
{
    const struct tg_fleet *fleet = b->fleet;
    size_t i = 0, k = 0;
    int rc = tg_core_alloc(b->arena, b->node->n_pools + fleet->n_wide_pools, sizeof(*b->pools),
                           &b->pools, err);

    while (rc == 0 && (i < b->node->n_pools || k < fleet->n_wide_pools)) {
        size_t own = i < b->node->n_pools ? b->node->pools[i] : TG_NO_INDEX;
        size_t wide = k < fleet->n_wide_pools ? fleet->wide_pools[k] : TG_NO_INDEX;
        size_t next = own < wide ? own : wide;

        i += own == next ? 1 : 0;
        k += wide == next ? 1 : 0;
        rc = add_pool(b, next, err);
    }
    return rc;
}

static void reach_of(const struct builder *b, const struct tg_resource_slice_spec *spec,
                     struct tg_view_device *row)
{
    const struct tg_device *device = row->object;
    const char *node = spec->node_name;
    bool all = spec->all_nodes.set && spec->all_nodes.value;
    const struct tg_node_selector *selector = spec->node_selector;

    if ((node == NULL || node[0] == '\0') && !all && selector == NULL) {
        node = device->node_name;
        all = device->all_nodes.set && device->all_nodes.value;
        selector = device->node_selector;
    }
    if (!tg_node_matches(b->node->object, node, all, selector))
        row->reach = TG_REACH_NONE;
    else if (node != NULL && node[0] != '\0')
        row->reach = TG_REACH_NODE;
    else if (all)
        row->reach = TG_REACH_ALL;
    else
        row->reach = TG_REACH_SELECTOR;
    row->selector = row->reach == TG_REACH_SELECTOR ? selector : NULL;
}

static int add_taints(const struct builder *b, struct tg_view_device *row, struct tg_error *err)
{
    const struct tg_taint_query query = {
        .driver = row->driver,
        .pool = row->pool_name,
        .device = row->object,
        .published = tg_rules_have(b->rules, TG_FEATURE_DEVICE_TAINTS),
        .any_effect = b->rules->release <= RELEASE_OF_ANY_EFFECT,
    };

    return tg_taint_collect(b->fleet, &query, b->arena, &row->taints, &row->n_taints, err);
}

/* Who has it; the row of the fleet knows what was assumed since the holders were sorted. */
static void add_holders(const struct builder *b, const struct tg_fleet_holder *holders, size_t n,
                        struct tg_view_device *row)
{
    row->holder = tg_fleet_device_holder(b->fleet, row->driver, row->pool_name, row->name);
    for (size_t i = 0; i < n; i++) {
        if (holders[i].share != NULL)
            row->shares++;
        else if (row->holder == NULL)
            row->holder = holders[i].holder;
    }
    row->taken = row->holder != NULL;
}

static int bar_contested(const struct builder *b, struct tg_view_device *row, struct tg_error *err)
{
    size_t index = tg_fleet_find_device(b->fleet, row->driver, row->pool_name, row->name);
    const char *by = index == TG_NO_INDEX ? NULL : b->fleet->devices[index].contested;

    if (by == NULL)
        return 0;
    row->barred =
        tg_arena_printf(b->arena, "DeviceClass %s, which is not managed, matches too", by);
    return row->barred != NULL ? 0
                               : tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                              "the decision needs more memory than its budget");
}

static int add_device(struct builder *b, const struct tg_node_counters *counters,
                      const struct tg_node_partitions *partitions,
                      const struct tg_resource_slice *slice, const struct tg_device *device,
                      struct tg_error *err)
{
    struct tg_view_device *row = &b->rows[b->n_rows++];
    const struct tg_fleet_holder *holders;
    size_t n = 0;
    int rc = 0;

    *row = (struct tg_view_device){.object = device,
                                   .slice = slice,
                                   .driver = slice->spec->driver,
                                   .pool_name = slice->spec->pool->name,
                                   .name = device->name,
                                   .bindings = device->binding_conditions.n > 0,
                                   .wants_counters = device->consumes_counters.n > 0};
    if (tg_attribute_has_domain(device, row->driver, TG_GUARD_DOMAIN))
        row->barred = "publishes an attribute of the reserved domain " TG_GUARD_DOMAIN;
    rc = bar_contested(b, row, err);
    if (rc < 0)
        return rc;
    holders = tg_fleet_find_holders(b->fleet, row->driver, row->pool_name, row->name, &n);
    add_holders(b, holders, n, row);
    reach_of(b, slice->spec, row);
    rc = tg_node_capacity_of(holders, n, row, b->arena, err);
    if (rc == 0)
        rc = tg_node_counters_of(counters, row, b->arena, err);
    if (rc == 0)
        rc = tg_node_partitions_of(partitions, row, b->arena, err);
    return rc < 0 ? rc : add_taints(b, row, err);
}

static int add_devices(struct builder *b, struct tg_node_pool *pool,
                       const struct tg_node_counters *counters, struct tg_view_pool *out,
                       struct tg_error *err)
{
    struct tg_node_partitions partitions;
    int rc = tg_node_partitions_init(&partitions, b->fleet, pool, &b->pile, b->arena, err);

    for (size_t i = 0; rc == 0 && i < pool->n_own; i++) {
        const struct tg_resource_slice *slice = pool->own[i];

        for (size_t k = 0; rc == 0 && k < slice->spec->devices.n; k++) {
            const struct tg_device *device = &slice->spec->devices.items[k];

            if (device->name != NULL)
                rc = add_device(b, counters, &partitions, slice, device, err);
        }
    }
    out->n_devices = b->n_rows - out->first;
    return rc;
}

/* Counters are judged before any device of the view is written, for they may spoil the pool. */
static int write_pool(struct builder *b, struct tg_node_pool *pool, struct tg_view_pool *out,
                      struct tg_error *err)
{
    bool given_out =
        pool->state == TG_POOL_USABLE ||
        (pool->state == TG_POOL_INCOMPLETE && b->rules->release <= RELEASE_OF_INCOMPLETE_POOLS);
    struct tg_node_counters counters = {.pile = &b->pile};
    int rc = 0;

    if (given_out)
        rc = tg_node_counters_init(&counters, b->fleet, pool, b->rules, &b->pile, b->arena, err);
    *out = (struct tg_view_pool){.driver = pool->pool->driver,
                                 .name = pool->pool->name,
                                 .state = pool->state,
                                 .why = pool->why,
                                 .has_binding = pool->has_binding,
                                 .first = b->n_rows};
    if (rc < 0 || !given_out || pool->state == TG_POOL_INVALID)
        return rc;
    rc = add_devices(b, pool, &counters, out, err);
    for (size_t i = out->first; i < b->n_rows; i++)
        b->rows[i].pool = (size_t)(out - b->view_pools);
    return rc;
}

static size_t count_devices(const struct builder *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_pools; i++) {
        for (size_t k = 0; k < b->pools[i].n_own; k++)
            n += b->pools[i].own[k]->spec->devices.n;
    }
    return n;
}

static int write_pools(struct builder *b, struct tg_error *err)
{
    bool ordered = b->rules->release >= RELEASE_OF_POOL_ORDER &&
                   tg_rules_have(b->rules, TG_FEATURE_DEVICE_BINDING_AND_STATUS);
    size_t n = 0;
    int rc = tg_core_alloc(b->arena, b->n_pools, sizeof(*b->view_pools), &b->view_pools, err);

    if (rc == 0)
        rc = tg_core_alloc(b->arena, count_devices(b), sizeof(*b->rows), &b->rows, err);
    for (size_t last = 0; last < 2; last++) {
        for (size_t i = 0; rc == 0 && i < b->n_pools; i++) {
            bool at_end = ordered && b->pools[i].has_binding;

            if (at_end == (last == 1))
                rc = write_pool(b, &b->pools[i], &b->view_pools[n++], err);
        }
    }
    return rc;
}

int tg_fleet_view(const struct tg_fleet *fleet, const char *node, const struct tg_rules *rules,
                  struct tg_arena *arena, struct tg_view *ret, struct tg_error *err)
{
    struct builder b = {.fleet = fleet, .rules = rules, .arena = arena};
    size_t index = tg_fleet_find_node(fleet, node);
    int rc = 0;

    if (index == TG_NO_INDEX)
        return tg_error_set(err, TG_NOT_FOUND, "there is no node %s", tg_or(node, ""));
    b.node = &fleet->nodes[index];
    rc = add_pools(&b, err);
    if (rc == 0)
        rc = write_pools(&b, err);
    if (rc < 0)
        return rc;
    *ret = (struct tg_view){.node = b.node->object,
                            .node_name = b.node->name,
                            .rules = *rules,
                            .pools = b.view_pools,
                            .n_pools = b.n_pools,
                            .devices = b.rows,
                            .n_devices = b.n_rows,
                            .counters = b.pile.items,
                            .n_counters = b.pile.n};
    return tg_node_shapes(b.rows, b.n_rows, arena, &ret->n_shapes, err);
}
