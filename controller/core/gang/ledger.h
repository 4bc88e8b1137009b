/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of learn.h: the requests that are known, in the numbers of core/pack. */
#ifndef TG_CORE_GANG_LEDGER_H
#define TG_CORE_GANG_LEDGER_H

#include "controller/core/gang/kinds.h"
#include "controller/core/gang/learn.h"
#include "controller/core/pack/mix.h"

/* The numbering of kinds, up to date; what is known of requests follows it. */
struct tg_kinds *tg_ledger_kinds(const struct tg_fleet *fleet, uint64_t *ret_version);
/* What the piece asks for. Scratch is the arena's. */
int tg_ledger_request(const struct tg_fleet *fleet, const struct tg_piece *piece,
                      struct tg_arena *arena, struct tg_pack_request *ret, struct tg_error *err);
/* Grows when decisions are to go by another mix. */
uint64_t tg_ledger_version(const struct tg_fleet *fleet);
/* The mix, types in an order that does not depend on who came first, without what of it runs; true:
 * it is given. */
bool tg_ledger_mix(const struct tg_fleet *fleet, struct tg_mix *ret);

#endif
