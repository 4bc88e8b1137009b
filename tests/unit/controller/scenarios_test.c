/* SPDX-License-Identifier: Apache-2.0 */
/* Courses that no single event makes: leftovers, broken records, later incarnations, and the right
 * column of the event table, of which this version reports alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)

/* These changes, one after the other, are among those of the controller. */
static void assert_course(struct bench *bench, const char *course)
{
    if (strstr(bench_trace(bench), course) == NULL)
        bench_fail(bench, "expected: %s", course);
}

static struct bench *gang_of_three(size_t nodes)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, nodes);
    bench_gang(bench, "g", 3, 3);
    return bench;
}

/* A gang that runs. */
static struct bench *running_gang(void)
{
    struct bench *bench = gang_of_three(2);

    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 3);
    return bench;
}

/* Its first gate is removed, the others' removals are on their way. */
static struct bench *half_released_gang(void)
{
    struct bench *bench = gang_of_three(3);

    bench->no_scheduler = true;
    while (!bench->gate_removed)
        assert_true(bench_run(bench, 1));
    return bench;
}

/* --- before ---------------------------------------------------------------------------------- */

static void a_gang_that_does_not_fit_holds_nothing_and_says_why(void **state)
{
    struct bench *bench = gang_of_three(1);

    (void)state;
    bench_settle(bench, 10 * MINUTE);
    assert_string_equal(bench_trace(bench), "create g; Waiting");
    assert_int_equal(bench_allocated(bench), 0);
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"), "NeverFits"));
    bench_free(bench);
}

static void room_that_becomes_free_is_used(void **state)
{
    struct bench *bench = gang_of_three(1);

    (void)state;
    bench_settle(bench, MINUTE);
    bench_node(bench, "n9", 1);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void of_two_gangs_for_one_place_exactly_one_runs_and_then_the_other(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "a", 3, 3);
    bench_gang(bench, "b", 3, 3);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_int_equal(bench_gated(bench), 3);
    invariants_rest(bench);
    for (size_t i = 0; i < 3; i++) {
        const struct tg_snapshot *s = tg_cluster_nth(bench->cluster, TG_VIEW_POD, i);

        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, s->name,
                          "{'status':{'phase':'Succeeded'}}");
    }
    bench_settle(bench, MINUTE / 2);
    assert_int_equal(bench_bound(bench), 3);
    assert_int_equal(bench_gated(bench), 0);
    assert_string_equal(bench_phase(bench, "a"), "Completed");
    assert_string_equal(bench_phase(bench, "b"), "Running");
    bench_free(bench);
}

static void an_incomplete_gang_waits_without_a_plan(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 4);
    bench_gang(bench, "g", 3, 2);
    bench_settle(bench, MINUTE);
    assert_string_equal(bench_trace(bench), "create g; Gathering");
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"), "2 of 3"));
    bench_free(bench);
}

static void a_member_with_a_foreign_gate_does_not_count_yet(void **state)
{
    struct bench *bench = gang_of_three(2);

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1",
                      "{'spec':{'schedulingGates':[{'name':'kueue'},{'name':'" TG_GATE "'}]}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_allocated(bench), 0);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1",
                      "{'spec':{'schedulingGates':[{'name':'" TG_GATE "'}]}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void allocations_whose_gang_is_gone_are_taken_back_while_their_pods_are_gated(void **state)
{
    struct bench *bench = gang_of_three(2);

    (void)state;
    while (bench_ours(bench) < 2)
        assert_true(bench_run(bench, 1));
    /* Torn out by force: no finalizer holds it, nobody rolls back first. */
    bench_crash(bench);
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g", "{'metadata':{'finalizers':null}}");
    tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "g");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_course(bench, "clear g-0-0; clear g-1-0; create g");
    bench_free(bench);
}

static void a_gang_whose_plan_was_torn_out_starts_anew(void **state)
{
    struct bench *bench = gang_of_three(2);

    (void)state;
    while (bench_ours(bench) < 2)
        assert_true(bench_run(bench, 1));
    bench_crash(bench);
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g", "{'status':null}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_course(bench, "clear g-0-0; clear g-1-0; Committing +plan");
    bench_free(bench);
}

static void a_gang_of_which_somebody_else_cleared_a_claim_is_planned_anew(void **state)
{
    struct bench *bench = gang_of_three(2);

    (void)state;
    while (bench_ours(bench) < 3)
        assert_true(bench_run(bench, 1));
    assert_int_equal(bench->ops.n, 0);
    tg_cluster_deliver(bench->cluster);
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "g-1-0",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    bench_settle(bench, MINUTE);
    assert_course(bench, "Releasing; fence g-0; fence g-1; fence g-2; clear g-0-0; clear g-2-0; "
                         "Waiting -plan; Committing +plan");
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void a_plan_that_cannot_be_replayed_is_rolled_back(void **state)
{
    struct bench *bench = gang_of_three(2);

    (void)state;
    while (bench_ours(bench) < 1)
        assert_true(bench_run(bench, 1));
    bench_crash(bench);
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g", "{'status':{'plan':{'members':[]}}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_course(bench, "Releasing; fence g-0; fence g-1; fence g-2; clear g-0-0; fence g-0-0; "
                         "Waiting -plan");
    bench_free(bench);
}

static void a_pods_annotation_that_cannot_be_read_is_rolled_back(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_pod(bench, "p", 2, 1, NULL);
    while (bench_ours(bench) < 1)
        assert_true(bench_run(bench, 1));
    bench_crash(bench);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p",
                      "{'metadata':{'annotations':{'" TG_ANNOTATION_PLAN "':'what?'}}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    assert_course(bench, "fence p; clear p-0; fence p-0; pod p -plan; pod p +plan");
    bench_free(bench);
}

static void an_annotation_that_names_devices_of_others_is_not_followed(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_snapshot *s;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "owner", 1, 1, NULL);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 1);
    bench_pod(bench, "thief", 2, 1, NULL);
    s = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "thief");
    tg_cluster_change(
        bench->cluster, TG_VIEW_POD, NS, "thief",
        "{'metadata':{'annotations':{'" TG_ANNOTATION_PLAN
        "':'{\\\"epoch\\\":7,\\\"allocationTimestamp\\\":\\\"2026-01-01T00:00:00Z\\\","
        "\\\"driver\\\":\\\"" DRIVER "\\\",\\\"members\\\":[{\\\"pod\\\":\\\"thief\\\","
        "\\\"uid\\\":\\\"%s\\\",\\\"node\\\":\\\"n1\\\",\\\"claims\\\":[{\\\"name\\\":"
        "\\\"thief-0\\\",\\\"uid\\\":\\\"%s\\\",\\\"results\\\":[{\\\"request\\\":\\\"gpus\\\","
        "\\\"devices\\\":[\\\"gpu-0\\\"]}]}]}]}'}}}",
        s->uid, tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "thief-0")->uid);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_allocated(bench), 1);
    assert_course(bench, "pod thief -plan");
    bench_free(bench);
}

static void an_ungated_pod_with_several_claims_is_served_and_rolled_back_like_any(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_pod(bench, "p", 2, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "{'spec':{'schedulingGates':null}}");
    while (bench_ours(bench) < 1)
        assert_true(bench_run(bench, 1));
    bench_crash(bench);
    tg_cluster_delete(bench->cluster, TG_VIEW_NODE, NULL, "n1");
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n1");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 1);
    assert_course(bench, "clear p-0");
    bench_free(bench);
}

static void a_pod_that_shares_a_claim_of_an_open_plan_waits_for_the_plan(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_pod(bench, "p", 2, 1, NULL);
    while (bench_ours(bench) < 1)
        assert_true(bench_run(bench, 1));
    tg_cluster_create(bench->cluster, TG_VIEW_POD,
                      "{'metadata':{'namespace':'" NS "','name':'sharer'},'spec':{"
                      "'schedulingGates':[{'name':'" TG_GATE "'}],'resourceClaims':[{'name':'c',"
                      "'resourceClaimName':'p-0'}]}}");
    tg_cluster_deliver(bench->cluster);
    bench_pass(bench);
    for (size_t i = 0; i < bench->ops.n; i++)
        assert_string_not_equal(bench->ops.items[i].write.name, "sharer");
    bench->foreign_fault = true; /* a later sharer is reserved for by the scheduler */
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    bench_free(bench);
}

static void
a_second_incarnation_begins_when_all_members_of_the_first_are_finished_or_gone(void **state)
{
    struct bench *bench = running_gang();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0", "{'status':{'phase':'Succeeded'}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1", "{'status':{'phase':'Succeeded'}}");
    for (size_t i = 3; i < 6; i++) {
        char name[8] = {'g', '-', (char)('0' + i), '\0'};

        bench_pod(bench, name, 1, 1, bench_member_config(bench, "g", 3));
    }
    bench_settle(bench, MINUTE / 2);
    assert_int_equal(bench_gated(bench), 3);
    bench_delete_pod(bench, "g-2");
    bench_settle(bench, MINUTE / 2);
    assert_int_equal(bench_gated(bench), 0);
    assert_int_equal(bench_bound(bench), 3);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    bench_free(bench);
}

static void the_controllers_gang_goes_a_minute_after_its_last_member_a_users_stays(void **state)
{
    struct bench *bench = running_gang();

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char name[8] = {'g', '-', (char)('0' + i), '\0'};

        bench_delete_pod(bench, name);
    }
    bench_settle(bench, MINUTE - TG_SECOND);
    assert_non_null(bench_phase(bench, "g"));
    assert_int_equal(bench_allocated(bench), 0);
    bench_settle(bench, 2 * TG_SECOND);
    assert_null(bench_phase(bench, "g"));
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'u'},'spec':{'size':2}}");
    bench_settle(bench, 10 * MINUTE);
    assert_string_equal(bench_phase(bench, "u"), "Gathering");
    bench_free(bench);
}

/* --- after the first gate -------------------------------------------------------------------- */

static void assert_reported(struct bench *bench, const char *what)
{
    bench_settle(bench, MINUTE);
    assert_string_equal(bench_phase(bench, "g"), "Degraded");
    if (strstr(bench_told(bench, "gang/ns/g"), what) == NULL)
        bench_fail(bench, "%s is not told", what);
    if (strstr(bench_trace(bench), "clear") != NULL)
        bench_fail(bench, "something was taken back");
}

static void a_member_deleted_while_others_run_is_reported(void **state)
{
    struct bench *bench = running_gang();

    (void)state;
    bench_delete_pod(bench, "g-1");
    assert_reported(bench, "g-1");
    bench_free(bench);
}

static void a_claim_cleared_after_its_release_is_reported_and_no_further_gate_removed(void **state)
{
    struct bench *bench = half_released_gang();

    (void)state;
    TG_VEC_CLEAR(&bench->ops);
    bench_crash(bench);
    bench->foreign_fault = true;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "g-0-0",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    assert_reported(bench, "g-0-0");
    assert_int_equal(bench_gated(bench), 2);
    bench_free(bench);
}

static void after_the_first_gate_nodes_devices_and_classes_change_nothing(void **state)
{
    struct bench *bench = half_released_gang();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, "n1", "{'spec':{'unschedulable':true}}");
    bench_slice(bench, "n1", 2, ",'taints':[{'key':'bad','effect':'NoExecute'}]");
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n2");
    tg_cluster_delete(bench->cluster, TG_VIEW_CLASS, NULL, "gpu");
    bench_settle(bench, 10 * MINUTE);
    assert_int_equal(bench_gated(bench), 0);
    assert_null(strstr(bench_trace(bench), "clear"));
    bench_free(bench);
}

static void a_gang_deleted_while_it_runs_goes_and_leaves_its_pods(void **state)
{
    struct bench *bench = half_released_gang();

    (void)state;
    tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "g");
    bench_settle(bench, MINUTE);
    assert_null(bench_phase(bench, "g"));
    assert_int_equal(bench_gated(bench), 0);
    assert_int_equal(bench_ours(bench), 3);
    bench_free(bench);
}

static void a_degraded_gang_can_be_deleted(void **state)
{
    struct bench *bench = running_gang();

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, MINUTE);
    tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "g");
    bench_settle(bench, MINUTE);
    assert_null(bench_phase(bench, "g"));
    assert_int_equal(bench_bound(bench), 2);
    bench_free(bench);
}

static void
a_gang_whose_only_released_member_is_gone_is_taken_back_not_started_without_it(void **state)
{
    struct bench *bench = half_released_gang();

    (void)state;
    bench_crash(bench);
    assert_int_equal(bench_gated(bench), 2);
    bench_delete_pod(bench, "g-0");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_gated(bench), 2);
    assert_int_equal(bench_allocated(bench), 0);
    bench->no_scheduler = false;
    bench_pod(bench, "g-9", 1, 1, bench_member_config(bench, "g", 3));
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_free(bench);
}

static void a_new_process_goes_on_between_any_two_gates(void **state)
{
    struct bench *bench = half_released_gang();

    (void)state;
    bench_crash(bench);
    bench->no_scheduler = false;
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_that_does_not_fit_holds_nothing_and_says_why),
        cmocka_unit_test(room_that_becomes_free_is_used),
        cmocka_unit_test(of_two_gangs_for_one_place_exactly_one_runs_and_then_the_other),
        cmocka_unit_test(an_incomplete_gang_waits_without_a_plan),
        cmocka_unit_test(a_member_with_a_foreign_gate_does_not_count_yet),
        cmocka_unit_test(allocations_whose_gang_is_gone_are_taken_back_while_their_pods_are_gated),
        cmocka_unit_test(a_gang_whose_plan_was_torn_out_starts_anew),
        cmocka_unit_test(a_gang_of_which_somebody_else_cleared_a_claim_is_planned_anew),
        cmocka_unit_test(a_plan_that_cannot_be_replayed_is_rolled_back),
        cmocka_unit_test(a_pods_annotation_that_cannot_be_read_is_rolled_back),
        cmocka_unit_test(an_annotation_that_names_devices_of_others_is_not_followed),
        cmocka_unit_test(an_ungated_pod_with_several_claims_is_served_and_rolled_back_like_any),
        cmocka_unit_test(a_pod_that_shares_a_claim_of_an_open_plan_waits_for_the_plan),
        cmocka_unit_test(
            a_second_incarnation_begins_when_all_members_of_the_first_are_finished_or_gone),
        cmocka_unit_test(the_controllers_gang_goes_a_minute_after_its_last_member_a_users_stays),
        cmocka_unit_test(a_member_deleted_while_others_run_is_reported),
        cmocka_unit_test(a_claim_cleared_after_its_release_is_reported_and_no_further_gate_removed),
        cmocka_unit_test(after_the_first_gate_nodes_devices_and_classes_change_nothing),
        cmocka_unit_test(a_gang_deleted_while_it_runs_goes_and_leaves_its_pods),
        cmocka_unit_test(a_degraded_gang_can_be_deleted),
        cmocka_unit_test(
            a_gang_whose_only_released_member_is_gone_is_taken_back_not_started_without_it),
        cmocka_unit_test(a_new_process_goes_on_between_any_two_gates),
    };

    return cmocka_run_group_tests_name("scenarios", tests, NULL, NULL);
}
