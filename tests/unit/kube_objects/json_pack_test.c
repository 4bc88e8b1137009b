/* SPDX-License-Identifier: Apache-2.0 */
/* Packing (api/runtime/json/pack.h) with the tables of every kind, on objects made at random from
 * those tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/kinds.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/pack.h"

struct maker {
    struct tg_arena *arena;
    uint64_t seed;
    int depth;
};

static uint32_t draw(struct maker *m, uint32_t below)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(m->seed >> 33) % below;
}

/* Texts of the shapes that are packed, and their neighbours. */
static const char *make_text(struct maker *m)
{
    static const char *const texts[] = {
        "",
        "a",
        "01234567-89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdeF",
        "01234567-89ab-cdef-0123-456789abcde",
        "01234567+89ab-cdef-0123-456789abcdef",
        "2026-11-30T07:37:10Z",
        "2026-11-30T07:37:1xZ",
        "2026-11-30T07:37:10.5Z",
        "2026-11-30 07:37:10Z",
        "\xc3\xa4\xe2\x82\xac",
        "a text of more than one hundred and twenty-eight bytes, so that its length takes two "
        "bytes; "
        "it goes on and on and on and on and on",
    };

    if (draw(m, 3) == 0)
        return tg_arena_printf(m->arena, "text-%u", draw(m, 100));
    return texts[draw(m, sizeof(texts) / sizeof(texts[0]))];
}

static void make_object(struct maker *m, const struct tg_type *type, char *object);

static void make_scalar(struct maker *m, enum tg_field_kind kind, char *slot)
{
    const char *text =
        kind == TG_FIELD_RAW ? (draw(m, 2) == 0 ? "{\"a\":[1,2]}" : "7") : make_text(m);
    struct tg_opt_bool boolean = {.set = true, .value = draw(m, 2) == 0};
    struct tg_opt_int integer = {
        .set = true, .value = draw(m, 2) == 0 ? INT64_MIN : (int64_t)draw(m, 1000) - 500};

    if (kind == TG_FIELD_BOOL)
        memcpy(slot, &boolean, sizeof(boolean));
    else if (kind == TG_FIELD_INT)
        memcpy(slot, &integer, sizeof(integer));
    else
        memcpy(slot, &text, sizeof(text));
}

static void make_items(struct maker *m, const struct tg_field *field, char *slot)
{
    struct tg_field_layout layout = tg_field_item_layout(field);
    struct tg_list list = {.n = draw(m, 3)};

    list.items = tg_arena_alloc_array(m->arena, list.n, layout.size);
    for (size_t i = 0; i < list.n; i++) {
        char *item = (char *)list.items + i * layout.size;
        const char *key = tg_arena_printf(m->arena, "key-%zu", i);

        if (field->kind == TG_FIELD_MAP)
            memcpy(item, &key, sizeof(key));
        if (field->item == TG_FIELD_OBJECT)
            make_object(m, field->type, item + layout.value);
        else
            make_scalar(m, field->item, item + layout.value);
    }
    memcpy(slot, &list, sizeof(list));
}

static void make_object(struct maker *m, const struct tg_type *type, char *object)
{
    m->depth++;
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        char *slot = object + field->offset;

        if (draw(m, 4) == 0 || m->depth > 8)
            continue;
        if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP) {
            make_items(m, field, slot);
        } else if (field->kind == TG_FIELD_OBJECT) {
            char *child = tg_arena_alloc(m->arena, field->type->size);
            make_object(m, field->type, child);
            memcpy(slot, &child, sizeof(child));
        } else {
            make_scalar(m, field->kind, slot);
        }
    }
    m->depth--;
}

static const struct tg_kind *const kinds[] = {
    &tg_kind_pod,
    &tg_kind_node,
    &tg_kind_resource_claim,
    &tg_kind_resource_slice,
    &tg_kind_device_class,
    &tg_kind_device_taint_rule,
};

static void a_packed_object_is_whole_again_and_leaves_nothing_behind(void **state)
{
    struct tg_pool *pool = tg_pool_new();

    (void)state;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        const struct tg_type *type = kinds[seed % (sizeof(kinds) / sizeof(kinds[0]))]->type;
        struct maker m = {.arena = tg_arena_new(TG_ARENA_UNLIMITED), .seed = seed};
        struct tg_buf packed = TG_BUF_INIT(1 << 24);
        struct tg_buf before = TG_BUF_INIT(1 << 24);
        struct tg_buf after = TG_BUF_INIT(1 << 24);
        char *object = tg_arena_alloc(m.arena, type->size);
        char *again = tg_arena_alloc(m.arena, type->size);

        make_object(&m, type, object);
        tg_json_pack(type, object, pool, &packed);
        assert_int_equal(tg_json_unpack(type, packed.data, pool, m.arena, again), 0);
        assert_int_equal(tg_json_encode(type, object, &before, NULL), 0);
        assert_int_equal(tg_json_encode(type, again, &after, NULL), 0);
        assert_string_equal(tg_buf_str(&after), tg_buf_str(&before));
        tg_json_pack_release(type, packed.data, pool);
        assert_int_equal(tg_pool_count(pool), 0);
        tg_buf_done(&packed);
        tg_buf_done(&before);
        tg_buf_done(&after);
        tg_arena_free(m.arena);
    }
    tg_pool_free(pool);
}

/* Two pods of one ReplicaSet on one node. */
static void what_two_objects_have_equal_is_kept_once(void **state)
{
    struct tg_pool *pool = tg_pool_new();
    struct tg_container containers[] = {{.name = "main"}};
    struct tg_string_pair labels[] = {{"app", "web"}, {"pod-template-hash", "7d9c5b"}};
    struct tg_buf one = TG_BUF_INIT(1 << 20);
    struct tg_buf two = TG_BUF_INIT(1 << 20);
    struct tg_object_meta meta = {
        .name = "web-1", .uid = "01234567-89ab-cdef-0123-456789abcdef", .labels = {labels, 2}};
    struct tg_pod_spec spec = {.node_name = "node-1", .containers = {containers, 1}};
    struct tg_pod pod = {.metadata = &meta, .spec = &spec};
    size_t count;

    (void)state;
    tg_json_pack(&tg_pod_type, &pod, pool, &one);
    count = tg_pool_count(pool);
    meta.name = "web-2";
    tg_json_pack(&tg_pod_type, &pod, pool, &two);
    assert_int_equal(tg_pool_count(pool), count);
    assert_int_equal(one.len, two.len);
    assert_in_range(one.len, 20, 40);
    tg_json_pack_release(&tg_pod_type, one.data, pool);
    assert_int_equal(tg_pool_count(pool), count);
    tg_json_pack_release(&tg_pod_type, two.data, pool);
    assert_int_equal(tg_pool_count(pool), 0);
    tg_buf_done(&one);
    tg_buf_done(&two);
    tg_pool_free(pool);
}

static void any_allocation_may_fail_while_an_object_is_made_whole(void **state)
{
    const struct tg_type *type = &tg_resource_claim_type;
    struct tg_pool *pool = tg_pool_new();
    struct maker m = {.arena = tg_arena_new(TG_ARENA_UNLIMITED), .seed = 42};
    struct tg_buf packed = TG_BUF_INIT(1 << 24);
    char *object = tg_arena_alloc(m.arena, type->size);
    size_t failures = 0;
    int rc;

    (void)state;
    make_object(&m, type, object);
    tg_json_pack(type, object, pool, &packed);
    do {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        char *again = tg_arena_alloc(arena, type->size);

        tg_arena_fail_after(arena, ++failures);
        rc = tg_json_unpack(type, packed.data, pool, arena, again);
        tg_arena_free(arena);
    } while (rc != 0);
    assert_true(failures > 5);
    tg_json_pack_release(type, packed.data, pool);
    tg_buf_done(&packed);
    tg_arena_free(m.arena);
    tg_pool_free(pool);
}

static void a_pod_without_claims_is_trimmed_to_what_takes_room(void **state)
{
    struct tg_condition conditions[] = {{.type = "Ready"}};
    struct tg_owner_reference owners[] = {{.name = "web"}};
    struct tg_pod_claim claims[] = {{.name = "gpu"}};
    struct tg_object_meta meta = {
        .name = "a", .creation_timestamp = "t", .owner_references = {owners, 1}};
    struct tg_pod_spec spec = {.node_name = "n", .resource_claims = {claims, 1}};
    struct tg_pod_status status = {.phase = "Running", .conditions = {conditions, 1}};
    struct tg_pod pod = {.metadata = &meta, .spec = &spec, .status = &status};

    (void)state;
    tg_kind_pod.trim((struct tg_object *)&pod);
    assert_int_equal(status.conditions.n, 1);
    assert_non_null(meta.creation_timestamp);
    assert_int_equal(meta.owner_references.n, 1);
    spec.resource_claims.n = 0;
    tg_kind_pod.trim((struct tg_object *)&pod);
    assert_int_equal(status.conditions.n, 0);
    assert_null(meta.creation_timestamp);
    assert_int_equal(meta.owner_references.n, 0);
    assert_string_equal(status.phase, "Running");
    pod.status = NULL;
    tg_kind_pod.trim((struct tg_object *)&pod);
    pod.spec = NULL;
    tg_kind_pod.trim((struct tg_object *)&pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_object_is_whole_again_and_leaves_nothing_behind),
        cmocka_unit_test(what_two_objects_have_equal_is_kept_once),
        cmocka_unit_test(any_allocation_may_fail_while_an_object_is_made_whole),
        cmocka_unit_test(a_pod_without_claims_is_trimmed_to_what_takes_room),
    };
    return cmocka_run_group_tests_name("json_pack", tests, NULL, NULL);
}
