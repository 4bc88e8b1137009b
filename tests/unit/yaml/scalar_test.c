/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/yaml/scalar.h"

static void test_plain_scalars_have_the_kind_of_the_core_schema(void **state)
{
    static const struct {
        const char *text;
        enum tg_json_kind kind;
        const char *number;
    } cases[] = {
        {"", TG_JSON_NULL, ""},
        {"~", TG_JSON_NULL, ""},
        {"null", TG_JSON_NULL, ""},
        {"nULL", TG_JSON_STRING, ""},
        {"true", TG_JSON_BOOL, ""},
        {"FALSE", TG_JSON_BOOL, ""},
        {"yes", TG_JSON_STRING, ""},
        {"off", TG_JSON_STRING, ""},
        {"0", TG_JSON_NUMBER, "0"},
        {"-0", TG_JSON_NUMBER, "-0"},
        {"+12", TG_JSON_NUMBER, "12"},
        {"-12", TG_JSON_NUMBER, "-12"},
        {"1.50", TG_JSON_NUMBER, "1.50"},
        {".5", TG_JSON_NUMBER, "0.5"},
        {"-.5e-3", TG_JSON_NUMBER, "-0.5e-3"},
        {"1.", TG_JSON_NUMBER, "1"},
        {"1.e5", TG_JSON_NUMBER, "1e5"},
        {"1E+9", TG_JSON_NUMBER, "1E+9"},
        {"0x1F", TG_JSON_NUMBER, "31"},
        {"0o17", TG_JSON_NUMBER, "15"},
        {"0xffffffffffffffff", TG_JSON_NUMBER, "18446744073709551615"},
        {"0x", TG_JSON_STRING, ""},
        {"0o8", TG_JSON_STRING, ""},
        {"-0x1", TG_JSON_STRING, ""},
        {"1Gi", TG_JSON_STRING, ""},
        {"1_000", TG_JSON_STRING, ""},
        {"1:30", TG_JSON_STRING, ""},
        {".", TG_JSON_STRING, ""},
        {"-", TG_JSON_STRING, ""},
        {"+", TG_JSON_STRING, ""},
        {"1e", TG_JSON_STRING, ""},
        {"e1", TG_JSON_STRING, ""},
        {".e1", TG_JSON_STRING, ""},
        {"1e+", TG_JSON_STRING, ""},
        {"1.2.3", TG_JSON_STRING, ""},
        {"2026-11-30", TG_JSON_STRING, ""},
        {"99999999999999999999999", TG_JSON_NUMBER, "99999999999999999999999"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_buf number TG_AUTOBUF = TG_BUF_INIT(100);
        struct tg_yaml_scalar scalar;

        assert_null(tg_yaml_scalar_resolve(cases[i].text, strlen(cases[i].text), &scalar, &number));
        if (scalar.kind != cases[i].kind)
            print_error("%s\n", cases[i].text);
        assert_int_equal(scalar.kind, cases[i].kind);
        assert_string_equal(tg_buf_str(&number), cases[i].number);
    }
}

static void test_numbers_that_readers_disagree_about_are_refused(void **state)
{
    static const char *const cases[] = {"0644", "-012",  "00",   "01.5",
                                        ".inf", "-.INF", ".NaN", "0x10000000000000000"};

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_buf number TG_AUTOBUF = TG_BUF_INIT(100);
        struct tg_yaml_scalar scalar;

        assert_non_null(tg_yaml_scalar_resolve(cases[i], strlen(cases[i]), &scalar, &number));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_scalars_have_the_kind_of_the_core_schema),
        cmocka_unit_test(test_numbers_that_readers_disagree_about_are_refused),
    };

    return cmocka_run_group_tests_name("scalar", tests, NULL, NULL);
}
