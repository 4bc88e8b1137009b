/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trades: some of a node go to another one, and some of that come in turn, fewer cards than went,
 * so that a card that is free there is free here. Where no node has room for any resident, cards
 * that are free one here and one there still come together.
 */
#ifndef TG_CORE_DEFRAG_TRADE_H
#define TG_CORE_DEFRAG_TRADE_H

#include "controller/core/defrag/work.h"

/* Trades with other nodes, each time where a card costs the fewest moves, until so many cards of
 * the node are free. No member loses its place for it, and in the order of the moves each has room.
 * false: not found; nothing has changed. */
bool tg_empty_trade_for(struct tg_empty_work *work, uint32_t node, uint32_t cards);

#endif
