/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool is worth, whatever the node: its newest generation complete, no name twice, counters
 * that do not contradict themselves (the rule of the built-in allocator since 1.35). */
#include "controller/core/model/node_counters.h"
#include "controller/core/model/sort.h"

size_t tg_fleet_pool_newest(const struct tg_fleet_pool *pool)
{
    size_t n = 0;

    while (n < pool->slices.n &&
           pool->slices.items[n]->generation == pool->slices.items[0]->generation)
        n++;
    return n;
}

/* Slices that disagree about the count prove nothing. */
static bool is_complete(const struct tg_fleet_pool *pool, size_t newest)
{
    for (size_t i = 0; i < newest; i++) {
        int64_t count = pool->slices.items[i]->count;

        if (count < 0 || (uint64_t)count != newest)
            return false;
    }
    return true;
}

bool tg_fleet_pool_has_groups(const struct tg_fleet_pool *pool, int64_t generation)
{
    for (size_t i = 0; i < pool->slices.n; i++) {
        if (pool->slices.items[i]->generation == generation &&
            (pool->slices.items[i]->flags & TG_SLOT_GROUPS) != 0)
            return true;
    }
    return false;
}

static int compare_names(const void *a, const void *b, const void *context)
{
    const struct tg_slot *x = a, *y = b;

    (void)context;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool has_twins(const struct tg_fleet_pool *pool, size_t newest, struct tg_arena *scratch)
{
    const void **order;
    size_t n = 0;

    for (size_t i = 0; i < newest; i++)
        n += pool->slices.items[i]->n_slots;
    if (tg_core_alloc(scratch, 2 * n, sizeof(*order), &order, NULL) < 0)
        return true;
    n = 0;
    for (size_t i = 0; i < newest; i++) {
        for (size_t k = 0; k < pool->slices.items[i]->n_slots; k++)
            order[n++] = &pool->slices.items[i]->slots[k];
    }
    tg_core_sort_in(order, order + n, n, compare_names, NULL);
    for (size_t i = 1; i < n; i++) {
        if (compare_names(order[i - 1], order[i], NULL) == 0)
            return true;
    }
    return false;
}

/* As node_counters does, by what the server has kept. */
static bool counters_are_sound(const struct tg_model *model, const struct tg_fleet_pool *pool,
                               size_t newest, struct tg_arena *scratch)
{
    const struct tg_rules rules = tg_rules_of_objects();
    struct tg_node_pool seen = {.pool = pool, .n_all = newest};
    struct tg_counter_pile pile = {.n = 0};
    struct tg_node_counters counters;
    bool counts = false;
    int rc = tg_core_alloc(scratch, newest, sizeof(*seen.all), &seen.all, NULL);

    for (size_t i = 0; rc == 0 && i < newest; i++) {
        const struct tg_fleet_slice *slice = pool->slices.items[i];

        seen.all[i].slice = slice;
        counts = counts || slice->n_counters > 0 || (slice->flags & TG_SLOT_COUNTS) != 0;
        if ((slice->flags & TG_SLOT_COUNTS) != 0)
            rc = tg_seen_open(model, &seen.all[i], scratch, NULL);
    }
    if (!counts)
        return true;
    if (rc == 0)
        rc = tg_node_counters_init(&counters, model, &seen, &rules, &pile, scratch, NULL);
    return rc == 0 && seen.state != TG_POOL_INVALID;
}

void tg_fleet_pool_judge(struct tg_model *model, struct tg_fleet_pool *pool)
{
    size_t newest = tg_fleet_pool_newest(pool);

    tg_arena_reset(model->scratch);
    pool->why = NULL;
    if (!is_complete(pool, newest))
        pool->why = "incomplete";
    else if (newest > 0 && tg_fleet_pool_has_groups(pool, pool->slices.items[0]->generation))
        pool->why = TG_POOL_GROUPS;
    else if (has_twins(pool, newest, model->scratch))
        pool->why = "has two devices of one name";
    else if (!counters_are_sound(model, pool, newest, model->scratch))
        pool->why = "has counters that contradict themselves";
}

bool tg_fleet_pool_is_local(const struct tg_fleet *fleet, const char *driver, const char *name)
{
    const struct tg_fleet_pool *pool = tg_fleet_pool_find(fleet->model, driver, name);
    size_t newest = pool == NULL ? 0 : tg_fleet_pool_newest(pool);

    for (size_t i = 0; i < newest; i++) {
        const struct tg_place *place = pool->slices.items[i]->place;

        if (place == NULL || place != pool->slices.items[0]->place)
            return false;
    }
    return newest > 0;
}
