/* SPDX-License-Identifier: Apache-2.0 */
/*
 * So that a large unit is not starved by small ones: the first unit in the order (priority, then
 * age) that waits for devices, and only that one, has nodes kept for it once it has waited long
 * enough (core/gang/drain.h): those behind it get nothing that becomes free there. It ends with its
 * place, with the unit, or when it has lasted as long as others may be delayed; then they have as
 * long a time before it begins again. What a Gang has kept stands in its status.holds, with the
 * time at which it ends: so a new leader goes on where the one before it was. Of single pods
 * nothing is written.
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
    char until[32]; /* RFC 3339: when keeping them ends, as the status says */
    bool recalled;  /* what another leader wrote has been read */
};

void tg_draining_end(struct tg_draining *draining); /* it waits no more; frees */
/* Once for each unit: goes on where the leader was that wrote these holds of a Gang without a plan.
 * wall: now, ns since the epoch, against which they end. */
void tg_draining_recall(struct tg_draining *draining, const struct tg_gang *gang,
                        const struct tg_delays *delays, int64_t now, int64_t wall);
/* The unit waits, and is the first that does: may nodes be kept for it now? *ret_wake: when that
 * changes. */
bool tg_draining_due(struct tg_draining *draining, const struct tg_delays *delays, int64_t now,
                     int64_t *ret_wake);
/* Are nodes kept for it (still)? */
bool tg_draining_keeps(struct tg_draining *draining, const struct tg_delays *delays, int64_t now);
/* The search has found no place: will waiting help? */
bool tg_draining_helps(const struct tg_search *search);
/* Chooses its nodes, and says so in the decision: its text, and what is kept. Errors: the arena. */
int tg_draining_choose(struct tg_draining *draining, const struct tg_delays *delays,
                       const struct tg_fleet *fleet, const struct tg_search *search, int64_t now,
                       int64_t wall, struct tg_arena *arena, struct tg_decision *decision,
                       struct tg_error *err);

#endif
