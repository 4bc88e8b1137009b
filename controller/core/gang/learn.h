/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked for, and how often: what packing policies expect to come. It is the one thing that
 * a fleet does not tell. Whoever sees requests come tells it; it is state of the fleet like its
 * nodes are, so that decisions stay functions of it. Counts fade: when a few thousand arrivals are
 * remembered all are halved. A fleet that was told the same arrivals, in any order, between two
 * calls of tg_learn_settle expects the same.
 */
#ifndef TG_CORE_GANG_LEARN_H
#define TG_CORE_GANG_LEARN_H

#include "controller/core/gang/place.h"

/* n more pieces like this one have come, whether there is room for them or not. Claims may be
 * allocated. Errors: of classes and selectors (nothing is learned); the arena, for scratch, is
 * exhausted. */
int tg_learn_arrived(struct tg_fleet *fleet, const struct tg_piece *piece, size_t n,
                     struct tg_arena *arena, struct tg_error *err);
/* Somebody knows the mix: so many of it come in some time, and nothing is learned. Errors as above.
 */
int tg_learn_given(struct tg_fleet *fleet, const struct tg_piece *piece, int64_t count,
                   struct tg_arena *arena, struct tg_error *err);
/* The topology levels that gangs are kept together in, outermost first: policies leave domains with
 * much room to gangs. What is needed of them is copied. */
void tg_learn_levels(struct tg_fleet *fleet, const struct tg_level *levels, size_t n);
/* After arrivals and before decisions: old ones fade, and once there are enough new ones decisions
 * go by them. */
void tg_learn_settle(struct tg_fleet *fleet);

#endif
