/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server on UNIX sockets (nghttp2 underneath): unary calls and server streams, messages as
 * bytes. session.h is the sans-I/O part (bytes in, bytes out); this is the server with its sockets.
 *
 * Everything runs on the loop's thread. A peer must be root or have our own effective uid;
 * connections of others are closed at once (SO_PEERCRED). Idle connections are not closed for being
 * idle: the kubelet takes a lost connection for a lost driver and deletes the node's slices.
 *
 * A server holds 256 connections. A further one takes the place of one of the process that has the
 * most: of one without a call if there is one, of those the one that has been silent for longest,
 * and only for a process with fewer connections of one with a call. So a program that leaks
 * connections harms itself; the only connection of a process, like the kubelet's, is never ended
 * (processes of PID namespaces that ours cannot see are one process here; an end is told by GOAWAY,
 * after which the kubelet connects again at once). Without such a place the new one is closed.
 * Messages that are incomplete or unread take at most 8 MiB, beyond 64 KiB a connection; more is
 * refused with RESOURCE_EXHAUSTED.
 */
#ifndef TG_RUNTIME_GRPC_GRPC_H
#define TG_RUNTIME_GRPC_GRPC_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"

struct tg_grpc_server;

/* Names one call for as long as its server lives: answers for a call that is gone are dropped. */
struct tg_grpc_call {
    struct tg_grpc_server *server;
    uint64_t connection;
    int32_t stream;
};

struct tg_grpc_method {
    const char *path; /* "/pluginregistration.Registration/GetInfo" */
    /* Called with the one request message (valid during the call). Answers now or later by
     * tg_grpc_reply / _fail / _stream_send. deadline: the client's, as tg_clock_system's monotonic
     * ns, or 0. Must not free the server. */
    void (*handle)(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                   int64_t deadline);
    /* The client went away, the deadline passed, or the server is freed, before the call was ended
     * by tg_grpc_reply or _fail; NULL: not interested. */
    void (*cancelled)(void *data, struct tg_grpc_call call);
    void *data;
};

/* Binds (stale socket of the same name unlinked, anything else of that name refused, umask 0077,
 * path <= 107 bytes checked) and serves. The folder must exist. Table copied, strings not. Errors:
 * INVALID_ARGUMENT (path), ALREADY_EXISTS (not a socket), or what the system said. */
int tg_grpc_server_new(struct tg_loop *loop, const char *socket_path,
                       const struct tg_grpc_method *methods, size_t n, struct tg_grpc_server **ret,
                       struct tg_error *err);
/* Ends open calls with UNAVAILABLE (their `cancelled` is called), sends GOAWAY, closes everything,
 * unlinks the socket if it is still ours. NULL is allowed. */
void tg_grpc_server_free(struct tg_grpc_server *server);
/* Unlinks the socket now (if it is still ours) and accepts nobody any more; live connections go on.
 */
void tg_grpc_server_stop_listening(struct tg_grpc_server *server);

/* Tells the registry (which outlives the server) of connections and what they hold, by the path of
 * the socket. */
void tg_grpc_server_measure(struct tg_grpc_server *server, struct tg_metrics *metrics);

/* One message and status 0. A message over 4 MiB (what a client accepts) becomes
 * RESOURCE_EXHAUSTED. */
void tg_grpc_reply(struct tg_grpc_call call, const uint8_t *message, size_t n);
/* Status from err->code, grpc-message from err->message. Also ends a stream. */
void tg_grpc_fail(struct tg_grpc_call call, const struct tg_error *err);
/* Queues a message on a server stream. While the client does not read, only the newest unsent
 * message is kept (full states). */
void tg_grpc_stream_send(struct tg_grpc_call call, const uint8_t *message, size_t n);

#endif
