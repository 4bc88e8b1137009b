/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.Quantity of k8s.io/apimachinery (pkg/api/resource), exactly.
 *
 * Grammar: [+-] (digits | digits.[digits] | .digits) [n u m k M G T P E | Ki Mi Gi Ti Pi Ei |
 * e[+-]digits | E[+-]digits]. What is finer than a nano is rounded up, away from zero; numbers with
 * a binary suffix are capped at 2^63-1. Where we differ from the Go code: a number needs at least
 * one digit, as its documented grammar says (Go reads "Ki" as 0); more than 38 significant digits
 * or an exponent over 10,000 is TG_OUT_OF_RANGE; a value that has no suffix in its format
 * (1000E) is printed with an exponent, where Go drops the suffix; a binary one (a sum, say) of
 * 2^127 or more is printed as decimal; and below zero Value and
 * MilliValue are right, where those of Go often are not (of "-2Pi" it says -5764607522).
 */
#ifndef TG_KUBERNETES_VALUES_QUANTITY_H
#define TG_KUBERNETES_VALUES_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"

enum tg_quantity_format {
    TG_QUANTITY_DECIMAL_SI,
    TG_QUANTITY_BINARY_SI,
    TG_QUANTITY_DECIMAL_EXPONENT
};

/* mantissa * 10^scale. Always reduced: |mantissa| < 10^38, no factor 10 in it, scale 0 if it is 0.
 * Zeroed = 0. */
struct tg_quantity {
    __int128 mantissa;
    int32_t scale;
    enum tg_quantity_format format; /* how it is printed */
};

/* Bytes that tg_quantity_format needs at most, NUL included. */
#define TG_QUANTITY_TEXT 64

/* TG_INVALID_ARGUMENT (no quantity) or TG_OUT_OF_RANGE; ret is untouched on failure. */
int tg_quantity_parse(const char *s, struct tg_quantity *ret, struct tg_error *err);
struct tg_quantity tg_quantity_from_int(int64_t value, enum tg_quantity_format format);

/* < 0, 0 or > 0; exact for any two quantities; the format plays no part. */
int tg_quantity_cmp(const struct tg_quantity *a, const struct tg_quantity *b);
/* *q += y, *q -= y. A zero takes on the format of y, as in Go. TG_OUT_OF_RANGE: *q is untouched. */
int tg_quantity_add(struct tg_quantity *q, const struct tg_quantity *y, struct tg_error *err);
int tg_quantity_sub(struct tg_quantity *q, const struct tg_quantity *y, struct tg_error *err);

/* In units, in thousandths; what does not divide is rounded up, away from zero; beyond int64 the
 * nearest int64. */
int64_t tg_quantity_value(const struct tg_quantity *q);
int64_t tg_quantity_milli_value(const struct tg_quantity *q);

/* The canonical string (Quantity.CanonicalizeBytes): the largest suffix that leaves an integer,
 * exponents in steps of 3; binary ones below 1024 or with a fraction are printed as decimal. 0, or
 * -1 if it does not fit into n bytes (nothing is written). */
int tg_quantity_format(const struct tg_quantity *q, char *out, size_t n);

#endif
