/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/gather/checked.h"
#include "tests/unit/controller/invariants.h"

#define ROUNDS 2000
/* As a JSON pointer has it. */
#define TG_ANNOTATION_EPOCH_ESCAPED "tangram.dev~1epoch"
#define WALL (INT64_C(1767225600) * TG_SECOND)

static struct bench *bench_of(struct tg_controller *controller)
{
    return (struct bench *)controller;
}

/* --- what pass.c calls elsewhere ------------------------------------------------------------- */

bool tg_elector_leading(const struct tg_elector *elector)
{
    (void)elector;
    return true;
}

/* The elector is an opaque pointer to the passes: here it is the bench. */
uint64_t tg_elector_epoch(const struct tg_elector *elector)
{
    return ((const struct bench *)(const void *)elector)->epoch;
}

void tg_elector_raise(struct tg_elector *elector, uint64_t seen)
{
    ((struct bench *)(void *)elector)->epoch = seen + 1;
}

/* A list by quorum. */
bool tg_controller_refreshed(struct tg_controller *controller, uint64_t epoch)
{
    (void)epoch;
    tg_cluster_relist(bench_of(controller)->cluster);
    return true;
}

bool tg_controller_synced(const struct tg_controller *controller)
{
    (void)controller;
    return true;
}

void tg_controller_fill_view(const struct tg_controller *controller, struct tg_view *view)
{
    const struct bench *bench = (const struct bench *)controller;

    tg_cluster_fill_view(bench->cluster, bench->rotate, view);
}

static void same_unit(struct bench *bench, const struct tg_unit *a, const struct tg_unit *b)
{
    bool same = tg_streq(a->key, b->key) && a->n_members == b->n_members &&
                tg_streq(a->problem.text, b->problem.text) && a->gang == b->gang;

    for (size_t i = 0; same && i < a->n_members; i++)
        same = a->members[i].pod == b->members[i].pod &&
               a->members[i].n_claims == b->members[i].n_claims &&
               tg_streq(a->members[i].wait, b->members[i].wait);
    if (!same)
        bench_fail(bench, "what is awake makes another unit %s than everything: %s", b->key,
                   a->key);
}

/* What is at rest makes no unit, and claims are found by their markers. */
static void check_awake(struct bench *bench, const struct tg_view *all, const struct tg_view *view)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const char *instance = tg_configuration_instance(bench->configuration);
    const struct tg_view_list *claims = &all->lists[TG_VIEW_CLAIM];
    struct tg_error err = TG_ERROR_INIT;
    struct tg_units awake, everything;

    if (tg_gather(view, instance, arena, &awake, &err) < 0 ||
        tg_gather(all, instance, arena, &everything, &err) < 0)
        bench_fail(bench, "%s", err.message);
    if (awake.n != everything.n)
        bench_fail(bench, "what is awake makes %zu units, and everything %zu", awake.n,
                   everything.n);
    for (size_t i = 0; i < awake.n; i++)
        same_unit(bench, &awake.items[i], &everything.items[i]);
    for (size_t i = 0; i < claims->n; i++) {
        const struct tg_resource_claim *claim = claims->items[i];
        struct tg_plan_marker marker;
        struct tg_view_list found;
        bool listed = false;

        if (!tg_claim_marker(claim, arena, &marker) || marker.gang_uid[0] == '\0')
            continue;
        assert_int_equal(tg_awake_marked(view, marker.gang_uid, arena, &found), 0);
        for (size_t k = 0; k < found.n; k++)
            listed = listed || found.items[k] == claim;
        if (!listed)
            bench_fail(bench, "claim %s is not found by its marker", claim->metadata->name);
    }
}

const struct tg_view *tg_controller_view(struct tg_controller *controller)
{
    struct tg_view *view = &controller->view;
    struct tg_view all;

    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        tg_view_clear(view, kind);
    tg_controller_fill_view(controller, view);
    all = *view;
    all.checked = NULL;
    /* Pods are found by name, and looked at while they are not at rest. */
    view->lists[TG_VIEW_POD] = (struct tg_view_list){0};
    view->awake = controller->awake;
    view->checked = NULL;
    tg_awake_fill(controller->awake, view);
    if (!bench_of(controller)->memory_ends)
        check_awake(bench_of(controller), &all, view);
    TG_VEC_DONE(&all.lists[TG_VIEW_POD]);
    view->checked = controller->checked;
    return view;
}

/* One pod or claim at a time, in the order of the view. */
bool tg_controller_fill_part(struct tg_controller *controller, struct tg_view_part *part,
                             struct tg_view *view)
{
    static const enum tg_view_kind kinds[] = {TG_VIEW_POD, TG_VIEW_CLAIM};
    struct bench *bench = bench_of(controller);
    bool first = !part->begun;

    if (first)
        tg_controller_fill_view(controller, view);
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        struct tg_view_list *list = &view->lists[kinds[i]];

        if (first) {
            TG_VEC_DONE(&bench->parts[i]);
            bench->parts[i] = *list;
            *list = (struct tg_view_list){0};
        }
        TG_VEC_CLEAR(list);
    }
    part->begun = true;
    for (; part->kind < TG_ARRAY_SIZE(kinds); part->kind++, part->place = 0)
        if (part->place < bench->parts[part->kind].n) {
            tg_view_add(view, kinds[part->kind], bench->parts[part->kind].items[part->place++]);
            return true;
        }
    return first;
}

void tg_controller_view_done(struct tg_controller *controller)
{
    (void)controller;
}

void tg_controller_parts_done(struct tg_controller *controller)
{
    (void)controller;
}

void tg_controller_start_waiting(struct tg_controller *controller)
{
    (void)controller;
}

/* All writes of the bench have been sent. */
void tg_controller_drop_waiting(struct tg_controller *controller, struct tg_unit_state *state)
{
    (void)controller;
    (void)state;
}

void tg_controller_wake_at(struct tg_controller *controller, int64_t when)
{
    if (controller->wake_at == 0 || when < controller->wake_at)
        controller->wake_at = when;
}

void tg_controller_report(struct tg_controller *controller, struct tg_unit_state *state,
                          const struct tg_unit *unit, const struct tg_decision *decision)
{
    (void)state;
    tg_map_set(bench_of(controller)->told, unit->key,
               decision->reason == NULL
                   ? tg_xstrdup("")
                   : tg_xasprintf("%s: %s", decision->reason, tg_or(decision->text, "")));
}

void tg_controller_report_class(struct tg_controller *controller,
                                const struct tg_device_class *klass, const char *reason,
                                const char *text)
{
    TG_AUTOFREE char *key = tg_xasprintf("class/%s", klass->metadata->name);

    tg_map_set(bench_of(controller)->told, key, tg_xasprintf("%s: %s", reason, text));
}

static bool has_gate(const struct tg_snapshot *pod)
{
    return pod != NULL &&
           tg_pod_has_gate((const struct tg_pod *)(const void *)pod->object, TG_GATE);
}

/* I2, where others may change at any time what was decided on: at the decision. */
static void check_decision(struct bench *bench, const struct tg_write *write)
{
    const struct tg_snapshot *pod;

    if (!bench->racing || write->kind != TG_WRITE_POD ||
        strstr(write->body, "schedulingGates") == NULL)
        return;
    pod = tg_cluster_seen(bench->cluster, TG_VIEW_POD, write->namespace_, write->name);
    assert_true(has_gate(pod));
    invariants_gate(bench, pod);
}

static const char *keep(struct bench *bench, const char *s)
{
    return s == NULL ? NULL : tg_arena_strdup(bench->arena, s);
}

void tg_controller_execute(struct tg_controller *controller, struct tg_unit_state *state,
                           const struct tg_write *writes, size_t n)
{
    struct bench *bench = bench_of(controller);

    for (size_t i = 0; i < n; i++) {
        const struct tg_write *w = &writes[i];

        check_decision(bench, w);
        *TG_VEC_PUSH(&bench->ops) =
            (struct bench_op){.write = {.kind = w->kind,
                                        .namespace_ = keep(bench, w->namespace_),
                                        .name = keep(bench, w->name),
                                        .uid = keep(bench, w->uid),
                                        .resource_version = keep(bench, w->resource_version),
                                        .body = keep(bench, w->body),
                                        .epoch = keep(bench, w->epoch),
                                        .metadata = keep(bench, w->metadata),
                                        .metadata_done = w->metadata_done},
                              .unit = keep(bench, state->key),
                              .resource_version = keep(bench, w->resource_version),
                              .metadata_done = w->metadata_done};
        state->in_flight++;
    }
}

/* --- changes --------------------------------------------------------------------------------- */

static const char *version_of(struct bench *bench, const struct tg_snapshot *snapshot)
{
    return keep(bench, snapshot->object->metadata->resource_version);
}

static bool has_plan(const struct tg_snapshot *s)
{
    const struct tg_gang *gang;

    if (s == NULL)
        return false;
    if (s->kind == TG_VIEW_POD)
        return tg_meta_annotation(s->object->metadata, TG_ANNOTATION_PLAN) != NULL;
    gang = (const struct tg_gang *)(const void *)s->object;
    return gang->status != NULL && gang->status->plan != NULL;
}

static bool small_plan(const struct tg_snapshot *s)
{
    const struct tg_gang *gang = (const struct tg_gang *)(const void *)s->object;

    return s->kind == TG_VIEW_GANG && gang->status->plan->members.n > 0 &&
           gang->status->plan->members.items[0].claims.n == 0;
}

static const char *plan_change(const struct tg_snapshot *before, const struct tg_snapshot *after)
{
    if (!has_plan(before))
        return has_plan(after) ? " +plan" : "";
    if (!has_plan(after))
        return " -plan";
    return small_plan(after) ? " small plan" : "";
}

/* What the controller changed, in words. */
static const char *describe(struct bench *bench, const struct tg_write *write,
                            const struct tg_snapshot *before, const struct tg_snapshot *after)
{
    const struct tg_gang *gang = (const struct tg_gang *)(const void *)after->object;

    switch (write->kind) {
    case TG_WRITE_GANG_CREATE:
        return tg_arena_printf(bench->arena, "create %s", after->name);
    case TG_WRITE_GANG_METADATA:
        return tg_arena_printf(bench->arena, "%sfinalizer",
                               tg_meta_has_finalizer(gang->metadata, TG_FINALIZER_PLAN) ? "+"
                                                                                        : "-");
    case TG_WRITE_GANG_STATUS:
        if (strstr(write->body, "\"phase\"") == NULL)
            return tg_arena_printf(bench->arena, "fence %s", after->name);
        return tg_arena_printf(bench->arena, "%s%s", gang->status->phase,
                               plan_change(before, after));
    case TG_WRITE_CLAIM_ALLOCATE:
        return tg_arena_printf(
            bench->arena, "%s %s",
            tg_claim_allocated((const void *)after->object) ? "allocate" : "metadata", after->name);
    case TG_WRITE_CLAIM_CLEAR:
        return tg_arena_printf(bench->arena, "clear %s", after->name);
    case TG_WRITE_CLAIM_EPOCH:
        return tg_arena_printf(bench->arena, "fence %s", after->name);
    case TG_WRITE_GANG_DELETE:
        return tg_arena_printf(bench->arena, "delete %s", after->name);
    case TG_WRITE_POD_EVICT:
        return tg_arena_printf(bench->arena, "evict %s", after->name);
    case TG_WRITE_POD:
        if (strstr(write->body, TG_ANNOTATION_EPOCH_ESCAPED) != NULL)
            return tg_arena_printf(bench->arena, "fence %s", after->name);
        return tg_arena_printf(bench->arena, "%s%s%s",
                               has_gate(before) && !has_gate(after) ? "ungate " : "pod ",
                               after->name, plan_change(before, after));
    }
    return NULL;
}

static void note_taken_back(struct bench *bench, const struct tg_write *write,
                            const struct tg_snapshot *claim)
{
    if (write != NULL && write->kind == TG_WRITE_CLAIM_CLEAR)
        tg_map_set(bench->taken_back, claim->key, bench);
    else if (tg_claim_allocated((const void *)claim->object))
        tg_map_remove(bench->taken_back, claim->key);
}

static void on_change(void *data, const struct tg_write *write, const struct tg_snapshot *before,
                      const struct tg_snapshot *after)
{
    struct bench *bench = data, *writer = bench->writes != NULL ? bench->writes : bench;

    if (write != NULL)
        *TG_VEC_PUSH(&bench->trace) = describe(bench, write, before, after);
    if (bench->foreign_fault)
        return;
    if (after->kind == TG_VIEW_CLAIM)
        note_taken_back(bench, write, after);
    if (after->kind == TG_VIEW_CLAIM)
        invariants_claim(bench, write == NULL ? NULL : writer->klass, before, after);
    if (after->kind == TG_VIEW_GANG && write != NULL)
        invariants_instance(bench, tg_configuration_instance(writer->configuration), before, after);
    if (write != NULL && after->kind == TG_VIEW_POD && has_gate(before) && !has_gate(after)) {
        bench->gate_removed = true;
        if (!bench->racing)
            invariants_gate(bench, after);
        if (bench->arriving)
            invariants_late_gate(bench, after);
    }
}

static void on_seen(void *data, const struct tg_snapshot *before, const struct tg_snapshot *after)
{
    struct bench *bench = data;

    if (bench->guest != NULL)
        on_seen(bench->guest, before, after);
    tg_controller_feed(&bench->controller, (after != NULL ? after : before)->kind,
                       before == NULL ? NULL : before->object,
                       after == NULL ? NULL : after->object);
    if (before != NULL && before->kind == TG_VIEW_CLAIM)
        tg_controller_claim_changed(&bench->controller, (const void *)before->object,
                                    after == NULL ? NULL : (const void *)after->object);
}

/* --- life ------------------------------------------------------------------------------------ */

static struct bench *new_on(struct tg_cluster *cluster, struct tg_configuration *configuration)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));

    bench->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    bench->cluster = cluster;
    bench->configuration = configuration;
    bench->told = tg_map_new(free);
    bench->taken_back = tg_map_new(NULL);
    bench->epoch = 7;
    tg_fake_clock_init(&bench->clock, WALL);
    bench->clock.monotonic_now = TG_SECOND;
    bench->controller.clock = &bench->clock.clock;
    bench->controller.configuration = bench->configuration;
    bench->controller.units = tg_controller_states_new();
    bench->controller.checked = tg_checked_new();
    bench->controller.awake = tg_awake_new();
    tg_view_init(&bench->controller.view);
    bench->controller.fleet = tg_fleet_open(tg_configuration_instance(configuration));
    bench->controller.elector = (struct tg_elector *)(void *)bench;
    return bench;
}

struct bench *bench_new(void)
{
    struct bench *bench = new_on(tg_cluster_new(), tg_configuration_new_default());

    bench->klass = "gpu";
    tg_cluster_observe(
        bench->cluster,
        &(struct tg_cluster_observer){.data = bench, .on_change = on_change, .on_seen = on_seen});
    return bench;
}

struct bench *bench_new_guest(struct bench *host, const char *instance)
{
    TG_AUTOFREE char *text = tg_xasprintf("apiVersion: tangram.dev/v1alpha1\n"
                                          "kind: TangramConfiguration\ninstance: %s\n",
                                          instance);
    struct tg_configuration *configuration = NULL;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_configuration_parse("guest", text, strlen(text), &configuration, &err) < 0)
        fail_msg("%s", err.message);
    host->guest = new_on(host->cluster, configuration);
    host->guest->klass = instance;
    host->guest->host = host;
    return host->guest;
}

void bench_free(struct bench *bench)
{
    tg_map_free(bench->controller.units);
    tg_checked_free(bench->controller.checked);
    tg_awake_free(bench->controller.awake);
    TG_VEC_DONE(&bench->parts[0]);
    TG_VEC_DONE(&bench->parts[1]);
    tg_view_done(&bench->controller.view);
    tg_fleet_close(bench->controller.fleet);
    tg_map_free(bench->told);
    tg_map_free(bench->taken_back);
    tg_configuration_free(bench->configuration);
    if (bench->host == NULL)
        tg_cluster_free(bench->cluster);
    else
        bench->host->guest = NULL;
    TG_VEC_DONE(&bench->ops);
    TG_VEC_DONE(&bench->late);
    TG_VEC_DONE(&bench->trace);
    tg_arena_free(bench->arena);
    free(bench);
}

/* --- driving --------------------------------------------------------------------------------- */

void bench_pass(struct bench *bench)
{
    tg_controller_pass(&bench->controller);
}

static void finish(struct bench *bench, size_t i, bool failed)
{
    struct tg_unit_state *state = tg_map_get(bench->controller.units, bench->ops.items[i].unit);

    if (state != NULL) {
        state->in_flight--;
        state->returned = state->in_flight == 0;
        state->failed = state->failed || failed;
    }
    for (bench->ops.n--; i < bench->ops.n; i++)
        bench->ops.items[i] = bench->ops.items[i + 1];
}

static enum tg_view_kind kind_of(const struct tg_write *write)
{
    if (write->kind == TG_WRITE_POD || write->kind == TG_WRITE_POD_EVICT)
        return TG_VIEW_POD;
    return write->kind == TG_WRITE_CLAIM_ALLOCATE || write->kind == TG_WRITE_CLAIM_CLEAR ||
                   write->kind == TG_WRITE_CLAIM_EPOCH
               ? TG_VIEW_CLAIM
               : TG_VIEW_GANG;
}

static void read_object(struct bench *bench, const struct tg_write *write)
{
    const struct tg_snapshot *now =
        tg_cluster_get(bench->cluster, kind_of(write), write->namespace_, write->name);

    if (now != NULL)
        tg_cluster_see(bench->cluster, now);
}

/* A patch that tests what is no longer so is refused before its resourceVersion is looked at. */
static bool has_changed(struct bench *bench, const struct bench_op *op)
{
    const struct tg_snapshot *now =
        tg_cluster_get(bench->cluster, kind_of(&op->write), op->write.namespace_, op->write.name);

    return now == NULL || !tg_streq(now->object->metadata->resource_version, op->resource_version);
}

void bench_step(struct bench *bench, size_t i, enum bench_fault fault)
{
    struct bench_op op = bench->ops.items[i];
    bool metadata = op.write.kind == TG_WRITE_CLAIM_ALLOCATE && !op.metadata_done;
    const struct tg_snapshot *answer = NULL;
    struct tg_error err = TG_ERROR_INIT;
    int r = -TG_ABORTED;

    if (bench->host != NULL)
        bench->host->writes = bench;
    if (fault == BENCH_OK || fault == BENCH_LOST)
        r = tg_cluster_write(bench->cluster, &op.write,
                             metadata ? TG_CLUSTER_METADATA : TG_CLUSTER_WRITE, op.resource_version,
                             &answer, &err);
    if (bench->host != NULL)
        bench->host->writes = NULL;
    /* The model refuses what the real server would: such a write must never be sent. */
    if (r == -TG_INVALID_ARGUMENT && !bench->foreign_fault && !has_changed(bench, &op))
        bench_fail(bench, "%s: %s: %.400s", op.write.name, err.message, op.write.body);
    if (fault == BENCH_LOST || fault == BENCH_UNSENT) {
        read_object(bench, &op.write);
        finish(bench, i, true);
        return;
    }
    if (r < 0) {
        finish(bench, i, true);
        return;
    }
    if (answer != NULL)
        tg_cluster_see(bench->cluster, answer);
    if (!metadata) {
        finish(bench, i, false);
        return;
    }
    bench->ops.items[i].metadata_done = true;
    bench->ops.items[i].resource_version = version_of(bench, answer);
}

/* Lists everything. */
static void list_all(struct bench *bench)
{
    struct tg_view all;

    tg_awake_free(bench->controller.awake);
    bench->controller.awake = tg_awake_new();
    tg_view_init(&all);
    tg_controller_fill_view(&bench->controller, &all);
    for (size_t i = 0; i < all.lists[TG_VIEW_POD].n; i++)
        tg_awake_pod_changed(bench->controller.awake, NULL, all.lists[TG_VIEW_POD].items[i]);
    for (size_t i = 0; i < all.lists[TG_VIEW_CLAIM].n; i++)
        tg_awake_claim_changed(bench->controller.awake, NULL, all.lists[TG_VIEW_CLAIM].items[i]);
    tg_view_done(&all);
}

/* Another process leads, which knows nothing. */
static void begin_reign(struct bench *bench)
{
    TG_VEC_CLEAR(&bench->ops);
    tg_map_clear(bench->controller.units);
    tg_checked_free(bench->controller.checked);
    bench->controller.checked = tg_checked_new();
    list_all(bench);
    bench->controller.wake_at = 0;
    bench->controller.takeover = (struct tg_takeover){0};
    bench->epoch++;
}

void bench_crash(struct bench *bench)
{
    begin_reign(bench);
    tg_cluster_relist(bench->cluster);
}

void bench_suspend(struct bench *bench)
{
    for (size_t i = 0; i < bench->ops.n; i++)
        *TG_VEC_PUSH(&bench->late) = bench->ops.items[i];
    begin_reign(bench);
}

int bench_arrive(struct bench *bench, size_t i)
{
    struct bench_op op = bench->late.items[i];
    bool metadata = op.write.kind == TG_WRITE_CLAIM_ALLOCATE && !op.metadata_done;
    const struct tg_snapshot *answer = NULL;
    struct tg_error err = TG_ERROR_INIT;
    int r;

    bench->late.items[i] = bench->late.items[--bench->late.n];
    bench->arriving = true;
    r = tg_cluster_write(bench->cluster, &op.write,
                         metadata ? TG_CLUSTER_METADATA : TG_CLUSTER_WRITE, op.resource_version,
                         &answer, &err);
    bench->arriving = false;
    return r;
}

static void wait_for(struct bench *bench, int64_t *patience)
{
    int64_t by = bench->controller.wake_at - bench->clock.monotonic_now;

    if (by < 1)
        by = 1;
    if (by > *patience)
        by = *patience;
    *patience -= by;
    tg_fake_clock_advance(&bench->clock, by);
}

void bench_settle(struct bench *bench, int64_t patience)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        bool busy;

        tg_cluster_deliver(bench->cluster);
        bench_pass(bench);
        busy = bench->ops.n > 0;
        while (bench->ops.n > 0)
            bench_step(bench, 0, BENCH_OK);
        busy = bench_others(bench) || busy;
        if (busy)
            continue;
        if (bench->controller.wake_at == 0 || patience <= 0)
            return;
        wait_for(bench, &patience);
    }
    bench_fail(bench, "never settles");
}

bool bench_run(struct bench *bench, size_t n)
{
    while (n > 0) {
        if (bench->ops.n == 0) {
            tg_cluster_deliver(bench->cluster);
            bench_pass(bench);
        }
        if (bench->ops.n == 0)
            return false;
        bench_step(bench, 0, BENCH_OK);
        n--;
    }
    return true;
}

/* --- looking --------------------------------------------------------------------------------- */

static const struct tg_resource_claim *claim_at(struct bench *bench, size_t i)
{
    const struct tg_snapshot *s = tg_cluster_nth(bench->cluster, TG_VIEW_CLAIM, i);

    return s == NULL ? NULL : (const void *)s->object;
}

size_t bench_allocated(struct bench *bench)
{
    const struct tg_resource_claim *claim;
    size_t n = 0;

    for (size_t i = 0; (claim = claim_at(bench, i)) != NULL; i++)
        n += tg_claim_allocated(claim);
    return n;
}

size_t bench_ours(struct bench *bench)
{
    const struct tg_resource_claim *claim;
    struct tg_plan_marker marker;
    size_t n = 0;

    for (size_t i = 0; (claim = claim_at(bench, i)) != NULL; i++)
        n += tg_claim_marker(claim, bench->arena, &marker);
    return n;
}

static size_t count_pods(struct bench *bench, bool (*counts)(const struct tg_pod *pod))
{
    const struct tg_snapshot *s;
    size_t n = 0;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_POD, i)) != NULL; i++) {
        const struct tg_pod *pod = (const void *)s->object;

        if (pod->metadata->deletion_timestamp == NULL && !tg_pod_finished(pod))
            n += counts(pod);
    }
    return n;
}

static bool is_gated(const struct tg_pod *pod)
{
    return tg_pod_has_gate(pod, TG_GATE);
}

static bool is_bound(const struct tg_pod *pod)
{
    return pod->spec->node_name != NULL;
}

size_t bench_gated(struct bench *bench)
{
    return count_pods(bench, is_gated);
}

size_t bench_bound(struct bench *bench)
{
    return count_pods(bench, is_bound);
}

const char *bench_phase(struct bench *bench, const char *gang)
{
    const struct tg_snapshot *s = tg_cluster_get(bench->cluster, TG_VIEW_GANG, NS, gang);
    const struct tg_gang *object;

    if (s == NULL)
        return NULL;
    object = (const void *)s->object;
    return object->status == NULL ? "" : tg_or(object->status->phase, "");
}

const char *bench_told(struct bench *bench, const char *unit)
{
    return tg_or(tg_map_get(bench->told, unit), "");
}

const char *bench_trace(struct bench *bench)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT((size_t)1024 * 1024);

    for (size_t i = 0; i < bench->trace.n; i++)
        tg_buf_printf(&buf, "%s%s", i > 0 ? "; " : "", bench->trace.items[i]);
    return keep(bench, tg_buf_str(&buf));
}

/* Piece by piece: cmocka loses messages that are long. */
void bench_fail(struct bench *bench, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < bench->trace.n; i++)
        print_error("%s%s", i > 0 ? "; " : "", bench->trace.items[i]);
    print_error("\n");
    for (struct tg_map_entry *e = tg_map_first(bench->told); e != NULL; e = tg_map_next(e))
        print_error("%s: %s\n", tg_map_key(e), (const char *)tg_map_value(e));
    fail_msg("%s", text);
    abort();
}

const char *bench_dump(struct bench *bench)
{
    static const enum tg_view_kind kinds[] = {TG_VIEW_POD, TG_VIEW_CLAIM, TG_VIEW_GANG};
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT((size_t)8 * 1024 * 1024);

    for (size_t k = 0; k < TG_ARRAY_SIZE(kinds); k++) {
        const struct tg_snapshot *s;

        for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, kinds[k], i)) != NULL; i++)
            tg_buf_printf(&buf, "%s\n", s->text);
    }
    return keep(bench, tg_buf_str(&buf));
}
