/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of small integers as words; the memory is the caller's (TG_BITSET_WORDS(n) words). */
#ifndef TG_RUNTIME_BASE_BITSET_H
#define TG_RUNTIME_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_BITSET_WORDS(bits) (((bits) + 63) / 64)

static inline void tg_bitset_set(uint64_t *words, size_t bit)
{
    words[bit / 64] |= UINT64_C(1) << (bit % 64);
}
static inline bool tg_bitset_has(const uint64_t *words, size_t bit)
{
    return ((words[bit / 64] >> (bit % 64)) & 1) != 0;
}

#endif
