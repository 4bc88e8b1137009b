/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/report.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Characters of the line that are shown before and after the place. */
#define BEFORE 48
#define AFTER 24

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

struct place {
    size_t line, column; /* from 1 */
    size_t start, end;   /* the bytes of the line that are shown */
    size_t indent;       /* characters from start to the place */
};

static struct place find_place(const struct tg_cel_source *source, size_t offset)
{
    struct place p = {.line = 1, .column = 1};
    size_t shown = 0;

    for (size_t i = 0; i < offset; i++) {
        if (source->text[i] == '\n') {
            p.line++;
            p.column = 1;
            p.start = i + 1;
        } else if (i + 1 <= source->n && starts_character(source->text[i])) {
            p.column++;
        }
    }
    p.indent = p.column - 1;
    while (p.indent > BEFORE) {
        do {
            p.start++;
        } while (!starts_character(source->text[p.start]));
        p.indent--;
    }
    p.end = offset;
    while (p.end < source->n && source->text[p.end] != '\n' && shown < AFTER) {
        do {
            p.end++;
        } while (p.end < source->n && !starts_character(source->text[p.end]));
        shown++;
    }
    return p;
}

int tg_cel_report(struct tg_error *err, enum tg_code code, const struct tg_cel_source *source,
                  size_t offset, const char *format, ...)
{
    static const char dots[BEFORE + 1] = "................................................";
    char what[256];
    struct place p;
    va_list args;

    if (err == NULL)
        return -(int)code;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    p = find_place(source, offset > source->n ? source->n : offset);
    return tg_error_set(err, code, "%zu:%zu: %s\n | %.*s\n | %.*s^", p.line, p.column, what,
                        (int)(p.end - p.start), source->text + p.start, (int)p.indent, dots);
}
