/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims that counts of alike devices do not describe (All, firstAvailable, constraints, capacity):
 * placed by the exact search of controller/core/fit. What this version never allocates to anybody
 * is barred in it, too. Private to gang.
 */
#ifndef TG_CORE_GANG_EXACT_H
#define TG_CORE_GANG_EXACT_H

#include "controller/core/fit/search.h"
#include "controller/core/model/view.h"

struct tg_exact {
    const struct tg_fleet *fleet;
    struct tg_arena *arena;
    struct tg_fit_book book;
    struct tg_view **views; /* one a node, NULL: not built yet */
    struct tg_arena *scratch;
};

/* Does the claim need it? */
bool tg_exact_needed(const struct tg_resource_claim *claim);
int tg_exact_init(struct tg_exact *exact, const struct tg_fleet *fleet, struct tg_arena *arena,
                  struct tg_error *err);
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
/* The row of the fleet behind a device of the node's view. */
size_t tg_exact_row(const struct tg_exact *exact, size_t node, size_t device);

#endif
