/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/bitset.h"

/* The bits of word `i` that belong to a set of `bits` bits. */
static uint64_t valid_bits(size_t bits, size_t i)
{
    size_t rest = bits - i * 64;

    return rest >= 64 ? UINT64_MAX : (UINT64_C(1) << rest) - 1;
}

size_t tg_bitset_count(const uint64_t *words, size_t bits)
{
    size_t count = 0;

    for (size_t i = 0; i < TG_BITSET_WORDS(bits); i++)
        count += (size_t)__builtin_popcountll(words[i] & valid_bits(bits, i));
    return count;
}

size_t tg_bitset_next(const uint64_t *words, size_t bits, size_t from)
{
    uint64_t mask = UINT64_MAX << (from % 64);

    for (size_t i = from / 64; i < TG_BITSET_WORDS(bits); i++) {
        uint64_t word = words[i] & mask & valid_bits(bits, i);

        if (word != 0)
            return i * 64 + (size_t)__builtin_ctzll(word);
        mask = UINT64_MAX;
    }
    return bits;
}
