/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes are emptied for a gang: which residents move where, so that so many members of so many
 * whole cards each have room. A pure plan over numbers; only movable residents are moved, each at
 * most once, and never more of them than the budget says.
 */
#ifndef TG_CORE_DEFRAG_EMPTY_H
#define TG_CORE_DEFRAG_EMPTY_H

#include <stdbool.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

/* Cards of a node that are counted; what a node has beyond is left alone. */
#define TG_EMPTY_CARDS_MAX 16

struct tg_empty_resident {
    uint32_t node;
    uint16_t cards; /* 1 or more: whole ones */
    bool movable;
    bool stays; /* in the domain of its node */
};

struct tg_empty_fleet {
    const uint16_t *left;   /* of each node: free cards */
    const bool *target;     /* of each node: may the gang go there? NULL: anywhere */
    const uint32_t *domain; /* of each node; NULL: all are in one */
    uint32_t n_nodes;
    const struct tg_empty_resident *residents;
    uint32_t n_residents;
};

struct tg_empty_want {
    uint32_t members;
    uint16_t cards; /* of each */
    uint32_t max_moves;
    uint32_t max_steps;  /* nodes looked at in the whole search; 0: 400,000 (8 to 12 ms) */
    uint32_t max_trials; /* of them trades between two nodes, some 0.2 us each; 0: no limit */
};

struct tg_empty_move {
    uint32_t resident; /* its number */
    uint32_t to;       /* node */
};

/* Moves in an order in which each has room when it is its turn. */
struct tg_empty_plan {
    struct tg_empty_move *moves;
    uint32_t n_moves;
    uint32_t cards_moved; /* the cost beside the number of moves */
    uint32_t places_won;  /* the gain: members that have room more than before */
};

/* *ret_found: *ret makes room for all members; without moves when there is room already. Not found
 * does not prove that there is no plan. Equal choices go to the lowest number. Memory is the
 * arena's; TG_RESOURCE_EXHAUSTED: its budget. */
int tg_empty_plan(const struct tg_empty_fleet *fleet, const struct tg_empty_want *want,
                  struct tg_arena *arena, bool *ret_found, struct tg_empty_plan *ret,
                  struct tg_error *err);

#endif
