/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/usage.h"

#include "tests/unit/core/world.h"

#define GIB (UINT64_C(1) << 30)
#define COUNTER(n) "\"memory-slice-" #n "\":{\"value\":\"1\"}"
/* A part of a card with `memory` on these counters. */
#define PART(name, memory, counters)                                                               \
    "{\"name\":\"" name "\",\"capacity\":{\"memory\":{\"value\":\"" memory                         \
    "\"}},\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{" counters "}}]}"
#define SLICE(name, more)                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"driver\":\"" GPU_DRIVER                     \
    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,\"resourceSliceCount\":2}"    \
    "," more "}}"

static struct tg_usage read_usage(struct tg_usage_book *book, struct tg_fleet *fleet)
{
    struct tg_usage usage;

    tg_fleet_settle(fleet);
    tg_usage_read(book, fleet, &usage);
    return usage;
}

static void take(struct tg_fleet *fleet, const char *node, const char *device)
{
    tg_fleet_assume(
        fleet,
        &(struct tg_fleet_busy){
            .driver = GPU_DRIVER, .pool = node, .device = device, .holder = "gang ns/g"},
        1, NULL, 0);
}

static void free_devices_that_no_request_of_a_size_can_use_are_fragmented(void **state)
{
    struct tg_usage_book *book = tg_usage_book_new();
    struct world w;
    struct tg_fleet *fleet;
    struct tg_usage usage;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 8, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 8, "");
    fleet = world_fleet(&w);
    usage = read_usage(book, fleet);
    assert_int_equal(usage.devices[TG_USAGE_FREE], 16);
    assert_int_equal(usage.fragmented[2], 0);
    /* 7 and 8 free: of the 7 one is of no use for pairs, three for fours, all for eights. */
    take(fleet, "a", "gpu-3");
    usage = read_usage(book, fleet);
    assert_int_equal(usage.devices[TG_USAGE_FREE], 15);
    assert_int_equal(usage.devices[TG_USAGE_HELD], 1);
    assert_int_equal(usage.fragmented[0], 1);
    assert_int_equal(usage.fragmented[1], 3);
    assert_int_equal(usage.fragmented[2], 7);
    /* What was assumed and taken back is as if it had not been. */
    tg_fleet_undo(fleet, 0);
    usage = read_usage(book, fleet);
    assert_int_equal(usage.devices[TG_USAGE_HELD], 0);
    assert_int_equal(usage.fragmented[2], 0);
    tg_usage_book_free(book);
    world_done(&w);
}

static void what_keeps_a_free_device_from_being_given_is_told_apart(void **state)
{
    struct tg_usage_book *book = tg_usage_book_new();
    struct world w;
    struct tg_usage usage;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_class(&w, "gpu", "");
    add_raw_class(&w,
                  "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"selectors\":[{\"cel\":{"
                  "\"expression\":\"device.attributes[\\\"" GPU_DRIVER "\\\"].index == 1\"}}]}}");
    w.rules[w.n_rules++] =
        decode(w.arena, &tg_device_taint_rule_type,
               "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"deviceSelector\":{\"pool\":\"a\","
               "\"device\":\"gpu-0\"},\"taint\":{\"key\":\"k\",\"effect\":\"NoSchedule\"}}}");
    usage = read_usage(book, world_fleet(&w));
    assert_int_equal(usage.devices[TG_USAGE_TAINTED], 1);
    assert_int_equal(usage.devices[TG_USAGE_CONTESTED], 1);
    assert_int_equal(usage.devices[TG_USAGE_FREE], 0);
    tg_usage_book_free(book);
    world_done(&w);
}

/* Four memory slices of 10 GiB; a half starts at 0 or 2, a single one at 0 only. */
static void begin_parts(struct world *w)
{
    world_init(w);
    add_node(w, "n", "", "");
    add_slice(w, SLICE("d", "\"devices\":[" PART("one", "10Gi", COUNTER(0)) "," PART(
                                "low", "20Gi",
                                COUNTER(0) "," COUNTER(
                                    1)) "," PART("high", "20Gi", COUNTER(2) "," COUNTER(3)) "]"));
    add_slice(w, SLICE("c", "\"sharedCounters\":[{\"name\":\"card\",\"counters\":{" COUNTER(
                                0) "," COUNTER(1) "," COUNTER(2) "," COUNTER(3) "}}]"));
}

static void memory_that_no_part_can_reach_any_more_is_stranded(void **state)
{
    struct tg_usage_book *book = tg_usage_book_new();
    struct world w;
    struct tg_fleet *fleet;
    struct tg_usage usage;

    (void)state;
    begin_parts(&w);
    fleet = world_fleet(&w);
    usage = read_usage(book, fleet);
    assert_true(usage.parts_memory == 40 * GIB && usage.parts_free == 40 * GIB);
    assert_true(usage.parts_stranded == 0);
    assert_int_equal(usage.devices[TG_USAGE_FREE], 0);
    /* Memory slice 1 was for the lower half alone. */
    take(fleet, "n", "one");
    usage = read_usage(book, fleet);
    assert_true(usage.parts_free == 30 * GIB);
    assert_true(usage.parts_stranded == 10 * GIB);
    take(fleet, "n", "high");
    usage = read_usage(book, fleet);
    assert_true(usage.parts_free == 10 * GIB && usage.parts_stranded == 10 * GIB);
    tg_usage_book_free(book);
    world_done(&w);
}

static void nodes_that_come_and_go_are_seen(void **state)
{
    struct tg_usage_book *book = tg_usage_book_new();
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 3, "");
    fleet = world_fleet(&w);
    assert_int_equal(read_usage(book, fleet).devices[TG_USAGE_FREE], 3);
    add_node(&w, "a", "", "");
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[1]);
    add_gpus(&w, "a", 2, "");
    tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[1]);
    assert_int_equal(read_usage(book, fleet).devices[TG_USAGE_FREE], 5);
    tg_fleet_drop(fleet, TG_FLEET_SLICE, NULL, "s-b");
    assert_int_equal(read_usage(book, fleet).devices[TG_USAGE_FREE], 2);
    tg_usage_book_free(book);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_devices_that_no_request_of_a_size_can_use_are_fragmented),
        cmocka_unit_test(what_keeps_a_free_device_from_being_given_is_told_apart),
        cmocka_unit_test(memory_that_no_part_can_reach_any_more_is_stranded),
        cmocka_unit_test(nodes_that_come_and_go_are_seen),
    };

    return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
