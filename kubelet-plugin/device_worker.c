/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/device_worker.h"

#include <stdlib.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"

#define START_RETRY (1 * TG_SECOND)

enum { JOBS, JOB_SECONDS, N_METRICS };

static const struct tg_metric_definition metric_table[N_METRICS] = {
    [JOBS] = {.name = "tangram_plugin_device_jobs",
              .help = "Jobs for the devices that wait or run.",
              .kind = TG_METRIC_GAUGE},
    [JOB_SECONDS] = {.name = "tangram_plugin_device_job_seconds",
                     .help =
                         "How long the job that runs has been running, 0 if none does: a device "
                         "library that hangs shows here.",
                     .kind = TG_METRIC_GAUGE},
};

struct tg_device_worker {
    struct tg_loop *loop;
    struct tg_worker *thread;
    struct tg_device_worker_config config;
    struct tg_timer retry;
    bool waiting; /* for another instance; told once */
    size_t jobs;  /* submitted and not done, the start included */
    int64_t job_began;
    struct tg_metrics *metrics; /* NULL: nothing is measured */
    struct tg_metric *metric[N_METRICS];
    /* Of the thread, or of the loop while no job runs. */
    struct tg_provider *provider;
    struct tg_device_set devices;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
    struct tg_error start_error;
};

/* --- the queue --- */

static int64_t now(void)
{
    return tg_now_monotonic(tg_clock_system());
}

static void enqueue(struct tg_device_worker *worker, void (*run)(void *data),
                    void (*done)(void *data), void *data)
{
    if (worker->jobs++ == 0)
        worker->job_began = now();
    tg_worker_submit(worker->thread, run, done, data);
}

/* Jobs run one after the other: the next one begins now. */
static void dequeue(struct tg_device_worker *worker)
{
    worker->jobs--;
    worker->job_began = now();
}

static void collect(void *data)
{
    const struct tg_device_worker *worker = data;
    int64_t runs = worker->jobs == 0 ? 0 : now() - worker->job_began;

    tg_metric_set(worker->metric[JOBS], NULL, (double)worker->jobs);
    tg_metric_set(worker->metric[JOB_SECONDS], NULL, (double)runs / (double)TG_SECOND);
}

void tg_device_worker_measure(struct tg_device_worker *worker, struct tg_metrics *metrics)
{
    worker->metrics = metrics;
    tg_metrics_add(metrics, metric_table, N_METRICS, worker->metric);
    tg_metrics_on_collect(metrics, collect, worker);
}

/* --- start --- */

static int start_devices(struct tg_device_worker *worker, struct tg_error *err)
{
    const struct tg_device_worker_config *config = &worker->config;
    int rc;

    if (worker->provider == NULL &&
        (rc = config->new_provider(config->provider, &config->provider_options, &worker->provider,
                                   err)) != 0)
        return rc;
    tg_device_set_done(&worker->devices);
    worker->devices = (struct tg_device_set){0};
    if ((rc = tg_provider_list(worker->provider, &worker->devices, err)) != 0)
        return rc;
    if ((rc = tg_device_set_validate(&worker->devices, err)) != 0)
        return rc;
    return tg_prepare_open(&config->prepare_options, &worker->devices, &worker->prepare,
                           &worker->report, err);
}

static void run_start(void *data)
{
    struct tg_device_worker *worker = data;
    worker->start_error = TG_ERROR_INIT;
    start_devices(worker, &worker->start_error);
}

static void start_done(void *data)
{
    struct tg_device_worker *worker = data;
    const struct tg_error *err = &worker->start_error;

    dequeue(worker);
    if (err->code == TG_UNAVAILABLE) {
        if (!worker->waiting)
            TG_WARN("Devices are not available yet, trying again every second",
                    TG_S("problem", err->message));
        worker->waiting = true;
        tg_timer_start(worker->loop, &worker->retry, START_RETRY);
        return;
    }
    worker->config.started(worker->config.data, &worker->report, err->code == TG_OK ? NULL : err);
}

static void on_retry(struct tg_timer *timer)
{
    enqueue(timer->data, run_start, start_done, timer->data);
}

struct tg_device_worker *tg_device_worker_new(struct tg_loop *loop,
                                              const struct tg_device_worker_config *config)
{
    struct tg_device_worker *worker = tg_xcalloc(1, sizeof(*worker));

    worker->loop = loop;
    worker->config = *config;
    if (worker->config.new_provider == NULL)
        worker->config.new_provider = tg_provider_new;
    worker->retry = (struct tg_timer){.callback = on_retry, .data = worker};
    worker->thread = tg_worker_new(loop);
    enqueue(worker, run_start, start_done, worker);
    return worker;
}

void tg_device_worker_free(struct tg_device_worker *worker)
{
    if (worker == NULL)
        return;
    tg_metrics_forget(worker->metrics, worker);
    tg_timer_stop(&worker->retry);
    tg_worker_free(worker->thread);
    tg_prepare_close(worker->prepare);
    tg_device_set_done(&worker->devices);
    tg_provider_free(worker->provider);
    free(worker);
}

const struct tg_device_set *tg_device_worker_devices(const struct tg_device_worker *worker)
{
    return &worker->devices;
}

/* --- jobs --- */

static void job_done(void *data)
{
    struct tg_device_job *job = data;

    dequeue(job->worker);
    job->done(job);
}

static int no_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the answer needs more memory than a call may take");
}

static int copy_device(const struct tg_prepared_device *from, struct tg_arena *arena,
                       struct tg_kubelet_device *to)
{
    const char *const strings[] = {from->request, from->pool, from->device, from->cdi_id,
                                   from->share_id};
    const char **const copies[] = {&to->request, &to->pool, &to->device, &to->cdi_id,
                                   &to->share_id};

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        if (strings[i] == NULL)
            continue;
        *copies[i] = tg_arena_strdup(arena, strings[i]);
        if (*copies[i] == NULL)
            return -1;
    }
    return 0;
}

static void run_prepare(void *data)
{
    struct tg_device_job *job = data;
    const struct tg_prepared_claim *claim;

    if (tg_prepare_claim(job->worker->prepare, job->uid, job->namespace_, job->name, job->results,
                         job->n, &claim, &job->err) != 0)
        return;
    job->devices = tg_arena_alloc_array(job->arena, claim->n, sizeof(*job->devices));
    for (size_t i = 0; job->devices != NULL && i < claim->n; i++)
        if (copy_device(&claim->devices[i], job->arena, &job->devices[i]) != 0)
            job->devices = NULL;
    if (job->devices == NULL)
        no_memory(&job->err);
    else
        job->n_devices = claim->n;
}

static void run_release(void *data)
{
    struct tg_device_job *job = data;
    tg_prepare_release(job->worker->prepare, job->uid, &job->err);
}

static void run_check(void *data)
{
    struct tg_device_job *job = data;
    const struct tg_device_set *known = &job->worker->devices;
    struct tg_device_set found = {0};
    struct tg_error problem;
    int rc = tg_provider_list(job->worker->provider, &found, &problem);

    job->health = tg_arena_alloc_array(job->arena, known->devices.n, sizeof(*job->health));
    const char *why = rc == 0 ? "not found any more" : tg_arena_strdup(job->arena, problem.message);
    if (job->health == NULL || why == NULL) {
        no_memory(&job->err);
        tg_device_set_done(&found);
        return;
    }
    job->n_health = known->devices.n;
    for (size_t i = 0; i < known->devices.n; i++) {
        const char *name = known->devices.items[i].device.name;
        bool there = rc == 0 && tg_device_set_find(&found, name) != NULL;
        job->health[i] = (struct tg_kubelet_device_health){
            .pool = job->worker->config.prepare_options.pool,
            .device = name,
            .health = there     ? TG_KUBELET_HEALTHY
                      : rc == 0 ? TG_KUBELET_UNHEALTHY
                                : TG_KUBELET_HEALTH_UNKNOWN,
            .message = there ? NULL : why,
        };
    }
    tg_device_set_done(&found);
}

static void submit(struct tg_device_worker *worker, void (*run)(void *data),
                   struct tg_device_job *job)
{
    job->worker = worker;
    job->err = TG_ERROR_INIT;
    enqueue(worker, run, job_done, job);
}

void tg_device_worker_prepare(struct tg_device_worker *worker, struct tg_device_job *job)
{
    submit(worker, run_prepare, job);
}

void tg_device_worker_release(struct tg_device_worker *worker, struct tg_device_job *job)
{
    submit(worker, run_release, job);
}

void tg_device_worker_check(struct tg_device_worker *worker, struct tg_device_job *job)
{
    submit(worker, run_check, job);
}
