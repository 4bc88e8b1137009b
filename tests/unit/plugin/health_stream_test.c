/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "kubelet-plugin/health_stream.h"
#include "tests/unit/plugin/fake_provider.h"
#include "tests/unit/plugin/folder.h"
#include "tests/unit/plugin/kubelet.h"

#define TIMEOUT (100 * TG_MILLISECOND)

struct bench {
    struct test_folder folder;
    char socket[128];
    struct tg_loop *loop;
    struct tg_fake_clock clock;
    struct tg_device_worker *devices;
    bool started;
    struct tg_health_stream *stream;
    struct tg_grpc_server *server;
    struct kubelet kubelet;
    int removed;
    bool passed;
};

static void started(void *data, const struct tg_prepare_report *report, const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    assert_null(err);
    bench->started = true;
}

static void handle(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                   int64_t deadline)
{
    struct bench *bench = data;
    (void)message;
    (void)n;
    (void)deadline;
    tg_health_stream_add(bench->stream, call);
}

static void cancelled(void *data, struct tg_grpc_call call)
{
    struct bench *bench = data;
    bench->removed++;
    tg_health_stream_remove(bench->stream, call);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    const struct tg_grpc_method method = {"/watch", handle, cancelled, bench};
    test_folder_init(&bench->folder);
    const struct tg_device_worker_config config = {
        .new_provider = fake_provider_new,
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    fake_set(1, false, false);
    tg_fake_clock_init(&bench->clock, 1700000000 * TG_SECOND);
    bench->loop = tg_loop_new(false);
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->stream = tg_health_stream_new(bench->loop, &bench->clock.clock, bench->devices, TIMEOUT);
    while (!bench->started)
        tg_loop_run_once(bench->loop, true);
    snprintf(bench->socket, sizeof(bench->socket), "%s/health.sock", bench->folder.root);
    assert_int_equal(
        tg_grpc_server_new(bench->loop, bench->socket, &method, 1, &bench->server, NULL), 0);
    kubelet_init(&bench->kubelet, bench->loop, bench->socket);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    fake_set(0, false, false);
    kubelet_done(&bench->kubelet);
    tg_grpc_server_free(bench->server);
    tg_device_worker_free(bench->devices);
    tg_health_stream_free(bench->stream);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

/* One message of one device: {pool, name}, health, time (and, if it is not healthy, a text). */
static void wait_bytes(struct bench *bench, const struct client_call *call, const char *bytes,
                       size_t n)
{
    kubelet_exchange(&bench->kubelet);
    while (memmem(tg_buf_str(&call->body), call->body.len, bytes, n) == NULL) {
        tg_loop_run_once(bench->loop, true);
        kubelet_exchange(&bench->kubelet);
    }
}

static void on_passed(struct tg_timer *timer)
{
    struct bench *bench = timer->data;
    bench->passed = true;
}

static void pass(struct bench *bench, int64_t time)
{
    struct tg_timer timer = {.callback = on_passed, .data = bench};
    bench->passed = false;
    tg_timer_start(bench->loop, &timer, time);
    while (!bench->passed)
        tg_loop_run_once(bench->loop, true);
}

static void a_message_names_device_health_and_time(void **state)
{
    static const char message[] = "\x0a\x17\x0a\x0d\x0a\x06node-a\x12\x03"
                                  "d-0"
                                  "\x10\x01\x18\x80\xe2\xcf\xaa\x06";
    struct bench *bench = *state;
    struct client_call *call = kubelet_start(&bench->kubelet, "/watch", NULL, 0);
    wait_bytes(bench, call, message, sizeof(message) - 1);
}

static void a_device_that_vanishes_is_told_by_the_next_message(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = kubelet_start(&bench->kubelet, "/watch", NULL, 0);
    wait_bytes(bench, call, "\x10\x01", 2);
    fake_set(0, false, false);
    wait_bytes(bench, call, "not found any more", 18);
    fake_set(0, true, false);
    wait_bytes(bench, call, "the library is lost", 19);
}

static void nothing_is_checked_while_nobody_watches(void **state)
{
    struct bench *bench = *state;
    int listed = fake_listed();
    pass(bench, 2 * TIMEOUT);
    assert_int_equal(fake_listed(), listed);
    struct client_call *call = kubelet_start(&bench->kubelet, "/watch", NULL, 0);
    wait_bytes(bench, call, "\x10\x01", 2);
    nghttp2_submit_rst_stream(bench->kubelet.client.session, 0, call->stream, NGHTTP2_CANCEL);
    while (bench->removed == 0)
        kubelet_exchange(&bench->kubelet);
    pass(bench, TIMEOUT / 10);
    listed = fake_listed();
    pass(bench, 2 * TIMEOUT);
    assert_int_equal(fake_listed(), listed);
}

static void watchers_share_one_check(void **state)
{
    struct bench *bench = *state;
    int listed = fake_listed();
    fake_set(1, false, true);
    struct client_call *one = kubelet_start(&bench->kubelet, "/watch", NULL, 0);
    struct client_call *two = kubelet_start(&bench->kubelet, "/watch", NULL, 0);
    kubelet_exchange(&bench->kubelet);
    while (fake_listed() == listed)
        tg_loop_run_once(bench->loop, false);
    fake_set(1, false, false);
    wait_bytes(bench, one, "\x10\x01", 2);
    wait_bytes(bench, two, "\x10\x01", 2);
    assert_in_range(fake_listed(), listed + 1, listed + 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_message_names_device_health_and_time),
        TEST(a_device_that_vanishes_is_told_by_the_next_message),
        TEST(nothing_is_checked_while_nobody_watches),
        TEST(watchers_share_one_check),
    };
    return cmocka_run_group_tests_name("health_stream", tests, NULL, NULL);
}
