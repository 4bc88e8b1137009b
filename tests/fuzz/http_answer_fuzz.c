/* SPDX-License-Identifier: Apache-2.0 */
/* What a server may answer to our client over HTTP/1.1. Byte 0: the length of the pieces in which
 * the rest arrives; its lowest bit: whether the body is streamed. Every request ends exactly once,
 * with an answer or with an error, and within its limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/rest/rest.h"
#include "tests/support/http_server.h"

enum { MAX_BODY = 1000, MAX_ERROR_BODY = 1 << 20 };

struct exchange {
    const char *bytes;
    size_t n, piece;
    bool stream;
    size_t streamed;
    int done;
};

static void serve(void *data, struct test_connection *connection,
                  const struct test_request *request)
{
    struct exchange *exchange = data;

    (void)request;
    for (size_t i = 0; i < exchange->n; i += exchange->piece) {
        size_t left = exchange->n - i;

        test_send(connection, exchange->bytes + i, left < exchange->piece ? left : exchange->piece);
    }
    connection->close_after = true;
    test_connection_flush(connection);
}

static int on_data(void *data, const char *bytes, size_t n)
{
    struct exchange *exchange = data;

    (void)bytes;
    exchange->streamed += n;
    return exchange->streamed > 100 * MAX_BODY ? -1 : 0;
}

static void on_done(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    struct exchange *exchange = data;

    exchange->done++;
    if (err->code == TG_OK && (response->status < 100 || response->status > 999))
        abort();
    /* Of a stream it is the body of an error. */
    if (response->len > (exchange->stream ? MAX_ERROR_BODY : MAX_BODY) ||
        strlen(response->body) > response->len)
        abort();
    if (exchange->stream && response->len > 0 && response->status / 100 == 2)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct tg_loop *loop;
    struct exchange exchange = {0};
    struct tg_rest_config config = {.user_agent = "test"};
    struct tg_rest_call call = {.method = TG_REST_GET,
                                .path = "/",
                                .timeout = 10 * TG_SECOND,
                                .max_body = MAX_BODY,
                                .done = on_done,
                                .data = &exchange};
    struct test_server server;
    struct tg_rest *rest;

    if (n == 0)
        return 0;
    if (loop == NULL)
        loop = tg_loop_new(true);
    exchange = (struct exchange){.bytes = (const char *)data + 1,
                                 .n = n - 1,
                                 .piece = data[0] < 2 ? 65536 : data[0],
                                 .stream = data[0] % 2 == 1};
    call.on_data = exchange.stream ? on_data : NULL;
    test_server_start(&server, loop, serve, &exchange);
    config.base_url = server.url;
    rest = tg_rest_new(loop, &config, NULL);
    if (rest == NULL)
        abort();
    tg_rest_send(rest, &call);
    while (exchange.done == 0)
        tg_loop_run_once(loop, true);
    if (exchange.done != 1 || tg_rest_in_flight(rest) != 0)
        abort();
    tg_rest_free(rest);
    test_server_stop(&server);
    return 0;
}
