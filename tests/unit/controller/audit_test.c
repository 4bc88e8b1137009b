/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller/one.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/tangram/names.h"
#include "controller/audit/audit.h"

#define MARKER(uid)                                                                                \
    "{'source':'FromClass','opaque':{'driver':'tangram.dev','parameters':{'apiVersion':"           \
    "'tangram.dev/v1alpha1','kind':'Plan','gangUID':'" uid "','epoch':1}}}"
#define RESULT(device) "{'request':'gpus','driver':'" DRIVER "','pool':'n1','device':'" device "'}"

/* A gang of two on two nodes and a single pod, all as they should be and bound. */
static struct bench *healthy(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 3);
    return bench;
}

struct audited {
    struct tg_view view;
    struct tg_findings findings;
};

static void audit(struct audited *a, struct bench *bench)
{
    struct tg_error err = TG_ERROR_INIT;

    tg_view_init(&a->view);
    tg_cluster_relist(bench->cluster);
    tg_cluster_fill_view(bench->cluster, bench->rotate, &a->view);
    if (tg_audit(&a->view, "default", bench->arena, &a->findings, &err) < 0)
        fail_msg("%s", err.message);
}

static void expect_nothing(struct bench *bench)
{
    struct audited a;

    audit(&a, bench);
    if (a.findings.n > 0)
        fail_msg("%s %s: %s", tg_finding_reason(a.findings.items[0].code),
                 a.findings.items[0].about->name, a.findings.items[0].text);
    tg_view_done(&a.view);
}

/* Exactly this one finding. */
static void expect(struct bench *bench, enum tg_finding_code code, const char *name,
                   const char *text)
{
    struct audited a;

    audit(&a, bench);
    for (size_t i = 0; i < a.findings.n; i++)
        if (a.findings.items[i].code != code || a.findings.n != 1 ||
            !tg_streq(a.findings.items[i].about->name, name) ||
            strstr(a.findings.items[i].text, text) == NULL)
            fail_msg("%s %s: %s", tg_finding_reason(a.findings.items[i].code),
                     a.findings.items[i].about->name, a.findings.items[i].text);
    assert_int_equal(a.findings.n, 1);
    assert_int_equal(a.findings.total, 1);
    tg_view_done(&a.view);
}

/* A claim for the class "gpu" with this status, used by nobody's spec. */
static void claim(struct bench *bench, const char *name, const char *status)
{
    tg_cluster_create(bench->cluster, TG_VIEW_CLAIM,
                      "{'metadata':{'namespace':'" NS "','name':'%s'},'spec':{'devices':{"
                      "'requests':[{'name':'gpus','exactly':{'deviceClassName':'gpu'}}]}},"
                      "'status':{%s}}",
                      name, status);
}

static void change_claim(struct bench *bench, const char *name, const char *patch)
{
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, name, "%s", patch);
}

static void nothing_is_found_at_any_step_of_an_undisturbed_commit_but_what_passes(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "p", 2, 1, NULL);
    for (int i = 0; i < 200; i++) {
        struct audited a;

        audit(&a, bench);
        for (size_t j = 0; j < a.findings.n; j++)
            assert_true(tg_finding_passes(a.findings.items[j].code));
        tg_view_done(&a.view);
        if (!bench_run(bench, 1) && !bench_others(bench))
            break;
    }
    assert_int_equal(bench_bound(bench), 3);
    expect_nothing(bench);
    bench_free(bench);
}

static void a_healthy_cluster_has_no_findings_before_while_and_after_pods_run(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    expect_nothing(bench);
    for (int i = 0; i < 2; i++)
        bench_delete_pod(bench, i == 0 ? "g-0" : "g-1");
    bench_delete_pod(bench, "p");
    bench_settle(bench, 0);
    expect_nothing(bench);
    bench_free(bench);
}

static void a_device_of_two_claims_is_found_in_the_younger_one(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    claim(
        bench, "thief",
        "'allocation':{'allocationTimestamp':'2030-01-01T00:00:00Z','devices':{'results':[" RESULT(
            "gpu-0") "]}}");
    expect(bench, TG_FOUND_DEVICE_HELD_TWICE, "thief", "device " DRIVER "/n1/gpu-0 is held by");
    bench_free(bench);
}

static void shares_of_a_device_and_admin_access_do_not_collide_but_the_same_share_does(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    claim(bench, "admin",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'" DRIVER
          "','pool':'n1','device':'gpu-0','adminAccess':true}]}}");
    claim(bench, "s1",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':'x','device':"
          "'y','shareID':'1'}]}}");
    claim(bench, "s2",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':'x','device':"
          "'y','shareID':'2'}]}}");
    expect_nothing(bench);
    claim(bench, "s3",
          "'allocation':{'allocationTimestamp':'2030-01-01T00:00:00Z','devices':{'results':[{"
          "'request':'gpus','driver':'d','pool':'x','device':'y','shareID':'2'}]}}");
    expect(bench, TG_FOUND_DEVICE_HELD_TWICE, "s3", "claim ns/s2");
    bench_free(bench);
}

/* A card of 4 memory slices with placements that overlap. */
static void partitions(struct bench *bench, int generation, int slices)
{
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "mig");
    tg_cluster_create(
        bench->cluster, TG_VIEW_SLICE,
        "{'metadata':{'name':'mig'},'spec':{'driver':'mig','nodeName':'n1','pool':{'name':'n1',"
        "'generation':%d,'resourceSliceCount':%d},'sharedCounters':[{'name':'card','counters':{"
        "'memory':{'value':'40Gi'}}}],'devices':[{'name':'a','consumesCounters':[{'counterSet':"
        "'card','counters':{'memory':{'value':'20Gi'}}}]},{'name':'b','consumesCounters':[{"
        "'counterSet':'card','counters':{'memory':{'value':'20Gi'}}}]},{'name':'c',"
        "'consumesCounters':[{'counterSet':'card','counters':{'memory':{'value':'20Gi'}}}]}]}}",
        generation, slices);
}

static void counters_beyond_what_a_complete_pool_offers_are_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    partitions(bench, 1, 1);
    claim(bench, "one",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'mig','pool':'n1',"
          "'device':'a'},{'request':'gpus','driver':'mig','pool':'n1','device':'b'}]}}");
    expect_nothing(bench);
    claim(bench, "two",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'mig','pool':'n1',"
          "'device':'c'}]}}");
    expect(bench, TG_FOUND_COUNTERS_EXCEEDED, "mig",
           "offers 40Gi, and allocated devices take 60Gi");
    /* A pool that is being published says nothing yet. */
    partitions(bench, 2, 2);
    expect_nothing(bench);
    bench_free(bench);
}

#define SHARE(id, amount)                                                                          \
    "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':'n1','device':'s'," \
    "'shareID':'" id "','consumedCapacity':{'memory':'" amount "'}}]}}"

static void shares_beyond_the_capacity_of_a_device_are_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE,
                      "{'metadata':{'name':'shared'},'spec':{'driver':'d','nodeName':'n1','pool':{"
                      "'name':'n1','generation':1,'resourceSliceCount':1},'devices':[{'name':'s',"
                      "'allowMultipleAllocations':true,'capacity':{'memory':{'value':'4Gi'}}}]}}");
    claim(bench, "one", SHARE("1", "1Gi"));
    claim(bench, "two", SHARE("2", "3Gi"));
    expect_nothing(bench);
    claim(bench, "three", SHARE("3", "512Mi"));
    expect(bench, TG_FOUND_CAPACITY_EXCEEDED, "shared",
           "device s has 4Gi of memory, and 3 shares of it take 4608Mi");
    bench_free(bench);
}

#define PART(name, start, size)                                                                    \
    "{'name':'" name "','attributes':{'derived':{'bool':true},'parentUUID':{'string':'u'},"        \
    "'memorySliceStart':{'int':" start "},'memorySliceSize':{'int':" size "}}}"
#define PART_OF(device)                                                                            \
    "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':'n1','device':"     \
    "'" device "'}]}}"

static void parts_of_a_card_that_overlap_are_found(void **state)
{
    static const char *const others[] = {"low", "high", "card"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench *bench = healthy();

        bench->foreign_fault = true;
        tg_cluster_create(bench->cluster, TG_VIEW_SLICE,
                          "{'metadata':{'name':'parts'},'spec':{'driver':'d','nodeName':'n1',"
                          "'pool':{'name':'n1','generation':1,'resourceSliceCount':1},'devices':["
                          "{'name':'card','attributes':{'uuid':{'string':'u'}}},{'name':'other',"
                          "'attributes':{'uuid':{'string':'v'}}}," PART("low", "0", "2") "," PART(
                              "middle", "1", "2") "," PART("high", "2", "2") "]}}");
        claim(bench, "one", PART_OF("middle"));
        claim(bench, "two", PART_OF("other"));
        expect_nothing(bench);
        claim(bench, "three",
              tg_arena_printf(bench->arena,
                              "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d',"
                              "'pool':'n1','device':'%s'}]}}",
                              others[i]));
        expect(bench, TG_FOUND_COUNTERS_EXCEEDED, "parts", "are parts of card u that overlap");
        bench_free(bench);
    }
}

static void a_pod_that_runs_without_its_claim_is_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    change_claim(bench, "p-0",
                 "{'status':{'reservedFor':[{'resource':'pods','name':'g-0','uid':'x'}]}}");
    {
        struct audited a;

        audit(&a, bench);
        assert_int_equal(a.findings.n, 2);
        assert_int_equal(a.findings.items[0].code, TG_FOUND_STARTED_WITHOUT_CLAIM);
        assert_non_null(strstr(a.findings.items[0].text, "claim p-0 is not reserved for it"));
        assert_int_equal(a.findings.items[1].code, TG_FOUND_RESERVATION_WITHOUT_POD);
        tg_view_done(&a.view);
    }
    change_claim(bench, "p-0", "{'status':null}");
    expect(bench, TG_FOUND_STARTED_WITHOUT_CLAIM, "p", "claim p-0 is not allocated");
    bench_free(bench);
}

static void a_pod_that_runs_on_another_node_than_its_devices_is_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "{'spec':{'nodeName':'n9'}}");
    expect(bench, TG_FOUND_STARTED_ELSEWHERE, "p", "it is on node n9");
    bench_free(bench);
}

/* The gang's plan is written, and nothing of it carried out yet. */
static struct bench *planned(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    while (!tg_streq(bench_phase(bench, "g"), TG_PHASE_COMMITTING))
        assert_true(bench_run(bench, 1));
    assert_int_equal(bench_allocated(bench), 0);
    return bench;
}

static void a_gang_that_is_allocated_in_part_is_found(void **state)
{
    struct bench *bench = planned();

    (void)state;
    expect_nothing(bench);
    while (bench_allocated(bench) == 0)
        assert_true(bench_run(bench, 1));
    expect(bench, TG_FOUND_PARTLY_ALLOCATED, "g", "1 of the 2 claims");
    bench_settle(bench, 0);
    expect_nothing(bench);
    bench_free(bench);
}

static void a_released_member_of_a_gang_that_is_not_allocated_is_found(void **state)
{
    struct bench *bench = planned();

    (void)state;
    bench->foreign_fault = true;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1", "{'spec':{'schedulingGates':null}}");
    expect(bench, TG_FOUND_STARTED_WITHOUT_CLAIM, "g", "pod g-1 was released, and claim g-");
    bench_free(bench);
}

static void a_plan_that_names_a_claim_that_is_gone_is_found(void **state)
{
    struct bench *bench = planned();

    (void)state;
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "g-0-0");
    expect(bench, TG_FOUND_PLAN_WITHOUT_CLAIM, "g", "claim g-0-0");
    bench_free(bench);
}

static void a_waiting_pod_with_part_of_its_claims_is_found(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_snapshot *pod;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    expect_nothing(bench);
    pod = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "p");
    tg_cluster_change(
        bench->cluster, TG_VIEW_CLAIM, NS, "p-1",
        "{'status':{'allocation':{'devices':{'results':[" RESULT(
            "gpu-0") "]}},'reservedFor':[{'resource':'pods','name':'p','uid':'%s'}]}}",
        pod->uid);
    expect(bench, TG_FOUND_PARTLY_ALLOCATED, "p", "1 of its 2 claims");
    bench_free(bench);
}

static void an_allocation_of_ours_for_a_class_that_is_not_managed_is_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu",
                      "{'metadata':{'labels':{'" TG_LABEL_CONTROLLER "':'other'}}}");
    expect_nothing(bench); /* another instance's */
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu", "{'metadata':{'labels':null}}");
    {
        struct audited a;

        audit(&a, bench);
        assert_int_equal(a.findings.n, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(a.findings.items[i].code, TG_FOUND_UNMANAGED_CLASS);
        assert_string_equal(a.findings.items[0].about->name, "g-0-0");
        tg_view_done(&a.view);
    }
    bench_free(bench);
}

static void a_marker_whose_plan_is_gone_is_found_while_the_pod_is_gated(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_snapshot *pod;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    pod = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "p");
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'status':{'allocation':{'devices':{'results':[" RESULT(
                          "gpu-0") "],'config':[" MARKER("gone") "]}},'reservedFor':[{'resource':"
                                                                 "'pods','name':'p','uid':'%s'}]}}",
                      pod->uid);
    expect(bench, TG_FOUND_MARKER_WITHOUT_PLAN, "p-0", "plan (of UID gone)");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "{'spec':{'schedulingGates':null}}");
    expect_nothing(bench);
    bench_free(bench);
}

static void an_allocation_that_nobody_will_release_is_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    claim(bench, "lone",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':"
          "'x','device':'y'}],'config':[" MARKER("") "]}}");
    expect(bench, TG_FOUND_NEVER_RESERVED, "lone", "reserved for nobody");
    bench_free(bench);
}

static void a_reservation_for_a_pod_that_is_gone_is_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    claim(bench, "late",
          "'allocation':{'devices':{'results':[{'request':'gpus','driver':'d','pool':'x','device':"
          "'y'}],'config':[" MARKER("") "]}},'reservedFor':[{'resource':'pods','name':'p','uid':"
                                        "'an-earlier-one'}]");
    expect(bench, TG_FOUND_RESERVATION_WITHOUT_POD, "late", "pod p (UID an-earlier-one)");
    bench_free(bench);
}

static void finalizers_of_deleted_objects_that_nobody_takes_away_are_found(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    claim(bench, "kept", "");
    change_claim(bench, "kept", "{'metadata':{'finalizers':['" TG_FINALIZER_CLAIM "']}}");
    expect_nothing(bench);
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "kept");
    expect(bench, TG_FOUND_ORPHANED_FINALIZER, "kept", TG_FINALIZER_CLAIM);
    change_claim(bench, "kept", "{'metadata':{'finalizers':null}}");
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "kept");
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g",
                      "{'metadata':{'finalizers':['" TG_FINALIZER_PLAN "']}}");
    expect_nothing(bench);
    tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "g");
    expect(bench, TG_FOUND_ORPHANED_FINALIZER, "g", TG_FINALIZER_PLAN);
    bench_free(bench);
}

static void the_order_of_the_lists_leaves_no_trace_and_many_findings_are_counted(void **state)
{
    struct bench *bench = healthy();
    struct audited a, b;

    (void)state;
    for (int i = 0; i < TG_FINDINGS_MAX + 10; i++) {
        TG_AUTOFREE char *name = tg_xasprintf("lone-%d", i);
        TG_AUTOFREE char *status =
            tg_xasprintf("'allocation':{'devices':{'results':[{'request':'gpus','driver':'d',"
                         "'pool':'x','device':'y-%d'}],'config':[" MARKER("") "]}}",
                         i);

        claim(bench, name, status);
    }
    audit(&a, bench);
    assert_int_equal(a.findings.n, TG_FINDINGS_MAX);
    assert_int_equal(a.findings.total, TG_FINDINGS_MAX + 10);
    tg_view_done(&a.view);
    for (int i = 20; i < TG_FINDINGS_MAX + 10; i++) {
        TG_AUTOFREE char *name = tg_xasprintf("lone-%d", i);

        tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, name);
    }
    audit(&a, bench);
    bench->rotate = 7;
    audit(&b, bench);
    assert_int_equal(a.findings.n, 20);
    assert_int_equal(b.findings.n, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_string_equal(a.findings.items[i].about->name, b.findings.items[i].about->name);
        assert_string_equal(a.findings.items[i].text, b.findings.items[i].text);
    }
    tg_view_done(&a.view);
    tg_view_done(&b.view);
    bench_free(bench);
}

static void objects_without_their_parts_break_nothing(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench->foreign_fault = true;
    tg_cluster_create(bench->cluster, TG_VIEW_POD, "{'metadata':{'namespace':'ns','name':'a'}}");
    tg_cluster_create(bench->cluster, TG_VIEW_CLAIM, "{'metadata':{'namespace':'ns','name':'a'}}");
    tg_cluster_create(bench->cluster, TG_VIEW_CLAIM,
                      "{'metadata':{'namespace':'ns','name':'b'},'status':{'allocation':{}}}");
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE, "{'metadata':{'name':'a'},'spec':{}}");
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS, "{'metadata':{'name':'a'}}");
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'ns','name':'a'},'status':{'plan':{'members':[{}]}}"
                      "}");
    expect_nothing(bench);
    bench_free(bench);
}

static void
every_code_has_a_reason_of_its_own_and_only_a_device_held_twice_is_told_at_once(void **state)
{
    (void)state;
    for (enum tg_finding_code i = 0; i < TG_FOUND_CODES; i++) {
        assert_int_equal(tg_finding_passes(i), i != TG_FOUND_DEVICE_HELD_TWICE);
        for (enum tg_finding_code j = 0; j < i; j++)
            assert_string_not_equal(tg_finding_reason(i), tg_finding_reason(j));
    }
    assert_string_equal(tg_finding_invariant(TG_FOUND_UNMANAGED_CLASS), "I4");
    assert_string_equal(tg_finding_invariant(TG_FOUND_NEVER_RESERVED), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_at_any_step_of_an_undisturbed_commit_but_what_passes),
        cmocka_unit_test(a_healthy_cluster_has_no_findings_before_while_and_after_pods_run),
        cmocka_unit_test(a_device_of_two_claims_is_found_in_the_younger_one),
        cmocka_unit_test(
            shares_of_a_device_and_admin_access_do_not_collide_but_the_same_share_does),
        cmocka_unit_test(shares_beyond_the_capacity_of_a_device_are_found),
        cmocka_unit_test(parts_of_a_card_that_overlap_are_found),
        cmocka_unit_test(counters_beyond_what_a_complete_pool_offers_are_found),
        cmocka_unit_test(a_pod_that_runs_without_its_claim_is_found),
        cmocka_unit_test(a_pod_that_runs_on_another_node_than_its_devices_is_found),
        cmocka_unit_test(a_gang_that_is_allocated_in_part_is_found),
        cmocka_unit_test(a_released_member_of_a_gang_that_is_not_allocated_is_found),
        cmocka_unit_test(a_plan_that_names_a_claim_that_is_gone_is_found),
        cmocka_unit_test(a_waiting_pod_with_part_of_its_claims_is_found),
        cmocka_unit_test(an_allocation_of_ours_for_a_class_that_is_not_managed_is_found),
        cmocka_unit_test(a_marker_whose_plan_is_gone_is_found_while_the_pod_is_gated),
        cmocka_unit_test(an_allocation_that_nobody_will_release_is_found),
        cmocka_unit_test(a_reservation_for_a_pod_that_is_gone_is_found),
        cmocka_unit_test(finalizers_of_deleted_objects_that_nobody_takes_away_are_found),
        cmocka_unit_test(the_order_of_the_lists_leaves_no_trace_and_many_findings_are_counted),
        cmocka_unit_test(objects_without_their_parts_break_nothing),
        cmocka_unit_test(
            every_code_has_a_reason_of_its_own_and_only_a_device_held_twice_is_told_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
