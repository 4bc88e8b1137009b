/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The right column of the event table (design 5.2): what happens to a gang that has started, for
 * each onMemberLoss; and who joins it later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)
#define OWNER                                                                                      \
    "{'metadata':{'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'j',"  \
    "'controller':true}]}}"

/* A Gang of a user; spec with ' for ". */
static void make_gang(struct bench *bench, const char *spec)
{
    tg_cluster_create(bench->cluster, TG_VIEW_GANG,
                      "{'metadata':{'namespace':'" NS "','name':'g'},'spec':%s}", spec);
}

/* A member of it; owned: by a Job, which makes it again when it is evicted. */
static void make_member(struct bench *bench, const char *name, const char *role, bool owned)
{
    const char *config = tg_arena_printf(
        bench->arena,
        "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':'tangram.dev/v1alpha1',"
        "'kind':'GangMember','gang':'g'%s%s%s}}}",
        role == NULL ? "" : ",'role':'", role == NULL ? "" : role, role == NULL ? "" : "'");

    bench_pod(bench, name, 1, 1, config);
    if (owned)
        tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, name, OWNER);
}

/* Three members g-0..g-2 of one card each that run on n1 and n2, two cards each. */
static struct bench *running(const char *spec)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 2);
    make_gang(bench, spec);
    make_member(bench, "g-0", NULL, true);
    make_member(bench, "g-1", NULL, true);
    make_member(bench, "g-2", NULL, true);
    bench_settle(bench, 0);
    assert_int_equal(bench_bound(bench), 3);
    TG_VEC_CLEAR(&bench->trace);
    return bench;
}

static const struct tg_gang *gang_of(struct bench *bench)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, "g");

    return s == NULL ? NULL : (const void *)s->object;
}

static const char *place_of(struct bench *bench, const char *claim)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, claim);
    const struct tg_allocation_device *device =
        &((const struct tg_resource_claim *)(const void *)s->object)
             ->status->allocation->devices->results.items[0];

    return tg_arena_printf(bench->arena, "%s/%s/%s", device->driver, device->pool, device->device);
}

static void assert_phase(struct bench *bench, const char *phase)
{
    if (!tg_streq(bench_phase(bench, "g"), phase))
        bench_fail(bench, "the phase is %s, not %s", bench_phase(bench, "g"), phase);
}

static void assert_told(struct bench *bench, const char *what)
{
    if (strstr(bench_told(bench, "gang/ns/g"), what) == NULL)
        bench_fail(bench, "%s is not told", what);
}

static void assert_not_done(struct bench *bench, const char *what)
{
    if (strstr(bench_trace(bench), what) != NULL)
        bench_fail(bench, "%s was done", what);
}

/* A stranger that wants every card that it can get, one pod a card. */
static void strangers(struct bench *bench, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "s%zu", i);
        bench_pod(bench, name, 1, 1, NULL);
    }
}

static bool runs(struct bench *bench, const char *pod)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, pod);

    return s != NULL && ((const struct tg_pod *)(const void *)s->object)->spec->node_name != NULL;
}

/* --- Hold ------------------------------------------------------------------------------------ */

static void the_place_of_a_lost_member_is_held_for_its_replacement(void **state)
{
    struct bench *bench = running("{'size':3}");
    const char *place = place_of(bench, "g-1-0");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * TG_SECOND);
    assert_phase(bench, "Degraded");
    assert_told(bench, "MemberLost: 1 of 3 members are gone (pod g-1, for one)");
    assert_int_equal(gang_of(bench)->status->holds.n, 1);
    assert_string_equal(gang_of(bench)->status->holds.items[0].device, place);
    assert_string_equal(gang_of(bench)->status->holds.items[0].pod, "g-1");
    strangers(bench, 2); /* one card is free */
    bench_settle(bench, MINUTE);
    assert_int_equal(runs(bench, "s0") + runs(bench, "s1"), 1);
    make_member(bench, "g-9", NULL, true);
    bench_settle(bench, MINUTE);
    assert_true(runs(bench, "g-9"));
    assert_string_equal(place_of(bench, "g-9-0"), place);
    assert_phase(bench, "Running");
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    assert_not_done(bench, "evict");
    bench_free(bench);
}

/* The claim controller was faster, and the plan lists devices no more. */
static void devices_that_were_seen_to_go_are_held_too(void **state)
{
    struct bench *bench = running("{'size':3}");
    const char *place = place_of(bench, "g-1-0");

    (void)state;
    bench_delete_pod(bench, "g-1");
    while (bench_others(bench))
        continue;
    bench_settle(bench, 10 * TG_SECOND);
    assert_int_equal(gang_of(bench)->status->holds.n, 1);
    assert_string_equal(gang_of(bench)->status->holds.items[0].device, place);
    bench_free(bench);
}

static void of_devices_that_nobody_saw_go_the_node_is_held(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    while (bench_others(bench))
        continue;
    bench_crash(bench);
    bench_settle(bench, 10 * TG_SECOND);
    assert_int_equal(gang_of(bench)->status->holds.n, 1);
    assert_null(gang_of(bench)->status->holds.items[0].device);
    assert_non_null(gang_of(bench)->status->holds.items[0].node);
    bench_free(bench);
}

static void a_place_that_nobody_takes_in_time_makes_the_gang_be_recreated(void **state)
{
    struct bench *bench = running("{'size':3,'holdFor':'90s'}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 80 * TG_SECOND);
    assert_not_done(bench, "evict");
    bench_settle(bench, 20 * TG_SECOND);
    assert_non_null(strstr(bench_trace(bench), "evict g-0; evict g-2"));
    assert_int_equal(bench_allocated(bench), 0);
    assert_phase(bench, "Gathering");
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    for (size_t i = 3; i < 6; i++) {
        char name[8] = {'g', '-', (char)('0' + i), '\0'};

        make_member(bench, name, NULL, true);
    }
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_phase(bench, "Running");
    bench_free(bench);
}

static void a_hold_outlives_the_process(void **state)
{
    struct bench *bench = running("{'size':3,'holdFor':'90s'}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 60 * TG_SECOND);
    bench_crash(bench);
    strangers(bench, 2);
    bench_settle(bench, 20 * TG_SECOND);
    assert_int_equal(runs(bench, "s0") + runs(bench, "s1"), 1);
    assert_not_done(bench, "evict");
    bench_settle(bench, 20 * TG_SECOND);
    assert_non_null(strstr(bench_trace(bench), "evict g-0; evict g-2"));
    bench_free(bench);
}

static void pods_that_nobody_would_make_again_are_not_evicted_but_told(void **state)
{
    struct bench *bench = running("{'size':3,'holdFor':'10s'}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0",
                      "{'metadata':{'ownerReferences':null}}");
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, MINUTE);
    assert_non_null(strstr(bench_trace(bench), "evict g-2"));
    assert_not_done(bench, "evict g-0");
    assert_told(bench, "no controller owns");
    assert_phase(bench, "Degraded");
    bench_free(bench);
}

/* PodGC marks the pods of a node that is gone. */
static void members_of_a_deleted_node_are_lost_one_that_fails_by_itself_is_not(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0", "{'status':{'phase':'Failed'}}");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Running");
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1",
                      "{'status':{'phase':'Failed','conditions':[{'type':'DisruptionTarget',"
                      "'status':'True'}]}}");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Degraded");
    assert_told(bench, "pod g-1");
    bench_free(bench);
}

static void two_gangs_keep_their_places_from_each_other(void **state)
{
    struct bench *bench = running("{'size':3}");
    const char *first = place_of(bench, "g-1-0"), *second;

    (void)state;
    bench_gang(bench, "h", 1, 1); /* the fourth card */
    bench_settle(bench, 0);
    bench_pod(bench, "h-x", 1, 1, NULL);
    bench_settle(bench, 0);
    second = place_of(bench, "h-0-0");
    assert_int_equal(bench_bound(bench), 4);
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * TG_SECOND);
    assert_false(runs(bench, "h-x"));
    make_member(bench, "g-9", NULL, true);
    bench_settle(bench, MINUTE);
    assert_string_equal(place_of(bench, "g-9-0"), first);
    assert_string_equal(place_of(bench, "h-0-0"), second);
    assert_false(runs(bench, "h-x"));
    bench_free(bench);
}

/* A new leader goes on between any two writes of a replacement's way in. */
static void a_replacement_joins_wherever_the_process_dies(void **state)
{
    (void)state;
    for (size_t step = 0; step < 20; step++) {
        struct bench *bench = running("{'size':3}");
        const char *place = place_of(bench, "g-1-0");
        bool more;

        bench_delete_pod(bench, "g-1");
        bench_settle(bench, 10 * TG_SECOND);
        make_member(bench, "g-9", NULL, true);
        more = bench_run(bench, step);
        bench_crash(bench);
        strangers(bench, 2);
        bench_settle(bench, MINUTE);
        assert_true(runs(bench, "g-9"));
        assert_string_equal(place_of(bench, "g-9-0"), place);
        assert_phase(bench, "Running");
        bench_free(bench);
        if (!more)
            return;
    }
    fail_msg("never done");
}

static void a_replacement_that_is_deleted_on_its_way_in_leaves_the_place_to_the_next(void **state)
{
    (void)state;
    for (size_t step = 0; step < 20; step++) {
        struct bench *bench = running("{'size':3}");
        bool more;

        bench_delete_pod(bench, "g-1");
        bench_settle(bench, 10 * TG_SECOND);
        make_member(bench, "g-8", NULL, true);
        more = bench_run(bench, step);
        bench_delete_pod(bench, "g-8");
        bench_settle(bench, MINUTE);
        if (step > 0)
            assert_phase(bench, "Degraded");
        assert_int_equal(bench_ours(bench), 2);
        make_member(bench, "g-9", NULL, true);
        bench_settle(bench, MINUTE);
        assert_true(runs(bench, "g-9"));
        assert_phase(bench, "Running");
        assert_not_done(bench, "evict");
        bench_free(bench);
        if (!more)
            return;
    }
    fail_msg("never done");
}

/* It alone is left, gated: what it was to join is taken back, and nothing is held for nobody. */
static void what_was_held_is_free_when_the_last_that_runs_goes(void **state)
{
    (void)state;
    for (size_t step = 1; step < 20; step++) {
        struct bench *bench = running("{'size':3}");
        bool more;

        bench_delete_pod(bench, "g-1");
        bench_settle(bench, 10 * TG_SECOND);
        make_member(bench, "g-9", NULL, true);
        more = bench_run(bench, step);
        bench_delete_pod(bench, "g-0");
        bench_delete_pod(bench, "g-2");
        make_member(bench, "g-7", NULL, true);
        make_member(bench, "g-8", NULL, true);
        bench_settle(bench, 10 * MINUTE);
        assert_int_equal(bench_bound(bench), 3);
        assert_phase(bench, "Running");
        assert_int_equal(gang_of(bench)->status->holds.n, 0);
        bench_free(bench);
        if (!more)
            return;
    }
    fail_msg("never done");
}

static void a_replacement_whose_claim_is_taken_by_another_is_given_up_alone(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * TG_SECOND);
    make_member(bench, "g-8", NULL, true);
    while (strstr(bench_trace(bench), "metadata g-8-0") == NULL)
        assert_true(bench_run(bench, 1));
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "g-8-0",
                      "{'status':{'allocation':{'devices':{'results':[{'request':'gpus','driver':"
                      "'other','pool':'x','device':'y'}]}}}}");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Degraded");
    assert_int_equal(bench_bound(bench), 2);
    assert_int_equal(bench_gated(bench), 1);
    assert_not_done(bench, "clear");
    bench_free(bench);
}

/* --- a member that cannot start, or runs on nothing ------------------------------------------ */

static void the_place_of_a_member_that_is_not_bound_in_time_is_held_until_it_is(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    make_gang(bench, "{'size':1,'bindTimeout':'30s'}");
    make_member(bench, "g-0", NULL, false);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, "ns", "g-0",
                      "{'status':{'conditions':[{'type':'PodScheduled','status':'False',"
                      "'reason':'SchedulingGated','message':'Scheduling is blocked'}]}}");
    bench->no_scheduler = true;
    bench_settle(bench, 20 * TG_SECOND);
    assert_phase(bench, "Allocated");
    bench_settle(bench, 20 * TG_SECOND);
    assert_phase(bench, "Degraded");
    /* What was said of the gate is not what keeps it now. */
    assert_told(bench, "MemberNotBound: pod g-0 was released to its node, but is not bound: the "
                       "scheduler says nothing about it.");
    assert_int_equal(gang_of(bench)->status->holds.n, 1);
    bench_crash(bench); /* a new process does not wait anew */
    bench_settle(bench, TG_SECOND);
    assert_phase(bench, "Degraded");
    bench->no_scheduler = false;
    bench_settle(bench, 0);
    assert_phase(bench, "Running");
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    bench_free(bench);
}

static void a_member_that_stays_unbound_makes_the_gang_be_recreated(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    make_gang(bench, "{'size':1,'bindTimeout':'30s','holdFor':'60s'}");
    make_member(bench, "g-0", NULL, true);
    bench->no_scheduler = true;
    bench_settle(bench, 80 * TG_SECOND);
    assert_not_done(bench, "evict");
    bench_settle(bench, 20 * TG_SECOND);
    assert_non_null(strstr(bench_trace(bench), "evict g-0"));
    bench_free(bench);
}

/* Nobody else gets the card on which it may still run. */
static void the_devices_of_a_running_member_whose_claim_was_cleared_stay_taken(void **state)
{
    struct bench *bench = running("{'size':3}");
    const char *place = place_of(bench, "g-1-0");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "g-1-0",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    strangers(bench, 2);
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Degraded");
    assert_told(bench, "AllocationLost: claim g-1-0 ");
    assert_string_equal(gang_of(bench)->status->holds.items[0].device, place);
    assert_int_equal(runs(bench, "s0") + runs(bench, "s1"), 1);
    bench_settle(bench, 5 * MINUTE);
    assert_non_null(strstr(bench_trace(bench), "evict g-0; evict g-1; evict g-2"));
    bench_free(bench);
}

static void a_claim_that_somebody_else_allocates_afterwards_is_an_alarm(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    bench->foreign_fault = true;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "g-1-0",
                      "{'status':{'allocation':{'devices':{'results':[{'request':'gpus','driver':"
                      "'other','pool':'x','device':'y'}],'config':[]}}}}");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Degraded");
    assert_told(bench, "AllocationLost: claim g-1-0 ");
    assert_not_done(bench, "clear");
    bench_free(bench);
}

/* --- Recreate and Release -------------------------------------------------------------------- */

static void recreate_evicts_the_others_without_holding_anything(void **state)
{
    struct bench *bench = running("{'size':3,'onMemberLoss':'Recreate'}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * TG_SECOND);
    assert_non_null(strstr(bench_trace(bench), "evict g-0; evict g-2"));
    assert_int_equal(bench_allocated(bench), 0);
    assert_phase(bench, "Gathering");
    bench_free(bench);
}

static void recreate_does_not_chase_a_gang_that_is_being_deleted(void **state)
{
    struct bench *bench = running("{'size':3,'onMemberLoss':'Recreate'}");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char name[8] = {'g', '-', (char)('0' + i), '\0'};

        bench_delete_pod(bench, name);
        bench_settle(bench, TG_SECOND / 2);
    }
    assert_not_done(bench, "evict");
    bench_free(bench);
}

/* Its first gate is removed, the others wait for their turn. */
static void recreate_releases_nobody_more(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    make_gang(bench, "{'size':3,'onMemberLoss':'Recreate'}");
    for (size_t i = 0; i < 3; i++) {
        char name[8] = {'g', '-', (char)('0' + i), '\0'};

        make_member(bench, name, NULL, true);
    }
    while (!bench->gate_removed)
        assert_true(bench_run(bench, 1));
    bench_step(bench, 0, BENCH_OK);
    bench_crash(bench);
    assert_int_equal(bench_gated(bench), 1);
    bench_others(bench);
    bench_delete_pod(bench, "g-0");
    bench_settle(bench, MINUTE);
    assert_non_null(strstr(bench_trace(bench), "evict g-1"));
    assert_int_equal(bench_gated(bench), 1);
    assert_int_equal(bench_ours(bench), 0);
    bench_free(bench);
}

static void release_lets_the_rest_go_on_and_frees_the_slot(void **state)
{
    struct bench *bench = running("{'size':3,'onMemberLoss':'Release'}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    strangers(bench, 2);
    bench_settle(bench, 10 * TG_SECOND);
    assert_phase(bench, "Running");
    assert_int_equal(gang_of(bench)->status->plan->members.n, 2);
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    assert_int_equal(runs(bench, "s0") + runs(bench, "s1"), 2);
    assert_not_done(bench, "evict");
    bench_free(bench);
}

static void release_evicts_a_member_that_cannot_start(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    make_gang(bench, "{'size':2,'onMemberLoss':'Release','bindTimeout':'30s'}");
    make_member(bench, "g-0", NULL, true);
    make_member(bench, "g-1", NULL, true);
    bench->no_scheduler = true;
    bench_settle(bench, 10 * TG_SECOND);
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-0",
                      "{'spec':{'nodeName':'n1'},'status':{'phase':'Running'}}");
    bench_settle(bench, MINUTE);
    assert_non_null(strstr(bench_trace(bench), "evict g-1"));
    assert_not_done(bench, "evict g-0");
    assert_phase(bench, "Running");
    bench_free(bench);
}

/* --- what changes nothing -------------------------------------------------------------------- */

static void a_claim_that_is_being_deleted_serves_its_pod_to_the_end(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "g-1-0");
    bench_settle(bench, 10 * MINUTE);
    assert_phase(bench, "Running");
    assert_string_equal(bench_trace(bench), "");
    bench_free(bench);
}

static void what_a_finished_member_had_is_free(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1", "{'status':{'phase':'Succeeded'}}");
    strangers(bench, 2);
    bench_settle(bench, MINUTE);
    assert_int_equal(runs(bench, "s0") + runs(bench, "s1"), 2);
    assert_phase(bench, "Running");
    make_member(bench, "g-9", NULL, true); /* its work is done: nobody takes its place */
    bench_settle(bench, MINUTE);
    assert_false(runs(bench, "g-9"));
    bench_free(bench);
}

static void nothing_is_held_in_a_namespace_that_terminates(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_NAMESPACE, NULL, NS,
                      "{'metadata':{'deletionTimestamp':'2026-01-01T02:00:00Z','finalizers':['x']},"
                      "'status':{'phase':'Terminating'}}");
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * MINUTE);
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    assert_not_done(bench, "evict");
    bench_free(bench);
}

static void nothing_is_held_for_a_gang_that_is_deleted(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_GANG, NS, "g", "{'metadata':{'finalizers':['x/y']}}");
    tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "g");
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * MINUTE);
    assert_int_equal(gang_of(bench)->status->holds.n, 0);
    assert_not_done(bench, "evict");
    assert_int_equal(bench_bound(bench), 2);
    bench_free(bench);
}

/* --- who joins ------------------------------------------------------------------------------- */

static void members_beyond_the_size_wait_until_a_place_is_free(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    bench_node(bench, "n3", 2);
    make_member(bench, "g-7", NULL, true);
    bench_settle(bench, MINUTE);
    assert_false(runs(bench, "g-7"));
    assert_phase(bench, "Running");
    assert_told(bench, "The gang is complete: 1 more than its members wait until a place is free "
                       "(pod g-7, for one).");
    bench_delete_pod(bench, "g-2");
    bench_settle(bench, MINUTE);
    assert_true(runs(bench, "g-7"));
    assert_phase(bench, "Running");
    bench_free(bench);
}

static struct bench *elastic(size_t workers, const char *rack)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 0);
    bench_node(bench, "n1", 3);
    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, "n1",
                      "{'metadata':{'labels':{'rack/x':"
                      "'%s'}}}",
                      rack);
    make_gang(bench, "{'roles':[{'name':'leader','size':1},{'name':'worker','size':3,'minSize':1}],"
                     "'topology':{'pack':{'required':'rack/x'}}}");
    make_member(bench, "l-0", "leader", true);
    for (size_t i = 0; i < workers; i++) {
        char name[8] = {'w', '-', (char)('0' + i), '\0'};

        make_member(bench, name, "worker", true);
    }
    return bench;
}

static void an_elastic_role_starts_with_its_least_and_grows_to_its_size(void **state)
{
    struct bench *bench = elastic(1, "r1");

    (void)state;
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 2);
    assert_phase(bench, "Running");
    make_member(bench, "w-1", "worker", true);
    bench_settle(bench, MINUTE);
    assert_true(runs(bench, "w-1"));
    assert_phase(bench, "Running");
    make_member(bench, "w-2", "worker", true);
    make_member(bench, "w-3", "worker", true);
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3); /* no room for the fourth card */
    assert_phase(bench, "Running");
    bench_node(bench, "n2", 4);
    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, "n2",
                      "{'metadata':{'labels':{'rack/x':'r2'}}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3); /* another rack than the others' */
    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, "n2",
                      "{'metadata':{'labels':{'rack/x':'r1'}}}");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 4);
    assert_int_equal(bench_gated(bench), 1); /* beyond the size */
    bench_free(bench);
}

static void an_elastic_role_with_less_room_than_members_starts_with_what_fits(void **state)
{
    struct bench *bench = elastic(3, "r1");

    (void)state;
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    assert_int_equal(bench_gated(bench), 1);
    assert_phase(bench, "Running");
    bench_free(bench);
}

static void an_elastic_role_does_not_start_below_its_least(void **state)
{
    struct bench *bench = elastic(0, "r1");

    (void)state;
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_ours(bench), 0);
    assert_phase(bench, "Gathering");
    bench_free(bench);
}

static void a_loss_that_leaves_an_elastic_role_its_least_hurts_nobody(void **state)
{
    struct bench *bench = elastic(2, "r1");

    (void)state;
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), 3);
    bench_delete_pod(bench, "w-0");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Running");
    assert_int_equal(gang_of(bench)->status->plan->members.n, 2);
    bench_delete_pod(bench, "w-1");
    bench_settle(bench, MINUTE);
    assert_phase(bench, "Degraded");
    assert_int_equal(gang_of(bench)->status->holds.n, 1);
    bench_free(bench);
}

static void a_member_that_failed_by_itself_may_be_replaced(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, "g-1", "{'status':{'phase':'Failed'}}");
    bench_settle(bench, MINUTE);
    make_member(bench, "g-9", NULL, true);
    bench_settle(bench, MINUTE);
    assert_true(runs(bench, "g-9"));
    assert_phase(bench, "Running");
    assert_int_equal(gang_of(bench)->status->plan->members.n, 3);
    bench_free(bench);
}

/* The same pod name is a new member. */
static void a_pod_of_the_same_name_replaces_its_predecessor(void **state)
{
    struct bench *bench = running("{'size':3}");

    (void)state;
    bench_delete_pod(bench, "g-1");
    bench_settle(bench, 10 * TG_SECOND);
    make_member(bench, "g-1", NULL, true);
    bench_settle(bench, MINUTE);
    assert_true(runs(bench, "g-1"));
    assert_phase(bench, "Running");
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_of_a_lost_member_is_held_for_its_replacement),
        cmocka_unit_test(devices_that_were_seen_to_go_are_held_too),
        cmocka_unit_test(of_devices_that_nobody_saw_go_the_node_is_held),
        cmocka_unit_test(a_place_that_nobody_takes_in_time_makes_the_gang_be_recreated),
        cmocka_unit_test(a_hold_outlives_the_process),
        cmocka_unit_test(pods_that_nobody_would_make_again_are_not_evicted_but_told),
        cmocka_unit_test(members_of_a_deleted_node_are_lost_one_that_fails_by_itself_is_not),
        cmocka_unit_test(two_gangs_keep_their_places_from_each_other),
        cmocka_unit_test(a_replacement_joins_wherever_the_process_dies),
        cmocka_unit_test(a_replacement_that_is_deleted_on_its_way_in_leaves_the_place_to_the_next),
        cmocka_unit_test(what_was_held_is_free_when_the_last_that_runs_goes),
        cmocka_unit_test(a_replacement_whose_claim_is_taken_by_another_is_given_up_alone),
        cmocka_unit_test(the_place_of_a_member_that_is_not_bound_in_time_is_held_until_it_is),
        cmocka_unit_test(a_member_that_stays_unbound_makes_the_gang_be_recreated),
        cmocka_unit_test(the_devices_of_a_running_member_whose_claim_was_cleared_stay_taken),
        cmocka_unit_test(a_claim_that_somebody_else_allocates_afterwards_is_an_alarm),
        cmocka_unit_test(recreate_evicts_the_others_without_holding_anything),
        cmocka_unit_test(recreate_does_not_chase_a_gang_that_is_being_deleted),
        cmocka_unit_test(recreate_releases_nobody_more),
        cmocka_unit_test(release_lets_the_rest_go_on_and_frees_the_slot),
        cmocka_unit_test(release_evicts_a_member_that_cannot_start),
        cmocka_unit_test(a_claim_that_is_being_deleted_serves_its_pod_to_the_end),
        cmocka_unit_test(what_a_finished_member_had_is_free),
        cmocka_unit_test(nothing_is_held_in_a_namespace_that_terminates),
        cmocka_unit_test(nothing_is_held_for_a_gang_that_is_deleted),
        cmocka_unit_test(members_beyond_the_size_wait_until_a_place_is_free),
        cmocka_unit_test(an_elastic_role_starts_with_its_least_and_grows_to_its_size),
        cmocka_unit_test(an_elastic_role_with_less_room_than_members_starts_with_what_fits),
        cmocka_unit_test(an_elastic_role_does_not_start_below_its_least),
        cmocka_unit_test(a_loss_that_leaves_an_elastic_role_its_least_hurts_nobody),
        cmocka_unit_test(a_member_that_failed_by_itself_may_be_replaced),
        cmocka_unit_test(a_pod_of_the_same_name_replaces_its_predecessor),
    };

    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
