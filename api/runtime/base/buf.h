/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a mandatory cap (as curl's dynbuf). When an append would pass the cap
 * (or malloc fails) the buffer is emptied, marked failed, and every later append fails too: check
 * once at the end. The content is always followed by a NUL that is not counted.
 */
#ifndef TG_RUNTIME_BASE_BUF_H
#define TG_RUNTIME_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct tg_buf {
    char *data; /* NULL while nothing was appended; use tg_buf_str() for a string */
    size_t len;
    size_t capacity;
    size_t max;
    bool failed;
};

#define TG_BUF_INIT(max_bytes) ((struct tg_buf){.max = (max_bytes)})

void tg_buf_init(struct tg_buf *buf, size_t max);
/* Frees the content and leaves an empty buffer with the same cap, not failed. */
void tg_buf_done(struct tg_buf *buf);
/* Empties it and keeps the memory; clears failed. */
void tg_buf_clear(struct tg_buf *buf);
/* Each returns 0, or -1 when the buffer is (or becomes) failed. */
int tg_buf_append(struct tg_buf *buf, const void *data, size_t n);
int tg_buf_append_str(struct tg_buf *buf, const char *s);
int tg_buf_append_char(struct tg_buf *buf, char c);
int tg_buf_printf(struct tg_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int tg_buf_vprintf(struct tg_buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Removes the first n bytes (n <= len). */
void tg_buf_consume(struct tg_buf *buf, size_t n);
/* The content as a string; "" when empty. Valid until the next change. */
const char *tg_buf_str(const struct tg_buf *buf);
/* Hands the content over as a malloc'ed string (never NULL); the buffer is empty afterwards. */
char *tg_buf_take(struct tg_buf *buf);

static inline void tg_cleanup_buf(struct tg_buf *buf)
{
    tg_buf_done(buf);
}
#define TG_AUTOBUF __attribute__((cleanup(tg_cleanup_buf)))

#endif
