/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/yaml/yaml.h"
#include "tests/support/test_arena.h"

static struct tg_json *parse(const char *yaml)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *v = NULL;

    if (tg_yaml_parse(yaml, strlen(yaml), arena, &v, &err) != 0)
        fail_msg("%s: %s", yaml, err.message);
    return v;
}

static void assert_json(const char *yaml, const char *json)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(10000);

    assert_int_equal(tg_json_write(parse(yaml), &out), 0);
    assert_string_equal(out.data, json);
}

static void assert_refused_n(const char *yaml, size_t n, const char *message)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *v = NULL;
    int rc = tg_yaml_parse(yaml, n, arena, &v, &err);

    if (rc != -TG_INVALID_ARGUMENT || strstr(err.message, message) == NULL)
        print_error("%s: %d \"%s\", wanted \"%s\"\n", yaml, rc, err.message, message);
    assert_int_equal(rc, -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, message));
    assert_int_equal(tg_yaml_parse(yaml, n, arena, &v, NULL), -TG_INVALID_ARGUMENT);
}

static void assert_refused(const char *yaml, const char *message)
{
    assert_refused_n(yaml, strlen(yaml), message);
}

static void test_yaml_becomes_the_json_that_it_means(void **state)
{
    (void)state;
    assert_json("apiVersion: tangram.dev/v1alpha1\nkind: Fleet\nnodes:\n- {count: 100, mig: off, "
                "per: {rack: 16}, labels: {}}\n"
                "- count: 2\n  text: |\n    a\n    b\n  folded: >-\n    c\n    "
                "d\nnothing:\nquoted: \"1\\n\"\nsingle: 'true'\nlist: []\n",
                "{\"apiVersion\":\"tangram.dev/"
                "v1alpha1\",\"kind\":\"Fleet\",\"nodes\":[{\"count\":100,\"mig\":\"off\",\"per\":{"
                "\"rack\":16},"
                "\"labels\":{}},{\"count\":2,\"text\":\"a\\nb\\n\",\"folded\":\"c "
                "d\"}],\"nothing\":null,\"quoted\":\"1\\n\",\"single\":\"true\",\"list\":[]}");
    assert_json("{\"json\": [1, 2.50, true, null, \"x\"]}", "{\"json\":[1,2.50,true,null,\"x\"]}");
    assert_json("\xef\xbb\xbf" /* as some editors begin a file */
                "a: 1\nb: 2\n",
                "{\"a\":1,\"b\":2}");
    assert_json("!!str 1", "\"1\"");
    assert_json("! 1", "\"1\"");
    assert_json("!!int \"7\"", "7");
    assert_json("a: !!map {b: !!seq [!!null ~, !!bool true, !!float 1.5]}",
                "{\"a\":{\"b\":[null,true,1.5]}}");
    assert_json("--- a\n...\n", "\"a\"");
}

static void test_lines_and_columns_are_kept(void **state)
{
    struct tg_json *v = parse("a: 1\nb:\n  - x\n  - {c: d}\n");

    (void)state;
    assert_int_equal(tg_json_get(v, "a")->line, 1);
    assert_int_equal(tg_json_get(v, "a")->column, 4);
    assert_int_equal(tg_json_get(v, "b")->items[1]->line, 4);
    assert_int_equal(tg_json_get(v, "b")->items[1]->column, 5);
    assert_int_equal(tg_json_get(tg_json_get(v, "b")->items[1], "c")->column, 9);
}

static void test_what_could_grow_or_be_misread_is_refused(void **state)
{
    (void)state;
    assert_refused("a: &x 1\nb: *x\n", "line 1, column 4: anchors (&x)");
    assert_refused("a: &x {}\n", "line 1, column 4: anchors (&x)");
    assert_refused("- &x []\n", "line 1, column 3: anchors (&x)");
    assert_refused("a: *x\n", "line 1, column 4: aliases (*x)");
    assert_refused("<<: {a: 1}\n", "line 1, column 1: merge keys");
    assert_refused("a: 1\nb: 2\na: 3\n", "duplicate key \"a\"");
    assert_refused("a: {b: 1, c: 2, \"b\": 3}\n", "line 1, column 23: duplicate key \"b\"");
    assert_refused("1: a\n", "line 1, column 1: a key must be a string; quote \"1\"");
    assert_refused("true: a\n", "a key must be a string");
    assert_refused("~: a\n", "a key must be a string");
    assert_refused("? [a]\n: b\n", "a key must be a string");
    assert_refused("{a: b}: c\n", "a key must be a string");
    assert_refused("a: !foo 1\n", "line 1, column 4: the tag !foo is not supported");
    assert_refused("a: !!binary aGk=\n", "the tag tag:yaml.org,2002:binary is not supported");
    assert_refused("a: !!set {}\n", "the tag tag:yaml.org,2002:set is not supported");
    assert_refused("a: !!int x\n", "\"x\" is not what its tag says");
    assert_refused("mode: 0644\n", "line 1, column 7: 0644: a number with leading zeros");
    assert_refused("x: .inf\n", "line 1, column 4: .inf: JSON has no infinity");
    assert_refused("a: \"x\\0y\"\n", "line 1, column 4: a string with a NUL");
}

static void test_what_is_no_yaml_is_refused(void **state)
{
    (void)state;
    assert_refused("a: b: c\n", "line 1, column 5: not YAML: ");
    assert_refused("a:\n\t- b\n", "line 2, column 1: not YAML: ");
    assert_refused("[a\n", "not YAML: ");
    assert_refused("\"\xff\"", "not YAML: ");
    assert_refused("\"\xc0\x80\"", "not YAML: ");
    assert_refused("\"\\ud800\"", "not YAML: ");
    assert_refused_n("a\0b", 3, "not YAML: ");
    assert_refused("a: @b\n", "not YAML: ");
}

static void test_exactly_one_document(void **state)
{
    (void)state;
    assert_refused("", "there is no document");
    assert_refused("# only a comment\n", "there is no document");
    assert_refused("---\n---\n", "there is no document");
    assert_refused("a: 1\n---\nb: 2\n", "more than 1 document");
    assert_json("---\n# nothing\n---\na: 1\n---\n", "{\"a\":1}");
    assert_json("~", "null");
}

static void test_streams_skip_empty_documents_and_are_limited(void **state)
{
    static const char yaml[] = "---\n---\na: 1\n---\n# x\n---\n[2]\n---\n";
    struct tg_json **documents = NULL;
    struct tg_error err = TG_ERROR_INIT;
    size_t n = 0;

    (void)state;
    assert_int_equal(tg_yaml_parse_all(yaml, sizeof(yaml) - 1, 2, arena, &documents, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(documents[0]->kind, TG_JSON_OBJECT);
    assert_int_equal(documents[1]->kind, TG_JSON_ARRAY);
    assert_int_equal(tg_yaml_parse_all(yaml, sizeof(yaml) - 1, 1, arena, &documents, &n, &err),
                     -TG_INVALID_ARGUMENT);
    assert_string_equal(err.message, "line 8, column 1: more than 1 document");
}

static void test_documents_cost_what_there_are_not_what_is_allowed(void **state)
{
    char yaml[20 * 10 + 1] = "";
    struct tg_json **documents = NULL;
    struct tg_error err = TG_ERROR_INIT;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < 20; i++)
        snprintf(yaml + strlen(yaml), 11, "---\n[%03zu]\n", i + 100);
    assert_int_equal(
        tg_yaml_parse_all(yaml, strlen(yaml), (size_t)1 << 30, arena, &documents, &n, &err), 0);
    assert_int_equal(n, 20);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(documents[i]->kind, TG_JSON_ARRAY);
}

static void test_depth_is_limited_to_64(void **state)
{
    char yaml[40000];

    (void)state;
    memset(yaml, '[', 64);
    memset(yaml + 64, ']', 64);
    yaml[128] = '\0';
    parse(yaml);
    memset(yaml, '[', sizeof(yaml));
    assert_refused_n(yaml, sizeof(yaml), "line 1, column 65: nested deeper than 64 levels");
    for (size_t i = 0; i + 1 < sizeof(yaml); i += 2)
        memcpy(yaml + i, "- ", 2);
    assert_refused_n(yaml, sizeof(yaml), "nested deeper than 64 levels");
}

static void test_collections_are_limited(void **state)
{
    struct tg_buf yaml TG_AUTOBUF = TG_BUF_INIT(1 << 24);

    (void)state;
    tg_arena_free(arena);
    arena = tg_arena_new(TG_ARENA_UNLIMITED);
    tg_buf_append_str(&yaml, "[x");
    for (int i = 1; i < 100000; i++)
        tg_buf_append_str(&yaml, i % 100 == 0 ? ",\nx" : ",x");
    tg_buf_append_char(&yaml, ']');
    assert_int_equal(parse(yaml.data)->n, 100000);
    yaml.len--;
    tg_buf_append_str(&yaml, ",x]");
    assert_refused(yaml.data, "more than 100000 entries");
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    static const char yaml[] = "a: [1, {b: c}]\n";
    struct tg_error err = TG_ERROR_INIT;
    size_t nth = 1;

    (void)state;
    for (;; nth++) {
        struct tg_arena *failing TG_AUTOARENA = tg_arena_new(1 << 20);
        struct tg_json *v = NULL;
        int rc;

        tg_arena_fail_after(failing, nth);
        rc = tg_yaml_parse(yaml, sizeof(yaml) - 1, failing, &v, &err);
        if (rc == 0)
            break;
        assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
        assert_false(err.retry);
    }
    assert_int_equal(nth, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_yaml_becomes_the_json_that_it_means, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_lines_and_columns_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_could_grow_or_be_misread_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_yaml_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exactly_one_document, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_streams_skip_empty_documents_and_are_limited, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_documents_cost_what_there_are_not_what_is_allowed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth_is_limited_to_64, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_collections_are_limited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_failed_allocation_is_an_error, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
