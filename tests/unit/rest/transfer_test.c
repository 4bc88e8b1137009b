/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/http_server.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/rest/internal.h"

struct fixture {
    struct tg_loop *loop;
    struct test_server server;
    struct tg_rest *rest;
    const char *bytes; /* of the answer; the connection is closed after n of them */
    size_t n;
    char path[4096]; /* of the last request */
    char *got;       /* its body */
    size_t got_len;
    int calls, status;
    struct tg_error err;
    size_t len;
};

static void handle(void *data, struct test_connection *connection,
                   const struct test_request *request)
{
    struct fixture *f = data;

    snprintf(f->path, sizeof(f->path), "%s", request->path);
    free(f->got);
    f->got_len = request->body_len;
    f->got = tg_xmalloc(request->body_len + 1);
    memcpy(f->got, request->body, request->body_len + 1);
    connection->close_after = true;
    test_send(connection, f->bytes, f->n);
}

static int setup(void **state)
{
    struct fixture *f = tg_xcalloc(1, sizeof(*f));
    struct tg_rest_config config = {.user_agent = "tester/1"};

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
    free(f->got);
    free(f);
    return 0;
}

static void on_done(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    struct fixture *f = data;

    f->calls++;
    f->err = *err;
    f->status = response->status;
    f->len = response->len;
}

static int on_data(void *data, const char *bytes, size_t n)
{
    (void)data;
    (void)bytes;
    (void)n;
    return 0;
}

static void send_call(struct fixture *f, const struct tg_rest_call *how)
{
    struct tg_rest_call call = *how;

    call.path = tg_or(how->path, "/x");
    call.done = on_done;
    call.data = f;
    f->calls = 0;
    tg_rest_send(f->rest, &call);
    while (f->calls == 0)
        tg_loop_run_once(f->loop, true);
}

/* The answer to a write that is cut is a lost answer, wherever the cut is: never an outcome. */
static void an_answer_that_is_cut_anywhere_is_none(void **state)
{
    static const struct {
        const char *text;
        size_t last; /* bytes that tell nothing any more */
    } answers[] = {
        {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello", 0},
        {"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\nX: y\r\n\r\n{}", 0},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 1},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", 0},
    };
    static const enum tg_rest_method methods[] = {TG_REST_GET, TG_REST_POST, TG_REST_PATCH};
    struct fixture *f = *state;

    for (size_t i = 0; i < TG_ARRAY_SIZE(answers); i++)
        for (size_t m = 0; m < TG_ARRAY_SIZE(methods); m++) {
            size_t n = strlen(answers[i].text);
            struct tg_rest_call call = {.method = methods[m],
                                        .body = methods[m] == TG_REST_GET ? NULL : "{}",
                                        .body_len = methods[m] == TG_REST_GET ? 0 : 2};

            f->bytes = answers[i].text;
            for (f->n = 0; f->n < n - answers[i].last; f->n++) {
                send_call(f, &call);
                if (f->err.code != TG_UNAVAILABLE)
                    fail_msg("answer %zu cut after %zu bytes: status %d, %s", i, f->n, f->status,
                             tg_code_name(f->err.code));
                assert_true(f->err.message[0] != '\0');
            }
            send_call(f, &call);
            assert_int_equal(f->err.code, TG_OK);
        }
}

static void a_stream_that_is_cut_before_its_body_is_unavailable(void **state)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct fixture *f = *state;
    const struct tg_rest_call call = {.on_data = on_data};

    f->bytes = head;
    for (f->n = 0; f->n < sizeof(head); f->n++) {
        send_call(f, &call);
        assert_int_equal(f->err.code, TG_UNAVAILABLE);
    }
}

static void what_is_no_http_is_an_error(void **state)
{
    static const char *const answers[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\r\n\r\n",
        "HTTP/1.1 999999 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < TG_ARRAY_SIZE(answers); i++) {
        f->bytes = answers[i];
        f->n = strlen(answers[i]);
        send_call(f, &(struct tg_rest_call){0});
        if (f->err.code == TG_OK)
            fail_msg("answer %zu was taken: status %d", i, f->status);
    }
}

static void headers_without_end_are_an_error(void **state)
{
    struct fixture *f = *state;
    struct tg_buf bytes = TG_BUF_INIT(8 << 20);

    tg_buf_append_str(&bytes, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 100000; i++)
        tg_buf_printf(&bytes, "X-%d: 0123456789\r\n", i);
    f->bytes = bytes.data;
    f->n = bytes.len;
    send_call(f, &(struct tg_rest_call){0});
    assert_int_not_equal(f->err.code, TG_OK);
    tg_buf_done(&bytes);
}

static void a_body_goes_out_with_every_byte(void **state)
{
    static const char body[] = "k8s\0\x0a\xff\r\n\r\nend";
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct fixture *f = *state;

    f->bytes = ok;
    f->n = sizeof(ok) - 1;
    send_call(f, &(struct tg_rest_call){
                     .method = TG_REST_PUT, .body = body, .body_len = sizeof(body) - 1});
    assert_int_equal(f->err.code, TG_OK);
    assert_int_equal(f->got_len, sizeof(body) - 1);
    assert_memory_equal(f->got, body, sizeof(body) - 1);
}

static void replace_client(struct fixture *f, const struct tg_rest_config *config)
{
    tg_rest_free(f->rest);
    f->rest = tg_rest_new(f->loop, config, &f->err);
}

static void a_configured_proxy_is_used_and_none_of_the_environment(void **state)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct fixture *f = *state;
    struct tg_rest_config config = {.base_url = "http://localhost:1"};

    f->bytes = ok;
    f->n = sizeof(ok) - 1;
    setenv("http_proxy", f->server.url, 1);
    replace_client(f, &config);
    send_call(f, &(struct tg_rest_call){.path = "/through"});
    unsetenv("http_proxy");
    assert_int_equal(f->err.code, TG_UNAVAILABLE); /* nobody listens at port 1 */

    config.proxy_url = f->server.url;
    replace_client(f, &config);
    send_call(f, &(struct tg_rest_call){.path = "/through"});
    assert_int_equal(f->err.code, TG_OK);
    assert_string_equal(f->path, "http://localhost:1/through");

    config.proxy_url = "ftp://user:secret@proxy";
    replace_client(f, &config);
    assert_null(f->rest);
    assert_int_equal(f->err.code, TG_INVALID_ARGUMENT);
    assert_null(strstr(f->err.message, "secret"));
}

static void what_does_not_fit_is_refused_before_anything_is_sent(void **state)
{
    struct fixture *f = *state;
    struct tg_buf text = TG_BUF_INIT(1 << 20);

    tg_buf_append_char(&text, '/');
    for (int i = 0; i < 70000; i++)
        tg_buf_append_char(&text, 'a');
    send_call(f, &(struct tg_rest_call){.accept = tg_buf_str(&text)});
    assert_int_equal(f->err.code, TG_INVALID_ARGUMENT);
    assert_non_null(strstr(f->err.message, "a header is too long"));
    send_call(f, &(struct tg_rest_call){.path = tg_buf_str(&text)});
    assert_int_equal(f->err.code, TG_INVALID_ARGUMENT);
    assert_non_null(strstr(f->err.message, "the URL is too long"));
    assert_null(f->got);
    tg_buf_done(&text);
}

/* --- what curl's results mean ---------------------------------------------------------------- */

static void results_of_curl_have_codes(void **state)
{
    static const struct {
        CURLcode curl;
        enum tg_code code;
    } cases[] = {
        {CURLE_COULDNT_CONNECT, TG_UNAVAILABLE},
        {CURLE_RECV_ERROR, TG_UNAVAILABLE},
        {CURLE_PARTIAL_FILE, TG_UNAVAILABLE},
        {CURLE_HTTP2_STREAM, TG_UNAVAILABLE},
        {CURLE_OPERATION_TIMEDOUT, TG_UNAVAILABLE},
        {CURLE_URL_MALFORMAT, TG_INVALID_ARGUMENT},
        {CURLE_UNSUPPORTED_PROTOCOL, TG_INVALID_ARGUMENT},
        {CURLE_OUT_OF_MEMORY, TG_RESOURCE_EXHAUSTED},
        {CURLE_BAD_CONTENT_ENCODING, TG_DATA_LOSS},
        {CURLE_PEER_FAILED_VERIFICATION, TG_UNAUTHENTICATED},
        {CURLE_SSL_CERTPROBLEM, TG_FAILED_PRECONDITION},
        {CURLE_SSL_CACERT_BADFILE, TG_FAILED_PRECONDITION},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_rest_request request = {
            .rest = f->rest, .call = {.path = "/p"}, .error = TG_ERROR_INIT};

        tg_rest_set_result(&request, cases[i].curl);
        assert_int_equal(request.error.code, cases[i].code);
        assert_non_null(strstr(request.error.message, "GET http://127.0.0.1:"));
        /* The first reason is the one that counts. */
        tg_rest_set_result(&request, CURLE_OUT_OF_MEMORY);
        assert_int_equal(request.error.code, cases[i].code);
    }
}

static void success_without_the_end_of_the_headers_is_none(void **state)
{
    struct fixture *f = *state;
    struct tg_rest_request request = {
        .rest = f->rest, .call = {.path = "/p"}, .error = TG_ERROR_INIT};

    tg_rest_set_result(&request, CURLE_OK);
    assert_int_equal(request.error.code, TG_UNAVAILABLE);
    request.error = TG_ERROR_INIT;
    request.headers_complete = true;
    tg_rest_set_result(&request, CURLE_OK);
    assert_int_equal(request.error.code, TG_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_answer_that_is_cut_anywhere_is_none),
        TEST(a_stream_that_is_cut_before_its_body_is_unavailable),
        TEST(what_is_no_http_is_an_error),
        TEST(headers_without_end_are_an_error),
        TEST(a_body_goes_out_with_every_byte),
        TEST(a_configured_proxy_is_used_and_none_of_the_environment),
        TEST(what_does_not_fit_is_refused_before_anything_is_sent),
        TEST(results_of_curl_have_codes),
        TEST(success_without_the_end_of_the_headers_is_none),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
