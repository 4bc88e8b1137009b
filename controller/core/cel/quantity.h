/* SPDX-License-Identifier: Apache-2.0 */
/* A quantity as the Go type holds it: its value, and whether that is held as a plain integer with a
 * scale, which asInteger() and isInteger() show. */
#ifndef TG_CORE_CEL_QUANTITY_H
#define TG_CORE_CEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/values/quantity.h"

struct tg_cel_quantity {
    struct tg_quantity exact; /* first: the value */
    bool plain;               /* value * 10^scale; otherwise a big decimal */
    int64_t value;
    int32_t scale;
    const char *text; /* not NULL: plain, value and scale are to be found in it yet */
};

/* resource.ParseQuantity, which takes a lone sign, point or suffix as 0. */
bool tg_cel_quantity_parse(const char *text, size_t n, struct tg_cel_quantity *ret);
/* The same of terminated text that outlives the result. */
bool tg_cel_quantity_read(const char *text, struct tg_cel_quantity *ret);
struct tg_cel_quantity tg_cel_quantity_of(int64_t value);
/* q.AsInt64() */
bool tg_cel_quantity_integer(const struct tg_cel_quantity *q, int64_t *ret);
/* a + b or a - b; false: out of range. */
bool tg_cel_quantity_add(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b,
                         bool subtract, struct tg_cel_quantity *ret);
double tg_cel_quantity_double(const struct tg_cel_quantity *q);

#endif
