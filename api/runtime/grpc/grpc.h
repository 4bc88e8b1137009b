/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server on UNIX sockets (nghttp2 underneath): unary calls and server streams, messages as bytes.
 * session.h is the sans-I/O part (bytes in, bytes out); this is the server with its sockets.
 */
#ifndef TG_RUNTIME_GRPC_GRPC_H
#define TG_RUNTIME_GRPC_GRPC_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"
#include "api/runtime/loop/loop.h"

struct tg_grpc_server;

/* Names one call for as long as anybody likes: answers for a call that is gone are dropped. */
struct tg_grpc_call {
    struct tg_grpc_server *server;
    uint64_t connection;
    int32_t stream;
};

struct tg_grpc_method {
    const char *path; /* "/pluginregistration.Registration/GetInfo" */
    /* Called with the one request message (valid during the call). Answers now or later by tg_grpc_reply / _fail /
     * _stream_send. deadline: monotonic ns or 0. */
    void (*handle)(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n, int64_t deadline);
    /* The client went away or the deadline passed before the answer; NULL: not interested. */
    void (*cancelled)(void *data, struct tg_grpc_call call);
    void *data;
};

/* Binds (stale socket of the same name unlinked, umask 0077, path <= 107 bytes checked) and serves. Table copied, strings not. */
int tg_grpc_server_new(struct tg_loop *loop, const char *socket_path, const struct tg_grpc_method *methods, size_t n,
                       struct tg_grpc_server **ret, struct tg_error *err);
/* GOAWAY, closes everything, unlinks the socket if it is still ours. */
void tg_grpc_server_free(struct tg_grpc_server *server);
/* Unlinks the socket now and accepts nobody any more; live connections go on. */
void tg_grpc_server_stop_listening(struct tg_grpc_server *server);
/* Peers must have this uid (default: only our own effective uid and 0). Connections of others are closed with a log line. */

/* One message and status 0. */
void tg_grpc_reply(struct tg_grpc_call call, const uint8_t *message, size_t n);
/* Status from err->code, grpc-message from err->message. Also ends a stream. */
void tg_grpc_fail(struct tg_grpc_call call, const struct tg_error *err);
/* Queues a message on a server stream. While the client does not read, only the newest unsent message is kept (full states). */
void tg_grpc_stream_send(struct tg_grpc_call call, const uint8_t *message, size_t n);

#endif
