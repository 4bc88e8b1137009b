/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would it fit if ...? By numbers alone, which decide it when all members are alike and ask for
 * devices that have nothing to do with each other: then a domain takes as many members as its nodes
 * take together. Needs neither a search nor new indexes, so it costs next to nothing on the largest
 * fleets. Private to explain.
 */
#ifndef TG_CORE_EXPLAIN_NUMBERS_H
#define TG_CORE_EXPLAIN_NUMBERS_H

#include "controller/core/explain/parts.h"

#define TG_NO_SUSPECT ((size_t)-1)

struct tg_numbers {
    const struct tg_explaining *e;
    bool decide;    /* the request is of that kind */
    uint32_t *room; /* one a node: members that have room there beside nothing; UNKNOWN */
    uint32_t *more; /* one a node: devices that come with the change */
};

/* What is different; zeroed but for the suspect: nothing. */
struct tg_numbers_change {
    size_t suspect;                   /* is no more, TG_NO_SUSPECT: all are */
    size_t devices;                   /* of a member, 0: as it is */
    const struct tg_demand *demand;   /* of a member, NULL: as it is */
    const struct tg_domains *domains; /* NULL: those of the request */
};

/* After walk and misses. */
int tg_numbers_init(struct tg_numbers *numbers, const struct tg_explaining *e,
                    struct tg_error *err);
/* Do the numbers decide that change? */
bool tg_numbers_decide(const struct tg_numbers *numbers, const struct tg_numbers_change *change);
bool tg_numbers_fit(struct tg_numbers *numbers, const struct tg_numbers_change *change);

#endif
