/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/device_worker.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/inventory/inventory.h"
#include "driver/partition/foreign.h"
#include "driver/provider/dropins.h"

#define START_RETRY (1 * TG_SECOND)
#define LIST_AGAIN (30 * TG_SECOND)
#define LIST_ANXIOUSLY (5 * TG_SECOND) /* the driver is away, or a claim waits for its hardware */

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
    struct tg_device_set *devices; /* of the loop */
    bool listed;                   /* at least once */
    bool listing, list_wanted;     /* again, after that */
    struct tg_timer again;
    char *told; /* of what keeps devices from being listed */
    /* Of the thread, or of the loop while no job runs. */
    struct tg_provider *provider;
    struct tg_dropins *dropins;
    struct tg_device_set *current; /* the loop's, or what it will be when it hears of it */
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
    struct tg_error start_error;
    struct tg_error list_error; /* of the last listing */
    bool settled;               /* the last listing had work to do, of which `report` tells */
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

int64_t tg_device_worker_busy(const struct tg_device_worker *worker)
{
    return worker->jobs == 0 ? 0 : now() - worker->job_began;
}

static void collect(void *data)
{
    const struct tg_device_worker *worker = data;

    tg_metric_set(worker->metric[JOBS], NULL, (double)worker->jobs);
    tg_metric_set(worker->metric[JOB_SECONDS], NULL,
                  (double)tg_device_worker_busy(worker) / (double)TG_SECOND);
}

void tg_device_worker_measure(struct tg_device_worker *worker, struct tg_metrics *metrics)
{
    worker->metrics = metrics;
    tg_metrics_add(metrics, metric_table, N_METRICS, worker->metric);
    tg_metrics_on_collect(metrics, collect, worker);
}

/* --- start --- */

static void set_free(struct tg_device_set *set)
{
    if (set == NULL)
        return;
    tg_device_set_done(set);
    free(set);
}

static int list(struct tg_device_worker *worker, struct tg_device_set **ret, struct tg_error *err)
{
    struct tg_device_set *set = tg_xcalloc(1, sizeof(*set));
    int rc = tg_provider_list(worker->provider, set, err);
    if (rc == 0)
        rc = tg_dropins_apply(worker->dropins, set, err);
    if (rc == 0)
        rc = tg_device_set_validate(set, err);
    if (rc != 0) {
        set_free(set);
        return rc;
    }
    *ret = set;
    return 0;
}

static bool is_hardware(const struct tg_device_worker *worker)
{
    return worker->provider->ops->look != NULL;
}

static bool owns(void *data, const struct tg_partition *place)
{
    return tg_prepare_owns(data, place);
}

/* The first listing. Hardware that is not there yet is no reason not to start. */
static int list_first(struct tg_device_worker *worker, struct tg_error *err)
{
    worker->list_error = TG_ERROR_INIT;
    int rc = list(worker, &worker->current, &worker->list_error);
    if (rc == 0 || (rc == -TG_UNAVAILABLE && is_hardware(worker))) {
        if (rc != 0)
            worker->current = tg_xcalloc(1, sizeof(*worker->current));
        return 0;
    }
    *err = worker->list_error;
    return rc;
}

/* What was found before the recovery may be gone since, and must not pass for somebody else's. */
static void list_recovered(struct tg_device_worker *worker)
{
    struct tg_device_set *set = NULL;
    if (worker->current->counter_sets.n == 0 || list(worker, &set, &worker->list_error) != 0)
        return;
    tg_prepare_set_devices(worker->prepare, set);
    set_free(worker->current);
    worker->current = set;
}

static int start_devices(struct tg_device_worker *worker, struct tg_error *err)
{
    const struct tg_device_worker_config *config = &worker->config;
    struct tg_prepare_options options = config->prepare_options;
    int rc;

    if (worker->provider == NULL &&
        (rc = config->new_provider(config->provider, &config->provider_options, &worker->provider,
                                   err)) != 0)
        return rc;
    set_free(TG_TAKE(worker->current));
    if ((rc = list_first(worker, err)) != 0)
        return rc;
    options.provider = worker->provider;
    if ((rc = tg_prepare_open(&options, worker->current, &worker->prepare, &worker->report, err)) !=
        0)
        return rc;
    list_recovered(worker);
    return tg_foreign_instances(worker->current, owns, worker->prepare, err);
}

static void run_start(void *data)
{
    struct tg_device_worker *worker = data;
    worker->start_error = TG_ERROR_INIT;
    start_devices(worker, &worker->start_error);
}

static void tell_problems(struct tg_device_worker *worker)
{
    for (size_t i = 0; i < worker->devices->problems.n; i++)
        TG_WARN("Something about the devices needs attention",
                TG_S("problem", worker->devices->problems.items[i]));
}

/* The listing failed, or works again: told when that changes. */
static void tell_listing(struct tg_device_worker *worker)
{
    const char *problem = worker->list_error.code == TG_OK ? NULL : worker->list_error.message;

    worker->listed = worker->listed || problem == NULL;
    if (tg_streq(worker->told, problem))
        return;
    if (problem != NULL)
        TG_WARN("Devices cannot be listed, trying on", TG_S("problem", problem));
    else
        TG_INFO("Devices can be listed again");
    free(worker->told);
    worker->told = problem == NULL ? NULL : tg_xstrdup(problem);
}

static void list_later(struct tg_device_worker *worker)
{
    bool anxious = worker->list_error.code != TG_OK || worker->report.missing > 0 ||
                   worker->report.unfinished > 0;

    if (is_hardware(worker))
        tg_timer_start(worker->loop, &worker->again, anxious ? worker->config.anxious : LIST_AGAIN);
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
    if (err->code == TG_OK) {
        worker->devices = worker->current;
        tell_listing(worker);
        tell_problems(worker);
        list_later(worker);
    }
    worker->config.started(worker->config.data, &worker->report, err->code == TG_OK ? NULL : err);
}

/* --- listing again --- */

/* Takes over what was listed, if it is news. */
static int take_over(struct tg_device_worker *worker, struct tg_device_set *set,
                     struct tg_error *err)
{
    int rc = tg_foreign_instances(set, owns, worker->prepare, err);
    if (rc != 0 || (worker->listed && tg_inventory_set_equal(set, worker->current))) {
        set_free(set);
        return rc;
    }
    worker->current = set;
    tg_prepare_set_devices(worker->prepare, set);
    return 0;
}

static void run_list(void *data)
{
    struct tg_device_worker *worker = data;
    const struct tg_device_set *before = worker->current;
    struct tg_device_set *set = NULL;

    worker->list_error = TG_ERROR_INIT;
    worker->settled = false;
    if (list(worker, &set, &worker->list_error) != 0 ||
        take_over(worker, set, &worker->list_error) != 0)
        return;
    if (worker->current == before && !tg_prepare_unsettled(worker->prepare))
        return;
    worker->settled = true;
    (void)tg_prepare_settle(worker->prepare, &worker->report, &worker->list_error);
}

static void tell_settled(const struct tg_device_worker *worker)
{
    const struct tg_prepare_report *report = &worker->report;

    TG_INFO("Claims and devices were compared", TG_I("claims", report->claims),
            TG_I("regenerated", report->regenerated), TG_I("finished", report->finished),
            TG_I("missing", report->missing), TG_I("unfinished", report->unfinished));
}

static void list_now(struct tg_device_worker *worker);

static void list_done(void *data)
{
    struct tg_device_worker *worker = data;
    struct tg_device_set *old = worker->devices;

    dequeue(worker);
    worker->listing = false;
    tell_listing(worker);
    if (worker->settled)
        tell_settled(worker);
    if (worker->current != old) {
        worker->devices = worker->current;
        TG_INFO("Devices have changed", TG_I("devices", worker->devices->devices.n));
        tell_problems(worker);
        if (worker->config.changed != NULL)
            worker->config.changed(worker->config.data);
        set_free(old);
    }
    if (worker->list_wanted)
        list_now(worker);
    else
        list_later(worker);
}

/* One at a time: what it finds is the loop's when it is done. */
static void list_now(struct tg_device_worker *worker)
{
    tg_timer_stop(&worker->again);
    worker->list_wanted = false;
    worker->listing = true;
    enqueue(worker, run_list, list_done, worker);
}

static void on_again(struct tg_timer *timer)
{
    list_now(timer->data);
}

void tg_device_worker_list_again(struct tg_device_worker *worker)
{
    if (worker->devices == NULL)
        return;
    if (worker->listing)
        worker->list_wanted = true; /* it may have read already what has changed since */
    else
        list_now(worker);
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
    if (worker->config.anxious == 0)
        worker->config.anxious = LIST_ANXIOUSLY;
    worker->retry = (struct tg_timer){.callback = on_retry, .data = worker};
    worker->again = (struct tg_timer){.callback = on_again, .data = worker};
    worker->dropins = tg_dropins_new(config->attributes_folder, config->provider_options.node_name,
                                     config->prepare_options.driver);
    worker->thread = tg_worker_new(loop);
    enqueue(worker, run_start, start_done, worker);
    return worker;
}

void tg_device_worker_free(struct tg_device_worker *worker)
{
    struct tg_error err;

    if (worker == NULL)
        return;
    tg_metrics_forget(worker->metrics, worker);
    tg_timer_stop(&worker->retry);
    tg_timer_stop(&worker->again);
    tg_worker_free(worker->thread);
    if (tg_prepare_end(worker->prepare, &err) != 0)
        TG_ERR(&err, "Files stay that nobody needs any more");
    if (worker->devices != worker->current)
        set_free(worker->devices);
    set_free(worker->current);
    tg_provider_free(worker->provider);
    tg_dropins_free(worker->dropins);
    free(worker->told);
    free(worker);
}

const struct tg_device_set *tg_device_worker_devices(const struct tg_device_worker *worker)
{
    return worker->devices;
}

int tg_device_worker_status(const struct tg_device_worker *worker, struct tg_error *err)
{
    if (worker->listed)
        return 0;
    return tg_error_set(err, TG_UNAVAILABLE, "%s", tg_or(worker->told, "not listed yet"));
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

    if (tg_prepare_allocation(job->worker->prepare, job->uid, job->namespace_, job->name,
                              job->allocation, &claim, &job->err) != 0)
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

static void run_claims(void *data)
{
    struct tg_device_job *job = data;
    const struct tg_prepare *prepare = job->worker->prepare;
    size_t n = tg_prepare_count(prepare);

    job->n_claims = 0;
    job->claims = tg_arena_alloc_array(job->arena, n, sizeof(*job->claims));
    for (size_t i = 0; job->claims != NULL && i < n; i++) {
        const struct tg_prepared_claim *claim = tg_prepare_at(prepare, i);
        job->claims[job->n_claims++] =
            (struct tg_kubelet_claim){.namespace_ = tg_arena_strdup(job->arena, claim->namespace_),
                                      .uid = tg_arena_strdup(job->arena, claim->uid),
                                      .name = tg_arena_strdup(job->arena, claim->name)};
    }
    if (!tg_arena_exhausted(job->arena))
        return;
    job->n_claims = 0;
    no_memory(&job->err);
}

/* Adds a device to the answer. false: no memory. */
static bool add_health(struct tg_device_job *job, const char *device, enum tg_kubelet_health health,
                       const char *why)
{
    struct tg_kubelet_device_health *to = &job->health[job->n_health];
    *to = (struct tg_kubelet_device_health){
        .pool = job->worker->config.prepare_options.pool,
        .device = tg_arena_strdup(job->arena, device),
        .health = health,
        .message = health == TG_KUBELET_HEALTHY ? NULL : why,
    };
    job->n_health++;
    return to->device != NULL;
}

static bool is_listed(const struct tg_device_job *job, const char *device)
{
    size_t i = 0;
    while (i < job->n_health && !tg_streq(job->health[i].device, device))
        i++;
    return i < job->n_health;
}

/* Devices of prepared claims that are not devices any more: their pods should know. */
static bool add_lost(struct tg_device_job *job, enum tg_kubelet_health health, const char *why)
{
    const struct tg_prepare *prepare = job->worker->prepare;
    bool enough = true;
    for (size_t i = 0; i < tg_prepare_count(prepare); i++) {
        const struct tg_prepared_claim *claim = tg_prepare_at(prepare, i);
        for (size_t k = 0; k < claim->n; k++)
            enough = enough && (is_listed(job, claim->devices[k].device) ||
                                add_health(job, claim->devices[k].device, health, why));
    }
    return enough;
}

static size_t count_held(const struct tg_prepare *prepare)
{
    size_t n = 0;
    for (size_t i = 0; i < tg_prepare_count(prepare); i++)
        n += tg_prepare_at(prepare, i)->n;
    return n;
}

static void run_check(void *data)
{
    struct tg_device_job *job = data;
    const struct tg_device_worker *worker = job->worker;
    const struct tg_device_set *known = worker->current;
    struct tg_device_set found = {0};
    struct tg_error problem;
    int rc = tg_provider_list(worker->provider, &found, &problem);
    enum tg_kubelet_health lost = rc == 0 ? TG_KUBELET_UNHEALTHY : TG_KUBELET_HEALTH_UNKNOWN;
    size_t room = known->devices.n + count_held(worker->prepare);
    const char *why = rc == 0 ? "not found any more" : tg_arena_strdup(job->arena, problem.message);
    bool enough = why != NULL;

    job->n_health = 0;
    job->health = tg_arena_alloc_array(job->arena, room, sizeof(*job->health));
    for (size_t i = 0; enough && job->health != NULL && i < known->devices.n; i++) {
        const char *name = known->devices.items[i].device.name;
        bool there = rc == 0 && tg_device_set_find(&found, name) != NULL;
        enough = add_health(job, name, there ? TG_KUBELET_HEALTHY : lost, why);
    }
    if (!enough || job->health == NULL || !add_lost(job, lost, why))
        no_memory(&job->err);
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

void tg_device_worker_claims(struct tg_device_worker *worker, struct tg_device_job *job)
{
    submit(worker, run_claims, job);
}

void tg_device_worker_check(struct tg_device_worker *worker, struct tg_device_job *job)
{
    submit(worker, run_check, job);
}
