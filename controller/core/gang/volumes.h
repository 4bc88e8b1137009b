/* SPDX-License-Identifier: Apache-2.0 */
/* What the volumes of the pods of a request ask of nodes, read before anything is decided. */
#ifndef TG_CORE_GANG_VOLUMES_H
#define TG_CORE_GANG_VOLUMES_H

#include "controller/core/gang/place.h"

/* The request with volumes told of each piece: the same one if no pod claims any, else a copy of
 * the arena's. Errors: tg_fit_read_volumes. */
int tg_request_read_volumes(const struct tg_fleet *fleet, const struct tg_place_request *request,
                            struct tg_arena *arena, const struct tg_place_request **ret,
                            struct tg_error *err);

#endif
