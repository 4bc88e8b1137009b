/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP/2 client that speaks gRPC, in memory: what it sends and gets are bytes that the test
 * carries. */
#ifndef TG_TEST_GRPC_CLIENT_H
#define TG_TEST_GRPC_CLIENT_H

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define CLIENT_CALLS 80
#define CLIENT_PIECE                                                                               \
    7 /* request bodies leave in frames of so many bytes, if not told otherwise                    \
       */

struct client_call {
    int32_t stream;
    struct tg_buf request;
    size_t request_sent;
    bool request_ends; /* END_STREAM after the request */
    char http_status[8];
    char grpc_status[8];
    char grpc_message[2048];
    char content_type[64];
    char accept_encoding[64];
    struct tg_buf body;
    int header_blocks;
    bool closed;
    uint32_t close_code;
};

struct client {
    nghttp2_session *session;
    size_t piece;
    bool hold_windows; /* consume nothing: the peer's windows stay closed once they are used up */
    int n;
    int goaways;
    int pings_acked;
    int settings;
    struct client_call calls[CLIENT_CALLS];
};

static inline struct client_call *client_find(struct client *client, int32_t stream)
{
    for (int i = 0; i < client->n; i++)
        if (client->calls[i].stream == stream)
            return &client->calls[i];
    return NULL;
}

static inline ssize_t client_read(nghttp2_session *session, int32_t stream, uint8_t *to,
                                  size_t length, uint32_t *flags, nghttp2_data_source *source,
                                  void *data)
{
    struct client *client = data;
    struct client_call *call = client_find(client, stream);
    size_t n = call->request.len - call->request_sent;

    (void)session;
    (void)source;
    n = n < length ? n : length;
    n = n < client->piece ? n : client->piece;
    if (n > 0)
        memcpy(to, call->request.data + call->request_sent, n);
    call->request_sent += n;
    if (call->request_sent == call->request.len && call->request_ends)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)n;
}

static inline int client_on_header(nghttp2_session *session, const nghttp2_frame *frame,
                                   const uint8_t *name, size_t name_n, const uint8_t *value,
                                   size_t value_n, uint8_t flags, void *data)
{
    struct client_call *call = client_find(data, frame->hd.stream_id);
    const char *n = (const char *)name;
    const char *v = (const char *)value;

    (void)session;
    (void)name_n;
    (void)value_n;
    (void)flags;
    if (call == NULL)
        return 0;
    if (tg_streq(n, ":status"))
        snprintf(call->http_status, sizeof(call->http_status), "%s", v);
    else if (tg_streq(n, "grpc-status"))
        snprintf(call->grpc_status, sizeof(call->grpc_status), "%s", v);
    else if (tg_streq(n, "grpc-message"))
        snprintf(call->grpc_message, sizeof(call->grpc_message), "%s", v);
    else if (tg_streq(n, "content-type"))
        snprintf(call->content_type, sizeof(call->content_type), "%s", v);
    else if (tg_streq(n, "grpc-accept-encoding"))
        snprintf(call->accept_encoding, sizeof(call->accept_encoding), "%s", v);
    return 0;
}

static inline int client_on_chunk(nghttp2_session *session, uint8_t flags, int32_t stream,
                                  const uint8_t *bytes, size_t n, void *data)
{
    struct client *client = data;
    struct client_call *call = client_find(client, stream);

    (void)flags;
    if (call != NULL)
        tg_buf_append(&call->body, bytes, n);
    if (!client->hold_windows)
        nghttp2_session_consume(session, stream, n);
    return 0;
}

static inline int client_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct client *client = data;
    struct client_call *call = client_find(client, frame->hd.stream_id);

    (void)session;
    if (frame->hd.type == NGHTTP2_HEADERS && call != NULL)
        call->header_blocks++;
    client->goaways += frame->hd.type == NGHTTP2_GOAWAY;
    client->settings += frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK);
    client->pings_acked += frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK);
    return 0;
}

static inline int client_on_close(nghttp2_session *session, int32_t stream, uint32_t code,
                                  void *data)
{
    struct client_call *call = client_find(data, stream);

    (void)session;
    if (call != NULL) {
        call->closed = true;
        call->close_code = code;
    }
    return 0;
}

static inline void client_init(struct client *client)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;

    memset(client, 0, sizeof(*client));
    client->piece = CLIENT_PIECE;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, client_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_on_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, client_on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, client_on_close);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_peer_max_concurrent_streams(option, 1000);
    nghttp2_session_client_new2(&client->session, callbacks, client, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, NULL, 0);
}

static inline void client_done(struct client *client)
{
    nghttp2_session_del(client->session);
    for (int i = 0; i < client->n; i++) {
        tg_buf_done(&client->calls[i].request);
        tg_buf_done(&client->calls[i].body);
    }
}

struct client_request {
    const char *path;
    const char *method;       /* NULL: POST */
    const char *content_type; /* NULL: application/grpc */
    const char *timeout;      /* NULL: none */
    const char *extra;        /* value of a header x-extra; NULL: none */
    const void *body;         /* bytes of the request, prefix and all */
    size_t n;
    bool open; /* no END_STREAM after the body */
};

static inline nghttp2_nv client_header(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static inline struct client_call *client_start(struct client *client,
                                               const struct client_request *request)
{
    struct client_call *call = &client->calls[client->n++];
    nghttp2_nv headers[8];
    size_t n = 0;

    headers[n++] = client_header(":method", request->method != NULL ? request->method : "POST");
    headers[n++] = client_header(":scheme", "http");
    headers[n++] = client_header(":path", request->path);
    headers[n++] = client_header(":authority", "%2Frun%2Fdra.sock");
    headers[n++] = client_header(
        "content-type", request->content_type != NULL ? request->content_type : "application/grpc");
    headers[n++] = client_header("te", "trailers");
    if (request->timeout != NULL)
        headers[n++] = client_header("grpc-timeout", request->timeout);
    if (request->extra != NULL)
        headers[n++] = client_header("x-extra", request->extra);
    memset(call, 0, sizeof(*call));
    tg_buf_init(&call->request, (size_t)16 << 20);
    tg_buf_init(&call->body, (size_t)16 << 20);
    if (request->n > 0)
        tg_buf_append(&call->request, request->body, request->n);
    call->request_ends = !request->open;
    const nghttp2_data_provider body = {.read_callback = client_read};
    call->stream = nghttp2_submit_request(client->session, NULL, headers, n, &body, NULL);
    return call;
}

/* A request frame of flag 0 and the given text. */
static inline struct tg_buf client_frame(const char *text)
{
    struct tg_buf frame = TG_BUF_INIT((size_t)1 << 20);
    size_t n = strlen(text);
    const unsigned char prefix[5] = {0, 0, 0, (unsigned char)(n >> 8), (unsigned char)n};
    tg_buf_append(&frame, prefix, sizeof(prefix));
    tg_buf_append(&frame, text, n);
    return frame;
}

#endif
