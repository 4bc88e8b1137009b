/* SPDX-License-Identifier: Apache-2.0 */
/* String literals to what they mean. */
#ifndef TG_CORE_CEL_UNESCAPE_H
#define TG_CORE_CEL_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* text: between the quotes, n bytes. out: room for n + 1 bytes; never longer than the text. Line
 * ends become "\n", in raw strings too. In bytes, \x and octal escapes are bytes, not characters,
 * and \u is none. NULL, or what is wrong at *ret_at. */
const char *tg_cel_unescape(const char *text, size_t n, bool raw, bool bytes, char *out,
                            size_t *ret_n, size_t *ret_at);
/* UTF-8 of a character to out (room for 4 bytes); returns its length. */
size_t tg_cel_put_character(unsigned long c, char *out);
/* A Unicode scalar value, no half of a surrogate pair? */
bool tg_cel_is_character(unsigned long c);

#endif
