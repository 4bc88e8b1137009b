/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"

static struct tg_quantity parse(const char *s)
{
    struct tg_quantity q = {0};
    struct tg_error err = TG_ERROR_INIT;

    if (tg_quantity_parse(s, &q, &err) != 0)
        fail_msg("%s", err.message);
    return q;
}

static void assert_text(const struct tg_quantity *q, const char *text)
{
    char out[TG_QUANTITY_TEXT];

    assert_int_equal(tg_quantity_format(q, out, sizeof(out)), 0);
    assert_string_equal(out, text);
}

static void test_canonical_strings_are_those_of_go(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"0Ki", "0"},
        {"-0", "0"},
        {"000", "0"},
        {"0e5", "0"},
        {"1", "1"},
        {"+1", "1"},
        {"-1", "-1"},
        {"001", "1"},
        {"1.", "1"},
        {".5", "500m"},
        {"0.5", "500m"},
        {"1.500", "1500m"},
        {"1000", "1k"},
        {"1500", "1500"},
        {"100k", "100k"},
        {"1234567", "1234567"},
        {"1000000n", "1m"},
        {"1000u", "1m"},
        {"1000m", "1"},
        {"1E", "1E"},
        {"1000P", "1E"},
        {"2T", "2T"},
        {"1e3", "1e3"},
        {"1E3", "1e3"},
        {"10e2", "1e3"},
        {"1e4", "10e3"},
        {"12e-4", "1200e-6"},
        {"1e+5", "100e3"},
        {"1e0", "1"},
        {"1e03", "1e3"},
        {"1Ki", "1Ki"},
        {"1024", "1024"},
        {"1024Ki", "1Mi"},
        {"1536Mi", "1536Mi"},
        {"1.5Gi", "1536Mi"},
        {"0.5Ki", "512"},
        {"1023Ki", "1023Ki"},
        {"1.1Ki", "1126400m"},
        {"0.0001Ki", "102400u"},
        {"7Ei", "7Ei"},
        {"8Ei", "9223372036854775807"},
        {"-8Ei", "-9223372036854775807"},
        {"999999999999999999999999999Ti", "9223372036854775807"},
        {"0.1n", "1n"},
        {"1.1n", "2n"},
        {"-1.1n", "-2n"},
        {"1e-10", "1e-9"},
        {"0.0000000001", "1n"},
        {"1e-1000000000", "1e-9"},
        {"0.0000000001Ki", "103n"},
        {"1.0000000000000000000000000001", "1000000001n"},
        {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
        {"1000E", "1e21"},
        {"1e100", "10e99"},
        {"1000000000000000000000000000000000000000000", "1e42"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_quantity q = parse(cases[i][0]);

        assert_text(&q, cases[i][1]);
    }
}

static void test_what_is_no_quantity_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        " ",
        "a",
        "1 ",
        " 1",
        "1i",
        "1ki",
        "1K",
        "1mi",
        "1KiB",
        "1.1.1",
        "1,5",
        "--1",
        "+-1",
        "1e",
        "1e+",
        "1e-",
        "1e1.5",
        "1eE5",
        "Ki",
        ".",
        "-",
        "+",
        "e3",
        ".e3",
        "0x10",
        "1_0",
        "NaN",
        "1e+-3",
        "1e++3",
        "1e99999999999999999999",
        "\xc2\xb2",
    };
    struct tg_quantity q = {.mantissa = 7};
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        if (tg_quantity_parse(cases[i], &q, &err) != -TG_INVALID_ARGUMENT)
            fail_msg("%s", cases[i]);
        assert_non_null(strstr(err.message, "is not a quantity"));
    }
    assert_true(q.mantissa == 7);
}

static void test_too_large_or_too_precise_is_out_of_range(void **state)
{
    static const char *const cases[] = {
        "1e10001",
        "1e9223372036854775807",
        "123456789012345678901234567890123456789",
        "123456789012345678901234567890.123456789",
        "99999999999999999999999999999999999999.1",
    };
    struct tg_quantity q;

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++)
        assert_int_equal(tg_quantity_parse(cases[i], &q, NULL), -TG_OUT_OF_RANGE);
    parse("1e10000");
}

static void test_order_is_exact(void **state)
{
    /* Ascending; equal ones in one line. */
    static const char *const rows[][3] = {
        {"-1e10000"},
        {"-1.1n", "-2n"},
        {"-1n"},
        {"0", "0Ki", "-0"},
        {"1n", "0.1n"},
        {"1m", "1000u", "0.001"},
        {"0.999999999"},
        {"1", "1000m", "1e0"},
        {"1.000000001"},
        {"1k", "1000", "1e3"},
        {"1Ki", "1024"},
        {"9223372036854775806"},
        {"9223372036854775807", "8Ei"},
        {"9223372036854775808"},
        {"10E"},
        {"99999999999999999999999999999999999998"},
        {"99999999999999999999999999999999999999"},
        {"1e38"},
        {"1e39"},
        {"12345e9990"},
        {"1e10000", "10e9999"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        for (size_t j = 0; j < TG_ARRAY_SIZE(rows); j++) {
            for (size_t k = 0; k < 9; k++) {
                const char *left = rows[i][k / 3];
                const char *right = rows[j][k % 3];
                struct tg_quantity a;
                struct tg_quantity b;
                int order;

                if (left == NULL || right == NULL)
                    continue;
                a = parse(left);
                b = parse(right);
                order = tg_quantity_cmp(&a, &b);
                assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            }
        }
    }
}

static void test_values_round_away_from_zero_and_saturate(void **state)
{
    static const struct {
        const char *text;
        int64_t value, milli;
    } cases[] = {
        {"0", 0, 0},
        {"1", 1, 1000},
        {"1500m", 2, 1500},
        {"-1500m", -2, -1500},
        {"1n", 1, 1},
        {"-1n", -1, -1},
        {"1.0001", 2, 1001},
        {"80Gi", 85899345920, 85899345920000},
        {"9223372036854775807", INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MAX, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MIN},
        {"-1e30", INT64_MIN, INT64_MIN},
        {"1e10000", INT64_MAX, INT64_MAX},
        {"9223372036854775.807", 9223372036854776, INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_quantity q = parse(cases[i].text);

        assert_true(tg_quantity_value(&q) == cases[i].value);
        assert_true(tg_quantity_milli_value(&q) == cases[i].milli);
    }
}

static void test_sums_are_exact_and_keep_the_format(void **state)
{
    static const char *const cases[][4] = {
        /* a, b, a + b, a - b */
        {"1", "500m", "1500m", "500m"},
        {"1Gi", "1", "1073741825", "1073741823"},
        {"1Gi", "1Gi", "2Gi", "0"},
        {"0", "1Gi", "1Gi", "-1Gi"},
        {"1Gi", "0", "1Gi", "1Gi"},
        {"1e3", "1n", "1000000000001e-9", "999999999999e-9"},
        {"1n", "1E", "1000000000000000000000000001n", "-999999999999999999999999999n"},
        {"96", "96", "192", "0"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_quantity b = parse(cases[i][1]);
        struct tg_quantity sum = parse(cases[i][0]);
        struct tg_quantity difference = sum;

        assert_int_equal(tg_quantity_add(&sum, &b, NULL), 0);
        assert_int_equal(tg_quantity_sub(&difference, &b, NULL), 0);
        assert_text(&sum, cases[i][2]);
        assert_text(&difference, cases[i][3]);
    }
}

static void test_a_sum_that_is_not_exact_is_refused(void **state)
{
    struct tg_quantity a = parse("1e100");
    struct tg_quantity b = parse("1n");
    struct tg_quantity large = parse("99999999999999999999999999999999999999");

    (void)state;
    assert_int_equal(tg_quantity_add(&a, &b, NULL), -TG_OUT_OF_RANGE);
    assert_text(&a, "10e99");
    assert_int_equal(tg_quantity_add(&large, &large, NULL), -TG_OUT_OF_RANGE);
    b = parse("1");
    assert_int_equal(tg_quantity_add(&large, &b, NULL), 0);
    assert_text(&large, "100e36");
    assert_int_equal(tg_quantity_sub(&large, &b, NULL), 0);
    assert_text(&large, "99999999999999999999999999999999999999");
}

/* Their sum has 39 digits, of which the last is 0. */
static void test_what_was_added_can_be_taken_off(void **state)
{
    struct tg_quantity a = parse("99999999999999900000000000000000015637");
    struct tg_quantity b = parse("4000014069918967638425793");
    struct tg_quantity sum = a;

    (void)state;
    assert_int_equal(tg_quantity_add(&sum, &b, NULL), 0);
    assert_true(tg_quantity_cmp(&sum, &a) > 0);
    assert_int_equal(tg_quantity_sub(&sum, &b, NULL), 0);
    assert_int_equal(tg_quantity_cmp(&sum, &a), 0);
}

static void test_format_never_overruns(void **state)
{
    struct tg_quantity q = parse("1Gi");
    char out[4] = "abc";

    (void)state;
    assert_int_equal(tg_quantity_format(&q, out, 3), -1);
    assert_string_equal(out, "abc");
    assert_int_equal(tg_quantity_format(&q, out, 4), 0);
    assert_string_equal(out, "1Gi");
    q = tg_quantity_from_int(4096000, TG_QUANTITY_BINARY_SI);
    assert_text(&q, "4000Ki");
    q = tg_quantity_from_int(INT64_MIN, TG_QUANTITY_DECIMAL_SI);
    assert_text(&q, "-9223372036854775808");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_strings_are_those_of_go),
        cmocka_unit_test(test_what_is_no_quantity_is_refused),
        cmocka_unit_test(test_too_large_or_too_precise_is_out_of_range),
        cmocka_unit_test(test_order_is_exact),
        cmocka_unit_test(test_values_round_away_from_zero_and_saturate),
        cmocka_unit_test(test_sums_are_exact_and_keep_the_format),
        cmocka_unit_test(test_a_sum_that_is_not_exact_is_refused),
        cmocka_unit_test(test_what_was_added_can_be_taken_off),
        cmocka_unit_test(test_format_never_overruns),
    };

    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
