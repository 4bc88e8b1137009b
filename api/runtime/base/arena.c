/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define TG_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_ARENA_POISON 1
#endif
#endif

#ifdef TG_ARENA_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

/* Small first block: most lifetimes (a watch event, a request) need little. */
#define FIRST_BLOCK ((size_t)1024)
#define LARGEST_BLOCK ((size_t)64 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct block {
    struct block *next; /* older */
    size_t size;        /* bytes of data */
    size_t used;
    _Alignas(max_align_t) unsigned char data[];
};

struct callback {
    struct callback *next; /* older */
    void (*fn)(void *data);
    void *data;
};

struct tg_arena {
    struct block *newest;
    struct callback *callbacks;
    size_t budget;
    size_t used;       /* bytes taken from the heap for blocks */
    size_t block_size; /* of the next block, header included */
    size_t fail_in;    /* test seam: 1 = every allocation fails, 0 = off */
    bool exhausted;
};

struct tg_arena *tg_arena_new(size_t budget)
{
    struct tg_arena *arena = tg_xcalloc(1, sizeof(*arena));

    arena->budget = budget;
    arena->block_size = FIRST_BLOCK;
    return arena;
}

/* A callback may register another one, so the list is popped and not walked. */
static void run_callbacks(struct tg_arena *arena)
{
    while (arena->callbacks != NULL) {
        struct callback *callback = arena->callbacks;

        arena->callbacks = callback->next;
        callback->fn(callback->data);
    }
}

static void free_block(struct tg_arena *arena, struct block *block)
{
    ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
    arena->used -= sizeof(*block) + block->size;
    free(block);
}

/* Frees all blocks but the oldest one. */
static void free_newer_blocks(struct tg_arena *arena)
{
    while (arena->newest != NULL && arena->newest->next != NULL) {
        struct block *block = arena->newest;

        arena->newest = block->next;
        free_block(arena, block);
    }
}

void tg_arena_free(struct tg_arena *arena)
{
    if (arena == NULL)
        return;
    run_callbacks(arena);
    free_newer_blocks(arena);
    if (arena->newest != NULL)
        free_block(arena, arena->newest);
    free(arena);
}

void tg_arena_reset(struct tg_arena *arena)
{
    run_callbacks(arena);
    free_newer_blocks(arena);
    if (arena->newest != NULL) {
        arena->newest->used = 0;
        ASAN_POISON_MEMORY_REGION(arena->newest->data, arena->newest->size);
    }
    arena->block_size = FIRST_BLOCK;
    arena->exhausted = false;
}

/* A new newest block with room for `need` bytes; false when budget or heap do not allow it. */
static bool add_block(struct tg_arena *arena, size_t need)
{
    size_t left = arena->budget - arena->used;
    size_t total;
    struct block *block;

    if (__builtin_add_overflow(need, sizeof(*block), &total) || total > left)
        return false;
    if (total < arena->block_size)
        total = arena->block_size < left ? arena->block_size : left;
    block = malloc(total);
    if (block == NULL)
        return false;
    if (arena->block_size < LARGEST_BLOCK)
        arena->block_size *= 2;
    block->next = arena->newest;
    block->size = total - sizeof(*block);
    block->used = 0;
    ASAN_POISON_MEMORY_REGION(block->data, block->size);
    arena->newest = block;
    arena->used += total;
    return true;
}

static bool fails_on_request(struct tg_arena *arena)
{
    if (arena->fail_in > 1)
        arena->fail_in--;
    else if (arena->fail_in == 1)
        return true;
    return false;
}

void *tg_arena_alloc_unset(struct tg_arena *arena, size_t size)
{
    size_t rounded;
    unsigned char *p;

    if (size == 0)
        size = 1;
    if (fails_on_request(arena) || __builtin_add_overflow(size, ALIGNMENT - 1, &rounded)) {
        arena->exhausted = true;
        return NULL;
    }
    rounded &= ~(size_t)(ALIGNMENT - 1);
    if (arena->newest == NULL || arena->newest->size - arena->newest->used < rounded) {
        if (!add_block(arena, rounded)) {
            arena->exhausted = true;
            return NULL;
        }
    }
    p = arena->newest->data + arena->newest->used;
    arena->newest->used += rounded;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return p;
}

void *tg_arena_alloc(struct tg_arena *arena, size_t size)
{
    void *p = tg_arena_alloc_unset(arena, size);

    return p == NULL ? NULL : memset(p, 0, size == 0 ? 1 : size);
}

void *tg_arena_alloc_array(struct tg_arena *arena, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        arena->exhausted = true;
        return NULL;
    }
    return tg_arena_alloc(arena, total);
}

char *tg_arena_strndup(struct tg_arena *arena, const char *s, size_t n)
{
    char *copy;

    if (n == SIZE_MAX) {
        arena->exhausted = true;
        return NULL;
    }
    copy = tg_arena_alloc(arena, n + 1);
    if (copy != NULL && n > 0)
        memcpy(copy, s, n);
    return copy;
}

char *tg_arena_strdup(struct tg_arena *arena, const char *s)
{
    return tg_arena_strndup(arena, s, strlen(s));
}

char *tg_arena_printf(struct tg_arena *arena, const char *format, ...)
{
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        arena->exhausted = true;
        return NULL;
    }
    text = tg_arena_alloc(arena, (size_t)n + 1);
    if (text == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

size_t tg_arena_used(const struct tg_arena *arena)
{
    return arena->used;
}

size_t tg_arena_left(const struct tg_arena *arena)
{
    return arena->budget - arena->used;
}

bool tg_arena_exhausted(const struct tg_arena *arena)
{
    return arena->exhausted;
}

void tg_arena_fail_after(struct tg_arena *arena, size_t nth)
{
    arena->fail_in = nth;
}

int tg_arena_on_reset(struct tg_arena *arena, void (*fn)(void *data), void *data)
{
    struct callback *callback = tg_arena_alloc(arena, sizeof(*callback));

    if (callback == NULL)
        return -1;
    callback->fn = fn;
    callback->data = data;
    callback->next = arena->callbacks;
    arena->callbacks = callback;
    return 0;
}
