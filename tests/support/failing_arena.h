/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out: the nth allocation from any arena with a budget fails, as if the budget
 * were used up by then. For tests that are linked with tangram_failing_arena (the linker leads
 * their calls here, --wrap); arenas without a budget never fail. Included by one file of a test.
 */
#ifndef TG_TESTS_SUPPORT_FAILING_ARENA_H
#define TG_TESTS_SUPPORT_FAILING_ARENA_H

#include <execinfo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/vec.h"

/* An allocation that came by one chain of calls: from main to the arena, every step the same. */
struct failing_arena_site {
    uint64_t chain;     /* hash of the return addresses */
    size_t first, last; /* which allocations since failing_arena_record */
};

static struct {
    size_t calls; /* since the last failing_arena_start */
    size_t nth;   /* that fails; 0: none */
    bool recording;
    TG_VEC(struct failing_arena_site) sites;
} failing_arena;

static inline void failing_arena_start(size_t nth)
{
    failing_arena.calls = 0;
    failing_arena.nth = nth;
}

/* Lets none fail, and takes down the sites, for a course that is too long to be repeated for each
 * allocation: failing_arena.sites, until failing_arena_forget. */
static inline void failing_arena_record(void)
{
    failing_arena_start(0);
    failing_arena.recording = true;
}

static inline void failing_arena_forget(void)
{
    TG_VEC_DONE(&failing_arena.sites);
}

static inline void failing_arena_note(void)
{
    void *addresses[96];
    int n = backtrace(addresses, 96);
    uint64_t chain = 14695981039346656037u; /* FNV-1a, by addresses */
    size_t at = 0;

    for (int i = 0; i < n; i++)
        chain = (chain ^ (uintptr_t)addresses[i]) * 1099511628211u;
    while (at < failing_arena.sites.n && failing_arena.sites.items[at].chain != chain)
        at++;
    if (at == failing_arena.sites.n)
        *TG_VEC_PUSH(&failing_arena.sites) =
            (struct failing_arena_site){.chain = chain, .first = failing_arena.calls};
    failing_arena.sites.items[at].last = failing_arena.calls;
}

/* True if the allocation that was to fail came. */
static inline bool failing_arena_stop(void)
{
    bool came = failing_arena.nth > 0 && failing_arena.calls >= failing_arena.nth;

    failing_arena.nth = 0;
    failing_arena.recording = false;
    return came;
}

void *__real_tg_arena_alloc(struct tg_arena *arena, size_t size);

/* Makes the arena as it is after the failure: exhausted. */
static inline bool failing_arena_fails(struct tg_arena *arena)
{
    if (tg_arena_left(arena) > SIZE_MAX / 2)
        return false;
    failing_arena.calls++;
    if (failing_arena.recording)
        failing_arena_note();
    if (failing_arena.calls != failing_arena.nth)
        return false;
    tg_arena_fail_after(arena, 1);
    if (__real_tg_arena_alloc(arena, 1) != NULL)
        abort();
    tg_arena_fail_after(arena, 0);
    return true;
}

void *__wrap_tg_arena_alloc(struct tg_arena *arena, size_t size);
void *__wrap_tg_arena_alloc(struct tg_arena *arena, size_t size)
{
    return failing_arena_fails(arena) ? NULL : __real_tg_arena_alloc(arena, size);
}

void *__real_tg_arena_alloc_array(struct tg_arena *arena, size_t count, size_t size);
void *__wrap_tg_arena_alloc_array(struct tg_arena *arena, size_t count, size_t size);
void *__wrap_tg_arena_alloc_array(struct tg_arena *arena, size_t count, size_t size)
{
    return failing_arena_fails(arena) ? NULL : __real_tg_arena_alloc_array(arena, count, size);
}

char *__real_tg_arena_strndup(struct tg_arena *arena, const char *s, size_t n);
char *__wrap_tg_arena_strndup(struct tg_arena *arena, const char *s, size_t n);
char *__wrap_tg_arena_strndup(struct tg_arena *arena, const char *s, size_t n)
{
    return failing_arena_fails(arena) ? NULL : __real_tg_arena_strndup(arena, s, n);
}

char *__real_tg_arena_strdup(struct tg_arena *arena, const char *s);
char *__wrap_tg_arena_strdup(struct tg_arena *arena, const char *s);
char *__wrap_tg_arena_strdup(struct tg_arena *arena, const char *s)
{
    return failing_arena_fails(arena) ? NULL : __real_tg_arena_strdup(arena, s);
}

char *__wrap_tg_arena_printf(struct tg_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *__wrap_tg_arena_printf(struct tg_arena *arena, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    char *copy;
    int n;

    if (failing_arena_fails(arena))
        return NULL;
    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        abort();
    copy = __real_tg_arena_strndup(arena, text, (size_t)n);
    free(text);
    return copy;
}

#endif
