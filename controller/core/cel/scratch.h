/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one evaluation: first a buffer of the caller (on the stack), then an arena with a
 * budget that is made only when the buffer is full. Not zeroed.
 */
#ifndef TG_CORE_CEL_SCRATCH_H
#define TG_CORE_CEL_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "api/runtime/base/arena.h"

/* Hardened builds clear what is on the stack; of large things that are written before they are read
 * this takes longer than the evaluation. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define TG_CEL_UNCLEARED __attribute__((uninitialized))
#endif
#endif
#ifndef TG_CEL_UNCLEARED
#define TG_CEL_UNCLEARED
#endif

struct tg_cel_scratch {
    char *at, *end;
    struct tg_arena *arena; /* NULL until it is needed */
    size_t budget;
    bool owned; /* the arena is ours to free */
};

/* buffer: aligned as max_align_t, n bytes. */
void tg_cel_scratch_init(struct tg_cel_scratch *scratch, void *buffer, size_t n, size_t budget);
/* All from the arena, which lives on. */
void tg_cel_scratch_on(struct tg_cel_scratch *scratch, struct tg_arena *arena);
void tg_cel_scratch_done(struct tg_cel_scratch *scratch);
void *tg_cel_scratch_more(struct tg_cel_scratch *scratch, size_t n);

/* n bytes, aligned to 16; NULL: the budget is exhausted. */
static inline void *tg_cel_alloc(struct tg_cel_scratch *scratch, size_t n)
{
    size_t rounded = (n + 16U) & ~(size_t)15U; /* at least 1: never NULL for nothing */

    if (rounded >= n && rounded <= (size_t)(scratch->end - scratch->at)) {
        void *p = scratch->at;

        scratch->at += rounded;
        return p;
    }
    return tg_cel_scratch_more(scratch, n);
}

#endif
