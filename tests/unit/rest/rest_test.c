/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/http_server.h"

#include "api/runtime/base/str.h"
#include "api/runtime/rest/rest.h"

struct answer {
    int calls;
    struct tg_error err;
    int status;
    char body[256];
    size_t len;
    char content_type[64];
    int64_t retry_after;
    char streamed[256];
    int stop_after; /* pieces; on_data then returns -1 */
    int pieces;
    struct tg_rest *free_in_done;
    struct tg_rest_request *cancel_in_data;
};

struct fixture {
    struct tg_loop *loop;
    struct test_server server;
    struct tg_rest *rest;
    const char *token;
    bool token_awaited;
    bool token_refused;
    int requests;
    struct test_request last;
    char last_headers[2048];
    char last_body[256];
    struct test_connection *held[8]; /* requests to /hold, in order */
    size_t held_n;
};

static void handle(void *data, struct test_connection *connection,
                   const struct test_request *request)
{
    struct fixture *f = data;

    f->requests++;
    f->last = *request;
    snprintf(f->last_headers, sizeof(f->last_headers), "%s", request->headers);
    snprintf(f->last_body, sizeof(f->last_body), "%s", request->body);
    if (tg_has_prefix(request->path, "/hold"))
        f->held[f->held_n++] = connection;
    else if (tg_streq(request->path, "/redirect"))
        test_reply(connection, 302, "Location: /elsewhere\r\n", "");
    else if (tg_streq(request->path, "/busy"))
        test_reply(connection, 429, "Retry-After: 7\r\nContent-Type: application/json\r\n", "{}");
    else if (tg_streq(request->path, "/busy-for-years"))
        test_reply(connection, 429, "Retry-After: 99999999\r\n", "");
    else if (tg_streq(request->path, "/hangup"))
        test_connection_close(connection);
    else if (tg_streq(request->path, "/stream")) {
        test_begin(connection, 200);
        test_chunk(connection, "one\n");
        f->held[f->held_n++] = connection;
    } else if (tg_streq(request->path, "/cut")) {
        test_begin(connection, 200);
        test_chunk(connection, "half a li");
        test_connection_close(connection);
    } else
        test_reply(connection, 200, "Content-Type: text/x-test\r\n", "hello");
}

static int token(void *data, const char **ret, struct tg_error *err)
{
    const struct fixture *f = data;

    if (f->token_awaited)
        return TG_REST_WAIT;
    if (f->token_refused)
        return tg_error_set(err, TG_UNAUTHENTICATED, "no credentials today");
    *ret = f->token;
    return 0;
}

static int setup(void **state)
{
    struct fixture *f = tg_xcalloc(1, sizeof(*f));
    struct tg_rest_config config = {.user_agent = "tester/1", .token = token, .token_data = f};

    f->loop = tg_loop_new(false);
    test_server_start(&f->server, f->loop, handle, f);
    config.base_url = f->server.url;
    f->rest = tg_rest_new(f->loop, &config, NULL);
    assert_non_null(f->rest);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tg_rest_free(f->rest);
    test_server_stop(&f->server);
    tg_loop_free(f->loop);
    free(f);
    return 0;
}

static void on_done(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    struct answer *answer = data;

    answer->calls++;
    answer->err = *err;
    answer->status = response->status;
    answer->len = response->len;
    answer->retry_after = response->retry_after;
    snprintf(answer->body, sizeof(answer->body), "%s", response->body);
    snprintf(answer->content_type, sizeof(answer->content_type), "%s", response->content_type);
    tg_rest_free(answer->free_in_done);
}

static int on_data(void *data, const char *bytes, size_t n)
{
    struct answer *answer = data;
    size_t len = strlen(answer->streamed);

    assert_true(len + n < sizeof(answer->streamed));
    memcpy(answer->streamed + len, bytes, n);
    answer->pieces++;
    tg_rest_cancel(answer->cancel_in_data);
    return answer->stop_after > 0 && answer->pieces >= answer->stop_after ? -1 : 0;
}

static struct tg_rest_call call(const char *path, struct answer *answer)
{
    return (struct tg_rest_call){.path = path, .done = on_done, .data = answer};
}

static struct tg_rest_request *get(struct fixture *f, const char *path, struct answer *answer)
{
    struct tg_rest_call c = call(path, answer);

    return tg_rest_send(f->rest, &c);
}

static void wait_for(struct fixture *f, const struct answer *answer)
{
    while (answer->calls == 0)
        tg_loop_run_once(f->loop, true);
    assert_int_equal(answer->calls, 1);
}

static void wait_held(struct fixture *f, size_t n)
{
    while (f->held_n < n)
        tg_loop_run_once(f->loop, true);
}

static void an_answer_is_told_once_with_status_body_and_type(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};

    get(f, "/a?b=c%20d", &answer);
    assert_int_equal(answer.calls, 0); /* never from inside send */
    assert_int_equal(tg_rest_in_flight(f->rest), 1);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "hello");
    assert_int_equal(answer.len, 5);
    assert_string_equal(answer.content_type, "text/x-test");
    assert_string_equal(f->last.method, "GET");
    assert_string_equal(f->last.path, "/a?b=c%20d");
    assert_int_equal(tg_rest_in_flight(f->rest), 0);
    for (int i = 0; i < 5; i++)
        tg_loop_run_once(f->loop, false);
    assert_int_equal(answer.calls, 1);
}

static void every_method_carries_its_name_and_body(void **state)
{
    static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    struct fixture *f = *state;

    for (int method = TG_REST_GET; method <= TG_REST_DELETE; method++) {
        for (int with_body = 0; with_body < (method == TG_REST_GET ? 1 : 2); with_body++) {
            struct answer answer = {0};
            struct tg_rest_call c = call("/m", &answer);
            c.method = (enum tg_rest_method)method;
            c.content_type = "application/merge-patch+json";
            c.body = with_body ? "{\"a\":1} and more" : NULL;
            c.body_len = with_body ? 7 : 0;
            tg_rest_send(f->rest, &c);
            wait_for(f, &answer);
            assert_string_equal(f->last.method, names[method]);
            assert_string_equal(f->last_body, with_body ? "{\"a\":1}" : "");
            assert_int_equal(strstr(f->last_headers, "application/merge-patch+json") != NULL,
                             with_body);
            assert_null(strcasestr(f->last_headers, "Expect:"));
        }
    }
}

static void a_request_names_what_it_accepts_and_who_asks(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/a", &answer);

    c.accept = "application/vnd.kubernetes.protobuf";
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_non_null(strstr(f->last_headers, "Accept: application/vnd.kubernetes.protobuf\r\n"));
    assert_non_null(strstr(f->last_headers, "User-Agent: tester/1\r\n"));
    assert_non_null(strstr(f->last_headers, "Accept-Encoding: gzip\r\n"));
    assert_null(strstr(f->last_headers, "Authorization"));
}

static void the_token_is_asked_for_before_each_request(void **state)
{
    struct fixture *f = *state;
    struct answer first = {0};
    struct answer second = {0};

    f->token = "abc";
    get(f, "/a", &first);
    wait_for(f, &first);
    assert_non_null(strstr(f->last_headers, "Authorization: Bearer abc\r\n"));
    f->token = "def";
    get(f, "/a", &second);
    wait_for(f, &second);
    assert_non_null(strstr(f->last_headers, "Authorization: Bearer def\r\n"));
}

static void a_token_with_a_line_break_is_refused_and_not_repeated_in_the_message(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};

    f->token = "secret\r\nX-Injected: yes";
    get(f, "/a", &answer);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_INVALID_ARGUMENT);
    assert_null(strstr(answer.err.message, "secret"));
    assert_int_equal(f->requests, 0);
}

static void requests_wait_for_the_token_and_go_when_it_is_there(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};

    f->token_awaited = true;
    get(f, "/a", &answer);
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(f->loop, false);
    assert_int_equal(f->server.accepted, 0);
    f->token_awaited = false;
    f->token = "late";
    tg_rest_resume(f->rest);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_non_null(strstr(f->last_headers, "Authorization: Bearer late\r\n"));
}

static void a_request_without_credentials_fails_with_the_reason(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};

    f->token_refused = true;
    get(f, "/a", &answer);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_UNAUTHENTICATED);
    assert_string_equal(answer.err.message, "no credentials today");
    assert_int_equal(f->requests, 0);
}

/* Connections are innocent of a token that does not come: watches on them go on. */
static void a_request_that_waits_in_vain_fails_at_its_deadline_and_harms_no_other(void **state)
{
    struct fixture *f = *state;
    struct answer stream = {0};
    struct answer late = {0};
    struct tg_rest_call c = call("/stream", &stream);

    c.on_data = on_data;
    tg_rest_send(f->rest, &c);
    while (f->held_n == 0)
        tg_loop_run_once(f->loop, true);
    f->token_awaited = true;
    c = call("/a", &late);
    c.timeout = 50 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    wait_for(f, &late);
    assert_int_equal(late.err.code, TG_DEADLINE_EXCEEDED);
    assert_non_null(strstr(late.err.message, "credentials"));
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(f->loop, false);
    assert_int_equal(stream.calls, 0);
    assert_int_equal(tg_rest_in_flight(f->rest), 1);
}

static int ignore_data(void *data, const char *bytes, size_t n)
{
    (void)data;
    (void)bytes;
    (void)n;
    return 0;
}

static void a_stream_that_trickles_for_ever_ends_at_its_overall_deadline(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/stream", &answer);

    c.on_data = ignore_data;
    c.idle_timeout = 10 * TG_SECOND;
    c.total_timeout = 150 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    while (answer.calls == 0) {
        tg_loop_run_once(f->loop, true);
        if (f->held_n == 1 && answer.calls == 0 && f->server.connections != NULL)
            test_chunk(f->held[0], "more\n");
    }
    assert_int_equal(answer.err.code, TG_DEADLINE_EXCEEDED);
    assert_non_null(strstr(answer.err.message, "not complete within 150 ms"));
}

static void redirects_are_not_followed(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};

    get(f, "/redirect", &answer);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_int_equal(answer.status, 302);
    assert_int_equal(f->requests, 1);
}

static void retry_after_is_told_and_bounded(void **state)
{
    struct fixture *f = *state;
    struct answer seven = {0};
    struct answer years = {0};

    get(f, "/busy", &seven);
    wait_for(f, &seven);
    assert_int_equal(seven.status, 429);
    assert_true(seven.retry_after == 7 * TG_SECOND);
    get(f, "/busy-for-years", &years);
    wait_for(f, &years);
    assert_true(years.retry_after == 600 * TG_SECOND);
}

static void a_body_over_the_cap_is_refused(void **state)
{
    struct fixture *f = *state;
    struct answer small = {0};
    struct answer exact = {0};
    struct tg_rest_call c = call("/a", &small);

    c.max_body = 4;
    tg_rest_send(f->rest, &c);
    wait_for(f, &small);
    assert_int_equal(small.err.code, TG_RESOURCE_EXHAUSTED);
    assert_false(small.err.retry);
    c = call("/a", &exact);
    c.max_body = 5;
    tg_rest_send(f->rest, &c);
    wait_for(f, &exact);
    assert_int_equal(exact.err.code, TG_OK);
}

static void a_gzipped_answer_is_unpacked_and_the_cap_counts_what_comes_out(void **state)
{
    /* "hello" 40 times, as gzip writes it. */
    static const unsigned char zipped[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb, 0x48, 0xcd, 0xc9,
        0xc9, 0xcf, 0x18, 0xfa, 0x04, 0x00, 0xe1, 0x50, 0xd3, 0x00, 0xc8, 0x00, 0x00, 0x00};
    struct fixture *f = *state;

    for (int fits = 0; fits < 2; fits++) {
        struct answer answer = {0};
        struct tg_rest_call c = call("/hold", &answer);
        char head[128];
        c.max_body = fits ? 200 : 199;
        f->held_n = 0;
        tg_rest_send(f->rest, &c);
        wait_held(f, 1);
        int n = snprintf(head, sizeof(head),
                         "HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                         sizeof(zipped));
        test_send(f->held[0], head, (size_t)n);
        test_send(f->held[0], (const char *)zipped, sizeof(zipped));
        wait_for(f, &answer);
        assert_int_equal(answer.err.code, fits ? TG_OK : TG_RESOURCE_EXHAUSTED);
        assert_int_equal(answer.len, fits ? 200 : 0);
    }
}

static void a_stream_is_handed_over_as_it_arrives_and_ends_cleanly(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/stream", &answer);

    c.on_data = on_data;
    c.timeout = 2 * TG_SECOND;
    tg_rest_send(f->rest, &c);
    while (answer.pieces < 1)
        tg_loop_run_once(f->loop, true);
    assert_string_equal(answer.streamed, "one\n");
    test_chunk(f->held[0], "two\n");
    while (answer.pieces < 2)
        tg_loop_run_once(f->loop, true);
    assert_string_equal(answer.streamed, "one\ntwo\n");
    assert_int_equal(answer.calls, 0);
    test_end(f->held[0]);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_string_equal(answer.body, "");
}

static void a_cut_stream_is_unavailable_and_its_data_was_delivered(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/cut", &answer);

    c.on_data = on_data;
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_UNAVAILABLE);
    assert_true(answer.err.retry);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.streamed, "half a li");
}

static void an_error_answer_to_a_stream_comes_as_a_body(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/busy", &answer);

    c.on_data = on_data;
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.status, 429);
    assert_string_equal(answer.body, "{}");
    assert_string_equal(answer.streamed, "");
}

static void a_receiver_can_stop_its_stream(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {.stop_after = 1};
    struct tg_rest_call c = call("/stream", &answer);

    c.on_data = on_data;
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_CANCELLED);
    assert_int_equal(answer.pieces, 1);
}

static void a_receiver_can_cancel_its_stream_and_is_not_called_again(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct answer other = {0};
    struct tg_rest_call c = call("/stream", &answer);

    c.on_data = on_data;
    answer.cancel_in_data = tg_rest_send(f->rest, &c);
    while (answer.pieces < 1)
        tg_loop_run_once(f->loop, true);
    get(f, "/a", &other);
    wait_for(f, &other);
    assert_int_equal(answer.calls, 0);
    assert_int_equal(answer.pieces, 1);
    assert_int_equal(tg_rest_in_flight(f->rest), 0);
}

static void a_silent_stream_fails_after_its_idle_time(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/stream", &answer);

    c.on_data = on_data;
    c.idle_timeout = 30 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_DEADLINE_EXCEEDED);
    assert_true(answer.err.retry);
    assert_string_equal(answer.streamed, "one\n");
}

static void a_cancelled_request_is_never_told(void **state)
{
    struct fixture *f = *state;
    struct answer queued = {0};
    struct answer sent = {0};
    struct answer after = {0};

    tg_rest_cancel(get(f, "/a", &queued));
    struct tg_rest_request *request = get(f, "/hold", &sent);
    wait_held(f, 1);
    tg_rest_cancel(request);
    tg_rest_cancel(NULL);
    assert_int_equal(tg_rest_in_flight(f->rest), 0);
    get(f, "/a", &after);
    wait_for(f, &after);
    assert_int_equal(queued.calls, 0);
    assert_int_equal(sent.calls, 0);
    assert_int_equal(f->requests, 2); /* the queued one was never sent */
}

static bool refuse(void *data)
{
    ((struct answer *)data)->pieces++;
    return false;
}

static bool allow(void *data)
{
    ((struct answer *)data)->pieces++;
    return true;
}

static void a_request_whose_time_is_over_when_it_could_be_sent_is_not(void **state)
{
    struct fixture *f = *state;
    struct answer first = {0}, sent = {0}, refused = {0};
    struct tg_rest_call c = call("/a", &refused), other = call("/a", &sent);

    /* On a connection that stands already as on a new one. */
    for (int i = 0; i < 2; i++) {
        refused.calls = 0;
        c.may_send = refuse;
        tg_rest_send(f->rest, &c);
        wait_for(f, &refused);
        assert_int_equal(refused.err.code, TG_FAILED_PRECONDITION);
        assert_int_equal(refused.status, 0);
        assert_int_equal(refused.pieces, i + 1);
        assert_int_equal(f->requests, i);
        if (i == 0) {
            get(f, "/a", &first);
            wait_for(f, &first);
        }
    }
    other.may_send = allow;
    tg_rest_send(f->rest, &other);
    wait_for(f, &sent);
    assert_int_equal(sent.status, 200);
    assert_int_equal(sent.pieces, 1);
}

static void a_request_past_its_deadline_fails(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    struct tg_rest_call c = call("/hold", &answer);

    c.timeout = 30 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_DEADLINE_EXCEEDED);
    assert_int_equal(answer.status, 0);
    assert_non_null(strstr(answer.err.message, "30 ms"));
}

static void a_connection_on_which_nothing_arrives_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct answer patient = {0};
    struct answer hasty = {0};
    struct answer next = {0};
    struct tg_rest_call c = call("/hold", &hasty);

    get(f, "/hold", &patient);
    c.timeout = 50 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    wait_for(f, &hasty);
    wait_for(f, &patient);
    assert_int_equal(hasty.err.code, TG_DEADLINE_EXCEEDED);
    assert_int_equal(patient.err.code, TG_UNAVAILABLE);
    get(f, "/a", &next);
    wait_for(f, &next);
    assert_int_equal(next.status, 200);
}

static void a_slow_request_does_not_harm_the_others_while_data_flows(void **state)
{
    struct fixture *f = *state;
    struct answer patient = {0};
    struct answer hasty = {0};
    struct answer other = {0};
    struct tg_rest_call c = call("/hold", &hasty);

    get(f, "/hold", &patient);
    c.timeout = 500 * TG_MILLISECOND;
    tg_rest_send(f->rest, &c);
    wait_held(f, 2);
    get(f, "/a", &other);
    wait_for(f, &other);
    wait_for(f, &hasty);
    tg_loop_run_once(f->loop, false);
    assert_int_equal(patient.calls, 0);
    test_reply(f->held[0], 200, "", "late");
    wait_for(f, &patient);
    assert_string_equal(patient.body, "late");
}

static void a_server_that_hangs_up_or_is_not_there_is_unavailable(void **state)
{
    struct fixture *f = *state;
    struct answer hangup = {0};
    struct answer refused = {0};
    struct tg_rest_config config = {.base_url = "http://127.0.0.1:1"};
    struct tg_rest *nobody = tg_rest_new(f->loop, &config, NULL);
    struct tg_rest_call c = call("/a", &refused);

    get(f, "/hangup", &hangup);
    wait_for(f, &hangup);
    assert_int_equal(hangup.err.code, TG_UNAVAILABLE);
    assert_int_equal(hangup.status, 0);
    tg_rest_send(nobody, &c);
    wait_for(f, &refused);
    assert_int_equal(refused.err.code, TG_UNAVAILABLE);
    assert_non_null(strstr(refused.err.message, "http://127.0.0.1:1/a"));
    tg_rest_free(nobody);
}

static void many_requests_at_once_are_all_answered(void **state)
{
    struct fixture *f = *state;
    struct answer answers[100] = {0};

    for (size_t i = 0; i < 100; i++)
        get(f, "/a", &answers[i]);
    for (size_t i = 0; i < 100; i++)
        wait_for(f, &answers[i]);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(answers[i].status, 200);
}

static void the_client_may_be_freed_from_done_and_tells_nothing_more(void **state)
{
    struct fixture *f = *state;
    struct answer first = {.free_in_done = f->rest};
    struct answer second = {0};

    get(f, "/a", &first);
    get(f, "/hold", &second);
    f->rest = NULL;
    wait_for(f, &first);
    for (int i = 0; i < 5; i++)
        tg_loop_run_once(f->loop, false);
    assert_int_equal(second.calls, 0);
}

static void plain_http_is_for_loopback_addresses_only(void **state)
{
    static const struct {
        const char *url;
        bool ok;
    } cases[] = {
        {"http://127.0.0.1:80", true},
        {"http://localhost:8001", true},
        {"http://[::1]:8001", true},
        {"https://10.0.0.1:443", true},
        {"https://example.com/k8s/clusters/a/", true},
        {"http://10.0.0.1:80", false},
        {"http://127.0.0.1.example.com", false},
        {"http://127.example.com", false},
        {"ftp://127.0.0.1", false},
        {"file:///etc/passwd", false},
        {"not a url", false},
        {"", false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_error err = TG_ERROR_INIT;
        struct tg_rest_config config = {.base_url = cases[i].url};
        struct tg_rest *rest = tg_rest_new(f->loop, &config, &err);
        assert_int_equal(rest != NULL, cases[i].ok);
        if (!cases[i].ok)
            assert_int_equal(err.code, TG_INVALID_ARGUMENT);
        tg_rest_free(rest);
    }
}

static void an_unreadable_certificate_is_told_with_its_file(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    char url[64];
    struct tg_rest_config config = {.base_url = url};
    struct tg_rest_call c = call("/a", &answer);
    struct tg_rest *rest;

    snprintf(url, sizeof(url), "https://127.0.0.1:%d", f->server.port);
    config.tls.ca_file = "/nonexistent/ca.crt";
    config.tls.server_name = "kubernetes.default.svc";
    rest = tg_rest_new(f->loop, &config, NULL);
    assert_non_null(rest);
    tg_rest_send(rest, &c);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_FAILED_PRECONDITION);
    assert_non_null(strstr(answer.err.message, "/nonexistent/ca.crt"));
    tg_rest_free(rest);
}

static void a_server_without_tls_is_not_spoken_to_in_https(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    char url[64];
    struct tg_rest_config config = {.base_url = url};
    struct tg_rest_call c = call("/a", &answer);
    struct tg_rest *rest;

    snprintf(url, sizeof(url), "https://127.0.0.1:%d", f->server.port);
    c.timeout = 2 * TG_SECOND;
    config.tls.insecure = true;
    rest = tg_rest_new(f->loop, &config, NULL);
    tg_rest_send(rest, &c);
    /* The server waits for the end of a head that never comes: it is closed by hand. */
    while (f->server.connections == NULL || f->server.connections->in.len == 0)
        tg_loop_run_once(f->loop, true);
    test_connection_close(f->server.connections);
    wait_for(f, &answer);
    assert_int_equal(answer.err.code, TG_UNAVAILABLE);
    assert_int_equal(f->requests, 0);
    tg_rest_free(rest);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_is_told_once_with_status_body_and_type),
        TEST(every_method_carries_its_name_and_body),
        TEST(a_request_names_what_it_accepts_and_who_asks),
        TEST(the_token_is_asked_for_before_each_request),
        TEST(a_token_with_a_line_break_is_refused_and_not_repeated_in_the_message),
        TEST(requests_wait_for_the_token_and_go_when_it_is_there),
        TEST(a_request_without_credentials_fails_with_the_reason),
        TEST(a_request_that_waits_in_vain_fails_at_its_deadline_and_harms_no_other),
        TEST(a_stream_that_trickles_for_ever_ends_at_its_overall_deadline),
        TEST(redirects_are_not_followed),
        TEST(retry_after_is_told_and_bounded),
        TEST(a_body_over_the_cap_is_refused),
        TEST(a_gzipped_answer_is_unpacked_and_the_cap_counts_what_comes_out),
        TEST(a_stream_is_handed_over_as_it_arrives_and_ends_cleanly),
        TEST(a_cut_stream_is_unavailable_and_its_data_was_delivered),
        TEST(an_error_answer_to_a_stream_comes_as_a_body),
        TEST(a_receiver_can_stop_its_stream),
        TEST(a_receiver_can_cancel_its_stream_and_is_not_called_again),
        TEST(a_silent_stream_fails_after_its_idle_time),
        TEST(a_cancelled_request_is_never_told),
        TEST(a_request_whose_time_is_over_when_it_could_be_sent_is_not),
        TEST(a_request_past_its_deadline_fails),
        TEST(a_connection_on_which_nothing_arrives_is_given_up),
        TEST(a_slow_request_does_not_harm_the_others_while_data_flows),
        TEST(a_server_that_hangs_up_or_is_not_there_is_unavailable),
        TEST(many_requests_at_once_are_all_answered),
        TEST(the_client_may_be_freed_from_done_and_tells_nothing_more),
        TEST(plain_http_is_for_loopback_addresses_only),
        TEST(an_unreadable_certificate_is_told_with_its_file),
        TEST(a_server_without_tls_is_not_spoken_to_in_https),
    };
    return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
