/* SPDX-License-Identifier: Apache-2.0 */
/* A sentence of bounded length: what does not fit is cut, and says so with an ellipsis. */
#ifndef TG_CORE_EXPLAIN_TEXT_H
#define TG_CORE_EXPLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TG_TEXT_MAX 800

struct tg_text {
    char data[TG_TEXT_MAX + 1];
    size_t n;
    bool cut;
};

void tg_text_init(struct tg_text *text);
void tg_text_add(struct tg_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "1 device", "7 devices" */
void tg_text_count(struct tg_text *text, size_t n, const char *one, const char *many);

#endif
