/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_counters.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

#define RELEASE_OF_POOL_SCOPE 35

int tg_counter_pile_add(struct tg_counter_pile *pile, const struct tg_view_counter *counter,
                        struct tg_arena *arena, struct tg_error *err)
{
    if (pile->n == pile->capacity) {
        size_t capacity = pile->capacity == 0 ? 16 : 2 * pile->capacity;
        struct tg_view_counter *grown;
        int rc = tg_core_alloc(arena, capacity, sizeof(*grown), &grown, err);

        if (rc < 0)
            return rc;
        if (pile->n > 0)
            memcpy(grown, pile->items, pile->n * sizeof(*grown));
        pile->items = grown;
        pile->capacity = capacity;
    }
    pile->items[pile->n++] = *counter;
    return 0;
}

static int say_invalid(struct tg_node_pool *pool, const char *why, struct tg_error *err)
{
    pool->state = TG_POOL_INVALID;
    pool->why = why;
    return why == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                      "the decision needs more memory than its budget")
                       : 0;
}

static int compare_sets(const void *a, const void *b, const void *context)
{
    (void)context;
    return tg_strcmp(((const struct tg_counter_set *)a)->name,
                     ((const struct tg_counter_set *)b)->name);
}

static int compare_keys(const void *a, const void *b, const void *context)
{
    (void)context;
    return tg_strcmp(((const struct tg_keyed_counter *)a)->key,
                     ((const struct tg_keyed_counter *)b)->key);
}

static int add_set(struct tg_counter_pile *pile, struct tg_node_pool *pool,
                   const struct tg_counter_set *set, struct tg_arena *arena, struct tg_error *err)
{
    const void **order;
    int rc = tg_core_alloc(arena, set->counters.n, sizeof(*order), &order, err);

    for (size_t i = 0; rc == 0 && i < set->counters.n; i++)
        order[i] = &set->counters.items[i];
    if (rc == 0)
        rc = tg_core_sort(order, set->counters.n, compare_keys, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < set->counters.n; i++) {
        const struct tg_keyed_counter *keyed = order[i];
        struct tg_view_counter counter = {.set = set->name, .name = keyed->key};

        if (tg_nanos_parse(tg_or(keyed->value.value, ""), &counter.left, NULL) < 0)
            return say_invalid(pool,
                               tg_arena_printf(arena, "counter %s of set %s is no quantity",
                                               tg_or(keyed->key, "?"), tg_or(set->name, "?")),
                               err);
        rc = tg_counter_pile_add(pile, &counter, arena, err);
    }
    return rc;
}

/* Its counters are for its own devices only. */
static bool has_scope(const struct tg_fleet_slice *slice, const struct tg_rules *rules)
{
    return rules->release < RELEASE_OF_POOL_SCOPE || tg_fleet_slice_is_mixed(slice, rules);
}

/* One block: the sets of that slice; NULL: of all slices without a scope of their own. */
static int add_block(struct tg_node_counters *c, struct tg_node_pool *pool,
                     const struct tg_fleet_slice *slice, const struct tg_rules *rules,
                     struct tg_arena *arena, struct tg_error *err)
{
    struct tg_counter_block *block = &c->blocks[c->n_blocks++];
    const void **order;
    size_t n_sets = 0;
    int rc = 0;

    block->slice = slice;
    for (size_t i = 0; i < pool->n_all; i++)
        n_sets += pool->all[i].slice->n_counters;
    rc = tg_core_alloc(arena, n_sets, sizeof(*order), &order, err);
    if (rc < 0)
        return rc;
    n_sets = 0;
    for (size_t i = 0; i < pool->n_all; i++) {
        const struct tg_fleet_slice *one = pool->all[i].slice;

        if (slice == NULL ? has_scope(one, rules) : one != slice)
            continue;
        for (size_t k = 0; k < one->n_counters; k++)
            order[n_sets++] = &one->counters[k];
    }
    rc = tg_core_sort(order, n_sets, compare_sets, NULL, arena, err);
    block->first = c->pile->n;
    for (size_t i = 0; rc == 0 && pool->state != TG_POOL_INVALID && i < n_sets; i++) {
        const struct tg_counter_set *set = order[i];

        if (i > 0 && compare_sets(order[i - 1], set, NULL) == 0)
            return say_invalid(
                pool,
                tg_arena_printf(arena, "has two counter sets named %s", tg_or(set->name, "?")),
                err);
        rc = add_set(c->pile, pool, set, arena, err);
    }
    block->n = c->pile->n - block->first;
    return rc;
}

static const struct tg_counter_block *block_of(const struct tg_node_counters *c,
                                               const struct tg_fleet_slice *slice)
{
    for (size_t i = 0; i < c->n_blocks; i++) {
        if (c->blocks[i].slice == NULL || c->blocks[i].slice == slice)
            return &c->blocks[i];
    }
    return NULL;
}

/* The place of a counter in the pile, TG_NO_INDEX if the block lacks it. */
static size_t find(const struct tg_node_counters *c, const struct tg_counter_block *block,
                   const char *set, const char *name)
{
    size_t low = block->first, high = block->first + block->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tg_view_counter *counter = &c->pile->items[middle];
        /* The model keeps a string once. */
        int order = counter->set == set ? 0 : tg_strcmp(counter->set, set);

        if (order == 0 && counter->name != name)
            order = tg_strcmp(counter->name, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return TG_NO_INDEX;
}

/* Takes off what a device consumes, or (not held) only looks whether its counters are there.
 * *ret_missing: the set of one that is not. */
static void charge(struct tg_node_counters *c, const struct tg_counter_block *block,
                   const struct tg_device *device, bool held, const char **ret_missing)
{
    for (size_t i = 0; i < device->consumes_counters.n; i++) {
        const struct tg_counter_set *set = &device->consumes_counters.items[i];

        for (size_t k = 0; k < set->counters.n; k++) {
            const struct tg_keyed_counter *keyed = &set->counters.items[k];
            size_t at = block == NULL ? TG_NO_INDEX : find(c, block, set->name, keyed->key);
            __int128 amount = 0;

            if (at == TG_NO_INDEX) {
                *ret_missing = tg_or(set->name, "?");
                return;
            }
            if (!held)
                continue;
            /* Nobody knows how much it takes: nothing is left. */
            if (tg_nanos_parse(tg_or(keyed->value.value, ""), &amount, NULL) < 0)
                amount = TG_NANOS_MAX;
            c->pile->items[at].left -= amount;
        }
    }
}

static int charge_all(struct tg_node_counters *c, const struct tg_model *model,
                      struct tg_node_pool *pool, struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < pool->n_all; i++) {
        const struct tg_seen_slice *seen = &pool->all[i];
        const struct tg_counter_block *block = block_of(c, seen->slice);

        for (size_t k = 0; seen->devices != NULL && k < seen->slice->n_slots; k++) {
            const struct tg_device *device = &seen->devices[k];
            const char *missing = NULL;

            if (device->consumes_counters.n == 0)
                continue;
            charge(c, block, device,
                   tg_slot_held(model, pool->pool, &seen->slice->slots[k]) != NULL, &missing);
            if (missing != NULL)
                return say_invalid(
                    pool,
                    tg_arena_printf(arena,
                                    "device %s consumes counters of set %s which are not there",
                                    device->name, missing),
                    err);
        }
    }
    return 0;
}

int tg_node_counters_init(struct tg_node_counters *ret, const struct tg_model *model,
                          struct tg_node_pool *pool, const struct tg_rules *rules,
                          struct tg_counter_pile *pile, struct tg_arena *arena,
                          struct tg_error *err)
{
    size_t before = pile->n;
    int rc = 0;

    *ret = (struct tg_node_counters){.pile = pile};
    if (!tg_rules_have(rules, TG_FEATURE_PARTITIONABLE_DEVICES))
        return 0;
    rc = tg_core_alloc(arena, pool->n_all + 1, sizeof(*ret->blocks), &ret->blocks, err);
    for (size_t i = 0; rc == 0 && pool->state != TG_POOL_INVALID && i < pool->n_all; i++) {
        if (has_scope(pool->all[i].slice, rules))
            rc = add_block(ret, pool, pool->all[i].slice, rules, arena, err);
    }
    /* The last one, since it is for all that have none of their own. */
    if (rc == 0 && pool->state != TG_POOL_INVALID && rules->release >= RELEASE_OF_POOL_SCOPE)
        rc = add_block(ret, pool, NULL, rules, arena, err);
    if (rc == 0 && pool->state != TG_POOL_INVALID)
        rc = charge_all(ret, model, pool, arena, err);
    if (pool->state == TG_POOL_INVALID)
        pile->n = before;
    return rc;
}

/* Short lists, mostly in order already. */
static void sort_consumes(struct tg_view_consumes *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct tg_view_consumes item = items[i];
        size_t k = i;

        for (; k > 0 && items[k - 1].counter > item.counter; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

int tg_node_counters_of(const struct tg_node_counters *counters, const struct tg_fleet_slice *slice,
                        struct tg_view_device *row, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_counter_block *block = block_of(counters, slice);
    struct tg_view_consumes *consumes;
    size_t n = 0;
    int rc = 0;

    if (block == NULL || row->object->consumes_counters.n == 0)
        return 0;
    for (size_t i = 0; i < row->object->consumes_counters.n; i++)
        n += row->object->consumes_counters.items[i].counters.n;
    rc = tg_core_alloc(arena, n, sizeof(*consumes), &consumes, err);
    if (rc < 0)
        return rc;
    n = 0;
    for (size_t i = 0; i < row->object->consumes_counters.n; i++) {
        const struct tg_counter_set *set = &row->object->consumes_counters.items[i];

        for (size_t k = 0; k < set->counters.n; k++) {
            const struct tg_keyed_counter *keyed = &set->counters.items[k];

            consumes[n].counter = find(counters, block, set->name, keyed->key);
            if (tg_nanos_parse(tg_or(keyed->value.value, ""), &consumes[n++].amount, NULL) < 0)
                row->barred = "consumes a counter by what is no quantity";
        }
    }
    sort_consumes(consumes, n);
    row->consumes = consumes;
    row->n_consumes = n;
    row->first_counter = block->first;
    row->n_counters = block->n;
    return 0;
}
