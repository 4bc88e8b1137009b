/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/unescape.h"

#include <string.h>

bool tg_cel_is_character(unsigned long c)
{
    return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

size_t tg_cel_put_character(unsigned long c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | (c >> 18));
    out[1] = (char)(0x80 | ((c >> 12) & 0x3f));
    out[2] = (char)(0x80 | ((c >> 6) & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* `count` digits of the base. */
static bool number(const char *text, size_t n, size_t count, int base, unsigned long *ret)
{
    *ret = 0;
    if (n < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (digit(text[i]) >= base)
            return false;
        *ret = *ret * (unsigned long)base + (unsigned long)digit(text[i]);
    }
    return true;
}

struct escape {
    char letter;
    unsigned char length; /* digits after it */
    unsigned char base;   /* 0: stands for one character */
    char value;
    bool in_bytes;
};

static const struct escape escapes[] = {
    {'a', 0, 0, '\a', true}, {'b', 0, 0, '\b', true},  {'f', 0, 0, '\f', true},
    {'n', 0, 0, '\n', true}, {'r', 0, 0, '\r', true},  {'t', 0, 0, '\t', true},
    {'v', 0, 0, '\v', true}, {'\\', 0, 0, '\\', true}, {'\'', 0, 0, '\'', true},
    {'"', 0, 0, '"', true},  {'`', 0, 0, '`', true},   {'?', 0, 0, '?', true},
    {'x', 2, 16, 0, true},   {'X', 2, 16, 0, true},    {'u', 4, 16, 0, false},
    {'U', 8, 16, 0, false},
};

static const struct escape *find_escape(char letter)
{
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (escapes[i].letter == letter)
            return &escapes[i];
    }
    return NULL;
}

/* text is behind the backslash. *ret_used: bytes read; out: what they mean. */
static const char *unescape_one(const char *text, size_t n, bool bytes, size_t *ret_used, char *out,
                                size_t *ret_n)
{
    const struct escape *e = n == 0 ? NULL : find_escape(*text);
    unsigned long value = 0;
    size_t length = 3, skip = 0;
    int base = 8;

    if (e != NULL && e->base == 0) {
        out[0] = e->value;
        *ret_used = *ret_n = 1;
        return NULL;
    }
    if (e != NULL) {
        length = e->length;
        base = e->base;
        skip = 1;
    } else if (n == 0 || *text < '0' || *text > '3') {
        return "unknown escape: known are \\a \\b \\f \\n \\r \\t \\v \\\\ \\? \\\" \\' \\` \\xHH "
               "\\uHHHH \\UHHHHHHHH \\OOO";
    }
    if (e != NULL && bytes && !e->in_bytes)
        return "bytes know no \\u and no \\U; write the UTF-8 as \\xHH";
    if (!number(text + skip, n - skip, length, base, &value))
        return "an escape with too few digits";
    if (!bytes && !tg_cel_is_character(value))
        return "an escape that is no Unicode character";
    *ret_used = skip + length;
    if (bytes) {
        out[0] = (char)value;
        *ret_n = 1;
    } else {
        *ret_n = tg_cel_put_character(value, out);
    }
    return NULL;
}

const char *tg_cel_unescape(const char *text, size_t n, bool raw, bool bytes, char *out,
                            size_t *ret_n, size_t *ret_at)
{
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        size_t used = 0, put = 0;
        const char *why;

        if (text[i] == '\r') {
            out[length++] = '\n';
            i += i + 1 < n && text[i + 1] == '\n' ? 1 : 0;
            continue;
        }
        if (raw || text[i] != '\\') {
            out[length++] = text[i];
            continue;
        }
        *ret_at = i;
        why = unescape_one(text + i + 1, n - i - 1, bytes, &used, out + length, &put);
        if (why != NULL)
            return why;
        length += put;
        i += used;
    }
    out[length] = '\0';
    *ret_n = length;
    return NULL;
}
