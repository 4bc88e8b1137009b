/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"

#define LIMIT (UINT64_C(1) << 63) /* magnitude of the most negative duration */

/* Leading digits; -1 when they pass 2^63. */
static int take_digits(const char **s, uint64_t *ret)
{
    *ret = 0;
    for (; **s >= '0' && **s <= '9'; (*s)++) {
        if (*ret > LIMIT / 10)
            return -1;
        *ret = *ret * 10 + (uint64_t)(**s - '0');
        if (*ret > LIMIT)
            return -1;
    }
    return 0;
}

/* Digits after the point: value / scale. Digits that no longer fit are read and have no effect. */
static void take_fraction(const char **s, uint64_t *value, double *scale)
{
    bool full = false;

    *value = 0;
    *scale = 1;
    for (; **s >= '0' && **s <= '9'; (*s)++) {
        uint64_t next;

        if (full || *value > (LIMIT - 1) / 10) {
            full = true;
            continue;
        }
        next = *value * 10 + (uint64_t)(**s - '0');
        if (next > LIMIT) {
            full = true;
            continue;
        }
        *value = next;
        *scale *= 10;
    }
}

/* The unit in nanoseconds, 0 if there is none. */
static uint64_t take_unit(const char **s)
{
    static const struct {
        const char *name;
        uint64_t unit;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"\302\265s", 1000}, /* micro sign */
                 {"\316\274s", 1000}, /* Greek mu */
                 {"ms", 1000000},
                 {"s", UINT64_C(1000000000)},
                 {"m", UINT64_C(60000000000)},
                 {"h", UINT64_C(3600000000000)}};
    size_t n = strcspn(*s, ".0123456789");

    for (size_t i = 0; i < TG_ARRAY_SIZE(units); i++) {
        if (strlen(units[i].name) == n && memcmp(*s, units[i].name, n) == 0) {
            *s += n;
            return units[i].unit;
        }
    }
    return 0;
}

/* One "1.5h" of a duration. */
static int take_part(const char **s, uint64_t *ret)
{
    const char *start = *s;
    uint64_t whole;
    uint64_t fraction = 0;
    uint64_t unit;
    double scale = 1;
    bool has_digits;

    if (take_digits(s, &whole) != 0)
        return -1;
    has_digits = *s != start;
    if (**s == '.') {
        const char *point = ++*s;

        take_fraction(s, &fraction, &scale);
        has_digits = has_digits || *s != point;
    }
    if (!has_digits)
        return -1;
    unit = take_unit(s);
    if (unit == 0 || whole > LIMIT / unit)
        return -1;
    *ret = whole * unit;
    /* Go computes the fraction in float64, so the same text gives the same nanoseconds. */
    if (fraction > 0)
        *ret += (uint64_t)((double)fraction * ((double)unit / scale));
    return *ret > LIMIT ? -1 : 0;
}

int tg_parse_duration(const char *s, int64_t *ret)
{
    bool negative = s[0] == '-';
    uint64_t total = 0;

    if (s[0] == '-' || s[0] == '+')
        s++;
    if (strcmp(s, "0") == 0) {
        *ret = 0;
        return 0;
    }
    if (s[0] == '\0')
        return -1;
    while (s[0] != '\0') {
        uint64_t part;

        if (take_part(&s, &part) != 0)
            return -1;
        total += part;
        if (total > LIMIT)
            return -1;
    }
    if (!negative && total == LIMIT)
        return -1;
    *ret = negative ? (int64_t)(0 - total) : (int64_t)total;
    return 0;
}

/* Appends value / 10^digits without trailing zeros. */
static void append_decimal(char *out, size_t size, uint64_t value, int digits)
{
    uint64_t scale = 1;
    size_t n;

    for (int i = 0; i < digits; i++)
        scale *= 10;
    snprintf(out, size, "%" PRIu64 ".%0*" PRIu64, value / scale, digits, value % scale);
    for (n = strlen(out); out[n - 1] == '0'; n--)
        ;
    out[out[n - 1] == '.' ? n - 1 : n] = '\0';
}

const char *tg_format_duration(int64_t duration, char out[static TG_DURATION_TEXT])
{
    static const struct {
        uint64_t below;
        int digits;
        const char *unit;
    } small[] = {{1000, 0, "ns"}, {1000000, 3, "\302\265s"}, {UINT64_C(1000000000), 6, "ms"}};
    uint64_t rest = duration < 0 ? 0 - (uint64_t)duration : (uint64_t)duration;
    uint64_t minutes = rest / UINT64_C(60000000000);
    const char *sign = duration < 0 ? "-" : "";
    char number[TG_DURATION_TEXT];

    if (rest == 0) {
        snprintf(out, TG_DURATION_TEXT, "0s");
        return out;
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(small); i++) {
        if (rest < small[i].below) {
            if (small[i].digits == 0)
                snprintf(number, sizeof(number), "%" PRIu64, rest);
            else
                append_decimal(number, sizeof(number), rest, small[i].digits);
            snprintf(out, TG_DURATION_TEXT, "%s%.20s%s", sign, number, small[i].unit);
            return out;
        }
    }
    append_decimal(number, sizeof(number), rest % UINT64_C(60000000000), 9);
    if (minutes >= 60)
        snprintf(out, TG_DURATION_TEXT, "%s%uh%um%.13ss", sign, (unsigned int)(minutes / 60),
                 (unsigned int)(minutes % 60), number);
    else if (minutes > 0)
        snprintf(out, TG_DURATION_TEXT, "%s%um%.13ss", sign, (unsigned int)minutes, number);
    else
        snprintf(out, TG_DURATION_TEXT, "%s%.13ss", sign, number);
    return out;
}
