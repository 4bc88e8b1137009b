/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/quantity.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define MAX_DIGITS 38
#define MAX_SCALE 10000
#define NANO (-9)
/* Exponents are cut to this, so that adding lengths to them cannot overflow. */
#define EXPONENT_LIMIT (INT64_C(1) << 40)

typedef unsigned __int128 u128;

static const struct suffix {
    const char *text;
    enum tg_quantity_format format;
    int exponent; /* of 10, or of 2 in the binary format */
} suffixes[] = {
    {"n", TG_QUANTITY_DECIMAL_SI, -9}, {"u", TG_QUANTITY_DECIMAL_SI, -6},
    {"m", TG_QUANTITY_DECIMAL_SI, -3}, {"", TG_QUANTITY_DECIMAL_SI, 0},
    {"k", TG_QUANTITY_DECIMAL_SI, 3},  {"M", TG_QUANTITY_DECIMAL_SI, 6},
    {"G", TG_QUANTITY_DECIMAL_SI, 9},  {"T", TG_QUANTITY_DECIMAL_SI, 12},
    {"P", TG_QUANTITY_DECIMAL_SI, 15}, {"E", TG_QUANTITY_DECIMAL_SI, 18},
    {"Ki", TG_QUANTITY_BINARY_SI, 10}, {"Mi", TG_QUANTITY_BINARY_SI, 20},
    {"Gi", TG_QUANTITY_BINARY_SI, 30}, {"Ti", TG_QUANTITY_BINARY_SI, 40},
    {"Pi", TG_QUANTITY_BINARY_SI, 50}, {"Ei", TG_QUANTITY_BINARY_SI, 60},
};

/* A quantity taken apart. */
struct parts {
    bool negative;
    const char *integer;
    size_t n_integer;
    const char *fraction;
    size_t n_fraction;
    enum tg_quantity_format format;
    int64_t exponent;
};

static u128 magnitude(__int128 v)
{
    return v < 0 ? -(u128)v : (u128)v;
}

static u128 power_of_10(unsigned exponent)
{
    u128 power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

static unsigned count_digits(u128 v)
{
    unsigned n = 0;

    for (; v > 0; v /= 10)
        n++;
    return n;
}

static void reduce(struct tg_quantity *q)
{
    if (q->mantissa == 0)
        q->scale = 0;
    while (q->mantissa != 0 && q->mantissa % 10 == 0) {
        q->mantissa /= 10;
        q->scale++;
    }
}

static int bad(const char *s, struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "\"%.40s\" is not a quantity; examples: 2, 0.5, 500m, 1500k, 16Gi, 1e3", s);
}

static int out_of_range(const char *s, struct tg_error *err)
{
    return tg_error_set(err, TG_OUT_OF_RANGE,
                        "\"%.40s\" is larger or more precise than a quantity can be", s);
}

static size_t span_digits(const char *s)
{
    return strspn(s, "0123456789");
}

static int parse_suffix(const char *suffix, struct parts *parts)
{
    const char *digits = suffix + 1;
    size_t n;

    for (size_t i = 0; i < TG_ARRAY_SIZE(suffixes); i++) {
        if (strcmp(suffix, suffixes[i].text) == 0) {
            parts->format = suffixes[i].format;
            parts->exponent = suffixes[i].exponent;
            return 0;
        }
    }
    if (suffix[0] != 'e' && suffix[0] != 'E')
        return -1;
    if (*digits == '+' && digits[1] != '-')
        digits++;
    n = strlen(digits);
    parts->format = TG_QUANTITY_DECIMAL_EXPONENT;
    if (tg_parse_i64(digits, n, &parts->exponent) != 0)
        return -1;
    if (parts->exponent > EXPONENT_LIMIT)
        parts->exponent = EXPONENT_LIMIT;
    if (parts->exponent < -EXPONENT_LIMIT)
        parts->exponent = -EXPONENT_LIMIT;
    return 0;
}

static int split(const char *s, struct parts *ret)
{
    struct parts parts = {.negative = s[0] == '-'};
    const char *at = s + (s[0] == '-' || s[0] == '+' ? 1 : 0);

    parts.integer = at;
    parts.n_integer = span_digits(at);
    at += parts.n_integer;
    if (*at == '.') {
        parts.fraction = at + 1;
        parts.n_fraction = span_digits(at + 1);
        at += 1 + parts.n_fraction;
    }
    if (parts.n_integer + parts.n_fraction == 0 || parse_suffix(at, &parts) != 0)
        return -1;
    *ret = parts;
    return 0;
}

static unsigned digit_at(const struct parts *parts, size_t i)
{
    char c = i < parts->n_integer ? parts->integer[i] : parts->fraction[i - parts->n_integer];

    return (unsigned)(c - '0');
}

/* Digits times a power of ten, rounded up at the ninth decimal. */
static int decimal_value(const struct parts *parts, struct tg_quantity *ret)
{
    size_t n = parts->n_integer + parts->n_fraction;
    size_t first = 0;
    int64_t power; /* of the current digit */
    u128 mantissa = 0;

    while (n > 0 && digit_at(parts, n - 1) == 0)
        n--;
    while (first < n && digit_at(parts, first) == 0)
        first++;
    power = parts->exponent + (int64_t)parts->n_integer - (int64_t)first;
    if (first == n)
        return 0;
    for (size_t i = first; i < n; i++) {
        if (power - 1 < NANO) {
            mantissa++; /* the last digit is not 0, so something is cut off */
            power = NANO;
            break;
        }
        power--;
        if (i - first == MAX_DIGITS)
            return -1;
        mantissa = mantissa * 10 + digit_at(parts, i);
    }
    if (power > MAX_SCALE)
        return -1;
    ret->mantissa = (__int128)mantissa;
    ret->scale = (int32_t)power;
    reduce(ret);
    return count_digits(magnitude(ret->mantissa)) > MAX_DIGITS ? -1 : 0;
}

/* Digits times a power of two, rounded up at the ninth decimal, at most 2^63-1. Nothing here needs
 * more than 97 bits. */
static void binary_value(const struct parts *parts, struct tg_quantity *ret)
{
    const u128 billion = 1000000000;
    u128 unit = billion << parts->exponent; /* < 2^90 */
    u128 whole = 0;
    u128 fraction = 0;
    bool inexact = false;
    u128 nanos;

    for (size_t i = 0; i < parts->n_integer && whole <= (u128)INT64_MAX; i++)
        whole = whole * 10 + digit_at(parts, i);
    /* From the last digit to the first; floors of floors are exact. */
    for (size_t i = parts->n_fraction; i > 0; i--) {
        fraction += unit * (unsigned)(parts->fraction[i - 1] - '0');
        inexact |= fraction % 10 != 0;
        fraction /= 10;
    }
    if (whole > (u128)INT64_MAX >> parts->exponent)
        nanos = (u128)INT64_MAX * billion;
    else
        nanos = whole * unit + fraction + inexact;
    if (nanos > (u128)INT64_MAX * billion)
        nanos = (u128)INT64_MAX * billion;
    if (nanos > 0 && nanos < billion)
        ret->format = TG_QUANTITY_DECIMAL_SI;
    ret->mantissa = (__int128)nanos;
    ret->scale = NANO;
    reduce(ret);
}

int tg_quantity_parse(const char *s, struct tg_quantity *ret, struct tg_error *err)
{
    struct tg_quantity q = {0};
    struct parts parts;

    if (split(s, &parts) != 0)
        return bad(s, err);
    q.format = parts.format;
    if (parts.format == TG_QUANTITY_BINARY_SI)
        binary_value(&parts, &q);
    else if (decimal_value(&parts, &q) != 0)
        return out_of_range(s, err);
    if (parts.negative)
        q.mantissa = -q.mantissa;
    *ret = q;
    return 0;
}

struct tg_quantity tg_quantity_from_int(int64_t value, enum tg_quantity_format format)
{
    struct tg_quantity q = {.mantissa = value, .format = format};

    reduce(&q);
    return q;
}

/* Both > 0. With the same number of digits before the point, both fit 38 digits at the smaller
 * scale. */
static int compare_magnitudes(const struct tg_quantity *a, const struct tg_quantity *b)
{
    u128 left = magnitude(a->mantissa);
    u128 right = magnitude(b->mantissa);
    int64_t left_top = (int64_t)count_digits(left) + a->scale;
    int64_t right_top = (int64_t)count_digits(right) + b->scale;

    if (left_top != right_top)
        return left_top < right_top ? -1 : 1;
    if (a->scale > b->scale)
        left *= power_of_10((unsigned)(a->scale - b->scale));
    else
        right *= power_of_10((unsigned)(b->scale - a->scale));
    return (left > right) - (left < right);
}

int tg_quantity_cmp(const struct tg_quantity *a, const struct tg_quantity *b)
{
    int left = (a->mantissa > 0) - (a->mantissa < 0);
    int right = (b->mantissa > 0) - (b->mantissa < 0);

    if (left != right)
        return left < right ? -1 : 1;
    if (left == 0)
        return 0;
    return left * compare_magnitudes(a, b);
}

/* The mantissa at a smaller scale; false if it does not fit there. It may have a digit more than a
 * quantity: a sum of two that ends in 0 came from such a one, and is taken apart again. */
static bool mantissa_at(const struct tg_quantity *q, int32_t scale, __int128 *ret)
{
    int64_t shift = (int64_t)q->scale - scale;

    if (q->mantissa == 0)
        shift = 0;
    return shift <= MAX_DIGITS &&
           !__builtin_mul_overflow(q->mantissa, (__int128)power_of_10((unsigned)shift), ret);
}

static int add(struct tg_quantity *q, const struct tg_quantity *y, int sign, struct tg_error *err)
{
    struct tg_quantity sum = {.scale = q->scale < y->scale ? q->scale : y->scale,
                              .format = q->format};
    __int128 left;
    __int128 right;

    if (q->mantissa == 0) {
        sum = *y;
        sum.mantissa *= sign;
        *q = sum;
        return 0;
    }
    if (y->mantissa == 0)
        return 0;
    if (mantissa_at(q, sum.scale, &left) && mantissa_at(y, sum.scale, &right) &&
        !__builtin_add_overflow(left, sign * right, &sum.mantissa)) {
        reduce(&sum);
        if (count_digits(magnitude(sum.mantissa)) <= MAX_DIGITS) {
            *q = sum;
            return 0;
        }
    }
    return tg_error_set(err, TG_OUT_OF_RANGE, "the sum of two quantities needs more than %d digits",
                        MAX_DIGITS);
}

int tg_quantity_add(struct tg_quantity *q, const struct tg_quantity *y, struct tg_error *err)
{
    return add(q, y, 1, err);
}

int tg_quantity_sub(struct tg_quantity *q, const struct tg_quantity *y, struct tg_error *err)
{
    return add(q, y, -1, err);
}

/* In units of 10^scale. */
static int64_t rounded(const struct tg_quantity *q, int32_t scale)
{
    int64_t limit = q->mantissa < 0 ? INT64_MIN : INT64_MAX;
    __int128 value = q->mantissa;

    if (q->scale >= scale) {
        if (!mantissa_at(q, scale, &value))
            return limit;
    } else {
        __int128 divisor = (__int128)power_of_10((unsigned)(scale - q->scale)); /* at most 10^9 */

        value = q->mantissa / divisor;
        if (q->mantissa % divisor != 0)
            value += q->mantissa < 0 ? -1 : 1;
    }
    if (value > INT64_MAX || value < INT64_MIN)
        return limit;
    return (int64_t)value;
}

int64_t tg_quantity_value(const struct tg_quantity *q)
{
    return rounded(q, 0);
}

int64_t tg_quantity_milli_value(const struct tg_quantity *q)
{
    return rounded(q, -3);
}

/* The digits of v; out holds at least 40 bytes. */
static void write_digits(u128 v, char *out)
{
    char digits[40];
    size_t n = sizeof(digits) - 1;

    digits[n] = '\0';
    do {
        digits[--n] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v > 0);
    memcpy(out, digits + n, sizeof(digits) - n);
}

static const char *find_suffix(enum tg_quantity_format format, int exponent)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(suffixes); i++) {
        if (suffixes[i].format == format && suffixes[i].exponent == exponent)
            return suffixes[i].text;
    }
    return NULL;
}

/* Writes it with a binary suffix if that is exact and at least 1024. */
static bool format_binary(const struct tg_quantity *q, char *out)
{
    __int128 value;
    u128 rest;
    int exponent = 0;
    const char *suffix;

    if (q->scale < 0 || !mantissa_at(q, 0, &value) || magnitude(value) < 1024)
        return false;
    for (rest = magnitude(value); rest % 1024 == 0 && exponent < 60; rest /= 1024)
        exponent += 10;
    write_digits(rest, out);
    suffix = exponent == 0 ? "" : find_suffix(TG_QUANTITY_BINARY_SI, exponent);
    memcpy(out + strlen(out), suffix, strlen(suffix) + 1);
    return true;
}

static void format_decimal(const struct tg_quantity *q, enum tg_quantity_format format, char *out)
{
    int exponent = q->scale - (q->scale % 3 + 3) % 3; /* the multiple of 3 below */
    const char *suffix = NULL;
    size_t n;

    write_digits(magnitude(q->mantissa), out);
    n = strlen(out);
    for (int i = exponent; i < q->scale; i++)
        out[n++] = '0';
    out[n] = '\0';
    if (format != TG_QUANTITY_DECIMAL_EXPONENT)
        suffix = find_suffix(TG_QUANTITY_DECIMAL_SI, exponent);
    if (suffix != NULL)
        memcpy(out + n, suffix, strlen(suffix) + 1);
    else if (exponent != 0)
        snprintf(out + n, TG_QUANTITY_TEXT - 1 - n, "e%d", exponent);
}

int tg_quantity_format(const struct tg_quantity *q, char *out, size_t n)
{
    char text[TG_QUANTITY_TEXT] = "-"; /* the sign, used or not */
    char *unsigned_text = text + 1;
    const char *shown = q->mantissa < 0 ? text : unsigned_text;

    if (q->format != TG_QUANTITY_BINARY_SI || !format_binary(q, unsigned_text))
        format_decimal(q, q->format, unsigned_text);
    if (strlen(shown) >= n)
        return -1;
    memcpy(out, shown, strlen(shown) + 1);
    return 0;
}
