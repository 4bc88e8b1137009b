/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/inventory/inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/names.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/encode.h"

static const struct tg_inventory_owner owner = {.driver = "gpu.tangram.dev",
                                                .node_name = "node-1",
                                                .node_uid = "11111111-2222-3333-4444-555555555555"};

static struct tg_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new(TG_ARENA_UNLIMITED);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

static struct tg_device_set devices(size_t n)
{
    struct tg_device_set set = {0};
    set.devices.items = tg_arena_alloc_array(arena, n, sizeof(*set.devices.items));
    set.devices.n = n;
    for (size_t i = 0; i < n; i++)
        set.devices.items[i].device.name = tg_arena_printf(arena, "gpu-%zu", i);
    return set;
}

static struct tg_slice_list build(size_t n)
{
    struct tg_device_set set = devices(n);
    struct tg_slice_list list = {0};
    assert_int_equal(tg_inventory_build(&owner, &set, arena, &list, NULL), 0);
    return list;
}

static void a_node_with_few_devices_is_one_slice(void **state)
{
    (void)state;
    struct tg_slice_list list = build(8);
    const struct tg_resource_slice *slice = &list.items[0];
    assert_int_equal(list.n, 1);
    assert_string_equal(slice->spec->driver, "gpu.tangram.dev");
    assert_string_equal(slice->spec->node_name, "node-1");
    assert_string_equal(slice->spec->pool->name, "node-1");
    assert_int_equal(slice->spec->pool->resource_slice_count.value, 1);
    assert_int_equal(slice->spec->devices.n, 8);
    assert_string_equal(slice->spec->devices.items[7].name, "gpu-7");
}

static void a_slice_goes_with_its_node(void **state)
{
    (void)state;
    const struct tg_object_meta *metadata = build(1).items[0].metadata;
    assert_int_equal(metadata->owner_references.n, 1);
    assert_string_equal(metadata->owner_references.items[0].api_version, "v1");
    assert_string_equal(metadata->owner_references.items[0].kind, "Node");
    assert_string_equal(metadata->owner_references.items[0].name, "node-1");
    assert_string_equal(metadata->owner_references.items[0].uid, owner.node_uid);
    assert_true(metadata->owner_references.items[0].controller.value);
}

static void without_a_node_uid_there_is_no_owner(void **state)
{
    (void)state;
    struct tg_inventory_owner anonymous = owner;
    struct tg_device_set set = devices(1);
    struct tg_slice_list list = {0};
    anonymous.node_uid = NULL;
    assert_int_equal(tg_inventory_build(&anonymous, &set, arena, &list, NULL), 0);
    assert_int_equal(list.items[0].metadata->owner_references.n, 0);
}

static void a_slice_has_at_most_128_devices_and_their_order_stays(void **state)
{
    (void)state;
    static const struct {
        size_t devices, slices, last;
    } rows[] = {{127, 1, 127}, {128, 1, 128}, {129, 2, 1}, {256, 2, 128}, {300, 3, 44}};
    for (size_t r = 0; r < TG_ARRAY_SIZE(rows); r++) {
        struct tg_slice_list list = build(rows[r].devices);
        size_t next = 0;
        assert_int_equal(list.n, rows[r].slices);
        assert_int_equal(list.items[list.n - 1].spec->devices.n, rows[r].last);
        for (size_t i = 0; i < list.n; i++) {
            assert_int_equal(list.items[i].spec->pool->resource_slice_count.value, list.n);
            for (size_t d = 0; d < list.items[i].spec->devices.n; d++) {
                char name[32];
                snprintf(name, sizeof(name), "gpu-%zu", next++);
                assert_string_equal(list.items[i].spec->devices.items[d].name, name);
            }
        }
    }
}

static void a_node_without_devices_is_one_empty_slice(void **state)
{
    (void)state;
    struct tg_slice_list list = build(0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].spec->devices.n, 0);
    assert_int_equal(list.items[0].spec->pool->resource_slice_count.value, 1);
}

static void names_sort_as_the_devices_do_and_never_change(void **state)
{
    (void)state;
    struct tg_slice_list list = build(300);
    assert_string_equal(list.items[0].metadata->name, "00000-gpu.tangram.dev-node-1-ba9a978d");
    assert_string_equal(list.items[2].metadata->name, "00002-gpu.tangram.dev-node-1-ba9a978d");
    assert_true(strcmp(list.items[0].metadata->name, list.items[1].metadata->name) < 0);
}

static const char *name_for(const char *driver, const char *node_name)
{
    struct tg_inventory_owner one = {.driver = driver, .node_name = node_name};
    struct tg_device_set set = devices(1);
    struct tg_slice_list list = {0};
    struct tg_error err = TG_ERROR_INIT;
    if (tg_inventory_build(&one, &set, arena, &list, &err) != 0)
        fail_msg("%s", err.message);
    return list.items[0].metadata->name;
}

static void different_owners_have_different_names(void **state)
{
    (void)state;
    assert_string_not_equal(name_for("a-b", "c"), name_for("a", "b-c"));
    assert_string_not_equal(name_for("gpu.tangram.dev", "node-1"),
                            name_for("gpu.tangram.dev", "node-2"));
}

static void the_longest_names_still_make_an_object_name(void **state)
{
    (void)state;
    char driver[64], node[254], dotted[254];
    memset(driver, 'd', 63);
    driver[63] = '\0';
    for (size_t i = 0; i < 253; i++)
        node[i] = i % 64 == 63 ? '.' : 'n';
    node[253] = '\0';
    assert_true(tg_name_is(TG_NAME_SUBDOMAIN, name_for(driver, node)));
    assert_int_equal(strlen(name_for(driver, node)), 253);
    /* The cut may fall on a dot, wherever the dots are. */
    for (size_t shift = 0; shift < 64; shift++) {
        for (size_t i = 0; i < 253; i++)
            dotted[i] = i > 0 && i < 252 && (i + shift) % 64 == 63 ? '.' : 'n';
        dotted[253] = '\0';
        if (tg_name_is(TG_NAME_SUBDOMAIN, dotted))
            assert_true(tg_name_is(TG_NAME_SUBDOMAIN, name_for(driver, dotted)));
    }
}

static void owners_that_the_api_would_refuse_are_refused(void **state)
{
    (void)state;
    static const struct tg_inventory_owner bad[] = {
        {.driver = "", .node_name = "n"},
        {.driver = NULL, .node_name = "n"},
        {.driver = "gpu_tangram", .node_name = "n"},
        {.driver = "gpu.tangram.dev", .node_name = ""},
        {.driver = "gpu.tangram.dev", .node_name = "Node"},
    };
    struct tg_device_set set = devices(1);
    struct tg_slice_list list = {0};
    for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
        assert_int_equal(tg_inventory_build(&bad[i], &set, arena, &list, NULL),
                         -TG_INVALID_ARGUMENT);
}

static void a_device_that_cannot_be_published_stops_all(void **state)
{
    (void)state;
    struct tg_device_set set = devices(3);
    struct tg_slice_list list = {0};
    struct tg_keyed_attribute guard = {.key = "tangram.dev/granted",
                                       .value = {.bool_ = {true, true}}};
    struct tg_error err = TG_ERROR_INIT;
    set.devices.items[1].device.attributes.items = &guard;
    set.devices.items[1].device.attributes.n = 1;
    assert_int_equal(tg_inventory_build(&owner, &set, arena, &list, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "gpu-1"));
}

static void a_slice_encodes_to_what_the_api_reads(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 16);
    struct tg_slice_list list = build(1);
    assert_int_equal(tg_json_encode(&tg_resource_slice_type, &list.items[0], &text, NULL), 0);
    assert_non_null(strstr(tg_buf_str(&text), "\"driver\":\"gpu.tangram.dev\""));
    assert_non_null(strstr(tg_buf_str(&text), "\"nodeName\":\"node-1\""));
    assert_non_null(strstr(tg_buf_str(&text), "\"devices\":[{\"name\":\"gpu-0\"}]"));
}

static void memory_is_bounded(void **state)
{
    (void)state;
    struct tg_device_set set = devices(3);
    int rc = -1;
    for (size_t nth = 1; rc != 0; nth++) {
        TG_AUTOARENA struct tg_arena *tight = tg_arena_new(1 << 20);
        struct tg_slice_list list = {0};
        tg_arena_fail_after(tight, nth);
        rc = tg_inventory_build(&owner, &set, tight, &list, NULL);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest inventory[] = {
        WITH(a_node_with_few_devices_is_one_slice),
        WITH(a_slice_goes_with_its_node),
        WITH(without_a_node_uid_there_is_no_owner),
        WITH(a_slice_has_at_most_128_devices_and_their_order_stays),
        WITH(a_node_without_devices_is_one_empty_slice),
        WITH(names_sort_as_the_devices_do_and_never_change),
        WITH(different_owners_have_different_names),
        WITH(the_longest_names_still_make_an_object_name),
        WITH(owners_that_the_api_would_refuse_are_refused),
        WITH(a_device_that_cannot_be_published_stops_all),
        WITH(a_slice_encodes_to_what_the_api_reads),
        WITH(memory_is_bounded),
    };
    return cmocka_run_group_tests(inventory, NULL, NULL);
}
