/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/claims.h"

#include <stdlib.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "kubelet-plugin/claim_check.h"

/* What one claim of a batch may take: the largest claim that the API server stores has some 100
 * KiB. */
#define CLAIM_BUDGET ((size_t)2 << 20)

struct item {
    struct tg_claim_batch *batch;
    struct tg_kubelet_claim claim;
    struct tg_arena *arena;
    void *reading; /* handle of the source */
    bool working;  /* the device worker has it */
    bool waiting;  /* another claim holds its devices; tried again when one is released */
    bool tried;    /* waited before: the timer runs */
    bool answered;
    struct tg_timer patience;
    struct tg_device_job job;
};

struct tg_claim_batch {
    struct tg_claims *claims;
    struct tg_claim_batch *prev, *next;
    struct tg_arena *arena; /* of the request's strings */
    bool prepare;
    tg_claims_done *done; /* NULL: abandoned */
    void *data;
    struct tg_deferred finish;
    struct tg_timer deadline;
    size_t pending; /* items without an answer */
    struct item *items;
    struct tg_kubelet_answer *answers;
    size_t n;
    int64_t began; /* monotonic */
};

enum { DURATION, IN_FLIGHT, WAITING, N_METRICS };

static const struct tg_metric_definition metric_table[N_METRICS] = {
    [DURATION] = {.name = "tangram_plugin_claim_duration_seconds",
                  .help =
                      "Time from a call of the kubelet to the answer for one claim, by operation "
                      "and outcome (ok or a code of gRPC).",
                  .kind = TG_METRIC_HISTOGRAM,
                  .labels = {"operation", "outcome"},
                  .bounds = tg_metric_latencies,
                  .n_bounds = TG_METRIC_LATENCIES},
    [IN_FLIGHT] = {.name = "tangram_plugin_claims_in_flight",
                   .help = "Claims for which the kubelet waits for an answer.",
                   .kind = TG_METRIC_GAUGE,
                   .labels = {"operation"}},
    [WAITING] = {.name = "tangram_plugin_claims_waiting",
                 .help = "Claims to be prepared whose devices another claim still holds.",
                 .kind = TG_METRIC_GAUGE},
};

struct tg_claims {
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    const struct tg_claim_source *source;
    struct tg_claim_batch *batches;
    int64_t patience;         /* how long a prepare waits for another claim's devices */
    int64_t deadline;         /* for the answer to a batch; 0: none */
    void (*idle)(void *data); /* NULL: nobody waits for that */
    void *idle_data;
    void (*asked)(void *data, const char *uid); /* NULL: nobody wants to know */
    void *asked_data;
    struct tg_metrics *metrics; /* NULL: nothing is measured */
    struct tg_metric *metric[N_METRICS];
};

static const char *operation_of(const struct tg_claim_batch *batch)
{
    return batch->prepare ? "prepare" : "unprepare";
}

static void count_answer(const struct item *item, const struct tg_error *err)
{
    const struct tg_claim_batch *batch = item->batch;
    const char *outcome = err == NULL ? "ok" : tg_code_name(err->code);
    int64_t took = tg_now_monotonic(tg_clock_system()) - batch->began;

    tg_metric_observe(batch->claims->metric[DURATION], TG_LABELS(operation_of(batch), outcome),
                      (double)took / (double)TG_SECOND);
}

static void batch_free(struct tg_claim_batch *batch)
{
    struct tg_claims *claims = batch->claims;

    if (batch->prev != NULL)
        batch->prev->next = batch->next;
    else
        claims->batches = batch->next;
    if (batch->next != NULL)
        batch->next->prev = batch->prev;
    tg_defer_cancel(claims->loop, &batch->finish);
    tg_timer_stop(&batch->deadline);
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->items[i].reading != NULL)
            claims->source->cancel(claims->source->data, batch->items[i].reading);
        tg_timer_stop(&batch->items[i].patience);
        tg_arena_free(batch->items[i].arena);
    }
    free(batch->items);
    free(batch->answers);
    tg_arena_free(batch->arena);
    free(batch);
    if (claims->batches == NULL && claims->idle != NULL)
        claims->idle(claims->idle_data);
}

static void on_finish(struct tg_deferred *deferred)
{
    struct tg_claim_batch *batch = deferred->data;

    if (batch->done != NULL)
        batch->done(batch->data, batch->answers, batch->n);
    batch_free(batch);
}

/* err NULL: success. */
static void answer(struct item *item, const struct tg_error *err)
{
    struct tg_claim_batch *batch = item->batch;
    struct tg_kubelet_answer *to = &batch->answers[item - batch->items];

    tg_timer_stop(&item->patience);
    count_answer(item, err);
    item->answered = true;
    if (err != NULL)
        to->error = tg_arena_printf(batch->arena, "%s", err->message);
    to->devices = item->job.devices;
    to->n = item->job.n_devices;
    if (--batch->pending == 0)
        tg_defer(batch->claims->loop, &batch->finish);
}

static void fail(struct item *item, struct tg_error *err)
{
    tg_error_wrap(err, "claim %s/%s", item->claim.namespace_, item->claim.name);
    answer(item, err);
}

static void give_up_waiting(struct tg_timer *timer)
{
    struct item *item = timer->data;

    if (!item->waiting)
        return; /* it is being tried once more, and that answer counts */
    item->waiting = false;
    fail(item, &item->job.err);
}

/* Another claim holds the devices, whose pods have ended or are about to. The kubelet comes back
 * only after a minute or more, so the answer waits a little for that claim to be released. */
static bool may_wait(const struct item *item)
{
    return item->batch->prepare && item->batch->done != NULL && item->batch->claims->patience > 0 &&
           item->job.err.code == TG_FAILED_PRECONDITION && item->job.err.retry &&
           (!item->tried || item->patience.active);
}

static void wait_for_release(struct item *item)
{
    item->waiting = true;
    if (item->tried)
        return;
    item->tried = true;
    item->patience.callback = give_up_waiting;
    item->patience.data = item;
    tg_timer_start(item->batch->claims->loop, &item->patience, item->batch->claims->patience);
}

static void begin(struct item *item);

/* Something was released: those who wait try again, from the beginning. */
static void try_waiting(struct tg_claims *claims)
{
    for (struct tg_claim_batch *batch = claims->batches; batch != NULL; batch = batch->next)
        for (size_t i = 0; i < batch->n; i++) {
            if (!batch->items[i].waiting)
                continue;
            batch->items[i].waiting = false;
            begin(&batch->items[i]);
        }
}

/* A prepare of that claim that is still being read, or waits: its pod is gone. */
static void give_up_reading(struct tg_claims *claims, const char *uid)
{
    for (struct tg_claim_batch *batch = claims->batches; batch != NULL; batch = batch->next) {
        for (size_t i = 0; i < batch->n; i++) {
            struct item *item = &batch->items[i];
            struct tg_error err;
            if ((item->reading == NULL && !item->waiting) || !tg_streq(item->claim.uid, uid))
                continue;
            if (item->reading != NULL)
                claims->source->cancel(claims->source->data, item->reading);
            item->reading = NULL;
            item->waiting = false;
            tg_error_set(&err, TG_ABORTED, "unprepared while it was being prepared");
            fail(item, &err);
        }
    }
}

static void on_job_done(struct tg_device_job *job)
{
    struct item *item = job->data;
    struct tg_claims *claims = item->batch->claims;
    bool released = !item->batch->prepare && job->err.code == TG_OK;
    const char *uid =
        item->claim.uid; /* lives as long as the batch, which ends later, in the pump */

    item->working = false;
    if (may_wait(item))
        wait_for_release(item);
    else if (job->err.code != TG_OK)
        fail(item, &job->err);
    else
        answer(item, NULL);
    if (!released)
        return;
    /* Its own prepare may have come to wait while the release was on its way. */
    give_up_reading(claims, uid);
    try_waiting(claims);
}

/* The devices hang: what they are given now would wait behind that. */
static bool refuse_stuck(struct item *item)
{
    const struct tg_claims *claims = item->batch->claims;
    int64_t busy = tg_device_worker_busy(claims->devices);
    struct tg_error err;

    if (claims->deadline == 0 || busy < claims->deadline)
        return false;
    tg_error_set(&err, TG_UNAVAILABLE,
                 "the driver's library has not answered for %lld s; the node may need a reboot",
                 (long long)(busy / TG_SECOND));
    fail(item, &err);
    return true;
}

static int check(struct item *item, const char *json, size_t n,
                 const struct tg_allocation_devices **ret, struct tg_error *err)
{
    void *claim;
    int rc = tg_json_decode_new(&tg_resource_claim_type, json, n, item->arena, &claim, err);
    if (rc != 0)
        return rc;
    return tg_claim_check(claim, item->claim.uid, ret, err);
}

static void on_read(void *data, const char *json, size_t n, const struct tg_error *read_error)
{
    struct item *item = data;
    const struct tg_allocation_devices *allocated = NULL;
    struct tg_error err;

    item->reading = NULL;
    if (read_error != NULL) {
        err = *read_error;
        fail(item, &err);
        return;
    }
    if (check(item, json, n, &allocated, &err) != 0) {
        fail(item, &err);
        return;
    }
    if (refuse_stuck(item))
        return;
    item->working = true;
    item->job.allocation = allocated;
    tg_device_worker_prepare(item->batch->claims->devices, &item->job);
}

static void begin(struct item *item)
{
    struct tg_claims *claims = item->batch->claims;

    tg_arena_reset(item->arena); /* of what an earlier try read */
    if (item->batch->prepare) {
        item->reading = claims->source->get(claims->source->data, item->claim.namespace_,
                                            item->claim.name, on_read, item);
        return;
    }
    give_up_reading(claims, item->claim.uid);
    if (refuse_stuck(item))
        return;
    item->working = true;
    tg_device_worker_release(claims->devices, &item->job);
}

/* The kubelet will not wait longer. */
static void on_deadline(struct tg_timer *timer)
{
    struct tg_claim_batch *batch = timer->data;
    tg_claims_done *done = batch->done;

    if (done == NULL || batch->pending == 0)
        return;
    for (size_t i = 0; i < batch->n; i++) {
        const struct item *item = &batch->items[i];
        if (item->answered)
            continue;
        batch->answers[i].error = tg_arena_printf(
            batch->arena, "claim %s/%s: no answer after %lld s from %s; it goes on, ask again",
            item->claim.namespace_, item->claim.name,
            (long long)(batch->claims->deadline / TG_SECOND),
            item->working ? "the devices" : "the API server");
    }
    done(batch->data, batch->answers, batch->n);
    tg_claims_abandon(batch);
}

static struct tg_claim_batch *batch_new(struct tg_claims *claims,
                                        const struct tg_kubelet_claims *request, bool prepare,
                                        tg_claims_done *done, void *data)
{
    struct tg_claim_batch *batch = tg_xcalloc(1, sizeof(*batch));

    batch->claims = claims;
    batch->arena = tg_arena_new(TG_ARENA_UNLIMITED); /* as large as the request, which is bounded */
    batch->prepare = prepare;
    batch->done = done;
    batch->data = data;
    batch->finish = (struct tg_deferred){.callback = on_finish, .data = batch};
    batch->n = batch->pending = request->n;
    batch->began = tg_now_monotonic(tg_clock_system());
    batch->items = tg_xcalloc(request->n, sizeof(*batch->items));
    batch->answers = tg_xcalloc(request->n, sizeof(*batch->answers));
    batch->next = claims->batches;
    if (batch->next != NULL)
        batch->next->prev = batch;
    claims->batches = batch;
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[i];
        item->batch = batch;
        item->claim = (struct tg_kubelet_claim){
            .namespace_ = tg_arena_strdup(batch->arena, request->items[i].namespace_),
            .uid = tg_arena_strdup(batch->arena, request->items[i].uid),
            .name = tg_arena_strdup(batch->arena, request->items[i].name),
        };
        item->arena = tg_arena_new(CLAIM_BUDGET);
        item->job = (struct tg_device_job){
            .done = on_job_done,
            .data = item,
            .arena = item->arena,
            .uid = item->claim.uid,
            .namespace_ = item->claim.namespace_,
            .name = item->claim.name,
        };
        batch->answers[i].uid = item->claim.uid;
    }
    batch->deadline = (struct tg_timer){.callback = on_deadline, .data = batch};
    if (claims->deadline > 0)
        tg_timer_start(claims->loop, &batch->deadline, claims->deadline);
    for (size_t i = 0; i < batch->n && claims->asked != NULL; i++)
        claims->asked(claims->asked_data, batch->items[i].claim.uid);
    for (size_t i = 0; i < batch->n; i++)
        begin(&batch->items[i]);
    if (batch->n == 0)
        tg_defer(claims->loop, &batch->finish);
    return batch;
}

struct tg_claim_batch *tg_claims_prepare(struct tg_claims *claims,
                                         const struct tg_kubelet_claims *request,
                                         tg_claims_done *done, void *data)
{
    return batch_new(claims, request, true, done, data);
}

struct tg_claim_batch *tg_claims_unprepare(struct tg_claims *claims,
                                           const struct tg_kubelet_claims *request,
                                           tg_claims_done *done, void *data)
{
    return batch_new(claims, request, false, done, data);
}

void tg_claims_abandon(struct tg_claim_batch *batch)
{
    struct tg_claims *claims = batch->claims;
    bool working = false;

    batch->done = NULL;
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[i];
        working = working || item->working;
        if (item->reading == NULL && !item->waiting)
            continue;
        if (item->reading != NULL)
            claims->source->cancel(claims->source->data, item->reading);
        item->reading = NULL;
        item->waiting = false;
        batch->pending--;
    }
    /* The memory is the device worker's as long as it works on an item of the batch. */
    if (!working)
        batch_free(batch);
}

struct tg_claims *tg_claims_new(struct tg_loop *loop, struct tg_device_worker *devices,
                                const struct tg_claim_source *source)
{
    struct tg_claims *claims = tg_xcalloc(1, sizeof(*claims));

    claims->loop = loop;
    claims->devices = devices;
    claims->source = source;
    return claims;
}

void tg_claims_wait_for_devices(struct tg_claims *claims, int64_t patience)
{
    claims->patience = patience;
}

void tg_claims_limit(struct tg_claims *claims, int64_t deadline)
{
    claims->deadline = deadline;
}

static void collect(void *data)
{
    const struct tg_claims *claims = data;
    size_t in_flight[2] = {0}, waiting = 0;

    for (const struct tg_claim_batch *b = claims->batches; b != NULL; b = b->next) {
        in_flight[b->prepare] += b->done == NULL ? 0 : b->pending;
        for (size_t i = 0; i < b->n; i++)
            waiting += b->items[i].waiting;
    }
    tg_metric_set(claims->metric[IN_FLIGHT], TG_LABELS("prepare"), (double)in_flight[true]);
    tg_metric_set(claims->metric[IN_FLIGHT], TG_LABELS("unprepare"), (double)in_flight[false]);
    tg_metric_set(claims->metric[WAITING], NULL, (double)waiting);
}

void tg_claims_measure(struct tg_claims *claims, struct tg_metrics *metrics)
{
    claims->metrics = metrics;
    tg_metrics_add(metrics, metric_table, N_METRICS, claims->metric);
    tg_metrics_on_collect(metrics, collect, claims);
}

void tg_claims_free(struct tg_claims *claims)
{
    if (claims == NULL)
        return;
    tg_metrics_forget(claims->metrics, claims);
    claims->idle = NULL;
    while (claims->batches != NULL)
        batch_free(claims->batches);
    free(claims);
}

void tg_claims_when_asked(struct tg_claims *claims, void (*asked)(void *data, const char *uid),
                          void *data)
{
    claims->asked = asked;
    claims->asked_data = data;
}

void tg_claims_when_idle(struct tg_claims *claims, void (*idle)(void *data), void *data)
{
    claims->idle = idle;
    claims->idle_data = data;
    if (claims->batches == NULL)
        idle(data);
}
