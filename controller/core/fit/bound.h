/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can what is still to be found be found at all? A necessary condition: each remaining request has
 * enough devices that would be given to it now, and all of them together have enough different ones
 * (by number, or exactly by matching). It never says no when there is a solution.
 */
#ifndef TG_CORE_FIT_BOUND_H
#define TG_CORE_FIT_BOUND_H

#include "controller/core/fit/order.h"

/* Where the search stands: `found` devices of the choice have been taken, the others come from
 * order->devices[start ...). Later requests and claims are untouched. choice NULL: the request
 * itself is untouched, too. */
struct tg_fit_place {
    size_t claim, request;
    const struct tg_fit_choice *choice;
    size_t found, start;
};

struct tg_fit_demand {
    size_t need;            /* exclusive devices that it cannot do without */
    unsigned char *accepts; /* one a place of the order */
};

struct tg_fit_bound {
    const struct tg_fit_state *state;
    const struct tg_fit_order *order;
    size_t max_demands;
    struct tg_fit_demand *demands;
    size_t n_demands;
    unsigned char *scratch; /* one a place of the order */
    /* Of the matching: */
    size_t *owner;                         /* one a place of the order: a demand, or none */
    size_t *came_from, *came_over, *queue; /* one a demand */
    bool *seen;
    size_t steps; /* work done, in steps of the search */
};

int tg_fit_bound_init(struct tg_fit_bound *bound, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, struct tg_error *err);
/* exact: by matching, which costs more. */
bool tg_fit_bound_holds(struct tg_fit_bound *bound, const struct tg_fit_place *place, bool exact);

#endif
