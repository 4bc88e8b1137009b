/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "api/runtime/base/bitset.h"

static void bits_are_set_and_cleared_alone(void **state)
{
    uint64_t words[TG_BITSET_WORDS(130)] = {0};

    (void)state;
    assert_int_equal(TG_BITSET_WORDS(130), 3);
    assert_int_equal(TG_BITSET_WORDS(128), 2);
    for (size_t bit = 0; bit < 130; bit++) {
        tg_bitset_set(words, bit);
        for (size_t other = 0; other < 130; other++)
            assert_int_equal(tg_bitset_has(words, other), other == bit);
        tg_bitset_clear(words, bit);
    }
}

static void count_ignores_bits_beyond_the_end(void **state)
{
    uint64_t words[3];

    (void)state;
    memset(words, 0xff, sizeof(words));
    for (size_t bits = 0; bits <= 192; bits++)
        assert_int_equal(tg_bitset_count(words, bits), bits);
}

static void next_visits_each_set_bit_once(void **state)
{
    static const size_t set[] = {0, 1, 63, 64, 100, 127, 128, 190};
    uint64_t words[3] = {0};
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
        tg_bitset_set(words, set[i]);
    for (size_t bit = tg_bitset_next(words, 191, 0); bit < 191;
         bit = tg_bitset_next(words, 191, bit + 1))
        assert_int_equal(bit, set[found++]);
    assert_int_equal(found, 8);
}

static void next_looks_at_the_low_bits_of_later_words(void **state)
{
    uint64_t words[3] = {0};

    (void)state;
    tg_bitset_set(words, 5);
    tg_bitset_set(words, 130);
    assert_int_equal(tg_bitset_next(words, 192, 6), 130);
}

static void next_is_the_size_when_nothing_is_left(void **state)
{
    uint64_t words[2] = {0};

    (void)state;
    tg_bitset_set(words, 70);
    assert_int_equal(tg_bitset_next(words, 70, 0), 70); /* bit 70 is outside */
    assert_int_equal(tg_bitset_next(words, 71, 71), 71);
    assert_int_equal(tg_bitset_next(words, 71, 500), 71);
    assert_int_equal(tg_bitset_next(words, 0, 0), 0);
    assert_int_equal(tg_bitset_next(words, 71, 70), 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_set_and_cleared_alone),
        cmocka_unit_test(count_ignores_bits_beyond_the_end),
        cmocka_unit_test(next_visits_each_set_bit_once),
        cmocka_unit_test(next_looks_at_the_low_bits_of_later_words),
        cmocka_unit_test(next_is_the_size_when_nothing_is_left),
    };

    return cmocka_run_group_tests_name("bitset", tests, NULL, NULL);
}
