/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wants against devices of one node: what does not depend on what else is chosen. Each answer is
 * found when it is first asked for, each selector is evaluated once per device; the order in which
 * the built-in allocator looks at a device is kept, for it ends at the first selector that fails.
 */
#ifndef TG_CORE_FIT_TABLE_H
#define TG_CORE_FIT_TABLE_H

#include "controller/core/fit/book.h"
#include "controller/core/model/node_view.h"

enum tg_fit_cell {
    TG_CELL_UNKNOWN,
    TG_CELL_NO,
    TG_CELL_YES,
    /* Of All: the device is one of those that must be had, and cannot be (held, tainted, ...). */
    TG_CELL_BLOCKED,
    TG_CELL_ERROR, /* judging it is an error: tg_fit_table_explain says which */
};

struct tg_fit_all { /* the devices that a want of All needs */
    size_t *devices;
    size_t n;
    bool known;
};

struct tg_fit_table {
    const struct tg_fit_book *book;
    const struct tg_view *view;
    struct tg_arena *arena;
    unsigned char *cells;   /* [want][device] of enum tg_fit_cell */
    unsigned char *results; /* [selector][device]: 0 unknown, 1 yes, 2 no, 3 error */
    unsigned char *sound;   /* [device]: 0 unknown, else 1 + whether its attributes can be read */
    struct tg_fit_all *all; /* [want] */
};

int tg_fit_table_init(struct tg_fit_table *table, const struct tg_fit_book *book,
                      const struct tg_view *view, struct tg_arena *arena, struct tg_error *err);
enum tg_fit_cell tg_fit_table_cell(struct tg_fit_table *table, size_t want, size_t device);
/* Finds table->all[want] for a want of All. problem->fault is set if a pool or a selector forbids
 * it. TG_RESOURCE_EXHAUSTED. */
int tg_fit_table_list(struct tg_fit_table *table, size_t want, struct tg_fit_problem *problem,
                      struct tg_error *err);
/* The problem behind TG_CELL_ERROR. */
void tg_fit_table_explain(struct tg_fit_table *table, size_t want, size_t device,
                          struct tg_fit_problem *problem);
/* Can it be had by several results at once? Only with consumable capacity. */
bool tg_fit_shareable(const struct tg_view *view, size_t device);
/* Is it shared with somebody already? Its counters are charged then. */
bool tg_fit_in_use_shared(const struct tg_view *view, size_t device);

#endif
