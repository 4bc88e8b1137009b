/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would it fit if ...? A request with one thing changed is placed on the fleet as it is: not by
 * numbers, by the search itself. Counts what that costs. Private to explain.
 */
#ifndef TG_CORE_EXPLAIN_TRIAL_H
#define TG_CORE_EXPLAIN_TRIAL_H

#include "controller/core/gang/place.h"

struct tg_trial {
    struct tg_fleet *fleet;
    struct tg_arena *scratch; /* reset by each trial */
    size_t steps, max_steps;
    bool refused; /* a trial was not made for want of steps or memory */
};

/* What is different; zeroed: nothing. */
struct tg_trial_change {
    const struct tg_toleration *pod_toleration; /* one more, of each pod */
    bool no_node_selector, no_node_affinity;    /* of each pod */
    const char *resource; /* of each pod with one container: it asks for so much less */
    int64_t less;
    const struct tg_toleration *request_toleration; /* one more, of each request of the name */
    const char *no_selector;                        /* of each request of the name */
    const char *request; /* the name, "req" or "req/sub"; NULL: of every one */
    size_t count;        /* of each request of the name; 0: as it is */
};

/* scratch gets what the arena has left. TG_RESOURCE_EXHAUSTED only. */
int tg_trial_init(struct tg_trial *trial, struct tg_fleet *fleet, size_t max_steps,
                  struct tg_arena *arena, struct tg_error *err);
/* So many steps more; false: there are not so many left, and the trial is refused. */
bool tg_trial_charge(struct tg_trial *trial, size_t steps);
/* Is there a pod of the piece of which resource and less of the change take something away? */
bool tg_trial_can_shrink(const struct tg_piece *piece, const struct tg_trial_change *change);
/* Does the request, so changed, have a place? Never an error: what cannot be tried does not fit.
 * ret_placement may be NULL; it stays until the next trial. */
bool tg_trial_fits(struct tg_trial *trial, const struct tg_place_request *request,
                   const struct tg_trial_change *change, struct tg_placement *ret_placement);

#endif
