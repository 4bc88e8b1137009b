/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with files that a user wrote: each with file, line, column, field, and what to do.
 */
#ifndef TG_CONTROLLER_CLI_PROBLEMS_H
#define TG_CONTROLLER_CLI_PROBLEMS_H

#include <stdarg.h>
#include <stdio.h>

#include "api/runtime/base/vec.h"
#include "api/runtime/json/value.h"

/* Further ones are only counted. */
#define TG_PROBLEMS_MAX 100

struct tg_problem {
    const char *file;
    int line, column; /* 0: not known */
    const char *text; /* "FIELD: what is wrong" */
};

struct tg_problems {
    struct tg_arena *arena; /* of texts */
    TG_VEC(struct tg_problem) items;
    size_t n; /* with those that are only counted */
};

void tg_problems_init(struct tg_problems *problems, struct tg_arena *arena);
void tg_problems_done(struct tg_problems *problems);

/* at: the place, or NULL. field: "" for none. */
void tg_problems_add(struct tg_problems *problems, const char *file, const struct tg_json *at,
                     const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* message: "FIELD: what is wrong" as decoders write it, FIELD a path below root ("spec.size",
 * "cards[1]"). The place is that of the deepest part of the path that is there. prefix: a path from
 * root to where FIELD begins, or "". */
void tg_problems_locate(struct tg_problems *problems, const char *file, const struct tg_json *root,
                        const char *prefix, const char *message);
/* "FILE:LINE:COLUMN: TEXT", a line each, in the order of places. */
void tg_problems_print(struct tg_problems *problems, FILE *out);

#endif
