/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to text and back, as Go's strconv and fmt do it. */
#ifndef TG_CORE_CEL_NUMBER_H
#define TG_CORE_CEL_NUMBER_H

#include "controller/core/cel/value.h"

/* Bytes that tg_cel_number_text needs at most. */
#define TG_CEL_NUMBER_TEXT 64

/* An int, uint or double; of a double the shortest text that reads back as the same, as
 * Go's %g writes it. Returns the length; out is not terminated. */
size_t tg_cel_number_text(const struct tg_cel_value *v, char *out);
/* The shortest text without an exponent of a number below 1e20 in size. */
size_t tg_cel_fixed_text(double value, char *out);
/* strconv.ParseInt, ParseUint (base 10) and ParseFloat. */
bool tg_cel_parse_int(const char *text, size_t n, int64_t *ret);
bool tg_cel_parse_uint(const char *text, size_t n, uint64_t *ret);
bool tg_cel_parse_double(const char *text, size_t n, double *ret);
/* A double as an integer, towards zero; false: outside the range. */
bool tg_cel_double_to_int(double value, int64_t *ret);
bool tg_cel_double_to_uint(double value, uint64_t *ret);

#endif
