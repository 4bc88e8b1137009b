/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_view.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/model.h"
#include "controller/core/model/node_capacity.h"
#include "controller/core/model/node_match.h"
#include "controller/core/model/node_partitions.h"
#include "controller/core/model/node_shape.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

/* The releases that sort pools, and whose taints may only advise. */
#define RELEASE_OF_POOL_ORDER 36
#define RELEASE_OF_ANY_EFFECT 34
#define RELEASE_OF_INCOMPLETE_POOLS 34

struct builder {
    const struct tg_model *model;
    const struct tg_place *place;
    const struct tg_rules *rules;
    struct tg_arena *arena;
    struct tg_node_pool *pools; /* those that the node sees */
    size_t n_pools;
    struct tg_counter_pile pile;
    struct tg_view_pool *view_pools;
    struct tg_view_device *rows;
    uint32_t *contents; /* of each row */
    size_t n_rows;
};

static int add_pool(struct builder *b, const struct tg_fleet_pool *pool, struct tg_error *err)
{
    bool seen = false;
    int rc = tg_node_pool_judge(b->model, pool, b->place->object, b->rules, b->arena,
                                &b->pools[b->n_pools], &seen, err);

    if (seen)
        b->n_pools++;
    return rc;
}

/* Both lists are in order of driver and name, and a pool may be in both. */
static int add_pools(struct builder *b, struct tg_error *err)
{
    struct tg_fleet_pool *const *own = b->place->pools.items, *const *wide = b->model->wide.items;
    size_t n_own = b->place->pools.n, n_wide = b->model->wide.n, i = 0, k = 0;
    int rc = tg_core_alloc(b->arena, n_own + n_wide, sizeof(*b->pools), &b->pools, err);

    while (rc == 0 && (i < n_own || k < n_wide)) {
        int order = i == n_own ? 1 : k == n_wide ? -1 : tg_fleet_pool_compare(own[i], wide[k]);
        const struct tg_fleet_pool *next = order <= 0 ? own[i] : wide[k];

        i += order <= 0 ? 1 : 0;
        k += order >= 0 ? 1 : 0;
        rc = add_pool(b, next, err);
    }
    return rc;
}

static void reach_of(const struct builder *b, const struct tg_fleet_slice *slice,
                     struct tg_view_device *row)
{
    const struct tg_device *device = row->object;
    const char *node = slice->node_name;
    bool all = slice->all_nodes;
    const struct tg_node_selector *selector = slice->selector;

    if (node == NULL && !all && selector == NULL) {
        node = device->node_name;
        all = device->all_nodes.set && device->all_nodes.value;
        selector = device->node_selector;
    }
    if (!tg_node_matches(b->place->object, node, all, selector))
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

    return tg_taint_collect(b->model->fleet, &query, b->arena, &row->taints, &row->n_taints, err);
}

static void add_holders(const struct tg_held *held, struct tg_view_device *row)
{
    row->holder = tg_held_holder(held);
    row->taken = row->holder != NULL;
    for (const struct tg_grant *g = held == NULL ? NULL : held->first; g != NULL;
         g = tg_grant_next(g))
        row->shares += tg_grant_share(g) != NULL ? 1 : 0;
}

static int bar_contested(const struct builder *b, const struct tg_slot *slot,
                         struct tg_view_device *row, struct tg_error *err)
{
    const char *by = slot->row == 0 ? NULL : b->model->fleet->devices[slot->row - 1].contested;

    if (by == NULL)
        return 0;
    row->barred =
        tg_arena_printf(b->arena, "DeviceClass %s, which is not managed, matches too", by);
    return row->barred != NULL ? 0
                               : tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                              "the decision needs more memory than its budget");
}

struct pool_parts { /* of the pool whose devices are being added */
    struct tg_node_counters counters;
    struct tg_node_partitions partitions;
};

static int add_device(struct builder *b, const struct pool_parts *parts,
                      const struct tg_seen_slice *seen, size_t index, struct tg_error *err)
{
    struct tg_view_device *row = &b->rows[b->n_rows];
    const struct tg_device *device = &seen->devices[index];
    const struct tg_fleet_pool *pool = seen->slice->pool;
    const struct tg_held *held = tg_slot_held(b->model, pool, &seen->slice->slots[index]);
    int rc = 0;

    b->contents[b->n_rows++] = seen->slice->slots[index].content;
    *row = (struct tg_view_device){.object = device,
                                   .driver = pool->driver,
                                   .pool_name = pool->name,
                                   .name = device->name,
                                   .bindings = device->binding_conditions.n > 0,
                                   .wants_counters = device->consumes_counters.n > 0};
    if (tg_attribute_has_domain(device, row->driver, TG_GUARD_DOMAIN))
        row->barred = "publishes an attribute of the reserved domain " TG_GUARD_DOMAIN;
    rc = bar_contested(b, &seen->slice->slots[index], row, err);
    if (rc < 0)
        return rc;
    add_holders(held, row);
    reach_of(b, seen->slice, row);
    rc = tg_node_capacity_of(held, row, b->arena, err);
    if (rc == 0)
        rc = tg_node_counters_of(&parts->counters, seen->slice, row, b->arena, err);
    if (rc == 0)
        rc = tg_node_partitions_of(&parts->partitions, row, b->arena, err);
    return rc < 0 ? rc : add_taints(b, row, err);
}

static int add_devices(struct builder *b, const struct tg_node_pool *pool, struct pool_parts *parts,
                       struct tg_view_pool *out, struct tg_error *err)
{
    int rc = tg_node_partitions_init(&parts->partitions, b->model, pool, &b->pile, b->arena, err);

    for (size_t i = 0; rc == 0 && i < pool->n_own; i++) {
        const struct tg_seen_slice *seen = &pool->all[pool->own[i]];

        for (size_t k = 0; rc == 0 && k < seen->slice->n_slots; k++)
            rc = add_device(b, parts, seen, k, err);
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
    struct pool_parts parts = {.counters = {.pile = &b->pile}};
    int rc = 0;

    if (given_out)
        rc = tg_node_counters_init(&parts.counters, b->model, pool, b->rules, &b->pile, b->arena,
                                   err);
    *out = (struct tg_view_pool){.driver = pool->pool->driver,
                                 .name = pool->pool->name,
                                 .state = pool->state,
                                 .why = pool->why,
                                 .has_binding = pool->has_binding,
                                 .first = b->n_rows};
    if (rc < 0 || !given_out || pool->state == TG_POOL_INVALID)
        return rc;
    rc = add_devices(b, pool, &parts, out, err);
    for (size_t i = out->first; i < b->n_rows; i++)
        b->rows[i].pool = (size_t)(out - b->view_pools);
    return rc;
}

static size_t count_devices(const struct builder *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_pools; i++) {
        for (size_t k = 0; k < b->pools[i].n_own; k++)
            n += b->pools[i].all[b->pools[i].own[k]].slice->n_slots;
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
    if (rc == 0)
        rc = tg_core_alloc(b->arena, count_devices(b), sizeof(*b->contents), &b->contents, err);
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
    struct builder b = {.model = fleet->model,
                        .place = tg_place_find(fleet->model, node),
                        .rules = rules,
                        .arena = arena};
    int rc = 0;

    if (b.place == NULL || b.place->object == NULL)
        return tg_error_set(err, TG_NOT_FOUND, "there is no node %s", tg_or(node, ""));
    rc = add_pools(&b, err);
    if (rc == 0)
        rc = write_pools(&b, err);
    if (rc < 0)
        return rc;
    *ret = (struct tg_view){.node = b.place->object,
                            .node_name = b.place->name,
                            .rules = *rules,
                            .pools = b.view_pools,
                            .n_pools = b.n_pools,
                            .devices = b.rows,
                            .n_devices = b.n_rows,
                            .counters = b.pile.items,
                            .n_counters = b.pile.n};
    return tg_node_shapes(b.rows, b.contents, b.n_rows, arena, &ret->n_shapes, err);
}
