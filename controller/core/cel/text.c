/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/text.h"

#include <string.h>

#include "controller/core/cel/unescape.h"

/* One character: its length, 0 if there is none that is valid. */
static size_t valid_character(const unsigned char *s, size_t n)
{
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80 ? 1 : (s[0] & 0xe0) == 0xc0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;
    unsigned long c = length == 1 ? s[0] : s[0] & (0x7fU >> length);

    if (length > n || (length == 4 && (s[0] & 0xf8) != 0xf0))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fU);
    }
    return c >= least[length] && tg_cel_is_character(c) ? length : 0;
}

bool tg_cel_text_valid(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;

    for (size_t i = 0; i < n;) {
        size_t length = valid_character(s + i, n - i);

        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

size_t tg_cel_text_offset(const char *text, size_t n, uint64_t index)
{
    size_t at = 0;

    for (uint64_t i = 0; i < index && at < n; i++)
        at += tg_cel_character(text + at);
    return at < n ? at : n;
}

void tg_cel_put(struct tg_cel_builder_text *b, const char *text, size_t n)
{
    if (b->no_memory)
        return;
    if (n > b->capacity - b->n) {
        size_t capacity = (b->n + n) * 2 + 32;
        char *grown = tg_cel_alloc(b->scratch, capacity);

        if (grown == NULL) {
            b->no_memory = true;
            return;
        }
        if (b->n > 0)
            memcpy(grown, b->data, b->n);
        b->data = grown;
        b->capacity = capacity;
    }
    if (n > 0)
        memcpy(b->data + b->n, text, n);
    b->n += n;
}

void tg_cel_puts(struct tg_cel_builder_text *b, const char *text)
{
    tg_cel_put(b, text, strlen(text));
}
