/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bump arenas with a byte budget: one a lifetime (request, watch event, object, decision,
 * configuration). Exhausting the budget is an ordinary outcome: NULL, and tg_arena_exhausted()
 * stays true. Memory is zeroed. Freed as a whole.
 */
#ifndef TG_RUNTIME_BASE_ARENA_H
#define TG_RUNTIME_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct tg_arena;

#define TG_ARENA_UNLIMITED ((size_t)-1)

/* A new arena that gives out at most `budget` bytes (overhead included). Never NULL. Nothing is
 * allocated from the heap for blocks before the first allocation. */
struct tg_arena *tg_arena_new(size_t budget);
/* NULL is allowed. Runs the reset callbacks first, newest first. */
void tg_arena_free(struct tg_arena *arena);
/* Forgets all allocations (callbacks run), keeps the first block and the budget. */
void tg_arena_reset(struct tg_arena *arena);

/* `size` zeroed bytes, aligned to max_align_t; NULL when the budget (or malloc) is exhausted.
 * size 0 gives a unique non-NULL pointer. */
void *tg_arena_alloc(struct tg_arena *arena, size_t size) __attribute__((warn_unused_result));
/* As tg_arena_alloc, but the memory is as it comes: for long arrays that are written before they
 * are read, and seldom as a whole. */
void *tg_arena_alloc_unset(struct tg_arena *arena, size_t size) __attribute__((warn_unused_result));
/* count * size with overflow check. */
void *tg_arena_alloc_array(struct tg_arena *arena, size_t count, size_t size)
    __attribute__((warn_unused_result));
/* Copy of n bytes plus a NUL. */
char *tg_arena_strndup(struct tg_arena *arena, const char *s, size_t n)
    __attribute__((warn_unused_result));
char *tg_arena_strdup(struct tg_arena *arena, const char *s) __attribute__((warn_unused_result));
char *tg_arena_printf(struct tg_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), warn_unused_result));

/* Bytes taken from the heap so far, overhead included. */
size_t tg_arena_used(const struct tg_arena *arena);
/* Bytes that the budget still allows to take from the heap: for buffers outside the arena whose
 * content ends in it. */
size_t tg_arena_left(const struct tg_arena *arena);
bool tg_arena_exhausted(const struct tg_arena *arena);
/* Test seam: let the nth allocation from now (1 = the next) and all after it fail; 0 turns it off.
 */
void tg_arena_fail_after(struct tg_arena *arena, size_t nth);

/* Runs fn(data) when the arena is reset or freed. Returns 0 or -1 (budget exhausted, fn not
 * registered). */
int tg_arena_on_reset(struct tg_arena *arena, void (*fn)(void *data), void *data);

static inline void tg_cleanup_arena(struct tg_arena **arena)
{
    tg_arena_free(*arena);
}
#define TG_AUTOARENA __attribute__((cleanup(tg_cleanup_arena)))

#endif
