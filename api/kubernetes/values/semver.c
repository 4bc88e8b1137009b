/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/semver.h"

#include <stdbool.h>
#include <string.h>

#include "api/runtime/base/str.h"

#define IDENTIFIER "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"

static int bad(const char *s, const char *why, struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "\"%.64s\" is not a semantic version (like 1.2.3): %s", s, why);
}

static bool is_number(const char *s, size_t n)
{
    return n > 0 && strspn(s, "0123456789") >= n;
}

/* Decimal, of 64 bits, without leading zeros. */
static bool parse_number(const char *s, size_t n, uint64_t *ret)
{
    return is_number(s, n) && (n == 1 || s[0] != '0') && tg_parse_u64(s, n, ret) == 0;
}

/* Identifiers separated by dots. Numbers may have leading zeros in build metadata only. */
static bool check_identifiers(const char *s, size_t n, bool strict_numbers)
{
    const char *end = s + n;

    for (;;) {
        size_t length = strspn(s, IDENTIFIER);
        uint64_t number;

        if (length == 0)
            return false;
        if (strict_numbers && is_number(s, length) && !parse_number(s, length, &number))
            return false;
        s += length;
        if (s == end)
            return true;
        if (*s++ != '.')
            return false;
    }
}

/* One of the three numbers in front: selectors read versions all the time, so that this is one
 * loop. Moves *at behind it. */
static bool read_core(const char **at, uint64_t *ret)
{
    const char *s = *at;
    uint64_t number = 0;

    for (; *s >= '0' && *s <= '9'; s++) {
        if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
            __builtin_add_overflow(number, (uint64_t)(*s - '0'), &number))
            return false;
    }
    if (s == *at || (**at == '0' && s - *at > 1))
        return false;
    *at = s;
    *ret = number;
    return true;
}

int tg_semver_parse(const char *s, struct tg_semver *ret, struct tg_error *err)
{
    const char *at = s;
    uint64_t numbers[3];
    struct tg_semver v = {0};

    for (int i = 0; i < 3; i++) {
        if (!read_core(&at, &numbers[i]))
            return bad(s, "it begins with three numbers without leading zeros", err);
        if (i < 2 && *at++ != '.')
            return bad(s, "it begins with three numbers separated by dots", err);
    }
    if (*at != '\0' && *at != '-' && *at != '+')
        return bad(s, "only \"-\" or \"+\" may follow the third number", err);
    if (*at == '-') {
        v.pre = at + 1;
        v.pre_n = strcspn(v.pre, "+");
        at = v.pre + v.pre_n;
        if (!check_identifiers(v.pre, v.pre_n, true))
            return bad(s,
                       "the pre-release is not made of identifiers [0-9A-Za-z-] separated by dots",
                       err);
    }
    if (*at == '+' && !check_identifiers(at + 1, strlen(at + 1), false))
        return bad(
            s, "the build metadata is not made of identifiers [0-9A-Za-z-] separated by dots", err);
    if (*at == '+')
        v.build = at + 1;
    v.major = numbers[0];
    v.minor = numbers[1];
    v.patch = numbers[2];
    *ret = v;
    return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Numbers below words, numbers by value, words by ASCII. */
static int compare_identifiers(const char *a, size_t a_n, const char *b, size_t b_n)
{
    bool a_number = is_number(a, a_n);
    bool b_number = is_number(b, b_n);
    int order;

    if (a_number != b_number)
        return a_number ? -1 : 1;
    /* Without leading zeros the longer number is the larger one. */
    if (a_number && a_n != b_n)
        return a_n < b_n ? -1 : 1;
    order = memcmp(a, b, a_n < b_n ? a_n : b_n);
    return order != 0 ? order : (a_n > b_n) - (a_n < b_n);
}

static int compare_pre(const struct tg_semver *a, const struct tg_semver *b)
{
    const char *left = a->pre;
    const char *right = b->pre;
    const char *left_end = left + a->pre_n;
    const char *right_end = right + b->pre_n;

    while (left < left_end && right < right_end) {
        size_t left_n = strspn(left, IDENTIFIER);
        size_t right_n = strspn(right, IDENTIFIER);
        int order = compare_identifiers(left, left_n, right, right_n);

        if (order != 0)
            return order;
        left += left_n + 1;
        right += right_n + 1;
    }
    return (left < left_end) - (right < right_end);
}

int tg_semver_compare(const struct tg_semver *a, const struct tg_semver *b)
{
    int order = compare_numbers(a->major, b->major);

    if (order == 0)
        order = compare_numbers(a->minor, b->minor);
    if (order == 0)
        order = compare_numbers(a->patch, b->patch);
    if (order != 0)
        return order;
    if (a->pre == NULL || b->pre == NULL)
        return (a->pre == NULL) - (b->pre == NULL);
    return compare_pre(a, b);
}
