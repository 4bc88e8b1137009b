/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second opinion on a placement before anything is written for it, from the API objects alone
 * (controller/core/check). Debug builds ask for it at every placement and stop if it is refused: a
 * placement that gives away what is not free must be found where it is made.
 */
#ifndef TG_CONTROLLER_JUDGE_H
#define TG_CONTROLLER_JUDGE_H

#include "controller/core/gang/place.h"
#include "controller/gather/view.h"

/* busy: devices of plans that are not in the claims yet, without those of this placement. 0;
 * TG_FAILED_PRECONDITION with what is wrong; TG_RESOURCE_EXHAUSTED: the arena, which takes all
 * memory, and then there is no verdict. */
int tg_judge_placement(const struct tg_view *view, const struct tg_fleet_busy *busy, size_t n_busy,
                       const struct tg_place_request *request, const struct tg_placement *placement,
                       struct tg_arena *arena, struct tg_error *err);

#endif
