/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attempt has given away so far: devices, shares, counters, and what constraints have seen.
 * Every take can be taken back, last first, and leaves nothing behind. Private to fit.
 */
#ifndef TG_CORE_FIT_STATE_H
#define TG_CORE_FIT_STATE_H

#include "controller/core/fit/table.h"
#include "controller/core/fit/values.h"

struct tg_fit_take {
    size_t claim, device;
    const struct tg_fit_choice *choice;
};

struct tg_fit_level {  /* of a constraint, after one more device */
    const size_t *ids; /* match: what all have in common; distinct: those of this device */
    size_t n;
};
struct tg_fit_track { /* one constraint of one claim */
    const struct tg_fit_domain *domain;
    bool distinct;
    struct tg_fit_level *levels; /* one a device that it covers so far */
    size_t n_levels;
    size_t *buffer; /* of intersections: domain->longest a level */
};

struct tg_fit_state {
    struct tg_fit_table *table;
    const struct tg_fit_claim *claims;
    size_t n_claims;
    struct tg_fit_take *takes;
    size_t n_takes;
    size_t *per_claim; /* takes of each claim */
    /* One a device: */
    size_t *held;                 /* takes that have it wholly (those of admin access included) */
    size_t *shares;               /* takes that share it */
    size_t *first_amount;         /* its capacities in amounts[] */
    __int128 *amounts;            /* consumed by takes that share */
    __int128 *left;               /* one a counter */
    struct tg_fit_track **tracks; /* [claim][constraint] */
};

enum tg_fit_taken {
    TG_TAKE_DONE,
    TG_TAKE_REFUSED,
    TG_TAKE_FORBIDDEN, /* by a constraint */
};

/* The table's book must hold the claims. Memory is the table's arena. */
int tg_fit_state_init(struct tg_fit_state *state, struct tg_fit_table *table,
                      const struct tg_fit_claim *claims, size_t n_claims, struct tg_error *err);
/* Gives the device to the choice of the claim, if that is possible beside what is given already.
 * The cell of want and device is TG_CELL_YES. */
enum tg_fit_taken tg_fit_state_take(struct tg_fit_state *state, size_t claim,
                                    const struct tg_fit_choice *choice, size_t device);
void tg_fit_state_undo(struct tg_fit_state *state);
/* Is it wholly given away already, as far as this choice is concerned? Claims come in order: admin
 * access sees only its own claim's devices, others see everything that was given before. */
bool tg_fit_state_given(const struct tg_fit_state *state, size_t claim,
                        const struct tg_fit_choice *choice, size_t device);
/* May one request have several shares of one device? Up to release 35 the built-in allocator does
 * that. */
bool tg_fit_repeats(const struct tg_rules *rules);
/* Would it be refused or forbidden now? */
bool tg_fit_state_allows(const struct tg_fit_state *state, size_t claim,
                         const struct tg_fit_choice *choice, size_t device);

#endif
