/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/inventory/layout.h"

#include "driver/inventory/inventory.h"
#include "tests/unit/driver/nvml_machine.h"

static struct machine *m;

static int set_up(void **state)
{
    (void)state;
    m = machine_new("card h100-80gb mig=on count=4\ncard l4-24gb\n", "NVIDIA H100*");
    machine_must_list(m);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    machine_free(m);
    return 0;
}

static struct tg_slice_list build(enum tg_slice_layout layout)
{
    const struct tg_inventory_owner owner = {
        .driver = "gpu.tangram.dev", .node_name = "node-1", .layout = layout};
    struct tg_slice_list list = {0};
    assert_int_equal(tg_inventory_build(&owner, &m->set, m->arena, &list, NULL), 0);
    return list;
}

static void without_counters_only_what_stands_is_published(void **state)
{
    (void)state;
    struct tg_slice_list list = build(TG_SLICES_PLAIN);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].spec->devices.n, 1); /* the card that is not partitioned */
    assert_int_equal(list.items[0].spec->shared_counters.n, 0);
}

static void counter_sets_come_first_and_in_slices_of_their_own(void **state)
{
    (void)state;
    struct tg_slice_list list = build(TG_SLICES_COUNTERS);
    assert_int_equal(list.n, 3); /* 73 devices, at most 64 a slice */
    assert_int_equal(list.items[0].spec->shared_counters.n, 4);
    assert_int_equal(list.items[0].spec->devices.n, 0);
    assert_int_equal(list.items[1].spec->devices.n, 64);
    assert_int_equal(list.items[2].spec->devices.n, 9);
    for (size_t i = 0; i < list.n; i++)
        assert_int_equal(list.items[i].spec->pool->resource_slice_count.value, 3);
}

/* 1.34 looks no further than a slice: 32 counters, each beside all that consume it. */
static void counter_sets_are_beside_the_devices_that_consume_them(void **state)
{
    (void)state;
    struct tg_slice_list list = build(TG_SLICES_TOGETHER);
    size_t devices = 0, sets = 0;
    assert_int_equal(list.n, 3); /* three cards, one, and the one that is not partitioned */
    for (size_t i = 0; i < list.n; i++) {
        const struct tg_resource_slice_spec *spec = list.items[i].spec;
        assert_int_equal(spec->pool->resource_slice_count.value, 3);
        assert_true(spec->devices.n <= 64);
        assert_true(spec->shared_counters.n * 8 <= 32);
        for (size_t k = 0; k < spec->devices.n && i < 2; k++) {
            size_t at = 0;
            while (at < spec->shared_counters.n &&
                   !tg_streq(spec->shared_counters.items[at].name,
                             spec->devices.items[k].consumes_counters.items[0].name))
                at++;
            assert_true(at < spec->shared_counters.n);
        }
        devices += spec->devices.n;
        sets += spec->shared_counters.n;
    }
    assert_int_equal(devices, m->set.devices.n);
    assert_int_equal(sets, 4);
    assert_int_equal(list.items[2].spec->devices.n, 1);
    assert_int_equal(list.items[2].spec->shared_counters.n, 0);
}

/* Neither the devices of a counter set nor its counters may be torn apart. */
static void a_counter_set_that_fits_into_no_slice_is_told(void **state)
{
    const struct tg_inventory_owner owner = {
        .driver = "gpu.tangram.dev", .node_name = "node-1", .layout = TG_SLICES_TOGETHER};
    struct tg_slice_list list = {0};
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < m->set.devices.n; i++) {
        struct tg_device *device = &m->set.devices.items[i].device;

        for (size_t k = 0; k < device->consumes_counters.n; k++)
            device->consumes_counters.items[k].name = m->set.counter_sets.items[0].name;
    }
    assert_int_equal(tg_inventory_build(&owner, &m->set, m->arena, &list, &err),
                     -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "72 devices over"));
    assert_non_null(strstr(err.message, "do not fit into one slice"));
}

static void counters_are_derived_only_where_the_server_keeps_none(void **state)
{
    (void)state;
    assert_int_equal(tg_slice_layout_choose(TG_SLICES_PLAIN, false), TG_SLICES_PLAIN);
    assert_int_equal(tg_slice_layout_choose(TG_SLICES_PLAIN, true), TG_SLICES_DERIVED);
    assert_int_equal(tg_slice_layout_choose(TG_SLICES_COUNTERS, true), TG_SLICES_COUNTERS);
    assert_int_equal(tg_slice_layout_choose(TG_SLICES_TOGETHER, true), TG_SLICES_TOGETHER);
}

static void names_are_the_same_in_all_layouts(void **state)
{
    (void)state;
    struct tg_slice_list counters = build(TG_SLICES_COUNTERS), derived = build(TG_SLICES_DERIVED);
    assert_int_equal(derived.n, 1); /* 73 devices, at most 128 a slice */
    for (size_t i = 0; i < 64; i++)
        assert_string_equal(counters.items[1].spec->devices.items[i].name,
                            derived.items[0].spec->devices.items[i].name);
}

static void derived_devices_say_so_and_what_the_controller_needs(void **state)
{
    (void)state;
    struct tg_slice_list list = build(TG_SLICES_DERIVED);
    const struct tg_provider_device device = {.device = list.items[0].spec->devices.items[0]};
    assert_true(attribute(&device, "derived")->bool_.value);
    assert_non_null(text_of(&device, "parentUUID"));
    assert_int_equal(int_of(&device, "memorySliceStart"), 6);
    assert_int_equal(int_of(&device, "memorySliceSize"), 1);
    assert_int_equal(device.device.consumes_counters.n, 0);
    for (size_t i = 1; i < device.device.attributes.n; i++)
        assert_true(strcmp(device.device.attributes.items[i - 1].key,
                           device.device.attributes.items[i].key) < 0);
}

/* What a server that drops the fields makes of them must not pass for the same. */
static void slices_that_lost_their_counters_are_not_what_was_wanted(void **state)
{
    (void)state;
    const struct tg_inventory_owner owner = {
        .driver = "gpu.tangram.dev", .node_name = "node-1", .layout = TG_SLICES_COUNTERS};
    struct tg_slice_list wanted = build(TG_SLICES_COUNTERS), kept = build(TG_SLICES_COUNTERS);
    const struct tg_resource_slice *observed[3];
    struct tg_inventory_plan plan;
    for (size_t i = 0; i < 3; i++) {
        kept.items[i].spec->pool->generation = (struct tg_opt_int){.set = true, .value = 1};
        observed[i] = &kept.items[i];
    }
    assert_int_equal(tg_inventory_compare(&owner, &wanted, observed, 3, 1, m->arena, &plan, NULL),
                     0);
    assert_int_equal(plan.n, 0);
    kept.items[0].spec->shared_counters.n = 0;
    assert_int_equal(tg_inventory_compare(&owner, &wanted, observed, 3, 1, m->arena, &plan, NULL),
                     0);
    assert_int_equal(plan.n, 1);
    kept.items[0].spec->shared_counters.n = 4;
    kept.items[2].spec->devices.items[0].consumes_counters.n = 0;
    assert_int_equal(tg_inventory_compare(&owner, &wanted, observed, 3, 1, m->arena, &plan, NULL),
                     0);
    assert_int_equal(plan.n, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(without_counters_only_what_stands_is_published),
        TEST(counter_sets_come_first_and_in_slices_of_their_own),
        TEST(counter_sets_are_beside_the_devices_that_consume_them),
        TEST(a_counter_set_that_fits_into_no_slice_is_told),
        TEST(counters_are_derived_only_where_the_server_keeps_none),
        TEST(names_are_the_same_in_all_layouts),
        TEST(derived_devices_say_so_and_what_the_controller_needs),
        TEST(slices_that_lost_their_counters_are_not_what_was_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
