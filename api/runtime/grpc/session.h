/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/2 connection that serves gRPC, without I/O and without a clock: bytes in, bytes out,
 * time as an argument.
 *
 * The owner feeds what it read, sends what tg_grpc_session_output offers, and asks for the next
 * deadline. Every limit is explicit (see session.c); a peer that breaks one gets the HTTP/2 or gRPC
 * error that the protocol provides for it.
 */
#ifndef TG_RUNTIME_GRPC_SESSION_H
#define TG_RUNTIME_GRPC_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"

struct tg_grpc_session;

/* What all sessions of a server together hold of messages: requests that are not complete, answers
 * that were not read. */
struct tg_grpc_budget {
    size_t max; /* more is refused with RESOURCE_EXHAUSTED */
    size_t own; /* not counted, of each session: an ordinary call is served whatever others do */
    size_t used;
};

struct tg_grpc_session_handlers {
    /* The owner's method behind a path; NULL: the call is answered with UNIMPLEMENTED. */
    const void *(*find)(void *data, const char *path);
    /* A complete request; message is valid during the call. deadline 0: none. The handler may
     * answer at once, but must not free the session. */
    void (*request)(void *data, int32_t stream, const void *method, const uint8_t *message,
                    size_t n, int64_t deadline);
    /* A delivered request that nobody waits for any more: it was not ended by _reply or _fail. */
    void (*cancelled)(void *data, int32_t stream, const void *method);
};

/* Never NULL. Our SETTINGS are in the output from the start (clients wait for them). `data` goes to
 * the handlers; the budget outlives the session. */
struct tg_grpc_session *tg_grpc_session_new(const struct tg_grpc_session_handlers *handlers,
                                            void *data, struct tg_grpc_budget *budget);
/* Calls `cancelled` for what is still open. NULL is allowed. */
void tg_grpc_session_free(struct tg_grpc_session *session);

/* Takes the n bytes that arrived at `now` (any monotonic clock in ns). UNAVAILABLE: the connection
 * is beyond repair; send what is left to send and close it. */
int tg_grpc_session_receive(struct tg_grpc_session *session, const uint8_t *bytes, size_t n,
                            int64_t now, struct tg_error *err);
/* The next bytes to send (*n 0: none), valid until the next call of any function; _sent tells how
 * many of them went out. */
int tg_grpc_session_output(struct tg_grpc_session *session, const uint8_t **ret, size_t *n,
                           struct tg_error *err);
void tg_grpc_session_sent(struct tg_grpc_session *session, size_t n);
/* Nothing more will be read or written: close the connection. */
bool tg_grpc_session_finished(const struct tg_grpc_session *session);

/* A handler has seen a call that the client has no complete answer to. */
bool tg_grpc_session_busy(const struct tg_grpc_session *session);
/* The earliest deadline of an open call, 0: none. */
int64_t tg_grpc_session_next_deadline(const struct tg_grpc_session *session);
/* Cancels the calls whose deadline is not after `now` and answers them with DEADLINE_EXCEEDED. */
void tg_grpc_session_expire(struct tg_grpc_session *session, int64_t now);

/* As tg_grpc_reply, _fail and _stream_send; a stream that is gone or ended is ignored. */
void tg_grpc_session_reply(struct tg_grpc_session *session, int32_t stream, const uint8_t *message,
                           size_t n);
void tg_grpc_session_fail(struct tg_grpc_session *session, int32_t stream,
                          const struct tg_error *err);
void tg_grpc_session_send(struct tg_grpc_session *session, int32_t stream, const uint8_t *message,
                          size_t n);

/* Cancels open calls with UNAVAILABLE and says GOAWAY; finished once that is sent and the streams
 * are closed. */
void tg_grpc_session_shutdown(struct tg_grpc_session *session);

#endif
