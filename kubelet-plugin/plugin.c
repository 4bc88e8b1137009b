/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/plugin.h"

#include <malloc.h>
#include <stdlib.h>

#include "api/kubelet/health.h"
#include "api/kubernetes/client/client.h"
#include "api/kubernetes/client/events.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/process.h"
#include "api/runtime/base/str.h"
#include "api/runtime/http/http.h"
#include "kubelet-plugin/claim_api.h"
#include "kubelet-plugin/claims.h"
#include "kubelet-plugin/dra_service.h"
#include "kubelet-plugin/folder_watch.h"
#include "kubelet-plugin/foreign_watch.h"
#include "kubelet-plugin/health_stream.h"
#include "kubelet-plugin/layout_probe.h"
#include "kubelet-plugin/node_watch.h"
#include "kubelet-plugin/publisher.h"
#include "kubelet-plugin/registration.h"
#include "kubelet-plugin/slice_api.h"
#include "kubelet-plugin/sweep.h"

/* The kubelet gives a prepare 45 s. */
#define WAIT_FOR_DEVICES (25 * TG_SECOND)
#define ANSWER_WITHIN (40 * TG_SECOND)
#define PROGRAM "tangram-kubelet-plugin"
/* A kubelet that comes back unprepares what it remembers within a minute. */
#define SWEEP_AFTER (120 * TG_SECOND)
#define STOP_PATIENCE (10 * TG_SECOND)

enum { REGISTERED, PUBLISHED, DEVICES, N_METRICS };

static const struct tg_metric_definition metric_table[N_METRICS] = {
    [REGISTERED] = {.name = "tangram_plugin_registered",
                    .help = "1 while the kubelet has the driver registered.",
                    .kind = TG_METRIC_GAUGE},
    [PUBLISHED] = {.name = "tangram_plugin_published",
                   .help = "1 while the ResourceSlices say what the node has.",
                   .kind = TG_METRIC_GAUGE},
    [DEVICES] = {.name = "tangram_plugin_devices",
                 .help = "Devices that were found at the start.",
                 .kind = TG_METRIC_GAUGE},
};

struct tg_plugin {
    struct tg_loop *loop;
    const struct tg_plugin_options *options;
    void (*stopped)(void *data, const struct tg_error *err);
    void *data;
    struct tg_arena *arena; /* of what lives as long as the plugin */
    const char *service_path;
    struct tg_kube_client *client;
    struct tg_events *events;
    struct tg_node_watch *node;
    struct tg_foreign_watch *foreign;
    char *node_uid;     /* NULL: there is no Node */
    char *node_blocks;  /* why nothing may be published: what the Node says, NULL: nothing */
    char *other_blocks; /* what the slices of other drivers say */
    char *told;         /* what was said of it last */
    struct tg_layout_probe *layout;
    bool owners_known; /* whose the cards are: nothing is published before */
    struct tg_slice_api *slices;
    struct tg_publisher *publisher;
    struct tg_device_worker *devices;
    struct tg_folder_watch *attributes;
    struct tg_claim_source source;
    struct tg_claims *claims;
    struct tg_sweep *sweep;
    bool rebooted; /* no container of before runs */
    struct tg_health_stream *health;
    struct tg_dra_service *service;
    struct tg_registration *registration;
    struct tg_http *http;
    struct tg_metrics *metrics;
    struct tg_metric *metric[N_METRICS];
    bool stopping;
    struct tg_timer stop_timer;
};

/* --- health server --- */

static int handle_healthz(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    (void)content_type;
    tg_buf_append_str(body, "ok\n"); /* the loop runs */
    return 200;
}

static int handle_readyz(void *data, struct tg_buf *body, const char **content_type)
{
    const struct tg_plugin *plugin = data;
    struct tg_error err;
    int status = 200;

    (void)content_type;
    if (plugin->stopping) {
        tg_buf_append_str(body, "it is being stopped\n");
        return 503;
    }
    if (plugin->registration == NULL) {
        tg_buf_append_str(body, "devices: not listed yet\n");
        status = 503;
    } else if (!tg_registration_registered(plugin->registration)) {
        tg_buf_append_str(body, "kubelet: not registered yet\n");
        status = 503;
    }
    if (plugin->registration != NULL && tg_device_worker_status(plugin->devices, &err) != 0) {
        tg_buf_printf(body, "devices: %s\n", err.message);
        status = 503;
    }
    if (tg_publisher_status(plugin->publisher, &err) != 0) {
        tg_buf_printf(body, "slices: %s\n", err.message);
        status = 503;
    }
    if (status == 200)
        tg_buf_append_str(body, "ok\n");
    return status;
}

static void collect(void *data)
{
    const struct tg_plugin *plugin = data;
    bool listed = plugin->registration != NULL;

    tg_metric_set(plugin->metric[REGISTERED], NULL,
                  listed && tg_registration_registered(plugin->registration));
    tg_metric_set(plugin->metric[PUBLISHED], NULL,
                  listed && tg_publisher_status(plugin->publisher, NULL) == 0);
    tg_metric_set(plugin->metric[DEVICES], NULL,
                  listed ? (double)tg_device_worker_devices(plugin->devices)->devices.n : 0);
}

static void measure(struct tg_plugin *plugin)
{
    plugin->metrics = tg_metrics_new();
    tg_process_measure(plugin->metrics, PROGRAM, TANGRAM_VERSION);
    tg_kube_client_measure(plugin->client, plugin->metrics, "main");
    tg_metrics_add(plugin->metrics, metric_table, N_METRICS, plugin->metric);
    tg_metrics_on_collect(plugin->metrics, collect, plugin);
}

static int serve_health(struct tg_plugin *plugin, struct tg_error *err)
{
    const struct tg_http_route routes[] = {
        {.path = "/healthz", .handle = handle_healthz, .data = plugin},
        {.path = "/readyz", .handle = handle_readyz, .data = plugin},
        {.path = "/metrics", .handle = tg_metrics_handle, .data = plugin->metrics},
        tg_http_verbosity_route(),
    };
    if (plugin->options->health_addr[0] == '\0')
        return 0;
    return tg_http_new(plugin->loop, plugin->options->health_addr, routes, TG_ARRAY_SIZE(routes),
                       &plugin->http, err);
}

/* --- what the parts tell --- */

static void replace(char **to, const char *value)
{
    free(*to);
    *to = value == NULL ? NULL : tg_xstrdup(value);
}

/* Whether our devices may be published, by all that is known: told when it changes, to the log, on
 * the Node and, by the publisher's status, to who asks whether we are ready. */
static void consider_publishing(struct tg_plugin *plugin)
{
    const char *blocked = tg_or(plugin->node_blocks, plugin->other_blocks);
    const struct tg_object_meta node = {.name = plugin->options->node_name,
                                        .uid = plugin->node_uid};

    if (plugin->node_uid != NULL && !tg_streq(plugin->told, blocked)) {
        if (blocked == NULL) {
            TG_INFO("Nothing speaks against publishing any more");
        } else {
            TG_WARN("Nothing is published", TG_S("why", blocked));
            tg_events_record(plugin->events, &tg_kind_node, &node, "Warning", "DevicesNotPublished",
                             blocked);
        }
        replace(&plugin->told, blocked);
    }
    tg_publisher_set_node(plugin->publisher, plugin->node_uid, blocked);
}

static void on_node_changed(void *data, const struct tg_object_meta *node, const char *blocked)
{
    struct tg_plugin *plugin = data;

    if (node == NULL)
        TG_WARN("There is no such Node; slices wait for it",
                TG_S("node", plugin->options->node_name));
    replace(&plugin->node_uid, node == NULL ? NULL : node->uid);
    replace(&plugin->node_blocks, blocked);
    consider_publishing(plugin);
}

/* How partitions are published, once it is known; false: not yet. */
static bool find_layout(struct tg_plugin *plugin, const struct tg_device_set *devices,
                        enum tg_slice_layout *ret)
{
    *ret = TG_SLICES_PLAIN;
    if (!tg_slice_layout_matters(devices))
        return true;
    if (!tg_layout_probe_known(plugin->layout, ret)) {
        tg_layout_probe_ask(plugin->layout);
        return false;
    }
    *ret = tg_slice_layout_choose(*ret, tg_streq(plugin->options->placements, "derived"));
    return true;
}

/* Nothing is published before it is known whose the cards are, and what the server keeps of it:
 * only now the publisher gets them. */
static void show_devices(struct tg_plugin *plugin)
{
    const struct tg_device_set *devices = tg_device_worker_devices(plugin->devices);
    enum tg_slice_layout layout;

    if (plugin->owners_known && find_layout(plugin, devices, &layout))
        tg_publisher_set_devices(plugin->publisher, devices, layout);
    else
        tg_publisher_set_devices(plugin->publisher, NULL, TG_SLICES_PLAIN);
}

static void on_foreign_changed(void *data, const char *blocked)
{
    struct tg_plugin *plugin = data;

    replace(&plugin->other_blocks, blocked);
    plugin->owners_known = true;
    consider_publishing(plugin);
    show_devices(plugin);
}

static void on_layout_known(void *data, enum tg_slice_layout layout)
{
    (void)layout;
    show_devices(data);
}

static void on_devices_changed(void *data)
{
    struct tg_plugin *plugin = data;

    if (tg_device_worker_status(plugin->devices, NULL) != 0)
        return;
    tg_foreign_watch_set_devices(plugin->foreign, tg_device_worker_devices(plugin->devices));
    show_devices(plugin);
}

static void on_attributes_changed(void *data)
{
    struct tg_plugin *plugin = data;
    tg_device_worker_list_again(plugin->devices);
}

static void on_slices_changed(void *data)
{
    struct tg_plugin *plugin = data;
    tg_publisher_changed(plugin->publisher);
}

static void on_slices_lost(void *data)
{
    struct tg_plugin *plugin = data;
    tg_layout_probe_ask_again(plugin->layout);
}

static void on_registration_changed(void *data, bool registered, const char *why)
{
    struct tg_plugin *plugin = data;

    if (registered) {
        TG_INFO("The kubelet registered the driver", TG_S("driver", plugin->options->driver_name));
        tg_publisher_set_served(plugin->publisher);
        tg_sweep_start(plugin->sweep, plugin->rebooted ? 0 : SWEEP_AFTER);
    } else {
        TG_WARN("The kubelet refused the driver", TG_S("driver", plugin->options->driver_name),
                TG_S("why", why));
    }
}

/* The order matters: the kubelet connects to the service as soon as the registration socket
 * appears. */
static int serve(struct tg_plugin *plugin, struct tg_error *err)
{
    const struct tg_registration_config config = {
        .driver = plugin->options->driver_name,
        .registry_dir = plugin->options->registry_dir,
        .service_path = plugin->service_path,
        .changed = on_registration_changed,
        .data = plugin,
    };
    int rc = tg_dra_service_new(plugin->loop, plugin->service_path, plugin->claims, plugin->health,
                                &plugin->service, err);
    if (rc == 0)
        rc = tg_registration_new(plugin->loop, &config, &plugin->registration, err);
    if (rc != 0)
        return rc;
    tg_dra_service_measure(plugin->service, plugin->metrics);
    tg_registration_measure(plugin->registration, plugin->metrics);
    return 0;
}

static void log_report(const struct tg_plugin *plugin, const struct tg_prepare_report *report)
{
    TG_INFO("Devices are ready",
            TG_I("devices", tg_device_worker_devices(plugin->devices)->devices.n),
            TG_I("claims", report->claims), TG_I("undone", report->undone),
            TG_I("finished", report->finished), TG_I("regenerated", report->regenerated),
            TG_I("adopted", report->adopted), TG_I("missing", report->missing),
            TG_I("orphans", report->orphans), TG_B("rebooted", report->rebooted));
    if (report->set_aside[0] != '\0')
        TG_WARN("The journal was damaged; a copy is kept", TG_S("copy", report->set_aside),
                TG_S("damage", report->damage));
}

static void on_devices_started(void *data, const struct tg_prepare_report *report,
                               const struct tg_error *err)
{
    struct tg_plugin *plugin = data;
    struct tg_error problem;

    if (plugin->stopping)
        return;
    if (err == NULL) {
        log_report(plugin, report);
        plugin->rebooted = report->rebooted;
        if (serve(plugin, &problem) != 0)
            err = &problem;
    }
    if (err != NULL) {
        plugin->stopped(plugin->data, err);
        return;
    }
    on_devices_changed(plugin);
    /* Reading inventory, kubeconfig and certificates left holes in the heap that are never needed
     * again. */
    malloc_trim(0);
}

/* --- start and stop --- */

static int connect_api(struct tg_plugin *plugin, struct tg_error *err)
{
    const struct tg_plugin_options *options = plugin->options;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
    struct tg_kube_config config = {0};
    int rc = options->kubeconfig[0] != '\0'
                 ? tg_kube_config_load(options->kubeconfig, arena, &config, err)
                 : tg_kube_config_in_cluster("", arena, &config, err);
    if (rc != 0)
        return rc;
    return tg_kube_client_new(plugin->loop, tg_clock_system(), &config, PROGRAM "/" TANGRAM_VERSION,
                              &plugin->client, err);
}

static int make_folders(const struct tg_plugin_options *options, struct tg_error *err)
{
    int rc = tg_file_make_folders(options->plugin_dir, 0750, err);
    return rc != 0 ? rc : tg_file_make_folders(options->registry_dir, 0750, err);
}

static void start_parts(struct tg_plugin *plugin)
{
    const struct tg_plugin_options *options = plugin->options;
    const struct tg_node_watch_config node = {
        .node_name = options->node_name,
        .conflicting_resources = options->conflicting_resources,
        .changed = on_node_changed,
        .data = plugin,
    };
    const struct tg_foreign_watch_config foreign = {
        .driver = options->driver_name,
        .node_name = options->node_name,
        .grace = options->conflict_grace,
        .changed = on_foreign_changed,
        .data = plugin,
    };
    const struct tg_device_worker_config devices = {
        .provider = options->provider,
        .provider_options = tg_plugin_provider_options(options),
        .attributes_folder = options->attributes_dir,
        .prepare_options = {.state_folder = options->plugin_dir,
                            .cdi_folder = options->cdi_dir,
                            .boot_id_file = options->boot_id_file,
                            .driver = options->driver_name,
                            .pool = options->node_name},
        .started = on_devices_started,
        .changed = on_devices_changed,
        .data = plugin,
    };

    plugin->events = tg_events_new(plugin->client, PROGRAM, options->node_name);
    plugin->slices = tg_slice_api_new(plugin->client, options->driver_name, options->node_name,
                                      on_slices_changed, on_slices_lost, plugin);
    plugin->layout = tg_layout_probe_new(plugin->client, options->driver_name, options->node_name,
                                         on_layout_known, plugin);
    plugin->publisher = tg_publisher_new(plugin->loop, options->driver_name, options->node_name,
                                         tg_slice_api_publisher(plugin->slices));
    plugin->node = tg_node_watch_new(plugin->client, &node);
    plugin->foreign = tg_foreign_watch_new(plugin->client, &foreign);
    tg_publisher_measure(plugin->publisher, plugin->metrics);
    plugin->devices = tg_device_worker_new(plugin->loop, &devices);
    tg_device_worker_measure(plugin->devices, plugin->metrics);
    if (tg_or(options->attributes_dir, "")[0] != '\0')
        plugin->attributes = tg_folder_watch_new(plugin->loop, options->attributes_dir, 0,
                                                 on_attributes_changed, plugin);
    plugin->source = tg_claim_api_source(plugin->client);
    plugin->claims = tg_claims_new(plugin->loop, plugin->devices, &plugin->source);
    tg_claims_wait_for_devices(plugin->claims, WAIT_FOR_DEVICES);
    tg_claims_limit(plugin->claims, ANSWER_WITHIN);
    tg_claims_measure(plugin->claims, plugin->metrics);
    plugin->sweep = tg_sweep_new(plugin->loop, plugin->devices, plugin->claims, &plugin->source);
    plugin->health = tg_health_stream_new(plugin->loop, tg_clock_system(), plugin->devices,
                                          TG_KUBELET_HEALTH_TIMEOUT * TG_SECOND);
}

static void on_stop_timer(struct tg_timer *timer)
{
    struct tg_plugin *plugin = timer->data;
    plugin->stopped(plugin->data, NULL);
}

static void on_claims_idle(void *data)
{
    struct tg_plugin *plugin = data;
    tg_timer_start(plugin->loop, &plugin->stop_timer, 0);
}

int tg_plugin_new(struct tg_loop *loop, const struct tg_plugin_options *options,
                  void (*stopped)(void *data, const struct tg_error *err), void *data,
                  struct tg_plugin **ret, struct tg_error *err)
{
    struct tg_plugin *plugin = tg_xcalloc(1, sizeof(*plugin));

    plugin->loop = loop;
    plugin->options = options;
    plugin->stopped = stopped;
    plugin->data = data;
    plugin->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    plugin->service_path = tg_registration_service_path(options->plugin_dir, plugin->arena);
    plugin->stop_timer = (struct tg_timer){.callback = on_stop_timer, .data = plugin};
    int rc = make_folders(options, err);
    if (rc == 0)
        rc = connect_api(plugin, err);
    if (rc == 0) {
        measure(plugin);
        rc = serve_health(plugin, err);
    }
    if (rc != 0) {
        tg_plugin_free(plugin);
        return rc;
    }
    start_parts(plugin);
    *ret = plugin;
    return 0;
}

void tg_plugin_stop(struct tg_plugin *plugin)
{
    tg_registration_free(TG_TAKE(plugin->registration));
    tg_timer_start(plugin->loop, &plugin->stop_timer, plugin->stopping ? 0 : STOP_PATIENCE);
    plugin->stopping = true;
    tg_claims_when_idle(plugin->claims, on_claims_idle, plugin);
}

void tg_plugin_free(struct tg_plugin *plugin)
{
    if (plugin == NULL)
        return;
    tg_timer_stop(&plugin->stop_timer);
    tg_http_free(plugin->http);
    tg_registration_free(plugin->registration);
    tg_dra_service_free(plugin->service);
    tg_folder_watch_free(plugin->attributes);
    /* The thread ends before the memory that its jobs write to, and the client after all who have
     * requests on it. */
    tg_device_worker_free(plugin->devices);
    tg_health_stream_free(plugin->health);
    tg_sweep_free(plugin->sweep);
    tg_claims_free(plugin->claims);
    tg_node_watch_free(plugin->node);
    tg_foreign_watch_free(plugin->foreign);
    tg_slice_api_free(plugin->slices);
    tg_layout_probe_free(plugin->layout);
    tg_publisher_free(plugin->publisher);
    if (plugin->events != NULL)
        tg_events_free(plugin->events);
    if (plugin->client != NULL)
        tg_kube_client_free(plugin->client);
    tg_metrics_free(plugin->metrics);
    tg_arena_free(plugin->arena);
    free(plugin->node_uid);
    free(plugin->node_blocks);
    free(plugin->other_blocks);
    free(plugin->told);
    free(plugin);
}

int tg_plugin_health_port(const struct tg_plugin *plugin)
{
    return plugin->http == NULL ? -1 : tg_http_port(plugin->http);
}
