/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

/* A pod without claims that joins "g" by its labels. */
static void bench_leader(struct bench *bench, const char *name, const char *more_labels)
{
    bench_pod(bench, name, 0, 0, NULL);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name,
                      "{'metadata':{'labels':{'" TG_LABEL_GANG "':'g'%s}}}", more_labels);
}

static void bench_user_gang(struct bench *bench, const char *spec)
{
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g'},'spec':%s}", spec);
}

static void a_pod_without_claims_joins_by_its_labels(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_unit *unit;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_leader(bench, "leader", ",'" TG_LABEL_ROLE "':'head'");
    bench_pod(bench, "plain", 0, 0, NULL);
    one_look(&one, bench);
    assert_int_equal(one.units.n, 1);
    unit = one_unit(&one, "gang/ns/g");
    assert_int_equal(unit->n_members, 1);
    assert_string_equal(unit->members[0].role, "head");
    assert_int_equal(unit->members[0].n_claims, 0);
    assert_true(unit->members[0].gated);
    one_done(&one);
    bench_free(bench);
}

static void a_queue_is_refused_by_name(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_leader(bench, "leader", ",'" TG_LABEL_QUEUE "':'q'");
    one_look(&one, bench);
    assert_string_equal(one_unit(&one, "gang/ns/g")->problem.reason, "Unsupported");
    assert_non_null(strstr(one_unit(&one, "gang/ns/g")->problem.text, TG_LABEL_QUEUE));
    one_done(&one);
    bench_free(bench);
}

/* The leader is gated until the claims of the others are written, and counted. */
static void a_leader_without_claims_is_held_and_counted_like_any_member(void **state)
{
    struct bench *bench = bench_new();
    const struct tg_snapshot *leader;

    (void)state;
    bench_fleet(bench, 2);
    bench_user_gang(bench, "{'roles':[{'name':'head','size':1},{'name':'work','size':2}]}");
    for (size_t i = 0; i < 2; i++) {
        char name[8] = {'w', (char)('0' + i), '\0'};

        bench_pod(bench, name, 1, 1,
                  "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':"
                  "'tangram.dev/v1alpha1','kind':'GangMember','gang':'g','role':'work'}}}");
    }
    bench_settle(bench, 60 * TG_SECOND);
    assert_int_equal(bench_gated(bench), 2);
    assert_int_equal(bench_allocated(bench), 0);
    bench_leader(bench, "leader", ",'" TG_LABEL_ROLE "':'head'");
    bench_settle(bench, 60 * TG_SECOND);
    assert_int_equal(bench_gated(bench), 0);
    assert_int_equal(bench_allocated(bench), 2);
    leader = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "leader");
    if (strstr(leader->text, "\"metadata.name\"") == NULL)
        bench_fail(bench, "the leader was not pinned");
    bench_free(bench);
}

static void a_member_of_a_role_that_the_gang_does_not_have_is_told_which_there_are(void **state)
{
    struct bench *bench = bench_new();
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_user_gang(bench, "{'roles':[{'name':'head','size':1},{'name':'work','size':2}]}");
    bench_leader(bench, "right", ",'" TG_LABEL_ROLE "':'head'");
    bench_leader(bench, "wrong", ",'" TG_LABEL_ROLE "':'haed'");
    bench_leader(bench, "none", "");
    one_look(&one, bench);
    for (size_t i = 0; i < 3; i++) {
        const struct tg_unit_member *member = &one_unit(&one, "gang/ns/g")->members[i];

        if (tg_streq(member->pod->metadata->name, "right"))
            assert_null(member->wait);
        else if (tg_streq(member->pod->metadata->name, "wrong"))
            assert_string_equal(member->wait,
                                "its role is haed, and the Gang's roles are: head, work");
        else
            assert_string_equal(member->wait,
                                "it names no role, and the Gang's roles are: head, work");
    }
    one_done(&one);
    bench_settle(bench, 60 * TG_SECOND);
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"), "1 of 3 members are ready; pod "));
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_without_claims_joins_by_its_labels),
        cmocka_unit_test(a_queue_is_refused_by_name),
        cmocka_unit_test(a_member_of_a_role_that_the_gang_does_not_have_is_told_which_there_are),
        cmocka_unit_test(a_leader_without_claims_is_held_and_counted_like_any_member),
    };

    return cmocka_run_group_tests_name("pod_labels", tests, NULL, NULL);
}
