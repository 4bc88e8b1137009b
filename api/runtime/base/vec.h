/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed vectors on the heap, for sizes that we decide.
 *   TG_VEC(struct foo) list = {0};  *TG_VEC_PUSH(&list) = (struct foo){...};  TG_VEC_DONE(&list);
 * Growth aborts on exhaustion. Elements move when the vector grows: keep indexes, not pointers.
 */
#ifndef TG_RUNTIME_BASE_VEC_H
#define TG_RUNTIME_BASE_VEC_H

#include <stddef.h>

#define TG_VEC(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n;                                                                                  \
        size_t capacity;                                                                           \
    }

void *tg_vec_grow_(void *items, size_t *capacity, size_t item_size, size_t wanted);

#define TG_VEC_RESERVE(v, wanted)                                                                  \
    ((v)->capacity >= (wanted) ? (void)0                                                           \
                               : (void)((v)->items = tg_vec_grow_((v)->items, &(v)->capacity,      \
                                                                  sizeof(*(v)->items), (wanted))))
/* As RESERVE, but no more than is wanted: for lists that are most of what a process weighs, whose
 * callers want a part of n more at a time. */
#define TG_VEC_RESERVE_EXACTLY(v, wanted)                                                          \
    ((v)->capacity >= (wanted)                                                                     \
         ? (void)0                                                                                 \
         : (void)((v)->items = tg_xreallocarray((v)->items, (wanted), sizeof(*(v)->items)),        \
                  (v)->capacity = (wanted)))
/* Address of a new zeroed last element. */
#define TG_VEC_PUSH(v)                                                                             \
    (TG_VEC_RESERVE(v, (v)->n + 1), memset(&(v)->items[(v)->n], 0, sizeof(*(v)->items)),           \
     &(v)->items[(v)->n++])
#define TG_VEC_CLEAR(v) ((void)((v)->n = 0))
#define TG_VEC_DONE(v) (free((v)->items), (void)((v)->items = NULL, (v)->n = (v)->capacity = 0))

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

#endif
