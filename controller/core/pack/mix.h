/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mix of requests: which types of request there are, how often each arrived and how many of it
 * run now. Given by somebody who knows it, or learned from what arrives. A type is an exact
 * request.
 */
#ifndef TG_CORE_PACK_MIX_H
#define TG_CORE_PACK_MIX_H

#include <stddef.h>

#include "controller/core/pack/node.h"

#define TG_MIX_TYPES_MAX 512
#define TG_MIX_NO_TYPE TG_MIX_TYPES_MAX

struct tg_mix_type {
    struct tg_pack_request request;
    int64_t arrived; /* how often, accepted or not */
    int64_t running; /* placed now */
};

struct tg_mix {
    struct tg_mix_type types[TG_MIX_TYPES_MAX];
    size_t n;
    int64_t arrivals;
};

/* The number of the request's type, new or old; TG_MIX_NO_TYPE when the table is full and the type
 * is not in it. */
unsigned tg_mix_type(struct tg_mix *mix, const struct tg_pack_request *request);
/* `times` more requests of the type have arrived. */
void tg_mix_arrive(struct tg_mix *mix, unsigned type, int64_t times);
/* Milli-cards that everything that arrived would use. */
int64_t tg_mix_demand(const struct tg_mix *mix);
/* Sorts numbers of types by `weight[number]`, largest first, as an exchange sort does: equal ones
 * keep no order that means anything, but always the same. */
void tg_mix_sort(unsigned *types, size_t n, const int64_t *weight);

#endif
