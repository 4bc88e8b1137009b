/* SPDX-License-Identifier: Apache-2.0 */
/* An answer against what a case expects, and as JSON. */
#ifndef TG_TESTS_CASES_ALLOC_COMPARE_H
#define TG_TESTS_CASES_ALLOC_COMPARE_H

#include "api/runtime/base/buf.h"
#include "tests/cases/alloc_case.h"

const char *alloc_outcome_name(enum tg_fit_outcome outcome);
/* The class of an error: "celCompile", "featureDisabled:DRAPrioritizedList". Of the case's arena.
 */
const char *alloc_error_class(const struct alloc_case *c, const struct tg_fit_problem *problem);
/* true: as expected. Otherwise what is not, for people: expected and got (of the case's arena). */
bool alloc_compare(const struct alloc_case *c, const struct alloc_answer *answer,
                   const char **ret_expected, const char **ret_got);
/* One line of JSON without the newline: see README.md. 0 or -1. */
int alloc_write(const struct alloc_case *c, const struct alloc_answer *answer, struct tg_buf *out);

#endif
