/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Go's %g writes an exponent outside of these. */
#define EXPONENT_LEAST (-4)
#define EXPONENT_FROM 6

struct decimal {
    char digits[24];
    size_t n;
    long exponent; /* of the first digit */
};

/* The fewest digits that read back as the same number. */
static struct decimal shortest(double value)
{
    struct decimal d = {.n = 0};
    char text[40];

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, fabs(value));
        if (strtod(text, NULL) == fabs(value))
            break;
    }
    for (const char *c = text; *c != 'e'; c++) {
        if (isdigit((unsigned char)*c))
            d.digits[d.n++] = *c;
    }
    d.exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

static size_t put_zeros(char *out, size_t at, long n)
{
    for (long i = 0; i < n; i++)
        out[at++] = '0';
    return at;
}

static size_t put_fixed(const struct decimal *d, char *out, size_t at)
{
    if (d->exponent < 0) {
        out[at++] = '0';
        out[at++] = '.';
        at = put_zeros(out, at, -d->exponent - 1);
        memcpy(out + at, d->digits, d->n);
        return at + d->n;
    }
    for (size_t i = 0; i < d->n; i++) {
        if ((long)i == d->exponent + 1)
            out[at++] = '.';
        out[at++] = d->digits[i];
    }
    return put_zeros(out, at, d->exponent + 1 - (long)d->n);
}

static size_t put_scientific(const struct decimal *d, char *out, size_t at)
{
    char exponent[16];
    int n = snprintf(exponent, sizeof(exponent), "e%c%02ld", d->exponent < 0 ? '-' : '+',
                     labs(d->exponent));

    out[at++] = d->digits[0];
    if (d->n > 1) {
        out[at++] = '.';
        memcpy(out + at, d->digits + 1, d->n - 1);
        at += d->n - 1;
    }
    memcpy(out + at, exponent, (size_t)n);
    return at + (size_t)n;
}

static size_t double_text(double value, char *out)
{
    struct decimal d;
    size_t at = 0;

    if (isnan(value) || isinf(value)) {
        const char *word = isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";

        memcpy(out, word, strlen(word));
        return strlen(word);
    }
    if (signbit(value))
        out[at++] = '-';
    d = shortest(value);
    return d.exponent < EXPONENT_LEAST || d.exponent >= EXPONENT_FROM ? put_scientific(&d, out, at)
                                                                      : put_fixed(&d, out, at);
}

size_t tg_cel_fixed_text(double value, char *out)
{
    struct decimal d = shortest(value);
    size_t at = 0;

    if (signbit(value))
        out[at++] = '-';
    return put_fixed(&d, out, at);
}

size_t tg_cel_number_text(const struct tg_cel_value *v, char *out)
{
    char text[32];
    int n;

    if (v->tag == TG_CEL_V_DOUBLE)
        return double_text(v->real, out);
    n = v->tag == TG_CEL_V_INT ? snprintf(text, sizeof(text), "%" PRId64, v->integer)
                               : snprintf(text, sizeof(text), "%" PRIu64, v->uinteger);
    memcpy(out, text, (size_t)n);
    return (size_t)n;
}

bool tg_cel_parse_uint(const char *text, size_t n, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)text[i]) || __builtin_mul_overflow(*ret, 10U, ret) ||
            __builtin_add_overflow(*ret, (unsigned)(text[i] - '0'), ret))
            return false;
    }
    return n > 0;
}

bool tg_cel_parse_int(const char *text, size_t n, int64_t *ret)
{
    bool negative = n > 0 && text[0] == '-';
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    uint64_t magnitude = 0;

    if (!tg_cel_parse_uint(text + sign, n - sign, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1U : 0U))
        return false;
    *ret = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

/* strtod takes more than Go: spaces before it, "nan(...)", hexadecimal without an exponent. */
static bool double_syntax(const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t sign = *text == '-' || *text == '+' ? 1 : 0;

    text += sign;
    if (isdigit((unsigned char)*text) || *text == '.')
        return text[0] != '0' || (text[1] | 0x20) != 'x' || strpbrk(text, "pP") != NULL;
    for (size_t i = 0; i < 3; i++) {
        if (strcasecmp(text, words[i]) == 0)
            return i > 0 || sign == 0;
    }
    return false;
}

/* The text without underscores, each of which has to stand between two digits. */
static bool copy_digits(const char *text, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '_')
            *out++ = text[i];
        else if (i == 0 || i + 1 == n || !isxdigit((unsigned char)text[i - 1]) ||
                 !isxdigit((unsigned char)text[i + 1]))
            return false;
    }
    *out = '\0';
    return true;
}

bool tg_cel_parse_double(const char *text, size_t n, double *ret)
{
    char copy[512]; /* more digits than any double needs; longer text is refused */
    char *end;

    if (n == 0 || n >= sizeof(copy) || memchr(text, '\0', n) != NULL)
        return false;
    if (!copy_digits(text, n, copy))
        return false;
    if (!double_syntax(copy))
        return false;
    *ret = strtod(copy, &end);
    if (*end != '\0')
        return false;
    return !isinf(*ret) || strpbrk(copy, "iI") != NULL;
}

bool tg_cel_double_to_int(double value, int64_t *ret)
{
    if (!(value > -0x1p63 && value < 0x1p63))
        return false;
    *ret = (int64_t)value;
    return true;
}

bool tg_cel_double_to_uint(double value, uint64_t *ret)
{
    if (!(value >= 0 && value < 0x1p64))
        return false;
    *ret = (uint64_t)value;
    return true;
}
