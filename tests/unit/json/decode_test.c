/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/decode.h"
#include "tests/support/test_arena.h"

struct part {
    const char *name;
    struct tg_opt_int weight;
};
struct keyed_part {
    const char *key;
    struct part value;
};
struct thing {
    const char *name;
    struct tg_opt_bool on;
    struct tg_opt_int count;
    struct part *part;
    const char *raw;
    const char *quantity;
    TG_LIST_OF(const char *) tags;
    TG_LIST_OF(struct part) parts;
    TG_LIST_OF(struct tg_opt_int) numbers;
    TG_LIST_OF(const char *) raws;
    TG_LIST_OF(struct tg_string_pair) labels;
    TG_LIST_OF(struct tg_string_pair) capacity;
    TG_LIST_OF(struct keyed_part) by_name;
};

static const struct tg_field part_fields[] = {
    TG_FIELD_STR(struct part, name, "name"),
    TG_FIELD_INTEGER(struct part, weight, "weight"),
};
static const struct tg_type part_type = TG_TYPE(struct part, part_fields);
static const struct tg_field thing_fields[] = {
    TG_FIELD_STR(struct thing, name, "name"),
    TG_FIELD_BOOLEAN(struct thing, on, "on"),
    TG_FIELD_INTEGER(struct thing, count, "count"),
    TG_FIELD_OBJ(struct thing, part, "part", &part_type),
    TG_FIELD_RAWJSON(struct thing, raw, "raw"),
    TG_FIELD_TEXT(struct thing, quantity, "quantity"),
    TG_FIELD_STR_LIST(struct thing, tags, "tags"),
    TG_FIELD_OBJ_LIST(struct thing, parts, "parts", &part_type),
    {.name = "numbers",
     .kind = TG_FIELD_LIST,
     .item = TG_FIELD_INT,
     .offset = offsetof(struct thing, numbers),
     .max_items = 3},
    {.name = "raws",
     .kind = TG_FIELD_LIST,
     .item = TG_FIELD_RAW,
     .offset = offsetof(struct thing, raws)},
    TG_FIELD_STR_MAP(struct thing, labels, "labels"),
    TG_FIELD_TEXT_MAP(struct thing, capacity, "capacity"),
    TG_FIELD_OBJ_MAP(struct thing, by_name, "byName", struct keyed_part, &part_type),
};
static const struct tg_type thing_type = TG_TYPE(struct thing, thing_fields);

static const struct tg_field strict_fields[] = {
    {.name = "name",
     .kind = TG_FIELD_STRING,
     .flags = TG_FIELD_REQUIRED,
     .offset = offsetof(struct part, name)},
    TG_FIELD_INTEGER(struct part, weight, "weight"),
};
static const struct tg_type strict_type = {
    .name = "Part", .size = sizeof(struct part), .fields = strict_fields, .n = 2, .strict = true};

static struct thing *decode(const char *json)
{
    struct tg_error err = TG_ERROR_INIT;
    void *thing = NULL;
    int rc = tg_json_decode_new(&thing_type, json, strlen(json), arena, &thing, &err);

    if (rc != 0)
        print_error("%s: %s\n", json, err.message);
    assert_int_equal(rc, 0);
    return thing;
}

static void assert_refused_n(const struct tg_type *type, const char *json, size_t n,
                             const char *message)
{
    struct tg_error err = TG_ERROR_INIT;
    void *thing = NULL;
    int rc = tg_json_decode_new(type, json, n, arena, &thing, &err);

    if (rc != -TG_INVALID_ARGUMENT || strstr(err.message, message) == NULL)
        print_error("%s: %d \"%s\", wanted \"%s\"\n", json, rc, err.message, message);
    assert_int_equal(rc, -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, message));
    assert_null(thing);
    assert_int_equal(tg_json_decode_new(type, json, n, arena, &thing, NULL), -TG_INVALID_ARGUMENT);
}

static void assert_refused(const char *json, const char *message)
{
    assert_refused_n(&thing_type, json, strlen(json), message);
}

static void test_every_kind_of_field_is_decoded(void **state)
{
    (void)state;
    struct thing *t = decode(
        " {\"name\":\"a\\u00e9\\ud83d\\ude00\\n\",\"on\":false,\"count\":-9223372036854775808,"
        "\"part\":{\"name\":\"p\",\"weight\":7},\"quantity\":10,\"tags\":[\"x\",\"\",\"y\"],"
        "\"parts\":[{\"name\":\"one\"},{},{\"weight\":3}],\"numbers\":[1,2,3],"
        "\"labels\":{\"k\":\"v\",\"a/b\":\"w\"},\"capacity\":{\"cpu\":2,\"memory\":\"1Gi\"},"
        "\"byName\":{\"x\":{\"weight\":1},\"y\":{\"name\":\"why\"}}} \n");

    assert_string_equal(t->name, "a\xc3\xa9\xf0\x9f\x98\x80\n");
    assert_true(t->on.set && !t->on.value);
    assert_true(t->count.set && t->count.value == INT64_MIN);
    assert_string_equal(t->part->name, "p");
    assert_int_equal(t->part->weight.value, 7);
    assert_string_equal(t->quantity, "10");
    assert_int_equal(t->tags.n, 3);
    assert_string_equal(t->tags.items[1], "");
    assert_string_equal(t->tags.items[2], "y");
    assert_int_equal(t->parts.n, 3);
    assert_string_equal(t->parts.items[0].name, "one");
    assert_null(t->parts.items[1].name);
    assert_false(t->parts.items[1].weight.set);
    assert_int_equal(t->parts.items[2].weight.value, 3);
    assert_int_equal(t->numbers.n, 3);
    assert_int_equal(t->numbers.items[2].value, 3);
    assert_string_equal(t->labels.items[1].key, "a/b");
    assert_string_equal(t->labels.items[1].value, "w");
    assert_string_equal(t->capacity.items[0].value, "2");
    assert_string_equal(t->capacity.items[1].value, "1Gi");
    assert_string_equal(t->by_name.items[0].key, "x");
    assert_int_equal(t->by_name.items[0].value.weight.value, 1);
    assert_string_equal(t->by_name.items[1].value.name, "why");
}

static void test_null_is_absent_and_empty_is_told_from_absent(void **state)
{
    (void)state;
    struct thing *t = decode("{\"name\":null,\"on\":null,\"count\":null,\"part\":null,\"raw\":null,"
                             "\"parts\":null,\"tags\":[],\"labels\":{}}");

    assert_null(t->name);
    assert_false(t->on.set);
    assert_false(t->count.set);
    assert_null(t->part);
    assert_null(t->raw);
    assert_null(t->parts.items);
    assert_non_null(t->tags.items);
    assert_int_equal(t->tags.n, 0);
    assert_non_null(t->labels.items);
}

static void test_raw_values_keep_every_byte(void **state)
{
    (void)state;
    struct thing *t = decode("{\"raw\" :\t{ \"b\" : [1.50, \"\\u003c\\/\\u0000\"] ,\"a\":{} } , "
                             "\"raws\":[ 1e3 ,\"x\\n\",null,"
                             "[ ],{\"k\" :1}, true]}");

    assert_string_equal(t->raw, "{ \"b\" : [1.50, \"\\u003c\\/\\u0000\"] ,\"a\":{} }");
    assert_int_equal(t->raws.n, 6);
    assert_string_equal(t->raws.items[0], "1e3");
    assert_string_equal(t->raws.items[1], "\"x\\n\"");
    assert_string_equal(t->raws.items[2], "null");
    assert_string_equal(t->raws.items[3], "[ ]");
    assert_string_equal(t->raws.items[4], "{\"k\" :1}");
    assert_string_equal(t->raws.items[5], "true");
    assert_string_equal(decode("{\"raw\":7}")->raw, "7");
}

static void test_unknown_fields_are_skipped_with_all_they_hold(void **state)
{
    (void)state;
    struct thing *t =
        decode("{\"x\":{\"name\":\"no\",\"parts\":[{\"a\":[[]]}]},\"y\":[1,[2]],\"z\":1e400,"
               "\"nul\":\"\\u0000\",\"name\":\"yes\",\"w\":{}}");

    assert_string_equal(t->name, "yes");
    assert_int_equal(t->parts.n, 0);
}

static void test_errors_name_the_path(void **state)
{
    (void)state;
    assert_refused("{\"parts\":[{},{\"name\":1}]}",
                   "parts[1].name: expected a string, found a number");
    assert_refused("{\"parts\":[{},[]]}", "parts[1]: expected an object, found an array");
    assert_refused("{\"parts\":{}}", "parts: expected an array, found an object");
    assert_refused("{\"labels\":{\"a/b\":true}}",
                   "labels[\"a/b\"]: expected a string, found a boolean");
    assert_refused("{\"byName\":{\"x\":{\"weight\":\"1\"}}}",
                   "byName.x.weight: expected an integer, found a string");
    assert_refused("{\"on\":\"true\"}", "on: expected a boolean, found a string");
    assert_refused("{\"quantity\":{}}", "quantity: expected a string or a number, found an object");
    assert_refused("{\"tags\":[\"a\",null]}", "tags[1]: expected a string, found null");
    assert_refused("{\"parts\":[null]}", "parts[0]: expected an object, found null");
    assert_refused("{\"parts\":[{\"name\":\"x\"},{\"name\" 1}]}", "parts[1].name: not JSON: ");
    assert_refused("null", "expected an object, found null");
    assert_refused("[]", "expected an object, found an array");
}

static void test_integers_are_exact_or_refused(void **state)
{
    (void)state;
    assert_int_equal(decode("{\"count\":9223372036854775807}")->count.value, INT64_MAX);
    assert_int_equal(decode("{\"count\":-0}")->count.value, 0);
    assert_refused("{\"count\":9223372036854775808}",
                   "count: expected an integer of 64 bits, found 9223372036854775808");
    assert_refused("{\"count\":1.0}", "count: expected an integer");
    assert_refused("{\"count\":1e3}", "count: expected an integer");
    assert_refused("{\"count\":\"1\"}", "count: expected an integer, found a string");
}

static void test_duplicate_keys_of_what_is_decoded_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"name\":\"a\",\"name\":\"b\"}", "duplicate key \"name\"");
    assert_refused("{\"name\":\"a\",\"n\\u0061me\":\"b\"}", "key twice");
    assert_refused("{\"part\":{\"weight\":1,\"weight\":2}}", "part: duplicate key \"weight\"");
    assert_refused("{\"labels\":{\"a\":\"1\",\"b\":\"1\",\"a\":\"2\"}}",
                   "labels: duplicate key \"a\"");
    assert_refused("{\"x\":{\"r\":1,\"r\":1},\"part\":{\"name\":\"a\",\"name\":\"b\"}}",
                   "part: duplicate key \"name\"");
    assert_refused("{\"raw\":1,\"raw\":1}", "duplicate key \"raw\"");
    assert_refused("{\"x\":1,\"x\":1}", "duplicate key \"x\"");
    decode("{\"name\":\"a\",\"part\":{\"name\":\"a\"},\"x\":[{\"name\":1},{\"name\":1}]}");
}

static void test_duplicates_in_large_objects_are_found(void **state)
{
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 24);

    (void)state;
    tg_buf_append_str(&json, "{\"labels\":{");
    for (int i = 0; i < 6000; i++)
        tg_buf_printf(&json, "\"%d\":\"\",", i);
    tg_buf_append_str(&json, "\"3141\":\"\"}}");
    assert_refused(json.data, "labels: duplicate key \"3141\"");
}

static void test_what_is_no_json_is_refused(void **state)
{
    static const char *const documents[] = {
        "",
        " ",
        "{",
        "{}{}",
        "{} x",
        "{\"a\":1,}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":NaN}",
        "{\"a\":tru}",
        "{\"a\":[1,]}",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":/**/1}",
        "// x\n{}",
        "{\"a\":\"\x01\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":1}}",
        "\xef\xbb\xbf{}",
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(documents); i++)
        assert_refused(documents[i], "not JSON: ");
    assert_refused_n(&thing_type, "{}\0", 3, "not JSON: ");
}

static void test_bad_text_of_what_is_decoded_is_refused(void **state)
{
    static const char *const texts[] = {
        "\xff",
        "\xc0\x80",
        "\xe0\x80\x80",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "\xc3",
        "\xf8\x88\x80\x80\x80",
    };
    static const char *const escapes[] = {
        "\\ud800",        "\\udc00",        "\\ud800x",
        "\\ud800\\n",     "\\ud800\\ud800", "\\udc00\\udc00",
        "\\ud800\\u0041", "\\\\\\udfff",    "\\uD83D\\uDE00\\uDE00",
    };
    char json[64];

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        snprintf(json, sizeof(json), "{\"name\":\"a%sb\"}", texts[i]);
        assert_refused(json, "name: a string that is not valid UTF-8");
        snprintf(json, sizeof(json), "{\"a%sb\":1}", texts[i]);
        assert_refused(json, "a key that is not valid UTF-8");
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(escapes); i++) {
        snprintf(json, sizeof(json), "{\"name\":\"%s\"}", escapes[i]);
        assert_refused(json, "name: a string with half a surrogate pair");
        snprintf(json, sizeof(json), "{\"%s\":\"\"}", escapes[i]);
        assert_refused(json, "a key with half a surrogate pair");
    }
    decode("{\"name\":\"\\ud83d\\ude00\\\\ud800\"}");
}

static void test_nul_is_refused_where_it_would_cut_a_string(void **state)
{
    (void)state;
    assert_refused("{\"name\":\"a\\u0000b\"}", "name: a string with a NUL character");
    assert_refused("{\"labels\":{\"a\\u0000\":\"b\"}}", "a key with a NUL character");
    assert_refused("{\"labels\":{\"a\":\"\\u0000\"}}", "labels.a: a string with a NUL character");
    /* A key that only begins like a field, or is the beginning of one, is another field. */
    assert_null(decode("{\"nam\":\"b\"}")->name);
    assert_null(decode("{\"name\\u0000x\":\"b\"}")->name);
}

static void nested(struct tg_buf *json, unsigned depth)
{
    for (unsigned i = 1; i < depth; i++)
        tg_buf_append_char(json, '[');
    for (unsigned i = 1; i < depth; i++)
        tg_buf_append_char(json, ']');
}

/* A type that contains itself. */
struct nest {
    struct nest *in;
};
static const struct tg_type nest_type;
static const struct tg_field nest_fields[] = {
    TG_FIELD_OBJ(struct nest, in, "in", &nest_type),
};
static const struct tg_type nest_type = TG_TYPE(struct nest, nest_fields);

static void test_depth_of_what_is_decoded_is_limited_to_64(void **state)
{
    (void)state;
    for (int depth = 64; depth <= 65; depth++) {
        struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 16);
        void *nest = NULL;

        for (int i = 1; i < depth; i++)
            tg_buf_append_str(&json, "{\"in\":");
        tg_buf_append_str(&json, "{}");
        for (int i = 1; i < depth; i++)
            tg_buf_append_str(&json, "}");
        if (depth == 64)
            assert_int_equal(
                tg_json_decode_new(&nest_type, json.data, json.len, arena, &nest, NULL), 0);
        else
            assert_refused_n(&nest_type, json.data, json.len, "nested deeper than 64 levels");
    }
}

/* What an API server keeps in free-form parts as it was sent: it compares no keys there, takes
 * half a pair for text, and nests as deep as Go goes. */
static void test_what_nobody_looks_into_may_be_odd(void **state)
{
    static const char *const odd[] = {
        "{\"r\":1,\"r\":2}", "[{\"q\":{\"r\":1,\"r\":{}}}]",
        "\"\\ud800\"",       "{\"\\udc00\":[\"\\ud800\"]}",
        "\"\xff\"",          "[\"\xc0\x80\"]",
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(odd); i++) {
        struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 16);

        tg_buf_printf(&json, "{\"skipped\":%s,\"raw\":%s,\"raws\":[1,%s],\"name\":\"a\"}", odd[i],
                      odd[i], odd[i]);
        struct thing *t = decode(json.data);
        assert_string_equal(t->raw, odd[i]);
        assert_int_equal(t->raws.n, 2);
        assert_string_equal(t->raws.items[1], odd[i]);
        assert_string_equal(t->name, "a");
        /* What comes after is judged again. */
        tg_buf_clear(&json);
        tg_buf_printf(&json, "{\"skipped\":%s,\"raw\":%s,\"name\":\"\\ud800\"}", odd[i], odd[i]);
        assert_refused(json.data, "name: a string with half a surrogate pair");
        tg_buf_clear(&json);
        tg_buf_printf(&json, "{\"raws\":[%s],\"part\":{\"name\":\"a\",\"name\":\"b\"}}", odd[i]);
        assert_refused(json.data, "part: duplicate key \"name\"");
    }
    assert_refused("{\"raw\":{\"r\":1,}}", "not JSON");
    assert_refused("{\"skipped\":[1 2]}", "not JSON");
}

static void test_depth_of_what_nobody_looks_into_is_limited_to_10100(void **state)
{
    static const char *const keys[] = {"skipped", "raw"};

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(keys); i++) {
        for (unsigned depth = 10100; depth <= 10101; depth++) {
            struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 20);

            tg_buf_printf(&json, "{\"%s\":", keys[i]);
            nested(&json, depth);
            tg_buf_append_char(&json, '}');
            if (depth == 10100)
                decode(json.data);
            else
                assert_refused(json.data, "nested deeper than 10100 levels");
        }
    }
}

static void test_list_length_is_limited(void **state)
{
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 24);

    (void)state;
    assert_refused("{\"numbers\":[1,2,3,4]}", "numbers[3]: more than 3 items");
    tg_buf_append_str(&json, "{\"raws\":[0");
    for (int i = 0; i < 100000; i++)
        tg_buf_append_str(&json, ",0");
    tg_buf_append_str(&json, "]}");
    tg_arena_free(arena);
    arena = tg_arena_new(TG_ARENA_UNLIMITED);
    assert_refused(json.data, "raws[100000]: more than 100000 items");
}

static void test_budget_bounds_memory(void **state)
{
    struct tg_arena *small TG_AUTOARENA = tg_arena_new(32 * 1024);
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 24);
    struct tg_error err = TG_ERROR_INIT;
    void *thing = NULL;

    (void)state;
    tg_buf_append_str(&json, "{\"parts\":[{}");
    for (int i = 0; i < 90000; i++)
        tg_buf_append_str(&json, ",{}");
    tg_buf_append_str(&json, "]}");
    assert_int_equal(tg_json_decode_new(&thing_type, json.data, json.len, small, &thing, &err),
                     -TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.message, "parts["));
    assert_non_null(strstr(err.message, "more memory than it may use"));
    assert_false(err.retry);
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    static const char json[] = "{\"name\":\"a\",\"part\":{\"name\":\"b\"},\"raw\":[1],\"tags\":["
                               "\"x\"],\"parts\":[{\"name\":\"c\"}],"
                               "\"labels\":{\"k\":\"v\"},\"byName\":{\"x\":{}}}";
    size_t nth = 1;

    (void)state;
    for (;; nth++) {
        struct tg_arena *failing TG_AUTOARENA = tg_arena_new(1 << 20);
        void *thing = NULL;
        int rc;

        tg_arena_fail_after(failing, nth);
        rc = tg_json_decode_new(&thing_type, json, sizeof(json) - 1, failing, &thing, NULL);
        if (rc == 0)
            break;
        assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
    }
    assert_int_equal(nth, 15);
}

static void test_strict_types_refuse_unknown_and_missing_fields(void **state)
{
    struct tg_error err = TG_ERROR_INIT;
    void *part = NULL;

    (void)state;
    assert_refused_n(&strict_type, "{\"name\":\"a\",\"wieght\":1}", 23,
                     "wieght: unknown field (known: name, weight)");
    assert_refused_n(&strict_type, "{\"weight\":1}", 12, "the required field \"name\" is missing");
    assert_refused_n(&strict_type, "{\"name\":null}", 13, "the required field \"name\" is missing");
    assert_int_equal(tg_json_decode_new(&strict_type, "{\"name\":\"a\"}", 12, arena, &part, &err),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind_of_field_is_decoded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_null_is_absent_and_empty_is_told_from_absent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_raw_values_keep_every_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_fields_are_skipped_with_all_they_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_errors_name_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_integers_are_exact_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_duplicate_keys_of_what_is_decoded_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_duplicates_in_large_objects_are_found, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_json_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_text_of_what_is_decoded_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_nul_is_refused_where_it_would_cut_a_string, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_depth_of_what_is_decoded_is_limited_to_64, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_nobody_looks_into_may_be_odd, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_depth_of_what_nobody_looks_into_is_limited_to_10100,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_length_is_limited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_budget_bounds_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_failed_allocation_is_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_strict_types_refuse_unknown_and_missing_fields, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
