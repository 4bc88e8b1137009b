/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can what is still to be found be found at all? Necessary conditions: each
 * remaining request has enough devices that would be given to it now; all of
 * them together have enough different ones (by number, or exactly by matching);
 * there are as many different values as distinctAttribute needs; and what is
 * left of all counters of one name is as much as they must consume. It never
 * says no when there is a solution.
 */
#ifndef TG_CORE_FIT_BOUND_H
#define TG_CORE_FIT_BOUND_H

#include "controller/core/fit/order.h"

/* One request, and where it stands in the order in which requests are served: the hardest first. */
struct tg_fit_turn {
    size_t claim, request;
};
struct tg_fit_turns {
    struct tg_fit_turn *items;
    size_t n;
};

/* Where the search stands: at the request whose turn it is; `found` devices of the choice have been
 * taken, the others come from order->devices[start ...). Later turns are untouched. choice NULL:
 * the request itself is untouched, too. */
struct tg_fit_place {
    size_t turn;
    const struct tg_fit_choice *choice;
    size_t found, start;
};

enum { TG_ACCEPTS_WHOLE = 1, TG_ACCEPTS_SHARE = 2 };

struct tg_fit_demand {
    size_t need;            /* exclusive devices that it cannot do without */
    unsigned char *accepts; /* one a place of the order */
};

/* Counters of one name, or of names that differ in a number at their end only: what each device
 * consumes of them all. */
struct tg_fit_sum {
    size_t first;       /* counter of the view */
    bool stem;          /* numbers at the end of names play no part */
    __int128 *consumes; /* one a device of the view */
    __int128 left, least;
};

#define TG_ANY_CHOICE ((size_t)-1)

struct tg_fit_bound {
    const struct tg_fit_state *state;
    const struct tg_fit_order *order;
    const struct tg_fit_turns *turns;
    const size_t *fixed; /* one a request: the only alternative, TG_ANY_CHOICE: all of them */
    const size_t *first_request; /* one a claim: its first in `fixed` */
    size_t max_demands;
    struct tg_fit_demand *demands;
    size_t n_demands;
    unsigned char *scratch; /* one a place of the order */
    /* Of the matching: */
    size_t *owner;                         /* one a place of the order: a demand, or none */
    size_t *came_from, *came_over, *queue; /* one a demand */
    bool *seen;
    struct tg_fit_sum *sums;
    size_t n_sums;
    unsigned char *values;  /* one a value of an attribute: seen */
    size_t *per_value;      /* likewise: places that have it */
    unsigned char *covered; /* one a place of the order */
    size_t steps;           /* work done, in steps of the search */
};

int tg_fit_bound_init(struct tg_fit_bound *bound, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, const struct tg_fit_turns *turns,
                      const size_t *fixed, const size_t *first_request, struct tg_error *err);
/* exact: by matching, which costs more. */
bool tg_fit_bound_holds(struct tg_fit_bound *bound, const struct tg_fit_place *place, bool exact);

#endif
