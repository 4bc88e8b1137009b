/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 with the standard alphabet and padding (RFC 4648, 4). */
#ifndef TG_RUNTIME_BASE_BASE64_H
#define TG_RUNTIME_BASE_BASE64_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"

/* The text behind s, in the arena; line breaks in s are allowed. NULL: it is not base64, or what it
 * encodes is no text (has a NUL), or the arena is full. */
char *tg_base64_decode_text(const char *s, struct tg_arena *arena);
/* Appends; failure stays in the buffer. */
void tg_base64_encode(const void *data, size_t n, struct tg_buf *out);

#endif
