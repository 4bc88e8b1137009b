/* SPDX-License-Identifier: Apache-2.0 */
/* A stable sort that takes its scratch from an arena: the C library's may call malloc, and is not
 * stable. */
#ifndef TG_CORE_MODEL_SORT_H
#define TG_CORE_MODEL_SORT_H

#include <stddef.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

/* compare gets two items of the array (not their addresses) and the caller's context. */
typedef int tg_core_compare(const void *a, const void *b, const void *context);

/* Sorts n pointers with a scratch of n more; equal ones keep their order. */
void tg_core_sort_in(const void **items, const void **scratch, size_t n, tg_core_compare *compare,
                     const void *context);
/* The same with scratch from the arena; equal ones keep their order. TG_RESOURCE_EXHAUSTED only. */
int tg_core_sort(const void **items, size_t n, tg_core_compare *compare, const void *context,
                 struct tg_arena *arena, struct tg_error *err);
/* n zeroed items, or TG_RESOURCE_EXHAUSTED with the text every decision uses for it. */
int tg_core_alloc(struct tg_arena *arena, size_t n, size_t size, void *ret, struct tg_error *err);
/* The same, not zeroed: for one item a node, of which few are used. */
int tg_core_alloc_unset(struct tg_arena *arena, size_t n, size_t size, void *ret,
                        struct tg_error *err);

#endif
