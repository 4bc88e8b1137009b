/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of int, uint and double with each other (the language definition's "cross-type numeric
 * comparisons"). */
#include "controller/core/cel/eval.h"

#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

static int compare_doubles(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int compare_int_uint(int64_t a, uint64_t b)
{
    if (a < 0)
        return -1;
    return (uint64_t)a < b ? -1 : (uint64_t)a > b;
}

static int compare_int_double(int64_t a, double b)
{
    if (b < -TWO_TO_63)
        return 1;
    if (b >= TWO_TO_63)
        return -1;
    return compare_doubles((double)a, b);
}

static int compare_uint_double(uint64_t a, double b)
{
    if (b < 0)
        return 1;
    if (b >= TWO_TO_64)
        return -1;
    return compare_doubles((double)a, b);
}

static int compare_with_int(int64_t a, const struct tg_cel_value *b)
{
    if (b->type == TG_CEL_INT)
        return a < b->integer ? -1 : a > b->integer;
    if (b->type == TG_CEL_UINT)
        return compare_int_uint(a, b->uinteger);
    return compare_int_double(a, b->real);
}

static int compare_with_uint(uint64_t a, const struct tg_cel_value *b)
{
    if (b->type == TG_CEL_INT)
        return -compare_int_uint(b->integer, a);
    if (b->type == TG_CEL_UINT)
        return a < b->uinteger ? -1 : a > b->uinteger;
    return compare_uint_double(a, b->real);
}

static int compare_with_double(double a, const struct tg_cel_value *b)
{
    if (b->type == TG_CEL_INT)
        return -compare_int_double(b->integer, a);
    if (b->type == TG_CEL_UINT)
        return -compare_uint_double(b->uinteger, a);
    return compare_doubles(a, b->real);
}

int tg_cel_compare_numbers(const struct tg_cel_value *a, const struct tg_cel_value *b,
                           bool *ret_unordered)
{
    *ret_unordered = (a->type == TG_CEL_DOUBLE && __builtin_isnan(a->real)) ||
                     (b->type == TG_CEL_DOUBLE && __builtin_isnan(b->real));
    if (a->type == TG_CEL_INT)
        return compare_with_int(a->integer, b);
    if (a->type == TG_CEL_UINT)
        return compare_with_uint(a->uinteger, b);
    return compare_with_double(a->real, b);
}
