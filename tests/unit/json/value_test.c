/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/value.h"
#include "tests/support/test_arena.h"

static struct tg_json *parse(const char *json)
{
    struct tg_json *v = NULL;

    assert_int_equal(tg_json_parse(json, strlen(json), arena, &v, NULL), 0);
    return v;
}

static void test_trees_keep_order_and_the_text_of_numbers(void **state)
{
    static const char json[] = "{\"b\":[1.50,-0,1e400,\"\\u003c\"],\"a\":{\"t\":true,\"f\":false,"
                               "\"n\":null},\"\":[],\"o\":{}}";
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1000);
    struct tg_json *v = parse(json);
    int64_t number = 0;

    (void)state;
    assert_int_equal(v->n, 4);
    assert_string_equal(v->keys[0], "b");
    assert_string_equal(tg_json_get(v, "b")->items[2]->text, "1e400");
    assert_string_equal(tg_json_string(tg_json_get(v, "b")->items[3]), "<");
    assert_true(tg_json_get(tg_json_get(v, "a"), "t")->boolean);
    assert_null(tg_json_get(tg_json_get(v, "no"), "t"));
    assert_null(tg_json_string(v));
    assert_int_equal(tg_json_i64(tg_json_get(v, "b")->items[1], &number), 0);
    assert_int_equal(tg_json_i64(tg_json_get(v, "b")->items[0], &number), -1);
    assert_int_equal(tg_json_i64(tg_json_get(v, "b")->items[3], &number), -1);
    assert_int_equal(tg_json_write(v, &out), 0);
    assert_string_equal(out.data, json);
}

static void test_equality_ignores_the_order_of_keys_only(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"{\"a\":1,\"b\":[{}]}", "{\"b\":[{}],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1.0}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"[1,2]", "[2,1]", false},
        {"[]", "{}", false},
        {"\"1\"", "1", false},
        {"null", "false", false},
        {"true", "false", false},
        {"{}", "{}", true},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++)
        assert_int_equal(tg_json_equal(parse(cases[i].a), parse(cases[i].b)), cases[i].equal);
}

static void test_hostile_trees_are_refused(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"a\":{\"b\":1,\"b\":2}}", "a: duplicate key \"b\""},
        {"[\"\\u0000\"]", "[0]: a string with a NUL character"},
        {"{\"\\u0000\":1}", "a key with a NUL character"},
        {"[1 2]", "not JSON"},
        {"1 2", "not JSON"},
        {"/* */ 1", "comment"},
        {"[[\"\\ud800\"]]", "[0][0]: a string with half a surrogate pair"},
    };
    char deep[200];
    struct tg_error err;
    struct tg_json *v;

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        assert_int_equal(tg_json_parse(cases[i].json, strlen(cases[i].json), arena, &v, &err),
                         -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, cases[i].message));
    }
    memset(deep, '[', sizeof(deep));
    assert_int_equal(tg_json_parse(deep, 65, arena, &v, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "nested deeper than 64 levels"));
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    static const char json[] = "{\"a\":[1,{\"b\":\"c\"}]}";
    size_t nth = 1;

    (void)state;
    for (;; nth++) {
        struct tg_arena *failing TG_AUTOARENA = tg_arena_new(1 << 20);
        struct tg_json *v = NULL;
        int rc;

        tg_arena_fail_after(failing, nth);
        rc = tg_json_parse(json, sizeof(json) - 1, failing, &v, NULL);
        if (rc == 0)
            break;
        assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
        assert_null(v);
    }
    assert_int_equal(nth, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trees_keep_order_and_the_text_of_numbers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_equality_ignores_the_order_of_keys_only, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_trees_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_failed_allocation_is_an_error, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
