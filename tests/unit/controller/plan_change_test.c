/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller/one.h"

#define PLAN                                                                                       \
    "{'epoch':3,'allocationTimestamp':'2026-01-01T00:00:00Z','driver':'d','classes':[{'name':"     \
    "'gpu','config':[{'a':1}]}],'members':[{'pod':'a','uid':'1','role':'w','node':'n1'},{'pod':"   \
    "'b','uid':'2','role':'w','node':'n2','claims':[{'name':'c','uid':'u','results':[{'request':"  \
    "'r','devices':['x']}]}]},{'pod':'l','uid':'3','role':'l','node':'n1'}]}"

static const struct tg_plan *decode(struct one *one, const char *quoted)
{
    const struct tg_json *tree = tg_edit_parse_quoted(quoted, one->bench->arena);
    struct tg_plan *plan = NULL;

    if (tg_plan_decode(tg_edit_text(tree, one->bench->arena), one->bench->arena, &plan, &one->err) <
        0)
        fail_msg("%s", one->err.message);
    return plan;
}

static struct bench *look(struct one *one)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 1);
    bench_gang(bench, "g", 1, 1);
    one_look(one, bench);
    one_plan(one, PLAN);
    return bench;
}

/* Members a and b, l as given. */
static struct tg_progress progress(struct one *one, struct tg_member_view views[3],
                                   enum tg_member_state a, enum tg_member_state b)
{
    const struct tg_plan_member *members = one->input.plan->members.items;

    views[0] = (struct tg_member_view){.member = &members[0], .state = a, .failed = true};
    views[1] = (struct tg_member_view){.member = &members[1], .state = b, .failed = true};
    views[2] = (struct tg_member_view){.member = &members[2], .state = TG_MEMBER_LOST};
    return (struct tg_progress){.members = views, .n = 3};
}

static void a_plan_without_claims_says_who_is_where_and_nothing_else(void **state)
{
    struct bench *bench;
    struct tg_plan *small;
    struct one one;

    (void)state;
    bench = look(&one);
    small = tg_plan_without_claims(&one.deciding);
    assert_string_equal(
        tg_plan_encode(small, bench->arena),
        "{\"epoch\":3,\"allocationTimestamp\":\"2026-01-01T00:00:00Z\",\"members\":[{\"pod\":\"a\","
        "\"uid\":\"1\",\"role\":\"w\",\"node\":\"n1\"},{\"pod\":\"b\",\"uid\":\"2\",\"role\":\"w\","
        "\"node\":\"n2\"},{\"pod\":\"l\",\"uid\":\"3\",\"role\":\"l\",\"node\":\"n1\"}]}");
    assert_int_equal(one.input.plan->members.items[1].claims.n, 1); /* the original is as it was */
    one_done(&one);
    bench_free(bench);
}

#define MORE(driver)                                                                               \
    "{'epoch':9,'allocationTimestamp':'2026-02-02T00:00:00Z','driver':'" driver "','classes':[{"   \
    "'name':'gpu','config':[]},{'name':'mig','config':[]}],'members':[{'pod':'z','uid':'9','role'" \
    ":'w','node':'n3','claims':[{'name':'c9','uid':'u9','results':[{'request':'r','devices':["     \
    "'y']}]}]}]}"

static void
who_joins_takes_the_place_of_a_lost_member_of_its_role_before_that_of_a_failed_one(void **state)
{
    struct tg_member_view views[3];
    struct tg_progress p;
    struct tg_plan *plan;
    struct bench *bench;
    struct one one;

    (void)state;
    bench = look(&one);
    p = progress(&one, views, TG_MEMBER_FINISHED, TG_MEMBER_LOST);
    plan = tg_plan_join(&one.deciding, &p, decode(&one, MORE("d")));
    assert_int_equal(plan->members.n, 3);
    assert_string_equal(plan->members.items[0].pod, "a");
    assert_string_equal(plan->members.items[1].pod, "l");
    assert_string_equal(plan->members.items[2].pod, "z");
    p = progress(&one, views, TG_MEMBER_FINISHED, TG_MEMBER_BOUND);
    plan = tg_plan_join(&one.deciding, &p, decode(&one, MORE("d")));
    assert_int_equal(plan->members.n, 3);
    assert_string_equal(plan->members.items[0].pod, "b");
    p = progress(&one, views, TG_MEMBER_BOUND, TG_MEMBER_BOUND);
    plan = tg_plan_join(&one.deciding, &p, decode(&one, MORE("d")));
    assert_int_equal(plan->members.n, 4);
    one_done(&one);
    bench_free(bench);
}

/* What was written must be written again as it was: epoch, time, configuration. */
static void the_plan_that_is_joined_keeps_what_replay_needs(void **state)
{
    struct tg_member_view views[3];
    struct tg_progress p;
    struct tg_plan *plan;
    struct bench *bench;
    struct one one;

    (void)state;
    bench = look(&one);
    p = progress(&one, views, TG_MEMBER_BOUND, TG_MEMBER_BOUND);
    plan = tg_plan_join(&one.deciding, &p, decode(&one, MORE("e")));
    assert_int_equal(plan->epoch.value, 3);
    assert_string_equal(plan->allocation_timestamp, "2026-01-01T00:00:00Z");
    assert_int_equal(plan->classes.n, 2);
    assert_string_equal(plan->classes.items[0].config, "[{\"a\":1}]");
    assert_string_equal(plan->classes.items[1].name, "mig");
    assert_string_equal(plan->driver, "d");
    assert_null(plan->members.items[1].claims.items[0].results.items[0].driver);
    assert_string_equal(plan->members.items[3].claims.items[0].results.items[0].driver, "e");
    one_done(&one);
    bench_free(bench);
}

static void a_plan_that_had_shrunk_takes_the_driver_of_who_joins(void **state)
{
    struct tg_member_view views[3];
    struct tg_progress p;
    struct tg_plan *plan;
    struct bench *bench;
    struct one one;

    (void)state;
    bench = look(&one);
    one.input.plan = tg_plan_without_claims(&one.deciding);
    p = progress(&one, views, TG_MEMBER_BOUND, TG_MEMBER_BOUND);
    plan = tg_plan_join(&one.deciding, &p, decode(&one, MORE("e")));
    assert_string_equal(plan->driver, "e");
    assert_null(plan->members.items[3].claims.items[0].results.items[0].driver);
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_without_claims_says_who_is_where_and_nothing_else),
        cmocka_unit_test(
            who_joins_takes_the_place_of_a_lost_member_of_its_role_before_that_of_a_failed_one),
        cmocka_unit_test(the_plan_that_is_joined_keeps_what_replay_needs),
        cmocka_unit_test(a_plan_that_had_shrunk_takes_the_driver_of_who_joins),
    };

    return cmocka_run_group_tests_name("plan_change", tests, NULL, NULL);
}
