/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node will still be used for: the expected fill V(s). R sequences of L requests are drawn
 * from the mix (those with cards only); V is the mean of the milli-cards that a sequence, played
 * against the node alone in order, would place on it. The sequences are the same for every node
 * until they are drawn again, and are drawn by a generator that always begins at the same state: V
 * is a pure function of mix and node.
 */
#ifndef TG_CORE_PACK_FUTURE_H
#define TG_CORE_PACK_FUTURE_H

#include "controller/core/pack/mix.h"

#define TG_FUTURE_SEQUENCES 32
#define TG_FUTURE_LENGTH 24

struct tg_future;

struct tg_future *tg_future_new(void); /* heap */
void tg_future_free(struct tg_future *future);
/* With turnover only what comes soon matters: a sequence ends when it has asked for twice of what
 * is left of the node, for later others will have left. From the next drawing on. */
void tg_future_set_turnover(struct tg_future *future, bool turnover);
/* Draws the sequences anew. Without any request with cards in the mix every V is 0. */
void tg_future_draw(struct tg_future *future, const struct tg_mix *mix);
/* V(node) times TG_FUTURE_SEQUENCES, so that it is a whole number. The node is sorted
 * (tg_pack_node_sorted). Values are remembered. */
int64_t tg_future_value(struct tg_future *future, const struct tg_pack_node *node);

#endif
