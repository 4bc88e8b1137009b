/* SPDX-License-Identifier: Apache-2.0 */
/* States from which the search is known to fail. A state is where the search
 * stands and everything given so far that later choices can notice; it is
 * compared in full. Before a request is begun, states that differ in which of
 * alike parts have been taken from are one state. */
#ifndef TG_CORE_FIT_MEMO_H
#define TG_CORE_FIT_MEMO_H

#include "controller/core/fit/blobs.h"
#include "controller/core/fit/bound.h"
#include "controller/core/fit/order.h"

struct tg_fit_memo {
    const struct tg_fit_state *state;
    const struct tg_fit_order *order;
    const struct tg_fit_turns *turns;
    struct tg_fit_blobs failed;
    struct tg_fit_blobs records; /* of parts: what has been taken from them */
    size_t *numbers;             /* of the records of a state, n_numbers */
    size_t n_numbers;
    size_t *stamp, round; /* one a part: the round in which it was last seen */
    struct tg_fit_bytes key, record;
    size_t bytes; /* kept so far */
    bool ready;   /* there is room for states */
    bool off;     /* admin access: who has a device matters, which is not worth a key */
};

void tg_fit_memo_init(struct tg_fit_memo *memo, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, const struct tg_fit_turns *turns);
/* For another search with the same state and order. */
void tg_fit_memo_clear(struct tg_fit_memo *memo);
int tg_fit_memo_knows(struct tg_fit_memo *memo, const struct tg_fit_place *place, bool *ret,
                      struct tg_error *err);
/* Room is made at the first one; when it is full nothing is added. */
int tg_fit_memo_add(struct tg_fit_memo *memo, const struct tg_fit_place *place,
                    struct tg_error *err);

#endif
