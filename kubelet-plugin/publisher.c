/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/publisher.h"

#include <stdlib.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

/* A node's slices in dynamic MIG with 8 cards have at most 200 KB of JSON. */
#define PLAN_BUDGET ((size_t)16 << 20)
#define FIRST_PAUSE (200 * TG_MILLISECOND)
#define LONGEST_PAUSE (60 * TG_SECOND)

enum { WRITES_WAITING, WRITE_FAILURES, N_METRICS };

static const struct tg_metric_definition metric_table[N_METRICS] = {
    [WRITES_WAITING] = {.name = "tangram_plugin_slice_writes_waiting",
                        .help = "Writes of ResourceSlices that are to be done, that under way "
                                "included.",
                        .kind = TG_METRIC_GAUGE},
    [WRITE_FAILURES] = {.name = "tangram_plugin_publish_failures_total",
                        .help = "Attempts to publish the ResourceSlices that failed.",
                        .kind = TG_METRIC_COUNTER},
};

struct tg_publisher {
    struct tg_loop *loop;
    const struct tg_publisher_api *api;
    struct tg_inventory_owner owner; /* strings are ours */
    char *uid;
    char *blocked;
    const struct tg_device_set *devices; /* NULL: not known yet */
    bool served;                         /* the kubelet has registered the driver */
    struct tg_deferred look;
    struct tg_timer pause;  /* active: look again only when it has passed */
    struct tg_arena *arena; /* of the plan that is carried out */
    struct tg_inventory_plan plan;
    bool running;
    bool stale;  /* the plan that is carried out is for devices of the past */
    size_t done; /* operations of the plan */
    int64_t generation;
    unsigned failures; /* since the last plan that was carried out */
    unsigned rounds;   /* plans carried out since the last time there was nothing to do */
    bool settled;
    struct tg_error problem;    /* of the last attempt; code TG_OK: none */
    struct tg_metrics *metrics; /* NULL: nothing is measured */
    struct tg_metric *metric[N_METRICS];
};

static void look_soon(struct tg_publisher *publisher)
{
    publisher->settled = false;
    if (!publisher->running && !publisher->pause.active)
        tg_defer(publisher->loop, &publisher->look);
}

static void pause_after(struct tg_publisher *publisher, unsigned attempt)
{
    int64_t pause = FIRST_PAUSE;
    while (attempt-- > 1 && pause < LONGEST_PAUSE)
        pause *= 2;
    tg_timer_start(publisher->loop, &publisher->pause,
                   pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE);
}

static void failed(struct tg_publisher *publisher, const struct tg_error *err)
{
    /* The first failure is often a race that the next look settles; those that last are told. */
    if (++publisher->failures > 1)
        TG_ERR(err, "Cannot publish slices, trying on");
    publisher->problem = *err;
    tg_metric_add(publisher->metric[WRITE_FAILURES], NULL, 1);
    pause_after(publisher, publisher->failures);
}

static void run_next(struct tg_publisher *publisher);

static void on_executed(void *data, const struct tg_error *err)
{
    struct tg_publisher *publisher = data;
    const struct tg_inventory_operation *operation = &publisher->plan.items[publisher->done];

    if (err != NULL && operation->action == TG_INVENTORY_DELETE && err->code == TG_NOT_FOUND)
        err = NULL;
    if (err != NULL) {
        struct tg_error wrapped = *err;
        tg_error_wrap(&wrapped, "slice %s", operation->slice->metadata->name);
        publisher->running = publisher->stale = false;
        failed(publisher, &wrapped);
        return;
    }
    publisher->done++;
    if (publisher->stale) {
        publisher->running = publisher->stale = false;
        publisher->generation = publisher->plan.generation;
        look_soon(publisher);
        return;
    }
    run_next(publisher);
}

/* The next operation, or the end of the plan. */
static void run_next(struct tg_publisher *publisher)
{
    static const char *const actions[] = {"delete", "update", "create"};

    if (publisher->done < publisher->plan.n) {
        const struct tg_inventory_operation *operation = &publisher->plan.items[publisher->done];
        TG_INFO("Writing slice", TG_S("action", actions[operation->action]),
                TG_S("slice", operation->slice->metadata->name), TG_S("why", operation->why),
                TG_I("generation", publisher->plan.generation));
        publisher->api->execute(publisher->api->data, operation, on_executed, publisher);
        return;
    }
    publisher->running = false;
    publisher->generation = publisher->plan.generation;
    publisher->problem = TG_ERROR_INIT;
    publisher->failures = 0;
    publisher->rounds++;
    /* Look once more, to see that it is so: after deletions not before their events had time to
     * come. If there is something to do again and again, somebody works against us, or the server
     * does not keep what we write. */
    if (publisher->rounds > 1 || publisher->plan.items[0].action == TG_INVENTORY_DELETE ||
        publisher->plan.items[publisher->plan.n - 1].action == TG_INVENTORY_DELETE)
        pause_after(publisher, publisher->rounds);
    look_soon(publisher);
}

/* The plan's slices partly belong to what was observed, which changes while the plan is carried
 * out. */
static int keep(struct tg_publisher *publisher, struct tg_inventory_operation *operation)
{
    struct tg_arena *arena = publisher->arena;
    struct tg_resource_slice *slice = tg_arena_alloc(arena, sizeof(*slice));
    struct tg_object_meta *meta = tg_arena_alloc(arena, sizeof(*meta));

    if (slice == NULL || meta == NULL)
        return -1;
    *slice = *operation->slice;
    *meta = *slice->metadata;
    slice->metadata = meta;
    const char **const strings[] = {&meta->name, &meta->uid, &meta->resource_version};
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        if (*strings[i] != NULL && (*strings[i] = tg_arena_strdup(arena, *strings[i])) == NULL)
            return -1;
    if (operation->action == TG_INVENTORY_DELETE)
        slice->spec = NULL; /* not needed, and not ours */
    operation->slice = slice;
    return 0;
}

static int make_plan(struct tg_publisher *publisher, const struct tg_resource_slice **observed,
                     size_t n, struct tg_error *err)
{
    struct tg_slice_list desired = {0};
    int rc = 0;

    publisher->owner.node_uid = publisher->uid;
    if (publisher->blocked == NULL)
        rc = tg_inventory_build(&publisher->owner, publisher->devices, publisher->arena, &desired,
                                err);
    if (rc == 0)
        rc = tg_inventory_compare(&publisher->owner, &desired, observed, n, publisher->generation,
                                  publisher->arena, &publisher->plan, err);
    for (size_t i = 0; rc == 0 && i < publisher->plan.n; i++)
        if (keep(publisher, &publisher->plan.items[i]) != 0)
            rc = tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for the node's slices");
    return rc;
}

/* A pod that comes to the node while the kubelet does not know the driver waits there for more than
 * a minute, until the kubelet looks at it again. Taking back what others publish waits for nobody.
 */
static bool may_look(const struct tg_publisher *publisher)
{
    return publisher->served || publisher->blocked != NULL;
}

static void on_look(struct tg_deferred *deferred)
{
    struct tg_publisher *publisher = deferred->data;
    const struct tg_resource_slice **observed;
    struct tg_error err;
    size_t n;
    int rc;

    if (publisher->running || publisher->pause.active)
        return;
    tg_arena_reset(publisher->arena);
    publisher->plan = (struct tg_inventory_plan){0};
    /* Without the Node there is nothing that our slices could belong to. */
    if (publisher->devices == NULL || publisher->uid == NULL || !may_look(publisher))
        return;
    rc = publisher->api->observe(publisher->api->data, publisher->arena, &observed, &n, &err);
    if (rc == TG_PUBLISHER_WAIT)
        return;
    if (rc < 0 || make_plan(publisher, observed, n, &err) < 0) {
        failed(publisher, &err);
        return;
    }
    if (publisher->plan.n == 0) {
        if (publisher->rounds > 0)
            TG_INFO(publisher->blocked == NULL ? "Slices are published" : "Slices are removed",
                    TG_I("slices", n), TG_I("generation", publisher->plan.generation));
        publisher->rounds = publisher->failures = 0;
        publisher->settled = true;
        publisher->problem = TG_ERROR_INIT;
        tg_arena_reset(publisher->arena);
        return;
    }
    publisher->done = 0;
    publisher->running = true;
    run_next(publisher);
}

static void on_pause(struct tg_timer *timer)
{
    look_soon(timer->data);
}

struct tg_publisher *tg_publisher_new(struct tg_loop *loop, const char *driver,
                                      const char *node_name, const struct tg_publisher_api *api)
{
    struct tg_publisher *publisher = tg_xcalloc(1, sizeof(*publisher));

    publisher->loop = loop;
    publisher->api = api;
    publisher->owner.driver = tg_xstrdup(driver);
    publisher->owner.node_name = tg_xstrdup(node_name);
    publisher->look = (struct tg_deferred){.callback = on_look, .data = publisher};
    publisher->pause = (struct tg_timer){.callback = on_pause, .data = publisher};
    publisher->arena = tg_arena_new(PLAN_BUDGET);
    return publisher;
}

static void collect(void *data)
{
    const struct tg_publisher *publisher = data;
    size_t waiting = publisher->running ? publisher->plan.n - publisher->done : 0;

    tg_metric_set(publisher->metric[WRITES_WAITING], NULL, (double)waiting);
}

void tg_publisher_measure(struct tg_publisher *publisher, struct tg_metrics *metrics)
{
    publisher->metrics = metrics;
    tg_metrics_add(metrics, metric_table, N_METRICS, publisher->metric);
    tg_metrics_on_collect(metrics, collect, publisher);
}

void tg_publisher_free(struct tg_publisher *publisher)
{
    if (publisher == NULL)
        return;
    tg_metrics_forget(publisher->metrics, publisher);
    tg_defer_cancel(publisher->loop, &publisher->look);
    tg_timer_stop(&publisher->pause);
    tg_arena_free(publisher->arena);
    free((char *)(uintptr_t)publisher->owner.driver);
    free((char *)(uintptr_t)publisher->owner.node_name);
    free(publisher->uid);
    free(publisher->blocked);
    free(publisher);
}

void tg_publisher_set_devices(struct tg_publisher *publisher, const struct tg_device_set *devices,
                              enum tg_slice_layout layout)
{
    /* What is left of a plan belongs to the old ones. */
    publisher->stale = publisher->running;
    publisher->devices = devices;
    publisher->owner.layout = layout;
    look_soon(publisher);
}

void tg_publisher_set_served(struct tg_publisher *publisher)
{
    if (publisher->served)
        return;
    publisher->served = true;
    look_soon(publisher);
}

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

void tg_publisher_set_node(struct tg_publisher *publisher, const char *uid, const char *blocked)
{
    if (tg_streq(publisher->uid, uid) && tg_streq(publisher->blocked, blocked))
        return;
    free(publisher->uid);
    free(publisher->blocked);
    publisher->uid = copy(uid);
    publisher->blocked = copy(blocked);
    look_soon(publisher);
}

void tg_publisher_changed(struct tg_publisher *publisher)
{
    look_soon(publisher);
}

int tg_publisher_status(const struct tg_publisher *publisher, struct tg_error *err)
{
    if (publisher->blocked != NULL)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "%s", publisher->blocked);
    if (publisher->problem.code != TG_OK) {
        if (err != NULL)
            *err = publisher->problem;
        return -(int)publisher->problem.code;
    }
    if (publisher->uid == NULL)
        return tg_error_set(err, TG_UNAVAILABLE, "the Node %s is not known yet",
                            publisher->owner.node_name);
    if (!publisher->served)
        return tg_error_set(err, TG_UNAVAILABLE,
                            "nothing is published before the kubelet has registered the driver");
    if (!publisher->settled)
        return tg_error_set(err, TG_UNAVAILABLE, "slices are not published yet");
    return 0;
}
