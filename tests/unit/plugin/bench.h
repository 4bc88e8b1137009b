/* SPDX-License-Identifier: Apache-2.0 */
/* The DRA service on its socket, with devices of the sim provider and a kubelet that calls it; the
 * claim that the kubelet asks for has the first device. */
#ifndef TG_TEST_PLUGIN_BENCH_H
#define TG_TEST_PLUGIN_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "kubelet-plugin/dra_service.h"
#include "tests/unit/plugin/folder.h"
#include "tests/unit/plugin/kubelet.h"

#define UID "00000000-0000-4000-8000-000000000001"
#define SHARE "33333333-0000-4000-8000-000000000001"
/* Claim {namespace: ns, uid: UID, name: one} as a request of one claim. */
#define REQUEST "\x0a\x2f\x0a\x02ns\x12\x24" UID "\x1a\x03one"

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    bool started;
    bool hold; /* claims are not read */
    bool cancelled;
    struct tg_claim_source source;
    struct tg_claims *claims;
    struct tg_health_stream *health;
    struct tg_dra_service *service;
    struct kubelet kubelet;
    struct tg_fake_clock clock;
    struct tg_deferred read;
    void (*done)(void *done_data, const char *json, size_t n, const struct tg_error *err);
    void *done_data;
};

static inline void bench_read(struct tg_deferred *deferred)
{
    struct bench *bench = deferred->data;
    TG_AUTOFREE char *json =
        tg_xasprintf("{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"" UID
                     "\"},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
                     "\"driver\":\"" TEST_DRIVER "\",\"pool\":\"" TEST_NODE
                     "\",\"device\":\"%s\",\"shareID\":\"" SHARE "\"}]}}}}",
                     tg_device_worker_devices(bench->devices)->devices.items[0].device.name);
    bench->done(bench->done_data, json, strlen(json), NULL);
}

static inline void *bench_get(void *data, const char *namespace_, const char *name,
                              void (*done)(void *done_data, const char *json, size_t n,
                                           const struct tg_error *err),
                              void *done_data)
{
    struct bench *bench = data;
    assert_string_equal(namespace_, "ns");
    assert_string_equal(name, "one");
    bench->done = done;
    bench->done_data = done_data;
    if (!bench->hold)
        tg_defer(bench->loop, &bench->read);
    return bench;
}

static inline void bench_cancel(void *data, void *handle)
{
    struct bench *bench = data;
    (void)handle;
    bench->cancelled = true;
    tg_defer_cancel(bench->loop, &bench->read);
}

static inline void bench_on_started(void *data, const struct tg_prepare_report *report,
                                    const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    assert_null(err);
    bench->started = true;
}

static inline int bench_setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    TG_AUTOFREE char *socket = NULL;
    test_folder_init(&bench->folder);
    tg_fake_clock_init(&bench->clock, 1000 * TG_SECOND);
    const struct tg_device_worker_config config = {
        .provider = "sim",
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = bench_on_started,
        .data = bench,
    };
    bench->loop = tg_loop_new(false);
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->read = (struct tg_deferred){.callback = bench_read, .data = bench};
    bench->source =
        (struct tg_claim_source){.get = bench_get, .cancel = bench_cancel, .data = bench};
    bench->claims = tg_claims_new(bench->loop, bench->devices, &bench->source);
    bench->health =
        tg_health_stream_new(bench->loop, &bench->clock.clock, bench->devices, 2 * TG_SECOND / 10);
    while (!bench->started)
        tg_loop_run_once(bench->loop, true);
    socket = tg_xasprintf("%s/dra.sock", bench->folder.plugin);
    assert_int_equal(tg_dra_service_new(bench->loop, socket, bench->claims, bench->health,
                                        &bench->service, NULL),
                     0);
    kubelet_init(&bench->kubelet, bench->loop, socket);
    *state = bench;
    return 0;
}

static inline int bench_teardown(void **state)
{
    struct bench *bench = *state;
    kubelet_done(&bench->kubelet);
    tg_dra_service_free(bench->service);
    tg_device_worker_free(bench->devices);
    tg_health_stream_free(bench->health);
    tg_claims_free(bench->claims);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

/* Whether the text is anywhere in the answer. */
static inline bool holds(const struct client_call *call, const char *text)
{
    return memmem(tg_buf_str(&call->body), call->body.len, text, strlen(text)) != NULL;
}

#endif
