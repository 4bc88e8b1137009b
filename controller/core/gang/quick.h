/* SPDX-License-Identifier: Apache-2.0 */
/* One piece without a topology: what most decisions are. It goes where the search would send it,
 * but by the offer to its kind (offer.h), without a look at every node. */
#ifndef TG_CORE_GANG_QUICK_H
#define TG_CORE_GANG_QUICK_H

#include "controller/core/gang/place.h"

/* *ret_done: placed, *ret has it. false: the request is not that simple, cannot be placed or has
 * something wrong with it; the board (board.h) tells what. Only TG_RESOURCE_EXHAUSTED is an error.
 */
int tg_quick_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
                   struct tg_arena *arena, struct tg_placement *ret, bool *ret_done,
                   struct tg_error *err);

#endif
