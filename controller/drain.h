/* SPDX-License-Identifier: Apache-2.0 */
/*
 * So that a large unit is not starved by small ones: the first unit in the order (priority, then
 * age) that waits for devices, and only that one, has nodes kept for it once it has waited long
 * enough (core/gang/drain.h): those behind it get nothing that becomes free there. Nothing of this
 * is written anywhere: it ends with its place, with the unit, with the process, or when it has
 * lasted as long as others may be delayed; then they have as long a time before it begins again.
 */
#ifndef TG_CONTROLLER_DRAIN_H
#define TG_CONTROLLER_DRAIN_H

#include "api/runtime/base/vec.h"
#include "api/tangram/configuration.h"
#include "controller/commit/search.h"

/* Of one unit; zeroed: it does not wait. Times are monotonic, 0: it is not so. */
struct tg_draining {
    int64_t waits_since;
    int64_t keeps_since; /* nodes are kept */
    int64_t rests_since; /* they were kept for as long as they may */
    TG_VEC(char *) nodes;
};

void tg_draining_end(struct tg_draining *draining); /* it waits no more; frees */
/* The unit waits, and is the first that does: may nodes be kept for it now? *ret_wake: when that
 * changes. */
bool tg_draining_due(struct tg_draining *draining, const struct tg_delays *delays, int64_t now,
                     int64_t *ret_wake);
/* Are nodes kept for it (still)? */
bool tg_draining_keeps(struct tg_draining *draining, const struct tg_delays *delays, int64_t now);
/* The search has found no place: will waiting help? */
bool tg_draining_helps(const struct tg_search *search);
/* Chooses its nodes, and says so in the decision's text. Errors: the arena. */
int tg_draining_choose(struct tg_draining *draining, const struct tg_delays *delays,
                       const struct tg_fleet *fleet, const struct tg_search *search, int64_t now,
                       struct tg_arena *arena, struct tg_decision *decision, struct tg_error *err);

#endif
