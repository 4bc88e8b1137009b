/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming, table-driven decoding: bytes in, structs in an arena out. */
#ifndef TG_RUNTIME_JSON_DECODE_H
#define TG_RUNTIME_JSON_DECODE_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"

/* Decodes one whole document into *target (of type->size, zeroed by the caller or freshly
 * allocated). Errors carry the JSON path ("spec.devices[3].name: expected a string, found a
 * number"). Limits: depth 64, max_items, arena budget; duplicate keys, bad UTF-8, half a surrogate
 * pair, NUL in strings and trailing bytes are refused. Unknown fields are skipped; inside them, and
 * inside what is kept as text (TG_FIELD_RAW), only the syntax counts and nesting may reach 10,100,
 * since an API server stores such parts as they were sent to it. */
int tg_json_decode(const struct tg_type *type, const char *data, size_t n, void *target,
                   struct tg_arena *arena, struct tg_error *err);
/* Allocates the struct in the arena, then as above. */
int tg_json_decode_new(const struct tg_type *type, const char *data, size_t n,
                       struct tg_arena *arena, void **ret, struct tg_error *err);

/*
 * Lists that are larger than memory should hold as text: feeds chunks as they arrive; the raw text
 * of each element of the top-level "items" array is handed to on_item (which decodes it with
 * tg_json_decode into an arena of its own); the other top-level members ("metadata":
 * resourceVersion, continue, remainingItemCount) end in `list`.
 */
struct tg_json_list_stream;
struct tg_json_list_meta {
    char resource_version[64];
    char continue_token[4096];
};
/* on_item returns 0 to go on or a negative code to stop (err filled). max_item: bytes of one
 * element. */
struct tg_json_list_stream *tg_json_list_stream_new(int (*on_item)(void *data, const char *json,
                                                                   size_t n, struct tg_error *err),
                                                    void *data, size_t max_item);
void tg_json_list_stream_free(struct tg_json_list_stream *stream);
int tg_json_list_stream_feed(struct tg_json_list_stream *stream, const char *data, size_t n,
                             struct tg_error *err);
/* After the last chunk: an error if the document is not complete. */
int tg_json_list_stream_end(struct tg_json_list_stream *stream, struct tg_json_list_meta *ret,
                            struct tg_error *err);

#endif
