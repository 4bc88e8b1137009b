/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation of small objects whose size we decide: abort on exhaustion, so that there are no
 * untested branches. Anything whose size an outsider decides belongs into a budgeted arena
 * (arena.h) or a bounded buffer (buf.h).
 */
#ifndef TG_RUNTIME_BASE_MEM_H
#define TG_RUNTIME_BASE_MEM_H

#include <stddef.h>

void *tg_xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *tg_xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *tg_xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
/* count * size, checked for overflow (aborts). */
void *tg_xreallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *tg_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *tg_xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *tg_xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#endif
