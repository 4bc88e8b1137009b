/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

static void one_claim_makes_a_claim_unit_several_make_a_pod_unit(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pod(bench, "q", 2, 1, NULL);
    one_look(&one, bench);
    assert_int_equal(one.units.n, 2);
    assert_int_equal(one_unit(&one, "claim/ns/p-0")->kind, TG_UNIT_CLAIM);
    assert_int_equal(one_unit(&one, "pod/ns/q")->kind, TG_UNIT_POD);
    assert_int_equal(one_unit(&one, "pod/ns/q")->members[0].n_claims, 2);
    one_done(&one);
    bench_free(bench);
}

static void members_of_a_gang_make_one_unit_oldest_first(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 3, 3);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-2",
                      "{'metadata':{'creationTimestamp':'2025-01-01T00:00:00Z'}}");
    one_look(&one, bench);
    unit = one_unit(&one, "gang/ns/g");
    assert_int_equal(unit->n_members, 3);
    assert_string_equal(unit->members[0].pod->metadata->name, "g-2");
    assert_string_equal(unit->members[1].pod->metadata->name, "g-0");
    assert_string_equal(unit->created, "2025-01-01T00:00:00Z");
    assert_null(unit->problem.reason);
    one_done(&one);
    bench_free(bench);
}

static void units_come_by_priority_then_age_then_name(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "b", 1, 1, NULL);
    bench_pod(bench, "a", 1, 1, NULL);
    bench_pod(bench, "old", 1, 1, NULL);
    bench_pod(bench, "urgent", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "old",
                      "{'metadata':{'creationTimestamp':'2025-01-01T00:00:00Z'}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "urgent", "{'spec':{'priority':9}}");
    one_look(&one, bench);
    assert_string_equal(one.units.items[0].name, "urgent-0");
    assert_string_equal(one.units.items[1].name, "old-0");
    assert_string_equal(one.units.items[2].name, "a-0");
    assert_string_equal(one.units.items[3].name, "b-0");
    one_done(&one);
    bench_free(bench);
}

static void a_pod_whose_claims_are_not_there_yet_waits(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    bench_pod(bench, "g-0", 2, 1, bench_member_config(bench, "g", 2));
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "p-1");
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "g-0-1");
    one_look(&one, bench);
    assert_int_equal(one.units.n, 1);
    assert_non_null(strstr(one_unit(&one, "gang/ns/g")->members[0].wait, "not created"));
    one_done(&one);
    bench_free(bench);
}

/* Gathers again, with one object known as unreadable. */
static void look_unreadable(struct one *one, enum tg_view_kind kind, const void *object)
{
    tg_view_add_unreadable(&one->view, kind, object, "because");
    assert_int_equal(tg_gather(&one->view, "default", one->bench->arena, &one->units, &one->err),
                     0);
}

static void a_pod_that_cannot_be_read_or_whose_claim_cannot_waits(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    bench_pod(bench, "q", 1, 1, NULL);
    one_look(&one, bench);
    assert_null(one_unit(&one, "pod/ns/p")->members[0].wait);
    look_unreadable(&one, TG_VIEW_CLAIM, one_claim(&one, "p-1"));
    assert_string_equal(one_unit(&one, "pod/ns/p")->members[0].wait,
                        "its claim p-1 cannot be read: see the claim's events");
    assert_null(one_unit(&one, "claim/ns/q-0")->members[0].wait);
    look_unreadable(&one, TG_VIEW_POD, one_pod(&one, "q"));
    assert_non_null(strstr(one_unit(&one, "claim/ns/q-0")->members[0].wait, "cannot be read"));
    one_done(&one);
    bench_free(bench);
}

/* Members may have joined by label: of what the claim asks for nothing is known. */
static void a_member_of_which_a_claim_was_never_read_does_not_count_as_present(void **state)
{
    struct bench *bench = bench_new();
    struct tg_resource_claim unread = {0};
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p",
                      "{'metadata':{'labels':{'" TG_LABEL_GANG "':'g'}}}");
    one_look(&one, bench);
    assert_null(one_unit(&one, "gang/ns/g")->members[0].wait);
    unread.metadata = one_claim(&one, "p-0")->metadata;
    tg_view_add(&one.view, TG_VIEW_CLAIM, &unread);
    look_unreadable(&one, TG_VIEW_CLAIM, &unread);
    assert_non_null(strstr(one_unit(&one, "gang/ns/g")->members[0].wait, "p-0 cannot be read"));
    one_done(&one);
    bench_free(bench);
}

static void what_is_allocated_goes_on_although_its_claim_cannot_be_read(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    while (bench_allocated(bench) == 0)
        assert_true(bench_run(bench, 1));
    one_look(&one, bench);
    look_unreadable(&one, TG_VIEW_CLAIM, one_claim(&one, "p-0"));
    assert_null(one_unit(&one, "claim/ns/p-0")->members[0].wait);
    one_done(&one);
    bench_free(bench);
}

static void nothing_is_decided_about_a_gang_that_was_never_read(void **state)
{
    struct bench *bench = bench_new();
    struct tg_object_meta meta = {
        .namespace_ = NS, .name = "g", .uid = "u-g", .resource_version = "1"};
    struct tg_gang unread = {.metadata = &meta};
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "p", 1, 1, NULL);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    tg_view_add(&one.view, TG_VIEW_GANG, &unread);
    look_unreadable(&one, TG_VIEW_GANG, &unread);
    assert_int_equal(one.units.n, 1);
    assert_string_equal(one.units.items[0].key, "claim/ns/p-0");
    one_done(&one);
    bench_free(bench);
}

static void a_foreign_gate_makes_a_member_wait_with_ours_or_without(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pod(bench, "q", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p",
                      "{'spec':{'schedulingGates':[{'name':'x'},{'name':'" TG_GATE "'}]}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "q",
                      "{'spec':{'schedulingGates':[{'name':'x'}]}}");
    one_look(&one, bench);
    assert_true(one_unit(&one, "claim/ns/p-0")->members[0].gated);
    assert_non_null(one_unit(&one, "claim/ns/p-0")->members[0].wait);
    assert_false(one_unit(&one, "claim/ns/q-0")->members[0].gated);
    assert_non_null(one_unit(&one, "claim/ns/q-0")->members[0].wait);
    one_done(&one);
    bench_free(bench);
}

static void a_template_claim_of_another_owner_is_not_the_pods(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p',"
                      "'uid':'an older one','controller':true}]}}");
    one_look(&one, bench);
    assert_int_equal(one.units.n, 0);
    one_done(&one);
    bench_free(bench);
}

static void classes_that_are_not_ours_are_not_our_business(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu",
                      "{'metadata':{'labels':{'" TG_LABEL_CONTROLLER "':'other'}}}");
    one_look(&one, bench);
    assert_int_equal(one.units.n, 0);
    one_done(&one);
    bench_free(bench);
}

static void a_claim_of_managed_and_unmanaged_classes_is_a_problem_of_its_unit(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS, "{'metadata':{'name':'plain'},'spec':{}}");
    tg_cluster_change(
        bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
        "{'spec':{'devices':{'requests':[{'name':'a','exactly':{'deviceClassName':'gpu'}},"
        "{'name':'b','exactly':{'deviceClassName':'plain'}}]}}}");
    one_look(&one, bench);
    unit = one_unit(&one, "claim/ns/p-0");
    assert_string_equal(unit->problem.reason, "Invalid");
    assert_non_null(strstr(unit->problem.text, "plain"));
    assert_ptr_equal(unit->problem.claim, one_claim(&one, "p-0"));
    one_done(&one);
    bench_free(bench);
}

static void members_that_declare_different_sizes_are_a_problem_of_the_gang(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "g-0", 1, 1, bench_member_config(bench, "g", 2));
    bench_pod(bench, "g-1", 1, 1, bench_member_config(bench, "g", 3));
    one_look(&one, bench);
    assert_string_equal(one_unit(&one, "gang/ns/g")->problem.reason, "ContradictingGangMember");
    one_done(&one);
    bench_free(bench);
}

static void sizes_of_members_and_gang_must_agree(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "auto", 2, 1);
    bench_gang(bench, "user", 2, 1);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'auto','labels':{'" TG_LABEL_AUTO
                      "':'true'}},'spec':{'size':5}}");
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'user'},'spec':{'size':2}}");
    one_look(&one, bench);
    assert_non_null(strstr(one_unit(&one, "gang/ns/auto")->problem.text, "size 5"));
    assert_non_null(strstr(one_unit(&one, "gang/ns/user")->problem.text, "written by a user"));
    one_done(&one);
    bench_free(bench);
}

static void finished_deleted_and_bound_pods_make_no_units_of_their_own(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "finished", 1, 1, NULL);
    bench_pod(bench, "going", 1, 1, NULL);
    bench_pod(bench, "bound", 1, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "finished",
                      "{'status':{'phase':'Succeeded'}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "going",
                      "{'metadata':{'finalizers':['x']}}");
    bench_delete_pod(bench, "going");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "bound",
                      "{'spec':{'schedulingGates':null,'nodeName':'n1'}}");
    one_look(&one, bench);
    assert_int_equal(one.units.n, 0);
    one_done(&one);
    bench_free(bench);
}

static void a_pod_with_a_record_stays_an_implicit_gang_when_a_claim_is_gone(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p",
                      "{'metadata':{'annotations':{'" TG_ANNOTATION_PLAN "':'{}'}}}");
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "p-1");
    one_look(&one, bench);
    assert_int_equal(one_unit(&one, "pod/ns/p")->kind, TG_UNIT_POD);
    one_done(&one);
    bench_free(bench);
}

static void more_pods_than_a_claim_can_be_reserved_for_are_refused(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    for (size_t i = 0; i < TG_RESERVED_FOR_MAX; i++)
        tg_cluster_create(bench->cluster, TG_VIEW_POD,
                          "{'metadata':{'namespace':'" NS
                          "','name':'s%zu'},'spec':{'schedulingGates':[{'name':'" TG_GATE
                          "'}],'resourceClaims':[{'name':'c','resourceClaimName':'p-0'}]}}",
                          i);
    one_look(&one, bench);
    assert_string_equal(one_unit(&one, "claim/ns/p-0")->problem.reason, "TooManyPods");
    one_done(&one);
    bench_delete_pod(bench, "s7");
    one_look(&one, bench);
    assert_null(one_unit(&one, "claim/ns/p-0")->problem.reason);
    one_done(&one);
    bench_free(bench);
}

static void an_exhausted_budget_is_an_error(void **state)
{
    struct bench *bench = bench_new();
    struct tg_error err = TG_ERROR_INIT;
    struct tg_units units;
    struct one one;
    int r = -1;

    (void)state;
    bench_fleet(bench, 1);
    bench_gang(bench, "g", 3, 3);
    one_look(&one, bench);
    for (size_t nth = 1; r < 0; nth++) {
        struct tg_arena *arena = tg_arena_new((size_t)1 << 20);

        tg_arena_fail_after(arena, nth);
        err = TG_ERROR_INIT;
        r = tg_gather(&one.view, "default", arena, &units, &err);
        if (r < 0)
            assert_int_equal(err.code, TG_RESOURCE_EXHAUSTED);
        tg_arena_free(arena);
    }
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_claim_makes_a_claim_unit_several_make_a_pod_unit),
        cmocka_unit_test(members_of_a_gang_make_one_unit_oldest_first),
        cmocka_unit_test(units_come_by_priority_then_age_then_name),
        cmocka_unit_test(a_pod_whose_claims_are_not_there_yet_waits),
        cmocka_unit_test(a_pod_that_cannot_be_read_or_whose_claim_cannot_waits),
        cmocka_unit_test(a_member_of_which_a_claim_was_never_read_does_not_count_as_present),
        cmocka_unit_test(what_is_allocated_goes_on_although_its_claim_cannot_be_read),
        cmocka_unit_test(nothing_is_decided_about_a_gang_that_was_never_read),
        cmocka_unit_test(a_foreign_gate_makes_a_member_wait_with_ours_or_without),
        cmocka_unit_test(a_template_claim_of_another_owner_is_not_the_pods),
        cmocka_unit_test(classes_that_are_not_ours_are_not_our_business),
        cmocka_unit_test(a_claim_of_managed_and_unmanaged_classes_is_a_problem_of_its_unit),
        cmocka_unit_test(members_that_declare_different_sizes_are_a_problem_of_the_gang),
        cmocka_unit_test(sizes_of_members_and_gang_must_agree),
        cmocka_unit_test(finished_deleted_and_bound_pods_make_no_units_of_their_own),
        cmocka_unit_test(a_pod_with_a_record_stays_an_implicit_gang_when_a_claim_is_gone),
        cmocka_unit_test(more_pods_than_a_claim_can_be_reserved_for_are_refused),
        cmocka_unit_test(an_exhausted_budget_is_an_error),
    };

    return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
