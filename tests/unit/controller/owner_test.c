/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/gather/owner.h"
#include "tests/support/json_edit.h"

struct link {
    const char *api_version, *kind, *json; /* json: what follows metadata, ' for " */
};

#define CHAIN_END                                                                                  \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }

static int setup(void **state)
{
    *state = tg_arena_new((size_t)1 << 20);
    return 0;
}

static int teardown(void **state)
{
    tg_arena_free(*state);
    return 0;
}

static const char *explain(struct tg_arena *arena, const struct link *links, size_t members,
                           size_t wanted, bool alone)
{
    struct tg_owner_chain chain = {.members = members};

    for (; links[chain.n].kind != NULL; chain.n++) {
        const struct link *link = &links[chain.n];
        const struct tg_owner_reference reference = {.api_version = link->api_version,
                                                     .kind = link->kind};
        const char *quoted = tg_arena_printf(arena, "{'metadata':{'name':'%c'}%s}",
                                             (char)('a' + chain.n), link->json);
        const char *text = tg_edit_text(tg_edit_parse_quoted(quoted, arena), arena);
        struct tg_error err = TG_ERROR_INIT;
        void *object;

        chain.links[chain.n].kind = tg_owner_kind_find(&reference);
        assert_non_null(chain.links[chain.n].kind);
        if (tg_json_decode_new(chain.links[chain.n].kind->type, text, strlen(text), arena, &object,
                               &err) < 0)
            fail_msg("%s", err.message);
        chain.links[chain.n].object = object;
    }
    return tg_owner_explain(&chain, wanted, alone, arena);
}

static void expect(const char *text, const char *who, const char *setting)
{
    if (text == NULL || strstr(text, who) == NULL || strstr(text, setting) == NULL)
        fail_msg("expected %s and %s in: %s", who, setting, tg_or(text, "(nothing)"));
}

static void a_stateful_set_that_creates_pods_in_order_is_named_until_all_are_there(void **state)
{
    const struct link ordered[] = {{"apps/v1", "StatefulSet", ",'spec':{'replicas':3}"}, CHAIN_END};
    const struct link said[] = {
        {"apps/v1", "StatefulSet", ",'spec':{'replicas':3,'podManagementPolicy':'OrderedReady'}"},
        CHAIN_END};
    const struct link parallel[] = {
        {"apps/v1", "StatefulSet", ",'spec':{'replicas':3,'podManagementPolicy':'Parallel'}"},
        CHAIN_END};

    expect(explain(*state, ordered, 1, 3, true), "StatefulSet a",
           "spec.podManagementPolicy: Parallel");
    expect(explain(*state, said, 1, 3, true), "StatefulSet a",
           "spec.podManagementPolicy: Parallel");
    assert_null(explain(*state, parallel, 1, 3, true));
    assert_null(explain(*state, ordered, 3, 4, false));
}

static void
a_stateful_set_in_the_middle_of_an_update_is_named_unless_pods_are_deleted_by_hand(void **state)
{
    const struct link updating[] = {
        {"apps/v1", "StatefulSet",
         ",'spec':{'replicas':3,'podManagementPolicy':'Parallel','updateStrategy':{'type':"
         "'RollingUpdate'}},'status':{'currentRevision':'1','updateRevision':'2'}"},
        CHAIN_END};
    const struct link done[] = {
        {"apps/v1", "StatefulSet",
         ",'spec':{'replicas':3,'podManagementPolicy':'Parallel'},'status':{'currentRevision':"
         "'2','updateRevision':'2'}"},
        CHAIN_END};
    const struct link by_hand[] = {
        {"apps/v1", "StatefulSet",
         ",'spec':{'replicas':3,'podManagementPolicy':'Parallel','updateStrategy':{'type':"
         "'OnDelete'}},'status':{'currentRevision':'1','updateRevision':'2'}"},
        CHAIN_END};

    expect(explain(*state, updating, 3, 3, true), "StatefulSet a", "updateStrategy.type: OnDelete");
    assert_null(explain(*state, done, 3, 3, true));
    assert_null(explain(*state, by_hand, 3, 3, true));
}

static void a_leader_worker_set_that_waits_for_its_leaders_is_named(void **state)
{
    const struct link waits[] = {
        {"apps/v1", "StatefulSet", ",'spec':{'replicas':1,'podManagementPolicy':'Parallel'}"},
        {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
         ",'spec':{'replicas':1,'startupPolicy':'LeaderReady'}"},
        CHAIN_END};
    const struct link creates[] = {
        {"apps/v1", "StatefulSet", ",'spec':{'replicas':1,'podManagementPolicy':'Parallel'}"},
        {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
         ",'spec':{'replicas':1,'startupPolicy':'LeaderCreated'}"},
        CHAIN_END};

    expect(explain(*state, waits, 1, 4, true), "LeaderWorkerSet b",
           "spec.startupPolicy: LeaderCreated");
    assert_null(explain(*state, creates, 1, 4, true));
}

static void a_job_set_that_starts_its_jobs_in_order_is_named(void **state)
{
    const struct link ordered[] = {{"batch/v1", "Job", ",'spec':{'parallelism':1,'completions':1}"},
                                   {"jobset.x-k8s.io/v1alpha2", "JobSet",
                                    ",'spec':{'startupPolicy':{'startupPolicyOrder':'InOrder'}}"},
                                   CHAIN_END};
    const struct link depends[] = {
        {"batch/v1", "Job", ",'spec':{'parallelism':1,'completions':1}"},
        {"jobset.x-k8s.io/v1alpha2", "JobSet",
         ",'spec':{'replicatedJobs':[{'name':'leader'},{'name':'worker','dependsOn':[{'name':"
         "'leader','status':'Ready'}]}]}"},
        CHAIN_END};
    const struct link any[] = {{"batch/v1", "Job", ",'spec':{'parallelism':1,'completions':1}"},
                               {"jobset.x-k8s.io/v1alpha2", "JobSet",
                                ",'spec':{'startupPolicy':{'startupPolicyOrder':'AnyOrder'},"
                                "'replicatedJobs':[{'name':'leader'},{'name':'worker'}]}"},
                               CHAIN_END};

    expect(explain(*state, ordered, 1, 4, false), "JobSet b",
           "spec.startupPolicy.startupPolicyOrder: AnyOrder");
    expect(explain(*state, depends, 1, 4, false), "job worker only after job leader", "dependsOn");
    /* The size of one of its jobs says nothing about the set. */
    assert_null(explain(*state, any, 1, 4, true));
}

static void a_job_that_runs_fewer_pods_than_the_gang_has_is_named(void **state)
{
    const struct link narrow[] = {{"batch/v1", "Job", ",'spec':{'parallelism':2,'completions':8}"},
                                  CHAIN_END};
    const struct link quiet[] = {{"batch/v1", "Job", ",'spec':{}"}, CHAIN_END};
    const struct link few[] = {{"batch/v1", "Job", ",'spec':{'parallelism':8,'completions':3}"},
                               CHAIN_END};
    const struct link enough[] = {{"batch/v1", "Job", ",'spec':{'parallelism':4,'completions':4}"},
                                  CHAIN_END};
    const struct link queue[] = {{"batch/v1", "Job", ",'spec':{'parallelism':4}"}, CHAIN_END};

    expect(explain(*state, narrow, 2, 4, true), "Job a creates at most 2 pods", "spec.parallelism");
    expect(explain(*state, quiet, 1, 4, true), "at most 1 pod at a time", "spec.parallelism");
    expect(explain(*state, few, 2, 4, true), "Job a creates at most 3 pods", "spec.completions");
    assert_null(explain(*state, enough, 2, 4, true));
    assert_null(explain(*state, queue, 2, 4, true));
    /* Others have members too: what this one lacks they may bring. */
    assert_null(explain(*state, narrow, 2, 4, false));
}

static void a_suspended_job_is_named(void **state)
{
    const struct link job[] = {{"batch/v1", "Job", ",'spec':{'parallelism':4,'suspend':true}"},
                               CHAIN_END};
    const struct link set[] = {{"batch/v1", "Job", ",'spec':{'parallelism':4}"},
                               {"jobset.x-k8s.io/v1alpha2", "JobSet", ",'spec':{'suspend':true}"},
                               CHAIN_END};

    expect(explain(*state, job, 1, 4, true), "Job a", "spec.suspend");
    expect(explain(*state, set, 1, 4, true), "JobSet b", "spec.suspend");
}

static void a_deployment_in_the_middle_of_a_rolling_update_is_named(void **state)
{
    const struct link rolling[] = {
        {"apps/v1", "ReplicaSet", ",'spec':{'replicas':1}"},
        {"apps/v1", "Deployment", ",'spec':{'replicas':4,'strategy':{'type':'RollingUpdate'}}"},
        CHAIN_END};
    const struct link recreating[] = {
        {"apps/v1", "ReplicaSet", ",'spec':{'replicas':1}"},
        {"apps/v1", "Deployment", ",'spec':{'replicas':4,'strategy':{'type':'Recreate'}}"},
        CHAIN_END};
    const struct link done[] = {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':4}"},
                                {"apps/v1", "Deployment", ",'spec':{'replicas':4}"},
                                CHAIN_END};

    expect(explain(*state, rolling, 1, 4, true), "Deployment b", "spec.strategy.type: Recreate");
    assert_null(explain(*state, recreating, 1, 4, true));
    assert_null(explain(*state, done, 3, 4, true));
}

static void too_few_replicas_are_told_with_the_owner_that_can_be_scaled(void **state)
{
    const struct link deployment[] = {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':2}"},
                                      {"apps/v1", "Deployment", ",'spec':{'replicas':2}"},
                                      CHAIN_END};
    const struct link set[] = {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':2}"}, CHAIN_END};
    const struct link stateful[] = {
        {"apps/v1", "StatefulSet", ",'spec':{'replicas':2,'podManagementPolicy':'Parallel'}"},
        CHAIN_END};

    expect(explain(*state, deployment, 2, 4, true), "Deployment b creates at most 2 pods",
           "spec.replicas");
    expect(explain(*state, set, 2, 4, true), "ReplicaSet a", "spec.replicas");
    expect(explain(*state, stateful, 2, 4, true), "StatefulSet a", "spec.replicas");
}

static void only_known_kinds_of_their_groups_with_a_version_that_is_a_name_are_read(void **state)
{
    static const struct {
        const char *api_version, *kind;
        bool known;
    } references[] = {
        {"apps/v1", "StatefulSet", true},       {"batch/v1", "Job", true},
        {"jobset.x-k8s.io/v1", "JobSet", true}, {"apps/v1", "DaemonSet", false},
        {"v1", "ReplicationController", false}, {"evil.example.com/v1", "Job", false},
        {"apps", "StatefulSet", false},         {"apps/", "StatefulSet", false},
        {"apps/v1?x=", "StatefulSet", false},   {"apps/../v1", "StatefulSet", false},
        {NULL, "StatefulSet", false},           {"apps/v1", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        const struct tg_owner_reference reference = {.api_version = references[i].api_version,
                                                     .kind = references[i].kind};

        assert_int_equal(tg_owner_kind_find(&reference) != NULL, references[i].known);
    }
}

static void objects_without_the_fields_say_nothing_and_break_nothing(void **state)
{
    const struct link empty[] = {
        {"batch/v1", "Job", ""}, {"jobset.x-k8s.io/v1alpha2", "JobSet", ""}, CHAIN_END};
    const struct tg_owner_chain none = {0};

    assert_null(explain(*state, empty, 1, 4, true));
    assert_null(tg_owner_explain(&none, 4, true, *state));
}

/* Whole sentences, for readers who have never seen the source: each kind, each setting. */
static const struct told {
    const char *name;
    struct link links[3];
    size_t members, wanted;
    const char *text;
} told[] = {
    {"a StatefulSet in order",
     {{"apps/v1", "StatefulSet", ",'spec':{'replicas':3}"}, CHAIN_END},
     1,
     3,
     "StatefulSet a creates a pod only when the one before is ready, and a pod that waits for "
     "its gang never is: create the StatefulSet anew with spec.podManagementPolicy: Parallel."},
    {"a StatefulSet in an update",
     {{"apps/v1", "StatefulSet",
       ",'spec':{'replicas':3,'podManagementPolicy':'Parallel'},'status':{'currentRevision':'1',"
       "'updateRevision':'2'}"},
      CHAIN_END},
     3,
     3,
     "StatefulSet a is being updated pod by pod, and goes on only when the new pod is ready, "
     "which it is not before all are new: delete its old pods, and set "
     "spec.updateStrategy.type: OnDelete."},
    {"a StatefulSet that is too small",
     {{"apps/v1", "StatefulSet", ",'spec':{'replicas':2,'podManagementPolicy':'Parallel'}"},
      CHAIN_END},
     2,
     4,
     "StatefulSet a creates at most 2 pods at a time (spec.replicas), fewer than the 4 "
     "members of the gang: raise it, or make the gang smaller."},
    {"a ReplicaSet",
     {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':2}"}, CHAIN_END},
     2,
     4,
     "ReplicaSet a creates at most 2 pods at a time (spec.replicas), fewer than the 4 members "
     "of the gang: raise it, or make the gang smaller."},
    {"a Deployment in an update",
     {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':1}"},
      {"apps/v1", "Deployment", ",'spec':{'replicas':4}"},
      CHAIN_END},
     1,
     4,
     "Deployment b replaces its pods step by step, and goes on only when new pods are ready, "
     "which they are not before all are new: set spec.strategy.type: Recreate."},
    {"a Deployment that is too small",
     {{"apps/v1", "ReplicaSet", ",'spec':{'replicas':2}"},
      {"apps/v1", "Deployment", ",'spec':{'replicas':2}"},
      CHAIN_END},
     2,
     4,
     "Deployment b creates at most 2 pods at a time (spec.replicas), fewer than the 4 members "
     "of the gang: raise it, or make the gang smaller."},
    {"a Job that is suspended",
     {{"batch/v1", "Job", ",'spec':{'parallelism':4,'suspend':true}"}, CHAIN_END},
     1,
     4,
     "Job a is suspended and creates no pods until spec.suspend is false."},
    {"a Job with few pods at a time",
     {{"batch/v1", "Job", ",'spec':{'parallelism':2,'completions':8}"}, CHAIN_END},
     2,
     4,
     "Job a creates at most 2 pods at a time (spec.parallelism), fewer than the 4 members of "
     "the gang: raise it, or make the gang smaller."},
    {"a Job with few pods",
     {{"batch/v1", "Job", ",'spec':{'parallelism':8,'completions':3}"}, CHAIN_END},
     3,
     4,
     "Job a creates at most 3 pods at a time (spec.completions), fewer than the 4 members of "
     "the gang: raise it, or make the gang smaller."},
    {"a LeaderWorkerSet whose leader goes first",
     {{"apps/v1", "StatefulSet", ",'spec':{'replicas':1,'podManagementPolicy':'Parallel'}"},
      {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
       ",'spec':{'replicas':1,'startupPolicy':'LeaderReady'}"},
      CHAIN_END},
     1,
     4,
     "LeaderWorkerSet b creates the workers of a group only when its leader is ready, and a "
     "leader that waits for its gang never is: set spec.startupPolicy: LeaderCreated."},
    {"a JobSet in order",
     {{"batch/v1", "Job", ",'spec':{'parallelism':1}"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet",
       ",'spec':{'startupPolicy':{'startupPolicyOrder':'InOrder'}}"},
      CHAIN_END},
     1,
     4,
     "JobSet b creates a job only when the pods of the one before are ready, and pods that "
     "wait for their gang never are: set spec.startupPolicy.startupPolicyOrder: AnyOrder."},
    {"a JobSet with dependencies",
     {{"batch/v1", "Job", ",'spec':{'parallelism':1}"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet",
       ",'spec':{'replicatedJobs':[{'name':'leader'},{'name':'worker','dependsOn':[{'name':"
       "'leader'}]}]}"},
      CHAIN_END},
     1,
     4,
     "JobSet b creates job worker only after job leader, whose pods wait for their gang: "
     "remove dependsOn of spec.replicatedJobs, or give job worker a gang of its own."},
};

static void each_kind_of_owner_is_told_like_this(void **state)
{
    size_t wrong = 0;

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const char *is = explain(*state, told[i].links, told[i].members, told[i].wanted, true);

        if (!tg_streq(is, told[i].text) && ++wrong > 0)
            print_error("%s: is  %s\nnot %s\n", told[i].name, tg_or(is, "(nothing)"), told[i].text);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_owner_is_told_like_this),
        cmocka_unit_test(a_stateful_set_that_creates_pods_in_order_is_named_until_all_are_there),
        cmocka_unit_test(
            a_stateful_set_in_the_middle_of_an_update_is_named_unless_pods_are_deleted_by_hand),
        cmocka_unit_test(a_leader_worker_set_that_waits_for_its_leaders_is_named),
        cmocka_unit_test(a_job_set_that_starts_its_jobs_in_order_is_named),
        cmocka_unit_test(a_job_that_runs_fewer_pods_than_the_gang_has_is_named),
        cmocka_unit_test(a_suspended_job_is_named),
        cmocka_unit_test(a_deployment_in_the_middle_of_a_rolling_update_is_named),
        cmocka_unit_test(too_few_replicas_are_told_with_the_owner_that_can_be_scaled),
        cmocka_unit_test(only_known_kinds_of_their_groups_with_a_version_that_is_a_name_are_read),
        cmocka_unit_test(objects_without_the_fields_say_nothing_and_break_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
