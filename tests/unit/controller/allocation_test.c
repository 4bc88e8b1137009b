/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a claim, byte for byte: an allocation is immutable, a replay must write the same.
 */
#include "api/tangram/names.h"
#include "tests/unit/controller/one.h"

/* A gang of two of which p-0 has a claim with everything in it; the plan is written by hand. */
struct setting {
    struct bench *bench;
    struct one one;
    struct tg_plan *plan;
};

static void begin(struct setting *s)
{
    struct bench *bench = bench_new();

    s->bench = bench;
    bench_fleet(bench, 1);
    bench_gang(bench, "p", 2, 2);
    tg_cluster_change(
        bench->cluster, TG_VIEW_CLAIM, NS, "p-0-0",
        "{'spec':{'devices':{'requests':[{'name':'b','exactly':{'deviceClassName':'gpu','count':2,"
        "'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}]}},{'name':'a',"
        "'exactly':{'deviceClassName':'gpu'}}],'config':[{'opaque':{'driver':'tangram.dev',"
        "'parameters':{'apiVersion':'tangram.dev/v1alpha1','kind':'GangMember','gang':'p','size':2}"
        "}},{'requests':['b'],'opaque':{'driver':'" DRIVER "','parameters':{'of':'claim'}}}]}}}");
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'p','uid':'gang-uid'},"
                      "'spec':{'size':2}}");
    one_look(&s->one, bench);
    one_unit(&s->one, "gang/ns/p");
    s->plan = one_plan(
        &s->one,
        tg_arena_printf(
            bench->arena,
            "{'epoch':7,'allocationTimestamp':'2026-02-03T04:05:06Z','driver':'" DRIVER "',"
            "'classes':[{'name':'gpu','config':[{'opaque':{'driver':'" DRIVER
            "','parameters':{'of':'class'}}}]}],'members':[{'pod':'p-0','uid':'%s','node':'n1',"
            "'claims':[{'name':'p-0-0','uid':'%s','results':[{'request':'b','devices':['gpu-1',"
            "'gpu-0']},{'request':'a','devices':['x'],'driver':'other','pool':'far'}]}]},"
            "{'pod':'p-1','uid':'%s','node':'n1','claims':[]}]}",
            one_pod(&s->one, "p-0")->metadata->uid, one_claim(&s->one, "p-0-0")->metadata->uid,
            one_pod(&s->one, "p-1")->metadata->uid));
}

static void end(struct setting *s)
{
    one_done(&s->one);
    bench_free(s->bench);
}

static const char *status_of(struct setting *s)
{
    const struct tg_plan_member *member = &s->plan->members.items[0];

    return tg_allocation_status(&s->one.deciding, s->plan, member, &member->claims.items[0],
                                one_claim(&s->one, "p-0-0"));
}

static void the_whole_status(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    assert_string_equal(
        status_of(&s),
        "{\"allocation\":{\"allocationTimestamp\":\"2026-02-03T04:05:06Z\",\"devices\":{"
        "\"results\":["
        "{\"request\":\"b\",\"driver\":\"" DRIVER "\",\"pool\":\"n1\",\"device\":\"gpu-1\","
        "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]},"
        "{\"request\":\"b\",\"driver\":\"" DRIVER "\",\"pool\":\"n1\",\"device\":\"gpu-0\","
        "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]},"
        "{\"request\":\"a\",\"driver\":\"other\",\"pool\":\"far\",\"device\":\"x\"}],"
        "\"config\":["
        "{\"opaque\":{\"driver\":\"" DRIVER "\",\"parameters\":{\"of\":\"class\"}},"
        "\"requests\":[\"b\",\"a\"],\"source\":\"FromClass\"},"
        "{\"opaque\":{\"driver\":\"" DRIVER "\",\"parameters\":{\"of\":\"claim\"}},"
        "\"requests\":[\"b\"],\"source\":\"FromClaim\"},"
        "{\"opaque\":{\"driver\":\"tangram.dev\",\"parameters\":{\"apiVersion\":"
        "\"tangram.dev/v1alpha1\",\"epoch\":7,\"gangUID\":\"gang-uid\",\"kind\":\"Plan\"}},"
        "\"source\":\"FromClass\"}]},"
        "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
        "\"operator\":\"In\",\"values\":[\"n1\"]}]}]}},"
        "\"reservedFor\":[{\"name\":\"p-0\",\"resource\":\"pods\",\"uid\":"
        "\"00000000-0000-4000-8000-000000000005\"}]}");
    end(&s);
}

static void a_replay_writes_the_same_bytes_after_the_class_has_changed(void **state)
{
    const char *before;
    struct setting s;

    (void)state;
    begin(&s);
    before = status_of(&s);
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLASS, NULL, "gpu", "{'spec':{'config':null}}");
    tg_cluster_change(s.bench->cluster, TG_VIEW_POD, NS, "p-0",
                      "{'metadata':{'labels':{'a':'b'}}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    s.one.input.epoch = 99;
    s.one.input.now += TG_SECOND;
    assert_string_equal(status_of(&s), before);
    end(&s);
}

static void of_alternatives_only_what_was_chosen_is_written(void **state)
{
    struct setting s;
    const char *status;

    (void)state;
    begin(&s);
    tg_cluster_change(
        s.bench->cluster, TG_VIEW_CLAIM, NS, "p-0-0",
        "{'spec':{'devices':{'requests':[{'name':'b','firstAvailable':[{'name':'x',"
        "'deviceClassName':'none'},{'name':'y','deviceClassName':'gpu','tolerations':[{'key':'t',"
        "'operator':'Exists'}]}]},{'name':'a','exactly':{'deviceClassName':'gpu'}}],'config':["
        "{'requests':['b/x'],'opaque':{'driver':'" DRIVER "','parameters':{'of':'x'}}},"
        "{'requests':['b/y'],'opaque':{'driver':'" DRIVER "','parameters':{'of':'y'}}},"
        "{'requests':['b'],'opaque':{'driver':'" DRIVER "','parameters':{'of':'b'}}}]}}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    s.plan->members.items[0].claims.items[0].results.items[0].request = "b/y";
    status = status_of(&s);
    assert_non_null(strstr(status, "{\"request\":\"b/y\",\"driver\":\"" DRIVER
                                   "\",\"pool\":\"n1\",\"device\":\"gpu-0\",\"tolerations\":[{"
                                   "\"key\":\"t\""));
    assert_non_null(strstr(status, "\"requests\":[\"b/y\",\"a\"],\"source\":\"FromClass\""));
    assert_null(strstr(status, "\"of\":\"x\""));
    assert_non_null(strstr(status, "{\"of\":\"y\"}},\"requests\":[\"b/y\"]"));
    assert_non_null(strstr(status, "{\"of\":\"b\"}},\"requests\":[\"b\"]"));
    end(&s);
}

static void what_a_device_is_had_by_is_written_with_it(void **state)
{
    struct setting s;
    struct tg_plan_result *result;
    const char *conditions[] = {"x/up"}, *failures[] = {"x/no"};
    char id[TG_PLAN_SHARE_ID];

    (void)state;
    begin(&s);
    result = &s.plan->members.items[0].claims.items[0].results.items[1];
    result->consumed = "{\"m\":\"2Gi\"}";
    result->binding_conditions.items = conditions;
    result->binding_failure_conditions.items = failures;
    result->binding_conditions.n = result->binding_failure_conditions.n = 1;
    tg_plan_share_id(s.plan, &s.plan->members.items[0].claims.items[0], 2, id);
    assert_non_null(strstr(
        status_of(&s), tg_arena_printf(s.bench->arena,
                                       "\"device\":\"x\",\"bindingConditions\":[\"x/up\"],"
                                       "\"bindingFailureConditions\":[\"x/no\"],\"shareID\":\"%s\","
                                       "\"consumedCapacity\":{\"m\":\"2Gi\"}}",
                                       id)));
    result->consumed = "{}";
    assert_null(strstr(status_of(&s), "consumedCapacity"));
    assert_non_null(strstr(status_of(&s), id));
    result->consumed = NULL;
    result->admin_access = (struct tg_opt_bool){.set = true, .value = true};
    assert_null(strstr(status_of(&s), "shareID"));
    assert_non_null(strstr(status_of(&s), "\"device\":\"x\",\"adminAccess\":true"));
    end(&s);
}

static void a_shared_claim_is_reserved_for_every_member_that_uses_it(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    tg_cluster_change(s.bench->cluster, TG_VIEW_POD, NS, "p-1",
                      "{'spec':{'resourceClaims':[{'name':'c0','resourceClaimName':'p-0-0'}]}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    assert_non_null(strstr(status_of(&s), "\"name\":\"p-0\",\"resource\":\"pods\""));
    assert_non_null(strstr(status_of(&s), "\"name\":\"p-1\",\"resource\":\"pods\""));
    end(&s);
}

static void what_is_written_is_recognised(void **state)
{
    const struct tg_plan_member *member;
    const struct tg_resource_claim *claim;
    struct tg_plan_marker marker;
    struct setting s;

    (void)state;
    begin(&s);
    member = &s.plan->members.items[0];
    assert_int_equal(tg_plan_claim_state(&s.one.deciding, member, &member->claims.items[0], &claim),
                     TG_CLAIM_OPEN);
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "p-0-0", "{'status':%s}", status_of(&s));
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    s.one.input.plan = s.plan;
    assert_int_equal(tg_plan_claim_state(&s.one.deciding, member, &member->claims.items[0], &claim),
                     TG_CLAIM_WRITTEN);
    assert_true(tg_claim_marker(claim, s.bench->arena, &marker));
    assert_string_equal(marker.gang_uid, "gang-uid");
    assert_int_equal(marker.epoch, 7);
    assert_string_equal(tg_claim_node(claim), "n1");
    end(&s);
}

static void finalizer_and_epoch_are_written_first_unless_they_stand(void **state)
{
    const struct tg_plan_member *member;
    struct setting s;

    (void)state;
    begin(&s);
    member = &s.plan->members.items[0];
    assert_int_equal(tg_write_allocate(&s.one.deciding, s.plan, member, &member->claims.items[0],
                                       one_claim(&s.one, "p-0-0")),
                     0);
    assert_false(s.one.decision.writes[0].metadata_done);
    assert_string_equal(s.one.decision.writes[0].epoch, "7");
    /* One of the two is not enough: without the finalizer nobody ever clears the allocation. */
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "p-0-0",
                      "{'metadata':{'annotations':{'" TG_ANNOTATION_EPOCH "':'7'}}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    assert_int_equal(tg_write_allocate(&s.one.deciding, s.plan, member, &member->claims.items[0],
                                       one_claim(&s.one, "p-0-0")),
                     0);
    assert_false(s.one.decision.writes[0].metadata_done);
    tg_cluster_change(s.bench->cluster, TG_VIEW_CLAIM, NS, "p-0-0",
                      "{'metadata':{'finalizers':['" TG_FINALIZER_CLAIM
                      "'],'annotations':{'" TG_ANNOTATION_EPOCH "':'7'}}}");
    one_done(&s.one);
    one_look(&s.one, s.bench);
    one_unit(&s.one, "gang/ns/p");
    assert_int_equal(tg_write_allocate(&s.one.deciding, s.plan, member, &member->claims.items[0],
                                       one_claim(&s.one, "p-0-0")),
                     0);
    assert_true(s.one.decision.writes[0].metadata_done);
    end(&s);
}

/* Whose parameters are stored in which bytes nobody knows: such a claim is spliced. */
static void metadata_are_patched_unless_the_claim_has_opaque_parameters(void **state)
{
    struct bench *bench = bench_new();
    const char *metadata;
    struct one one;

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pod(bench, "q", 1, 1, bench_member_config(bench, "g", 1));
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "p-0",
                      "{'metadata':{'finalizers':['x/y']}}");
    one_look(&one, bench);
    assert_int_equal(tg_claim_metadata(&one.deciding, one_claim(&one, "p-0"), "7", true, &metadata),
                     0);
    assert_non_null(strstr(metadata,
                           "\"annotations\":{\"" TG_ANNOTATION_EPOCH
                           "\":\"7\"},\"finalizers\":[\"x/y\",\"" TG_FINALIZER_CLAIM "\"]"));
    assert_non_null(strstr(metadata, "\"resourceVersion\":\""));
    assert_int_equal(
        tg_claim_metadata(&one.deciding, one_claim(&one, "p-0"), "7", false, &metadata), 0);
    assert_null(strstr(metadata, "finalizers"));
    assert_int_equal(tg_claim_metadata(&one.deciding, one_claim(&one, "q-0"), "7", true, &metadata),
                     0);
    assert_null(metadata);
    one_done(&one);
    bench_free(bench);
}

static void a_claim_is_cleared_in_one_write_with_precondition(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    assert_int_equal(tg_write_clear(&s.one.deciding, one_claim(&s.one, "p-0-0")), 0);
    assert_non_null(strstr(s.one.decision.writes[0].body, "\"resourceVersion\":\""));
    assert_non_null(
        strstr(s.one.decision.writes[0].body,
               "\"status\":{\"allocation\":null,\"reservedFor\":null,\"devices\":null}"));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_status),
        cmocka_unit_test(a_replay_writes_the_same_bytes_after_the_class_has_changed),
        cmocka_unit_test(of_alternatives_only_what_was_chosen_is_written),
        cmocka_unit_test(what_a_device_is_had_by_is_written_with_it),
        cmocka_unit_test(a_shared_claim_is_reserved_for_every_member_that_uses_it),
        cmocka_unit_test(what_is_written_is_recognised),
        cmocka_unit_test(finalizer_and_epoch_are_written_first_unless_they_stand),
        cmocka_unit_test(metadata_are_patched_unless_the_claim_has_opaque_parameters),
        cmocka_unit_test(a_claim_is_cleared_in_one_write_with_precondition),
    };

    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
