/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

#define FIRST_CAPACITY ((size_t)64)

void tg_buf_init(struct tg_buf *buf, size_t max)
{
    *buf = TG_BUF_INIT(max);
}

void tg_buf_done(struct tg_buf *buf)
{
    free(buf->data);
    tg_buf_init(buf, buf->max);
}

void tg_buf_clear(struct tg_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

static int fail(struct tg_buf *buf)
{
    tg_buf_done(buf);
    buf->failed = true;
    return -1;
}

/* Room for n more bytes and the NUL. */
static int reserve(struct tg_buf *buf, size_t n)
{
    size_t need;
    size_t capacity;
    char *data;

    if (buf->failed)
        return -1;
    if (n > buf->max - buf->len || __builtin_add_overflow(buf->len, n + 1, &need))
        return fail(buf);
    if (need <= buf->capacity)
        return 0;
    capacity = buf->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : buf->capacity;
    while (capacity < need && !__builtin_mul_overflow(capacity, 2, &capacity))
        ;
    if (capacity < need)
        capacity = need;
    if (capacity - 1 > buf->max)
        capacity = buf->max + 1;
    data = realloc(buf->data, capacity);
    if (data == NULL)
        return fail(buf);
    buf->data = data;
    buf->capacity = capacity;
    return 0;
}

int tg_buf_append(struct tg_buf *buf, const void *data, size_t n)
{
    if (n == 0)
        return buf->failed ? -1 : 0;
    if (n == SIZE_MAX)
        return fail(buf);
    if (reserve(buf, n) != 0)
        return -1;
    memcpy(buf->data + buf->len, data, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
    return 0;
}

int tg_buf_append_str(struct tg_buf *buf, const char *s)
{
    return tg_buf_append(buf, s, strlen(s));
}

int tg_buf_append_char(struct tg_buf *buf, char c)
{
    return tg_buf_append(buf, &c, 1);
}

int tg_buf_vprintf(struct tg_buf *buf, const char *format, va_list args)
{
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    if (n < 0) {
        fail(buf);
    } else if (n > 0 && reserve(buf, (size_t)n) == 0) {
        vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    return buf->failed ? -1 : 0;
}

int tg_buf_printf(struct tg_buf *buf, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = tg_buf_vprintf(buf, format, args);
    va_end(args);
    return rc;
}

void tg_buf_consume(struct tg_buf *buf, size_t n)
{
    assert(n <= buf->len);
    if (n == 0)
        return;
    memmove(buf->data, buf->data + n, buf->len - n + 1);
    buf->len -= n;
}

const char *tg_buf_str(const struct tg_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}

char *tg_buf_take(struct tg_buf *buf)
{
    char *content = buf->data == NULL ? tg_xstrdup("") : buf->data;

    tg_buf_init(buf, buf->max);
    return content;
}
