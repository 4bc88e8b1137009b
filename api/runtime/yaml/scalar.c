/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/yaml/scalar.h"

#include <inttypes.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define AMBIGUOUS                                                                                  \
    "a number with leading zeros is octal to some readers; quote it or write it without them"
#define NOT_FINITE "JSON has no infinity and no NaN; quote it if it is meant as text"
#define TOO_LARGE "a number of more than 64 bits"

static const struct {
    const char *text;
    enum tg_json_kind kind;
    bool boolean;
    const char *problem;
} words[] = {
    {"", TG_JSON_NULL, false, NULL},
    {"~", TG_JSON_NULL, false, NULL},
    {"null", TG_JSON_NULL, false, NULL},
    {"Null", TG_JSON_NULL, false, NULL},
    {"NULL", TG_JSON_NULL, false, NULL},
    {"true", TG_JSON_BOOL, true, NULL},
    {"True", TG_JSON_BOOL, true, NULL},
    {"TRUE", TG_JSON_BOOL, true, NULL},
    {"false", TG_JSON_BOOL, false, NULL},
    {"False", TG_JSON_BOOL, false, NULL},
    {"FALSE", TG_JSON_BOOL, false, NULL},
    {".nan", TG_JSON_NUMBER, false, NOT_FINITE},
    {".NaN", TG_JSON_NUMBER, false, NOT_FINITE},
    {".NAN", TG_JSON_NUMBER, false, NOT_FINITE},
    {".inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {".Inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {".INF", TG_JSON_NUMBER, false, NOT_FINITE},
    {"+.inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {"+.Inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {"+.INF", TG_JSON_NUMBER, false, NOT_FINITE},
    {"-.inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {"-.Inf", TG_JSON_NUMBER, false, NOT_FINITE},
    {"-.INF", TG_JSON_NUMBER, false, NOT_FINITE},
};

static size_t digits(const char *text, size_t n, size_t from)
{
    size_t at = from;

    while (at < n && text[at] >= '0' && text[at] <= '9')
        at++;
    return at - from;
}

/* The parts of [-+]? [0-9]* ( . [0-9]* )? ( [eE] [-+]? [0-9]+ )? with at least one digit before the
 * exponent. */
struct decimal {
    bool negative;
    size_t integer, n_integer;
    size_t fraction, n_fraction;
    size_t exponent; /* where "e" stands; n if there is none */
};

static bool split_decimal(const char *text, size_t n, struct decimal *ret)
{
    struct decimal d = {.negative = n > 0 && text[0] == '-'};
    size_t at = n > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;

    d.integer = at;
    d.n_integer = digits(text, n, at);
    at += d.n_integer;
    if (at < n && text[at] == '.') {
        d.fraction = at + 1;
        d.n_fraction = digits(text, n, d.fraction);
        at += 1 + d.n_fraction;
    }
    d.exponent = at;
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        size_t first = at + 1 < n && (text[at + 1] == '-' || text[at + 1] == '+') ? at + 2 : at + 1;
        size_t count = digits(text, n, first);

        if (count == 0)
            return false;
        at = first + count;
    }
    *ret = d;
    return at == n && d.n_integer + d.n_fraction > 0;
}

static void write_decimal(const char *text, size_t n, const struct decimal *d,
                          struct tg_buf *number)
{
    if (d->negative)
        tg_buf_append_char(number, '-');
    if (d->n_integer == 0)
        tg_buf_append_char(number, '0');
    tg_buf_append(number, text + d->integer, d->n_integer);
    if (d->n_fraction > 0) {
        tg_buf_append_char(number, '.');
        tg_buf_append(number, text + d->fraction, d->n_fraction);
    }
    tg_buf_append(number, text + d->exponent, n - d->exponent);
}

/* 0x1f and 0o17. False if it is neither. */
static bool parse_prefixed(const char *text, size_t n, uint64_t *ret, bool *too_large)
{
    unsigned base = n > 2 && text[0] == '0' ? text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 0 : 0;
    uint64_t value = 0;

    *too_large = false;
    if (base == 0)
        return false;
    for (size_t i = 2; i < n; i++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text[i] == '\0' ? NULL : strchr(all, text[i]);
        unsigned d = digit == NULL ? 16 : (unsigned)(digit - all) % 16;

        if (d >= base)
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)d, &value))
            *too_large = true;
    }
    *ret = value;
    return true;
}

const char *tg_yaml_scalar_resolve(const char *text, size_t n, struct tg_yaml_scalar *ret,
                                   struct tg_buf *number)
{
    struct decimal d;
    uint64_t value;
    bool too_large;

    for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
        if (n == strlen(words[i].text) && memcmp(text, words[i].text, n) == 0) {
            *ret = (struct tg_yaml_scalar){.kind = words[i].kind, .boolean = words[i].boolean};
            return words[i].problem;
        }
    }
    *ret = (struct tg_yaml_scalar){.kind = TG_JSON_NUMBER};
    if (parse_prefixed(text, n, &value, &too_large)) {
        tg_buf_printf(number, "%" PRIu64, value);
        return too_large ? TOO_LARGE : NULL;
    }
    if (split_decimal(text, n, &d)) {
        write_decimal(text, n, &d, number);
        return d.n_integer > 1 && text[d.integer] == '0' ? AMBIGUOUS : NULL;
    }
    *ret = (struct tg_yaml_scalar){.kind = TG_JSON_STRING};
    return NULL;
}
