/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.Quantity as the Go type holds it: an integer of 64 bits with a scale, or a decimal of
 * any size. Which of the two it is, asInteger() and isInteger() show. Decimals have a bound here
 * (decimal.h); a quantity beyond it is out of range, while in Go its exponent alone decides how
 * long the process hangs.
 */
#ifndef TG_CORE_CEL_QUANTITY_H
#define TG_CORE_CEL_QUANTITY_H

#include "controller/core/cel/decimal.h"

struct tg_cel_quantity {
    int64_t value; /* times 10^scale, where big is NULL */
    int32_t scale;
    struct tg_cel_decimal *big;
};

enum tg_cel_quantity_rc {
    TG_CEL_QUANTITY_OK,
    TG_CEL_QUANTITY_BAD, /* not a quantity */
    TG_CEL_QUANTITY_RANGE,
    TG_CEL_QUANTITY_MEMORY
};

/* resource.ParseQuantity of n bytes, which takes a lone sign, point or suffix as 0. */
enum tg_cel_quantity_rc tg_cel_quantity_parse(struct tg_cel_scratch *scratch, const char *text,
                                              size_t n, struct tg_cel_quantity *ret);
/* q.AsInt64() */
bool tg_cel_quantity_integer(const struct tg_cel_quantity *q, int64_t *ret);
/* -1, 0, 1 */
int tg_cel_quantity_sign(const struct tg_cel_quantity *q);
int tg_cel_quantity_cmp(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b);
/* q.Cmp(y): compared to a big decimal, q becomes one itself; false: out of memory. */
bool tg_cel_quantity_settle(struct tg_cel_scratch *scratch, struct tg_cel_quantity *q,
                            const struct tg_cel_quantity *y);
/* a + b or a - b. shared: the sum of big decimals is written into that of a, as it was in Go up to
 * Kubernetes 1.36. *ret may be a or b. */
enum tg_cel_quantity_rc tg_cel_quantity_add(struct tg_cel_scratch *scratch,
                                            const struct tg_cel_quantity *a,
                                            const struct tg_cel_quantity *b, bool subtract,
                                            bool shared, struct tg_cel_quantity *ret);
/* q.AsApproximateFloat64() */
double tg_cel_quantity_double(const struct tg_cel_quantity *q);

#endif
