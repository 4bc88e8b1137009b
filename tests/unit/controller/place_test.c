/* SPDX-License-Identifier: Apache-2.0 */
/* From members to pieces, from a placement to a plan. */
#include "tests/unit/controller/one.h"

static void choose_all(struct one *one)
{
    one->decision.n_chosen = one->input.unit->n_members;
    one->decision.chosen =
        tg_arena_alloc_array(one->bench->arena, one->decision.n_chosen, sizeof(size_t));
    for (size_t i = 0; i < one->decision.n_chosen; i++)
        one->decision.chosen[i] = i;
}

static void request_of(struct one *one, struct tg_place_request *ret)
{
    choose_all(one);
    assert_int_equal(tg_commit_place_request(&one->input, &one->decision, NULL, NULL, false,
                                             one->bench->arena, ret, &one->err),
                     0);
}

static void share(struct bench *bench, const char *pod, const char *claim)
{
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, pod,
                      "{'spec':{'resourceClaims':[{'name':'c0','resourceClaimTemplateName':'t'},"
                      "{'name':'s','resourceClaimName':'%s'}]}}",
                      claim);
}

static void each_member_is_a_piece_of_its_own(void **state)
{
    struct bench *bench = bench_new();
    struct tg_place_request request;
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    one_look(&one, bench);
    request_of(&one, &request);
    assert_int_equal(request.n_pieces, 3);
    assert_string_equal(request.name, "gang/ns/g");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(request.pieces[i].n_pods, 1);
        assert_int_equal(request.pieces[i].n_claims, 1);
        assert_null(request.pieces[i].fixed_node);
    }
    one_done(&one);
    bench_free(bench);
}

static void members_that_share_claims_directly_or_through_others_are_one_piece(void **state)
{
    struct bench *bench = bench_new();
    struct tg_place_request request;
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 4, 4);
    share(bench, "g-3", "g-1-0");
    share(bench, "g-1", "g-0-0");
    one_look(&one, bench);
    request_of(&one, &request);
    assert_int_equal(request.n_pieces, 2);
    assert_int_equal(request.pieces[0].n_pods, 3);
    assert_int_equal(request.pieces[0].n_claims, 3);
    assert_string_equal(request.pieces[0].pods[0]->metadata->name, "g-0");
    assert_string_equal(request.pieces[1].pods[0]->metadata->name, "g-2");
    one_done(&one);
    bench_free(bench);
}

static void an_allocated_claim_fixes_the_node_and_is_not_asked_for(void **state)
{
    struct bench *bench = bench_new();
    struct tg_place_request request;
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_pod(bench, "first", 1, 1, NULL);
    bench_settle(bench, 0);
    bench_pod(bench, "p", 1, 1, NULL);
    share(bench, "p", "first-0");
    one_look(&one, bench);
    one_unit(&one, "pod/ns/p");
    request_of(&one, &request);
    assert_int_equal(request.n_pieces, 1);
    assert_int_equal(request.pieces[0].n_claims, 1);
    assert_string_equal(request.pieces[0].claims[0]->metadata->name, "p-0");
    assert_string_equal(request.pieces[0].fixed_node, tg_claim_node(one_claim(&one, "first-0")));
    one_done(&one);
    bench_free(bench);
}

/* Places the unit and makes the plan. */
static struct tg_plan *plan_of(struct one *one)
{
    struct tg_place_request request;
    struct tg_placement placement;
    struct tg_no_place none;
    struct tg_plan *plan;

    request_of(one, &request);
    if (tg_place(one->fleet, &request, one->bench->arena, &placement, &none, &one->err) < 0)
        fail_msg("%s", none.text);
    assert_int_equal(tg_commit_plan(&one->input, &one->decision, &request, &placement,
                                    one->bench->arena, &plan, &one->err),
                     0);
    return plan;
}

static void a_plan_says_all_that_the_writes_need(void **state)
{
    struct bench *bench = bench_new();
    struct tg_plan *plan;
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    one_look(&one, bench);
    plan = plan_of(&one);
    assert_int_equal(plan->epoch.value, 7);
    assert_string_equal(plan->allocation_timestamp, "2026-01-01T00:00:00Z");
    assert_string_equal(plan->driver, DRIVER);
    assert_int_equal(plan->classes.n, 1);
    assert_string_equal(plan->classes.items[0].config,
                        "[{\"opaque\":{\"driver\":\"" DRIVER
                        "\",\"parameters\":{\"sharing\":\"none\"}}}]");
    assert_int_equal(plan->members.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        assert_string_equal(member->uid, one_pod(&one, member->pod)->metadata->uid);
        assert_int_equal(member->claims.n, 1);
        assert_string_equal(member->claims.items[0].uid,
                            one_claim(&one, member->claims.items[0].name)->metadata->uid);
        /* Defaults are left out: driver of the plan, pool of the node. */
        assert_null(member->claims.items[0].results.items[0].driver);
        assert_null(member->claims.items[0].results.items[0].pool);
    }
    one_done(&one);
    bench_free(bench);
}

static void a_shared_claim_is_planned_once_with_the_first_of_its_users(void **state)
{
    struct bench *bench = bench_new();
    struct tg_plan *plan;
    struct one one;
    size_t claims = 0;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1",
                      "{'spec':{'resourceClaims':[{'name':'s','resourceClaimName':'g-0-0'}]}}");
    one_look(&one, bench);
    plan = plan_of(&one);
    assert_int_equal(plan->members.n, 2);
    for (size_t i = 0; i < 2; i++)
        claims += plan->members.items[i].claims.n;
    assert_int_equal(claims, 1);
    assert_int_equal(plan->members.items[0].claims.n, 1);
    assert_string_equal(plan->members.items[0].node, plan->members.items[1].node);
    one_done(&one);
    bench_free(bench);
}

static void a_plan_survives_its_text(void **state)
{
    struct bench *bench = bench_new();
    struct tg_plan *plan, *again;
    const char *text;
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    one_look(&one, bench);
    plan = plan_of(&one);
    text = tg_plan_encode(plan, bench->arena);
    assert_int_equal(tg_plan_decode(text, bench->arena, &again, &one.err), 0);
    assert_string_equal(tg_plan_encode(again, bench->arena), text);
    one_done(&one);
    bench_free(bench);
}

static void the_order_of_objects_changes_no_byte_of_the_plan(void **state)
{
    const char *first = NULL;
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 3);
    tg_cluster_create(
        bench->cluster, TG_VIEW_CLASS,
        "{'metadata':{'name':'a'},'spec':{'selectors':[{'cel':{'expression':'false'}}]}}");
    bench_gang(bench, "g", 4, 4);
    for (bench->rotate = 0; bench->rotate < 5; bench->rotate++) {
        const char *text;
        struct one one;

        one_look(&one, bench);
        text = tg_plan_encode(plan_of(&one), bench->arena);
        if (first == NULL)
            first = text;
        assert_string_equal(text, first);
        one_done(&one);
    }
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_is_a_piece_of_its_own),
        cmocka_unit_test(members_that_share_claims_directly_or_through_others_are_one_piece),
        cmocka_unit_test(an_allocated_claim_fixes_the_node_and_is_not_asked_for),
        cmocka_unit_test(a_plan_says_all_that_the_writes_need),
        cmocka_unit_test(a_shared_claim_is_planned_once_with_the_first_of_its_users),
        cmocka_unit_test(a_plan_survives_its_text),
        cmocka_unit_test(the_order_of_objects_changes_no_byte_of_the_plan),
    };

    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
