/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects get the epoch of a new leader, and which of a unit that is rolled back. */
#include "api/runtime/base/cleanup.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

/* What is fenced, "name name"; then all of it is written. */
static const char *fenced(struct one *one, bool unit)
{
    TG_AUTOBUF struct tg_buf names = TG_BUF_INIT(4096);
    struct tg_error err = TG_ERROR_INIT;
    uint64_t highest = 0;

    one->decision = (struct tg_decision){0};
    if (unit)
        assert_int_equal(tg_fence_unit(&one->deciding, one->input.plan), 0);
    else
        assert_int_equal(
            tg_commit_fence(&one->input, one->bench->arena, &one->decision, &highest, &err), 0);
    for (size_t i = 0; i < one->decision.n_writes; i++) {
        const struct tg_snapshot *after;

        tg_buf_printf(&names, "%s%s", i > 0 ? " " : "", one->decision.writes[i].name);
        if (tg_cluster_write(one->bench->cluster, &one->decision.writes[i], TG_CLUSTER_WRITE, NULL,
                             &after, &err) < 0)
            fail_msg("%s: %s", one->decision.writes[i].name, err.message);
    }
    assert_int_equal(tg_cluster_unconditional(one->bench->cluster), 0);
    return tg_arena_strdup(one->bench->arena, tg_buf_str(&names));
}

static void annotate(struct bench *bench, enum tg_view_kind kind, const char *name, const char *key,
                     const char *value)
{
    tg_cluster_change(bench->cluster, kind, NS, name, "{'metadata':{'annotations':{'%s':'%s'}}}",
                      key, value);
}

static void look(struct one *one, struct bench *bench, uint64_t epoch)
{
    one_look(one, bench);
    one->input.epoch = epoch;
}

static void assert_fenced(struct bench *bench, uint64_t epoch, const char *what)
{
    struct one one;

    look(&one, bench, epoch);
    assert_string_equal(fenced(&one, false), what);
    one_done(&one);
}

static void a_claim_is_fenced_while_a_status_write_may_be_on_its_way(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "fresh", 1, 1, NULL);
    bench_pod(bench, "begun", 1, 1, NULL);
    bench_pod(bench, "allocated", 1, 1, NULL);
    annotate(bench, TG_VIEW_CLAIM, "begun-0", TG_ANNOTATION_EPOCH, "6");
    annotate(bench, TG_VIEW_CLAIM, "allocated-0", TG_ANNOTATION_EPOCH, "6");
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "allocated-0",
                      "{'status':{'allocation':{'devices':{'results':[]}}}}");
    assert_fenced(bench, 7, "begun-0");
    assert_fenced(bench, 7, "");
    assert_fenced(bench, 8, "begun-0");
    bench_free(bench);
}

#define PLAN(more)                                                                                 \
    "{'metadata':{'namespace':'" NS "','name':'g'" more "},'spec':{'size':2},'status':{'phase':"   \
    "'Committing','plan':{'epoch':6,'allocationTimestamp':'2026-01-01T00:00:00Z','driver':'d',"    \
    "'members':[{'pod':'g-0','uid':'%s','node':'n1','claims':[{'name':'g-0-0','uid':'%s',"         \
    "'results':[{'request':'gpus','devices':['gpu-0']}]}]},{'pod':'g-1','uid':'%s','node':'n1'}"   \
    "]}}}"

static const char *uid(struct bench *bench, enum tg_view_kind kind, const char *name)
{
    return tg_cluster_get(bench->cluster, kind, NS, name)->uid;
}

static struct bench *gang_with_plan(void)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 1);
    bench_gang(bench, "g", 2, 3);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG, PLAN(""), uid(bench, TG_VIEW_POD, "g-0"),
                      uid(bench, TG_VIEW_CLAIM, "g-0-0"), uid(bench, TG_VIEW_POD, "g-1"));
    return bench;
}

static void an_open_gang_is_fenced_with_the_gated_pods_of_its_plan(void **state)
{
    struct bench *bench = gang_with_plan();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1", "{'spec':{'schedulingGates':null}}");
    assert_fenced(bench, 7, "g g-0"); /* g-1 runs, g-2 is in no plan */
    assert_fenced(bench, 7, "");
    bench_free(bench);
}

static void a_gang_whose_plan_has_shrunk_is_open_no_more_its_finalizer_makes_it_so(void **state)
{
    struct bench *bench = gang_with_plan();

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g",
                      "{'status':{'plan':{'members':[{'pod':'x','uid':'u','node':'n1'}]}}}");
    assert_fenced(bench, 7, "");
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g",
                      "{'metadata':{'finalizers':['" TG_FINALIZER_PLAN "']},'status':null}");
    assert_fenced(bench, 7, "g");
    bench_free(bench);
}

static void a_pod_that_carries_a_plan_is_fenced_unless_it_runs_or_is_finished(void **state)
{
    static const char *const names[] = {"gated", "runs", "done"};
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    for (size_t i = 0; i < 3; i++) {
        bench_pod(bench, names[i], 2, 1, NULL);
        annotate(bench, TG_VIEW_POD, names[i], TG_ANNOTATION_PLAN, "whatever");
    }
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "runs", "{'spec':{'schedulingGates':null}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "done", "{'status':{'phase':'Failed'}}");
    assert_fenced(bench, 7, "gated");
    assert_fenced(bench, 7, "");
    bench_free(bench);
}

static void what_cannot_be_read_has_no_version_that_anybody_could_write_on(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    annotate(bench, TG_VIEW_CLAIM, "p-0", TG_ANNOTATION_EPOCH, "6");
    look(&one, bench, 7);
    tg_view_add_unreadable(&one.view, TG_VIEW_CLAIM, one_claim(&one, "p-0"), "a NUL");
    assert_string_equal(fenced(&one, false), "");
    one_done(&one);
    bench_free(bench);
}

static void the_highest_epoch_of_any_record_is_told(void **state)
{
    struct bench *bench = gang_with_plan();
    struct tg_error err = TG_ERROR_INIT;
    uint64_t highest = 0;
    struct one one;

    (void)state;
    look(&one, bench, 7);
    assert_int_equal(tg_commit_fence(&one.input, bench->arena, &one.decision, &highest, &err), 0);
    assert_int_equal(highest, 6);
    one_done(&one);
    annotate(bench, TG_VIEW_POD, "g-2", TG_ANNOTATION_EPOCH, "11");
    annotate(bench, TG_VIEW_CLAIM, "g-2-0", TG_ANNOTATION_EPOCH, "9007199254740992");
    annotate(bench, TG_VIEW_CLAIM, "g-1-0", TG_ANNOTATION_EPOCH, "-12");
    look(&one, bench, 7);
    assert_int_equal(tg_commit_fence(&one.input, bench->arena, &one.decision, &highest, &err), 0);
    assert_int_equal(highest, 11);
    one_done(&one);
    bench_free(bench);
}

static void a_rollback_fences_the_gated_pods_of_its_unit_and_its_unwritten_claims_once(void **state)
{
    struct bench *bench = gang_with_plan();
    struct one one;

    (void)state;
    annotate(bench, TG_VIEW_CLAIM, "g-0-0", TG_ANNOTATION_EPOCH, "6");
    annotate(bench, TG_VIEW_POD, "g-1", TG_ANNOTATION_EPOCH, "7");
    look(&one, bench, 7);
    one_unit(&one, "gang/ns/g");
    assert_string_equal(fenced(&one, true), "g-0 g-0-0 g-2");
    one_done(&one);
    look(&one, bench, 7);
    one_unit(&one, "gang/ns/g");
    assert_string_equal(fenced(&one, true), "");
    one_done(&one);
    bench_free(bench);
}

/* A deleted pod is no member any more, but its gate may still be there to be removed. */
static void a_rollback_fences_planned_pods_that_the_unit_does_not_count(void **state)
{
    struct bench *bench = gang_with_plan();
    struct one one;

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0",
                      "{'metadata':{'finalizers':['x/y'],'deletionTimestamp':"
                      "'2026-01-01T00:00:00Z'}}");
    look(&one, bench, 7);
    one_unit(&one, "gang/ns/g");
    one.input.plan = one.input.unit->gang->status->plan;
    assert_string_equal(fenced(&one, true), "g-1 g-2 g-0");
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_is_fenced_while_a_status_write_may_be_on_its_way),
        cmocka_unit_test(an_open_gang_is_fenced_with_the_gated_pods_of_its_plan),
        cmocka_unit_test(a_gang_whose_plan_has_shrunk_is_open_no_more_its_finalizer_makes_it_so),
        cmocka_unit_test(a_pod_that_carries_a_plan_is_fenced_unless_it_runs_or_is_finished),
        cmocka_unit_test(what_cannot_be_read_has_no_version_that_anybody_could_write_on),
        cmocka_unit_test(the_highest_epoch_of_any_record_is_told),
        cmocka_unit_test(
            a_rollback_fences_the_gated_pods_of_its_unit_and_its_unwritten_claims_once),
        cmocka_unit_test(a_rollback_fences_planned_pods_that_the_unit_does_not_count),
    };

    return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
