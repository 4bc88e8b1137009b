/* SPDX-License-Identifier: Apache-2.0 */
/* What tg_place says of a request without a place: the explanation of explain.h, but for what would
 * help. */
#ifndef TG_CORE_EXPLAIN_BOARD_H
#define TG_CORE_EXPLAIN_BOARD_H

#include "controller/core/gang/pack.h"

/* After tg_pack_place, which found no place for the board's request. The board is of no use then;
 * memory is its arena's. Errors: of selectors; TG_RESOURCE_EXHAUSTED. */
int tg_explain_board(struct tg_board *board, const struct tg_pack *pack, struct tg_no_place *ret,
                     struct tg_error *err);

#endif
