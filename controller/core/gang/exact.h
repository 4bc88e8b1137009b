/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims that counts of alike devices do not describe (All, firstAvailable, constraints, capacity,
 * admin access), and devices of which it is not enough to know whether somebody holds them
 * (counters, shares, several nodes): placed by the exact search of controller/core/fit. Private to
 * gang.
 */
#ifndef TG_CORE_GANG_EXACT_H
#define TG_CORE_GANG_EXACT_H

#include "controller/core/fit/search.h"
#include "controller/core/model/view.h"

struct tg_exact {
    const struct tg_fleet *fleet;
    struct tg_arena *arena;
    bool apart; /* nodes are searched one by one, for several pieces: see tg_exact_init */
    struct tg_fit_book book;
    struct tg_view **views; /* one a node, NULL: not built yet, or given up for others */
    struct tg_arena *view;  /* of them */
    struct tg_arena *scratch;
};

/* Does the claim need it? */
bool tg_exact_needed(const struct tg_resource_claim *claim);
/* Does a request of it want admin access: devices whoever holds them? */
bool tg_exact_is_admin(const struct tg_resource_claim *claim);
/* several: the request has more than one piece with claims. Each node is searched for itself, and
 * what one takes of a device or a counter that others reach as well would not be seen by them: such
 * devices then stay out. */
int tg_exact_init(struct tg_exact *exact, const struct tg_fleet *fleet, bool several,
                  struct tg_arena *arena, struct tg_error *err);
/* What is wrong with the claim, whatever the node, is an error here. */
int tg_exact_add(struct tg_exact *exact, const struct tg_resource_claim *claim,
                 struct tg_fit_claim *ret, struct tg_error *err);
/* All claims together on the node. *ret_found: they have their devices; ret_takes, unless it is
 * NULL, has them, in the arena. *ret_gave_up: the steps ended before it was known. A selector that
 * fails on a device is TG_FAILED_PRECONDITION, as everywhere; what else forbids All on this node
 * alone means that they do not fit there. */
int tg_exact_search(struct tg_exact *exact, size_t node, const struct tg_fit_claim *claims,
                    size_t n_claims, bool *ret_found, bool *ret_gave_up,
                    struct tg_fit_answer *ret_takes, struct tg_error *err);
/* Makes it known what counters leave of each device of the node (leeway.h), by the view that a
 * search there takes. To be called before that is asked for, whether it is known or not: what a
 * decision makes of a node must not depend on which ones came before it. */
int tg_exact_learn(struct tg_exact *exact, size_t node, struct tg_error *err);
/* What the take of the last search consumes of a device that is shared: as consumedCapacity of a
 * result says it, {} if the device has no capacity; NULL: the device is not shared. Memory is the
 * arena's. */
int tg_exact_consumed(const struct tg_exact *exact, size_t node, const struct tg_fit_take *take,
                      const char **ret, struct tg_error *err);
/* The row of the fleet behind a device of the view of the node that was searched last. */
size_t tg_exact_row(const struct tg_exact *exact, size_t node, size_t device);

#endif
