/* SPDX-License-Identifier: Apache-2.0 */
/* A text that two pieces share exactly when placement cannot tell them apart: everything that node
 * rules, room and requests read, each part with its length, so that no two different pieces give
 * one text. */
#ifndef TG_CORE_GANG_KEY_H
#define TG_CORE_GANG_KEY_H

#include "controller/core/gang/place.h"
#include "controller/core/model/demand.h"

/* demand: of the piece's pods. The text is the arena's. */
int tg_piece_key(const struct tg_piece *piece, const struct tg_demand *demand,
                 struct tg_arena *arena, const char **ret, struct tg_error *err);

#endif
