/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/regions.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/vec.h"
#include "controller/core/gang/memory.h"
#include "controller/core/model/news.h"
#include "controller/core/model/sort.h"

/* Labels that are remembered. A decision asks for two and those of its rules, of which there are 16
 * at most. */
#define KEPT 64

struct region {
    char *name; /* NULL: nobody's */
    uint32_t first, nodes;
};

struct link { /* rows of a region, in no order */
    uint32_t before, after;
};

struct tg_regions {
    const struct tg_fleet *fleet;
    char *label;
    uint64_t serial, used;
    struct tg_news_reader reader;
    struct tg_map *numbers; /* by name: 1 + the number */
    TG_VEC(struct region) items;
    TG_VEC(uint32_t) idle; /* numbers that are nobody's */
    uint32_t *of_row;
    struct link *links;
    size_t n_rows, rows_size;
};

struct atlas {
    struct tg_map *regions; /* by label */
    uint64_t clock;
};

/* --- life ------------------------------------------------------------------------------------- */

static void free_regions(void *data)
{
    struct tg_regions *regions = data;

    for (size_t i = 0; i < regions->items.n; i++)
        free(regions->items.items[i].name);
    TG_VEC_DONE(&regions->items);
    TG_VEC_DONE(&regions->idle);
    tg_map_free(regions->numbers);
    free(regions->of_row);
    free(regions->links);
    free(regions->label);
    free(regions);
}

static void free_atlas(void *data)
{
    struct atlas *atlas = data;

    tg_map_free(atlas->regions);
    free(atlas);
}

static struct atlas *atlas_of(const struct tg_fleet *fleet)
{
    void **kept = tg_memory_of(fleet, TG_MEMORY_REGIONS, free_atlas);
    struct atlas *atlas = *kept;

    if (atlas == NULL) {
        *kept = atlas = tg_xcalloc(1, sizeof(*atlas));
        atlas->regions = tg_map_new(free_regions);
    }
    return atlas;
}

static void forget_oldest(struct atlas *atlas)
{
    const struct tg_map_entry *oldest = NULL;

    for (struct tg_map_entry *e = tg_map_first(atlas->regions); e != NULL; e = tg_map_next(e)) {
        if (oldest == NULL || ((const struct tg_regions *)tg_map_value(e))->used <
                                  ((const struct tg_regions *)tg_map_value(oldest))->used)
            oldest = e;
    }
    if (oldest != NULL)
        tg_map_remove(atlas->regions, tg_map_key(oldest));
}

static struct tg_regions *open_regions(struct atlas *atlas, const struct tg_fleet *fleet,
                                       const char *label)
{
    struct tg_regions *regions = tg_xcalloc(1, sizeof(*regions));

    if (tg_map_count(atlas->regions) >= KEPT)
        forget_oldest(atlas);
    regions->fleet = fleet;
    regions->label = tg_xstrdup(label);
    regions->numbers = tg_map_new(NULL);
    regions->serial = atlas->clock;
    tg_map_set(atlas->regions, label, regions);
    return regions;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void leave(struct tg_regions *regions, uint32_t row)
{
    struct region *region;
    struct link *link = &regions->links[row];

    if (regions->of_row[row] == TG_NO_REGION)
        return;
    region = &regions->items.items[regions->of_row[row]];
    if (link->before == TG_NO_ROW)
        region->first = link->after;
    else
        regions->links[link->before].after = link->after;
    if (link->after != TG_NO_ROW)
        regions->links[link->after].before = link->before;
    if (--region->nodes > 0)
        return;
    tg_map_remove(regions->numbers, region->name);
    free(region->name);
    *region = (struct region){.name = NULL};
    *TG_VEC_PUSH(&regions->idle) = regions->of_row[row];
}

static uint32_t number_of(struct tg_regions *regions, const char *name)
{
    uintptr_t known = (uintptr_t)tg_map_get(regions->numbers, name);
    uint32_t number;

    if (known > 0)
        return (uint32_t)(known - 1);
    if (regions->idle.n > 0) {
        number = regions->idle.items[--regions->idle.n];
    } else {
        number = (uint32_t)regions->items.n;
        (void)TG_VEC_PUSH(&regions->items);
    }
    regions->items.items[number] = (struct region){.name = tg_xstrdup(name), .first = TG_NO_ROW};
    tg_map_set(regions->numbers, name, (void *)((uintptr_t)number + 1));
    return number;
}

static void enter(struct tg_regions *regions, uint32_t row, const char *name)
{
    uint32_t number = name == NULL ? TG_NO_REGION : number_of(regions, name);
    struct region *region;

    regions->of_row[row] = number;
    if (number == TG_NO_REGION)
        return;
    region = &regions->items.items[number];
    regions->links[row] = (struct link){.before = TG_NO_ROW, .after = region->first};
    if (region->first != TG_NO_ROW)
        regions->links[region->first].before = row;
    region->first = row;
    region->nodes++;
}

static void look_at(struct tg_regions *regions, size_t row)
{
    const struct tg_node *object = regions->fleet->nodes[row].object;
    const char *now = object == NULL ? NULL : tg_meta_label(object->metadata, regions->label);
    uint32_t old = regions->of_row[row];
    const char *before = old == TG_NO_REGION ? NULL : regions->items.items[old].name;

    if (now == before || (now != NULL && before != NULL && strcmp(now, before) == 0))
        return;
    leave(regions, (uint32_t)row);
    enter(regions, (uint32_t)row, now);
}

/* As many rows as the fleet has: when gaps are closed it has fewer. */
static void fit_rows(struct tg_regions *regions)
{
    size_t n = regions->fleet->n_nodes;

    if (n > regions->rows_size) {
        regions->rows_size = n + n / 8 + 16;
        regions->of_row =
            tg_xreallocarray(regions->of_row, regions->rows_size, sizeof(*regions->of_row));
        regions->links =
            tg_xreallocarray(regions->links, regions->rows_size, sizeof(*regions->links));
    }
    for (; regions->n_rows < n; regions->n_rows++)
        regions->of_row[regions->n_rows] = TG_NO_REGION;
    while (regions->n_rows > n) {
        leave(regions, (uint32_t)--regions->n_rows);
        regions->of_row[regions->n_rows] = TG_NO_REGION;
    }
}

/* Numbers stand even when everything has to be looked at: who keeps them sees what is new. */
static void bring_up_to_date(struct tg_regions *regions)
{
    bool known = tg_news_open(regions->fleet, &regions->reader);
    size_t row;

    fit_rows(regions);
    while ((row = tg_news_next(regions->fleet, &regions->reader)) != TG_NO_INDEX) {
        if (known)
            look_at(regions, row);
    }
    for (row = 0; !known && row < regions->fleet->n_nodes; row++)
        look_at(regions, row);
}

struct tg_regions *tg_regions_get(const struct tg_fleet *fleet, const char *label)
{
    struct atlas *atlas = atlas_of(fleet);
    struct tg_regions *regions = tg_map_get(atlas->regions, label);

    atlas->clock++;
    if (regions == NULL)
        regions = open_regions(atlas, fleet, label);
    regions->used = atlas->clock;
    bring_up_to_date(regions);
    return regions;
}

/* --- questions -------------------------------------------------------------------------------- */

uint64_t tg_regions_serial(const struct tg_regions *regions)
{
    return regions->serial;
}

uint32_t tg_regions_count(const struct tg_regions *regions)
{
    return (uint32_t)regions->items.n;
}

uint32_t tg_regions_of(const struct tg_regions *regions, size_t row)
{
    return regions->of_row[row];
}

const char *tg_regions_name(const struct tg_regions *regions, uint32_t region)
{
    return regions->items.items[region].name;
}

size_t tg_regions_size(const struct tg_regions *regions, uint32_t region)
{
    return regions->items.items[region].nodes;
}

static int by_name(const void *pa, const void *pb, const void *context)
{
    const struct tg_fleet_node *a = pa, *b = pb;

    (void)context;
    return a->order < b->order ? -1 : a->order > b->order;
}

int tg_regions_nodes(const struct tg_regions *regions, uint32_t region, struct tg_arena *arena,
                     size_t *ret, struct tg_error *err)
{
    const struct region *item = &regions->items.items[region];
    const struct tg_fleet_node *nodes = regions->fleet->nodes;
    const void **order;
    size_t n = 0;
    int rc = tg_core_alloc(arena, item->nodes, sizeof(*order), &order, err);

    if (rc < 0)
        return rc;
    for (uint32_t row = item->first; row != TG_NO_ROW; row = regions->links[row].after)
        order[n++] = &nodes[row];
    rc = tg_core_sort(order, n, by_name, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        ret[i] = (size_t)((const struct tg_fleet_node *)order[i] - nodes);
    return rc;
}
