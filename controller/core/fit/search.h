/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices may serve these claims on this node, exactly as the built-in allocator would say:
 * exhaustive, but for what is proven to fail. Earlier alternatives of firstAvailable are preferred,
 * in order of claims and requests. Bounded by steps.
 */
#ifndef TG_CORE_FIT_SEARCH_H
#define TG_CORE_FIT_SEARCH_H

#include "controller/core/fit/state.h"

#define TG_FIT_DEFAULT_STEPS ((size_t)1000000)

enum tg_fit_outcome {
    TG_FIT_ALLOCATED,
    TG_FIT_UNALLOCATABLE, /* proven */
    TG_FIT_ERROR,         /* problem says which */
    TG_FIT_GAVE_UP,       /* after max_steps */
};

struct tg_fit_answer {
    enum tg_fit_outcome outcome;
    struct tg_fit_problem problem;
    size_t steps;
    /* TG_FIT_ALLOCATED: claim after claim, request after request, devices of one request in the
     * order of the view. A request takes part by its chosen alternative. */
    const struct tg_fit_take *takes;
    size_t n_takes;
};

/* All claims together, in this order. The book holds them (tg_fit_book_add) and has the rules of
 * the view. max_steps 0: TG_FIT_DEFAULT_STEPS. Memory is the arena's; TG_RESOURCE_EXHAUSTED is the
 * only failure. */
int tg_fit_search(const struct tg_fit_book *book, const struct tg_view *view,
                  const struct tg_fit_claim *claims, size_t n_claims, size_t max_steps,
                  struct tg_arena *arena, struct tg_fit_answer *ret, struct tg_error *err);

#endif
