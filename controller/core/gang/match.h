/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of one node to requests, exactly: a request may accept what another one needs, so a
 * greedy choice is not enough. Augmenting paths, breadth first; no recursion.
 */
#ifndef TG_CORE_GANG_MATCH_H
#define TG_CORE_GANG_MATCH_H

#include "controller/core/fit/ask.h"

struct tg_need {
    size_t ask, count;
};

struct tg_match {
    const struct tg_ask_book *book;
    const struct tg_fleet_node *node;
    size_t max_devices, max_needs; /* room of the arrays */
    /* One a device of the node: */
    size_t *owner; /* a need, or TG_NO_INDEX */
    bool *settled; /* no longer to be moved */
    /* One a need: */
    size_t *came_from; /* the need from which the search came here, and over which device */
    size_t *came_over;
    bool *seen;
    size_t *queue;
};

int tg_match_init(struct tg_match *match, const struct tg_ask_book *book, size_t max_devices,
                  size_t max_needs, struct tg_arena *arena, struct tg_error *err);
/* Can all needs be met at once on the node? Errors: of selectors. */
int tg_match_feasible(struct tg_match *match, const struct tg_fleet_node *node,
                      const struct tg_need *needs, size_t n, bool *ret, struct tg_error *err);
/* needs of count 1 each, that can all be met: devices[i] is the index (in the fleet) for need i.
 * The first need gets the lowest name with which all can be met, then the second, and so on. */
int tg_match_lowest(struct tg_match *match, const struct tg_fleet_node *node,
                    const struct tg_need *needs, size_t n, size_t *devices, struct tg_error *err);

#endif
