/* SPDX-License-Identifier: Apache-2.0 */
/* A piece that outlives the request it came with. */
#ifndef TG_CORE_GANG_PIECE_H
#define TG_CORE_GANG_PIECE_H

#include "controller/core/gang/place.h"

/* What placement reads of the piece, wherever it may be fixed, copied into the arena, which has no
 * budget. */
struct tg_piece tg_piece_copy(const struct tg_piece *piece, struct tg_arena *arena);

#endif
