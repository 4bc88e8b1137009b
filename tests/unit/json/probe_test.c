/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/json/probe.h"

struct found {
    char type[8], name[8], version[8];
    struct tg_str object, list;
};

static int probe(const char *json, struct found *found, struct tg_error *err)
{
    const struct tg_json_place places[] = {
        {.path = {"type"}, .text = found->type, .size = sizeof(found->type)},
        {.path = {"object"}, .raw = &found->object},
        {.path = {"object", "list"}, .raw = &found->list},
        {.path = {"object", "metadata", "name"}, .text = found->name, .size = sizeof(found->name)},
        {.path = {"object", "metadata", "version"},
         .text = found->version,
         .size = sizeof(found->version)},
    };

    memset(found, 'x', sizeof(*found));
    return tg_json_probe(json, strlen(json), places, 5, err);
}

static void assert_found(const char *json, const char *type, const char *name, const char *version,
                         const char *object)
{
    struct found found;

    assert_int_equal(probe(json, &found, NULL), 0);
    assert_string_equal(found.type, type);
    assert_string_equal(found.name, name);
    assert_string_equal(found.version, version);
    assert_int_equal(found.object.n, strlen(object));
    if (found.object.n > 0)
        assert_memory_equal(found.object.p, object, found.object.n);
    else
        assert_null(found.object.p);
}

static void places_are_found_in_any_order_and_nowhere_else(void **state)
{
    (void)state;
    assert_found(
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"version\":\"7\"}}}",
        "ADDED", "a", "7", "{\"metadata\":{\"name\":\"a\",\"version\":\"7\"}}");
    assert_found(
        " { \"object\" : { \"spec\":{\"name\":\"no\"}, \"metadata\" : { \"version\":\"7\" , "
        "\"labels\":{\"name\":\"no\"}, \"name\":\"\\u0061\" }, \"name\":\"no\"} , "
        "\"type\":\"T\" } ",
        "T", "a", "7",
        "{ \"spec\":{\"name\":\"no\"}, \"metadata\" : { \"version\":\"7\" , "
        "\"labels\":{\"name\":\"no\"}, \"name\":\"\\u0061\" }, \"name\":\"no\"}");
    assert_found("{\"x\":{\"metadata\":{\"name\":\"no\"}},\"metadata\":{\"name\":\"no\"}}", "", "",
                 "", "");
    assert_found("{\"object\":[{\"metadata\":{\"name\":\"no\"}}],\"type\":[\"no\"]}", "", "", "",
                 "[{\"metadata\":{\"name\":\"no\"}}]");
    assert_found("{}", "", "", "", "");
    assert_found("[{\"type\":\"no\"}]", "", "", "", "");
    assert_found("7", "", "", "", "");
}

static void other_kinds_and_what_does_not_fit_is_absent(void **state)
{
    (void)state;
    assert_found("{\"type\":7,\"object\":null}", "", "", "", "");
    assert_found("{\"type\":\"12345678\",\"object\":\"s\"}", "", "", "", "");
    assert_found("{\"type\":\"a\\u0000b\"}", "", "", "", "");
    assert_found("{\"type\":\"1234567\"}", "1234567", "", "", "");
}

static void lists_are_pointed_to_like_objects(void **state)
{
    struct found found;

    (void)state;
    assert_int_equal(probe("{\"object\":{\"list\":[1,[2],{}],\"b\":[3]}}", &found, NULL), 0);
    assert_int_equal(found.list.n, 10);
    assert_memory_equal(found.list.p, "[1,[2],{}]", 10);
}

static void what_is_deep_may_be_odd(void **state)
{
    struct tg_buf json = TG_BUF_INIT(100000);
    struct found found;

    (void)state;
    tg_buf_append_str(&json,
                      "{\"object\":{\"odd\":{\"x\":{\"a\":1,\"a\":2,\"b\":\"\\ud800\xff\"},\"y\":");
    for (int i = 0; i < 9000; i++)
        tg_buf_append_char(&json, '[');
    for (int i = 0; i < 9000; i++)
        tg_buf_append_char(&json, ']');
    tg_buf_append_str(&json, "},\"metadata\":{\"name\":\"a\"}}}");
    assert_int_equal(probe(tg_buf_str(&json), &found, NULL), 0);
    assert_string_equal(found.name, "a");
    assert_int_equal(found.object.n, json.len - strlen("{\"object\":}"));
    tg_buf_done(&json);
}

static void what_is_no_document_or_ambiguous_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "{",
        "{\"type\":\"a\"",
        "{\"type\":\"a\"}x",
        "{\"type\":\"a\",\"type\":\"b\"}",
        "{\"object\":{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}}",
        "{\"type\":\"\xff\"}",
    };
    struct found found;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(probe(cases[i], &found, NULL), -TG_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_found_in_any_order_and_nowhere_else),
        cmocka_unit_test(other_kinds_and_what_does_not_fit_is_absent),
        cmocka_unit_test(lists_are_pointed_to_like_objects),
        cmocka_unit_test(what_is_deep_may_be_odd),
        cmocka_unit_test(what_is_no_document_or_ambiguous_is_refused),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
