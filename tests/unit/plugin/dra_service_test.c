/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kubelet/health.h"
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

static void on_read(struct tg_deferred *deferred)
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

static void *get(void *data, const char *namespace_, const char *name,
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

static void cancel(void *data, void *handle)
{
    struct bench *bench = data;
    (void)handle;
    bench->cancelled = true;
    tg_defer_cancel(bench->loop, &bench->read);
}

static void started(void *data, const struct tg_prepare_report *report, const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    assert_null(err);
    bench->started = true;
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    TG_AUTOFREE char *socket = NULL;
    test_folder_init(&bench->folder);
    tg_fake_clock_init(&bench->clock, 1000 * TG_SECOND);
    const struct tg_device_worker_config config = {
        .provider = "sim",
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    bench->loop = tg_loop_new(false);
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->read = (struct tg_deferred){.callback = on_read, .data = bench};
    bench->source = (struct tg_claim_source){.get = get, .cancel = cancel, .data = bench};
    bench->claims = tg_claims_new(bench->loop, bench->devices, &bench->source, TEST_DRIVER);
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

static int teardown(void **state)
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

static bool holds(const struct client_call *call, const char *text)
{
    return memmem(tg_buf_str(&call->body), call->body.len, text, strlen(text)) != NULL;
}

static size_t count(const struct client_call *call, const char *text)
{
    size_t n = 0, len = strlen(text);
    for (size_t i = 0; i + len <= call->body.len; i++)
        n += memcmp(call->body.data + i, text, len) == 0;
    return n;
}

static void v1_prepares_and_unprepares(void **state)
{
    struct bench *bench = *state;
    struct client_call *call =
        kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    assert_true(holds(call, UID));
    assert_true(holds(call, "k8s.gpu.tangram.dev/claim=" UID "_r_"));
    assert_true(holds(call, "*$" SHARE)); /* field 5 of 36 bytes */
    call = kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1_UNPREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    /* The entry is there, and it is empty. */
    assert_int_equal(call->body.len, 5 + 2 + 2 + 36 + 2);
}

static void v1beta1_is_the_same_without_share_ids(void **state)
{
    struct bench *bench = *state;
    struct client_call *call =
        kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1BETA1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    assert_true(holds(call, "k8s.gpu.tangram.dev/claim=" UID "_r_"));
    assert_false(holds(call, "*$" SHARE)); /* field 5 of 36 bytes; the CDI id has it as well */
    call = kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1BETA1_UNPREPARE, REQUEST,
                        sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
}

static void what_one_version_prepared_the_other_unprepares(void **state)
{
    struct bench *bench = *state;
    kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1BETA1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    struct client_call *call =
        kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1_UNPREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(call->body.len, 5 + 2 + 2 + 36 + 2);
}

static void a_request_that_is_none_is_refused(void **state)
{
    struct bench *bench = *state;
    struct client_call *call =
        kubelet_call(&bench->kubelet, TG_KUBELET_DRA_V1_PREPARE, "\x0a\x7fxx", 4);
    assert_string_equal(call->grpc_status, "3");
}

static void a_kubelet_that_gives_up_takes_its_prepare_with_it(void **state)
{
    struct bench *bench = *state;
    bench->hold = true;
    struct client_call *call =
        kubelet_start(&bench->kubelet, TG_KUBELET_DRA_V1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    kubelet_exchange(&bench->kubelet);
    nghttp2_submit_rst_stream(bench->kubelet.client.session, 0, call->stream, NGHTTP2_CANCEL);
    kubelet_exchange(&bench->kubelet);
    assert_true(bench->cancelled);
}

static void health_comes_at_once_and_again_before_it_is_stale(void **state)
{
    static const char *const paths[] = {TG_KUBELET_HEALTH_V1_WATCH,
                                        TG_KUBELET_HEALTH_V1ALPHA1_WATCH};
    struct bench *bench = *state;
    struct client_call *calls[2];
    for (size_t i = 0; i < 2; i++)
        calls[i] = kubelet_start(&bench->kubelet, paths[i], NULL, 0);
    while (count(calls[0], TEST_NODE) < 4 || count(calls[1], TEST_NODE) < 4) {
        kubelet_exchange(&bench->kubelet);
        tg_loop_run_once(bench->loop, true);
    }
    /* Two devices a message; healthy is 1. */
    const char *device = tg_device_worker_devices(bench->devices)->devices.items[1].device.name;
    assert_true(holds(calls[0], device));
    assert_true(holds(calls[0], "\x10\x01"));
    assert_false(calls[0]->closed);
}

static void freeing_answers_calls_that_are_open(void **state)
{
    struct bench *bench = *state;
    bench->hold = true;
    struct client_call *call =
        kubelet_start(&bench->kubelet, TG_KUBELET_DRA_V1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    struct client_call *health =
        kubelet_start(&bench->kubelet, TG_KUBELET_HEALTH_V1_WATCH, NULL, 0);
    kubelet_exchange(&bench->kubelet);
    tg_dra_service_free(bench->service);
    bench->service = NULL;
    kubelet_exchange(&bench->kubelet);
    assert_string_equal(call->grpc_status, "14");
    assert_true(health->closed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(v1_prepares_and_unprepares),
        TEST(v1beta1_is_the_same_without_share_ids),
        TEST(what_one_version_prepared_the_other_unprepares),
        TEST(a_request_that_is_none_is_refused),
        TEST(a_kubelet_that_gives_up_takes_its_prepare_with_it),
        TEST(health_comes_at_once_and_again_before_it_is_stale),
        TEST(freeing_answers_calls_that_are_open),
    };
    return cmocka_run_group_tests_name("dra_service", tests, NULL, NULL);
}
