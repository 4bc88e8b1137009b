/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/grpc/wire.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

int tg_grpc_parse_timeout(const char *s, size_t n, int64_t *ret)
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = {
        {'H', 3600 * TG_SECOND}, {'M', 60 * TG_SECOND}, {'S', TG_SECOND},
        {'m', TG_MILLISECOND},   {'u', 1000},           {'n', 1},
    };
    uint64_t amount;

    if (n < 2 || n > 9 || tg_parse_u64(s, n - 1, &amount) != 0)
        return -1;
    for (size_t i = 0; i < TG_ARRAY_SIZE(units); i++) {
        if (units[i].unit != s[n - 1])
            continue;
        if (__builtin_mul_overflow((int64_t)amount, units[i].ns, ret))
            *ret = INT64_MAX;
        return 0;
    }
    return -1;
}

void tg_grpc_append_status_text(const char *text, struct tg_buf *buf)
{
    TG_AUTOFREE char *clean = tg_xstrdup(text);
    tg_utf8_sanitize(clean, strlen(clean));
    for (const char *p = clean; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c > ' ' && c < 0x7f && c != '%')
            tg_buf_append_char(buf, (char)c);
        else
            tg_buf_printf(buf, "%%%02X", c);
    }
}

int tg_grpc_append_message(const uint8_t *message, size_t n, struct tg_buf *buf)
{
    const uint8_t prefix[TG_GRPC_PREFIX_SIZE] = {
        0, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n,
    };
    tg_buf_append(buf, prefix, sizeof(prefix));
    return tg_buf_append(buf, message, n);
}

void tg_grpc_framer_init(struct tg_grpc_framer *framer)
{
    *framer = (struct tg_grpc_framer){0};
    tg_buf_init(&framer->message, TG_GRPC_MESSAGE_MAX);
}

void tg_grpc_framer_done(struct tg_grpc_framer *framer)
{
    tg_buf_done(&framer->message);
}

static int check_prefix(struct tg_grpc_framer *framer, struct tg_error *err)
{
    const uint8_t *p = framer->prefix;
    if (p[0] != 0)
        return tg_error_set(err, TG_UNIMPLEMENTED,
                            "the request is compressed; this server takes only identity encoding");
    framer->length = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (framer->length > TG_GRPC_MESSAGE_MAX)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the request has %zu bytes; at most %zu are taken", framer->length,
                            TG_GRPC_MESSAGE_MAX);
    return 0;
}

int tg_grpc_framer_feed(struct tg_grpc_framer *framer, const uint8_t *data, size_t n,
                        struct tg_error *err)
{
    if (n == 0)
        return 0;
    if (framer->prefix_n < TG_GRPC_PREFIX_SIZE) {
        size_t part = TG_GRPC_PREFIX_SIZE - framer->prefix_n;
        part = part < n ? part : n;
        memcpy(framer->prefix + framer->prefix_n, data, part);
        framer->prefix_n += part;
        data += part;
        n -= part;
        if (framer->prefix_n < TG_GRPC_PREFIX_SIZE)
            return 0;
        int rc = check_prefix(framer, err);
        if (rc != 0)
            return rc;
    }
    if (n > framer->length - framer->message.len)
        return tg_error_set(err, TG_INTERNAL, "the request holds more than one message");
    /* Grows with what arrives, not with what was announced. */
    if (n > 0 && tg_buf_append(&framer->message, data, n) != 0)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for a request of %zu bytes",
                            framer->length);
    return 0;
}

int tg_grpc_framer_finish(const struct tg_grpc_framer *framer, struct tg_error *err)
{
    if (framer->prefix_n == 0)
        return tg_error_set(err, TG_INTERNAL, "the request holds no message");
    if (framer->prefix_n < TG_GRPC_PREFIX_SIZE || framer->message.len < framer->length)
        return tg_error_set(err, TG_INTERNAL, "the request ended within its message");
    return 0;
}
