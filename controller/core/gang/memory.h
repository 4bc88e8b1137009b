/* SPDX-License-Identifier: Apache-2.0 */
/* What decisions keep with the fleet from one to the next, part by part. */
#ifndef TG_CORE_GANG_MEMORY_H
#define TG_CORE_GANG_MEMORY_H

#include "controller/core/model/view.h"

enum tg_memory_part {
    TG_MEMORY_OFFERS,  /* offer.c */
    TG_MEMORY_RANKS,   /* rank.c */
    TG_MEMORY_REGIONS, /* regions.c */
    TG_MEMORY_LEEWAYS, /* leeway.c */
    TG_MEMORY_PARTS,
};

/* The part's own; NULL at first. The part says how it is freed. */
void **tg_memory_of(const struct tg_fleet *fleet, enum tg_memory_part part,
                    void (*free)(void *kept));

#endif
