/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request has no place: what is short, where it comes closest, who holds it. Deterministic,
 * at most TG_TEXT_MAX bytes. */
#ifndef TG_CORE_EXPLAIN_WHY_H
#define TG_CORE_EXPLAIN_WHY_H

#include "controller/core/gang/pack.h"

/* After tg_pack_search found nothing. Texts are the arena's of the board; reasons are static. */
int tg_explain(struct tg_board *board, const struct tg_pack *pack, struct tg_no_place *ret,
               struct tg_error *err);

#endif
