/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The left column of the event table (design 5.2): every event, at every step of the commit before
 * the first gate is removed, for each kind of unit. I1, I2 and I4 are checked by the bench at every
 * write; here is checked how it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)
#define STEPS_MAX 40

/* A unit under test: m-0 is its first pod, m-0-0 the first claim. */
struct workload {
    const char *name;
    size_t pods, claims; /* claims a pod */
    bool gang;
};

static const struct workload workloads[] = {
    {"a single claim", 1, 1, false},
    {"a pod with two claims", 1, 2, false},
    {"a gang of three", 3, 1, true},
};

static void create_pod(struct bench *bench, const struct workload *w, const char *name)
{
    bench_pod(bench, name, w->claims, 1,
              w->gang ? bench_member_config(bench, "m", (int)w->pods) : NULL);
}

static struct bench *setup(const struct workload *w)
{
    struct bench *bench = bench_new();

    bench_fleet(bench, 4);
    for (size_t i = 0; i < w->pods; i++) {
        char name[32];

        snprintf(name, sizeof(name), "m-%zu", i);
        create_pod(bench, w, name);
    }
    return bench;
}

/* The node for which the first claim is meant: allocated, or in the plan of gang or pod. NULL:
 * nothing is decided yet. */
static const char *planned_node(struct bench *bench)
{
    const struct tg_snapshot *claim = tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0");
    const struct tg_snapshot *gang = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, "m");
    const struct tg_snapshot *pod = tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, "m-0");
    const char *text =
        pod == NULL ? NULL : tg_meta_annotation(pod->object->metadata, TG_ANNOTATION_PLAN);
    const struct tg_gang *object = gang == NULL ? NULL : (const void *)gang->object;
    struct tg_plan *plan = NULL;

    if (claim != NULL && tg_claim_node((const void *)claim->object) != NULL)
        return tg_claim_node((const void *)claim->object);
    if (object != NULL && object->status != NULL && object->status->plan != NULL)
        return object->status->plan->members.items[0].node;
    if (text != NULL && tg_plan_decode(text, bench->arena, &plan, NULL) == 0)
        return plan->members.items[0].node;
    return NULL;
}

static bool open_plan(struct bench *bench)
{
    return planned_node(bench) != NULL;
}

/* --- how it may end -------------------------------------------------------------------------- */

static void all_run(struct bench *bench, const struct workload *w)
{
    invariants_rest(bench);
    if (bench_bound(bench) != w->pods)
        bench_fail(bench, "%zu of %zu pods run", bench_bound(bench), w->pods);
    assert_int_equal(bench_allocated(bench), w->pods * w->claims);
}

static void nothing_held(struct bench *bench)
{
    invariants_rest(bench);
    if (bench_ours(bench) != 0)
        bench_fail(bench, "%zu claims stay allocated", bench_ours(bench));
    assert_false(bench->gate_removed);
}

/* --- events ---------------------------------------------------------------------------------- */

static void claim_cleared(struct bench *bench, const struct workload *w)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0");

    if (tg_claim_allocated((const void *)s->object))
        tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0",
                          "{'status':{'allocation':null,'reservedFor':null}}");
    bench_settle(bench, MINUTE);
    all_run(bench, w);
}

static void claim_allocated_elsewhere(struct bench *bench, const struct workload *w)
{
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0",
                      "{'status':{'allocation':null,'reservedFor':null}}");
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0",
                      "{'status':{'allocation':{'devices':{'results':[{'request':'gpus','driver':"
                      "'other','pool':'x','device':'y'}]}}}}");
    bench_settle(bench, 5 * MINUTE);
    if (w->pods * w->claims > 1 && bench_allocated(bench) != 1)
        bench_fail(bench, "%zu claims are allocated", bench_allocated(bench));
    nothing_held(bench);
    if (strstr(bench_told(bench, w->gang         ? "gang/ns/m"
                                 : w->claims > 1 ? "pod/ns/m-0"
                                                 : "claim/ns/m-0-0"),
               "m-0-0") == NULL)
        fail_msg("nobody says which claim: %s", bench_told(bench, "pod/ns/m-0"));
}

static void pod_deleted(struct bench *bench, const struct workload *w)
{
    bench_delete_pod(bench, "m-0");
    bench_settle(bench, MINUTE / 2);
    nothing_held(bench);
    if (w->gang && bench_phase(bench, "m") != NULL)
        assert_string_equal(bench_phase(bench, "m"), "Gathering");
    create_pod(bench, w, "m-9");
    bench_settle(bench, MINUTE);
    all_run(bench, w);
}

static void pod_replaced(struct bench *bench, const struct workload *w)
{
    bench_delete_pod(bench, "m-0");
    for (size_t i = 0; i < w->claims; i++) {
        char name[32];

        snprintf(name, sizeof(name), "m-0-%zu", i);
        tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, name,
                          "{'metadata':{'finalizers':null}}");
        tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, name);
    }
    create_pod(bench, w, "m-0");
    bench_settle(bench, MINUTE);
    all_run(bench, w);
}

static void gang_deleted(struct bench *bench, const struct workload *w)
{
    const struct tg_snapshot *old = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, "m");
    bool planned = open_plan(bench);

    if (old != NULL)
        tg_cluster_delete(bench->cluster, TG_VIEW_GANG, NS, "m");
    bench_settle(bench, MINUTE);
    all_run(bench, w);
    if (old != NULL &&
        tg_streq(tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, "m")->uid, old->uid))
        bench_fail(bench, "the deleted Gang is still there");
    if (w->gang && planned && strstr(bench_trace(bench), "Releasing") == NULL)
        bench_fail(bench, "it was not rolled back");
}

static void node_deleted(struct bench *bench, const struct workload *w)
{
    const char *node = tg_or(planned_node(bench), "n1");

    tg_cluster_delete(bench->cluster, TG_VIEW_NODE, NULL, node);
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, node);
    bench_settle(bench, MINUTE);
    all_run(bench, w);
}

static void not_ready(struct bench *bench, const char *node, const char *status)
{
    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, node,
                      "{'status':{'conditions':[{'type':'Ready','status':'%s'}]}}", status);
}

/* An open plan does nothing for a while, and goes on as it was when the cause goes away. */
static void stalls(struct bench *bench, bool planned, size_t allocated)
{
    bench_settle(bench, MINUTE);
    if (!planned)
        return;
    assert_false(bench->gate_removed);
    assert_int_equal(bench_allocated(bench), allocated);
}

static void node_not_ready(struct bench *bench, const struct workload *w)
{
    const char *node = planned_node(bench);
    size_t allocated;

    not_ready(bench, tg_or(node, "n1"), "False");
    bench_settle(bench, 0);
    allocated = bench_allocated(bench);
    stalls(bench, node != NULL, allocated);
    bench_settle(bench, 5 * MINUTE);
    all_run(bench, w);
    if (node != NULL && tg_streq(planned_node(bench), node))
        bench_fail(bench, "it ran on a node that is away");
}

static void node_comes_back(struct bench *bench, const struct workload *w)
{
    const char *node = planned_node(bench);
    size_t allocated;

    not_ready(bench, tg_or(node, "n1"), "Unknown");
    bench_settle(bench, 0);
    allocated = bench_allocated(bench);
    stalls(bench, node != NULL, allocated);
    not_ready(bench, tg_or(node, "n1"), "True");
    bench_settle(bench, MINUTE);
    all_run(bench, w);
    if (strstr(bench_trace(bench), "clear") != NULL)
        bench_fail(bench, "the plan was given up");
}

static void node_cordoned(struct bench *bench, const struct workload *w)
{
    const char *node = planned_node(bench);
    size_t allocated;

    tg_cluster_change(bench->cluster, TG_VIEW_NODE, NULL, tg_or(node, "n1"),
                      "{'spec':{'unschedulable':true}}");
    bench_settle(bench, 0);
    allocated = bench_allocated(bench);
    stalls(bench, node != NULL, allocated);
    bench_settle(bench, 5 * MINUTE);
    all_run(bench, w);
}

static void pool_absent(struct bench *bench, const struct workload *w)
{
    const char *node = planned_node(bench);
    size_t allocated;

    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, tg_or(node, "n1"));
    bench_settle(bench, 0);
    allocated = bench_allocated(bench);
    stalls(bench, node != NULL, allocated);
    bench_settle(bench, 5 * MINUTE);
    all_run(bench, w);
}

static void pool_comes_back(struct bench *bench, const struct workload *w)
{
    const char *node = planned_node(bench);
    size_t allocated;

    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, tg_or(node, "n1"));
    bench_settle(bench, 0);
    allocated = bench_allocated(bench);
    stalls(bench, node != NULL, allocated);
    bench_slice(bench, tg_or(node, "n1"), 2, NULL);
    bench_settle(bench, MINUTE);
    all_run(bench, w);
    if (strstr(bench_trace(bench), "clear") != NULL)
        bench_fail(bench, "the plan was given up");
}

static void tainted(struct bench *bench, const struct workload *w, const char *effect)
{
    const char *node = planned_node(bench);
    TG_AUTOBUF struct tg_buf taint = TG_BUF_INIT(256);

    tg_buf_printf(&taint, ",'taints':[{'key':'bad','effect':'%s'}]", effect);
    bench_slice(bench, tg_or(node, "n1"), 2, tg_buf_str(&taint));
    bench_settle(bench, MINUTE);
    all_run(bench, w);
    for (size_t i = 0;; i++) {
        const struct tg_snapshot *s = tg_cluster_nth(bench->cluster, TG_VIEW_CLAIM, i);
        const struct tg_allocation_device *device;

        if (s == NULL)
            break;
        device = &((const struct tg_resource_claim *)(const void *)s->object)
                      ->status->allocation->devices->results.items[0];
        if (tg_streq(device->pool, tg_or(node, "n1")) && tg_streq(device->device, "gpu-0"))
            bench_fail(bench, "a tainted device was given away");
    }
}

static void device_no_schedule(struct bench *bench, const struct workload *w)
{
    tainted(bench, w, "NoSchedule");
}

static void device_no_execute(struct bench *bench, const struct workload *w)
{
    tainted(bench, w, "NoExecute");
}

/* Decided: recorded, or the record is on its way. */
static bool begun(struct bench *bench)
{
    return open_plan(bench) || bench->ops.n > 0;
}

/* No new plans; open ones finish. */
static void open_ones_finish(struct bench *bench, const struct workload *w, bool planned)
{
    bench_settle(bench, MINUTE);
    if (planned)
        all_run(bench, w);
    else
        nothing_held(bench);
}

static void class_unguarded(struct bench *bench, const struct workload *w)
{
    bool planned = begun(bench);

    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu", "{'spec':{'selectors':null}}");
    open_ones_finish(bench, w, planned);
}

static void class_unmanaged(struct bench *bench, const struct workload *w)
{
    bool planned = begun(bench);

    tg_cluster_change(bench->cluster, TG_VIEW_CLASS, NULL, "gpu", "{'metadata':{'labels':null}}");
    open_ones_finish(bench, w, planned);
}

static void class_deleted(struct bench *bench, const struct workload *w)
{
    bool planned = begun(bench);

    tg_cluster_delete(bench->cluster, TG_VIEW_CLASS, NULL, "gpu");
    open_ones_finish(bench, w, planned);
}

static void namespace_terminating(struct bench *bench, const struct workload *w)
{
    (void)w;
    tg_cluster_change(bench->cluster, TG_VIEW_NAMESPACE, NULL, NS,
                      "{'metadata':{'deletionTimestamp':'2026-01-01T02:00:00Z','finalizers':['x']},"
                      "'status':{'phase':'Terminating'}}");
    bench_settle(bench, 5 * MINUTE);
    nothing_held(bench);
}

static void claim_deleted(struct bench *bench, const struct workload *w)
{
    (void)w;
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0");
    bench_settle(bench, 5 * MINUTE);
    nothing_held(bench);
    assert_null(tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, "m-0-0"));
}

static void one_member_more(struct bench *bench, const struct workload *w)
{
    if (w->gang)
        create_pod(bench, w, "m-a");
    bench_settle(bench, MINUTE);
    assert_int_equal(bench_bound(bench), w->pods);
    assert_int_equal(bench_gated(bench), w->gang ? 1 : 0);
    assert_int_equal(bench_ours(bench), w->pods * w->claims);
}

static void process_dies(struct bench *bench, const struct workload *w)
{
    bench_crash(bench);
    bench_settle(bench, MINUTE);
    all_run(bench, w);
    if (strstr(bench_trace(bench), "clear") != NULL)
        bench_fail(bench, "the plan was given up");
}

/* --- every event at every step --------------------------------------------------------------- */

struct event {
    const char *name;
    void (*strike)(struct bench *bench, const struct workload *w);
};

/* true: the first gate was still there when it struck. */
static bool strike_at(const struct event *event, const struct workload *w, size_t step)
{
    struct bench *bench = setup(w);
    bool before;

    before = bench_run(bench, step) && !bench->gate_removed;
    if (before) {
        print_message("%s, %s, step %zu\n", w->name, event->name, step);
        event->strike(bench, w);
        assert_int_equal(tg_cluster_unconditional(bench->cluster), 0);
    }
    bench_free(bench);
    return before;
}

static void strike_everywhere(const struct event *event)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(workloads); i++) {
        size_t step = 0;

        while (strike_at(event, &workloads[i], step))
            assert_true(++step < STEPS_MAX);
        /* Of the steps of a single claim two are before the gate. */
        assert_true(step > workloads[i].pods * workloads[i].claims * 2);
    }
}

#define EVENT(function)                                                                            \
    static void function##_before_the_first_gate(void **state)                                     \
    {                                                                                              \
        (void)state;                                                                               \
        strike_everywhere(&(struct event){#function, function});                                   \
    }

EVENT(claim_cleared)
EVENT(claim_allocated_elsewhere)
EVENT(pod_deleted)
EVENT(pod_replaced)
EVENT(gang_deleted)
EVENT(node_deleted)
EVENT(node_not_ready)
EVENT(node_comes_back)
EVENT(node_cordoned)
EVENT(pool_absent)
EVENT(pool_comes_back)
EVENT(device_no_schedule)
EVENT(device_no_execute)
EVENT(class_unguarded)
EVENT(class_unmanaged)
EVENT(class_deleted)
EVENT(namespace_terminating)
EVENT(claim_deleted)
EVENT(one_member_more)
EVENT(process_dies)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claim_cleared_before_the_first_gate),
        cmocka_unit_test(claim_allocated_elsewhere_before_the_first_gate),
        cmocka_unit_test(pod_deleted_before_the_first_gate),
        cmocka_unit_test(pod_replaced_before_the_first_gate),
        cmocka_unit_test(gang_deleted_before_the_first_gate),
        cmocka_unit_test(node_deleted_before_the_first_gate),
        cmocka_unit_test(node_not_ready_before_the_first_gate),
        cmocka_unit_test(node_comes_back_before_the_first_gate),
        cmocka_unit_test(node_cordoned_before_the_first_gate),
        cmocka_unit_test(pool_absent_before_the_first_gate),
        cmocka_unit_test(pool_comes_back_before_the_first_gate),
        cmocka_unit_test(device_no_schedule_before_the_first_gate),
        cmocka_unit_test(device_no_execute_before_the_first_gate),
        cmocka_unit_test(class_unguarded_before_the_first_gate),
        cmocka_unit_test(class_unmanaged_before_the_first_gate),
        cmocka_unit_test(class_deleted_before_the_first_gate),
        cmocka_unit_test(namespace_terminating_before_the_first_gate),
        cmocka_unit_test(claim_deleted_before_the_first_gate),
        cmocka_unit_test(one_member_more_before_the_first_gate),
        cmocka_unit_test(process_dies_before_the_first_gate),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
