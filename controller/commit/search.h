/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the chosen members of a decision go: from TG_DECIDE_PLACE to a placement, or to a decision
 * that says why there is none. The controller and `kubectl-tangram simulate` ask the same.
 */
#ifndef TG_CONTROLLER_COMMIT_SEARCH_H
#define TG_CONTROLLER_COMMIT_SEARCH_H

#include "controller/commit/commit.h"

/* What a search came to. It points into itself: not to be copied. */
struct tg_search {
    bool placed;
    struct tg_place_request request;    /* of what was tried last */
    struct tg_placement placement;      /* if placed */
    const struct tg_no_place *no_place; /* not placed for want of room: what is short; else NULL */
    struct tg_no_place storage;
    struct tg_level levels[2]; /* that the request may point to */
};

/* All chosen members where their predecessors were, if they join; all of them anywhere; as few as
 * must be: decision->n_chosen tells how many were tried last. Not placed: decision becomes
 * TG_DECIDE_WAIT with reason, text and phase (members that join leave the phase of their gang as it
 * is). Errors: only exhaustion of the arena. */
int tg_commit_search(const struct tg_configuration *configuration,
                     const struct tg_commit_input *input, struct tg_arena *arena,
                     struct tg_decision *decision, struct tg_search *ret, struct tg_error *err);

/* What went wrong with the input of a placement, as the reason of a decision. */
const char *tg_search_reason(const struct tg_error *why);

#endif
