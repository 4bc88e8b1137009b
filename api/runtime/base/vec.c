/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/vec.h"

#include "api/runtime/base/mem.h"

#define FIRST_CAPACITY ((size_t)8)

void *tg_vec_grow_(void *items, size_t *capacity, size_t item_size, size_t wanted)
{
    size_t grown = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity * 2;

    if (grown < wanted)
        grown = wanted;
    items = tg_xreallocarray(items, grown, item_size);
    *capacity = grown;
    return items;
}
