/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good each node is for a request, by a packing policy (core/pack) over the whole fleet. Nodes
 * are in classes of alike ones; policies value classes. Kept with the fleet, one a policy, brought
 * up to date by what has changed (model/news.h) and by what was learned (learn.h).
 */
#ifndef TG_CORE_GANG_RANK_H
#define TG_CORE_GANG_RANK_H

#include "controller/core/gang/kinds.h"
#include "controller/core/pack/packer.h"

struct tg_rank;

/* Up to date, a choice begins. policy: of tg_pack_policy_names; NULL: the default. */
struct tg_rank *tg_rank_get(const struct tg_fleet *fleet, const char *policy);
/* Grows when the classes of all nodes are others than before. */
uint64_t tg_rank_version(const struct tg_rank *rank);
/* The class of the node of that row; of what is not a node, too. */
uint32_t tg_rank_class(const struct tg_rank *rank, size_t row);
/* The number of the request, while the rank is not asked for again. */
unsigned tg_rank_type(struct tg_rank *rank, const struct tg_pack_request *request);
/* What a node of the class is worth to a request of the type. */
void tg_rank_rate(struct tg_rank *rank, unsigned type, uint32_t klass, struct tg_pack_rating *ret);
/* One more of the type is there, for the time being; and all of them away again. */
void tg_rank_put(struct tg_rank *rank, size_t row, unsigned type);
void tg_rank_take_all(struct tg_rank *rank);
/* What it goes by. */
const struct tg_mix *tg_rank_mix(const struct tg_rank *rank);
/* Is the emptiest domain the best one? */
bool tg_rank_spreads(const struct tg_rank *rank);

#endif
