/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"

static const char ellipsis[] = "...";

void tg_text_init(struct tg_text *text)
{
    text->data[0] = '\0';
    text->n = 0;
    text->cut = false;
}

/* Ends the text so that no character is cut in two. */
static void cut(struct tg_text *text)
{
    size_t at = TG_TEXT_MAX - (sizeof(ellipsis) - 1);

    while (at > 0 && ((unsigned char)text->data[at] & 0xC0U) == 0x80U)
        at--;
    memcpy(text->data + at, ellipsis, sizeof(ellipsis));
    text->n = at + sizeof(ellipsis) - 1;
    text->cut = true;
}

void tg_text_add(struct tg_text *text, const char *format, ...)
{
    size_t room = sizeof(text->data) - text->n;
    va_list args;
    int n = 0;

    if (text->cut)
        return;
    va_start(args, format);
    n = vsnprintf(text->data + text->n, room, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= room)
        cut(text);
    else
        text->n += (size_t)n;
}

void tg_text_count(struct tg_text *text, size_t n, const char *one, const char *many)
{
    tg_text_add(text, "%zu %s", n, n == 1 ? one : many);
}
