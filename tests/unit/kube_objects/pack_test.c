/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/pack.h"
#include "api/kubernetes/objects/resource.h"
#include "tests/unit/kube_objects/tables.h"

static const struct {
    const char *name;
    const struct tg_type *type;
} kinds[] = {
    {"ResourceSlice", &tg_resource_slice_type},
    {"ResourceClaim", &tg_resource_claim_type},
    {"DeviceClass", &tg_device_class_type},
    {"DeviceTaintRule", &tg_device_taint_rule_type},
    {"Pod", &tg_pod_type},
    {"Node", &tg_node_type},
};

/* A table of strings that gives out one number a string, and counts. */
struct table {
    const char *items[1024];
    size_t n, puts, visits;
};

static uint32_t put(void *data, const char *s)
{
    struct table *table = data;
    size_t i = 0;

    table->puts++;
    while (i < table->n && strcmp(table->items[i], s) != 0)
        i++;
    assert_true(i < 1024);
    if (i == table->n)
        table->items[table->n++] = s;
    return (uint32_t)i + 1;
}

static const char *get(void *data, uint32_t number)
{
    const struct table *table = data;

    assert_in_range(number, 1, table->n);
    return table->items[number - 1];
}

static void visit(void *data, uint32_t number)
{
    struct table *table = data;

    assert_in_range(number, 1, table->n);
    table->visits++;
}

static void check(const struct tg_type *type, const struct document *d, struct table *table)
{
    const struct tg_pack_strings strings = {.put = put, .get = get, .data = table};
    const struct tg_pack_strings *s = table == NULL ? NULL : &strings;
    struct tg_buf before = TG_BUF_INIT(1 << 20), after = TG_BUF_INIT(1 << 20);
    size_t n = tg_pack(type, d->object, s, NULL, 0);
    unsigned char *bytes = tg_arena_alloc(d->arena, n);
    void *again;

    assert_non_null(bytes);
    assert_int_equal(tg_pack(type, d->object, s, bytes, n), n);
    again = tg_unpack(type, bytes, s, d->arena);
    assert_non_null(again);
    assert_int_equal(tg_json_encode(type, d->object, &before, NULL), 0);
    assert_int_equal(tg_json_encode(type, again, &after, NULL), 0);
    assert_string_equal(tg_buf_str(&before), tg_buf_str(&after));
    if (table != NULL) {
        assert_true(n < before.len / 3);
        tg_pack_each_string(type, bytes, visit, table);
        assert_int_equal(2 * table->visits, table->puts);
    }
    tg_buf_done(&before);
    tg_buf_done(&after);
}

static void what_is_unpacked_is_what_was_packed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct table table = {.n = 0};
        struct document d;

        document_read(&d, kinds[i].name, kinds[i].type);
        check(kinds[i].type, &d, NULL);
        check(kinds[i].type, &d, &table);
        document_done(&d);
    }
}

static void bytes_differ_where_content_does(void **state)
{
    struct tg_taint a = {.key = "k", .value = ""}, b = {.key = "k"};
    struct tg_toleration t = {.key = "k"}, u = {.key = "k"};
    unsigned char x[64], y[64];

    (void)state;
    assert_int_not_equal(tg_pack(&tg_taint_type, &a, NULL, x, sizeof(x)),
                         tg_pack(&tg_taint_type, &b, NULL, y, sizeof(y)));
    t.toleration_seconds = (struct tg_opt_int){.set = true, .value = -1};
    u.toleration_seconds = (struct tg_opt_int){.set = true, .value = 1};
    tg_pack(&tg_toleration_type, &t, NULL, x, sizeof(x));
    tg_pack(&tg_toleration_type, &u, NULL, y, sizeof(y));
    assert_memory_not_equal(x, y, 8);
}

static void too_little_room_is_told_and_nothing_is_written_beyond_it(void **state)
{
    const struct tg_taint taint = {.key = "key", .value = "value", .effect = "NoSchedule"};
    unsigned char bytes[64];
    size_t n = tg_pack(&tg_taint_type, &taint, NULL, NULL, 0);

    (void)state;
    memset(bytes, 0xaa, sizeof(bytes));
    assert_int_equal(tg_pack(&tg_taint_type, &taint, NULL, bytes, n - 1), n);
    assert_int_equal(bytes[n - 1], 0xaa);
}

static void an_exhausted_arena_is_told(void **state)
{
    struct document d;
    unsigned char *bytes;
    size_t n;
    void *again = NULL;

    (void)state;
    document_read(&d, "ResourceSlice", &tg_resource_slice_type);
    n = tg_pack(&tg_resource_slice_type, d.object, NULL, NULL, 0);
    bytes = tg_arena_alloc(d.arena, n);
    assert_non_null(bytes);
    tg_pack(&tg_resource_slice_type, d.object, NULL, bytes, n);
    for (size_t nth = 1; again == NULL; nth++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        assert_true(nth < 10000);
        tg_arena_fail_after(arena, nth);
        again = tg_unpack(&tg_resource_slice_type, bytes, NULL, arena);
        tg_arena_free(arena);
    }
    document_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unpacked_is_what_was_packed),
        cmocka_unit_test(bytes_differ_where_content_does),
        cmocka_unit_test(too_little_room_is_told_and_nothing_is_written_beyond_it),
        cmocka_unit_test(an_exhausted_arena_is_told),
    };

    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
