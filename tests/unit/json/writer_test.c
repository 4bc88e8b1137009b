/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/patch.h"

static void test_strings_are_escaped_as_go_escapes_them(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"plain /~'", "\"plain /~'\""},
        {"\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"<a>&", "\"\\u003ca\\u003e\\u0026\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xe2\x80\xa8"
         "b\xe2\x80\xa9",
         "\"a\\u2028b\\u2029\""},
        {"\xff\xc0\x80\xed\xa0\x80x\xc3", "\"??????x?\""},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1000);

        tg_json_quote(&out, cases[i][0]);
        assert_string_equal(out.data, cases[i][1]);
    }
}

static void test_commas_are_placed_by_the_writer(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_json_writer w;

    (void)state;
    tg_json_writer_init(&w, &out);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "left out", NULL);
    tg_jw_kv_string(&w, "s", "x");
    tg_jw_kv_int(&w, "i", INT64_MIN);
    tg_jw_kv_bool(&w, "b", false);
    tg_jw_kv_raw(&w, "r", "[1]");
    tg_jw_kv_raw(&w, "left out too", NULL);
    tg_jw_key(&w, "a");
    tg_jw_begin_array(&w);
    tg_jw_begin_object(&w);
    tg_jw_end_object(&w);
    tg_jw_begin_array(&w);
    tg_jw_null(&w);
    tg_jw_string(&w, NULL);
    tg_jw_end_array(&w);
    tg_jw_int(&w, 7);
    tg_jw_end_array(&w);
    tg_jw_kv_bool(&w, "last", true);
    tg_jw_end_object(&w);
    assert_int_equal(tg_jw_finish(&w, NULL), 0);
    assert_string_equal(out.data, "{\"s\":\"x\",\"i\":-9223372036854775808,\"b\":false,\"r\":[1],"
                                  "\"a\":[{},[null,null],7],\"last\":true}");
}

static void test_a_full_buffer_is_told_at_the_end(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(10);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json_writer w;

    (void)state;
    tg_json_writer_init(&w, &out);
    tg_jw_begin_array(&w);
    for (int i = 0; i < 100; i++)
        tg_jw_string(&w, "<<<<");
    tg_jw_end_array(&w);
    assert_int_equal(tg_jw_finish(&w, &err), -TG_RESOURCE_EXHAUSTED);
    assert_false(err.retry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings_are_escaped_as_go_escapes_them),
        cmocka_unit_test(test_commas_are_placed_by_the_writer),
        cmocka_unit_test(test_a_full_buffer_is_told_at_the_end),
    };

    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
