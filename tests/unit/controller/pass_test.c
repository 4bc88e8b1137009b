/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass must not do: forget what is on its way, or let one unit stop the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

static void look(struct bench *bench)
{
    tg_cluster_deliver(bench->cluster);
    bench_pass(bench);
}

/* The device is promised to `claims` claims of pod a, whose pod goes while the writes are under
 * way; b wants the same device. The invariants of the bench fail if both get it. */
static void vanish_under_way(size_t claims)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 0);
    bench_node(bench, "n1", claims);
    bench_pod(bench, "a", claims, 1, NULL);
    if (claims > 1) {
        look(bench);
        bench_step(bench, 0, BENCH_OK); /* the record */
    }
    look(bench);
    bench_step(bench, 0, BENCH_OK); /* metadata of the first claim */
    bench_delete_pod(bench, "a");
    bench_pod(bench, "b", 1, 1, NULL);
    look(bench);
    /* b gets nothing while the writes for a are on their way. */
    assert_int_equal(tg_controller_state(&bench->controller, "claim/ns/b-0")->in_flight, 0);
    bench_settle(bench, 60 * TG_SECOND);
    invariants_rest(bench);
    bench_free(bench);
}

static void devices_stay_taken_when_the_pod_of_a_claim_goes_under_its_writes(void **state)
{
    (void)state;
    vanish_under_way(1);
}

static void devices_stay_taken_when_a_pod_with_two_claims_goes_under_its_writes(void **state)
{
    (void)state;
    vanish_under_way(2);
}

static void a_unit_that_asks_too_much_is_told_so_and_stops_nobody(void **state)
{
    struct bench *bench = bench_new();
    char name[240], padding[200];

    (void)state;
    memset(padding, 'x', sizeof(padding) - 1);
    padding[sizeof(padding) - 1] = '\0';
    bench_fleet(bench, 1);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof(name), "node%03d-%s", i, padding);
        bench_node(bench, name, 40);
    }
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof(name), "m%04d-%s", i, padding);
        bench_pod(bench, name, 1, 1, bench_member_config(bench, "big", 2000));
    }
    bench_pod(bench, "small", 1, 1, NULL);
    for (int i = 0; i < 6; i++) {
        look(bench);
        while (bench->ops.n > 0)
            bench_step(bench, 0, BENCH_OK);
    }
    assert_int_equal(bench_allocated(bench), 1);
    assert_true(tg_has_prefix(bench_told(bench, "gang/ns/big"), "TooLarge: "));
    bench_free(bench);
}

static void failures_in_a_row_wait_longer_each_time(void **state)
{
    struct bench *bench = bench_new();
    struct tg_unit_state *unit;
    int64_t last = 0;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    for (int i = 0; i < 5; i++) {
        look(bench);
        assert_int_equal(bench->ops.n, 1);
        bench_step(bench, 0, BENCH_CONFLICT);
        look(bench);
        unit = tg_controller_state(&bench->controller, "claim/ns/p-0");
        assert_true(unit->not_before - bench->clock.monotonic_now > last);
        last = unit->not_before - bench->clock.monotonic_now;
        tg_fake_clock_advance(&bench->clock, last);
    }
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 1);
    bench_free(bench);
}

/* The claim of a gang's first member cannot be written, time and again. */
static void refuse(struct bench *bench, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        tg_fake_clock_advance(&bench->clock, 30 * TG_SECOND);
        look(bench);
        while (bench->ops.n > 0)
            bench_step(bench, 0,
                       tg_streq(bench->ops.items[0].write.name, "g-0-0") ? BENCH_CONFLICT
                                                                         : BENCH_OK);
    }
    look(bench);
}

static void a_unit_that_backs_off_is_decided_at_once_when_one_of_its_objects_changes(void **state)
{
    struct bench *bench = bench_new();
    struct tg_unit_state *unit;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 2, 2);
    refuse(bench, 12);
    unit = tg_controller_state(&bench->controller, "gang/ns/g");
    assert_true(unit->not_before - bench->clock.monotonic_now > TG_SECOND);
    assert_int_equal(bench_allocated(bench), 1);
    for (size_t i = 0; i < 3; i++) {
        bench_pod(bench, i == 0 ? "x" : i == 1 ? "y" : "z", 0, 0, NULL); /* nothing to do with it */
        look(bench);
        assert_int_equal(bench->ops.n, 0);
    }
    assert_int_equal(bench->controller.wake_at, unit->not_before);
    bench_delete_pod(bench, "g-1");
    look(bench);
    assert_int_equal(bench->ops.n, 1);
    bench_step(bench, 0, BENCH_OK);
    assert_string_equal(bench_phase(bench, "g"), "Releasing");
    bench_settle(bench, 0);
    assert_int_equal(bench_allocated(bench), 0);
    bench_free(bench);
}

static void a_unit_whose_writes_are_refused_goes_on_by_itself_when_they_are_not(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 2, 2);
    refuse(bench, 12);
    bench_settle(bench, 60 * TG_SECOND);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    bench_free(bench);
}

static void a_released_member_that_nobody_binds_is_reported_and_forgiven(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    bench->no_scheduler = true;
    bench_settle(bench, 10 * TG_SECOND);
    assert_string_equal(bench_phase(bench, "g"), "Allocated");
    bench_settle(bench, 120 * TG_SECOND);
    assert_string_equal(bench_phase(bench, "g"), "Degraded");
    assert_true(tg_has_prefix(bench_told(bench, "gang/ns/g"), "MemberNotBound: pod g-0 "));
    bench->no_scheduler = false;
    bench_settle(bench, 0);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    bench_free(bench);
}

static void
a_class_of_others_that_matches_our_devices_is_told_and_nothing_is_given_away(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                      "{'metadata':{'name':'theirs'},'spec':{'selectors':[{'cel':{'expression':"
                      "'device.driver == \\"
                      "'device.driver == \\\"" DRIVER "\\\"'}}]}}");
    bench_pod(bench, "p", 1, 1, NULL);
    bench_settle(bench, 0);
    assert_int_equal(bench_allocated(bench), 0);
    assert_int_equal(bench->controller.contested, 2);
    assert_non_null(strstr(bench_told(bench, "class/theirs"), "ContestedDevices: "));
    assert_non_null(strstr(bench_told(bench, "class/theirs"), "matches 2 devices"));
    assert_non_null(strstr(bench_told(bench, "claim/ns/p-0"), "DeviceClass theirs"));
    tg_cluster_delete(bench->cluster, TG_VIEW_CLASS, NULL, "theirs");
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 1);
    assert_int_equal(bench->controller.contested, 0);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_stay_taken_when_the_pod_of_a_claim_goes_under_its_writes),
        cmocka_unit_test(devices_stay_taken_when_a_pod_with_two_claims_goes_under_its_writes),
        cmocka_unit_test(a_unit_that_asks_too_much_is_told_so_and_stops_nobody),
        cmocka_unit_test(a_released_member_that_nobody_binds_is_reported_and_forgiven),
        cmocka_unit_test(
            a_class_of_others_that_matches_our_devices_is_told_and_nothing_is_given_away),
        cmocka_unit_test(failures_in_a_row_wait_longer_each_time),
        cmocka_unit_test(a_unit_that_backs_off_is_decided_at_once_when_one_of_its_objects_changes),
        cmocka_unit_test(a_unit_whose_writes_are_refused_goes_on_by_itself_when_they_are_not),
    };

    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
