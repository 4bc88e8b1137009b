/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubelet/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"

static void *arena_alloc(void *data, size_t size)
{
    return tg_arena_alloc(data, size);
}

static void arena_free(void *data, void *p)
{
    (void)data;
    (void)p;
}

int tg_protobuf_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *message,
                       size_t n, struct tg_arena *arena, ProtobufCMessage **ret,
                       struct tg_error *err)
{
    ProtobufCAllocator allocator = {arena_alloc, arena_free, arena};

    *ret = protobuf_c_message_unpack(descriptor, &allocator, n, message);
    if (*ret != NULL)
        return 0;
    /* protobuf-c gives no reason; ours is known by the arena. */
    if (tg_arena_exhausted(arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s of %zu bytes needs more memory than a request may take",
                            descriptor->short_name, n);
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%zu bytes that are no %s", n,
                        descriptor->short_name);
}

struct sink {
    ProtobufCBuffer base;
    struct tg_buf *out;
};

static void sink_append(ProtobufCBuffer *base, size_t n, const uint8_t *data)
{
    tg_buf_append(((struct sink *)base)->out, data, n);
}

int tg_protobuf_pack(const ProtobufCMessage *message, struct tg_buf *out, struct tg_error *err)
{
    struct sink sink = {.base = {.append = sink_append}, .out = out};

    protobuf_c_message_pack_to_buffer(message, &sink.base);
    if (out->failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s does not fit %zu bytes",
                            message->descriptor->short_name, out->max);
    return 0;
}

const char *tg_protobuf_text(struct tg_arena *arena, const char *text)
{
    if (text == NULL)
        return "";
    char *copy = tg_arena_strdup(arena, text);
    if (copy == NULL)
        abort(); /* encoders use arenas without a budget */
    tg_utf8_sanitize(copy, strlen(copy));
    return copy;
}
