/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

#define OWNER                                                                                      \
    "{'metadata':{'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':"      \
    "'%s','controller':true}],'labels':{'l':'V'}}}"

/* The Gang of "g" with this much more in it. */
static const struct tg_unit *look_with(struct one *one, struct bench *bench, const char *more)
{
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 2, 2);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g','finalizers':['x/y'],'labels':{"
                      "'" TG_LABEL_AUTO "':'true'}},'spec':{'size':2}%s}",
                      more);
    one_look(one, bench);
    return one_unit(one, "gang/ns/g");
}

/* The status of "g" after the first write. */
static const char *apply(struct one *one)
{
    const struct tg_snapshot *after;
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(one->decision.n_writes, 1);
    if (tg_cluster_write(one->bench->cluster, &one->decision.writes[0], TG_CLUSTER_WRITE, NULL,
                         &after, &err) < 0)
        fail_msg("%s: %s", err.message, one->decision.writes[0].body);
    assert_int_equal(tg_cluster_unconditional(one->bench->cluster), 0);
    return after == NULL ? "" : after->text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("%s lacks %s", text, part);
}

static void a_gang_is_made_as_its_members_declare_it_and_owned_by_their_controller(void **state)
{
    struct bench *bench = bench_new();
    const char *text;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    for (size_t i = 0; i < 2; i++) {
        char name[8] = {'p', (char)('0' + i), '\0'};

        bench_pod(
            bench, name, 1, 1,
            "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':'tangram.dev/v1alpha"
            "1','kind':'GangMember','gangFrom':{'podLabel':'l'},'size':2,'topology':{'pack':{"
            "'required':'rack','preferred':'host'}}}}}");
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name, OWNER, "job-uid");
    }
    one_look(&one, bench);
    one.input.unit = &one.units.items[0];
    assert_int_equal(tg_write_gang_create(&one.deciding), 0);
    text = one.decision.writes[0].body;
    assert_has(text, "\"labels\":{\"" TG_LABEL_AUTO "\":\"true\",\"" TG_LABEL_CONTROLLER
                     "\":\"default\"}");
    assert_has(text, "\"annotations\":{\"" TG_ANNOTATION_GANG_VALUE "\":\"V\"}");
    assert_has(text, "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
                     "\"name\":\"j\",\"uid\":\"job-uid\"}]");
    assert_has(text, "\"spec\":{\"size\":2,\"topology\":{\"pack\":{\"required\":\"rack\","
                     "\"preferred\":\"host\"}}}");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "p1", OWNER, "another-uid");
    one_done(&one);
    one_look(&one, bench);
    assert_int_equal(tg_write_gang_create(&one.deciding), 0);
    assert_null(strstr(one.decision.writes[0].body, "ownerReferences"));
    one_done(&one);
    bench_free(bench);
}

static void the_finalizer_comes_and_goes_beside_others(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    look_with(&one, bench, "");
    assert_int_equal(tg_write_gang_finalizer(&one.deciding, true), 0);
    assert_has(one.decision.writes[0].body, "\"" TG_LABEL_CONTROLLER "\":\"default\"");
    assert_has(apply(&one), "\"finalizers\":[\"x/y\",\"" TG_FINALIZER_PLAN "\"]");
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_int_equal(tg_write_gang_finalizer(&one.deciding, false), 0);
    assert_has(apply(&one), "\"finalizers\":[\"x/y\"]");
    one_done(&one);
    bench_free(bench);
}

static const struct tg_status_change waiting = {
    .phase = TG_PHASE_WAITING, .reason = "NoRoom", .text = "There is no \"room\"."};

static void what_the_object_shows_already_is_not_written_again(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    look_with(&one, bench, "");
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    assert_has(apply(&one), "\"instance\":\"default\",\"phase\":\"Waiting\",\"explanation\":"
                            "\"There is no \\\"room\\\".\"");
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    one.input.now += TG_SECOND;
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    assert_int_equal(one.decision.n_writes, 0);
    one_done(&one);
    bench_free(bench);
}

static void a_condition_keeps_its_time_while_its_status_stands(void **state)
{
    struct bench *bench = bench_new();
    const char *text;
    struct one one;

    (void)state;
    look_with(&one, bench, "");
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    apply(&one);
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    one.input.now += TG_SECOND;
    assert_int_equal(
        tg_write_gang_status(&one.deciding, &(struct tg_status_change){.phase = TG_PHASE_ALLOCATED,
                                                                       .reason = "Allocated"}),
        0);
    text = apply(&one);
    assert_has(text, "{\"type\":\"Allocated\",\"status\":\"True\",\"reason\":\"Allocated\","
                     "\"message\":\"\",\"observedGeneration\":1,\"lastTransitionTime\":"
                     "\"2026-01-01T00:00:01Z\"}");
    assert_has(text, "{\"type\":\"Running\",\"status\":\"False\",\"reason\":\"Allocated\","
                     "\"message\":\"\",\"observedGeneration\":1,\"lastTransitionTime\":"
                     "\"2026-01-01T00:00:00Z\"}");
    assert_null(strstr(text, "\"explanation\""));
    one_done(&one);
    bench_free(bench);
}

static void a_plan_is_kept_set_or_dropped(void **state)
{
    struct bench *bench = bench_new();
    struct tg_plan *small;
    const char *text;
    struct one one;

    (void)state;
    look_with(
        &one, bench,
        ",'status':{'phase':'Allocated','plan':{'epoch':1,'driver':'d','classes':[{'name':'c',"
        "'config':[]}],'members':[{'pod':'p','uid':'u','node':'n1'}]}}");
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    assert_has(apply(&one), "\"plan\":{\"epoch\":1,\"driver\":\"d\"");
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    small = one_plan(&one, "{'epoch':2,'members':[{'pod':'p','uid':'u','node':'n1'}]}");
    assert_int_equal(
        tg_write_gang_status(&one.deciding, &(struct tg_status_change){.phase = TG_PHASE_RUNNING,
                                                                       .plan_change = TG_PLAN_SET,
                                                                       .plan = small}),
        0);
    text = apply(&one);
    assert_has(text, "\"plan\":{\"epoch\":2,\"members\":[{\"pod\":\"p\"");
    assert_null(strstr(text, "\"classes\""));
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_int_equal(tg_write_gang_status(&one.deciding,
                                          &(struct tg_status_change){.phase = TG_PHASE_COMPLETED,
                                                                     .plan_change = TG_PLAN_DROP}),
                     0);
    assert_null(strstr(apply(&one), "\"plan\":"));
    one_done(&one);
    bench_free(bench);
}

static void a_problem_of_the_unit_is_a_false_condition(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 2);
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g','labels':{'" TG_LABEL_AUTO
                      "':'true'}},'spec':{'size':2}}");
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    assert_has(apply(&one), "{\"type\":\"Accepted\",\"status\":\"False\",\"reason\":\"Invalid\","
                            "\"message\":\"Gang ns/g has size 2, but its members declare size 3\"");
    one_done(&one);
    bench_free(bench);
}

static void a_shortage_is_shown_and_goes(void **state)
{
    struct bench *bench = bench_new();
    struct tg_no_place none = {
        .reason = "NoRoom", .text = "none", .members_short = 2, .devices_per_member = 4};
    struct one one;

    (void)state;
    look_with(&one, bench, "");
    one.decision.phase = TG_PHASE_WAITING;
    one.decision.reason = "NoRoom";
    one.decision.text = "none";
    assert_int_equal(tg_commit_show(&one.input, &none, bench->arena, &one.decision, &one.err), 0);
    assert_has(apply(&one), "\"shortage\":[{\"members\":2,\"perMember\":4,\"classes\":[\"gpu\"]}]");
    one_done(&one);
    one_look(&one, bench);
    one_unit(&one, "gang/ns/g");
    assert_int_equal(tg_write_gang_status(&one.deciding, &waiting), 0);
    assert_null(strstr(apply(&one), "shortage"));
    one_done(&one);
    bench_free(bench);
}

static void a_deletion_has_preconditions(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    look_with(&one, bench, "");
    assert_int_equal(tg_write_gang_delete(&one.deciding), 0);
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g", "{'metadata':{'labels':{'a':'b'}}}");
    assert_int_equal(tg_cluster_write(bench->cluster, &one.decision.writes[0], TG_CLUSTER_WRITE,
                                      NULL, &(const struct tg_snapshot *){NULL}, &one.err),
                     -TG_ABORTED);
    assert_int_equal(tg_cluster_unconditional(bench->cluster), 0);
    one_done(&one);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_is_made_as_its_members_declare_it_and_owned_by_their_controller),
        cmocka_unit_test(the_finalizer_comes_and_goes_beside_others),
        cmocka_unit_test(what_the_object_shows_already_is_not_written_again),
        cmocka_unit_test(a_condition_keeps_its_time_while_its_status_stands),
        cmocka_unit_test(a_plan_is_kept_set_or_dropped),
        cmocka_unit_test(a_problem_of_the_unit_is_a_false_condition),
        cmocka_unit_test(a_shortage_is_shown_and_goes),
        cmocka_unit_test(a_deletion_has_preconditions),
    };

    return cmocka_run_group_tests_name("gang_write", tests, NULL, NULL);
}
