/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/grpc/session.h"
#include "tests/unit/grpc/client.h"

/* The methods of these tests: what the handler does is in the name. */
static const char echo[] = "/t.T/Echo";
static const char fail[] = "/t.T/Fail";
static const char later[] = "/t.T/Later";
static const char *const paths[] = {echo, fail, later};

struct bench {
    struct tg_grpc_session *session;
    struct tg_grpc_budget budget;
    struct client client;
    int64_t now;
    int requests;
    int cancelled;
    int32_t last_stream;
    int64_t last_deadline;
    bool broken;
};

static const void *find(void *data, const char *path)
{
    (void)data;
    for (size_t i = 0; i < TG_ARRAY_SIZE(paths); i++)
        if (tg_streq(paths[i], path))
            return paths[i];
    return NULL;
}

static void request(void *data, int32_t stream, const void *method, const uint8_t *message,
                    size_t n, int64_t deadline)
{
    struct bench *bench = data;
    struct tg_error err;

    bench->requests++;
    bench->last_stream = stream;
    bench->last_deadline = deadline;
    if (method == echo)
        tg_grpc_session_reply(bench->session, stream, message, n);
    if (method == fail) {
        tg_error_set(&err, TG_FAILED_PRECONDITION, "device %s is \"held\": 100%%\n\xff", "gpu-0");
        tg_grpc_session_fail(bench->session, stream, &err);
    }
}

static void cancelled(void *data, int32_t stream, const void *method)
{
    struct bench *bench = data;
    (void)stream;
    (void)method;
    bench->cancelled++;
}

static const struct tg_grpc_session_handlers bench_handlers = {find, request, cancelled};

/* Carries bytes both ways until nobody has more to say. */
static void exchange(struct bench *bench)
{
    bool moved = true;
    while (moved && !bench->broken) {
        const uint8_t *bytes;
        size_t n;
        moved = false;
        ssize_t sent;
        while ((sent = nghttp2_session_mem_send(bench->client.session, &bytes)) > 0) {
            moved = true;
            if (tg_grpc_session_receive(bench->session, bytes, (size_t)sent, bench->now, NULL) != 0)
                bench->broken = true;
        }
        while (tg_grpc_session_output(bench->session, &bytes, &n, NULL) == 0 && n > 0) {
            moved = true;
            /* In two parts, as a socket that takes only some of it. */
            size_t part = n > 1 ? n / 2 : n;
            assert_int_equal(nghttp2_session_mem_recv(bench->client.session, bytes, part), part);
            tg_grpc_session_sent(bench->session, part);
        }
    }
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->now = 1000 * TG_SECOND;
    bench->budget = (struct tg_grpc_budget){.max = (size_t)16 << 20, .own = (size_t)64 << 10};
    bench->session = tg_grpc_session_new(&bench_handlers, bench, &bench->budget);
    client_init(&bench->client);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_grpc_session_free(bench->session);
    assert_int_equal(bench->budget.used, 0);
    client_done(&bench->client);
    free(bench);
    return 0;
}

static struct client_call *start_text(struct bench *bench, const char *path, const char *text,
                                      const char *timeout)
{
    TG_AUTOBUF struct tg_buf frame = client_frame(text);
    const struct client_request r = {
        .path = path, .timeout = timeout, .body = frame.data, .n = frame.len};
    return client_start(&bench->client, &r);
}

static void settings_come_before_the_client_said_anything(void **state)
{
    struct bench *bench = *state;
    const uint8_t *bytes;
    size_t n;
    assert_int_equal(tg_grpc_session_output(bench->session, &bytes, &n, NULL), 0);
    assert_true(n > 9);
    assert_int_equal(bytes[3], NGHTTP2_SETTINGS);
}

static void a_unary_call_has_headers_message_and_trailers(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, echo, "hello kubelet", NULL);
    exchange(bench);
    assert_true(call->closed);
    assert_int_equal(call->close_code, NGHTTP2_NO_ERROR);
    assert_string_equal(call->http_status, "200");
    assert_string_equal(call->content_type, "application/grpc");
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(call->header_blocks, 2);
    assert_int_equal(call->body.len, 5 + 13);
    assert_memory_equal(call->body.data, "\0\0\0\0\x0dhello kubelet", 18);
}

static void an_error_is_one_header_block_with_an_encoded_text(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, fail, "x", NULL);
    exchange(bench);
    assert_true(call->closed);
    assert_string_equal(call->http_status, "200");
    assert_string_equal(call->grpc_status, "9");
    assert_string_equal(call->grpc_message, "device%20gpu-0%20is%20\"held\":%20100%25%0A?");
    assert_int_equal(call->header_blocks, 1);
    assert_int_equal(call->body.len, 0);
}

static void an_unknown_method_is_unimplemented_before_the_body_is_complete(void **state)
{
    struct bench *bench = *state;
    const struct client_request r = {.path = "/t.T/Nothing", .open = true};
    struct client_call *call = client_start(&bench->client, &r);
    exchange(bench);
    assert_true(call->closed);
    assert_int_equal(call->close_code, NGHTTP2_NO_ERROR);
    assert_string_equal(call->grpc_status, "12");
    assert_string_equal(call->accept_encoding, "identity");
    assert_int_equal(bench->requests, 0);
}

static void other_content_types_and_methods_are_http_errors(void **state)
{
    static const struct {
        const char *method, *content_type, *status;
    } cases[] = {
        {NULL, "application/grpc+proto", "200"}, {NULL, "application/grpc;x=y", "200"},
        {NULL, "application/json", "415"},       {NULL, "application/grpcweb", "415"},
        {NULL, "application/grpc+json", "415"},  {"GET", "application/grpc", "405"},
    };
    struct bench *bench = *state;
    TG_AUTOBUF struct tg_buf frame = client_frame("x");
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        const struct client_request r = {.path = echo,
                                         .method = cases[i].method,
                                         .content_type = cases[i].content_type,
                                         .body = frame.data,
                                         .n = frame.len};
        struct client_call *call = client_start(&bench->client, &r);
        exchange(bench);
        assert_true(call->closed);
        assert_string_equal(call->http_status, cases[i].status);
    }
}

static void bad_requests_get_the_status_that_grpc_provides(void **state)
{
    static const struct {
        const char *body, *timeout, *status;
        size_t n;
    } cases[] = {
        {"", NULL, "13", 0},              /* no message */
        {"\0\0\0\0\5ab", NULL, "13", 7},  /* cut */
        {"\0\0\0\0\1ab", NULL, "13", 7},  /* two */
        {"\1\0\0\0\1a", NULL, "12", 6},   /* compressed */
        {"\0\x7f\0\0\0a", NULL, "8", 6},  /* too large */
        {"\0\0\0\0\1a", "soon", "13", 6}, /* bad grpc-timeout */
    };
    struct bench *bench = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        const struct client_request r = {
            .path = echo, .timeout = cases[i].timeout, .body = cases[i].body, .n = cases[i].n};
        struct client_call *call = client_start(&bench->client, &r);
        exchange(bench);
        assert_true(call->closed);
        assert_string_equal(call->grpc_status, cases[i].status);
    }
    assert_int_equal(bench->requests, 0);
    struct client_call *after = start_text(bench, echo, "still fine", NULL);
    exchange(bench);
    assert_string_equal(after->grpc_status, "0");
}

static void a_header_list_over_the_limit_resets_only_its_stream(void **state)
{
    struct bench *bench = *state;
    TG_AUTOFREE char *big = tg_xmalloc(20001);
    memset(big, 'a', 20000);
    big[20000] = '\0';
    const struct client_request r = {.path = echo, .extra = big};
    struct client_call *call = client_start(&bench->client, &r);
    exchange(bench);
    assert_true(call->closed);
    assert_int_equal(call->close_code, NGHTTP2_INTERNAL_ERROR);
    struct client_call *after = start_text(bench, echo, "still fine", NULL);
    exchange(bench);
    assert_string_equal(after->grpc_status, "0");
}

static void large_messages_pass_both_windows(void **state)
{
    struct bench *bench = *state;
    size_t n = (size_t)2 << 20;
    TG_AUTOBUF struct tg_buf frame = TG_BUF_INIT((size_t)4 << 20);
    const unsigned char prefix[5] = {0, 0, 0x20, 0, 0};
    TG_AUTOFREE char *payload = tg_xmalloc(n);
    memset(payload, 'p', n);
    tg_buf_append(&frame, prefix, 5);
    tg_buf_append(&frame, payload, n);
    bench->client.piece = 16384;
    const struct client_request r = {.path = echo, .body = frame.data, .n = frame.len};
    struct client_call *call = client_start(&bench->client, &r);
    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(call->body.len, frame.len);
    assert_memory_equal(call->body.data, frame.data, frame.len);
}

static void a_deadline_cancels_the_handler_and_answers_the_client(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, later, "x", "2S");
    struct client_call *patient = start_text(bench, later, "x", NULL);
    exchange(bench);
    assert_int_equal(bench->requests, 2);
    assert_int_equal(tg_grpc_session_next_deadline(bench->session), 1002 * TG_SECOND);
    tg_grpc_session_expire(bench->session, 1002 * TG_SECOND - 1);
    exchange(bench);
    assert_false(call->closed);
    tg_grpc_session_expire(bench->session, 1002 * TG_SECOND);
    exchange(bench);
    assert_string_equal(call->grpc_status, "4");
    assert_int_equal(bench->cancelled, 1);
    assert_false(patient->closed);
    assert_int_equal(tg_grpc_session_next_deadline(bench->session), 0);
}

static void an_answered_call_has_no_deadline_left(void **state)
{
    struct bench *bench = *state;
    start_text(bench, echo, "x", "2S");
    exchange(bench);
    assert_int_equal(bench->last_deadline, 1002 * TG_SECOND);
    assert_int_equal(tg_grpc_session_next_deadline(bench->session), 0);
    assert_int_equal(bench->cancelled, 0);
}

static void a_late_answer_to_a_cancelled_call_is_dropped(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    nghttp2_submit_rst_stream(bench->client.session, 0, call->stream, NGHTTP2_CANCEL);
    exchange(bench);
    assert_int_equal(bench->cancelled, 1);
    tg_grpc_session_reply(bench->session, call->stream, (const uint8_t *)"x", 1);
    exchange(bench);
    assert_int_equal(call->body.len, 0);
    assert_false(bench->broken);
}

static void a_second_answer_is_ignored(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_reply(bench->session, call->stream, (const uint8_t *)"one", 3);
    tg_grpc_session_reply(bench->session, call->stream, (const uint8_t *)"two", 3);
    exchange(bench);
    assert_int_equal(call->body.len, 8);
    assert_memory_equal(call->body.data + 5, "one", 3);
    assert_string_equal(call->grpc_status, "0");
}

static void an_answer_that_no_client_takes_is_an_error(void **state)
{
    struct bench *bench = *state;
    size_t n = ((size_t)4 << 20) + 1;
    TG_AUTOFREE uint8_t *big = tg_xcalloc(n, 1);
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_reply(bench->session, call->stream, big, n);
    exchange(bench);
    assert_string_equal(call->grpc_status, "8");
    assert_int_equal(call->body.len, 0);
}

static void a_stream_sends_each_state_while_the_client_reads(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    for (char c = 'a'; c <= 'c'; c++) {
        tg_grpc_session_send(bench->session, call->stream, (const uint8_t *)&c, 1);
        exchange(bench);
    }
    assert_int_equal(call->body.len, 18);
    assert_memory_equal(call->body.data, "\0\0\0\0\1a\0\0\0\0\1b\0\0\0\0\1c", 18);
    assert_false(call->closed);
}

static void a_stream_keeps_only_the_newest_state_while_the_client_does_not_read(void **state)
{
    struct bench *bench = *state;
    size_t n = 50000; /* the second one does not fit the window of 65535 any more */
    TG_AUTOFREE uint8_t *message = tg_xmalloc(n);
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    bench->client.hold_windows = true;
    for (int c = 'a'; c <= 'z'; c++) {
        memset(message, c, n);
        tg_grpc_session_send(bench->session, call->stream, message, n);
        exchange(bench);
    }
    bench->client.hold_windows = false;
    nghttp2_session_consume(bench->client.session, call->stream, call->body.len);
    exchange(bench);
    assert_int_equal(call->body.len, 3 * (n + 5));
    assert_int_equal(call->body.data[5], 'a');
    assert_int_equal(call->body.data[n + 5 + 5], 'b');
    assert_int_equal(call->body.data[2 * (n + 5) + 5], 'z');
}

static void a_failure_ends_a_stream_after_what_was_begun(void **state)
{
    struct bench *bench = *state;
    struct tg_error err;
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_send(bench->session, call->stream, (const uint8_t *)"a", 1);
    exchange(bench);
    tg_error_set(&err, TG_UNAVAILABLE, "provider restarts");
    tg_grpc_session_fail(bench->session, call->stream, &err);
    exchange(bench);
    assert_true(call->closed);
    assert_string_equal(call->grpc_status, "14");
    assert_string_equal(call->grpc_message, "provider%20restarts");
    assert_int_equal(call->body.len, 6);
    assert_int_equal(bench->cancelled, 0);
}

static void more_streams_than_allowed_are_refused_and_the_rest_is_served(void **state)
{
    struct bench *bench = *state;
    int refused = 0;
    for (int i = 0; i < 70; i++)
        start_text(bench, later, "x", NULL);
    exchange(bench);
    for (int i = 0; i < 70; i++)
        refused += bench->client.calls[i].closed &&
                   bench->client.calls[i].close_code == NGHTTP2_REFUSED_STREAM;
    /* What the client did not open because of our SETTINGS counts as refused by itself. */
    assert_int_equal(bench->requests, 64);
    assert_true(refused <= 6);
    assert_false(bench->broken);
}

static void pings_are_acknowledged(void **state)
{
    static const uint8_t bdp[8] = {2, 4, 16, 16, 9, 14, 7, 7};
    struct bench *bench = *state;
    for (int i = 0; i < 500; i++) {
        nghttp2_submit_ping(bench->client.session, NGHTTP2_FLAG_NONE, bdp);
        exchange(bench);
    }
    assert_int_equal(bench->client.pings_acked, 500);
}

static void shutdown_answers_open_calls_and_says_goaway(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_shutdown(bench->session);
    exchange(bench);
    assert_string_equal(call->grpc_status, "14");
    assert_int_equal(bench->client.goaways, 1);
    assert_int_equal(bench->cancelled, 1);
    assert_true(tg_grpc_session_finished(bench->session));
}

static void freeing_the_session_cancels_what_is_open(void **state)
{
    struct bench *bench = *state;
    start_text(bench, later, "x", NULL);
    start_text(bench, echo, "x", NULL);
    exchange(bench);
    tg_grpc_session_free(bench->session);
    bench->session = NULL;
    assert_int_equal(bench->cancelled, 1);
}

/* A call to `later` with a request of n bytes, of which `body` bytes are sent. */
static struct client_call *start_large(struct bench *bench, const char *path, size_t n, size_t body)
{
    TG_AUTOBUF struct tg_buf frame = TG_BUF_INIT((size_t)4 << 20);
    const unsigned char prefix[5] = {0, (unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                     (unsigned char)(n >> 8), (unsigned char)n};
    TG_AUTOFREE uint8_t *bytes = tg_xcalloc(1, body);

    tg_buf_append(&frame, prefix, sizeof(prefix));
    tg_buf_append(&frame, bytes, body);
    bench->client.piece = 16384;
    return client_start(&bench->client,
                        &(struct client_request){
                            .path = path, .body = frame.data, .n = frame.len, .open = body < n});
}

static void what_is_over_the_common_budget_is_refused_and_small_calls_are_served(void **state)
{
    struct bench *bench = *state;
    struct client_call *half, *refused, *small;

    bench->budget.max = (size_t)1 << 20;
    half = start_large(bench, later, (size_t)2 << 20, 900000);
    exchange(bench);
    assert_false(half->closed);
    assert_in_range(bench->budget.used, 800000, 900000);
    refused = start_large(bench, echo, 600000, 600000);
    exchange(bench);
    assert_string_equal(refused->grpc_status, "8");
    assert_non_null(strstr(refused->grpc_message, "all%20connections%20together"));
    bench->budget.used = bench->budget.max; /* by other sessions */
    nghttp2_submit_rst_stream(bench->client.session, 0, half->stream, NGHTTP2_CANCEL);
    exchange(bench);
    small = start_text(bench, echo, "hello", NULL);
    exchange(bench);
    assert_string_equal(small->grpc_status, "0");
    bench->budget.used -= bench->budget.max - (900000 - ((size_t)64 << 10));
}

static void answers_that_nobody_reads_count_against_the_budget(void **state)
{
    struct bench *bench = *state;
    TG_AUTOFREE uint8_t *large = tg_xcalloc(1, 900000);
    struct client_call *first, *second, *stream;

    bench->budget.max = (size_t)1 << 20;
    bench->client.hold_windows = true;
    first = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_reply(bench->session, first->stream, large, 900000);
    second = start_text(bench, later, "x", NULL);
    stream = start_text(bench, later, "x", NULL);
    exchange(bench);
    tg_grpc_session_reply(bench->session, second->stream, large, 900000);
    exchange(bench);
    assert_string_equal(second->grpc_status, "8");
    assert_int_equal(bench->cancelled, 0);
    /* A stream that cannot be told its state is ended; its handler hears of that afterwards. */
    tg_grpc_session_send(bench->session, stream->stream, large, 900000);
    assert_int_equal(bench->cancelled, 0);
    exchange(bench);
    assert_true(stream->closed);
    assert_int_equal(stream->close_code, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_int_equal(bench->cancelled, 1);
    assert_false(first->closed);
}

static void a_session_is_busy_from_the_request_to_the_end_of_the_answer(void **state)
{
    struct bench *bench = *state;
    struct client_call *call;

    exchange(bench);
    assert_false(tg_grpc_session_busy(bench->session));
    call = start_large(bench, later, 1000, 10); /* half a request is none */
    exchange(bench);
    assert_false(tg_grpc_session_busy(bench->session));
    call = start_text(bench, later, "x", NULL);
    exchange(bench);
    assert_true(tg_grpc_session_busy(bench->session));
    tg_grpc_session_reply(bench->session, call->stream, (const uint8_t *)"y", 1);
    exchange(bench);
    assert_false(tg_grpc_session_busy(bench->session));
}

static void bytes_that_are_no_http2_end_the_connection(void **state)
{
    struct bench *bench = *state;
    const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    struct tg_error err = TG_ERROR_INIT;
    int rc =
        tg_grpc_session_receive(bench->session, (const uint8_t *)text, sizeof(text) - 1, 1, &err);
    assert_int_equal(rc, -TG_UNAVAILABLE);
}

static void a_flood_of_resets_ends_the_connection(void **state)
{
    struct bench *bench = *state;
    bool gone = false;
    for (int i = 0; i < 5000 && !gone; i++) {
        bench->client.n = 0;
        const struct client_request r = {.path = later, .open = true};
        struct client_call *call = client_start(&bench->client, &r);
        if (call->stream < 0)
            break;
        exchange(bench);
        nghttp2_submit_rst_stream(bench->client.session, 0, call->stream, NGHTTP2_CANCEL);
        exchange(bench);
        tg_buf_done(&call->request);
        gone = bench->client.goaways > 0;
    }
    assert_true(gone);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(settings_come_before_the_client_said_anything),
        TEST(a_unary_call_has_headers_message_and_trailers),
        TEST(an_error_is_one_header_block_with_an_encoded_text),
        TEST(an_unknown_method_is_unimplemented_before_the_body_is_complete),
        TEST(other_content_types_and_methods_are_http_errors),
        TEST(bad_requests_get_the_status_that_grpc_provides),
        TEST(a_header_list_over_the_limit_resets_only_its_stream),
        TEST(large_messages_pass_both_windows),
        TEST(a_deadline_cancels_the_handler_and_answers_the_client),
        TEST(an_answered_call_has_no_deadline_left),
        TEST(a_late_answer_to_a_cancelled_call_is_dropped),
        TEST(a_second_answer_is_ignored),
        TEST(an_answer_that_no_client_takes_is_an_error),
        TEST(a_stream_sends_each_state_while_the_client_reads),
        TEST(a_stream_keeps_only_the_newest_state_while_the_client_does_not_read),
        TEST(a_failure_ends_a_stream_after_what_was_begun),
        TEST(more_streams_than_allowed_are_refused_and_the_rest_is_served),
        TEST(pings_are_acknowledged),
        TEST(shutdown_answers_open_calls_and_says_goaway),
        TEST(freeing_the_session_cancels_what_is_open),
        TEST(what_is_over_the_common_budget_is_refused_and_small_calls_are_served),
        TEST(answers_that_nobody_reads_count_against_the_budget),
        TEST(a_session_is_busy_from_the_request_to_the_end_of_the_answer),
        TEST(bytes_that_are_no_http2_end_the_connection),
        TEST(a_flood_of_resets_ends_the_connection),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
