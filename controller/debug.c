/* SPDX-License-Identifier: Apache-2.0 */
/* Health and debug pages. */
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "controller/controller.h"

static int healthz(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    (void)content_type;
    tg_buf_append_str(body, "ok\n");
    return 200;
}

/* Ready: everything is read, so that this replica can lead; whether it does is no matter. */
static int readyz(void *data, struct tg_buf *body, const char **content_type)
{
    struct tg_controller *controller = data;
    const char *why = controller->stopping ? "it is being stopped\n"
                      : !tg_controller_synced(controller)
                          ? "the lists of the API server are not complete yet\n"
                          : NULL;

    (void)content_type;
    tg_buf_append_str(body, tg_or(why, "ok\n"));
    return why == NULL ? 200 : 503;
}

static void write_unit(struct tg_json_writer *w, const struct tg_unit_state *state, int64_t now)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "unit", state->key);
    tg_jw_kv_int(w, "writesInFlight", (int64_t)state->in_flight);
    tg_jw_kv_int(w, "failures", (int64_t)state->failures);
    if (state->not_before > now)
        tg_jw_kv_int(w, "retryInMilliseconds", (state->not_before - now) / TG_MILLISECOND);
    if (state->stalled_since != 0)
        tg_jw_kv_int(w, "stalledForSeconds", (now - state->stalled_since) / TG_SECOND);
    tg_jw_kv_string(w, "says", state->said);
    tg_jw_end_object(w);
}

static int debug_units(void *data, struct tg_buf *body, const char **content_type)
{
    struct tg_controller *controller = data;
    struct tg_json_writer w;

    *content_type = "application/json";
    tg_json_writer_init(&w, body);
    tg_jw_begin_object(&w);
    tg_jw_kv_bool(&w, "leading", tg_elector_leading(controller->elector));
    tg_jw_kv_int(&w, "epoch", (int64_t)tg_elector_epoch(controller->elector));
    tg_jw_kv_int(&w, "passes", (int64_t)controller->passes);
    tg_jw_kv_int(&w, "writes", (int64_t)controller->writes);
    tg_jw_kv_int(&w, "writeFailures", (int64_t)controller->write_failures);
    tg_jw_kv_int(&w, "contestedDevices", (int64_t)controller->contested);
    tg_jw_key(&w, "units");
    tg_jw_begin_array(&w);
    for (struct tg_map_entry *e = tg_map_first(controller->units); e != NULL; e = tg_map_next(e))
        write_unit(&w, tg_map_value(e), tg_now_monotonic(controller->clock));
    tg_jw_end_array(&w);
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, NULL) < 0 ? 500 : 200;
}

int tg_controller_serve(struct tg_controller *controller, const char *address, struct tg_error *err)
{
    const struct tg_http_route routes[] = {
        {.path = "/healthz", .handle = healthz, .data = controller},
        {.path = "/livez", .handle = healthz, .data = controller},
        {.path = "/readyz", .handle = readyz, .data = controller},
        {.path = "/metrics", .handle = tg_metrics_handle, .data = controller->metrics},
        {.path = "/debug/units", .handle = debug_units, .data = controller, .local = true},
        {.path = "/debug/audit",
         .handle = tg_auditor_page,
         .data = controller->auditor,
         .local = true},
        tg_http_verbosity_route(),
    };

    return tg_http_new(controller->loop, address, routes, TG_ARRAY_SIZE(routes), &controller->http,
                       err);
}
