/* SPDX-License-Identifier: Apache-2.0 */
/* One case of `dra-alloc-case/1`: what goes in, as objects, and what our search answers. All memory
 * is the case's arena. */
#ifndef TG_TESTS_CASES_ALLOC_CASE_H
#define TG_TESTS_CASES_ALLOC_CASE_H

#include "api/runtime/json/value.h"
#include "controller/core/check/check.h"
#include "controller/core/fit/result.h"

/* What a version of the case files stands for. */
struct alloc_version {
    const char *name;
    unsigned release;
    unsigned quirks; /* added to the features of a case */
};
/* The version by its name ("head", "0.36.2"), NULL if there is none. */
const struct alloc_version *alloc_version_named(const char *name);
/* By what stands in the name of a file ("alloc-cases-v0.36.2.json"); head if nothing does. */
const struct alloc_version *alloc_version_of_path(const char *path);

struct alloc_case {
    struct tg_arena *arena;
    const struct tg_json *json;
    const char *name;
    struct tg_rules rules;
    struct tg_node *node;
    const struct tg_device_class **classes;
    size_t n_classes;
    const struct tg_resource_slice **slices;
    size_t n_slices;
    const struct tg_resource_claim **claims;
    size_t n_claims;
    /* `allocated`, for the checker, and as the allocation of a claim. */
    struct tg_check_held *held;
    size_t n_held;
    struct tg_check_consumed *consumed;
    size_t n_consumed;
    struct tg_resource_claim *others;
};

/* 0, or -1 with a message: the case is not understood. */
int alloc_case_read(const struct tg_json *json, const struct alloc_version *version,
                    struct tg_arena *arena, struct alloc_case *ret, struct tg_error *err);

struct alloc_answer {
    struct tg_fit_answer fit;
    struct tg_fit_claim *claims;
    struct tg_allocation *allocations; /* one a claim of the case; TG_FIT_ALLOCATED only */
};
/* 0 whatever the outcome; -1 with a message: it could not be run. */
int alloc_case_run(const struct alloc_case *c, size_t max_steps, struct alloc_answer *ret,
                   struct tg_error *err);
/* Is the answer's allocation one that the checker accepts? */
int alloc_case_check(const struct alloc_case *c, const struct alloc_answer *answer,
                     struct tg_error *err);

#endif
