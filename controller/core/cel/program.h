/* SPDX-License-Identifier: Apache-2.0 */
/* Text to program, program and input to value: the whole of CEL behind two functions. */
#ifndef TG_CORE_CEL_PROGRAM_H
#define TG_CORE_CEL_PROGRAM_H

#include "api/runtime/base/error.h"
#include "controller/core/cel/environment.h"
#include "controller/core/cel/map.h"

struct tg_cel_program;

/* Bytes that one evaluation may take at most beyond the caller's buffer. */
#define TG_CEL_EVALUATION_MEMORY ((size_t)64 * 1024 * 1024)

/* text: n bytes. What Kubernetes refuses is refused: TG_INVALID_ARGUMENT with place, caret line and
 * hint. TG_RESOURCE_EXHAUSTED: the arena. In DRA the result must be bool or the type of an
 * attribute. The estimated cost is not judged here. env need not outlive the call, but its
 * variables and zones do. */
int tg_cel_compile(const char *text, size_t n, const struct tg_cel_environment *env,
                   struct tg_arena *arena, struct tg_cel_program **ret, struct tg_error *err);

/* The worst case in cost units; UINT64_MAX: unbounded. */
uint64_t tg_cel_program_cost(const struct tg_cel_program *program);
const struct tg_cel_type *tg_cel_program_type(const struct tg_cel_program *program);

struct tg_cel_input {
    const struct tg_cel_device *device;   /* DRA */
    const struct tg_cel_value *variables; /* PLAIN: in the order of the environment */
    uint64_t cost_limit;                  /* 0: TG_CEL_MAX_COST */
};

/* *ret lives in scratch and program. A run-time error (no such key, cost limit) is
 * TG_FAILED_PRECONDITION with its place. ret_cost: units spent, on failure too; may be NULL. */
int tg_cel_evaluate(const struct tg_cel_program *program, const struct tg_cel_input *input,
                    struct tg_cel_scratch *scratch, struct tg_cel_value *ret, uint64_t *ret_cost,
                    struct tg_error *err);
/* The same of a value that has to be bool. */
int tg_cel_evaluate_bool(const struct tg_cel_program *program, const struct tg_cel_input *input,
                         struct tg_cel_scratch *scratch, bool *ret, uint64_t *ret_cost,
                         struct tg_error *err);

/* What a program reads of a device: values that differ elsewhere give the same result. */
struct tg_cel_reads {
    bool driver, allow_multiple_allocations;
    bool all; /* more than is listed: a map as a whole, or by a computed name */
    struct tg_cel_read {
        bool capacity;
        const char *domain; /* NULL: which domains there are */
        const char *name;   /* NULL: all of the domain */
    } * items;
    size_t n;
    /* The first characters that a key can have, one bit each: what can be read at all is sorted out
     * by it. */
    uint64_t first[4];
};
const struct tg_cel_reads *tg_cel_program_reads(const struct tg_cel_program *program);

#endif
