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

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const struct tg_place *)a)->name, ((const struct tg_place *)b)->name);
}

static uint64_t *number_of_place(void *context, void *item)
{
    const struct tg_model *model = context;

    return &model->fleet->nodes[((const struct tg_place *)item)->index].order;
}

static void add_stale(struct tg_model *model, size_t node)
{
    struct tg_fleet_node *row = &model->fleet->nodes[node];

    if (!row->stale)
        *TG_VEC_PUSH(&model->stale_nodes) = (uint32_t)node;
    row->stale = true;
}

/* The rows of its devices say which row of a node is theirs. */
static void change_pools(struct tg_model *model, const struct tg_place *place)
{
    for (size_t i = 0; i < place->pools.n; i++)
        tg_rows_change(model, place->pools.items[i]);
}

/* A row that nobody uses, or one more. */
static size_t open_node(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;

    if (model->spare_nodes.n > 0)
        return model->spare_nodes.items[--model->spare_nodes.n];
    if (fleet->n_nodes == model->nodes_capacity) {
        model->nodes_capacity = model->nodes_capacity == 0 ? 64 : 2 * model->nodes_capacity;
        fleet->nodes = tg_xreallocarray(fleet->nodes, model->nodes_capacity, sizeof(*fleet->nodes));
    }
    fleet->nodes[fleet->n_nodes] = (struct tg_fleet_node){.object = NULL};
    return fleet->n_nodes++;
}

void tg_rows_add_node(struct tg_model *model, struct tg_place *place)
{
    place->index = open_node(model);
    tg_place_fill(model, &model->fleet->nodes[place->index], place);
    tg_sorted_add(&model->nodes_by_name, place);
    add_stale(model, place->index);
    change_pools(model, place);
}

void tg_rows_drop_node(struct tg_model *model, struct tg_place *place)
{
    struct tg_fleet_node *row = &model->fleet->nodes[place->index];
    bool stale = row->stale;

    tg_sorted_remove(&model->nodes_by_name, place);
    free(row->devices);
    *row = (struct tg_fleet_node){.stale = stale};
    add_stale(model, place->index);
    *TG_VEC_PUSH(&model->spare_nodes) = (uint32_t)place->index;
    place->index = TG_NO_INDEX;
    change_pools(model, place);
}

/* Rows without the gaps that nodes have left, in the order of names. */
static void close_gaps(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    struct tg_fleet_node *rows = tg_xcalloc(model->nodes_by_name.n + 1, sizeof(*rows));
    struct tg_sorted_at at = {.run = 0};
    struct tg_place *place;
    size_t n = 0;

    while ((place = tg_sorted_next(&model->nodes_by_name, &at)) != NULL) {
        rows[n] = fleet->nodes[place->index];
        rows[n].stale = false;
        place->index = n++;
    }
    free(fleet->nodes);
    fleet->nodes = rows;
    fleet->n_nodes = n;
    model->nodes_capacity = n + 1;
    TG_VEC_CLEAR(&model->spare_nodes);
    TG_VEC_CLEAR(&model->stale_nodes);
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

static int compare_pools(const void *a, const void *b)
{
    return tg_fleet_pool_compare(a, b);
}

static void free_taints(struct tg_fleet_device *row)
{
    free((void *)(uintptr_t)row->taints);
    row->taints = NULL;
    row->n_taints = 0;
}

void tg_rows_init(struct tg_model *model)
{
    model->nodes_by_name =
        (struct tg_sorted){.compare = compare_places, .number = number_of_place, .context = model};
    model->pools_by_name = model->bad_pools = (struct tg_sorted){.compare = compare_pools};
    model->rows = tg_arena_new(TG_ARENA_UNLIMITED);
    tg_news_all(model); /* to who has read nothing */
}

static void forget_spare_rows(struct tg_model *model)
{
    for (size_t i = 0; i < model->spare_rows.n; i++)
        TG_VEC_DONE(&model->spare_rows.items[i].firsts);
    TG_VEC_CLEAR(&model->spare_rows);
    model->n_spare_rows = 0;
}

void tg_rows_done(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;

    for (size_t i = 0; i < fleet->n_nodes; i++)
        free(fleet->nodes[i].devices);
    for (size_t i = 0; i < fleet->device_rows; i++)
        free_taints(&fleet->devices[i]);
    free(fleet->nodes);
    free(fleet->devices);
    free(fleet->faces);
    free(fleet->classes);
    free(fleet->taint_rules);
    forget_spare_rows(model);
    TG_VEC_DONE(&model->spare_rows);
    TG_VEC_DONE(&model->spare_nodes);
    TG_VEC_DONE(&model->stale_nodes);
    TG_VEC_DONE(&model->changed);
    tg_sorted_done(&model->nodes_by_name);
    tg_sorted_done(&model->pools_by_name);
    tg_sorted_done(&model->bad_pools);
    tg_arena_free(model->rows);
}

/* The list of blocks of n rows that nobody uses. */
static struct tg_spare_rows *spare_rows_of(struct tg_model *model, size_t n)
{
    size_t at = 0;

    while (at < model->spare_rows.n && model->spare_rows.items[at].n != n)
        at++;
    if (at == model->spare_rows.n)
        TG_VEC_PUSH(&model->spare_rows)->n = n;
    return &model->spare_rows.items[at];
}

static size_t open_rows(struct tg_model *model, size_t n)
{
    struct tg_fleet *fleet = model->fleet;
    struct tg_spare_rows *spare = spare_rows_of(model, n);
    size_t first = fleet->device_rows;

    if (spare->firsts.n > 0) {
        model->n_spare_rows -= n;
        return spare->firsts.items[--spare->firsts.n];
    }
    while (first + n > model->rows_capacity) {
        model->rows_capacity = model->rows_capacity == 0 ? 64 : 2 * model->rows_capacity;
        fleet->devices =
            tg_xreallocarray(fleet->devices, model->rows_capacity, sizeof(*fleet->devices));
        fleet->faces = tg_xreallocarray(fleet->faces, model->rows_capacity, sizeof(*fleet->faces));
    }
    fleet->device_rows += n;
    for (size_t i = 0; i < n; i++)
        fleet->devices[first + i] = (struct tg_fleet_device){.slot = NULL, .node = TG_NO_INDEX};
    return first;
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

/* In one block. Their strings are those of the content or of a rule: they stay as long as the row
 * says what it says. */
static void keep_taints(struct tg_fleet_device *row, const struct tg_taint *const *taints, size_t n)
{
    const struct tg_taint **list =
        tg_xcalloc(n, sizeof(struct tg_taint *) + sizeof(struct tg_taint));
    struct tg_taint *copies = (struct tg_taint *)(list + n);

    for (size_t i = 0; i < n; i++) {
        copies[i] = *taints[i];
        list[i] = &copies[i];
    }
    row->taints = list;
    row->n_taints = n;
}

/* Most devices have none. */
static void write_taints(struct tg_model *model, const struct tg_slot *slot,
                         struct tg_fleet_device *row)
{
    struct tg_device device = {.name = row->name};
    const struct tg_taint_query query = {
        .driver = row->driver, .pool = row->pool, .device = &device, .published = true};
    const struct tg_taint *const *taints = NULL;
    size_t n = 0;

    tg_arena_reset(model->rows);
    if ((slot->flags & (TG_SLOT_TAINTED | TG_SLOT_UNHEALTHY)) != 0) {
        if (tg_slot_device(model, slot, model->rows, &device, NULL) < 0)
            abort(); /* as tg_xmalloc */
    } else if (model->fleet->n_taint_rules == 0) {
        return;
    }
    if (tg_taint_collect(model->fleet, &query, model->rows, &taints, &n, NULL) < 0)
        abort();
    if (n > 0)
        keep_taints(row, taints, n);
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

void tg_rows_face(struct tg_model *model, const struct tg_fleet_device *row)
{
    bool ours = row->unsupported == NULL && row->contested == NULL;
    bool plain = !row->exact && !row->shared && row->n_taints == 0;

    model->fleet->faces[row - model->fleet->devices] =
        tg_content_shape(model, row->slot->content) << TG_FACE_SHAPE |
        (ours && row->holder == NULL ? TG_FACE_FREE : 0) | (plain ? TG_FACE_PLAIN : 0) |
        (ours ? TG_FACE_OURS : 0);
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
    tg_contest_add(model, row);
    tg_rows_face(model, row);
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

/* The node that had the device has it no more, or in another row. */
static void forget_rows(struct tg_model *model, const struct tg_fleet_pool *pool, bool nodes)
{
    for (size_t i = 0; i < pool->n_rows; i++) {
        struct tg_fleet_device *row = &model->fleet->devices[pool->first_row + i];

        model->fleet->n_exact -= row->exact ? 1 : 0;
        tg_contest_remove(model, row);
        if (nodes && row->node != TG_NO_INDEX)
            add_stale(model, row->node);
        free_taints(row);
        row->slot = NULL;
    }
}

static void close_rows(struct tg_model *model, struct tg_fleet_pool *pool)
{
    if (pool->n_rows > 0)
        *TG_VEC_PUSH(&spare_rows_of(model, pool->n_rows)->firsts) = (uint32_t)pool->first_row;
    model->n_spare_rows += pool->n_rows;
    model->fleet->n_devices -= pool->n_rows;
    pool->n_rows = 0;
}

static void list_bad(struct tg_model *model, struct tg_fleet_pool *pool, bool bad)
{
    if (bad && !pool->listed_bad)
        tg_sorted_add(&model->bad_pools, pool);
    else if (!bad && pool->listed_bad)
        tg_sorted_remove(&model->bad_pools, pool);
    pool->listed_bad = bad;
    model->fleet->n_bad_pools = model->bad_pools.n;
}

static void write_rows(struct tg_model *model, struct tg_fleet_pool *pool,
                       const struct found_list *found, bool moved)
{
    clear_slots(pool);
    for (size_t i = 0; i < found->n; i++) {
        struct tg_fleet_device *row = &model->fleet->devices[pool->first_row + i];
        size_t before = row->node;

        fill_device(model, found->order[i], row);
        if (!moved && before == row->node)
            continue;
        if (!moved && before != TG_NO_INDEX)
            add_stale(model, before);
        if (row->node != TG_NO_INDEX)
            add_stale(model, row->node);
    }
}

/* The rows of a pool, where they are if it has as many devices as before. */
static void write_pool(struct tg_model *model, struct tg_fleet_pool *pool)
{
    struct found_list found;
    bool moved;

    find_devices(model, pool, &found);
    moved = found.n != pool->n_rows;
    forget_rows(model, pool, moved);
    if (moved) {
        close_rows(model, pool);
        pool->n_rows = found.n;
        pool->first_row = found.n == 0 ? 0 : open_rows(model, found.n);
        model->fleet->n_devices += found.n;
    }
    list_bad(model, pool, pool->why != NULL);
    write_rows(model, pool, &found, moved);
    free_found(&found);
    tg_news_pool(model, pool);
}

void tg_rows_change(struct tg_model *model, struct tg_fleet_pool *pool)
{
    if (pool->changed != 0)
        return;
    *TG_VEC_PUSH(&model->changed) = pool;
    pool->changed = model->changed.n;
}

void tg_rows_add_pool(struct tg_model *model, struct tg_fleet_pool *pool)
{
    tg_sorted_add(&model->pools_by_name, pool);
}

void tg_rows_drop_pool(struct tg_model *model, struct tg_fleet_pool *pool)
{
    if (pool->changed != 0) {
        struct tg_fleet_pool *last = model->changed.items[--model->changed.n];

        model->changed.items[pool->changed - 1] = last;
        last->changed = pool->changed;
    }
    forget_rows(model, pool, true);
    close_rows(model, pool);
    list_bad(model, pool, false);
    tg_sorted_remove(&model->pools_by_name, pool);
}

struct tg_fleet_device *tg_rows_find(const struct tg_model *model, const struct tg_fleet_pool *pool,
                                     const char *device)
{
    size_t low = pool->first_row, high = pool->first_row + pool->n_rows;

    while (pool->changed == 0 && low < high) {
        size_t middle = low + (high - low) / 2;
        struct tg_fleet_device *row = &model->fleet->devices[middle];
        int order = strcmp(row->name, device);

        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- the devices of a node --- */

struct links {
    TG_VEC(uint32_t) rows;
};

static void link_row(struct links *links, size_t row)
{
    *TG_VEC_PUSH(&links->rows) = (uint32_t)row;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Of a pool of this node alone all rows; of others those of its slices, which are in no order. */
static void link_pool(const struct tg_fleet_pool *pool, const struct tg_place *place,
                      struct links *links)
{
    size_t from = links->rows.n;

    if (pool->slices.n == 1) {
        for (size_t i = 0; i < pool->n_rows; i++)
            link_row(links, pool->first_row + i);
        return;
    }
    for (size_t i = 0; i < pool->slices.n; i++) {
        const struct tg_fleet_slice *slice = pool->slices.items[i];

        for (size_t k = 0; slice->place == place && k < slice->n_slots; k++) {
            if (slice->slots[k].row != 0)
                link_row(links, slice->slots[k].row - 1);
        }
    }
    if (links->rows.n > from)
        qsort(links->rows.items + from, links->rows.n - from, sizeof(uint32_t), compare_rows);
}

/* Rows one after another, as those of one pool are. */
static uint32_t first_of(const struct links *links)
{
    for (size_t i = 1; i < links->rows.n; i++) {
        if (links->rows.items[i] != links->rows.items[0] + i)
            return TG_NO_ROW;
    }
    return links->rows.n == 0 ? 0 : links->rows.items[0];
}

static void link_node(struct tg_model *model, size_t node, struct links *links)
{
    struct tg_fleet_node *row = &model->fleet->nodes[node];
    const struct tg_place *place = row->object == NULL ? NULL : tg_place_find(model, row->name);

    TG_VEC_CLEAR(&links->rows);
    for (size_t i = 0; place != NULL && i < place->pools.n; i++)
        link_pool(place->pools.items[i], place, links);
    if (links->rows.n != row->n_devices) {
        free(row->devices);
        row->devices = links->rows.n == 0 ? NULL : tg_xcalloc(links->rows.n, sizeof(*row->devices));
    }
    row->n_devices = (uint32_t)links->rows.n;
    row->first_device = first_of(links);
    if (row->n_devices > 0)
        memcpy(row->devices, links->rows.items, row->n_devices * sizeof(*row->devices));
    row->stale = false;
    tg_news_node(model, node);
}

static void link_nodes(struct tg_model *model)
{
    struct links links = {.rows = {.n = 0}};

    for (size_t i = 0; i < model->stale_nodes.n; i++)
        link_node(model, model->stale_nodes.items[i], &links);
    TG_VEC_CLEAR(&model->stale_nodes);
    TG_VEC_DONE(&links.rows);
}

/* --- all of it --- */

static void write_changed(struct tg_model *model)
{
    for (size_t i = 0; i < model->changed.n; i++) {
        model->changed.items[i]->changed = 0;
        write_pool(model, model->changed.items[i]);
    }
    TG_VEC_CLEAR(&model->changed);
}

/* One pool after another, in the order of names, without gaps. */
static void write_all(struct tg_model *model)
{
    struct tg_fleet *fleet = model->fleet;
    struct tg_sorted_at at = {.run = 0};
    struct tg_fleet_pool *pool;

    for (size_t i = 0; i < fleet->device_rows; i++)
        free_taints(&fleet->devices[i]);
    forget_spare_rows(model);
    fleet->n_devices = fleet->device_rows = fleet->n_exact = 0;
    for (size_t i = 0; i < fleet->n_classes; i++)
        fleet->classes[i].contests = 0;
    while ((pool = tg_sorted_next(&model->pools_by_name, &at)) != NULL) {
        pool->changed = 0;
        pool->n_rows = 0;
        write_pool(model, pool);
    }
    TG_VEC_CLEAR(&model->changed);
    for (size_t i = 0; i < fleet->n_nodes; i++)
        add_stale(model, i);
}

/* Pools that go leave their rows behind: not for ever. */
static bool wastes_memory(const struct tg_model *model)
{
    return model->n_spare_rows > model->fleet->n_devices + 1024;
}

void tg_rows_settle(struct tg_model *model)
{
    bool gaps = model->spare_nodes.n > model->nodes_by_name.n + 1024;

    if (model->classes_retry) {
        model->classes_retry = false;
        tg_classes_compile(model);
    }
    if (gaps)
        close_gaps(model);
    if (model->kept_changed) {
        write_kept(model);
        tg_contests_open(model);
    }
    if (gaps || model->kept_changed || wastes_memory(model)) {
        model->kept_changed = false;
        write_all(model);
        link_nodes(model);
        tg_news_all(model);
        return;
    }
    write_changed(model);
    link_nodes(model);
}

/* --- walks --- */

size_t tg_fleet_next_node(const struct tg_fleet *fleet, struct tg_fleet_walk *walk)
{
    const struct tg_place *place = tg_sorted_next(&fleet->model->nodes_by_name, &walk->at);

    return place == NULL ? TG_NO_INDEX : place->index;
}

size_t tg_fleet_next_device(const struct tg_fleet *fleet, struct tg_fleet_walk *walk)
{
    while (walk->next == walk->end) {
        const struct tg_fleet_pool *pool = tg_sorted_next(&fleet->model->pools_by_name, &walk->at);

        if (pool == NULL)
            return TG_NO_INDEX;
        walk->next = pool->first_row;
        walk->end = pool->first_row + pool->n_rows;
    }
    return walk->next++;
}

size_t tg_fleet_next_wide(const struct tg_fleet *fleet, struct tg_fleet_walk *walk)
{
    const struct tg_model *model = fleet->model;

    while (true) {
        for (; walk->next < walk->end; walk->next++) {
            if (fleet->devices[walk->next].wide)
                return walk->next++;
        }
        if (walk->at.i == model->wide.n)
            return TG_NO_INDEX;
        walk->next = model->wide.items[walk->at.i]->first_row;
        walk->end = walk->next + model->wide.items[walk->at.i++]->n_rows;
    }
}

const char *tg_fleet_pool_fault(const struct tg_fleet *fleet, const char *driver, const char *pool)
{
    const struct tg_fleet_pool *found = tg_fleet_pool_find(fleet->model, driver, pool);

    return found == NULL ? NULL : found->why;
}

bool tg_fleet_bad_pool(const struct tg_fleet *fleet, struct tg_fleet_bad_pool *ret)
{
    struct tg_sorted_at at = {.run = 0};
    const struct tg_fleet_pool *pool = tg_sorted_next(&fleet->model->bad_pools, &at);

    if (pool == NULL)
        return false;
    *ret = (struct tg_fleet_bad_pool){.driver = pool->driver, .pool = pool->name, .why = pool->why};
    return true;
}
