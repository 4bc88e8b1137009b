/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is on a node, as far as whole cards go: how many requests of each number of cards, in one
 * word, so that it can tell nodes apart (tg_pack_node.mark). A node has TG_PACK_CARDS_MAX cards at
 * most, so each count has as many bits as its largest value needs. Requests for a part of a card
 * are not counted.
 */
#ifndef TG_CORE_PACK_RESIDENTS_H
#define TG_CORE_PACK_RESIDENTS_H

#include "controller/core/pack/node.h"

/* `by` (1 or -1) more residents like the request. */
uint64_t tg_residents_add(uint64_t residents, const struct tg_pack_request *request, int by);
/* How many have so many cards (1 .. TG_PACK_CARDS_MAX). */
unsigned tg_residents_count(uint64_t residents, unsigned cards);

#endif
