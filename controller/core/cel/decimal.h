/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers of any size up to a bound: what the Go type of a quantity falls back to (inf.Dec)
 * where 64 bits are too few. */
#ifndef TG_CORE_CEL_DECIMAL_H
#define TG_CORE_CEL_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/core/cel/scratch.h"

/* More digits than an expression can hold, so that only exponents and sums run into it. */
#define TG_CEL_DECIMAL_DIGITS 20000

/* unscaled * 10^scale */
struct tg_cel_decimal {
    uint32_t *limbs; /* of the unscaled value: base 10^9, the least first, the last is not 0 */
    uint32_t n;      /* 0: zero, which is never negative */
    int32_t scale;
    bool negative;
};

enum tg_cel_decimal_rc {
    TG_CEL_DECIMAL_OK,
    TG_CEL_DECIMAL_RANGE, /* more than TG_CEL_DECIMAL_DIGITS digits */
    TG_CEL_DECIMAL_MEMORY
};

/* Limbs that any value of 64 bits fits. */
#define TG_CEL_DECIMAL_SMALL 3

/* value * 10^scale, in the caller's limbs. */
struct tg_cel_decimal tg_cel_decimal_of(int64_t value, int32_t scale,
                                        uint32_t limbs[TG_CEL_DECIMAL_SMALL]);
/* The same in limbs of its own; false: out of memory. */
bool tg_cel_decimal_make(struct tg_cel_scratch *scratch, int64_t value, int32_t scale,
                         struct tg_cel_decimal *ret);
/* The digits of whole and fraction side by side, with the scale that the fraction asks for. */
enum tg_cel_decimal_rc tg_cel_decimal_read(struct tg_cel_scratch *scratch, const char *whole,
                                           size_t n_whole, const char *fraction, size_t n_fraction,
                                           struct tg_cel_decimal *ret);
/* d * 2^bits, in place of d. */
enum tg_cel_decimal_rc tg_cel_decimal_shift(struct tg_cel_scratch *scratch,
                                            struct tg_cel_decimal *d, unsigned bits);
/* The same value with another scale; digits that are cut off are rounded up, away from zero. */
enum tg_cel_decimal_rc tg_cel_decimal_rescale(struct tg_cel_scratch *scratch,
                                              struct tg_cel_decimal *d, int64_t scale);
/* a + b or a - b, with the smaller scale of the two. *ret may be a or b. */
enum tg_cel_decimal_rc tg_cel_decimal_add(struct tg_cel_scratch *scratch,
                                          const struct tg_cel_decimal *a,
                                          const struct tg_cel_decimal *b, bool subtract,
                                          struct tg_cel_decimal *ret);
/* -1, 0, 1 */
int tg_cel_decimal_cmp(const struct tg_cel_decimal *a, const struct tg_cel_decimal *b);
/* The double nearest to the unscaled value; infinite beyond them. */
double tg_cel_decimal_unscaled(const struct tg_cel_decimal *d);

#endif
