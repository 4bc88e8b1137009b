/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/bitset.h"

static void each_bit_is_set_alone(void **state)
{
    (void)state;
    assert_int_equal(TG_BITSET_WORDS(130), 3);
    assert_int_equal(TG_BITSET_WORDS(128), 2);
    for (size_t bit = 0; bit < 130; bit++) {
        uint64_t words[TG_BITSET_WORDS(130)] = {0};

        tg_bitset_set(words, bit);
        for (size_t other = 0; other < 130; other++)
            assert_int_equal(tg_bitset_has(words, other), other == bit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_is_set_alone),
    };

    return cmocka_run_group_tests_name("bitset", tests, NULL, NULL);
}
