/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the fleet is given away, what is free, and what of that nobody can use: numbers for
 * people, not for decisions. Kept node by node, so that asking again costs what has changed.
 * Devices that no single node has are not counted.
 */
#ifndef TG_CORE_MODEL_USAGE_H
#define TG_CORE_MODEL_USAGE_H

#include "controller/core/model/fleet.h"

enum tg_usage_state {
    TG_USAGE_FREE,
    TG_USAGE_HELD,        /* allocated, planned, or held for a gang */
    TG_USAGE_TAINTED,     /* free, with a taint that keeps new work away */
    TG_USAGE_CONTESTED,   /* free, but a class of others matches it too */
    TG_USAGE_UNSUPPORTED, /* free, but never given to anybody */
    TG_USAGE_STATES,      /* how many there are */
};

/* Whole devices that are asked for on one node. */
#define TG_USAGE_REQUESTS 3
extern const unsigned tg_usage_requests[TG_USAGE_REQUESTS];

struct tg_usage {
    /* Devices that are given away as a whole or not at all: neither parts of a card, nor shared. */
    size_t devices[TG_USAGE_STATES];
    /* Free ones that are left over when each node is filled with requests for that many. */
    size_t fragmented[TG_USAGE_REQUESTS];
    /* Memory of cards whose parts are devices (counters memory-slice-*, of the API or made up for
     * derived partitions), in bytes: in all, free, and free where no part that is published fits
     * any more. */
    uint64_t parts_memory, parts_free, parts_stranded;
};

struct tg_usage_book;

struct tg_usage_book *tg_usage_book_new(void);       /* heap */
void tg_usage_book_free(struct tg_usage_book *book); /* NULL is allowed */
/* As the fleet is now; it is settled. One book per fleet. Nodes for whose view the memory does not
 * suffice count nothing of their parts. */
void tg_usage_read(struct tg_usage_book *book, const struct tg_fleet *fleet, struct tg_usage *ret);

#endif
