/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/prepare.h"

#include "api/runtime/base/str.h"

size_t tg_fit_choice_need(const struct tg_fit_table *table, const struct tg_fit_choice *choice)
{
    return table->book->wants[choice->want].all ? table->all[choice->want].n : choice->count;
}

size_t tg_fit_least_of_request(const struct tg_fit_table *table,
                               const struct tg_fit_request *request)
{
    size_t least = TG_RESULTS_MAX + 1;

    for (size_t k = 0; k < request->n_choices; k++) {
        size_t need = tg_fit_choice_need(table, &request->choices[k]);

        if (need < least)
            least = need;
    }
    return least;
}

size_t tg_fit_least_results(const struct tg_fit_table *table, const struct tg_fit_claim *claim,
                            size_t from)
{
    size_t sum = 0;

    for (size_t r = from; r < claim->n_requests; r++)
        sum += tg_fit_least_of_request(table, &claim->requests[r]);
    return sum;
}

static int list_request(struct tg_fit_table *table, const struct tg_fit_request *request, size_t n,
                        struct tg_fit_problem *problem, struct tg_error *err)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < n && problem->fault == TG_FAULT_NONE; k++) {
        size_t want = request->choices[k].want;

        if (table->book->wants[want].all)
            rc = tg_fit_table_list(table, want, problem, err);
    }
    return rc;
}

static int prepare_claim(struct tg_fit_table *table, const struct tg_fit_claim *claim,
                         struct tg_fit_problem *problem, struct tg_error *err)
{
    const struct tg_object_meta *meta = claim->object->metadata;
    int rc = 0;

    for (size_t r = 0; rc == 0 && problem->fault == TG_FAULT_NONE && r < claim->n_sound; r++)
        rc = list_request(table, &claim->requests[r], claim->requests[r].n_choices, problem, err);
    if (rc < 0 || problem->fault != TG_FAULT_NONE)
        return rc;
    if (claim->n_sound < claim->n_requests) {
        if (claim->n_sound_choices > 0)
            rc = list_request(table, &claim->requests[claim->n_sound], claim->n_sound_choices,
                              problem, err);
        if (problem->fault == TG_FAULT_NONE)
            *problem = claim->problem;
        return rc;
    }
    if (tg_fit_least_results(table, claim, 0) > TG_RESULTS_MAX)
        tg_fit_fail(problem, table->arena, TG_FAULT_CLAIM_LIMIT,
                    "claim %s: its requests need more than the %d devices that a claim can have",
                    tg_or(meta == NULL ? NULL : meta->name, "?"), TG_RESULTS_MAX);
    else
        *problem = claim->problem;
    return 0;
}

int tg_fit_prepare(struct tg_fit_table *table, const struct tg_fit_claim *claims, size_t n_claims,
                   struct tg_fit_problem *problem, struct tg_error *err)
{
    int rc = 0;

    *problem = (struct tg_fit_problem){.fault = TG_FAULT_NONE};
    for (size_t i = 0; rc == 0 && i < n_claims && problem->fault == TG_FAULT_NONE; i++)
        rc = prepare_claim(table, &claims[i], problem, err);
    return rc;
}
