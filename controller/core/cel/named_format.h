/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of format.named(): pkg/cel/library/format.go of the API server. */
#ifndef TG_CORE_CEL_NAMED_FORMAT_H
#define TG_CORE_CEL_NAMED_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct tg_cel_format;

/* NULL: there is no such format. */
const struct tg_cel_format *tg_cel_named_format_find(const char *name, size_t n);
/* The length of a pattern that would test it, for costs. */
uint64_t tg_cel_named_format_pattern(const struct tg_cel_format *format);

#define TG_CEL_FORMAT_MESSAGES 4
/* Why text is not of the format: the number of messages (static), 0 = it is. */
size_t tg_cel_named_format_check(const struct tg_cel_format *format, const char *text, size_t n,
                                 const char *messages[TG_CEL_FORMAT_MESSAGES]);

#endif
