/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512

/* The parts of the text: sign, digits before and behind the point, suffix. */
struct parts {
    bool negative;
    const char *whole, *fraction, *suffix;
    size_t n_whole, n_fraction;
};

static struct parts split(const char *text)
{
    struct parts p = {.negative = *text == '-'};

    if (*text == '-' || *text == '+')
        text++;
    p.whole = text + strspn(text, "0");
    text = p.whole + strspn(p.whole, "0123456789");
    p.n_whole = (size_t)(text - p.whole);
    if (*text == '.') {
        p.fraction = text + 1;
        p.n_fraction = strspn(p.fraction, "0123456789");
        text = p.fraction + p.n_fraction;
    }
    p.suffix = text;
    return p;
}

/* The suffix as a power of 10 or 2. */
static bool suffix_of(const char *suffix, bool *binary, int *exponent)
{
    static const char decimal[] = "num\0kMGTPE", two[] = "KMGTPE";
    const char *at;

    *binary = strlen(suffix) == 2 && suffix[1] == 'i';
    *exponent = 0;
    if (*binary) {
        at = strchr(two, *suffix);
        *exponent = at == NULL ? 0 : 10 * (int)(at - two + 1);
        return at != NULL;
    }
    if (*suffix == '\0')
        return true;
    if (suffix[1] == '\0') {
        at = memchr(decimal, *suffix, sizeof(decimal) - 1);
        *exponent = at == NULL ? 0 : 3 * ((int)(at - decimal) - 3);
        return at != NULL;
    }
    if (*suffix != 'e' && *suffix != 'E')
        return false;
    *exponent = (int)strtol(suffix + 1, NULL, 10);
    return true;
}

/* Does the Go parser keep it as an integer with a scale? */
static void find_plain(const char *text, struct tg_cel_quantity *q)
{
    struct parts p = split(text);
    size_t whole = p.n_whole == 0 ? 1 : p.n_whole;
    char digits[64], *end;
    int exponent = 0, precision = -1;
    bool binary = false;
    __int128 value;

    q->plain = false;
    if (!suffix_of(p.suffix, &binary, &exponent))
        return;
    if (!binary)
        precision = 18 - (int)(whole + p.n_fraction);
    else if (p.n_fraction == 0)
        precision = 15 - (int)whole - (int)((float)exponent * 3 / 10) - 1;
    q->scale = (binary ? 0 : exponent) - (int32_t)p.n_fraction;
    if (precision < 0 || q->scale < -9 || whole + p.n_fraction >= sizeof(digits))
        return;
    memcpy(digits, p.n_whole == 0 ? "0" : p.whole, whole);
    if (p.n_fraction > 0)
        memcpy(digits + whole, p.fraction, p.n_fraction);
    digits[whole + p.n_fraction] = '\0';
    value = (__int128)strtoll(digits, &end, 10) << (binary ? exponent : 0);
    if (value > INT64_MAX)
        return;
    q->value = (int64_t)(p.negative ? -value : value);
    q->plain = true;
}

bool tg_cel_quantity_parse(const char *text, size_t n, struct tg_cel_quantity *ret)
{
    char copy[TEXT_MAX + 2];
    size_t sign, rest;

    if (n == 0 || n >= TEXT_MAX || memchr(text, '\0', n) != NULL)
        return false;
    sign = *text == '-' || *text == '+' ? 1 : 0;
    memcpy(copy, text, n);
    copy[n] = '\0';
    rest = sign + (copy[sign] == '.' ? 1U : 0U);
    if (copy[rest] < '0' || copy[rest] > '9') { /* no digit at all counts as 0 */
        memmove(copy + sign + 1, copy + sign, n - sign + 1);
        copy[sign] = '0';
    }
    *ret = (struct tg_cel_quantity){.plain = false};
    if (tg_quantity_parse(copy, &ret->exact, NULL) < 0)
        return false;
    find_plain(copy, ret);
    return true;
}

bool tg_cel_quantity_read(const char *text, struct tg_cel_quantity *ret)
{
    if (*text < '0' || *text > '9')
        return tg_cel_quantity_parse(text, strlen(text), ret);
    *ret = (struct tg_cel_quantity){.text = text};
    return tg_quantity_parse(text, &ret->exact, NULL) == 0;
}

/* How the Go type holds it is seldom asked. */
static struct tg_cel_quantity settled(const struct tg_cel_quantity *q)
{
    struct tg_cel_quantity copy = *q;

    if (copy.text != NULL)
        find_plain(copy.text, &copy);
    copy.text = NULL;
    return copy;
}

struct tg_cel_quantity tg_cel_quantity_of(int64_t value)
{
    return (struct tg_cel_quantity){
        .exact = tg_quantity_from_int(value, TG_QUANTITY_DECIMAL_EXPONENT),
        .plain = true,
        .value = value,
    };
}

/* value * 10^scale, if that fits. */
static bool scaled(int64_t value, int32_t scale, int64_t *ret)
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
    struct tg_cel_quantity s = settled(q);

    return s.plain && s.scale >= 0 && scaled(s.value, s.scale, ret);
}

/* The sum of two plain ones, while it fits; false: Go goes on with big decimals. */
static bool add_plain(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b,
                      bool subtract, struct tg_cel_quantity *ret)
{
    int32_t scale = a->scale < b->scale ? a->scale : b->scale;
    int64_t x = 0, y = 0;

    if (b->value == 0) {
        ret->value = a->value;
        ret->scale = a->scale;
        return true;
    }
    if (subtract && b->value == INT64_MIN)
        return false;
    y = subtract ? -b->value : b->value;
    if (a->value == 0) {
        ret->value = y;
        ret->scale = b->scale;
        return true;
    }
    ret->scale = scale;
    return scaled(a->value, a->scale - scale, &x) && scaled(y, b->scale - scale, &y) &&
           !__builtin_add_overflow(x, y, &ret->value);
}

bool tg_cel_quantity_add(const struct tg_cel_quantity *a, const struct tg_cel_quantity *b,
                         bool subtract, struct tg_cel_quantity *ret)
{
    struct tg_cel_quantity x = settled(a), y = settled(b);
    int rc;

    *ret = x;
    rc = subtract ? tg_quantity_sub(&ret->exact, &y.exact, NULL)
                  : tg_quantity_add(&ret->exact, &y.exact, NULL);
    ret->plain = x.plain && y.plain && add_plain(&x, &y, subtract, ret);
    return rc == 0;
}

/* The nearest double of mantissa * 10^scale. */
static double nearest(__int128 mantissa, int32_t scale)
{
    unsigned __int128 rest =
        mantissa < 0 ? -(unsigned __int128)mantissa : (unsigned __int128)mantissa;
    char text[64], *at = text + sizeof(text) - 16;

    snprintf(at, 16, "e%d", (int)scale);
    do {
        *--at = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest != 0);
    if (mantissa < 0)
        *--at = '-';
    return strtod(at, NULL);
}

/* A big decimal is held in nanos, so that it is rounded twice. */
double tg_cel_quantity_double(const struct tg_cel_quantity *q)
{
    struct tg_cel_quantity s = settled(q);

    if (!s.plain)
        return nearest(s.exact.mantissa, s.exact.scale + 9) * 1e-9;
    return s.scale == 0 ? (double)s.value : (double)s.value * pow(10, s.scale);
}
