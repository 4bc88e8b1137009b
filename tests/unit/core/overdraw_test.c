/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

#define SLICE(name, more)                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"driver\":\"" GPU_DRIVER                     \
    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,\"resourceSliceCount\":2}"    \
    "," more "}}"
#define HALF(name)                                                                                 \
    "{\"name\":\"" name "\",\"consumesCounters\":[{\"counterSet\":\"c\",\"counters\":{\"m\":{"     \
    "\"value\":\"2\"}}}]}"

static void begin(struct world *w)
{
    world_init(w);
    add_node(w, "n", "", "");
    add_slice(w,
              SLICE("d", "\"devices\":[" HALF("a") "," HALF(
                             "b") ",{\"name\":\"plain\"},{"
                                  "\"name\":\"s\",\"allowMultipleAllocations\":true,\"capacity\":{"
                                  "\"memory\":{\"value\":\"4Gi\"}}}]"));
    add_slice(w, SLICE("c", "\"sharedCounters\":[{\"name\":\"c\",\"counters\":{\"m\":{\"value\":"
                            "\"3\"}}}]"));
}

static const char *overdrawn(struct world *w, const char *device)
{
    return tg_fleet_overdrawn(world_fleet(w), "n", GPU_DRIVER, "n", device, w->arena);
}

static void a_counter_of_which_too_much_is_given_is_named(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    add_holder(&w, "x", "n", "a");
    assert_null(overdrawn(&w, "a"));
    add_holder(&w, "y", "n", "b");
    assert_string_equal(overdrawn(&w, "a"), "counter m of set c");
    assert_string_equal(overdrawn(&w, "b"), "counter m of set c");
    assert_null(overdrawn(&w, "plain"));
    assert_null(overdrawn(&w, "absent"));
    world_done(&w);
}

static void a_capacity_of_which_too_much_is_given_is_named(void **state)
{
    static const struct tg_string_pair amount = {"memory", "3Gi"};
    static const char *const shares[] = {"1", "2"};
    struct world w;

    (void)state;
    begin(&w);
    for (size_t i = 0; i < 2; i++) {
        assert_null(overdrawn(&w, "s"));
        w.busy[w.n_busy++] = (struct tg_fleet_busy){.driver = GPU_DRIVER,
                                                    .pool = "n",
                                                    .device = "s",
                                                    .holder = "h",
                                                    .share = shares[i],
                                                    .consumed = &amount,
                                                    .n_consumed = 1};
    }
    assert_string_equal(overdrawn(&w, "s"), "capacity memory");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_of_which_too_much_is_given_is_named),
        cmocka_unit_test(a_capacity_of_which_too_much_is_given_is_named),
    };

    return cmocka_run_group_tests_name("overdraw", tests, NULL, NULL);
}
