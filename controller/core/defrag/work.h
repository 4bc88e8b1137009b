/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of empty.h while it is made: who is where by now, which moves led there, what else could
 * move. Every move can be undone. */
#ifndef TG_CORE_DEFRAG_WORK_H
#define TG_CORE_DEFRAG_WORK_H

#include "controller/core/defrag/empty.h"

#define TG_EMPTY_NONE UINT32_MAX
/* Nodes tried for one place, those with the fewest moves. */
#define TG_EMPTY_CANDIDATES_MAX 16
/* Sums of cards, up to the most that one resident can go beyond what is wanted. */
#define TG_EMPTY_SUMS (2 * TG_EMPTY_CARDS_MAX + 1)

struct tg_empty_work {
    const struct tg_empty_fleet *fleet;
    const struct tg_empty_want *want;
    uint16_t *left;
    uint32_t *node;         /* of each resident */
    uint32_t *first, *next; /* residents of each node */
    bool *moved;
    bool *closed; /* nodes that nobody may move to: they are being emptied */
    struct tg_empty_move *moves;
    uint32_t n_moves, max_moves, cards_moved;
    uint32_t steps, max_steps;
    uint32_t trials, max_trials;
};

/* Residents whose departure frees enough of a node. */
struct tg_empty_bundle {
    uint32_t node, n;
    uint32_t cards;
    uint32_t residents[TG_EMPTY_CARDS_MAX];
};

/* TG_RESOURCE_EXHAUSTED: the arena's budget. */
int tg_empty_work_open(struct tg_empty_work *work, const struct tg_empty_fleet *fleet,
                       const struct tg_empty_want *want, struct tg_arena *arena,
                       struct tg_error *err);

void tg_empty_move(struct tg_empty_work *work, uint32_t resident, uint32_t to);
/* Takes moves back until there are so many. */
void tg_empty_undo_to(struct tg_empty_work *work, uint32_t n_moves);

/* May the gang go there? */
bool tg_empty_is_target(const struct tg_empty_work *work, uint32_t node);
/* Members that have room. */
uint32_t tg_empty_count_places(const struct tg_empty_work *work);
/* May so many cards of the node be used without a member losing its place? */
bool tg_empty_spares(const struct tg_empty_work *work, uint32_t node, uint32_t cards);
/* May the resident be moved, and live on the node, whatever room there is? */
bool tg_empty_may_move(const struct tg_empty_work *work, uint32_t resident, uint32_t node);

/* Of each sum of cards (TG_EMPTY_SUMS) a bundle of residents that may be moved from the node to
 * `to` (TG_EMPTY_NONE: wherever): as few as possible, or as many. n is TG_EMPTY_NONE where there is
 * none.
 */
void tg_empty_list_bundles(const struct tg_empty_work *work, uint32_t node, uint32_t to, bool many,
                           struct tg_empty_bundle *ret);
/* Nodes that can be brought to have so many cards free, for one more member (resident
 * TG_EMPTY_NONE) or for a resident that has no home: the cheapest first; equal ones by number. */
uint32_t tg_empty_find_candidates(struct tg_empty_work *work, uint32_t cards, uint32_t resident,
                                  bool many, struct tg_empty_bundle *candidates);

#endif
