/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A leader is stopped beyond its lease while a write of it is under way, another takes over, and
 * then the write arrives. The first two are the traces by which the rules of fencing were found
 * (design 5.2); what must not happen is checked by the invariants of the bench.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)

static void look(struct bench *bench)
{
    tg_cluster_deliver(bench->cluster);
    bench_pass(bench);
}

/* Until the next step of the first write under way is of this kind, and (allocations) its status.
 */
static void run_until(struct bench *bench, enum tg_write_kind kind, const char *name)
{
    for (;;) {
        if (bench->ops.n == 0)
            look(bench);
        assert_true(bench->ops.n > 0);
        if (bench->ops.items[0].write.kind == kind &&
            tg_streq(bench->ops.items[0].write.name, name) &&
            (kind != TG_WRITE_CLAIM_ALLOCATE || bench->ops.items[0].metadata_done))
            return;
        bench_step(bench, 0, BENCH_OK);
    }
}

/* One card; p has it as good as allocated when its leader is stopped. Then p's other conditions
 * change so that the new leader gives the card to q, which is more urgent. */
static struct bench *stopped_before_a_status_write(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 0);
    bench_node(bench, "n1", 1);
    bench_pod(bench, "p", 1, 1, NULL);
    run_until(bench, TG_WRITE_CLAIM_ALLOCATE, "p-0");
    bench_suspend(bench);
    bench_pod(bench, "q", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "q", "{'spec':{'priority':1000}}");
    return bench;
}

static void
a_leader_stopped_before_a_single_claims_status_write_cannot_allocate_the_device_that_its_successor_gave_away(
    void **state)
{
    struct bench *bench = stopped_before_a_status_write();

    (void)state;
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 1);
    assert_int_equal(bench_allocated(bench), 1);
    assert_int_equal(bench->late.n, 1);
    assert_int_equal(bench_arrive(bench, 0), -TG_ABORTED);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_allocated(bench), 1);
    bench_free(bench);
}

static void
a_write_that_arrives_before_its_object_is_fenced_is_seen_and_its_device_taken(void **state)
{
    struct bench *bench = stopped_before_a_status_write();

    (void)state;
    look(bench); /* the fence of p-0 is under way */
    assert_int_equal(bench->ops.n, 1);
    assert_int_equal(bench->ops.items[0].write.kind, TG_WRITE_CLAIM_EPOCH);
    assert_int_equal(bench_arrive(bench, 0), 0);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    assert_int_equal(bench_gated(bench), 1);
    assert_non_null(strstr(bench_trace(bench), "ungate p"));
    bench_free(bench);
}

/* The first gate of the gang is about to go when its leader is stopped. */
static struct bench *stopped_before_ungating(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    run_until(bench, TG_WRITE_POD, "g-0");
    assert_int_equal(bench->ops.n, 3);
    bench_suspend(bench);
    return bench;
}

static void roll_back_and_replan(struct bench *bench)
{
    tg_cluster_delete(bench->cluster, TG_VIEW_NODE, NULL, "n1");
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n1");
    bench_node(bench, "n3", 2);
}

static void assert_none_arrives(struct bench *bench)
{
    while (bench->late.n > 0)
        assert_int_equal(bench_arrive(bench, 0), -TG_ABORTED);
}

static void
a_leader_stopped_before_ungating_cannot_release_a_pod_of_the_gang_that_its_successor_rolls_back(
    void **state)
{
    /* At every step of taking over, rolling back and planning anew. */
    for (size_t step = 0; step < 60; step++) {
        struct bench *bench = stopped_before_ungating();
        bool more;

        roll_back_and_replan(bench);
        more = bench_run(bench, step);
        /* Before it is fenced a gate may go: then the gang has started, and nothing is cleared. */
        while (bench->late.n > 0)
            bench_arrive(bench, 0);
        bench_settle(bench, MINUTE);
        if (!bench->gate_removed || strstr(bench_trace(bench), "clear") != NULL)
            assert_int_equal(bench_bound(bench), 3);
        else
            assert_int_equal(bench_ours(bench), 3);
        bench_free(bench);
        if (!more)
            return;
    }
    (void)state;
    fail_msg("never done");
}

static void once_taken_over_no_gate_is_removed_by_a_predecessor(void **state)
{
    struct bench *bench = stopped_before_ungating();

    (void)state;
    roll_back_and_replan(bench);
    look(bench);
    while (bench->ops.n > 0)
        bench_step(bench, 0, BENCH_OK);
    assert_none_arrives(bench);
    assert_int_equal(bench_gated(bench), 3);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_non_null(
        strstr(bench_trace(bench), "fence g; fence g-0; fence g-1; fence g-2; Releasing"));
    bench_free(bench);
}

static void
a_late_plan_does_not_become_the_record_of_a_gang_that_is_planned_by_another(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    for (;;) {
        if (bench->ops.n == 0)
            look(bench);
        if (bench->ops.items[0].write.kind == TG_WRITE_GANG_STATUS)
            break;
        bench_step(bench, 0, BENCH_OK);
    }
    assert_non_null(strstr(bench->ops.items[0].write.body, "\"plan\""));
    bench_suspend(bench);
    look(bench);
    assert_string_equal(bench->ops.items[0].write.name, "g");
    bench_step(bench, 0, BENCH_OK);
    assert_none_arrives(bench);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

/* Nobody's annotation is rewritten that has no write to fear. */
static void a_cluster_at_rest_is_taken_over_without_a_write(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 4);
    bench_gang(bench, "g", 3, 3);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pod(bench, "q", 2, 1, NULL);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 5);
    TG_VEC_CLEAR(&bench->trace);
    bench_suspend(bench);
    bench_settle(bench, MINUTE);
    assert_string_equal(bench_trace(bench), "");
    bench_free(bench);
}

static void what_another_instance_allocates_is_left_alone(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                      "{'metadata':{'name':'theirs','labels':{'" TG_LABEL_CONTROLLER
                      "':'other'}},'spec':{}}");
    tg_cluster_create(bench->cluster, TG_VIEW_CLAIM,
                      "{'metadata':{'namespace':'" NS
                      "','name':'c','annotations':{'" TG_ANNOTATION_EPOCH
                      "':'900'}},'spec':{'devices':{'requests':[{'name':'r',"
                      "'exactly':{'deviceClassName':'theirs'}}]}}}");
    bench_settle(bench, MINUTE);
    assert_string_equal(bench_trace(bench), "");
    assert_int_equal(bench->epoch, 7);
    bench_free(bench);
}

/* The Lease was deleted and counts anew; objects remember. */
static void an_epoch_seen_on_an_object_is_exceeded_and_its_holder_waited_out(void **state)
{
    struct bench *bench = bench_new();
    int64_t lease = tg_configuration_delays(bench->configuration)->lease;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'metadata':{'annotations':{'" TG_ANNOTATION_EPOCH "':'41'}}}");
    bench_settle(bench, lease - 1);
    assert_string_equal(bench_trace(bench), "");
    assert_int_equal(bench->epoch, 42);
    bench_settle(bench, 1);
    assert_string_equal(bench_trace(bench), "fence p-0; metadata p-0; allocate p-0; ungate p");
    assert_string_equal(
        tg_meta_annotation(
            tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "p-0")->object->metadata,
            TG_ANNOTATION_EPOCH),
        "42");
    bench_free(bench);
}

static void an_epoch_that_is_nobodys_honest_count_is_ignored(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'metadata':{'annotations':{'" TG_ANNOTATION_EPOCH
                      "':'9223372036854775806'}}}");
    bench_settle(bench, 0);
    assert_int_equal(bench->epoch, 7);
    assert_int_equal(bench_bound(bench), 1);
    bench_free(bench);
}

static void a_fence_that_the_server_keeps_refusing_stops_nobody(void **state)
{
    struct bench *bench = stopped_before_a_status_write();

    (void)state;
    for (size_t round = 0; round < 3; round++) {
        look(bench);
        assert_int_equal(bench->ops.n, 1);
        assert_int_equal(bench->ops.items[0].write.kind, TG_WRITE_CLAIM_EPOCH);
        bench_step(bench, 0, BENCH_CONFLICT);
    }
    look(bench);
    assert_int_equal(bench->controller.takeover.done, bench->epoch);
    bench_free(bench);
}

static void a_plan_is_carried_on_by_a_successor_with_the_same_allocations(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_gang *gang;
    struct tg_plan_marker marker;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    run_until(bench, TG_WRITE_CLAIM_ALLOCATE, "g-1-0");
    bench_suspend(bench);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 3);
    gang = (const void *)tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, "g")->object;
    assert_int_equal(gang->status->plan->epoch.value, 7);
    assert_int_equal(gang->status->epoch.value, 8);
    assert_true(tg_claim_marker(
        (const void *)tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "g-1-0")->object,
        bench->arena, &marker));
    assert_int_equal(marker.epoch, 7);
    assert_none_arrives(bench);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_leader_stopped_before_a_single_claims_status_write_cannot_allocate_the_device_that_its_successor_gave_away),
        cmocka_unit_test(
            a_write_that_arrives_before_its_object_is_fenced_is_seen_and_its_device_taken),
        cmocka_unit_test(
            a_leader_stopped_before_ungating_cannot_release_a_pod_of_the_gang_that_its_successor_rolls_back),
        cmocka_unit_test(once_taken_over_no_gate_is_removed_by_a_predecessor),
        cmocka_unit_test(
            a_late_plan_does_not_become_the_record_of_a_gang_that_is_planned_by_another),
        cmocka_unit_test(a_cluster_at_rest_is_taken_over_without_a_write),
        cmocka_unit_test(what_another_instance_allocates_is_left_alone),
        cmocka_unit_test(an_epoch_seen_on_an_object_is_exceeded_and_its_holder_waited_out),
        cmocka_unit_test(an_epoch_that_is_nobodys_honest_count_is_ignored),
        cmocka_unit_test(a_fence_that_the_server_keeps_refusing_stops_nobody),
        cmocka_unit_test(a_plan_is_carried_on_by_a_successor_with_the_same_allocations),
    };

    return cmocka_run_group_tests_name("takeover", tests, NULL, NULL);
}
