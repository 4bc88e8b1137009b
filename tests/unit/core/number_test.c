/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/value.h"
#include "tests/unit/core/world.h"

#define I(v)                                                                                       \
    {                                                                                              \
        .tag = TG_CEL_V_INT, .integer = (v)                                                        \
    }
#define U(v)                                                                                       \
    {                                                                                              \
        .tag = TG_CEL_V_UINT, .uinteger = (v)                                                      \
    }
#define D(v)                                                                                       \
    {                                                                                              \
        .tag = TG_CEL_V_DOUBLE, .real = (v)                                                        \
    }

static const struct {
    struct tg_cel_value a, b;
    int order;
} cases[] = {
    {I(1), I(2), -1},
    {I(-1), U(0), -1},
    {U(UINT64_MAX), I(INT64_MAX), 1},
    {U(5), I(5), 0},
    {I(3), D(3.0), 0},
    {I(3), D(3.5), -1},
    {I(INT64_MAX), D(9.3e18), -1},
    {I(INT64_MIN), D(-9.3e18), 1},
    {U(0), D(-0.5), 1},
    {U(UINT64_MAX), D(1.9e19), -1},
    {U(7), D(7), 0},
    {D(1.5), D(1.25), 1},
    {U(2), U(3), -1},
};

static void numbers_compare_across_types_and_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool unordered = true;

        assert_int_equal(tg_cel_compare_numbers(&cases[i].a, &cases[i].b, &unordered),
                         cases[i].order);
        assert_false(unordered);
        assert_int_equal(tg_cel_compare_numbers(&cases[i].b, &cases[i].a, &unordered),
                         -cases[i].order);
    }
}

static void nan_has_no_order(void **state)
{
    struct tg_cel_value nan = D(__builtin_nan("")), one = I(1);
    bool unordered = false;

    (void)state;
    tg_cel_compare_numbers(&nan, &one, &unordered);
    assert_true(unordered);
    tg_cel_compare_numbers(&one, &nan, &unordered);
    assert_true(unordered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_across_types_and_both_ways),
        cmocka_unit_test(nan_has_no_order),
    };

    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
