/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/demand.h"
#include "tests/unit/core/world.h"

static struct tg_demand sum(struct tg_arena *arena, const char *json)
{
    const struct tg_pod *pod = decode(arena, &tg_pod_type, json);
    struct tg_demand demand;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_demand_sum(&pod, 1, arena, &demand, &err) < 0)
        fail_msg("%s", err.message);
    return demand;
}

static int64_t amount(const struct tg_demand *demand, const char *name)
{
    for (size_t i = 0; i < demand->n; i++) {
        if (strcmp(demand->items[i].name, name) == 0)
            return demand->items[i].value;
    }
    return -1;
}

#define REQ(resources) "\"resources\":{\"requests\":{" resources "}}"
#define POD(spec) "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},\"spec\":{" spec "}}"

static void containers_add_up_and_a_pod_is_one_pod(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_demand d =
        sum(arena,
            POD("\"containers\":[{\"name\":\"a\"," REQ(
                "\"cpu\":\"250m\",\"memory\":\"1Gi\"") "},{\"name\":\"b\"," REQ("\"cpu\":1,\"x.com/"
                                                                                "y\":\"3\"") "}]"));

    (void)state;
    assert_int_equal(amount(&d, "cpu"), 1250);
    assert_int_equal(amount(&d, "memory"), 1073741824);
    assert_int_equal(amount(&d, "x.com/y"), 3);
    assert_int_equal(amount(&d, "pods"), 1);
    for (size_t i = 1; i < d.n; i++)
        assert_true(strcmp(d.items[i - 1].name, d.items[i].name) < 0);
}

static void fractions_are_rounded_up(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_demand d =
        sum(arena, POD("\"containers\":[{" REQ("\"cpu\":\"100u\",\"memory\":\"1500m\"") "}]"));

    (void)state;
    assert_int_equal(amount(&d, "cpu"), 1);
    assert_int_equal(amount(&d, "memory"), 2);
}

/* Sidecar s1 runs beside everything after it; i1 runs before it, i2 beside it. */
static void an_init_container_counts_with_the_sidecars_before_it(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_demand d = sum(
        arena,
        POD("\"containers\":[{" REQ("\"cpu\":\"1\"") "}],\"initContainers\":[{\"name\":\"i1\"," REQ(
            "\"cpu\":\"4\",\"memory\":\"9\"") "},{\"name\":\"s1\",\"restartPolicy\":"
                                              "\"Always\"," REQ("\"cpu\":\"2\"") "},{\"name\":"
                                                                                 "\"i2\"," REQ(
                                                                                     "\"c"
                                                                                     "pu"
                                                                                     "\":"
                                                                                     "\"3"
                                                                                     "\"") "}]"));

    (void)state;
    /* max(1 + 2, i1 4, i2 3 + 2) */
    assert_int_equal(amount(&d, "cpu"), 5000);
    assert_int_equal(amount(&d, "memory"), 9);
}

static void pod_level_requests_replace_and_overhead_is_added(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_demand d = sum(
        arena,
        POD("\"containers\":[{" REQ("\"cpu\":\"4\",\"memory\":\"8\",\"x.com/y\":\"1\"") "}]," REQ(
            "\"cpu\":\"2\",\"x.com/y\":\"7\"") ",\"overhead\":{\"cpu\":\"500m\",\"memory\":"
                                               "\"2\"}"));

    (void)state;
    assert_int_equal(amount(&d, "cpu"), 2500);
    assert_int_equal(amount(&d, "memory"), 10);
    assert_int_equal(amount(&d, "x.com/y"), 1);
}

static void amounts_end_at_the_largest_number(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_demand d =
        sum(arena,
            POD("\"containers\":[{" REQ("\"memory\":\"8E\"") "},{" REQ("\"memory\":\"8E\"") "}]"));

    (void)state;
    assert_int_equal(amount(&d, "memory"), INT64_MAX);
    assert_int_equal(tg_amount_times(INT64_MAX / 2, 3), INT64_MAX);
    assert_int_equal(tg_amount_times(0, SIZE_MAX), 0);
    assert_int_equal(tg_amount_times(5, 3), 15);
}

static void what_is_no_quantity_is_an_error_with_pod_container_and_resource(void **state)
{
    static const char *const bad[] = {"\"cpu\":\"lots\"", "\"cpu\":\"-1\""};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        const struct tg_pod *pod = decodef(
            arena, &tg_pod_type,
            POD("\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{%s}}}]"), bad[i]);
        struct tg_demand demand;
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(tg_demand_sum(&pod, 1, arena, &demand, &err), -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "pod ns/p"));
        assert_non_null(strstr(err.message, "container main"));
        assert_non_null(strstr(err.message, "cpu"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_add_up_and_a_pod_is_one_pod),
        cmocka_unit_test(fractions_are_rounded_up),
        cmocka_unit_test(an_init_container_counts_with_the_sidecars_before_it),
        cmocka_unit_test(pod_level_requests_replace_and_overhead_is_added),
        cmocka_unit_test(amounts_end_at_the_largest_number),
        cmocka_unit_test(what_is_no_quantity_is_an_error_with_pod_container_and_resource),
    };

    return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
