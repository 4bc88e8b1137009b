/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

/* A pod "p" with two claims on n1 under an open plan of its own. */
struct setting {
    struct bench *bench;
    struct one one;
    const struct tg_plan *plan;
    const char *why;
};

static void look(struct setting *s)
{
    bool unreadable;

    one_look(&s->one, s->bench);
    one_unit(&s->one, "pod/ns/p");
    assert_int_equal(
        tg_commit_record(s->one.input.unit, s->bench->arena, &s->plan, &unreadable, &s->one.err),
        0);
    s->one.input.plan = s->plan;
}

static void look_again(struct setting *s)
{
    one_done(&s->one);
    look(s);
}

static void begin(struct setting *s)
{
    s->bench = bench_new();
    bench_fleet(s->bench, 2);
    bench_pod(s->bench, "p", 2, 1, NULL);
    assert_true(bench_run(s->bench, 1));
    look(s);
    assert_non_null(s->plan);
}

static void end(struct setting *s)
{
    one_done(&s->one);
    bench_free(s->bench);
}

static enum tg_plan_verdict judge(struct setting *s)
{
    return tg_plan_judge(&s->one.deciding, s->plan, &s->why);
}

static enum tg_claim_state claim_state(struct setting *s)
{
    const struct tg_plan_member *member = &s->plan->members.items[0];
    const struct tg_resource_claim *claim;

    return tg_plan_claim_state(&s->one.deciding, member, &member->claims.items[0], &claim);
}

static void a_fresh_plan_stands_and_its_claims_are_open(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    assert_int_equal(judge(&s), TG_PLAN_STANDS);
    assert_int_equal(claim_state(&s), TG_CLAIM_OPEN);
    end(&s);
}

/* One change, and what becomes of the plan. */
static const struct {
    const char *name;
    enum tg_view_kind kind;
    const char *namespace_, *object;
    const char *change; /* NULL: deleted */
    enum tg_plan_verdict verdict;
    const char *why;
} cases[] = {
    {"node gone", TG_VIEW_NODE, NULL, "n1", NULL, TG_PLAN_BROKEN, "n1 was deleted"},
    {"node not ready", TG_VIEW_NODE, NULL, "n1",
     "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}", TG_PLAN_STALLS, "not ready"},
    {"node cordoned", TG_VIEW_NODE, NULL, "n1", "{'spec':{'unschedulable':true}}", TG_PLAN_STALLS,
     "cordoned"},
    {"pool gone", TG_VIEW_SLICE, NULL, "n1", NULL, TG_PLAN_STALLS, "not published"},
    {"pool incomplete", TG_VIEW_SLICE, NULL, "n1", "{'spec':{'pool':{'resourceSliceCount':2}}}",
     TG_PLAN_STALLS, "not published"},
    {"device tainted", TG_VIEW_SLICE, NULL, "n1",
     "{'spec':{'devices':[{'name':'gpu-0','taints':[{'key':'k','effect':'NoSchedule'}]},"
     "{'name':'gpu-1'}]}}",
     TG_PLAN_BROKEN, "tainted"},
    {"claim gone", TG_VIEW_CLAIM, NS, "p-0", NULL, TG_PLAN_BROKEN, "p-0 was deleted"},
    {"claim of another uid", TG_VIEW_CLAIM, NS, "p-0", "{'metadata':{'uid':'another'}}",
     TG_PLAN_BROKEN, "p-0 was deleted"},
    {"claim being deleted", TG_VIEW_CLAIM, NS, "p-0",
     "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['x']}}", TG_PLAN_BROKEN,
     "p-0 was deleted"},
    {"claim of somebody else", TG_VIEW_CLAIM, NS, "p-0",
     "{'status':{'allocation':{'devices':{'results':[]}}}}", TG_PLAN_BROKEN, "somebody else"},
    {"namespace terminating", TG_VIEW_NAMESPACE, NULL, NS,
     "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['x']}}", TG_PLAN_BROKEN,
     "terminating"},
    {"class gone", TG_VIEW_CLASS, NULL, "gpu", NULL, TG_PLAN_STANDS, NULL},
    {"class unguarded", TG_VIEW_CLASS, NULL, "gpu", "{'spec':{'selectors':null}}", TG_PLAN_STANDS,
     NULL},
};

static void what_stands_stalls_or_breaks_a_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum tg_plan_verdict verdict;
        struct setting s;

        begin(&s);
        if (cases[i].change == NULL)
            tg_cluster_delete(s.bench->cluster, cases[i].kind, cases[i].namespace_,
                              cases[i].object);
        else
            tg_cluster_change(s.bench->cluster, cases[i].kind, cases[i].namespace_, cases[i].object,
                              "%s", cases[i].change);
        look_again(&s);
        verdict = judge(&s);
        if (verdict != cases[i].verdict ||
            (cases[i].why != NULL && strstr(s.why, cases[i].why) == NULL))
            fail_msg("%s: verdict %d: %s", cases[i].name, (int)verdict, s.why);
        s.one.input.stall_over = true;
        if (verdict == TG_PLAN_STALLS)
            assert_int_equal(judge(&s), TG_PLAN_BROKEN);
        end(&s);
    }
}

static void a_disturbed_plan_is_broken(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    s.one.input.disturbed = true;
    assert_int_equal(judge(&s), TG_PLAN_BROKEN);
    assert_non_null(strstr(s.why, "cleared"));
    end(&s);
}

static void an_allocation_of_the_plan_is_written_one_of_another_epoch_foreign(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    assert_true(bench_run(s.bench, 2));
    look_again(&s);
    assert_int_equal(claim_state(&s), TG_CLAIM_WRITTEN);
    assert_int_equal(judge(&s), TG_PLAN_STANDS);
    ((struct tg_plan *)(uintptr_t)s.plan)->epoch.value = 8;
    assert_int_equal(claim_state(&s), TG_CLAIM_FOREIGN);
    ((struct tg_plan *)(uintptr_t)s.plan)->epoch.value = 7;
    s.plan->members.items[0].claims.items[0].results.items[0].devices.items[0] = "gpu-9";
    assert_int_equal(claim_state(&s), TG_CLAIM_FOREIGN);
    end(&s);
}

static void a_device_that_another_holds_breaks_the_plan(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    bench_pod(s.bench, "q", 1, 1, NULL);
    s.bench->foreign_fault = true;
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "q-0",
                      "{'status':{'allocation':{'devices':{'results':[{'request':'gpus','driver':"
                      "'" DRIVER "','pool':'n1','device':'gpu-0'}]}}}}");
    look_again(&s);
    assert_int_equal(judge(&s), TG_PLAN_BROKEN);
    assert_non_null(strstr(s.why, "held by claim ns/q-0"));
    end(&s);
}

static void a_counter_that_is_given_away_twice_breaks_the_plan(void **state)
{
    const struct tg_plan_member *member;
    struct tg_fleet_busy busy[4];
    size_t n_busy = 0;
    struct setting s;

    (void)state;
    begin(&s);
    tg_cluster_change(s.bench->cluster, TG_VIEW_SLICE, NULL, "n1",
                      "{'spec':{'pool':{'resourceSliceCount':2},'devices':["
                      "{'name':'gpu-0','consumesCounters':[{'counterSet':'c','counters':{'m':{"
                      "'value':'1'}}}]},{'name':'gpu-1'},{'name':'part','consumesCounters':[{"
                      "'counterSet':'c','counters':{'m':{'value':'1'}}}]}]}}");
    tg_cluster_create(s.bench->cluster, TG_VIEW_SLICE,
                      "{'metadata':{'name':'c'},'spec':{'driver':'" DRIVER "','nodeName':'n1',"
                      "'pool':{'name':'n1','generation':1,'resourceSliceCount':2},"
                      "'sharedCounters':[{'name':'c','counters':{'m':{'value':'1'}}}]}}");
    look_again(&s);
    assert_int_equal(judge(&s), TG_PLAN_STANDS);
    bench_pod(s.bench, "q", 1, 1, NULL);
    s.bench->foreign_fault = true;
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "q-0",
                      "{'status':{'allocation':{'devices':{'results':[{'request':'gpus','driver':"
                      "'" DRIVER "','pool':'n1','device':'part'}]}}}}");
    look_again(&s);
    member = &s.plan->members.items[0];
    for (size_t i = 0; i < member->claims.n; i++)
        tg_commit_busy(s.plan, member, &member->claims.items[i], s.one.input.unit->key,
                       s.bench->arena, busy, &n_busy);
    tg_fleet_assume(s.one.fleet, busy, n_busy, NULL, 0);
    assert_int_equal(judge(&s), TG_PLAN_BROKEN);
    assert_non_null(strstr(s.why, "counter m of set c is given away twice"));
    assert_null(tg_fleet_overdrawn(s.one.fleet, "n1", DRIVER, "n1", "gpu-1", s.bench->arena));
    end(&s);
}

static void only_what_cannot_have_started_may_be_taken_back(void **state)
{
    struct tg_pod unread = {0};
    struct setting s;

    (void)state;
    begin(&s);
    assert_true(bench_run(s.bench, 4));
    look_again(&s);
    assert_int_equal(bench_allocated(s.bench), 2);
    assert_true(tg_claim_before_gate(&s.one.view, one_claim(&s.one, "p-0")));
    /* A pod that could not be read may have started. */
    unread.metadata = one_pod(&s.one, "p")->metadata;
    tg_view_add(&s.one.view, TG_VIEW_POD, &unread);
    assert_false(tg_claim_before_gate(&s.one.view, one_claim(&s.one, "p-0")));
    tg_cluster_change(s.bench->cluster, TG_VIEW_POD, NS, "p", "{'spec':{'schedulingGates':null}}");
    look_again(&s);
    assert_false(tg_claim_before_gate(&s.one.view, one_claim(&s.one, "p-0")));
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "p-1",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    look_again(&s);
    assert_true(tg_claim_before_gate(&s.one.view, one_claim(&s.one, "p-0")));
    tg_cluster_change(s.bench->cluster, TG_VIEW_POD, NS, "p", "{'spec':{'nodeName':'n1'}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    assert_false(tg_claim_before_gate(&s.one.view, one_claim(&s.one, "p-0")));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_plan_stands_and_its_claims_are_open),
        cmocka_unit_test(what_stands_stalls_or_breaks_a_plan),
        cmocka_unit_test(a_disturbed_plan_is_broken),
        cmocka_unit_test(an_allocation_of_the_plan_is_written_one_of_another_epoch_foreign),
        cmocka_unit_test(a_device_that_another_holds_breaks_the_plan),
        cmocka_unit_test(a_counter_that_is_given_away_twice_breaks_the_plan),
        cmocka_unit_test(only_what_cannot_have_started_may_be_taken_back),
    };

    return cmocka_run_group_tests_name("plan_state", tests, NULL, NULL);
}
