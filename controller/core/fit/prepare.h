/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked before anything is searched for: the claims in order, All listed, the limit of
 * results. Private to fit. */
#ifndef TG_CORE_FIT_PREPARE_H
#define TG_CORE_FIT_PREPARE_H

#include "controller/core/fit/table.h"

/* Devices that the choice takes; of All those of the list. */
size_t tg_fit_choice_need(const struct tg_fit_table *table, const struct tg_fit_choice *choice);
/* problem->fault is set if something is wrong: the first that the built-in allocator would meet. */
int tg_fit_prepare(struct tg_fit_table *table, const struct tg_fit_claim *claims, size_t n_claims,
                   struct tg_fit_problem *problem, struct tg_error *err);
/* The least number of results that the request must have; it ends at TG_RESULTS_MAX + 1. */
size_t tg_fit_least_of_request(const struct tg_fit_table *table,
                               const struct tg_fit_request *request);
/* The least number of results that requests from `from` on must have; counts end at
 * TG_RESULTS_MAX + 1 each. */
size_t tg_fit_least_results(const struct tg_fit_table *table, const struct tg_fit_claim *claim,
                            size_t from);

#endif
