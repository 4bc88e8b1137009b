/* SPDX-License-Identifier: Apache-2.0 */
/* What gRPC puts on top of HTTP/2: message framing, time-outs and status texts (PROTOCOL-HTTP2 of
 * gRPC). Pure. */
#ifndef TG_RUNTIME_GRPC_WIRE_H
#define TG_RUNTIME_GRPC_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

/* Largest message taken or sent: the default limit of every gRPC client. */
#define TG_GRPC_MESSAGE_MAX ((size_t)4 << 20)
#define TG_GRPC_PREFIX_SIZE 5

/* Header grpc-timeout: 1 to 8 digits and one of H M S m u n. Gives nanoseconds, capped at
 * INT64_MAX. 0 or -1. */
int tg_grpc_parse_timeout(const char *s, size_t n, int64_t *ret);

/* Appends a status text as header grpc-message wants it: invalid UTF-8 replaced by '?', everything
 * but printable ASCII percent-encoded. */
void tg_grpc_append_status_text(const char *text, struct tg_buf *buf);

/* Appends the 5-byte prefix and the message. Returns 0 or -1 (buffer's cap). */
int tg_grpc_append_message(const uint8_t *message, size_t n, struct tg_buf *buf);

/* Reassembles the one message of a request from pieces of any size. */
struct tg_grpc_framer {
    uint8_t prefix[TG_GRPC_PREFIX_SIZE];
    size_t prefix_n;
    size_t length; /* as announced; known when the prefix is complete */
    struct tg_buf message;
};

void tg_grpc_framer_init(struct tg_grpc_framer *framer);
void tg_grpc_framer_done(struct tg_grpc_framer *framer);
/* Takes the next n bytes. Errors: UNIMPLEMENTED (compressed), RESOURCE_EXHAUSTED (too large),
 * INTERNAL (more than one message). */
int tg_grpc_framer_feed(struct tg_grpc_framer *framer, const uint8_t *data, size_t n,
                        struct tg_error *err);
/* The request ended: INTERNAL unless exactly one message arrived. */
int tg_grpc_framer_finish(const struct tg_grpc_framer *framer, struct tg_error *err);

#endif
