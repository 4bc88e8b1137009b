/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an offer (offer.h) comes to in each region of a label (regions.h): sums, kept up to date
 * node by node, so that a decision chooses a region without a look at its nodes.
 */
#ifndef TG_CORE_GANG_TALLY_H
#define TG_CORE_GANG_TALLY_H

#include "controller/core/gang/regions.h"

struct tg_offer_node;

struct tg_tally_sum {
    uint64_t places;  /* pieces, of each node at most the tally's cap */
    uint64_t free;    /* usable devices that some request accepts */
    uint32_t unknown; /* nodes that take a piece and of which only the search knows how many */
};

struct tg_tally; /* of one label; its sums stand until something changes */

struct tg_tallies { /* of one offer */
    const struct tg_fleet *fleet;
    bool exact; /* the search has the last word on every node */
    struct tg_tally **items;
    size_t n, size;
};

void tg_tallies_done(struct tg_tallies *tallies);
/* Before nodes are moved: the regions as they are now, and tallies that were not used of late go.
 * nodes: by row, as they were told. */
void tg_tallies_open(struct tg_tallies *tallies, const struct tg_offer_node *nodes, size_t n,
                     uint64_t decision);
/* All of them anew. */
void tg_tallies_count(struct tg_tallies *tallies, const struct tg_offer_node *nodes, size_t n);
/* The node of that row offers that now. */
void tg_tallies_move(struct tg_tallies *tallies, size_t row, const struct tg_offer_node *before,
                     const struct tg_offer_node *now);
/* That of the label (NULL: there is only one sum, of all nodes) with that cap; up to date if the
 * nodes are. Used in that decision, it stays for it. */
const struct tg_tally *tg_tallies_find(struct tg_tallies *tallies, const char *label, size_t cap,
                                       const struct tg_offer_node *nodes, size_t n,
                                       uint64_t decision);
size_t tg_tallies_bytes(const struct tg_tallies *tallies);

const struct tg_tally_sum *tg_tally_all(const struct tg_tally *tally);
/* NULL if it has no label. */
const struct tg_regions *tg_tally_regions(const struct tg_tally *tally);
const struct tg_tally_sum *tg_tally_region(const struct tg_tally *tally, uint32_t region);

#endif
