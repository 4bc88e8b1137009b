/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kubernetes/client/internal.h"

static void delays_double_up_to_the_bound_and_jitter_adds_at_most_as_much(void **state)
{
    static const int64_t expected[] = {100, 200, 400, 500, 500, 500};

    (void)state;
    for (int round = 0; round < 50; round++) {
        struct tg_backoff backoff = {.first = 100, .most = 500};
        for (size_t i = 0; i < 6; i++)
            assert_in_range(tg_backoff_next(&backoff), expected[i], 2 * expected[i]);
        tg_backoff_reset(&backoff);
        assert_in_range(tg_backoff_next(&backoff), 100, 200);
    }
}

static void any_number_of_failures_stays_within_the_bound(void **state)
{
    struct tg_backoff backoff = {.first = TG_SECOND, .most = 30 * TG_SECOND};

    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_in_range(tg_backoff_next(&backoff), TG_SECOND, 60 * TG_SECOND);
}

static void a_range_of_one_value_is_that_value(void **state)
{
    (void)state;
    assert_int_equal(tg_backoff_spread(7, 7), 7);
    assert_int_equal(tg_backoff_spread(7, 3), 7);
    for (int i = 0; i < 100; i++)
        assert_in_range(tg_backoff_spread(1, 3), 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_double_up_to_the_bound_and_jitter_adds_at_most_as_much),
        cmocka_unit_test(any_number_of_failures_stays_within_the_bound),
        cmocka_unit_test(a_range_of_one_value_is_that_value),
    };
    return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
