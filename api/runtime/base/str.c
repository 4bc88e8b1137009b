/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/str.h"

bool tg_streq(const char *a, const char *b)
{
    return tg_strcmp(a, b) == 0;
}

int tg_strcmp(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

bool tg_has_prefix(const char *s, const char *prefix)
{
    return s != NULL && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool tg_has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(suffix);
    size_t len = s == NULL ? 0 : strlen(s);

    return s != NULL && len >= n && memcmp(s + len - n, suffix, n) == 0;
}

const char *tg_or(const char *s, const char *fallback)
{
    return s == NULL || s[0] == '\0' ? fallback : s;
}

int tg_parse_u64(const char *s, size_t n, uint64_t *ret)
{
    uint64_t value = 0;

    if (n == 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s[i] - '0'), &value))
            return -1;
    }
    *ret = value;
    return 0;
}

int tg_parse_i64(const char *s, size_t n, int64_t *ret)
{
    bool negative = n > 0 && s[0] == '-';
    uint64_t value;

    if (n == 0 || tg_parse_u64(s + negative, n - negative, &value) != 0 ||
        value > (uint64_t)INT64_MAX + negative)
        return -1;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return 0;
}

/* Length and lowest code point of a sequence by its first byte; a lower code point in it is
 * overlong. */
static size_t sequence_length(unsigned char first, uint32_t *bits, uint32_t *lowest)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t lowest;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((first & forms[i].mask) == forms[i].lead) {
            *bits = (uint32_t)first & (unsigned char)~forms[i].mask;
            *lowest = forms[i].lowest;
            return i + 1;
        }
    }
    return 0;
}

size_t tg_utf8_next(const char *s, size_t n, uint32_t *ret)
{
    uint32_t code;
    uint32_t lowest;
    size_t length = n == 0 ? 0 : sequence_length((unsigned char)s[0], &code, &lowest);

    if (length == 0 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        unsigned char c = (unsigned char)s[i];

        if ((c & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c & 0x3f);
    }
    if (code < lowest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret = code;
    return length;
}

bool tg_utf8_valid(const char *s, size_t n)
{
    uint32_t code;

    for (size_t i = 0; i < n;) {
        size_t length = tg_utf8_next(s + i, n - i, &code);

        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

void tg_utf8_sanitize(char *s, size_t n)
{
    uint32_t code;

    for (size_t i = 0; i < n;) {
        size_t length = tg_utf8_next(s + i, n - i, &code);

        if (length == 0) {
            s[i] = '?';
            length = 1;
        }
        i += length;
    }
}

uint64_t tg_hash64(const void *data, size_t n)
{
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}
