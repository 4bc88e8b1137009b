/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
    const char *at = c == '\0' ? NULL : strchr(alphabet, c);

    return at == NULL ? -1 : (int)(at - alphabet);
}

char *tg_base64_decode_text(const char *s, struct tg_arena *arena)
{
    char *out = tg_arena_alloc(arena, strlen(s) / 4 * 3 + 4);
    size_t n = 0;
    size_t digits = 0;
    size_t padding = 0;
    unsigned bits = 0;

    if (out == NULL)
        return NULL;
    for (; *s != '\0'; s++) {
        if (*s == '\n' || *s == '\r')
            continue;
        int value = *s == '=' ? 0 : value_of(*s);
        if (value < 0 || (padding > 0 && *s != '='))
            return NULL;
        padding += *s == '=';
        bits = bits << 6 | (unsigned)value;
        if (++digits % 4 != 0)
            continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            out[n++] = (char)(unsigned char)(bits >> shift);
    }
    if (digits % 4 != 0 || padding > 2)
        return NULL;
    n -= padding;
    out[n] = '\0';
    return memchr(out, '\0', n) == NULL ? out : NULL;
}

void tg_base64_encode(const void *data, size_t n, struct tg_buf *out)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i += 3) {
        size_t have = n - i < 3 ? n - i : 3;
        unsigned bits = (unsigned)bytes[i] << 16;

        if (have > 1)
            bits |= (unsigned)bytes[i + 1] << 8;
        if (have > 2)
            bits |= bytes[i + 2];
        for (size_t d = 0; d < 4; d++)
            tg_buf_append_char(out, d > have ? '=' : alphabet[bits >> (18 - 6 * d) & 63]);
    }
}
