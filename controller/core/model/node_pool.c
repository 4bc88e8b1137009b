/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_pool.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/node_match.h"
#include "controller/core/model/sort.h"

/* Counter sets had to be in the slices of their devices until 1.34 (dra-api 2.3). */
#define RELEASE_OF_COUNTER_SLICES 35
#define RELEASE_OF_GROUPS 37

int tg_seen_open(const struct tg_model *model, struct tg_seen_slice *seen, struct tg_arena *arena,
                 struct tg_error *err)
{
    struct tg_device *devices;
    int rc = 0;

    if (seen->devices != NULL || seen->slice->n_slots == 0)
        return 0;
    rc = tg_core_alloc(arena, seen->slice->n_slots, sizeof(*devices), &devices, err);
    for (size_t i = 0; rc == 0 && i < seen->slice->n_slots; i++)
        rc = tg_slot_device(model, &seen->slice->slots[i], arena, &devices[i], err);
    seen->devices = devices;
    return rc;
}

static bool has_selection(const struct tg_fleet_slice *slice)
{
    return slice->node_name != NULL || slice->all_nodes || slice->selector != NULL;
}

/* What is asked about one slice: the node, and the rules. */
struct question {
    const struct tg_model *model;
    const struct tg_node *node;
    const struct tg_rules *rules;
    struct tg_arena *arena;
    struct tg_error *err;
};

static int any_device_matches(const struct question *q, struct tg_seen_slice *seen, bool *ret)
{
    int rc = tg_seen_open(q->model, seen, q->arena, q->err);

    *ret = false;
    for (size_t i = 0; rc == 0 && !*ret && i < seen->slice->n_slots; i++) {
        const struct tg_device *device = &seen->devices[i];

        *ret = tg_node_matches(q->node, device->node_name,
                               device->all_nodes.set && device->all_nodes.value,
                               device->node_selector);
    }
    return rc;
}

/* Has the slice devices for the node? One without any selection that we know has none: it is of an
 * extension that came later. */
static int is_for_node(const struct question *q, struct tg_seen_slice *seen, bool *ret)
{
    const struct tg_fleet_slice *slice = seen->slice;

    *ret = false;
    if (has_selection(slice))
        *ret = tg_node_matches(q->node, slice->node_name, slice->all_nodes, slice->selector);
    else if (slice->per_device.set && slice->per_device.value)
        return any_device_matches(q, seen, ret);
    return 0;
}

static bool is_ignored(const struct tg_fleet_slice *slice, const struct tg_rules *rules)
{
    if (tg_rules_have(rules, TG_FEATURE_PARTITIONABLE_DEVICES))
        return false;
    return slice->per_device.set ||
           (slice->n_counters > 0 && rules->release >= RELEASE_OF_COUNTER_SLICES);
}

bool tg_fleet_slice_is_mixed(const struct tg_fleet_slice *slice, const struct tg_rules *rules)
{
    return (rules->features & TG_QUIRK_COUNTERS_BESIDE_DEVICES) != 0 && slice->n_counters > 0 &&
           slice->n_slots > 0;
}

static bool holds_counters_only(const struct tg_fleet_slice *slice, const struct tg_rules *rules)
{
    return slice->n_counters > 0 && rules->release >= RELEASE_OF_COUNTER_SLICES &&
           !tg_fleet_slice_is_mixed(slice, rules);
}

/* Slices come newest first, so the first one for the node has the generation that counts. A slice
 * of counters is for the nodes that it names, as any other (from 1.37 on; earlier releases let it
 * count for every node, and so took devices from a generation that was no longer the newest). */
static int find_generation(const struct question *q, const struct tg_fleet_pool *pool,
                           bool *ret_found, int64_t *ret)
{
    int rc = 0;

    *ret_found = false;
    for (size_t i = 0; rc == 0 && !*ret_found && i < pool->slices.n; i++) {
        struct tg_seen_slice one = {.slice = pool->slices.items[i]};

        if (is_ignored(one.slice, q->rules))
            continue;
        rc = is_for_node(q, &one, ret_found);
        *ret = one.slice->generation;
    }
    return rc;
}

struct slices {
    const struct tg_fleet_slice **items;
    size_t n;
};

/* It has rules of which nothing is known here. */
static void bar_foreign(const struct question *q, int64_t generation, struct tg_node_pool *p)
{
    if (q->rules->release < RELEASE_OF_GROUPS || !tg_fleet_pool_has_groups(p->pool, generation))
        return;
    p->state = TG_POOL_INCOMPLETE;
    p->why = TG_POOL_GROUPS;
}

static int gather(const struct question *q, const struct tg_fleet_pool *pool, int64_t generation,
                  struct tg_node_pool *ret, struct slices *relevant)
{
    size_t n = pool->slices.n;
    int rc = tg_core_alloc(q->arena, n, sizeof(*ret->own), &ret->own, q->err);

    if (rc == 0)
        rc = tg_core_alloc(q->arena, n, sizeof(*ret->all), &ret->all, q->err);
    if (rc == 0)
        rc = tg_core_alloc(q->arena, n, sizeof(*relevant->items), &relevant->items, q->err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct tg_seen_slice *seen = &ret->all[ret->n_all];
        bool own = false;

        seen->slice = pool->slices.items[i];
        if (seen->slice->generation != generation)
            continue;
        ret->n_all++;
        if (is_ignored(seen->slice, q->rules))
            continue;
        rc = is_for_node(q, seen, &own);
        if (!own)
            continue;
        relevant->items[relevant->n++] = seen->slice;
        if (!holds_counters_only(seen->slice, q->rules))
            ret->own[ret->n_own++] = ret->n_all - 1;
    }
    bar_foreign(q, generation, ret);
    return rc;
}

/* How many slices the pool has, as those for the node say; what others say is not asked. -1: they
 * contradict each other. The built-in allocator believes the first of its list then, whose order is
 * that of no field; here nothing is known. */
static int64_t count_of(const struct slices *slices)
{
    for (size_t i = 1; i < slices->n; i++) {
        if (slices->items[i]->count != slices->items[0]->count)
            return -1;
    }
    return slices->n == 0 ? -1 : slices->items[0]->count;
}

static bool is_count(int64_t count, size_t n)
{
    return count >= 0 && (uint64_t)count == n;
}

static int compare_names(const void *a, const void *b, const void *context)
{
    const struct tg_slot *x = a, *y = b;

    (void)context;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* *ret_twice: the name that two devices of these slices have, or 0. */
static int find_twin(struct tg_node_pool *p, struct tg_arena *arena, uint32_t *ret_twice,
                     struct tg_error *err)
{
    const void **order;
    size_t n = 0;
    int rc = 0;

    *ret_twice = 0;
    for (size_t i = 0; i < p->n_own; i++)
        n += p->all[p->own[i]].slice->n_slots;
    rc = tg_core_alloc(arena, n, sizeof(*order), &order, err);
    if (rc < 0)
        return rc;
    n = 0;
    for (size_t i = 0; i < p->n_own; i++) {
        const struct tg_fleet_slice *slice = p->all[p->own[i]].slice;

        p->has_binding = p->has_binding || (slice->flags & TG_SLOT_BINDING) != 0;
        for (size_t k = 0; k < slice->n_slots; k++)
            order[n++] = &slice->slots[k];
    }
    rc = tg_core_sort(order, n, compare_names, NULL, arena, err);
    for (size_t i = 1; rc == 0 && i < n && *ret_twice == 0; i++) {
        if (compare_names(order[i - 1], order[i], NULL) == 0)
            *ret_twice = ((const struct tg_slot *)order[i])->name;
    }
    return rc;
}

static int judge_names(const struct tg_model *model, struct tg_node_pool *p, struct tg_arena *arena,
                       struct tg_error *err)
{
    uint32_t twice = 0;
    int rc = find_twin(p, arena, &twice, err);

    if (rc < 0 || twice == 0)
        return rc;
    p->state = TG_POOL_INVALID;
    p->why = tg_arena_printf(arena, "has two devices named %s",
                             (const char *)tg_blobs_get(&model->strings, twice));
    return p->why == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                         "the decision needs more memory than its budget")
                          : 0;
}

/* Devices of this node, and those elsewhere that count. */
static int open_slices(const struct question *q, struct tg_node_pool *p)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < p->n_own; i++)
        rc = tg_seen_open(q->model, &p->all[p->own[i]], q->arena, q->err);
    for (size_t i = 0; rc == 0 && i < p->n_all; i++) {
        if ((p->all[i].slice->flags & (TG_SLOT_COUNTS | TG_SLOT_DERIVED)) != 0)
            rc = tg_seen_open(q->model, &p->all[i], q->arena, q->err);
    }
    return rc;
}

int tg_node_pool_judge(const struct tg_model *model, const struct tg_fleet_pool *pool,
                       const struct tg_node *node, const struct tg_rules *rules,
                       struct tg_arena *arena, struct tg_node_pool *ret, bool *ret_seen,
                       struct tg_error *err)
{
    const struct question q = {
        .model = model, .node = node, .rules = rules, .arena = arena, .err = err};
    bool looks = rules->release >= RELEASE_OF_COUNTER_SLICES;
    int64_t generation = 0, count;
    struct slices relevant = {.n = 0};
    int rc = 0;

    *ret = (struct tg_node_pool){.pool = pool, .state = TG_POOL_USABLE};
    rc = find_generation(&q, pool, ret_seen, &generation);
    if (rc == 0 && *ret_seen)
        rc = gather(&q, pool, generation, ret, &relevant);
    if (rc < 0 || !*ret_seen)
        return rc;
    count = count_of(&relevant);
    /* What the node sees may be all there is of the generation. Otherwise look at every slice of
     * the pool, which release 34 did not: a newer generation elsewhere makes what is here obsolete.
     */
    if (!is_count(count, relevant.n)) {
        if (looks && pool->slices.items[0]->generation > generation) {
            *ret_seen = false;
            return 0;
        }
        if (!looks || !is_count(count, ret->n_all)) {
            ret->state = TG_POOL_INCOMPLETE;
            ret->why = "incomplete";
        }
    }
    if (ret->state == TG_POOL_INCOMPLETE && looks)
        return 0;
    rc = judge_names(model, ret, arena, err);
    return rc < 0 ? rc : open_slices(&q, ret);
}
