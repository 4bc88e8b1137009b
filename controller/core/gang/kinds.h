/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet and its requests in the numbers of core/pack: which kinds of card there are, what is
 * left of a node, what a request takes. A partition is a share of its card by memory slices, a
 * share of a device one by the capacity of which it takes most; a request that takes several
 * partitions counts as one share of their sum. A single partition needs a place of its size
 * besides. Only policies look at these numbers: what may go where is told by the offers.
 */
#ifndef TG_CORE_GANG_KINDS_H
#define TG_CORE_GANG_KINDS_H

#include "controller/core/fit/ask.h"
#include "controller/core/gang/match.h"
#include "controller/core/model/demand.h"
#include "controller/core/pack/node.h"

struct tg_kinds;
struct tg_level;

/* Kept with the fleet's attic by gang/memory.c. */
struct tg_kinds *tg_kinds_new(const struct tg_fleet *fleet);
void tg_kinds_free(struct tg_kinds *kinds);
/* Looks at what has changed. The number of the numbering: it grows when kinds get other numbers. */
uint64_t tg_kinds_update(struct tg_kinds *kinds);
/* Kinds are numbered by driver and product, in their order; old numbers (of the numbering before
 * the last) of a set in new ones. */
uint64_t tg_kinds_renumbered(const struct tg_kinds *kinds, uint64_t set);

/* Topology levels, of which one tells nodes apart (racks.h). */
void tg_kinds_set_levels(struct tg_kinds *kinds, const struct tg_level *levels, size_t n);

/* The node of that row as it stands. *ret_residents: who is there (pack/residents.h); NULL: not
 * wanted. */
void tg_kinds_node(const struct tg_kinds *kinds, size_t row, struct tg_pack_node *ret,
                   uint64_t *ret_residents);
/* The same node when nothing is on it. */
void tg_kinds_empty(const struct tg_kinds *kinds, size_t row, struct tg_pack_node *ret);
/* What a piece takes that has these needs and that demand. A selector that fails accepts nothing;
 * of a need that no device meets, kinds are any. */
void tg_kinds_request(const struct tg_kinds *kinds, const struct tg_ask_book *book,
                      const struct tg_need *needs, size_t n_needs, const struct tg_demand *demand,
                      struct tg_pack_request *ret);

#endif
