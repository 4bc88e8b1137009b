/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a partition breaks: a partition belongs on a card that is partitioned already; an untouched
 * card, or worse one of several that a gang's member could have together, is broken only where
 * nothing else fits (the buddy rule of HiveD, OSDI '20, in numbers of cards).
 */
#ifndef TG_CORE_PACK_BREAKAGE_H
#define TG_CORE_PACK_BREAKAGE_H

#include "controller/core/pack/mix.h"

/* For a request that fits on the node: 0 if it is not for a partition or a partitioned card has
 * room for it; else 1, or the most whole cards of a request that is known to come, of 2 or more,
 * that the node then has a place less for; a node of which nothing is taken is such a place even if
 * nobody asked for it so far. */
unsigned tg_breakage_of(const struct tg_mix *mix, const struct tg_pack_node *node,
                        const struct tg_pack_request *request);

#endif
