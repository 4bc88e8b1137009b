/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"

struct inner {
    const char *raw;
    struct tg_opt_bool on;
};
struct keyed_inner {
    const char *key;
    struct inner value;
};
struct outer {
    const char *name;
    const char *empty_name;
    struct tg_opt_int count;
    struct tg_opt_bool flag;
    struct inner *inner;
    struct inner *always;
    TG_LIST_OF(const char *) tags;
    TG_LIST_OF(const char *) always_tags;
    TG_LIST_OF(struct inner) list;
    TG_LIST_OF(struct tg_string_pair) labels;
    TG_LIST_OF(struct keyed_inner) map;
    TG_LIST_OF(struct tg_string_pair) always_map;
};

static const struct tg_field inner_fields[] = {
    TG_FIELD_RAWJSON(struct inner, raw, "raw"),
    TG_FIELD_BOOLEAN(struct inner, on, "on"),
};
static const struct tg_type inner_type = TG_TYPE(struct inner, inner_fields);
static const struct tg_field outer_fields[] = {
    TG_FIELD_STR(struct outer, name, "name"),
    {.name = "emptyName",
     .kind = TG_FIELD_STRING,
     .flags = TG_FIELD_EMIT_EMPTY,
     .offset = offsetof(struct outer, empty_name)},
    TG_FIELD_INTEGER(struct outer, count, "count"),
    TG_FIELD_BOOLEAN(struct outer, flag, "flag"),
    TG_FIELD_OBJ(struct outer, inner, "inner", &inner_type),
    {.name = "always",
     .kind = TG_FIELD_OBJECT,
     .flags = TG_FIELD_EMIT_EMPTY,
     .offset = offsetof(struct outer, always),
     .type = &inner_type},
    TG_FIELD_STR_LIST(struct outer, tags, "tags"),
    {.name = "alwaysTags",
     .kind = TG_FIELD_LIST,
     .item = TG_FIELD_STRING,
     .flags = TG_FIELD_EMIT_EMPTY,
     .offset = offsetof(struct outer, always_tags)},
    TG_FIELD_OBJ_LIST(struct outer, list, "list", &inner_type),
    TG_FIELD_STR_MAP(struct outer, labels, "labels"),
    TG_FIELD_OBJ_MAP(struct outer, map, "map", struct keyed_inner, &inner_type),
    {.name = "alwaysMap",
     .kind = TG_FIELD_MAP,
     .item = TG_FIELD_STRING,
     .flags = TG_FIELD_EMIT_EMPTY,
     .offset = offsetof(struct outer, always_map)},
};
static const struct tg_type outer_type = TG_TYPE(struct outer, outer_fields);

static void test_what_was_decoded_is_encoded_to_the_same_bytes(void **state)
{
    static const char json[] = "{\"name\":\"\",\"emptyName\":\"x\",\"count\":-5,\"flag\":false,"
                               "\"inner\":{},\"always\":{\"raw\":{ \"a\" : 1.50},\"on\":true},"
                               "\"tags\":[\"a\",\"\"],\"alwaysTags\":[],\"list\":[{},{\"on\":false}"
                               "],\"labels\":{\"b\":\"1\",\"a\":\"2\"},"
                               "\"map\":{\"k\":{\"raw\":[]}},\"alwaysMap\":{}}";
    struct tg_arena *arena TG_AUTOARENA = tg_arena_new(1 << 16);
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1 << 16);
    void *object = NULL;

    (void)state;
    assert_int_equal(tg_json_decode_new(&outer_type, json, sizeof(json) - 1, arena, &object, NULL),
                     0);
    assert_int_equal(tg_json_encode(&outer_type, object, &out, NULL), 0);
    assert_string_equal(out.data, json);
}

static void test_absent_fields_are_left_out_unless_the_table_says_so(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1 << 16);
    struct outer object = {0};

    (void)state;
    assert_int_equal(tg_json_encode(&outer_type, &object, &out, NULL), 0);
    assert_string_equal(out.data,
                        "{\"emptyName\":\"\",\"always\":{},\"alwaysTags\":[],\"alwaysMap\":{}}");
}

static void test_raw_values_that_are_no_json_are_refused_with_their_path(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1 << 16);
    struct inner list[2] = {{.raw = "{}"}, {.raw = "{} ,\"evil\":1"}};
    struct outer object = {.list = {list, 2}};
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json_writer w;

    (void)state;
    assert_int_equal(tg_json_encode(&outer_type, &object, &out, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "list[1].raw: raw value: not JSON"));
    tg_buf_clear(&out);
    tg_json_writer_init(&w, &out);
    tg_jw_begin_object(&w);
    tg_jw_kv_object(&w, "x", &outer_type, &object);
    tg_jw_end_object(&w);
    assert_int_equal(tg_jw_finish(&w, &err), -TG_INVALID_ARGUMENT);
}

static void test_raw_values_go_out_as_they_came_however_odd(void **state)
{
    static const char *const odd[] = {"{\"a\":1,\"a\":2}", "[\"\\ud800\"]", "\"\xff\""};

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1 << 16);
        struct inner inner = {.raw = odd[i]};
        struct tg_buf want TG_AUTOBUF = TG_BUF_INIT(1 << 16);

        assert_int_equal(tg_json_encode(&inner_type, &inner, &out, NULL), 0);
        tg_buf_printf(&want, "{\"raw\":%s}", odd[i]);
        assert_string_equal(out.data, want.data);
    }
}

static void test_a_full_buffer_is_an_error(void **state)
{
    struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(20);
    struct outer object = {.name = "a name that is longer than that"};
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(tg_json_encode(&outer_type, &object, &out, &err), -TG_RESOURCE_EXHAUSTED);
    assert_string_equal(err.message, "the JSON text is larger than 20 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_decoded_is_encoded_to_the_same_bytes),
        cmocka_unit_test(test_absent_fields_are_left_out_unless_the_table_says_so),
        cmocka_unit_test(test_raw_values_that_are_no_json_are_refused_with_their_path),
        cmocka_unit_test(test_raw_values_go_out_as_they_came_however_odd),
        cmocka_unit_test(test_a_full_buffer_is_an_error),
    };

    return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
