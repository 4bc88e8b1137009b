/* SPDX-License-Identifier: Apache-2.0 */
/* The patch that pins and releases, as the API server takes it (cluster_model applies its rules).
 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

#define PIN "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

/* Releases pod "p" whose spec got this merged in; its spec afterwards as text. */
static const char *release(struct bench *bench, const char *change, bool drop_plan)
{
    const struct tg_snapshot *after;
    struct tg_error err = TG_ERROR_INIT;
    struct one one;

    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "%s", change);
    bench->foreign_fault = true;
    one_look(&one, bench);
    assert_int_equal(tg_write_release_pod(&one.deciding, one_pod(&one, "p"), "n1", drop_plan), 0);
    assert_int_equal(one.decision.n_writes, 1);
    if (tg_cluster_write(bench->cluster, &one.decision.writes[0], TG_CLUSTER_WRITE, NULL, &after,
                         &err) < 0)
        fail_msg("%s: %s", err.message, one.decision.writes[0].body);
    one_done(&one);
    return tg_edit_text(after->tree, bench->arena);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("%s lacks %s", text, part);
}

static void a_pod_without_affinity_is_pinned(void **state)
{
    struct bench *bench = bench_new();
    const char *text = release(bench, "{}", false);

    (void)state;
    assert_has(text, "\"affinity\":{\"nodeAffinity\":{\"" REQUIRED
                     "\":{\"nodeSelectorTerms\":[{\"matchFields\":[" PIN "]}]}}}");
    assert_has(text, "\"schedulingGates\":[]");
    bench_free(bench);
}

static void other_affinity_stays(void **state)
{
    struct bench *bench = bench_new();
    const char *text = release(bench, "{'spec':{'affinity':{'podAffinity':{}}}}", false);

    (void)state;
    assert_has(text, "\"podAffinity\":{},\"nodeAffinity\":{\"" REQUIRED "\"");
    bench_free(bench);
}

static void preferences_stay(void **state)
{
    struct bench *bench = bench_new();
    const char *text =
        release(bench,
                "{'spec':{'affinity':{'nodeAffinity':{"
                "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1}]}}}}",
                false);

    (void)state;
    assert_has(text, "[{\"weight\":1}],\"" REQUIRED
                     "\":{\"nodeSelectorTerms\":[{\"matchFields\":[" PIN "]}]}");
    bench_free(bench);
}

static void every_required_term_is_pinned(void **state)
{
    struct bench *bench = bench_new();
    const char *text = release(
        bench,
        "{'spec':{'affinity':{'nodeAffinity':{'" REQUIRED "':{'nodeSelectorTerms':["
        "{'matchExpressions':[{'key':'a','operator':'Exists'}]},"
        "{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n7']}]}]}}}}}",
        false);

    (void)state;
    assert_has(text, "[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}],"
                     "\"matchFields\":[" PIN "]},{\"matchFields\":[{\"key\":\"metadata.name\","
                     "\"operator\":\"NotIn\",\"values\":[\"n7\"]}," PIN "]}]");
    bench_free(bench);
}

static void the_gate_is_found_at_any_place(void **state)
{
    struct bench *bench = bench_new();
    const char *text = release(
        bench, "{'spec':{'schedulingGates':[{'name':'other'},{'name':'" TG_GATE "'}]}}", false);

    (void)state;
    assert_has(text, "\"schedulingGates\":[{\"name\":\"other\"}]");
    bench_free(bench);
}

static void the_record_goes_with_the_gate_and_other_annotations_stay(void **state)
{
    struct bench *bench = bench_new();
    const char *text = release(
        bench, "{'metadata':{'annotations':{'a/b':'c','" TG_ANNOTATION_PLAN "':'{}'}}}", true);

    (void)state;
    assert_has(text, "\"annotations\":{\"a/b\":\"c\"}");
    bench_free(bench);
}

static void a_pod_that_has_changed_is_not_patched(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_snapshot *after;
    struct tg_error err = TG_ERROR_INIT;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    one_look(&one, bench);
    assert_int_equal(tg_write_release_pod(&one.deciding, one_pod(&one, "p"), "n1", false), 0);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "{'metadata':{'labels':{'a':'b'}}}");
    assert_int_equal(tg_cluster_write(bench->cluster, &one.decision.writes[0], TG_CLUSTER_WRITE,
                                      NULL, &after, &err),
                     -TG_ABORTED);
    assert_int_equal(tg_cluster_unconditional(bench->cluster), 0);
    one_done(&one);
    bench_free(bench);
}

static void a_plan_is_written_with_and_without_annotations_there(void **state)
{
    static const char *const changes[] = {"{}", "{'metadata':{'annotations':{'a/b':'c'}}}"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench *bench = bench_new();
        const struct tg_snapshot *after;
        struct tg_error err = TG_ERROR_INIT;
        struct tg_plan *plan;
        struct one one;

        bench_fleet(bench, 1);
        bench_pod(bench, "p", 2, 1, NULL);
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p", "%s", changes[i]);
        one_look(&one, bench);
        plan = one_plan(&one, "{'epoch':1,'members':[{'pod':'p','uid':'u','node':'n1'}]}");
        assert_int_equal(tg_write_pod_plan(&one.deciding, one_pod(&one, "p"), plan), 0);
        assert_int_equal(tg_cluster_write(bench->cluster, &one.decision.writes[0], TG_CLUSTER_WRITE,
                                          NULL, &after, &err),
                         0);
        assert_string_equal(tg_meta_annotation(after->object->metadata, TG_ANNOTATION_PLAN),
                            tg_plan_encode(plan, bench->arena));
        one_done(&one);
        bench_free(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_without_affinity_is_pinned),
        cmocka_unit_test(other_affinity_stays),
        cmocka_unit_test(preferences_stay),
        cmocka_unit_test(every_required_term_is_pinned),
        cmocka_unit_test(the_gate_is_found_at_any_place),
        cmocka_unit_test(the_record_goes_with_the_gate_and_other_annotations_stay),
        cmocka_unit_test(a_pod_that_has_changed_is_not_patched),
        cmocka_unit_test(a_plan_is_written_with_and_without_annotations_there),
    };

    return cmocka_run_group_tests_name("pod_patch", tests, NULL, NULL);
}
