/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/yaml/yaml.h"
#include "api/tangram/gang.h"
#include "api/tangram/schema.h"

static struct tg_json *written(struct tg_arena *arena, struct tg_buf *buf)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *root = NULL;
    if (tg_schema_write_crd(&tg_gang_crd, buf, &err) < 0 ||
        tg_yaml_parse(tg_buf_str(buf), buf->len, arena, &root, &err) < 0)
        fail_msg("%s", err.message);
    return root;
}

static const struct tg_json *at(const struct tg_json *v, const char *path)
{
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", path);
    char *rest = NULL;
    for (char *key = strtok_r(copy, ".", &rest); key != NULL && v != NULL;
         key = strtok_r(NULL, ".", &rest))
        v = v->kind == TG_JSON_ARRAY ? (v->n > 0 ? tg_json_get(v->items[0], key) : NULL)
                                     : tg_json_get(v, key);
    return v;
}

#define SCHEMA "spec.versions.schema.openAPIV3Schema"

static void the_document_is_a_crd_with_a_status_subresource(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 20);
    struct tg_json *root = written(arena, &buf);
    assert_string_equal(tg_json_string(at(root, "apiVersion")), "apiextensions.k8s.io/v1");
    assert_string_equal(tg_json_string(at(root, "metadata.name")), "gangs.tangram.dev");
    assert_non_null(at(root, "spec.versions.subresources.status"));
    assert_string_equal(tg_json_string(at(root, SCHEMA ".required")->items[0]), "spec");
}

static void limits_and_rules_of_the_tables_are_in_the_schema(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 20);
    struct tg_json *root = written(arena, &buf);
    int64_t maximum;
    assert_int_equal(
        tg_json_i64(at(root, SCHEMA ".properties.spec.properties.size.maximum"), &maximum), 0);
    assert_int_equal(maximum, TG_GANG_MAX_MEMBERS);
    const struct tg_json *rules = at(root, SCHEMA ".properties.spec.x-kubernetes-validations");
    assert_string_equal(tg_json_string(tg_json_get(rules->items[0], "rule")), "self == oldSelf");
    const struct tg_json *conditions = at(root, SCHEMA ".properties.status.properties.conditions");
    assert_string_equal(tg_json_string(tg_json_get(conditions, "x-kubernetes-list-type")), "map");
}

/* An unbounded string or list would make the server refuse the CEL rules as too expensive. */
static void check_bounds(const struct tg_json *schema, const char *name)
{
    const char *type = tg_json_string(tg_json_get(schema, "type"));
    if (type != NULL && strcmp(type, "string") == 0 && tg_json_get(schema, "enum") == NULL &&
        tg_json_get(schema, "maxLength") == NULL && tg_json_get(schema, "format") == NULL)
        fail_msg("%s: a string without a bound", name);
    if (type != NULL && strcmp(type, "array") == 0) {
        if (tg_json_get(schema, "maxItems") == NULL)
            fail_msg("%s: a list without a bound", name);
        check_bounds(tg_json_get(schema, "items"), name);
    }
    const struct tg_json *properties = tg_json_get(schema, "properties");
    for (size_t i = 0; properties != NULL && i < properties->n; i++) {
        if (tg_json_get(properties->items[i], "description") == NULL)
            fail_msg("%s.%s: no description", name, properties->keys[i]);
        check_bounds(properties->items[i], properties->keys[i]);
    }
}

static void everything_is_described_and_bounded(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 20);
    struct tg_json *root = written(arena, &buf);
    check_bounds(at(root, SCHEMA ".properties.spec"), "spec");
    check_bounds(at(root, SCHEMA ".properties.status"), "status");
}

static void the_bytes_are_the_same_every_time(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf a = TG_BUF_INIT(1 << 20);
    TG_AUTOBUF struct tg_buf b = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_schema_write_crd(&tg_gang_crd, &a, &err), 0);
    assert_int_equal(tg_schema_write_crd(&tg_gang_crd, &b, &err), 0);
    assert_string_equal(tg_buf_str(&a), tg_buf_str(&b));
}

struct thing {
    const char *text;
    struct thing *self;
    struct tg_list map;
};

static int write_thing(const struct tg_field *fields, size_t n, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 20);
    struct tg_type type = {.name = "thing", .size = sizeof(struct thing), .fields = fields, .n = n};
    struct tg_crd crd = tg_gang_crd;
    crd.type = &type;
    return tg_schema_write_crd(&crd, &buf, err);
}

static void a_field_without_a_description_is_an_error_that_names_it(void **state)
{
    (void)state;
    struct tg_error err = TG_ERROR_INIT;
    const struct tg_field fields[] = {TG_FIELD_STR(struct thing, text, "text")};
    assert_int_equal(write_thing(fields, 1, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "text"));
}

static void what_has_no_schema_is_an_error(void **state)
{
    (void)state;
    struct tg_error err = TG_ERROR_INIT;
    static const struct tg_schema schema = {.description = "d"};
    struct tg_field map = TG_FIELD_STR_MAP(struct thing, map, "map");
    map.schema = &schema;
    assert_int_equal(write_thing(&map, 1, &err), -TG_INVALID_ARGUMENT);
    struct tg_field list = {
        .name = "list", .kind = TG_FIELD_LIST, .item = TG_FIELD_INT, .schema = &schema};
    assert_int_equal(write_thing(&list, 1, &err), -TG_INVALID_ARGUMENT);
}

static void a_table_that_contains_itself_is_an_error(void **state)
{
    (void)state;
    struct tg_error err = TG_ERROR_INIT;
    static const struct tg_schema schema = {.description = "d"};
    struct tg_type loop = {.name = "thing", .size = sizeof(struct thing), .n = 1};
    struct tg_field field = TG_FIELD_OBJ(struct thing, self, "self", &loop);
    field.schema = &schema;
    loop.fields = &field;
    assert_int_equal(write_thing(&field, 1, &err), -TG_INVALID_ARGUMENT);
}

static void a_buffer_that_is_too_small_is_an_ordinary_error(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1000);
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_schema_write_crd(&tg_gang_crd, &buf, &err), -TG_RESOURCE_EXHAUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_a_crd_with_a_status_subresource),
        cmocka_unit_test(limits_and_rules_of_the_tables_are_in_the_schema),
        cmocka_unit_test(everything_is_described_and_bounded),
        cmocka_unit_test(the_bytes_are_the_same_every_time),
        cmocka_unit_test(a_field_without_a_description_is_an_error_that_names_it),
        cmocka_unit_test(what_has_no_schema_is_an_error),
        cmocka_unit_test(a_table_that_contains_itself_is_an_error),
        cmocka_unit_test(a_buffer_that_is_too_small_is_an_ordinary_error),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
