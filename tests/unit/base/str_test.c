/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static void null_is_a_string_of_its_own(void **state)
{
    (void)state;
    assert_true(tg_streq(NULL, NULL));
    assert_false(tg_streq(NULL, ""));
    assert_false(tg_streq("", NULL));
    assert_true(tg_streq("a", "a"));
    assert_true(tg_strcmp(NULL, "") < 0);
    assert_true(tg_strcmp("", NULL) > 0);
    assert_int_equal(tg_strcmp(NULL, NULL), 0);
    assert_true(tg_strcmp("a", "b") < 0);
    assert_string_equal(tg_or(NULL, "x"), "x");
    assert_string_equal(tg_or("", "x"), "x");
    assert_string_equal(tg_or("y", "x"), "y");
}

static void prefixes_and_suffixes(void **state)
{
    (void)state;
    assert_true(tg_has_prefix("tangram.dev/gang", "tangram.dev/"));
    assert_true(tg_has_prefix("a", ""));
    assert_false(tg_has_prefix("a", "ab"));
    assert_false(tg_has_prefix(NULL, ""));
    assert_true(tg_has_suffix("a.yaml", ".yaml"));
    assert_true(tg_has_suffix("a", ""));
    assert_false(tg_has_suffix("l", ".yaml"));
    assert_false(tg_has_suffix(NULL, ""));
}

struct number_case {
    const char *text;
    bool is_signed, is_unsigned;
    int64_t as_signed;
    uint64_t as_unsigned;
};

static void numbers_are_whole_strict_and_range_checked(void **state)
{
    static const struct number_case cases[] = {
        {"0", true, true, 0, 0},
        {"-0", true, false, 0, 0},
        {"007", true, true, 7, 7},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", false, true, 0, UINT64_C(9223372036854775808)},
        {"-9223372036854775808", true, false, INT64_MIN, 0},
        {"-9223372036854775809", false, false, 0, 0},
        {"18446744073709551615", false, true, 0, UINT64_MAX},
        {"18446744073709551616", false, false, 0, 0},
        {"99999999999999999999999999", false, false, 0, 0},
        {"", false, false, 0, 0},
        {"-", false, false, 0, 0},
        {"+1", false, false, 0, 0},
        {" 1", false, false, 0, 0},
        {"1 ", false, false, 0, 0},
        {"1x", false, false, 0, 0},
        {"--1", false, false, 0, 0},
        {"0x10", false, false, 0, 0},
        {"1e3", false, false, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        const struct number_case *c = &cases[i];
        int64_t s = 0;
        uint64_t u = 0;

        assert_int_equal(tg_parse_i64(c->text, strlen(c->text), &s), c->is_signed ? 0 : -1);
        assert_int_equal(s, c->as_signed);
        assert_int_equal(tg_parse_u64(c->text, strlen(c->text), &u), c->is_unsigned ? 0 : -1);
        assert_int_equal(u, c->as_unsigned);
    }
}

static void numbers_stop_at_the_given_length(void **state)
{
    int64_t value = 0;

    (void)state;
    assert_int_equal(tg_parse_i64("1234", 2, &value), 0);
    assert_int_equal(value, 12);
}

static void utf8_is_checked_as_the_standard_says(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"", true},
        {"plain", true},
        {"\302\200", true},          /* U+0080, the first of two bytes */
        {"\337\277", true},          /* U+07FF */
        {"\340\240\200", true},      /* U+0800 */
        {"\355\237\277", true},      /* U+D7FF, the last before the surrogates */
        {"\356\200\200", true},      /* U+E000 */
        {"\364\217\277\277", true},  /* U+10FFFF */
        {"\300\257", false},         /* overlong '/' */
        {"\301\277", false},         /* overlong */
        {"\340\237\277", false},     /* overlong */
        {"\360\217\277\277", false}, /* overlong */
        {"\355\240\200", false},     /* U+D800 */
        {"\355\277\277", false},     /* U+DFFF */
        {"\364\220\200\200", false}, /* U+110000 */
        {"\370\210\200\200\200", false},
        {"\200", false},
        {"\302", false},
        {"\342\202", false},
        {"\342\202x", false},
        {"\377", false},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++)
        assert_int_equal(tg_utf8_valid(cases[i].text, strlen(cases[i].text)), cases[i].valid);
}

static void sanitising_replaces_only_the_bad_bytes(void **state)
{
    char text[] = "a\377b\303\244\342\202c\355\240\200";

    (void)state;
    tg_utf8_sanitize(text, sizeof(text) - 1);
    assert_string_equal(text, "a?b\303\244??c???");
    assert_true(tg_utf8_valid(text, sizeof(text) - 1));
}

static void sanitising_any_bytes_gives_valid_utf8(void **state)
{
    unsigned int seed = 7;
    char bytes[24];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = (char)(seed >> 16 | (seed >> 8 & 0x80));
        }
        tg_utf8_sanitize(bytes, sizeof(bytes));
        assert_true(tg_utf8_valid(bytes, sizeof(bytes)));
    }
}

/* Object names are made of these values: they must never change. Vectors published with FNV-1a. */
static void the_hash_is_fnv1a(void **state)
{
    (void)state;
    assert_int_equal(tg_hash64("", 0), UINT64_C(0xcbf29ce484222325));
    assert_int_equal(tg_hash64("a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    assert_int_equal(tg_hash64("foobar", 6), UINT64_C(0x85944171f73967e8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_a_string_of_its_own),
        cmocka_unit_test(prefixes_and_suffixes),
        cmocka_unit_test(numbers_are_whole_strict_and_range_checked),
        cmocka_unit_test(numbers_stop_at_the_given_length),
        cmocka_unit_test(utf8_is_checked_as_the_standard_says),
        cmocka_unit_test(sanitising_replaces_only_the_bad_bytes),
        cmocka_unit_test(sanitising_any_bytes_gives_valid_utf8),
        cmocka_unit_test(the_hash_is_fnv1a),
    };

    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
