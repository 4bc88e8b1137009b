/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/decimal.h"

#include <math.h>

#include "tests/unit/core/world.h"

struct fixture {
    struct tg_arena *arena;
    struct tg_cel_scratch scratch;
};

static int open_scratch(void **state)
{
    static struct fixture f;

    f.arena = tg_arena_new(TG_ARENA_UNLIMITED);
    tg_cel_scratch_on(&f.scratch, f.arena);
    *state = &f;
    return 0;
}

static int close_scratch(void **state)
{
    struct fixture *f = *state;

    tg_arena_free(f->arena);
    return 0;
}

/* "-12.5" */
static struct tg_cel_decimal read_text(struct fixture *f, const char *text)
{
    const char *whole = text + (*text == '-' ? 1 : 0), *point = strchrnul(whole, '.');
    const char *fraction = *point == '.' ? point + 1 : point;
    struct tg_cel_decimal d;

    assert_int_equal(tg_cel_decimal_read(&f->scratch, whole, (size_t)(point - whole), fraction,
                                         strlen(fraction), &d),
                     TG_CEL_DECIMAL_OK);
    d.negative = *text == '-' && d.n > 0;
    return d;
}

static void assert_is(struct fixture *f, const struct tg_cel_decimal *d, const char *text)
{
    struct tg_cel_decimal wanted = read_text(f, text);

    if (tg_cel_decimal_cmp(d, &wanted) != 0 || tg_cel_decimal_cmp(&wanted, d) != 0)
        fail_msg("the number is not %s", text);
}

#define NINES "99999999999999999999999999999999999999999999999999"

static void numbers_of_any_length_have_an_order(void **state)
{
    static const char *const rising[] = {
        "-1" NINES,
        "-" NINES ".5",
        "-" NINES,
        "-1000000000",
        "-999999999.999999999",
        "-1",
        "-0.000000001",
        "0",
        "0.0000000001",
        "0.5",
        "0.51",
        "1",
        "999999999",
        "1000000000",
        "1000000000.000000001",
        NINES,
        NINES ".1",
        "1" NINES,
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rising) / sizeof(rising[0]); i++) {
        for (size_t j = 0; j < sizeof(rising) / sizeof(rising[0]); j++) {
            struct tg_cel_decimal a = read_text(f, rising[i]), b = read_text(f, rising[j]);

            assert_int_equal(tg_cel_decimal_cmp(&a, &b), (i > j) - (i < j));
        }
    }
}

static void a_huge_exponent_costs_nothing_to_compare(void **state)
{
    uint32_t left[TG_CEL_DECIMAL_SMALL], right[TG_CEL_DECIMAL_SMALL];
    struct tg_cel_decimal a = tg_cel_decimal_of(1, 2000000000, left);
    struct tg_cel_decimal b = tg_cel_decimal_of(INT64_MIN, 0, right);

    (void)state;
    assert_int_equal(tg_cel_decimal_cmp(&a, &b), 1);
    assert_int_equal(tg_cel_decimal_cmp(&b, &a), -1);
    a = tg_cel_decimal_of(-1, 2000000000, left);
    assert_int_equal(tg_cel_decimal_cmp(&a, &b), -1);
}

static void sums_and_differences_are_exact(void **state)
{
    static const struct {
        const char *a, *b, *sum, *difference;
    } cases[] = {
        {"1", "2", "3", "-1"},
        {NINES, "1", "100000000000000000000000000000000000000000000000000",
         "99999999999999999999999999999999999999999999999998"},
        {"1000000000000000000000000000", "0.000000001", "1000000000000000000000000000.000000001",
         "999999999999999999999999999.999999999"},
        {"-5", "-7", "-12", "2"},
        {"-5", "5", "0", "-10"},
        {"0", "-" NINES, "-" NINES, NINES},
        {"123456789123456789", "0", "123456789123456789", "123456789123456789"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_cel_decimal a = read_text(f, cases[i].a), b = read_text(f, cases[i].b), r;

        assert_int_equal(tg_cel_decimal_add(&f->scratch, &a, &b, false, &r), TG_CEL_DECIMAL_OK);
        assert_is(f, &r, cases[i].sum);
        assert_int_equal(tg_cel_decimal_add(&f->scratch, &b, &a, false, &r), TG_CEL_DECIMAL_OK);
        assert_is(f, &r, cases[i].sum);
        assert_int_equal(tg_cel_decimal_add(&f->scratch, &a, &b, true, &r), TG_CEL_DECIMAL_OK);
        assert_is(f, &r, cases[i].difference);
    }
}

static void what_is_cut_off_is_rounded_away_from_zero(void **state)
{
    static const struct {
        const char *text, *rounded;
    } cases[] = {
        {"1.0000000001", "1.000000001"},
        {"-1.0000000001", "-1.000000001"},
        {"0.00000000000000000000000000000000000001", "0.000000001"},
        {"-0.00000000000000000000000000000000000001", "-0.000000001"},
        {"999999999.9999999999", "1000000000"},
        {"5.123456789000000000000", "5.123456789"},
        {"7", "7"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_cel_decimal d = read_text(f, cases[i].text);

        assert_int_equal(tg_cel_decimal_rescale(&f->scratch, &d, -9), TG_CEL_DECIMAL_OK);
        assert_int_equal(d.scale, -9);
        assert_is(f, &d, cases[i].rounded);
    }
}

static void powers_of_two_are_exact(void **state)
{
    struct fixture *f = *state;
    struct tg_cel_decimal d = read_text(f, "123456789012345678901234567890");

    assert_int_equal(tg_cel_decimal_shift(&f->scratch, &d, 60), TG_CEL_DECIMAL_OK);
    assert_is(f, &d, "142335986942043633765524427376410106750713200640");
}

static void more_digits_than_the_bound_are_out_of_range(void **state)
{
    struct fixture *f = *state;
    struct tg_cel_decimal d = read_text(f, "1"), ten = read_text(f, "10"), sum;
    char digits[TG_CEL_DECIMAL_DIGITS + 1];

    memset(digits, '9', sizeof(digits));
    assert_int_equal(tg_cel_decimal_read(&f->scratch, digits, sizeof(digits), "", 0, &sum),
                     TG_CEL_DECIMAL_RANGE);
    assert_int_equal(tg_cel_decimal_read(&f->scratch, digits, TG_CEL_DECIMAL_DIGITS, "", 0, &sum),
                     TG_CEL_DECIMAL_OK);
    assert_int_equal(tg_cel_decimal_add(&f->scratch, &sum, &d, false, &d), TG_CEL_DECIMAL_RANGE);
    ten.scale = TG_CEL_DECIMAL_DIGITS;
    assert_int_equal(tg_cel_decimal_rescale(&f->scratch, &ten, 0), TG_CEL_DECIMAL_RANGE);
}

static void an_exhausted_budget_is_reported(void **state)
{
    struct fixture *f = *state;
    enum tg_cel_decimal_rc rc = TG_CEL_DECIMAL_MEMORY;

    for (size_t nth = 1; rc != TG_CEL_DECIMAL_OK; nth++) {
        struct tg_cel_decimal d;

        assert_true(nth < 10);
        tg_arena_fail_after(f->arena, nth);
        rc = tg_cel_decimal_read(&f->scratch, NINES, 50, "5", 1, &d);
        if (rc == TG_CEL_DECIMAL_OK)
            rc = tg_cel_decimal_shift(&f->scratch, &d, 10);
        if (rc == TG_CEL_DECIMAL_OK)
            rc = tg_cel_decimal_rescale(&f->scratch, &d, 0);
        if (rc == TG_CEL_DECIMAL_OK)
            rc = tg_cel_decimal_add(&f->scratch, &d, &d, false, &d);
        assert_true(rc == TG_CEL_DECIMAL_OK || rc == TG_CEL_DECIMAL_MEMORY);
    }
}

static void the_nearest_double_is_found(void **state)
{
    struct fixture *f = *state;
    struct tg_cel_decimal d = read_text(f, "9007199254740993"); /* between two of them */

    assert_true(tg_cel_decimal_unscaled(&d) == 9007199254740992.0);
    d = read_text(f, "-123456789012345678901234567890");
    assert_true(tg_cel_decimal_unscaled(&d) == -123456789012345678901234567890.0);
    d = read_text(f, NINES NINES NINES NINES NINES NINES NINES);
    assert_true(isinf(tg_cel_decimal_unscaled(&d)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_of_any_length_have_an_order, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(a_huge_exponent_costs_nothing_to_compare, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(sums_and_differences_are_exact, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(what_is_cut_off_is_rounded_away_from_zero, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(powers_of_two_are_exact, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(more_digits_than_the_bound_are_out_of_range, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(an_exhausted_budget_is_reported, open_scratch,
                                        close_scratch),
        cmocka_unit_test_setup_teardown(the_nearest_double_is_found, open_scratch, close_scratch),
    };

    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
