/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller/one.h"

#define MINUTE (60 * TG_SECOND)
#define MEMBER                                                                                     \
    "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':'tangram.dev/v1alpha1','kind':"  \
    "'GangMember','gang':'g'}}}"

/* Room for two of the three members that the Gang of a user has. */
static struct bench *crowded(const char *timeout)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g'},'spec':{'size':3%s}}",
                      timeout);
    bench_pod(bench, "a", 1, 1, MEMBER);
    bench_pod(bench, "b", 1, 1, MEMBER);
    bench_pod(bench, "c", 1, 1, MEMBER);
    return bench;
}

static void
a_gang_that_waits_longer_than_it_may_is_given_up_until_a_member_is_replaced(void **state)
{
    struct bench *bench = crowded(",'scheduleTimeout':'10m'");

    (void)state;
    bench_settle(bench, 9 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Waiting");
    bench_settle(bench, 2 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Failed");
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"),
                           "ScheduleTimeout: given up: no place was found within scheduleTimeout "
                           "10m. Replace a member to have it tried again. The last answer was: "
                           "even with every device free the nodes have room for no more than 2 of "
                           "the 3 members"));
    /* Room that comes later changes nothing, nor is anything written for it. */
    bench_node(bench, "n2", 2);
    TG_VEC_CLEAR(&bench->trace);
    bench_settle(bench, 60 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Failed");
    assert_int_equal(bench_allocated(bench), 0);
    assert_string_equal(bench_trace(bench), "");
    bench_delete_pod(bench, "c");
    bench_settle(bench, MINUTE);
    bench_pod(bench, "d", 1, 1, MEMBER);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "d",
                      "{'metadata':{'creationTimestamp':'2026-01-01T01:30:00Z'}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void members_that_do_not_come_in_time_are_given_up_too(void **state)
{
    struct bench *bench = crowded(",'scheduleTimeout':'10m'");

    (void)state;
    bench_delete_pod(bench, "c");
    bench_settle(bench, 11 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Failed");
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"), "2 of 3 members exist"));
    bench_free(bench);
}

static void without_a_timeout_a_gang_waits_for_ever(void **state)
{
    struct bench *bench = crowded("");

    (void)state;
    bench_settle(bench, 600 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Waiting");
    bench_node(bench, "n2", 2);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void a_gang_that_finds_a_place_in_time_is_not_concerned(void **state)
{
    struct bench *bench = crowded(",'scheduleTimeout':'10m'");

    (void)state;
    bench_settle(bench, 5 * MINUTE);
    bench_node(bench, "n2", 2);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_settle(bench, 20 * MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_gang_that_waits_longer_than_it_may_is_given_up_until_a_member_is_replaced),
        cmocka_unit_test(members_that_do_not_come_in_time_are_given_up_too),
        cmocka_unit_test(without_a_timeout_a_gang_waits_for_ever),
        cmocka_unit_test(a_gang_that_finds_a_place_in_time_is_not_concerned),
    };

    return cmocka_run_group_tests_name("timeout", tests, NULL, NULL);
}
