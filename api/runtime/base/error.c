/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

/* A message that had to be cut must not end in half a character: it goes into JSON and protobuf. */
static void drop_half_character(char *message, size_t n)
{
    uint32_t code;

    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)message[n - back];

        if (c < 0x80)
            return;
        if (c >= 0xc0) {
            if (tg_utf8_next(message + n - back, back, &code) == 0)
                message[n - back] = '\0';
            return;
        }
    }
}

static void store_message(struct tg_error *err, const char *text)
{
    size_t n = strlen(text);

    if (n >= sizeof(err->message)) {
        n = sizeof(err->message) - 1;
        memcpy(err->message, text, n);
        err->message[n] = '\0';
        drop_half_character(err->message, n);
    } else {
        memcpy(err->message, text, n + 1);
    }
}

static bool is_retriable(enum tg_code code)
{
    return code == TG_UNAVAILABLE || code == TG_ABORTED || code == TG_DEADLINE_EXCEEDED ||
           code == TG_RESOURCE_EXHAUSTED;
}

/* The text goes through a buffer of its own, since arguments may point into err->message. */
static __attribute__((format(printf, 3, 0))) int
set_message(struct tg_error *err, enum tg_code code, const char *format, va_list args)
{
    char text[sizeof(err->message) + 4];

    assert(code != TG_OK);
    if (err != NULL) {
        vsnprintf(text, sizeof(text), format, args);
        *err = (struct tg_error){.code = code, .retry = is_retriable(code)};
        store_message(err, text);
    }
    return -(int)code;
}

int tg_error_set(struct tg_error *err, enum tg_code code, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = set_message(err, code, format, args);
    va_end(args);
    return rc;
}

static enum tg_code code_of_errno(int number)
{
    static const struct {
        int number;
        enum tg_code code;
    } codes[] = {
        {ENOENT, TG_NOT_FOUND},
        {ESRCH, TG_NOT_FOUND},
        {ENODEV, TG_NOT_FOUND},
        {ENXIO, TG_NOT_FOUND},
        {EEXIST, TG_ALREADY_EXISTS},
        {EACCES, TG_PERMISSION_DENIED},
        {EPERM, TG_PERMISSION_DENIED},
        {EROFS, TG_FAILED_PRECONDITION},
        {ENOTDIR, TG_FAILED_PRECONDITION},
        {EISDIR, TG_FAILED_PRECONDITION},
        {ENOTEMPTY, TG_FAILED_PRECONDITION},
        {ELOOP, TG_FAILED_PRECONDITION},
        {EINVAL, TG_INVALID_ARGUMENT},
        {ENAMETOOLONG, TG_INVALID_ARGUMENT},
        {ENOSPC, TG_RESOURCE_EXHAUSTED},
        {EDQUOT, TG_RESOURCE_EXHAUSTED},
        {ENOMEM, TG_RESOURCE_EXHAUSTED},
        {EMFILE, TG_RESOURCE_EXHAUSTED},
        {ENFILE, TG_RESOURCE_EXHAUSTED},
        {EFBIG, TG_RESOURCE_EXHAUSTED},
        {EIO, TG_UNAVAILABLE},
        {EAGAIN, TG_UNAVAILABLE},
        {EINTR, TG_UNAVAILABLE},
        {EBUSY, TG_UNAVAILABLE},
        {ECONNREFUSED, TG_UNAVAILABLE},
        {ECONNRESET, TG_UNAVAILABLE},
        {EPIPE, TG_UNAVAILABLE},
        {ENETUNREACH, TG_UNAVAILABLE},
        {EHOSTUNREACH, TG_UNAVAILABLE},
        {ETIMEDOUT, TG_DEADLINE_EXCEEDED},
        {ECANCELED, TG_CANCELLED},
        {ENOSYS, TG_UNIMPLEMENTED},
        {EOPNOTSUPP, TG_UNIMPLEMENTED},
    };

    for (size_t i = 0; i < TG_ARRAY_SIZE(codes); i++) {
        if (codes[i].number == number)
            return codes[i].code;
    }
    return TG_INTERNAL;
}

int tg_error_errno(struct tg_error *err, int number, const char *format, ...)
{
    enum tg_code code = code_of_errno(number);
    const char *description = strerrordesc_np(number);
    char prefix[sizeof(err->message)];
    va_list args;

    if (err == NULL)
        return -(int)code;
    va_start(args, format);
    vsnprintf(prefix, sizeof(prefix), format, args);
    va_end(args);
    if (description == NULL)
        return tg_error_set(err, code, "%s: error number %d", prefix, number);
    return tg_error_set(err, code, "%s: %s", prefix, description);
}

int tg_error_wrap(struct tg_error *err, const char *format, ...)
{
    char prefix[sizeof(err->message)];
    char text[2 * sizeof(err->message) + 4];
    va_list args;

    if (err == NULL)
        return -TG_UNKNOWN;
    assert(err->code != TG_OK);
    va_start(args, format);
    vsnprintf(prefix, sizeof(prefix), format, args);
    va_end(args);
    snprintf(text, sizeof(text), "%s: %s", prefix, err->message);
    store_message(err, text);
    return -(int)err->code;
}

const char *tg_code_name(enum tg_code code)
{
    static const char *const names[] = {
        [TG_OK] = "OK",
        [TG_CANCELLED] = "CANCELLED",
        [TG_UNKNOWN] = "UNKNOWN",
        [TG_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
        [TG_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
        [TG_NOT_FOUND] = "NOT_FOUND",
        [TG_ALREADY_EXISTS] = "ALREADY_EXISTS",
        [TG_PERMISSION_DENIED] = "PERMISSION_DENIED",
        [TG_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
        [TG_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
        [TG_ABORTED] = "ABORTED",
        [TG_OUT_OF_RANGE] = "OUT_OF_RANGE",
        [TG_UNIMPLEMENTED] = "UNIMPLEMENTED",
        [TG_INTERNAL] = "INTERNAL",
        [TG_UNAVAILABLE] = "UNAVAILABLE",
        [TG_DATA_LOSS] = "DATA_LOSS",
        [TG_UNAUTHENTICATED] = "UNAUTHENTICATED",
    };

    if ((size_t)code >= TG_ARRAY_SIZE(names))
        return "UNKNOWN";
    return names[code];
}
