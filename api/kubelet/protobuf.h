/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf-c on our memory: private to this folder. */
#ifndef TG_KUBELET_PROTOBUF_H
#define TG_KUBELET_PROTOBUF_H

#include <protobuf-c/protobuf-c.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

/* Unpacks a message into the arena (never freed by itself). Each empty submessage of two bytes
 * costs a hundred in memory, so the arena's budget is what protects us: TG_RESOURCE_EXHAUSTED.
 * TG_INVALID_ARGUMENT: not such a message. */
int tg_protobuf_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *message,
                       size_t n, struct tg_arena *arena, ProtobufCMessage **ret,
                       struct tg_error *err);
/* Appends the packed message. TG_RESOURCE_EXHAUSTED: the buffer's cap. */
int tg_protobuf_pack(const ProtobufCMessage *message, struct tg_buf *out, struct tg_error *err);
/* A copy in the arena that is valid UTF-8, as protobuf demands of strings; NULL: "". */
const char *tg_protobuf_text(struct tg_arena *arena, const char *text);

#endif
