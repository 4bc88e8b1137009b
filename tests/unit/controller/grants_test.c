/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/audit/grants.h"

#include "api/runtime/base/cleanup.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

#define NOW (INT64_C(1767225600) * TG_SECOND) /* when the bench begins */
#define RESULT(device) "{'request':'gpus','driver':'" DRIVER "','pool':'n1','device':'" device "'}"
#define RESULTS(list) "{'status':{'allocation':{'devices':{'results':[" list "]}}}}"

/* A single pod with one card of node n1, bound. */
static struct bench *healthy(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 1);
    return bench;
}

/* "Reason: text" of the only finding, or "". */
static const char *judge(struct bench *bench, int64_t now)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_findings findings = {.n = 0};
    const struct tg_resource_claim *claim;
    const char *node, *ret = "";
    struct tg_grants *grants;
    struct tg_view view;

    tg_view_init(&view);
    tg_cluster_relist(bench->cluster);
    tg_cluster_fill_view(bench->cluster, bench->rotate, &view);
    assert_int_equal(tg_grants_open(&view, "default", now, bench->arena, &grants, &err), 0);
    claim = tg_view_claim(&view, NS, "p-0");
    node = tg_claim_node(claim);
    assert_int_equal(
        tg_grants_check(grants, claim,
                        node == NULL ? NULL : tg_view_get(&view, TG_VIEW_NODE, NULL, node),
                        bench->arena, &findings, &err),
        0);
    assert_true(findings.n <= 1);
    if (findings.n == 1) {
        assert_string_equal(findings.items[0].about->name, "p-0");
        ret = tg_arena_printf(bench->arena, "%s: %s", tg_finding_reason(findings.items[0].code),
                              findings.items[0].text);
    }
    tg_view_done(&view);
    return ret;
}

static void expect(struct bench *bench, int64_t now, const char *part)
{
    const char *found = judge(bench, now);

    if (part[0] == '\0' ? found[0] != '\0' : strstr(found, part) == NULL)
        fail_msg("\"%s\" was found instead of \"%s\"", found, part);
}

static void what_the_controller_allocates_is_what_was_asked_for(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    expect(bench, NOW, "");
    bench_free(bench);
}

static void an_allocation_that_its_claim_does_not_ask_for_is_told_whatever_its_age(void **state)
{
    static const struct {
        const char *change, *found;
    } cases[] = {
        {RESULTS(RESULT("gpu-0") "," RESULT("gpu-1")), "InvalidAllocation: its allocation is not "
                                                       "what it asks for (Count)"},
        {RESULTS("{'request':'others','driver':'" DRIVER "','pool':'n1','device':'gpu-0'}"),
         "InvalidAllocation: its allocation is not what it asks for (Structure)"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct bench *bench = healthy();

        bench->foreign_fault = true;
        tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0", "%s", cases[i].change);
        expect(bench, NOW, cases[i].found);
        expect(bench, NOW + 2 * TG_GRANTS_YOUNG, cases[i].found);
        bench_free(bench);
    }
}

/* The class may have been changed since: soon after the allocation that is less likely. */
static void a_device_that_does_not_match_is_told_of_young_allocations(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu",
                      "{'spec':{'selectors':[{'cel':{'expression':'\\\"granted\\\" in "
                      "device.attributes[\\\"tangram.dev\\\"]'}},{'cel':{'expression':"
                      "'device.driver == \\\"other\\\"'}}]}}");
    expect(bench, NOW, "(Selector)");
    expect(bench, NOW + 2 * TG_GRANTS_YOUNG, "");
    bench_free(bench);
}

static void what_happens_to_a_device_afterwards_is_no_fault_of_its_allocation(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench_slice(bench, "n1", 2, ",'taints':[{'key':'bad','effect':'NoSchedule'}]");
    expect(bench, NOW, "");
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, "n1");
    expect(bench, NOW, "");
    tg_cluster_delete(bench->cluster, TG_VIEW_NODE, NULL, "n1");
    expect(bench, NOW, "");
    bench_free(bench);
}

static void a_device_that_an_unmanaged_class_reached_when_it_was_given_away_is_told(void **state)
{
    static const char *const created[] = {"2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"};

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(created); i++) {
        struct bench *bench = healthy();

        tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                          "{'metadata':{'name':'plain'},'spec':{'selectors':[{'cel':{'expression':"
                          "'device.driver == \\\"" DRIVER "\\\"'}}]}}");
        tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                          "{'metadata':{'name':'elsewhere'},'spec':{'selectors':[{'cel':{"
                          "'expression':'device.driver == \\\"other\\\"'}}]}}");
        tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "plain",
                          "{'metadata':{'creationTimestamp':'%s'}}", created[i]);
        expect(bench, NOW,
               i == 0 ? "ContestedDevice: device " DRIVER "/n1/gpu-0 is reached by DeviceClass "
                        "plain as well"
                      : "");
        bench_free(bench);
    }
}

static void what_others_have_allocated_is_not_judged(void **state)
{
    struct bench *bench = healthy();

    (void)state;
    bench->foreign_fault = true;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      RESULTS(RESULT("gpu-0") "," RESULT("gpu-1")));
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'status':{'allocation':{'devices':{'config':null}}}}");
    expect(bench, NOW, "");
    bench_free(bench);
}

static void an_exhausted_budget_is_an_error(void **state)
{
    struct bench *bench = healthy();
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(64);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_grants *grants;
    struct tg_view view;

    (void)state;
    tg_view_init(&view);
    tg_cluster_fill_view(bench->cluster, 0, &view);
    assert_int_equal(tg_grants_open(&view, "default", NOW, arena, &grants, &err),
                     -TG_RESOURCE_EXHAUSTED);
    tg_view_done(&view);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_controller_allocates_is_what_was_asked_for),
        cmocka_unit_test(an_allocation_that_its_claim_does_not_ask_for_is_told_whatever_its_age),
        cmocka_unit_test(a_device_that_does_not_match_is_told_of_young_allocations),
        cmocka_unit_test(what_happens_to_a_device_afterwards_is_no_fault_of_its_allocation),
        cmocka_unit_test(a_device_that_an_unmanaged_class_reached_when_it_was_given_away_is_told),
        cmocka_unit_test(what_others_have_allocated_is_not_judged),
        cmocka_unit_test(an_exhausted_budget_is_an_error),
    };

    return cmocka_run_group_tests_name("grants", tests, NULL, NULL);
}
