/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/layout_probe.h"

#include <stdlib.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/json/decode.h"
#include "kubelet-plugin/slice_body.h"

#define BODY_MAX ((size_t)64 << 10)
#define ASK_AGAIN (10 * TG_SECOND)

struct tg_layout_probe {
    struct tg_kube_client *client;
    const char *driver, *node_name;
    void (*told)(void *data, enum tg_slice_layout layout);
    void *data;
    struct tg_kube_request *request; /* NULL: none runs */
    struct tg_timer again;
    bool wanted, known;
    enum tg_slice_layout asked; /* which of the two the question is about */
    enum tg_slice_layout layout;
};

static void ask_later(struct tg_layout_probe *probe)
{
    if (!probe->again.active)
        tg_timer_start(tg_kube_client_loop(probe->client), &probe->again, ASK_AGAIN);
}

static void tell(struct tg_layout_probe *probe, enum tg_slice_layout layout)
{
    if (probe->known && probe->layout == layout)
        return;
    probe->known = true;
    probe->layout = layout;
    TG_INFO(layout == TG_SLICES_COUNTERS   ? "The API server keeps counters"
            : layout == TG_SLICES_TOGETHER ? "The API server keeps counters beside their devices"
                                           : "The API server keeps no counters (feature "
                                             "DRAPartitionableDevices)");
    probe->told(probe->data, layout);
}

/* What the server would have stored. */
static int read_answer(const struct tg_layout_probe *probe, const char *body, size_t n,
                       enum tg_slice_layout *ret, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BODY_MAX);
    struct tg_resource_slice slice = {0};
    int rc = tg_json_decode(&tg_resource_slice_type, body, n, &slice, arena, err);
    bool consumes = rc == 0 && slice.spec != NULL && slice.spec->devices.n == 1 &&
                    slice.spec->devices.items[0].consumes_counters.n == 1;
    bool kept =
        consumes && (probe->asked == TG_SLICES_COUNTERS || slice.spec->shared_counters.n == 1);

    *ret = kept ? probe->asked : TG_SLICES_PLAIN;
    return rc;
}

static void ask(struct tg_layout_probe *probe, enum tg_slice_layout layout);

static void on_response(void *data, const struct tg_kube_result *result)
{
    struct tg_layout_probe *probe = data;
    struct tg_error err = result->error;
    enum tg_slice_layout layout = TG_SLICES_PLAIN;

    probe->request = NULL;
    /* A server that does not take such a slice has another idea of counters. */
    if (err.code == TG_INVALID_ARGUMENT && probe->asked == TG_SLICES_COUNTERS) {
        ask(probe, TG_SLICES_TOGETHER);
        return;
    }
    if (err.code == TG_INVALID_ARGUMENT) {
        tell(probe, TG_SLICES_PLAIN);
        return;
    }
    if (err.code == TG_OK)
        (void)read_answer(probe, result->body, result->len, &layout, &err);
    if (err.code != TG_OK) {
        TG_ERR(&err, "Cannot find out whether the API server keeps counters, trying on");
        ask_later(probe);
        return;
    }
    tell(probe, layout);
}

static int write_question(const struct tg_layout_probe *probe, struct tg_buf *body,
                          struct tg_error *err)
{
    struct tg_keyed_counter counter = {.key = "memory-slice-0", .value = {.value = "1"}};
    struct tg_counter_set set = {.name = "question", .counters = {.items = &counter, .n = 1}};
    struct tg_device device = {.name = "question", .consumes_counters = {.items = &set, .n = 1}};
    struct tg_resource_pool pool = {.name = probe->node_name,
                                    .generation = {.set = true, .value = 1},
                                    .resource_slice_count = {.set = true, .value = 1}};
    struct tg_resource_slice_spec spec = {.driver = probe->driver,
                                          .node_name = probe->node_name,
                                          .pool = &pool,
                                          .devices = {.items = &device, .n = 1}};
    struct tg_object_meta meta = {.generate_name = "tangram-question-"};
    const struct tg_resource_slice slice = {.metadata = &meta, .spec = &spec};

    if (probe->asked == TG_SLICES_TOGETHER) {
        spec.shared_counters.items = &set;
        spec.shared_counters.n = 1;
    }
    return tg_slice_body_write(&slice, body, err);
}

static void ask(struct tg_layout_probe *probe, enum tg_slice_layout layout)
{
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(BODY_MAX);
    struct tg_error err;

    probe->asked = layout;
    if (write_question(probe, &body, &err) != 0) {
        TG_ERR(&err, "Cannot ask whether the API server keeps counters");
        return;
    }
    const struct tg_kube_call call = {
        .method = TG_REST_POST,
        .target = {.kind = &tg_kind_resource_slice, .query = "dryRun=All"},
        .body = body.data,
        .body_len = body.len,
        .done = on_response,
        .data = probe,
    };
    probe->request = tg_kube_send(probe->client, &call);
}

void tg_layout_probe_ask(struct tg_layout_probe *probe)
{
    probe->wanted = true;
    if (probe->request != NULL)
        return;
    tg_timer_stop(&probe->again);
    ask(probe, TG_SLICES_COUNTERS);
}

void tg_layout_probe_ask_again(struct tg_layout_probe *probe)
{
    if (probe->wanted && probe->request == NULL)
        ask_later(probe);
}

static void on_again(struct tg_timer *timer)
{
    tg_layout_probe_ask(timer->data);
}

struct tg_layout_probe *tg_layout_probe_new(struct tg_kube_client *client, const char *driver,
                                            const char *node_name,
                                            void (*told)(void *data, enum tg_slice_layout layout),
                                            void *data)
{
    struct tg_layout_probe *probe = tg_xcalloc(1, sizeof(*probe));

    probe->client = client;
    probe->driver = driver;
    probe->node_name = node_name;
    probe->told = told;
    probe->data = data;
    probe->again = (struct tg_timer){.callback = on_again, .data = probe};
    return probe;
}

void tg_layout_probe_free(struct tg_layout_probe *probe)
{
    if (probe == NULL)
        return;
    tg_kube_cancel(probe->request);
    tg_timer_stop(&probe->again);
    free(probe);
}

bool tg_layout_probe_known(const struct tg_layout_probe *probe, enum tg_slice_layout *ret)
{
    *ret = probe->layout;
    return probe->known;
}
