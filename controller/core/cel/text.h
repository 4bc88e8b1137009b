/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by characters, and text that grows in the scratch memory of an evaluation. */
#ifndef TG_CORE_CEL_TEXT_H
#define TG_CORE_CEL_TEXT_H

#include "controller/core/cel/value.h"

bool tg_cel_text_valid(const char *text, size_t n);
/* Bytes of the character at text. */
static inline size_t tg_cel_character(const char *text)
{
    unsigned char c = (unsigned char)*text;

    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}
/* The byte offset of character number `index`; n when it is at the end or behind. */
size_t tg_cel_text_offset(const char *text, size_t n, uint64_t index);

struct tg_cel_builder_text {
    struct tg_cel_scratch *scratch;
    char *data;
    size_t n, capacity;
    bool no_memory;
};
void tg_cel_put(struct tg_cel_builder_text *b, const char *text, size_t n);
void tg_cel_puts(struct tg_cel_builder_text *b, const char *text);

#endif
