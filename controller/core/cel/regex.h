/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of Go's regexp, matched by libre2 in linear time. */
#ifndef TG_CORE_CEL_REGEX_H
#define TG_CORE_CEL_REGEX_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that the program of one pattern may take; a larger one is refused. */
#define TG_CEL_REGEX_MEMORY (1 << 20)

struct tg_cel_regex;

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: no regular expression, or too large; why says it. */
struct tg_cel_regex *tg_cel_regex_new(const char *pattern, size_t n, char *why, size_t why_n);
void tg_cel_regex_free(void *regex);
/* The leftmost match at or behind `from`: [*start, *end). start may be NULL when only the fact
 * counts. */
bool tg_cel_regex_find(const struct tg_cel_regex *regex, const char *text, size_t n, size_t from,
                       size_t *start, size_t *end);

#ifdef __cplusplus
}
#endif

#endif
