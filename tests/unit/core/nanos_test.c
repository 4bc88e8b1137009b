/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/cleanup.h"
#include "controller/core/model/nanos.h"
#include "tests/unit/core/world.h"

static __int128 nanos(const char *text)
{
    struct tg_error err = TG_ERROR_INIT;
    __int128 value = 0;

    if (tg_nanos_parse(text, &value, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return value;
}

static void amounts_are_exact_down_to_the_finest_unit(void **state)
{
    (void)state;
    assert_true(nanos("1") == TG_NANOS_ONE);
    assert_true(nanos("1n") == 1);
    assert_true(nanos("-1500m") == -3 * TG_NANOS_ONE / 2);
    assert_true(nanos("80Gi") == 80 * ((__int128)1 << 30) * TG_NANOS_ONE);
    assert_true(nanos("0.1") * 3 == nanos("0.3"));
}

/* Those that are read without the grammar, and those just beyond. */
static void plain_digits_mean_what_the_grammar_says(void **state)
{
    static const char *const texts[] = {"0",         "7",          "007", "42",
                                        "999999999", "1000000000", "1.",  "1m",
                                        "12k",       "123456789",  "+5",  "000000000000001"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tg_quantity quantity;

        assert_int_equal(tg_quantity_parse(texts[i], &quantity, NULL), 0);
        assert_true(nanos(texts[i]) == tg_nanos_of(&quantity));
    }
    assert_true(tg_nanos_parse("", &(__int128){0}, NULL) < 0);
    assert_true(tg_nanos_parse("1 ", &(__int128){0}, NULL) < 0);
}

static void what_is_finer_is_rounded_away_from_zero(void **state)
{
    struct tg_quantity fine = {.mantissa = 101, .scale = -11};

    (void)state;
    assert_true(tg_nanos_of(&fine) == 2);
    fine.mantissa = -101;
    assert_true(tg_nanos_of(&fine) == -2);
}

static void what_is_larger_than_any_real_amount_ends_at_the_limit(void **state)
{
    struct tg_error err = TG_ERROR_INIT;
    __int128 sum = 0, unused;

    (void)state;
    assert_true(nanos("1e1000") == TG_NANOS_MAX);
    assert_true(nanos("-1e1000") == -TG_NANOS_MAX);
    assert_true(nanos("9223372036854775807") < TG_NANOS_MAX);
    for (unsigned i = 0; i < 1U << 20; i++)
        sum += TG_NANOS_MAX;
    assert_true(sum > TG_NANOS_MAX);
    assert_int_equal(tg_nanos_parse("12parsecs", &unused, &err), -TG_INVALID_ARGUMENT);
}

static void whole_units_are_rounded_up(void **state)
{
    (void)state;
    assert_true(tg_nanos_units(nanos("1500m")) == 2);
    assert_true(tg_nanos_units(nanos("2")) == 2);
    assert_true(tg_nanos_units(nanos("-1500m")) == -2);
    assert_true(tg_nanos_units(0) == 0);
}

static void an_amount_is_printed_as_it_was_read(void **state)
{
    static const char *const texts[] = {"0", "1", "4Gi", "1536Mi", "250m"};

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        struct tg_quantity read, back;
        char text[TG_QUANTITY_TEXT];

        assert_int_equal(tg_quantity_parse(texts[i], &read, NULL), 0);
        back = tg_nanos_quantity(tg_nanos_of(&read), read.format);
        assert_int_equal(tg_quantity_format(&back, text, sizeof(text)), 0);
        assert_string_equal(text, texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_exact_down_to_the_finest_unit),
        cmocka_unit_test(plain_digits_mean_what_the_grammar_says),
        cmocka_unit_test(what_is_finer_is_rounded_away_from_zero),
        cmocka_unit_test(what_is_larger_than_any_real_amount_ends_at_the_limit),
        cmocka_unit_test(whole_units_are_rounded_up),
        cmocka_unit_test(an_amount_is_printed_as_it_was_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
