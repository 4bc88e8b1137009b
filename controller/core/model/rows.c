/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a fleet, written anew where rows have come or gone. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/model.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

/* Items of a table in order: a list of *ret_n, to be freed. */
static const void **sorted(const struct tg_table *table, tg_core_compare *compare, size_t *ret_n)
{
    const void **items = tg_xcalloc(2 * table->n + 1, sizeof(*items));
    const struct tg_record *record;
    size_t at = 0;

    *ret_n = 0;
    while ((record = tg_table_next(table, &at)) != NULL)
        items[(*ret_n)++] = record;
    tg_core_sort_in(items, items + table->n, table->n, compare, NULL);
    return items;
}

/* --- nodes --- */

static int compare_places(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_place *)a)->name, ((const struct tg_place *)b)->name);
}

static void write_nodes(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    size_t n;
    const void **places = sorted(&model->places, compare_places, &n);

    free(fleet->nodes);
    fleet->nodes = tg_xcalloc(n + 1, sizeof(*fleet->nodes));
    fleet->n_nodes = 0;
    for (size_t i = 0; i < n; i++) {
        struct tg_place *place = (struct tg_place *)(uintptr_t)places[i];

        if (place->object == NULL)
            continue;
        place->index = fleet->n_nodes++;
        tg_place_fill(&fleet->nodes[place->index], place);
        fleet->nodes[place->index].order = place->index;
    }
    free(places);
}

/* --- classes and rules --- */

static int compare_kept(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_kept *)a)->name, ((const struct tg_kept *)b)->name);
}

static void write_kept(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    size_t n;
    const void **kept = sorted(&model->classes, compare_kept, &n);

    free(fleet->classes);
    fleet->classes = tg_xcalloc(n + 1, sizeof(*fleet->classes));
    for (size_t i = 0; i < n; i++)
        fleet->classes[i] = *((const struct tg_kept *)kept[i])->klass;
    fleet->n_classes = n;
    free(kept);
    kept = sorted(&model->rules, compare_kept, &n);
    free(fleet->taint_rules);
    fleet->taint_rules = tg_xcalloc(n + 1, sizeof(*fleet->taint_rules));
    for (size_t i = 0; i < n; i++)
        fleet->taint_rules[i] = ((const struct tg_kept *)kept[i])->object;
    fleet->n_taint_rules = n;
    free(kept);
}

/* --- devices --- */

static int compare_pools(const void *a, const void *b, const void *context)
{
    (void)context;
    return tg_fleet_pool_compare(a, b);
}

struct found { /* one device of a pool */
    struct tg_slot *slot;
    const struct tg_fleet_slice *slice;
    const char *name;
    bool partitions; /* its pool has derived ones */
};

static int compare_found(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

static void *must(void *p)
{
    if (p == NULL)
        abort(); /* as tg_xmalloc */
    return p;
}

/* Taints stay with the rows; most devices have none. */
static void write_taints(struct tg_model *model, const struct tg_slot *slot,
                         struct tg_fleet_device *row)
{
    struct tg_device device = {.name = row->name};
    const struct tg_taint_query query = {
        .driver = row->driver, .pool = row->pool, .device = &device, .published = true};

    if ((slot->flags & (TG_SLOT_TAINTED | TG_SLOT_UNHEALTHY)) != 0) {
        if (tg_slot_device(model, slot, model->rows, &device, NULL) < 0)
            abort();
    } else if (model->fleet->n_taint_rules == 0) {
        return;
    }
    if (tg_taint_collect(model->fleet, &query, model->rows, &row->taints, &row->n_taints, NULL) < 0)
        abort();
}

#define RESERVED "publishes an attribute of the reserved domain " TG_GUARD_DOMAIN

/* More has to be known of the device than who holds it. Beside derived partitions that is so of the
 * cards that they are parts of. */
static bool is_exact(const struct found *found)
{
    return found->slice->place == NULL ||
           (found->slot->flags & (TG_SLOT_COUNTS | TG_SLOT_SHARED | TG_SLOT_POLICY)) != 0 ||
           found->partitions;
}

static void fill_device(struct tg_model *model, const struct found *found,
                        struct tg_fleet_device *row)
{
    struct tg_fleet *fleet = model->fleet;
    const struct tg_place *place = found->slice->place;

    *row = (struct tg_fleet_device){
        .slot = found->slot,
        .driver = found->slice->pool->driver,
        .pool = found->slice->pool->name,
        .name = found->name,
        .node = place == NULL ? TG_NO_INDEX : place->index,
        .wide = place == NULL,
        .exact = is_exact(found),
        .shared = (found->slot->flags & TG_SLOT_SHARED) != 0,
        .binding = (found->slot->flags & TG_SLOT_BINDING) != 0,
        .unsupported = (found->slot->flags & TG_SLOT_GUARD) != 0 ? RESERVED : NULL};
    if (found->slice->pool->n_held > 0)
        row->holder =
            tg_slot_holder(found->slot, tg_slot_held(model, found->slice->pool, found->slot));
    fleet->n_exact += row->exact ? 1 : 0;
    found->slot->row = (uint32_t)(row - fleet->devices) + 1;
    write_taints(model, found->slot, row);
}

static void clear_slots(struct tg_fleet_pool *pool)
{
    for (size_t i = 0; i < pool->slices.n; i++) {
        for (size_t k = 0; k < pool->slices.items[i]->n_slots; k++)
            pool->slices.items[i]->slots[k].row = 0;
    }
}

struct found_list { /* of the newest generation of a pool, by name */
    struct found *items;
    const void **order;
    size_t n;
};

static void find_devices(const struct tg_model *model, const struct tg_fleet_pool *pool,
                         struct found_list *ret)
{
    size_t n = 0, newest = pool->why == NULL ? tg_fleet_pool_newest(pool) : 0;
    unsigned flags = 0;

    for (size_t i = 0; i < newest; i++) {
        n += pool->slices.items[i]->n_slots;
        flags |= pool->slices.items[i]->flags;
    }
    *ret = (struct found_list){.items = tg_xcalloc(n + 1, sizeof(*ret->items)),
                               .order = tg_xcalloc(2 * n + 1, sizeof(*ret->order))};
    for (size_t i = 0; i < newest; i++) {
        struct tg_fleet_slice *slice = pool->slices.items[i];

        for (size_t k = 0; k < slice->n_slots; k++) {
            struct found *found = &ret->items[ret->n];

            *found = (struct found){
                .slot = &slice->slots[k],
                .slice = slice,
                .name = (const char *)tg_blobs_get(&model->strings, slice->slots[k].name),
                .partitions = (flags & TG_SLOT_DERIVED) != 0};
            ret->order[ret->n++] = found;
        }
    }
    tg_core_sort_in(ret->order, ret->order + n, n, compare_found, NULL);
}

static void free_found(struct found_list *list)
{
    free(list->order);
    free(list->items);
}

static void write_pool(struct tg_model *model, struct tg_fleet_pool *pool)
{
    struct tg_fleet *fleet = model->fleet;
    struct found_list found;

    clear_slots(pool);
    find_devices(model, pool, &found);
    pool->first_row = fleet->n_devices;
    pool->n_rows = found.n;
    pool->shown_why = pool->why;
    if (pool->why != NULL)
        fleet->bad_pools[fleet->n_bad_pools++] = (struct tg_fleet_bad_pool){
            .driver = pool->driver, .pool = pool->name, .why = pool->why};
    for (size_t i = 0; i < found.n; i++)
        fill_device(model, found.order[i], &fleet->devices[fleet->n_devices++]);
    free_found(&found);
}

/* Are the rows of the pool for the same devices, on the same nodes? */
static bool same_rows(const struct tg_model *model, const struct tg_fleet_pool *pool,
                      const struct found_list *found)
{
    if (pool->why != pool->shown_why || found->n != pool->n_rows)
        return false;
    for (size_t i = 0; i < found->n; i++) {
        const struct tg_fleet_device *row = &model->fleet->devices[pool->first_row + i];
        const struct found *f = found->order[i];
        const struct tg_place *place = f->slice->place;

        if (row->name != f->name || row->wide != (place == NULL) ||
            row->node != (place == NULL ? TG_NO_INDEX : place->index) || row->contested != NULL)
            return false;
    }
    return true;
}

/* What is written again and again in place leaves its taints behind: not for ever. */
static bool wastes_memory(const struct tg_model *model)
{
    return tg_arena_used(model->rows) > 2 * model->rows_used + ((size_t)1 << 20);
}

bool tg_rows_rewrite(struct tg_model *model, struct tg_fleet_pool *pool)
{
    struct tg_fleet *fleet = model->fleet;
    struct found_list found;
    bool same = false;

    if (model->devices_changed || model->nodes_changed || model->kept_changed ||
        wastes_memory(model))
        return false;
    find_devices(model, pool, &found);
    same = same_rows(model, pool, &found);
    if (same)
        clear_slots(pool);
    for (size_t i = 0; same && i < found.n; i++) {
        struct tg_fleet_device *row = &fleet->devices[pool->first_row + i];

        fleet->n_exact -= row->exact ? 1 : 0;
        fill_device(model, found.order[i], row);
    }
    same = same && !tg_contests_reach(model, pool->first_row, found.n);
    free_found(&found);
    if (same)
        tg_news_pool(model, pool);
    return same;
}

/* Gives every node the list of its devices. The devices are in order, so the lists are. */
static void link_nodes(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    size_t *links = must(tg_arena_alloc_array(model->rows, fleet->n_devices + 1, sizeof(*links)));
    size_t at = 0;

    for (size_t i = 0; i < fleet->n_nodes; i++)
        fleet->nodes[i].n_devices = 0;
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
}

static size_t count_slots(const void *const *pools, size_t n)
{
    size_t slots = 0;

    for (size_t i = 0; i < n; i++) {
        const struct tg_fleet_pool *pool = pools[i];

        for (size_t k = 0; k < pool->slices.n; k++)
            slots += pool->slices.items[k]->n_slots;
    }
    return slots;
}

static void write_devices(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    size_t n;
    const void **pools = sorted(&model->pools, compare_pools, &n);

    tg_arena_reset(model->rows);
    free(fleet->devices);
    fleet->devices =
        tg_xcalloc(count_slots((const void *const *)pools, n) + 1, sizeof(*fleet->devices));
    fleet->bad_pools = must(tg_arena_alloc_array(model->rows, n + 1, sizeof(*fleet->bad_pools)));
    fleet->n_devices = fleet->n_exact = fleet->n_bad_pools = 0;
    for (size_t i = 0; i < n; i++)
        write_pool(model, (struct tg_fleet_pool *)(uintptr_t)pools[i]);
    free(pools);
    link_nodes(model);
    model->rows_used = tg_arena_used(model->rows);
}

size_t tg_fleet_rows_bytes(const struct tg_fleet *fleet)
{
    return tg_arena_used(fleet->model->rows);
}

void tg_rows_settle(struct tg_model *model)
{
    if (model->classes_retry) {
        model->classes_retry = false;
        tg_classes_compile(model);
    }
    if (model->kept_changed)
        write_kept(model);
    if (model->nodes_changed)
        write_nodes(model);
    /* The rows of devices say which row of a node is theirs. */
    if (model->nodes_changed || model->devices_changed)
        write_devices(model);
    if (model->kept_changed)
        tg_contests_forget(model, 0);
    if (model->kept_changed || model->nodes_changed || model->devices_changed)
        tg_contests_write(model);
    if (model->kept_changed || model->nodes_changed || model->devices_changed)
        tg_news_all(model);
    model->kept_changed = model->nodes_changed = model->devices_changed = false;
}
