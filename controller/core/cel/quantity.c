/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: pkg/api/resource of k8s.io/apimachinery (quantity.go, amount.go, suffix.go). */
#include "controller/core/cel/quantity.h"

#include <math.h>
#include <string.h>

#include "controller/core/cel/number.h"

#define NANO (-9)
/* Digits of which Go is sure that they fit 64 bits. */
#define SURE_DIGITS 18

/* The parts of the text. Zeros before the number are no part of it. */
struct parts {
    const char *whole, *fraction;
    size_t n_whole, n_fraction;
    bool negative, binary;
    bool digits; /* there is at least one */
    int32_t exponent;
};

/* The suffix as a power of 10 or 2. */
static bool read_suffix(const char *suffix, size_t n, struct parts *ret)
{
    static const char decimal[] = "num\0kMGTPE", two[] = "KMGTPE";
    const char *at;
    int64_t exponent = 0;

    if (n == 0)
        return true;
    if (n == 1) {
        at = *suffix == '\0' ? NULL : memchr(decimal, *suffix, sizeof(decimal) - 1);
        ret->exponent = at == NULL ? 0 : 3 * ((int)(at - decimal) - 3);
        return at != NULL;
    }
    if (n == 2 && suffix[1] == 'i') {
        at = memchr(two, *suffix, sizeof(two) - 1);
        ret->exponent = at == NULL ? 0 : 10 * (int)(at - two + 1);
        ret->binary = true;
        return at != NULL;
    }
    if ((*suffix != 'e' && *suffix != 'E') || !tg_cel_parse_int(suffix + 1, n - 1, &exponent))
        return false;
    ret->exponent = (int32_t)(uint32_t)(uint64_t)exponent; /* cut to 32 bits there as well */
    return true;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static bool split(const char *text, size_t n, struct parts *ret)
{
    const char *at = text, *end = text + n, *first;

    *ret = (struct parts){.negative = n > 0 && *text == '-'};
    if (n == 0)
        return false;
    if (*at == '-' || *at == '+')
        at++;
    first = at;
    while (at < end && *at == '0')
        at++;
    ret->whole = at;
    at = skip_digits(at, end);
    ret->n_whole = (size_t)(at - ret->whole);
    ret->digits = at > first;
    if (at < end && *at == '.') {
        ret->fraction = ++at;
        at = skip_digits(at, end);
        ret->n_fraction = (size_t)(at - ret->fraction);
        ret->digits = ret->digits || ret->n_fraction > 0;
    }
    return read_suffix(at, (size_t)(end - at), ret);
}

/* Does Go keep it as an integer with a scale? */
static bool read_plain(const struct parts *p, struct tg_cel_quantity *ret)
{
    size_t n = (p->n_whole == 0 ? 1 : p->n_whole) + p->n_fraction;
    int64_t value = 0, scale = p->binary ? 0 : (int64_t)p->exponent - (int64_t)p->n_fraction;
    int sure = SURE_DIGITS;

    if (p->binary)
        sure = p->n_fraction > 0 ? -1 : 14 - 3 * p->exponent / 10;
    if (sure < 0 || n > (size_t)sure || scale < NANO)
        return false;
    for (size_t i = 0; i < p->n_whole; i++)
        value = 10 * value + (p->whole[i] - '0');
    for (size_t i = 0; i < p->n_fraction; i++)
        value = 10 * value + (p->fraction[i] - '0');
    if (p->binary)
        value <<= p->exponent;
    *ret = (struct tg_cel_quantity){.value = p->negative ? -value : value, .scale = (int32_t)scale};
    return true;
}

static enum tg_cel_quantity_rc translated(enum tg_cel_decimal_rc rc)
{
    static const enum tg_cel_quantity_rc codes[] = {
        [TG_CEL_DECIMAL_OK] = TG_CEL_QUANTITY_OK,
        [TG_CEL_DECIMAL_RANGE] = TG_CEL_QUANTITY_RANGE,
        [TG_CEL_DECIMAL_MEMORY] = TG_CEL_QUANTITY_MEMORY,
    };

    return codes[rc];
}

/* To whole nanos, rounded up; with a binary suffix at most 2^63 - 1. */
static enum tg_cel_decimal_rc read_big(struct tg_cel_scratch *scratch, const struct parts *p,
                                       struct tg_cel_decimal *ret)
{
    uint32_t limbs[TG_CEL_DECIMAL_SMALL];
    struct tg_cel_decimal most = tg_cel_decimal_of(INT64_MAX, 0, limbs);
    int64_t scale = (p->binary ? 0 : (int64_t)p->exponent) - (int64_t)p->n_fraction;
    enum tg_cel_decimal_rc rc =
        tg_cel_decimal_read(scratch, p->whole, p->n_whole, p->fraction, p->n_fraction, ret);

    if (rc == TG_CEL_DECIMAL_OK && p->binary)
        rc = tg_cel_decimal_shift(scratch, ret, (unsigned)p->exponent);
    if (rc != TG_CEL_DECIMAL_OK || ret->n == 0)
        return rc;
    /* The same distance from a scale that fits 32 bits. */
    ret->scale = (int32_t)(scale < -INT32_MAX / 2  ? -INT32_MAX / 2
                           : scale > INT32_MAX / 2 ? INT32_MAX / 2
                                                   : scale);
    rc = tg_cel_decimal_rescale(scratch, ret, NANO);
    if (rc == TG_CEL_DECIMAL_OK && p->binary && tg_cel_decimal_cmp(ret, &most) > 0 &&
        !tg_cel_decimal_make(scratch, INT64_MAX, 0, ret))
        rc = TG_CEL_DECIMAL_MEMORY;
    ret->negative = p->negative;
    return rc;
}

enum tg_cel_quantity_rc tg_cel_quantity_parse(struct tg_cel_scratch *scratch, const char *text,
                                              size_t n, struct tg_cel_quantity *ret)
{
    struct parts parts;

    if (!split(text, n, &parts))
        return TG_CEL_QUANTITY_BAD;
    if (read_plain(&parts, ret))
        return TG_CEL_QUANTITY_OK;
    if (!parts.digits)
        return TG_CEL_QUANTITY_BAD;
    *ret = (struct tg_cel_quantity){.big = tg_cel_alloc(scratch, sizeof(*ret->big))};
    if (ret->big == NULL)
        return TG_CEL_QUANTITY_MEMORY;
    return translated(read_big(scratch, &parts, ret->big));
}

/* value * 10^scale, if that fits. */
static bool scaled(int64_t value, int64_t scale, int64_t *ret)
{
    for (; scale > 0 && value != 0; scale--) {
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    }
    *ret = value;
    return true;
}

bool tg_cel_quantity_integer(const struct tg_cel_quantity *q, int64_t *ret)
{
    return q->big == NULL && q->scale >= 0 && scaled(q->value, q->scale, ret);
}

int tg_cel_quantity_sign(const struct tg_cel_quantity *q)
{
    if (q->big != NULL)
        return q->big->negative ? -1 : q->big->n > 0;
    return (q->value > 0) - (q->value < 0);
}

/* The decimal of q, in the caller's limbs if it has none. */
static struct tg_cel_decimal decimal_of(const struct tg_cel_quantity *q,
                                        uint32_t limbs[TG_CEL_DECIMAL_SMALL])
{
    return q->big != NULL ? *q->big : tg_cel_decimal_of(q->value, q->scale, limbs);
}

int tg_cel_quantity_cmp(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b)
{
    uint32_t left[TG_CEL_DECIMAL_SMALL], right[TG_CEL_DECIMAL_SMALL];
    struct tg_cel_decimal x, y;

    if (a->big == NULL && b->big == NULL && a->scale == b->scale)
        return (a->value > b->value) - (a->value < b->value);
    x = decimal_of(a, left);
    y = decimal_of(b, right);
    return tg_cel_decimal_cmp(&x, &y);
}

bool tg_cel_quantity_settle(struct tg_cel_scratch *scratch, struct tg_cel_quantity *q,
                            const struct tg_cel_quantity *y)
{
    struct tg_cel_decimal *big;

    if (q->big != NULL || y->big == NULL)
        return true;
    big = tg_cel_alloc(scratch, sizeof(*big));
    if (big == NULL || !tg_cel_decimal_make(scratch, q->value, q->scale, big))
        return false;
    *q = (struct tg_cel_quantity){.big = big};
    return true;
}

/* int64Amount.Add and Sub: the sum of two plain ones, while it fits; false: Go goes on with
 * decimals. Sub turns the sign of the smallest integer into itself. */
static bool add_plain(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b,
                      bool subtract, struct tg_cel_quantity *ret)
{
    int64_t x = a->value, y = subtract ? (int64_t) - (uint64_t)b->value : b->value;
    int32_t scale = a->scale < b->scale ? a->scale : b->scale;

    *ret = *a;
    if (y == 0)
        return true;
    if (x == 0) {
        *ret = (struct tg_cel_quantity){.value = y, .scale = b->scale};
        return true;
    }
    ret->scale = scale;
    return scaled(x, (int64_t)a->scale - scale, &x) && scaled(y, (int64_t)b->scale - scale, &y) &&
           !__builtin_add_overflow(x, y, &ret->value);
}

enum tg_cel_quantity_rc tg_cel_quantity_add(struct tg_cel_scratch *scratch,
                                            const struct tg_cel_quantity *a,
                                            const struct tg_cel_quantity *b, bool subtract,
                                            bool shared, struct tg_cel_quantity *ret)
{
    uint32_t left[TG_CEL_DECIMAL_SMALL], right[TG_CEL_DECIMAL_SMALL];
    struct tg_cel_decimal x, y, sum, *big = shared ? a->big : NULL;
    struct tg_cel_quantity plain;
    enum tg_cel_decimal_rc rc;

    if (a->big == NULL && b->big == NULL && add_plain(a, b, subtract, &plain)) {
        *ret = plain;
        return TG_CEL_QUANTITY_OK;
    }
    x = decimal_of(a, left);
    y = decimal_of(b, right);
    rc = tg_cel_decimal_add(scratch, &x, &y, subtract, &sum);
    if (rc == TG_CEL_DECIMAL_OK && big == NULL)
        big = tg_cel_alloc(scratch, sizeof(*big));
    if (rc == TG_CEL_DECIMAL_OK && big == NULL)
        rc = TG_CEL_DECIMAL_MEMORY;
    if (rc != TG_CEL_DECIMAL_OK)
        return translated(rc);
    *big = sum;
    *ret = (struct tg_cel_quantity){.big = big};
    return TG_CEL_QUANTITY_OK;
}

/* math.Pow10, which is not always the double that is nearest. */
static double power_of_10(int64_t n)
{
#define TEN(p) 1e##p##0, 1e##p##1, 1e##p##2, 1e##p##3, 1e##p##4, 1e##p##5, 1e##p##6, 1e##p##7
    static const double small[32] = {TEN(0), 1e8,  1e9,  TEN(1), 1e18, 1e19,
                                     TEN(2), 1e28, 1e29, 1e30,   1e31};
#undef TEN
    static const double up[] = {1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
    static const double down[] = {1e0,    1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                  1e-192, 1e-224, 1e-256, 1e-288, 1e-320};

    if (n >= 0)
        return n > 308 ? HUGE_VAL : up[n / 32] * small[n % 32];
    return n < -323 ? 0 : down[-n / 32] / small[-n % 32];
}

double tg_cel_quantity_double(const struct tg_cel_quantity *q)
{
    double base = q->big != NULL ? tg_cel_decimal_unscaled(q->big) : (double)q->value;
    int32_t scale = q->big != NULL ? q->big->scale : q->scale;

    return scale == 0 ? base : base * power_of_10(scale);
}
