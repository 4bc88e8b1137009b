/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/scratch.h"

/* What is taken from the arena at once: allocations of an evaluation are many and small. */
#define CHUNK ((size_t)16 * 1024)

void tg_cel_scratch_init(struct tg_cel_scratch *scratch, void *buffer, size_t n, size_t budget)
{
    char *at = buffer;

    *scratch = (struct tg_cel_scratch){.at = at, .end = at + n, .budget = budget, .owned = true};
}

void tg_cel_scratch_on(struct tg_cel_scratch *scratch, struct tg_arena *arena)
{
    *scratch = (struct tg_cel_scratch){.arena = arena};
}

void tg_cel_scratch_done(struct tg_cel_scratch *scratch)
{
    if (scratch->owned)
        tg_arena_free(scratch->arena);
    scratch->arena = NULL;
}

void *tg_cel_scratch_more(struct tg_cel_scratch *scratch, size_t n)
{
    char *chunk;

    if (scratch->arena == NULL)
        scratch->arena = tg_arena_new(scratch->budget);
    if (!scratch->owned || n > CHUNK / 4)
        return tg_arena_alloc(scratch->arena, n);
    chunk = tg_arena_alloc(scratch->arena, CHUNK);
    if (chunk == NULL)
        return NULL;
    scratch->at = chunk;
    scratch->end = chunk + CHUNK;
    return tg_cel_alloc(scratch, n);
}
