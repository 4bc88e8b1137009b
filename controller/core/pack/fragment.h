/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation of a node as "Beware of Fragmentation" (Weng et al., USENIX ATC '23) defines it:
 * the milli-cards that a typical request could not use, in the mean over typical requests. Typical
 * are the most frequent ones (memory left out) until they are 95 % of all.
 */
#ifndef TG_CORE_PACK_FRAGMENT_H
#define TG_CORE_PACK_FRAGMENT_H

#include "controller/core/pack/mix.h"

struct tg_fragment {
    struct tg_pack_request typical[TG_MIX_TYPES_MAX];
    int64_t weight[TG_MIX_TYPES_MAX];
    size_t n;
    int64_t total; /* of the weights */
};

void tg_fragment_set(struct tg_fragment *fragment, const struct tg_mix *mix);
/* The mean times fragment->total. */
int64_t tg_fragment_of(const struct tg_fragment *fragment, const struct tg_pack_node *node);

#endif
