/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list that is kept in order while items come and go: short runs of items, so that an item moves
 * few others, however many there are. Items can be given numbers that grow with their place in the
 * list and seldom change, for whoever compares two of them without the list. Private to the model.
 */
#ifndef TG_CORE_MODEL_SORTED_H
#define TG_CORE_MODEL_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_sorted_run;

struct tg_sorted {
    /* Of an item in the list and one that may be outside; no two items are equal. */
    int (*compare)(const void *item, const void *other);
    /* Where the item keeps its number; NULL: the items have none. */
    uint64_t *(*number)(void *context, void *item);
    void *context;
    struct tg_sorted_run **runs;
    size_t n_runs, capacity, n;
};

struct tg_sorted_at { /* where a walk is; zeroed at first */
    size_t run, i;
};

/* It is not in the list yet; now it is, and has a number. */
void tg_sorted_add(struct tg_sorted *sorted, void *item);
/* It is in the list. */
void tg_sorted_remove(struct tg_sorted *sorted, const void *item);
/* Items in order; NULL at the end. The list stays as it is meanwhile. */
void *tg_sorted_next(const struct tg_sorted *sorted, struct tg_sorted_at *at);
/* Frees the list, not the items. */
void tg_sorted_done(struct tg_sorted *sorted);

#endif
