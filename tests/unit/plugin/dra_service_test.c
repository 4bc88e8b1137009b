/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kubelet/health.h"
#include "tests/unit/plugin/bench.h"

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
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
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
