/* SPDX-License-Identifier: Apache-2.0 */
/* From what a search has found to what is written into a claim's status. */
#ifndef TG_CORE_FIT_RESULT_H
#define TG_CORE_FIT_RESULT_H

#include "controller/core/fit/search.h"

/* Stands for the share id of a result that shares its device: the writer replaces it by an id of
 * its own, so that a write can be repeated byte by byte. */
#define TG_FIT_SHARE_ID "*"

/* consumedCapacity of a take that shares its device: every capacity of the device, JSON of the
 * arena; NULL if it has none. */
int tg_fit_consumed(const struct tg_fit_book *book, const struct tg_view *view,
                    const struct tg_fit_take *take, struct tg_arena *arena, const char **ret,
                    struct tg_error *err);
/* One allocation a claim, in the order of the claims. Complete but for share ids and timestamp: the
 * entries of config are those of the classes, then those of the claim that concern what was chosen
 * (from 37 on, one for every request names none); the node selector is the node itself if any
 * device is its own or binds to it, else what the slices demand, NULL if they demand nothing.
 * answer->outcome is TG_FIT_ALLOCATED. Memory is the arena's; strings of claims, classes and slices
 * are not copied. */
int tg_fit_result(const struct tg_fit_book *book, const struct tg_view *view,
                  const struct tg_fit_claim *claims, size_t n_claims,
                  const struct tg_fit_answer *answer, struct tg_arena *arena,
                  struct tg_allocation **ret, struct tg_error *err);

#endif
