/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members to the nodes of a scope. First best fit, group by group: exact for alike members, since
 * nodes do not influence each other. When it falls short with several groups, a search that tries
 * everything, bounded by the board's steps.
 */
#ifndef TG_CORE_GANG_SEARCH_H
#define TG_CORE_GANG_SEARCH_H

#include "controller/core/gang/board.h"

/* Puts as many members as best fit finds room for (the board is cleared first). */
int tg_search_best_fit(struct tg_board *board, const struct tg_scope *scope, size_t *ret_placed,
                       struct tg_error *err);
/* The same among all nodes of the fleet, by classes of alike ones (offer.h): only those that come
 * first are looked at. Not for a board with rules, nor where only the search knows what a node
 * takes. */
int tg_search_anywhere(struct tg_board *board, size_t *ret_placed, struct tg_error *err);
/* All members or none: *ret, and the board is then as it says. If the steps ran out, board->gave_up
 * is set. */
int tg_search_all(struct tg_board *board, const struct tg_scope *scope, bool *ret,
                  struct tg_error *err);
/* Cheap and necessary: is each group alone within the capacity of the scope, which has been read?
 */
bool tg_search_may_fit(const struct tg_board *board, const struct tg_scope *scope);

#endif
