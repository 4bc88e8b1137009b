/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/zoneinfo.h"
#include "api/tangram/names.h"
#include "controller/gather/checked.h"

#define LEASE_NAME "tangram-controller"

static void on_pass(struct tg_deferred *deferred)
{
    tg_controller_pass(deferred->data);
}

static void on_wake(struct tg_timer *timer)
{
    struct tg_controller *controller = timer->data;

    controller->wake_at = 0;
    tg_controller_kick(controller);
}

void tg_controller_kick(struct tg_controller *controller)
{
    if (controller->rests_until > tg_now_monotonic(controller->clock))
        tg_controller_wake_at(controller, controller->rests_until);
    else
        tg_defer(controller->loop, &controller->pass);
}

void tg_controller_wake_at(struct tg_controller *controller, int64_t when)
{
    int64_t after = when - tg_now_monotonic(controller->clock);

    if (controller->wake_at != 0 && controller->wake_at <= when && controller->wake.active)
        return;
    controller->wake_at = when;
    tg_timer_start(controller->loop, &controller->wake, after > 0 ? after : 0);
}

static void on_leading(void *data, uint64_t epoch)
{
    struct tg_controller *controller = data;

    TG_INFO("Leading", TG_I("epoch", epoch));
    tg_release_read(controller->release);
    tg_controller_kick(controller);
}

/* Selectors are compiled anew in the next pass. */
static void on_release(void *data, unsigned minor)
{
    struct tg_controller *controller = data;

    controller->selectors.minor = minor;
    tg_controller_kick(controller);
}

static void on_owner_news(void *data)
{
    tg_controller_kick(data);
}

/* A former leader starts afresh: whatever it had in mind is worth nothing now. */
static void on_lost(void *data, const struct tg_error *why)
{
    struct tg_controller *controller = data;

    TG_ERR(why, "Lost the lease; exiting, so that the next process starts as a standby");
    controller->exit_code = 1;
    controller->stopping = true;
    tg_loop_stop(controller->loop);
}

static char *default_identity(void)
{
    char host[256] = "unknown";
    struct timespec now;

    gethostname(host, sizeof(host) - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    return tg_xasprintf("%s_%ld_%lx%lx", host, (long)getpid(), (unsigned long)now.tv_sec,
                        (unsigned long)now.tv_nsec);
}

static void start_elector(struct tg_controller *controller,
                          const struct tg_controller_options *options)
{
    TG_AUTOFREE char *own = options->identity == NULL ? default_identity() : NULL;
    const char *instance = tg_configuration_instance(controller->configuration);
    TG_AUTOFREE char *name = tg_xasprintf("%s-%s", LEASE_NAME, instance);

    controller->elector =
        tg_elector_new(controller->lease_client,
                       &(struct tg_elector_config){
                           .namespace_ = options->namespace_,
                           .name = name,
                           .identity = own != NULL ? own : options->identity,
                           .epoch_annotation = TG_ANNOTATION_EPOCH,
                           .duration = tg_configuration_delays(controller->configuration)->lease,
                           .on_leading = on_leading,
                           .on_lost = on_lost,
                           .data = controller});
}

int tg_controller_new(struct tg_loop *loop, const struct tg_controller_options *options,
                      const struct tg_configuration *configuration,
                      const struct tg_kube_config *kube, struct tg_controller **ret,
                      struct tg_error *err)
{
    struct tg_controller *controller = tg_xcalloc(1, sizeof(*controller));
    int r;

    *controller = (struct tg_controller){
        .loop = loop, .clock = tg_clock_system(), .configuration = configuration};
    controller->pass = (struct tg_deferred){.callback = on_pass, .data = controller};
    controller->wake.callback = on_wake;
    controller->wake.data = controller;
    tg_controller_window_init(controller);
    controller->units = tg_controller_states_new();
    controller->checked = tg_checked_new();
    controller->awake = tg_awake_new();
    tg_view_init(&controller->view);
    controller->fleet = tg_fleet_open(tg_configuration_instance(configuration));
    controller->usage = tg_usage_book_new();
    controller->auditor = tg_auditor_new(controller);
    controller->zoneinfo = tg_zoneinfo_new(TG_ZONEINFO_FOLDER);
    controller->zones =
        (struct tg_cel_zones){.find = tg_zoneinfo_find, .context = controller->zoneinfo};
    controller->selectors.zones = &controller->zones;
    r = tg_kube_client_new(loop, controller->clock, kube, "tangram-controller/" TANGRAM_VERSION,
                           &controller->client, err);
    /* A big list must not delay the renewal of the lease: it has a connection of its own. */
    if (r == 0)
        r = tg_kube_client_new(loop, controller->clock, kube,
                               "tangram-controller-lease/" TANGRAM_VERSION,
                               &controller->lease_client, err);
    if (r == 0)
        tg_controller_measure(controller);
    if (r == 0 && options->health_addr != NULL)
        r = tg_controller_serve(controller, options->health_addr, err);
    if (r < 0) {
        tg_controller_free(controller);
        return r;
    }
    controller->events = tg_events_new(controller->client, "tangram-controller",
                                       options->identity == NULL ? "" : options->identity);
    controller->owners =
        tg_owners_new(controller->client, controller->clock, on_owner_news, controller);
    controller->release = tg_release_new(controller->client, on_release, controller);
    tg_controller_start_informers(controller);
    start_elector(controller, options);
    *ret = controller;
    return 0;
}

void tg_controller_free(struct tg_controller *controller)
{
    if (controller == NULL)
        return;
    tg_timer_stop(&controller->wake);
    tg_timer_stop(&controller->probe);
    tg_timer_stop(&controller->drain);
    tg_timer_stop(&controller->refresh.again);
    tg_defer_cancel(controller->loop, &controller->pass);
    if (controller->elector != NULL)
        tg_elector_free(controller->elector);
    for (size_t i = 0; i < TG_VIEW_KINDS; i++)
        if (controller->informers[i] != NULL)
            tg_informer_free(controller->informers[i]);
    if (controller->events != NULL)
        tg_events_free(controller->events);
    tg_owners_free(controller->owners);
    tg_release_free(controller->release);
    tg_zoneinfo_free(controller->zoneinfo);
    tg_auditor_free(controller->auditor);
    if (controller->http != NULL)
        tg_http_free(controller->http);
    tg_kube_client_free(controller->client);
    tg_kube_client_free(controller->lease_client);
    tg_controller_drop_operations(controller);
    tg_metrics_free(controller->metrics);
    tg_usage_book_free(controller->usage);
    tg_map_free(controller->units);
    tg_checked_free(controller->checked);
    tg_awake_free(controller->awake);
    tg_view_done(&controller->view);
    tg_fleet_close(controller->fleet);
    free(controller);
}
