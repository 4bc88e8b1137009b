/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of nodes on paper, as the node plugin publishes those of real cards (driver/provider):
 * the same attributes, capacities and counters, but names that are easy to read. */
#ifndef TG_CONTROLLER_CLI_CARDS_H
#define TG_CONTROLLER_CLI_CARDS_H

#include "api/kubernetes/objects/resource.h"
#include "api/mig/card.h"
#include "api/runtime/base/arena.h"

#define TG_CARDS_NODE_MAX 64 /* of one node */

enum tg_cards_mig { TG_CARDS_WHOLE, TG_CARDS_DYNAMIC };

struct tg_cards {
    const char *node;
    const char *driver;
    size_t n;
    const struct tg_card *card; /* NULL: a card that the tables do not know */
    const char *product;        /* its name */
    const char *memory;         /* quantity, for a card that is not known */
    enum tg_cards_mig mig;      /* TG_CARDS_DYNAMIC: card can be partitioned */
};

/* The pool of the node: its slices, in the arena. NULL: the arena is exhausted. */
const struct tg_resource_slice *tg_cards_slices(const struct tg_cards *cards,
                                                struct tg_arena *arena, size_t *ret_n);
/* "gpu-3" */
const char *tg_cards_device(size_t index, struct tg_arena *arena);

#endif
