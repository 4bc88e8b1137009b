/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random storms: several gangs, pods and single claims on a fleet that is too small for all of
 * them; writes in any order, refused, lost or half done, the process killed, or suspended while
 * another one leads and its last writes arrive at any time (above all: when it was about to release
 * a pod whose allocation its successor takes back), watches late, and events of the table
 * between any two of them. I1, I2 and I4 hold all the time; when the storm is
 * over everything ends whole or with nothing (I3), and whoever can run has run. One seed is one
 * storm: the same in any order of the objects.
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
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define NODES 3
#define STORMS 60
#define ACTIONS 400
#define MINUTE (60 * TG_SECOND)

struct storm {
    struct bench *bench;
    uint64_t random;
    unsigned pods; /* made so far: names are never used twice */
};

static size_t draw(struct storm *storm, size_t n)
{
    storm->random ^= storm->random << 13;
    storm->random ^= storm->random >> 7;
    storm->random ^= storm->random << 17;
    return (size_t)(storm->random % n);
}

/* --- what is wanted -------------------------------------------------------------------------- */

/* By the first letter of their names. */
static const struct kind {
    char letter;
    size_t pods, claims, gpus;
    bool gang;
} kinds[] = {
    {'a', 2, 1, 1, true},  {'b', 3, 1, 1, true},  {'i', 1, 2, 1, false},
    {'s', 1, 1, 2, false}, {'t', 1, 1, 1, false},
};

static const struct kind *kind_of(const char *pod)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++)
        if (kinds[i].letter == pod[0])
            return &kinds[i];
    return NULL;
}

static void make_pod(struct storm *storm, const struct kind *kind)
{
    char name[32], gang[2] = {kind->letter, '\0'};

    snprintf(name, sizeof(name), "%c-%u", kind->letter, storm->pods++);
    bench_pod(storm->bench, name, kind->claims, kind->gpus,
              kind->gang ? bench_member_config(storm->bench, gang, (int)kind->pods) : NULL);
    tg_cluster_change(storm->bench->cluster, TG_VIEW_POD, NS, name,
                      "{'metadata':{'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job',"
                      "'name':'%s','uid':'%s','controller':true}]}}",
                      gang, gang);
}

static const struct tg_snapshot *pod_at(struct storm *storm, size_t i)
{
    return tg_cluster_nth(storm->bench->cluster, TG_VIEW_POD, i);
}

static const struct tg_pod *pod_of(const struct tg_snapshot *s)
{
    return (const void *)s->object;
}

static bool gated(const struct tg_snapshot *s)
{
    return tg_pod_has_gate(pod_of(s), TG_GATE);
}

static bool running(const struct tg_snapshot *s)
{
    return pod_of(s)->spec->node_name != NULL && !tg_pod_finished(pod_of(s));
}

static const struct tg_snapshot *any_pod(struct storm *storm,
                                         bool (*fits)(const struct tg_snapshot *s))
{
    const struct tg_snapshot *s, *ret = NULL;
    size_t n = 0;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (fits(s) && draw(storm, ++n) == 0)
            ret = s;
    return ret;
}

/* Jobs make what was deleted or evicted anew. */
static bool replenish(struct storm *storm)
{
    bool made = false;

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        const struct tg_snapshot *s;
        size_t n = 0;

        for (size_t j = 0; (s = pod_at(storm, j)) != NULL; j++)
            n += s->name[0] == kinds[i].letter;
        for (; n < kinds[i].pods; n++, made = true)
            make_pod(storm, &kinds[i]);
    }
    return made;
}

/* --- events ---------------------------------------------------------------------------------- */

static const char *any_node(struct storm *storm)
{
    static const char *const names[NODES] = {"n1", "n2", "n3"};

    return names[draw(storm, NODES)];
}

static bool has(struct storm *storm, enum tg_view_kind kind, const char *namespace_,
                const char *name)
{
    return tg_cluster_get(storm->bench->cluster, kind, namespace_, name) != NULL;
}

static void clear_claim(struct storm *storm)
{
    const struct tg_snapshot *s = any_pod(storm, gated);
    char name[64];

    if (s == NULL)
        return;
    snprintf(name, sizeof(name), "%s-0", s->name);
    if (has(storm, TG_VIEW_CLAIM, NS, name))
        tg_cluster_change(storm->bench->cluster, TG_VIEW_CLAIM, NS, name,
                          "{'status':{'allocation':null,'reservedFor':null}}");
}

static void delete_claim(struct storm *storm)
{
    const struct tg_snapshot *s = any_pod(storm, gated);
    char name[64];

    if (s == NULL)
        return;
    snprintf(name, sizeof(name), "%s-0", s->name);
    tg_cluster_delete(storm->bench->cluster, TG_VIEW_CLAIM, NS, name);
}

static void replace_pod(struct storm *storm)
{
    const struct tg_snapshot *s = any_pod(storm, gated);

    if (s == NULL)
        return;
    bench_delete_pod(storm->bench, s->name);
    make_pod(storm, kind_of(s->name));
}

/* Preempted, evicted, deleted by hand: the others run. */
static void delete_running(struct storm *storm)
{
    const struct tg_snapshot *s = any_pod(storm, running);

    if (s != NULL)
        bench_delete_pod(storm->bench, s->name);
}

static void finish_pod(struct storm *storm)
{
    const struct tg_snapshot *s = any_pod(storm, running);

    if (s != NULL)
        tg_cluster_change(storm->bench->cluster, TG_VIEW_POD, NS, s->name,
                          "{'status':{'phase':'Succeeded'}}");
}

/* Its running pods go with it, as pod garbage collection does. */
static void toggle_node(struct storm *storm)
{
    const char *node = any_node(storm);
    const struct tg_snapshot *s;

    if (!has(storm, TG_VIEW_NODE, NULL, node)) {
        bench_node(storm->bench, node, 2);
        return;
    }
    tg_cluster_delete(storm->bench->cluster, TG_VIEW_NODE, NULL, node);
    tg_cluster_delete(storm->bench->cluster, TG_VIEW_SLICE, NULL, node);
    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (tg_streq(pod_of(s)->spec->node_name, node) && !tg_pod_finished(pod_of(s)))
            tg_cluster_change(storm->bench->cluster, TG_VIEW_POD, NS, s->name,
                              "{'status':{'phase':'Failed'}}");
}

static void set_ready(struct storm *storm, const char *node, const char *status)
{
    if (has(storm, TG_VIEW_NODE, NULL, node))
        tg_cluster_change(storm->bench->cluster, TG_VIEW_NODE, NULL, node,
                          "{'status':{'conditions':[{'type':'Ready','status':'%s'}]}}", status);
}

static void toggle_ready(struct storm *storm)
{
    set_ready(storm, any_node(storm), draw(storm, 2) == 0 ? "True" : "Unknown");
}

static void toggle_slice(struct storm *storm)
{
    static const char *const extras[] = {NULL, ",'taints':[{'key':'bad','effect':'NoSchedule'}]",
                                         ",'taints':[{'key':'bad','effect':'NoExecute'}]"};
    const char *node = any_node(storm);

    if (has(storm, TG_VIEW_SLICE, NULL, node) && draw(storm, 2) == 0)
        tg_cluster_delete(storm->bench->cluster, TG_VIEW_SLICE, NULL, node);
    else if (has(storm, TG_VIEW_NODE, NULL, node))
        bench_slice(storm->bench, node, 2, extras[draw(storm, TG_ARRAY_SIZE(extras))]);
}

static void delete_gang(struct storm *storm)
{
    tg_cluster_delete(storm->bench->cluster, TG_VIEW_GANG, NS, draw(storm, 2) == 0 ? "a" : "b");
}

static void guard_class(struct storm *storm, bool guarded)
{
    tg_cluster_change(storm->bench->cluster, TG_VIEW_CLASS, NULL, "gpu",
                      guarded ? "{'spec':{'selectors':[{'cel':{'expression':'\\\"granted\\\" in "
                                "device.attributes[\\\"tangram.dev\\\"]'}}]}}"
                              : "{'spec':{'selectors':null}}");
}

static void toggle_class(struct storm *storm)
{
    guard_class(storm, draw(storm, 3) > 0);
}

static void event(struct storm *storm)
{
    static void (*const events[])(struct storm *) = {
        clear_claim,  delete_claim, replace_pod, finish_pod,   toggle_node,   toggle_ready,
        toggle_slice, delete_gang,  finish_pod,  toggle_class, delete_running};

    events[draw(storm, TG_ARRAY_SIZE(events))](storm);
}

/* --- the storm ------------------------------------------------------------------------------- */

static void step(struct storm *storm)
{
    static const enum bench_fault faults[] = {BENCH_OK, BENCH_OK,       BENCH_OK,   BENCH_OK,
                                              BENCH_OK, BENCH_CONFLICT, BENCH_LOST, BENCH_UNSENT};
    struct bench *bench = storm->bench;

    if (bench->ops.n > 0)
        bench_step(bench, draw(storm, bench->ops.n), faults[draw(storm, TG_ARRAY_SIZE(faults))]);
    else
        bench_pass(bench);
}

/* What a suspended leader had sent reaches the server: now, out of order, or never. */
static void arrive(struct storm *storm)
{
    if (storm->bench->late.n > 0)
        bench_arrive(storm->bench, draw(storm, storm->bench->late.n));
}

/* A write that is about to remove a gate. */
static const struct tg_write *any_release(struct storm *storm)
{
    const struct tg_write *ret = NULL;
    size_t n = 0;

    for (size_t i = 0; i < storm->bench->ops.n; i++) {
        const struct tg_write *write = &storm->bench->ops.items[i].write;

        if (write->kind == TG_WRITE_POD && strstr(write->body, "schedulingGates") != NULL &&
            draw(storm, ++n) == 0)
            ret = write;
    }
    return ret;
}

/* The devices on the node of the pod's first claim are of no use any more. */
static void break_place(struct storm *storm, const char *pod)
{
    const struct tg_snapshot *claim;
    const char *node;
    char name[64];

    snprintf(name, sizeof(name), "%s-0", pod);
    claim = tg_cluster_get(storm->bench->cluster, TG_VIEW_CLAIM, NS, name);
    node = claim == NULL ? NULL : tg_claim_node((const void *)claim->object);
    if (node != NULL && has(storm, TG_VIEW_NODE, NULL, node))
        bench_slice(storm->bench, node, 2, ",'taints':[{'key':'bad','effect':'NoSchedule'}]");
}

/* Somebody who may takes it away at once, its finalizer notwithstanding. */
static void remove_gang(struct storm *storm, const char *pod)
{
    char name[2] = {pod[0], '\0'};

    if (!has(storm, TG_VIEW_GANG, NS, name))
        return;
    tg_cluster_change(storm->bench->cluster, TG_VIEW_GANG, NS, name,
                      "{'metadata':{'finalizers':null}}");
    tg_cluster_delete(storm->bench->cluster, TG_VIEW_GANG, NS, name);
}

/* The leader is stopped when it is about to release a pod; what that rests on breaks, another one
 * leads and comes so far, and then the writes of the first arrive. */
static void overtake(struct storm *storm)
{
    const struct tg_write *release = any_release(storm);
    struct bench *bench = storm->bench;

    if (release == NULL)
        return;
    bench_suspend(bench);
    if (kind_of(release->name)->gang && draw(storm, 2) == 0)
        remove_gang(storm, release->name);
    else
        break_place(storm, release->name);
    bench_run(bench, draw(storm, 30));
    while (bench->late.n > 0)
        arrive(storm);
}

static void act(struct storm *storm)
{
    struct bench *bench = storm->bench;
    size_t what = draw(storm, 104);

    if (what >= 100)
        overtake(storm);
    else if (what < 45)
        step(storm);
    else if (what < 55)
        bench_pass(bench);
    else if (what < 75)
        tg_cluster_deliver_one(bench->cluster, (enum tg_view_kind)draw(storm, TG_VIEW_KINDS));
    else if (what < 81)
        bench_others(bench);
    else if (what < 82)
        replenish(storm);
    else if (what < 83)
        bench_crash(bench);
    else if (what < 85)
        bench_suspend(bench);
    else if (what < 87)
        arrive(storm);
    else if (what < 92)
        tg_fake_clock_advance(&bench->clock, (int64_t)draw(storm, 60) * TG_SECOND);
    else
        event(storm);
}

static struct storm begin(uint64_t seed, size_t rotate)
{
    struct storm storm = {.bench = bench_new(), .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};

    storm.bench->racing = true;
    storm.bench->rotate = rotate;
    bench_fleet(storm.bench, NODES);
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++)
        for (size_t j = 0; j < kinds[i].pods; j++)
            make_pod(&storm, &kinds[i]);
    tg_cluster_relist(storm.bench->cluster);
    return storm;
}

/* --- afterwards ------------------------------------------------------------------------------ */

static bool lacks_claims(struct storm *storm, const struct tg_snapshot *s)
{
    for (size_t i = 0; i < kind_of(s->name)->claims; i++) {
        const struct tg_snapshot *claim;
        char name[64];

        snprintf(name, sizeof(name), "%s-%zu", s->name, i);
        claim = tg_cluster_get(storm->bench->cluster, TG_VIEW_CLAIM, NS, name);
        if (claim == NULL || claim->object->metadata->deletion_timestamp != NULL)
            return true;
    }
    return false;
}

/* Nodes, devices and class are as at the beginning; pods that lost a claim are made again. */
static void calm(struct storm *storm)
{
    static const char *const names[NODES] = {"n1", "n2", "n3"};
    const struct tg_snapshot *s;

    for (size_t i = 0; i < NODES; i++) {
        if (!has(storm, TG_VIEW_NODE, NULL, names[i]))
            bench_node(storm->bench, names[i], 2);
        set_ready(storm, names[i], "True");
        bench_slice(storm->bench, names[i], 2, NULL);
    }
    guard_class(storm, true);
    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        if (!tg_pod_finished(pod_of(s)) && !running(s) && lacks_claims(storm, s)) {
            bench_delete_pod(storm->bench, s->name);
            make_pod(storm, kind_of(s->name));
            i = (size_t)-1;
        }
}

static size_t waiting(struct storm *storm, char letter)
{
    const struct tg_snapshot *s;
    size_t n = 0;

    for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
        n += s->name[0] == letter && !running(s) && !tg_pod_finished(pod_of(s));
    return n;
}

/* Lets everything that can run do so, wave after wave. */
static void drain(struct storm *storm)
{
    const struct tg_snapshot *s;

    for (size_t wave = 0; wave < 20; wave++) {
        bool ran = false;

        /* Longer than a place is held: what hangs is recreated. */
        do
            bench_settle(storm->bench, 10 * MINUTE);
        while (replenish(storm));
        invariants_rest(storm->bench);
        for (size_t i = 0; (s = pod_at(storm, i)) != NULL; i++)
            if (running(s)) {
                tg_cluster_change(storm->bench->cluster, TG_VIEW_POD, NS, s->name,
                                  "{'status':{'phase':'Succeeded'}}");
                ran = true;
            }
        if (!ran)
            return;
    }
    fail_msg("never drained");
}

static const char *weather(uint64_t seed, size_t rotate, struct tg_arena *arena)
{
    struct storm storm = begin(seed, rotate);
    const char *ret;

    for (size_t i = 0; i < ACTIONS; i++)
        act(&storm);
    calm(&storm);
    drain(&storm);
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++)
        if (waiting(&storm, kinds[i].letter) >= kinds[i].pods)
            bench_fail(storm.bench, "%c could run and does not: %s", kinds[i].letter,
                       bench_told(storm.bench, kinds[i].letter == 'a' ? "gang/ns/a" : "gang/ns/b"));
    assert_int_equal(tg_cluster_unconditional(storm.bench->cluster), 0);
    assert_int_equal(storm.bench->ungated_early, 0);
    ret = tg_arena_strdup(arena, bench_dump(storm.bench));
    bench_free(storm.bench);
    return ret;
}

static void storms_end_whole_or_with_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= STORMS; seed++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        assert_non_null(weather(seed, 0, arena));
    }
}

static void the_order_of_objects_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        assert_string_equal(weather(seed, 0, arena), weather(seed, (size_t)seed, arena));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storms_end_whole_or_with_nothing),
        cmocka_unit_test(the_order_of_objects_changes_nothing),
    };

    return cmocka_run_group_tests_name("storm", tests, NULL, NULL);
}
