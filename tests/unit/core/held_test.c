/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

static void an_allocation_holds_its_devices_published_or_not(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 2, "");
    add_holder(&w, "c", "n", "gpu-1");
    add_holder(&w, "gone", "wiped", "gpu-7");
    fleet = world_fleet(&w);
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-1"), "claim ns/c");
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "wiped", "gpu-7"),
                        "claim ns/gone");
    assert_null(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-0"));
    assert_null(tg_fleet_device_holder(fleet, NULL, "n", "gpu-0"));
    assert_null(fleet->devices[0].holder);
    assert_string_equal(fleet->devices[1].holder, "claim ns/c");
    world_done(&w);
}

static void admin_access_holds_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.claims[w.n_claims++] =
        decode(w.arena, &tg_resource_claim_type,
               "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\"},\"status\":{\"allocation\":{"
               "\"devices\":{\"results\":[{"
               "\"request\":\"r\",\"driver\":\"" GPU_DRIVER
               "\",\"pool\":\"n\",\"device\":\"gpu-0\",\"adminAccess\":true}]}}}}");
    assert_null(tg_fleet_device_holder(world_fleet(&w), GPU_DRIVER, "n", "gpu-0"));
    world_done(&w);
}

static void an_allocation_is_named_before_a_plan_and_the_first_name_before_others(void **state)
{
    static const struct tg_fleet_busy busy[] = {
        {.driver = GPU_DRIVER, .pool = "n", .device = "gpu-0", .holder = "gang ns/b"},
        {.driver = GPU_DRIVER, .pool = "n", .device = "gpu-0", .holder = "gang ns/a"},
        {.driver = GPU_DRIVER, .pool = "n", .device = "gpu-1", .holder = "aaa"},
        {.driver = NULL, .pool = "n", .device = "gpu-2", .holder = "nobody"},
        {.driver = GPU_DRIVER, .pool = "n", .device = "gpu-3", .holder = NULL},
    };
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    memcpy(w.busy, busy, sizeof(busy));
    w.n_busy = sizeof(busy) / sizeof(busy[0]);
    add_holder(&w, "z", "n", "gpu-1");
    add_holder(&w, "y", "n", "gpu-1");
    fleet = world_fleet(&w);
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-0"), "gang ns/a");
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-1"), "claim ns/y");
    assert_null(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-2"));
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "n", "gpu-3"), "unknown");
    world_done(&w);
}

/* The driver has changed its mind: nobody has the device wholly, and nobody can have it. */
static void shares_of_what_is_no_longer_shared_hold_it(void **state)
{
    static const char json[] = "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                               "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":%d,"
                               "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\"%s}]}}";
    const struct tg_fleet_busy share = {
        .driver = GPU_DRIVER, .pool = "n", .device = "d", .holder = "h", .share = "1"};
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    add_slice(&w, tg_arena_printf(w.arena, json, 1, ",\"allowMultipleAllocations\":true"));
    fleet = world_fleet(&w);
    tg_fleet_assume(fleet, &share, 1, NULL, 0);
    assert_null(fleet->devices[0].holder);
    tg_fleet_put(fleet, TG_FLEET_SLICE,
                 decode(w.arena, &tg_resource_slice_type, tg_arena_printf(w.arena, json, 2, "")));
    tg_fleet_settle(fleet);
    assert_string_equal(fleet->devices[0].holder, "h");
    tg_fleet_undo(fleet, 0);
    assert_null(fleet->devices[0].holder);
    tg_fleet_assume(fleet, &share, 1, NULL, 0);
    assert_string_equal(fleet->devices[0].holder, "h");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_what_is_no_longer_shared_hold_it),
        cmocka_unit_test(an_allocation_holds_its_devices_published_or_not),
        cmocka_unit_test(admin_access_holds_nothing),
        cmocka_unit_test(an_allocation_is_named_before_a_plan_and_the_first_name_before_others),
    };

    return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
