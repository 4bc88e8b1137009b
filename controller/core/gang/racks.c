/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/racks.h"

#include <stdlib.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "api/tangram/configuration.h"

struct rack {
    uint32_t number; /* from 1 on; lives in the map */
    uint32_t nodes;
    char *name;
};

struct level {
    char *label;
    struct tg_map *racks;  /* by value of the label, those with nodes */
    struct rack **of_row;  /* NULL: in none */
    TG_VEC(uint32_t) free; /* numbers that were in use once */
    uint32_t n_numbers;
};

struct tg_racks {
    const struct tg_fleet *fleet;
    struct level levels[TG_RACKS_LEVELS]; /* outermost first */
    size_t n_levels;
    size_t n_rows;
    size_t chosen; /* n_levels: none */
};

struct tg_racks *tg_racks_new(const struct tg_fleet *fleet)
{
    struct tg_racks *racks = tg_xcalloc(1, sizeof(*racks));

    racks->fleet = fleet;
    return racks;
}

static void free_rack(void *data)
{
    struct rack *rack = data;

    free(rack->name);
    free(rack);
}

static void clear(struct tg_racks *racks)
{
    for (size_t i = 0; i < racks->n_levels; i++) {
        tg_map_free(racks->levels[i].racks);
        free(racks->levels[i].of_row);
        free(racks->levels[i].label);
        TG_VEC_DONE(&racks->levels[i].free);
        racks->levels[i] = (struct level){.label = NULL};
    }
    racks->n_levels = racks->n_rows = racks->chosen = 0;
}

void tg_racks_free(struct tg_racks *racks)
{
    if (racks == NULL)
        return;
    clear(racks);
    free(racks);
}

void tg_racks_set_levels(struct tg_racks *racks, const struct tg_level *levels, size_t n)
{
    clear(racks);
    for (size_t i = n; i-- > 0 && racks->n_levels < TG_RACKS_LEVELS;) {
        if (levels[i].node_label == NULL || tg_streq(levels[i].name, TG_LEVEL_HOST))
            continue;
        for (size_t k = racks->n_levels++; k > 0; k--)
            racks->levels[k] = racks->levels[k - 1];
        racks->levels[0] = (struct level){.label = tg_xstrdup(levels[i].node_label),
                                          .racks = tg_map_new(free_rack)};
    }
    racks->chosen = racks->n_levels;
}

static void make_room(struct tg_racks *racks, size_t row)
{
    size_t n = row + row / 2 + 64;

    if (row < racks->n_rows)
        return;
    for (size_t i = 0; i < racks->n_levels; i++) {
        struct level *level = &racks->levels[i];

        level->of_row = tg_xreallocarray(level->of_row, n, sizeof(*level->of_row));
        for (size_t k = racks->n_rows; k < n; k++)
            level->of_row[k] = NULL;
    }
    racks->n_rows = n;
}

static struct rack *rack_of(struct level *level, const char *name)
{
    struct rack *rack = tg_map_get(level->racks, name);

    if (rack != NULL)
        return rack;
    rack = tg_xcalloc(1, sizeof(*rack));
    rack->name = tg_xstrdup(name);
    rack->number = level->free.n > 0 ? level->free.items[--level->free.n] : ++level->n_numbers;
    tg_map_set(level->racks, name, rack);
    return rack;
}

static void leave(struct level *level, struct rack *rack)
{
    if (rack == NULL || --rack->nodes > 0)
        return;
    *TG_VEC_PUSH(&level->free) = rack->number;
    tg_map_remove(level->racks, rack->name);
}

static void look_at(struct level *level, size_t row, const char *value)
{
    struct rack *before = level->of_row[row];

    if (before != NULL && value != NULL && tg_streq(before->name, value))
        return;
    level->of_row[row] = value == NULL ? NULL : rack_of(level, value);
    if (level->of_row[row] != NULL)
        level->of_row[row]->nodes++;
    leave(level, before);
}

void tg_racks_look(struct tg_racks *racks, size_t row)
{
    const struct tg_fleet_node *node = &racks->fleet->nodes[row];

    make_room(racks, row);
    for (size_t i = 0; i < racks->n_levels; i++)
        look_at(&racks->levels[i], row,
                node->object == NULL
                    ? NULL
                    : tg_meta_label(node->object->metadata, racks->levels[i].label));
}

bool tg_racks_settle(struct tg_racks *racks)
{
    size_t before = racks->chosen;

    for (racks->chosen = racks->n_levels; racks->chosen > 0; racks->chosen--) {
        size_t n = tg_map_count(racks->levels[racks->chosen - 1].racks);

        if (n >= 2 && n <= TG_RACKS_MAX)
            break;
    }
    racks->chosen = racks->chosen == 0 ? racks->n_levels : racks->chosen - 1;
    return racks->chosen != before;
}

uint32_t tg_racks_of(const struct tg_racks *racks, size_t row)
{
    const struct rack *rack = racks->chosen == racks->n_levels || row >= racks->n_rows
                                  ? NULL
                                  : racks->levels[racks->chosen].of_row[row];

    return rack == NULL ? 0 : rack->number;
}
