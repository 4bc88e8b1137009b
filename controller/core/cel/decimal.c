/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASE 1000000000U
#define LIMB_DIGITS 9
/* Digits of the largest double, and some. */
#define DOUBLE_DIGITS 320

static const uint32_t powers[LIMB_DIGITS] = {1,      10,      100,      1000,     10000,
                                             100000, 1000000, 10000000, 100000000};

static uint32_t *new_limbs(struct tg_cel_scratch *scratch, size_t n)
{
    return tg_cel_alloc(scratch, n * sizeof(uint32_t));
}

/* Drops zeros at the top. */
static void trim(struct tg_cel_decimal *d)
{
    while (d->n > 0 && d->limbs[d->n - 1] == 0)
        d->n--;
    if (d->n == 0)
        d->negative = false;
}

static int64_t count_digits(const struct tg_cel_decimal *d)
{
    int64_t n = d->n == 0 ? 0 : (int64_t)(d->n - 1) * LIMB_DIGITS;

    for (uint32_t top = d->n == 0 ? 0 : d->limbs[d->n - 1]; top > 0; top /= 10)
        n++;
    return n;
}

struct tg_cel_decimal tg_cel_decimal_of(int64_t value, int32_t scale,
                                        uint32_t limbs[TG_CEL_DECIMAL_SMALL])
{
    struct tg_cel_decimal d = {.limbs = limbs, .scale = scale, .negative = value < 0};
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    for (; rest > 0; rest /= BASE)
        limbs[d.n++] = (uint32_t)(rest % BASE);
    return d;
}

bool tg_cel_decimal_make(struct tg_cel_scratch *scratch, int64_t value, int32_t scale,
                         struct tg_cel_decimal *ret)
{
    uint32_t *limbs = new_limbs(scratch, TG_CEL_DECIMAL_SMALL);

    if (limbs != NULL)
        *ret = tg_cel_decimal_of(value, scale, limbs);
    return limbs != NULL;
}

enum tg_cel_decimal_rc tg_cel_decimal_read(struct tg_cel_scratch *scratch, const char *whole,
                                           size_t n_whole, const char *fraction, size_t n_fraction,
                                           struct tg_cel_decimal *ret)
{
    size_t n = n_whole + n_fraction;

    if (n_whole > TG_CEL_DECIMAL_DIGITS || n_fraction > TG_CEL_DECIMAL_DIGITS ||
        n > TG_CEL_DECIMAL_DIGITS)
        return TG_CEL_DECIMAL_RANGE;
    *ret = (struct tg_cel_decimal){.n = (uint32_t)(n / LIMB_DIGITS + 1),
                                   .scale = -(int32_t)n_fraction};
    ret->limbs = new_limbs(scratch, ret->n);
    if (ret->limbs == NULL)
        return TG_CEL_DECIMAL_MEMORY;
    memset(ret->limbs, 0, ret->n * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++) { /* from the last digit on */
        size_t at = n - 1 - i;
        char digit = at < n_whole ? whole[at] : fraction[at - n_whole];

        ret->limbs[i / LIMB_DIGITS] += (uint32_t)(digit - '0') * powers[i % LIMB_DIGITS];
    }
    trim(ret);
    return TG_CEL_DECIMAL_OK;
}

/* d * factor, where d has a limb to spare; factor < 10^9 */
static void multiply(struct tg_cel_decimal *d, uint32_t factor)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        carry += (uint64_t)d->limbs[i] * factor;
        d->limbs[i] = (uint32_t)(carry % BASE);
        carry /= BASE;
    }
    if (carry > 0)
        d->limbs[d->n++] = (uint32_t)carry;
}

enum tg_cel_decimal_rc tg_cel_decimal_shift(struct tg_cel_scratch *scratch,
                                            struct tg_cel_decimal *d, unsigned bits)
{
    uint32_t *limbs = new_limbs(scratch, d->n + bits / 29 + 1U);

    if (limbs == NULL)
        return TG_CEL_DECIMAL_MEMORY;
    if (d->n > 0)
        memcpy(limbs, d->limbs, d->n * sizeof(uint32_t));
    d->limbs = limbs;
    for (; bits > 0; bits -= bits < 29 ? bits : 29)
        multiply(d, UINT32_C(1) << (bits < 29 ? bits : 29));
    return TG_CEL_DECIMAL_OK;
}

/* d * 10^digits */
static enum tg_cel_decimal_rc move_up(struct tg_cel_scratch *scratch, struct tg_cel_decimal *d,
                                      int64_t digits)
{
    size_t whole = (size_t)digits / LIMB_DIGITS;
    uint32_t *limbs;

    if (d->n == 0)
        return TG_CEL_DECIMAL_OK;
    if (count_digits(d) + digits > TG_CEL_DECIMAL_DIGITS)
        return TG_CEL_DECIMAL_RANGE;
    limbs = new_limbs(scratch, d->n + whole + 1);
    if (limbs == NULL)
        return TG_CEL_DECIMAL_MEMORY;
    memset(limbs, 0, whole * sizeof(uint32_t));
    memcpy(limbs + whole, d->limbs, d->n * sizeof(uint32_t));
    d->limbs = limbs;
    d->n += (uint32_t)whole;
    multiply(d, powers[digits % LIMB_DIGITS]);
    return TG_CEL_DECIMAL_OK;
}

/* One more, where d has a limb to spare. */
static void increment(struct tg_cel_decimal *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        if (++d->limbs[i] < BASE)
            return;
        d->limbs[i] = 0;
    }
    d->limbs[d->n++] = 1;
}

/* d / 10^digits, rounded up */
static enum tg_cel_decimal_rc move_down(struct tg_cel_scratch *scratch, struct tg_cel_decimal *d,
                                        int64_t digits)
{
    bool negative = d->negative, inexact = false;
    uint64_t whole = (uint64_t)digits / LIMB_DIGITS, rest = 0;
    uint32_t *limbs = new_limbs(scratch, d->n + 1U), n = 0;

    if (limbs == NULL)
        return TG_CEL_DECIMAL_MEMORY;
    for (uint32_t i = 0; i < d->n && i < whole; i++)
        inexact = inexact || d->limbs[i] != 0;
    if (whole < d->n) {
        uint32_t divisor = powers[digits % LIMB_DIGITS];

        n = d->n - (uint32_t)whole;
        for (uint32_t i = n; i > 0; i--) {
            rest = rest * BASE + d->limbs[whole + i - 1];
            limbs[i - 1] = (uint32_t)(rest / divisor);
            rest %= divisor;
        }
    }
    d->limbs = limbs;
    d->n = n;
    trim(d);
    if (inexact || rest != 0) {
        increment(d);
        d->negative = negative;
    }
    return TG_CEL_DECIMAL_OK;
}

enum tg_cel_decimal_rc tg_cel_decimal_rescale(struct tg_cel_scratch *scratch,
                                              struct tg_cel_decimal *d, int64_t scale)
{
    int64_t digits = d->scale - scale;
    enum tg_cel_decimal_rc rc = TG_CEL_DECIMAL_OK;

    if (digits > 0)
        rc = move_up(scratch, d, digits);
    else if (digits < 0)
        rc = move_down(scratch, d, -digits);
    d->scale = (int32_t)scale;
    return rc;
}

static int compare_limbs(const struct tg_cel_decimal *a, const struct tg_cel_decimal *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = a->n; i > 0; i--) {
        if (a->limbs[i - 1] != b->limbs[i - 1])
            return a->limbs[i - 1] < b->limbs[i - 1] ? -1 : 1;
    }
    return 0;
}

/* large + sign * small in limbs, both of one scale, large >= small for a difference. */
static void combine(const struct tg_cel_decimal *large, const struct tg_cel_decimal *small,
                    int64_t sign, uint32_t *limbs, uint32_t n)
{
    int64_t carry = 0;

    for (uint32_t i = 0; i < n; i++) {
        carry += i < large->n ? large->limbs[i] : 0;
        carry += i < small->n ? sign * (int64_t)small->limbs[i] : 0;
        limbs[i] = (uint32_t)((carry + BASE) % BASE);
        carry = carry < 0 ? -1 : carry / BASE;
    }
}

enum tg_cel_decimal_rc tg_cel_decimal_add(struct tg_cel_scratch *scratch,
                                          const struct tg_cel_decimal *a,
                                          const struct tg_cel_decimal *b, bool subtract,
                                          struct tg_cel_decimal *ret)
{
    struct tg_cel_decimal x = *a, y = *b, sum;
    int32_t scale = x.scale < y.scale ? x.scale : y.scale;
    enum tg_cel_decimal_rc rc = tg_cel_decimal_rescale(scratch, &x, scale);
    bool minus = y.negative != subtract, swap;

    if (rc == TG_CEL_DECIMAL_OK)
        rc = tg_cel_decimal_rescale(scratch, &y, scale);
    if (rc != TG_CEL_DECIMAL_OK)
        return rc;
    swap = compare_limbs(&x, &y) < 0;
    sum = (struct tg_cel_decimal){.n = (x.n > y.n ? x.n : y.n) + 1, .scale = scale};
    sum.negative = swap ? minus : x.negative;
    sum.limbs = new_limbs(scratch, sum.n);
    if (sum.limbs == NULL)
        return TG_CEL_DECIMAL_MEMORY;
    combine(swap ? &y : &x, swap ? &x : &y, x.negative == minus ? 1 : -1, sum.limbs, sum.n);
    trim(&sum);
    if (count_digits(&sum) > TG_CEL_DECIMAL_DIGITS)
        return TG_CEL_DECIMAL_RANGE;
    *ret = sum;
    return TG_CEL_DECIMAL_OK;
}

/* The digit that counts 10^power. */
static uint32_t digit_at(const struct tg_cel_decimal *d, int64_t power)
{
    int64_t i = power - d->scale;

    if (i < 0 || i / LIMB_DIGITS >= d->n)
        return 0;
    return d->limbs[i / LIMB_DIGITS] / powers[i % LIMB_DIGITS] % 10;
}

/* Digit by digit, so that no power of ten is ever made: the exponent of a quantity can be 2^31. */
static int compare_magnitudes(const struct tg_cel_decimal *a, const struct tg_cel_decimal *b)
{
    int64_t top = count_digits(a) + a->scale, other = count_digits(b) + b->scale;
    int64_t last = a->scale < b->scale ? a->scale : b->scale;

    if (top != other)
        return top < other ? -1 : 1;
    if (a->scale == b->scale)
        return compare_limbs(a, b);
    for (int64_t power = top - 1; power >= last; power--) {
        uint32_t x = digit_at(a, power), y = digit_at(b, power);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

int tg_cel_decimal_cmp(const struct tg_cel_decimal *a, const struct tg_cel_decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    if (a->n == 0 || b->n == 0) /* neither is negative, or both and neither is 0 */
        return (a->n > 0) - (b->n > 0);
    return a->negative ? -compare_magnitudes(a, b) : compare_magnitudes(a, b);
}

double tg_cel_decimal_unscaled(const struct tg_cel_decimal *d)
{
    char text[DOUBLE_DIGITS + 2], *at = text;
    int64_t digits = count_digits(d);

    if (digits > DOUBLE_DIGITS)
        return d->negative ? -HUGE_VAL : HUGE_VAL;
    if (d->negative)
        *at++ = '-';
    for (int64_t i = digits; i > 0; i--)
        *at++ = (char)('0' +
                       (int)(d->limbs[(i - 1) / LIMB_DIGITS] / powers[(i - 1) % LIMB_DIGITS] % 10));
    *at = '\0';
    return strtod(text, NULL);
}
