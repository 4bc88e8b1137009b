/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two instances of the controller on one cluster, each with a class and nodes of its own. Whatever
 * they see first and whenever they write: a Gang is written by one of them, a claim allocated by
 * the one whose class it asks for, and what names both is served by none. (That a Gang whose status
 * names an instance is written by no other is checked by the bench, at every write.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/audit/audit.h"
#include "controller/gather/instance.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define OTHER "big" /* the second instance, its class, and the kind of its devices */
#define MINUTE (60 * TG_SECOND)
#define STORMS 60
#define ACTIONS 300
#define WAVES 4

/* --- the cluster ----------------------------------------------------------------------------- */

static void make_class(struct bench *bench, const char *name, const char *instance,
                       const char *type)
{
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                      "{'metadata':{'name':'%s','labels':{'" TG_LABEL_CONTROLLER
                      "':'%s'}},'spec':{'selectors':[{'cel':{'expression':'\\\"granted\\\" in "
                      "device.attributes[\\\"tangram.dev\\\"]'}},{'cel':{'expression':'device."
                      "attributes[\\\"" DRIVER "\\\"].type == \\\"%s\\\"'}}]}}",
                      name, instance, type);
}

static void make_node(struct bench *bench, const char *name, const char *type)
{
    bench_node(bench, name, 0);
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, name);
    tg_cluster_create(
        bench->cluster, TG_VIEW_SLICE,
        "{'metadata':{'name':'%s'},'spec':{'driver':'" DRIVER
        "','nodeName':'%s','pool':{'name':'%s','generation':1,'resourceSliceCount':1},'devices':["
        "{'name':'d-0','attributes':{'type':{'string':'%s'}}},"
        "{'name':'d-1','attributes':{'type':{'string':'%s'}}}]}}",
        name, name, name, type, type);
}

/* The default instance, and beside it `big`, with nodes of two devices each. */
static struct bench *two_instances(void)
{
    struct bench *bench = bench_new();

    bench_new_guest(bench, OTHER);
    bench->racing = true;
    make_class(bench, "gpu", TG_INSTANCE_DEFAULT, "gpu");
    make_class(bench, OTHER, OTHER, OTHER);
    tg_cluster_create(bench->cluster, TG_VIEW_NAMESPACE,
                      "{'metadata':{'name':'" NS "'},'status':{'phase':'Active'}}");
    make_node(bench, "n1", "gpu");
    make_node(bench, "n2", "gpu");
    make_node(bench, "m1", OTHER);
    make_node(bench, "m2", OTHER);
    make_node(bench, "m3", OTHER);
    return bench;
}

static void end(struct bench *bench)
{
    bench_free(bench->guest);
    bench_free(bench);
}

/* A pod with a claim of each of the classes; member: its GangMember parameters, or NULL. */
static void make_pod(struct bench *bench, const char *name, const char *const *classes, size_t n,
                     const char *member)
{
    const char *config =
        member == NULL ? ""
                       : tg_arena_printf(bench->arena,
                                         "{'opaque':{'driver':'tangram.dev','parameters':{"
                                         "'apiVersion':'tangram.dev/v1alpha1','kind':'GangMember'"
                                         ",%s}}}",
                                         member);

    bench_pod_of(bench, name, classes, n, 1, config);
}

static void make_member(struct bench *bench, const char *name, const char *klass,
                        const char *member)
{
    make_pod(bench, name, &klass, 1, member);
}

static void make_gang(struct bench *bench, const char *name, const char *labels)
{
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'%s','generation':1,'labels':{%s}},"
                      "'spec':{'size':2}}",
                      name, labels);
}

static void label_pod(struct bench *bench, const char *name, const char *gang)
{
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name,
                      "{'metadata':{'labels':{'" TG_LABEL_GANG "':'%s'}}}", gang);
}

/* The bench's scheduler binds pods by their claims: those without go anywhere. */
static void bind_leaders(struct bench *bench)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_POD, i)) != NULL; i++) {
        const struct tg_pod *pod = (const void *)s->object;

        if (pod->spec->resource_claims.n == 0 && pod->spec->scheduling_gates.n == 0 &&
            pod->spec->node_name == NULL)
            tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, s->name,
                              "{'spec':{'nodeName':'n1'},'status':{'phase':'Running'}}");
    }
}

/* Both of them, until neither does anything any more. */
static void settle(struct bench *bench, int64_t patience)
{
    for (size_t i = 0; i < 4; i++) {
        bench_settle(bench, patience);
        bench_settle(bench->guest, patience);
        bind_leaders(bench);
    }
}

static const struct tg_gang *gang_of(struct bench *bench, const char *name)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, name);

    return s == NULL ? NULL : (const void *)s->object;
}

static const char *instance_of(struct bench *bench, const char *name)
{
    return tg_or(tg_instance_of_gang(gang_of(bench, name)), "");
}

static bool bound(struct bench *bench, const char *name)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, name);

    return s != NULL && ((const struct tg_pod *)(const void *)s->object)->spec->node_name != NULL;
}

/* --- who serves what ------------------------------------------------------------------------- */

static void each_instance_serves_the_gangs_and_pods_of_its_own_classes(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_member(bench, "a-0", "gpu", "'gang':'a','size':2");
    make_member(bench, "a-1", "gpu", "'gang':'a','size':2");
    make_member(bench, "b-0", OTHER, "'gang':'b','size':2");
    make_member(bench, "b-1", OTHER, "'gang':'b','size':2");
    make_member(bench, "s", OTHER, NULL);
    make_pod(bench, "t", (const char *const[]){"gpu", "gpu"}, 2, NULL);
    settle(bench, 0);
    assert_int_equal(bench_bound(bench), 6);
    assert_string_equal(instance_of(bench, "a"), TG_INSTANCE_DEFAULT);
    assert_string_equal(instance_of(bench, "b"), OTHER);
    assert_string_equal(gang_of(bench, "b")->status->instance, OTHER);
    /* A Gang of another is no empty one: it outlives the time after which ours would go. */
    settle(bench, 3 * MINUTE);
    assert_string_equal(bench_phase(bench, "a"), "Running");
    assert_string_equal(bench_phase(bench, "b"), "Running");
    end(bench);
}

static void a_pod_that_is_half_served_by_another_instance_is_left_to_it(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_pod(bench, "p", (const char *const[]){OTHER, OTHER}, 2, NULL);
    tg_cluster_deliver(bench->cluster);
    while (bench_allocated(bench) < 1)
        assert_true(bench_run(bench->guest, 1));
    /* Its record stands on the pod, and one claim is allocated. */
    bench_settle(bench, MINUTE);
    assert_string_equal(bench_told(bench, "pod/ns/p"), "");
    assert_int_equal(bench_allocated(bench), 1);
    bench_settle(bench->guest, 0);
    assert_true(bound(bench, "p"));
    end(bench);
}

static void a_users_gang_belongs_to_the_instance_of_its_first_claims(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_gang(bench, "u", "");
    settle(bench, MINUTE);
    /* Nobody has asked for anything: the default instance says what is missing, no more. */
    assert_string_equal(bench_phase(bench, "u"), "Gathering");
    assert_string_equal(instance_of(bench, "u"), "");
    make_member(bench, "u-0", OTHER, "'gang':'u'");
    settle(bench, MINUTE);
    assert_string_equal(gang_of(bench, "u")->status->instance, OTHER);
    /* Without a claim of its own, it comes along. */
    bench_pod(bench, "u-1", 0, 0, NULL);
    label_pod(bench, "u-1", "u");
    settle(bench, MINUTE);
    assert_int_equal(bench_gated(bench), 0);
    assert_true(bound(bench, "u-0"));
    end(bench);
}

static void a_gang_without_claims_is_the_default_instances_unless_labelled(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_gang(bench, "d", "");
    make_gang(bench, "l", "'" TG_LABEL_CONTROLLER "':'" OTHER "'");
    for (size_t i = 0; i < 4; i++) {
        const char *gang = i % 2 == 0 ? "d" : "l";
        char name[8];

        snprintf(name, sizeof(name), "%s-%zu", gang, i / 2);
        bench_pod(bench, name, 0, 0, NULL);
        label_pod(bench, name, gang);
    }
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_gated(bench), 2);
    bench_settle(bench->guest, MINUTE);
    assert_int_equal(bench_gated(bench), 0);
    assert_string_equal(gang_of(bench, "d")->status->instance, TG_INSTANCE_DEFAULT);
    assert_string_equal(gang_of(bench, "l")->status->instance, OTHER);
    end(bench);
}

static void what_names_two_instances_is_refused_by_both(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_pod(bench, "p", (const char *const[]){"gpu", OTHER}, 2, NULL);
    make_member(bench, "g-0", "gpu", "'gang':'g','size':2");
    make_member(bench, "g-1", OTHER, "'gang':'g','size':2");
    settle(bench, 3 * MINUTE);
    assert_int_equal(bench_allocated(bench), 0);
    assert_int_equal(bench_gated(bench), 3);
    assert_non_null(strstr(bench_told(bench, "claim/ns/p-0"), "SeveralInstances: pod p uses"));
    assert_non_null(
        strstr(bench_told(bench->guest, "claim/ns/p-1"), "SeveralInstances: pod p uses"));
    assert_non_null(strstr(bench_told(bench, "gang/ns/g"), "SeveralInstances: members"));
    assert_non_null(strstr(bench_told(bench->guest, "gang/ns/g"),
                           "OtherInstance: Gang ns/g is served by instance default"));
    end(bench);
}

/* Its class changes hands between two writes of the gang. */
static void what_an_instance_has_allocated_stays_its_own_when_the_class_is_given_away(void **state)
{
    struct bench *bench = two_instances();

    (void)state;
    make_member(bench, "a-0", "gpu", "'gang':'a','size':2");
    make_member(bench, "a-1", "gpu", "'gang':'a','size':2");
    tg_cluster_deliver(bench->cluster);
    while (bench_allocated(bench) < 1)
        assert_true(bench_run(bench, 1));
    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu",
                      "{'metadata':{'labels':{'" TG_LABEL_CONTROLLER "':'" OTHER "'}}}");
    bench_settle(bench->guest, MINUTE);
    assert_int_equal(bench_allocated(bench), 1);
    settle(bench, MINUTE);
    assert_int_equal(bench_gated(bench), 0);
    assert_string_equal(gang_of(bench, "a")->status->instance, TG_INSTANCE_DEFAULT);
    end(bench);
}

/* --- fencing --------------------------------------------------------------------------------- */

static void a_leader_fences_nothing_of_another_instance(void **state)
{
    struct bench *bench = two_instances();
    const char *before;

    (void)state;
    make_member(bench, "b-0", OTHER, "'gang':'b','size':2");
    make_member(bench, "b-1", OTHER, "'gang':'b','size':2");
    make_pod(bench, "p", (const char *const[]){OTHER, OTHER}, 2, NULL);
    tg_cluster_deliver(bench->cluster);
    while (bench_allocated(bench) < 3)
        assert_true(bench_run(bench->guest, 1));
    before = bench_dump(bench);
    bench->no_scheduler = true;
    bench_crash(bench);
    bench_pass(bench);
    assert_int_equal(bench->ops.n, 0);
    bench_settle(bench, MINUTE);
    if (!tg_streq(before, bench_dump(bench)))
        bench_fail(bench, "something was changed");
    end(bench);
}

static void the_auditor_leaves_what_is_anothers_to_its_auditor(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct bench *bench = two_instances();
    struct tg_findings findings;
    struct tg_view view;

    (void)state;
    make_member(bench, "b-0", OTHER, "'gang':'b','size':2");
    make_member(bench, "b-1", OTHER, "'gang':'b','size':2");
    tg_cluster_deliver(bench->cluster);
    while (bench_allocated(bench) < 1)
        assert_true(bench_run(bench->guest, 1));
    for (size_t i = 0; i < 2; i++) {
        tg_view_init(&view);
        tg_cluster_fill_view(bench->cluster, 0, &view);
        assert_int_equal(
            tg_audit(&view, i == 0 ? OTHER : TG_INSTANCE_DEFAULT, arena, &findings, NULL), 0);
        assert_int_equal(findings.n > 0, i == 0);
        tg_view_done(&view);
    }
    end(bench);
}

/* --- storms ---------------------------------------------------------------------------------- */

struct storm {
    struct bench *bench;
    uint64_t random;
    unsigned pods;
};

static size_t draw(struct storm *storm, size_t n)
{
    storm->random ^= storm->random << 13;
    storm->random ^= storm->random >> 7;
    storm->random ^= storm->random << 17;
    return (size_t)(storm->random % n);
}

/* By the first letter of their names: two gangs that declare a size, two that users write (with a
 * member that has no claim), a pod of its own, and two that nobody can serve. */
static const struct kind {
    char letter;
    size_t pods, claims;
    const char *classes[2];
    const char *member;
    bool leader, mixed;
} kinds[] = {
    {'a', 2, 1, {"gpu"}, "'gang':'a','size':2", false, false},
    {'b', 2, 1, {OTHER}, "'gang':'b','size':2", false, false},
    {'u', 1, 1, {OTHER}, "'gang':'u'", true, false},
    {'v', 1, 1, {"gpu"}, "'gang':'v'", true, false},
    {'s', 1, 2, {OTHER, OTHER}, NULL, false, false},
    {'x', 1, 2, {"gpu", OTHER}, NULL, false, true},
};

static void make(struct storm *storm, const struct kind *kind, bool leader)
{
    char name[32], gang[2] = {kind->letter, '\0'};

    snprintf(name, sizeof(name), "%c-%u", kind->letter, storm->pods++);
    if (!leader) {
        make_pod(storm->bench, name, kind->classes, kind->claims, kind->member);
        return;
    }
    bench_pod(storm->bench, name, 0, 0, NULL);
    label_pod(storm->bench, name, gang);
}

static const struct tg_snapshot *pod_at(struct storm *storm, size_t i)
{
    return tg_cluster_nth(storm->bench->cluster, TG_VIEW_POD, i);
}

static const struct tg_pod *pod_of(const struct tg_snapshot *s)
{
    return (const void *)s->object;
}

static bool lives(const struct tg_snapshot *s)
{
    return !tg_pod_finished(pod_of(s)) && pod_of(s)->metadata->deletion_timestamp == NULL;
}

/* What was deleted or has finished is made anew, and Gangs of users too. */
static bool replenish(struct storm *storm)
{
    bool made = false;

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        const char gang[2] = {kinds[i].letter, '\0'};
        const struct tg_snapshot *s;
        size_t workers = 0, leaders = 0;

        if (kinds[i].leader && gang_of(storm->bench, gang) == NULL) {
            make_gang(storm->bench, gang, "");
            made = true;
        }
        for (size_t j = 0; (s = pod_at(storm, j)) != NULL; j++)
            if (s->name[0] == kinds[i].letter) {
                workers += pod_of(s)->spec->resource_claims.n > 0;
                leaders += pod_of(s)->spec->resource_claims.n == 0;
            }
        for (; workers < kinds[i].pods; workers++, made = true)
            make(storm, &kinds[i], false);
        for (; kinds[i].leader && leaders < 1; leaders++, made = true)
            make(storm, &kinds[i], true);
    }
    return made;
}

static void delete_any_pod(struct storm *storm)
{
    const struct tg_snapshot *s, *chosen = NULL;
    size_t n = 0;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (draw(storm, ++n) == 0)
            chosen = s;
    if (chosen != NULL)
        bench_delete_pod(storm->bench, chosen->name);
}

static void delete_any_gang(struct storm *storm)
{
    static const char *const gangs[] = {"a", "b", "u", "v"};

    tg_cluster_delete(storm->bench->cluster, TG_VIEW_GANG, NS,
                      gangs[draw(storm, TG_ARRAY_SIZE(gangs))]);
}

static void step(struct storm *storm, struct bench *who)
{
    static const enum bench_fault faults[] = {BENCH_OK,       BENCH_OK,   BENCH_OK,
                                              BENCH_CONFLICT, BENCH_LOST, BENCH_UNSENT};

    if (who->ops.n > 0)
        bench_step(who, draw(storm, who->ops.n), faults[draw(storm, TG_ARRAY_SIZE(faults))]);
    else
        bench_pass(who);
}

static void act(struct storm *storm)
{
    struct bench *who = draw(storm, 2) == 0 ? storm->bench : storm->bench->guest;
    size_t what = draw(storm, 100);

    if (what < 55)
        step(storm, who);
    else if (what < 80)
        tg_cluster_deliver_one(who->cluster, (enum tg_view_kind)draw(storm, TG_VIEW_KINDS));
    else if (what < 84)
        bench_others(storm->bench);
    else if (what < 87)
        bind_leaders(storm->bench);
    else if (what < 92)
        replenish(storm);
    else if (what < 94)
        bench_crash(who);
    else if (what < 96)
        tg_fake_clock_advance(&who->clock, (int64_t)draw(storm, 60) * TG_SECOND);
    else if (what < 98)
        delete_any_pod(storm);
    else
        delete_any_gang(storm);
}

/* What names two instances never runs; everything else does, at the end. */
static void check_pods(struct storm *storm, bool all)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++) {
        bool runs = bound(storm->bench, s->name);

        if (s->name[0] == 'x' && runs)
            bench_fail(storm->bench, "%s was served", s->name);
        if (all && s->name[0] != 'x' && lives(s) && !runs)
            bench_fail(storm->bench, "%s does not run", s->name);
    }
}

static void finish_running(struct storm *storm)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (bound(storm->bench, s->name) && lives(s))
            tg_cluster_change(storm->bench->cluster, TG_VIEW_POD, NS, s->name,
                              "{'status':{'phase':'Succeeded'}}");
}

static void delete_finished(struct storm *storm)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (!lives(s)) {
            bench_delete_pod(storm->bench, s->name);
            i = (size_t)-1;
        }
}

/* Wave after wave: the last ones find the devices free. */
static void drain(struct storm *storm)
{
    for (size_t wave = 0; wave <= WAVES; wave++) {
        do
            settle(storm->bench, 10 * MINUTE);
        while (replenish(storm));
        check_pods(storm, wave == WAVES);
        finish_running(storm);
        delete_finished(storm);
    }
}

static void storms_of_two_instances_leave_each_gang_to_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= STORMS; seed++) {
        struct storm storm = {.bench = two_instances(),
                              .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};

        replenish(&storm);
        tg_cluster_relist(storm.bench->cluster);
        for (size_t i = 0; i < ACTIONS; i++)
            act(&storm);
        drain(&storm);
        assert_int_equal(tg_cluster_unconditional(storm.bench->cluster), 0);
        end(storm.bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instance_serves_the_gangs_and_pods_of_its_own_classes),
        cmocka_unit_test(a_pod_that_is_half_served_by_another_instance_is_left_to_it),
        cmocka_unit_test(a_users_gang_belongs_to_the_instance_of_its_first_claims),
        cmocka_unit_test(a_gang_without_claims_is_the_default_instances_unless_labelled),
        cmocka_unit_test(what_names_two_instances_is_refused_by_both),
        cmocka_unit_test(what_an_instance_has_allocated_stays_its_own_when_the_class_is_given_away),
        cmocka_unit_test(a_leader_fences_nothing_of_another_instance),
        cmocka_unit_test(the_auditor_leaves_what_is_anothers_to_its_auditor),
        cmocka_unit_test(storms_of_two_instances_leave_each_gang_to_one),
    };

    return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}
