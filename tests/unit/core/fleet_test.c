/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

static void a_node_is_ok_gone_or_not_ready(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "ok", "", "");
    add_node(&w, "cordoned", "", "\"unschedulable\":true");
    w.nodes[w.n_nodes++] = decode(w.arena, &tg_node_type, "{\"metadata\":{\"name\":\"silent\"}}");
    w.nodes[w.n_nodes++] = decode(w.arena, &tg_node_type,
                                  "{\"metadata\":{\"name\":\"down\"},\"status\":{\"conditions\":[{"
                                  "\"type\":\"Ready\",\"status\":\"Unknown\"}]}}");
    fleet = world_fleet(&w);
    assert_int_equal(tg_fleet_node_state(fleet, "ok"), TG_NODE_OK);
    assert_int_equal(tg_fleet_node_state(fleet, "cordoned"), TG_NODE_NOT_READY);
    assert_int_equal(tg_fleet_node_state(fleet, "silent"), TG_NODE_NOT_READY);
    assert_int_equal(tg_fleet_node_state(fleet, "down"), TG_NODE_NOT_READY);
    assert_int_equal(tg_fleet_node_state(fleet, "nope"), TG_NODE_GONE);
    assert_int_equal(tg_fleet_node_state(fleet, NULL), TG_NODE_GONE);
    world_done(&w);
}

static void a_device_is_found_by_driver_pool_and_name(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 3, "");
    add_gpus(&w, "b", 3, ""); /* its node is not there */
    fleet = world_fleet(&w);
    assert_string_equal(tg_fleet_device(fleet, GPU_DRIVER, "a", "gpu-1", w.arena)->name, "gpu-1");
    assert_non_null(tg_fleet_device(fleet, GPU_DRIVER, "b", "gpu-2", w.arena));
    assert_null(tg_fleet_device(fleet, GPU_DRIVER, "a", "gpu-3", w.arena));
    assert_null(tg_fleet_device(fleet, "other", "a", "gpu-1", w.arena));
    assert_null(tg_fleet_device(fleet, NULL, "a", "gpu-1", w.arena));
    world_done(&w);
}

static void a_device_state_tells_absent_tainted_and_tolerated(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    const struct tg_toleration tolerate = {.key = "k", .operator_ = "Exists"};

    (void)state;
    world_init(&w);
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                  "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,"
                  "\"resourceSliceCount\":1},\"devices\":"
                  "[{\"name\":\"ok\",\"taints\":[{\"key\":\"k\",\"effect\":\"None\"}]},{\"name\":"
                  "\"bad\",\"taints\":[{"
                  "\"key\":\"k\",\"effect\":\"NoExecute\"}]},{\"name\":\"sick\",\"attributes\":{"
                  "\"healthy\":{\"bool\":"
                  "false}}}]}}");
    fleet = world_fleet(&w);
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "a", "ok", NULL, 0), TG_DEVICE_OK);
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "a", "bad", NULL, 0),
                     TG_DEVICE_TAINTED);
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "a", "bad", &tolerate, 1),
                     TG_DEVICE_OK);
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "a", "sick", &tolerate, 1),
                     TG_DEVICE_TAINTED);
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "a", "none", NULL, 0),
                     TG_DEVICE_ABSENT);
    world_done(&w);
}

static void an_exhausted_budget_is_an_ordinary_error(void **state)
{
    struct world w;
    struct tg_fleet_input input;
    int rc = -1;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "\"healthy\":{\"bool\":false}");
    add_holder(&w, "h", "a", "gpu-0");
    w.pods[w.n_pods++] = new_pod(&w, "p", "1", "\"nodeName\":\"a\",");
    input = world_input(&w);
    for (size_t nth = 1; rc != 0; nth++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_fleet *fleet = NULL;
        struct tg_error err = TG_ERROR_INIT;

        tg_arena_fail_after(arena, nth);
        rc = tg_fleet_new(&input, arena, &fleet, &err);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
        tg_arena_free(arena);
    }
    world_done(&w);
}

static void slack_is_the_share_of_the_scarcest_resource(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "free", "", "");
    add_node(&w, "half", "", "");
    w.pods[w.n_pods++] =
        decode(w.arena, &tg_pod_type,
               "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"nodeName\":\"half\","
               "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]}}");
    fleet = world_fleet(&w);
    assert_int_equal(tg_fleet_node_slack(fleet, "free"), TG_SLACK_WHOLE);
    assert_int_equal(tg_fleet_node_slack(fleet, "half"), TG_SLACK_WHOLE / 2);
    assert_int_equal(tg_fleet_node_slack(fleet, "nope"), TG_SLACK_WHOLE);
    world_done(&w);
}

static void what_is_assumed_is_taken(void **state)
{
    struct tg_fleet_busy busy = {
        .driver = GPU_DRIVER, .pool = "a", .device = "gpu-1", .holder = "gang n/g"};
    struct tg_fleet_assumed assumed = {.node = "a"};
    struct tg_fleet *fleet;
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    assumed.pod =
        decode(w.arena, &tg_pod_type,
               "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{"
               "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}");
    fleet = world_fleet(&w);
    assert_null(tg_fleet_device_holder(fleet, GPU_DRIVER, "a", "gpu-1"));
    tg_fleet_assume(fleet, &busy, 1, &assumed, 1);
    assert_string_equal(tg_fleet_device_holder(fleet, GPU_DRIVER, "a", "gpu-1"), "gang n/g");
    assert_null(tg_fleet_device_holder(fleet, GPU_DRIVER, "a", "gpu-0"));
    assert_int_equal(tg_fleet_node_slack(fleet, "a"), TG_SLACK_WHOLE * 3 / 4);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_ok_gone_or_not_ready),
        cmocka_unit_test(a_device_is_found_by_driver_pool_and_name),
        cmocka_unit_test(a_device_state_tells_absent_tainted_and_tolerated),
        cmocka_unit_test(slack_is_the_share_of_the_scarcest_resource),
        cmocka_unit_test(what_is_assumed_is_taken),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
    };

    return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
