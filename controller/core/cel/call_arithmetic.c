/* SPDX-License-Identifier: Apache-2.0 */
/* + - * / % and comparisons: overflow is an error, as is a division by zero of integers. */
#include <math.h>
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/time.h"

static int overflow(struct tg_cel_run *run, const struct tg_cel_node *call)
{
    return tg_cel_fail(run, call, "integer overflow");
}

static int give_int(struct tg_cel_run *run, const struct tg_cel_node *call, bool overflowed,
                    int64_t value, struct tg_cel_value *ret)
{
    *ret = tg_cel_int(value);
    return overflowed ? overflow(run, call) : 0;
}

static int give_uint(struct tg_cel_run *run, const struct tg_cel_node *call, bool overflowed,
                     uint64_t value, struct tg_cel_value *ret)
{
    *ret = tg_cel_uint(value);
    return overflowed ? tg_cel_fail(run, call, "unsigned integer overflow") : 0;
}

int tg_cel_call_not(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(!args[0].boolean);
    return 0;
}

static int concat(struct tg_cel_run *run, const struct tg_cel_node *call,
                  const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    size_t n = args[0].length + args[1].length;
    char *text = tg_cel_alloc(run->scratch, n + 1);

    if (text == NULL)
        return tg_cel_fail_memory(run, call);
    memcpy(text, args[0].text, args[0].length);
    memcpy(text + args[0].length, args[1].text, args[1].length);
    text[n] = '\0';
    *ret = (struct tg_cel_value){.tag = args[0].tag, .text = text, .length = n};
    return 0;
}

static int add_times(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_value *time = &args[args[0].tag == TG_CEL_V_TIMESTAMP ? 0 : 1];
    const struct tg_cel_value *duration = &args[args[0].tag == TG_CEL_V_TIMESTAMP ? 1 : 0];

    if (!tg_cel_time_add(time, duration->integer, ret))
        return tg_cel_fail(run, call, "timestamp overflow");
    return 0;
}

int tg_cel_call_add(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t sum = 0;
    uint64_t usum = 0;
    bool over;

    if (args[0].tag == TG_CEL_V_TIMESTAMP || args[1].tag == TG_CEL_V_TIMESTAMP)
        return add_times(run, call, args, ret);
    switch (args[0].tag) {
    case TG_CEL_V_INT:
        over = __builtin_add_overflow(args[0].integer, args[1].integer, &sum);
        return give_int(run, call, over, sum, ret);
    case TG_CEL_V_UINT:
        over = __builtin_add_overflow(args[0].uinteger, args[1].uinteger, &usum);
        return give_uint(run, call, over, usum, ret);
    case TG_CEL_V_DOUBLE:
        *ret = tg_cel_double(args[0].real + args[1].real);
        return 0;
    case TG_CEL_V_DURATION:
        if (__builtin_add_overflow(args[0].integer, args[1].integer, &sum))
            return tg_cel_fail(run, call, "duration overflow");
        *ret = tg_cel_duration(sum);
        return 0;
    case TG_CEL_V_LIST:
        return tg_cel_list_concat(run->scratch, &args[0], &args[1], ret)
                   ? 0
                   : tg_cel_fail_memory(run, call);
    default:
        return concat(run, call, args, ret);
    }
}

static int subtract_times(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t difference = 0;

    if (args[1].tag == TG_CEL_V_DURATION) {
        if (args[1].integer == INT64_MIN || !tg_cel_time_add(&args[0], -args[1].integer, ret))
            return tg_cel_fail(run, call, "timestamp overflow");
        return 0;
    }
    if (!tg_cel_time_between(&args[0], &args[1], &difference))
        return tg_cel_fail(run, call, "duration overflow");
    *ret = tg_cel_duration(difference);
    return 0;
}

int tg_cel_call_subtract(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t difference = 0;
    uint64_t udifference = 0;
    bool over;

    switch (args[0].tag) {
    case TG_CEL_V_TIMESTAMP:
        return subtract_times(run, call, args, ret);
    case TG_CEL_V_UINT:
        over = __builtin_sub_overflow(args[0].uinteger, args[1].uinteger, &udifference);
        return give_uint(run, call, over, udifference, ret);
    case TG_CEL_V_DOUBLE:
        *ret = tg_cel_double(args[0].real - args[1].real);
        return 0;
    default:
        over = __builtin_sub_overflow(args[0].integer, args[1].integer, &difference);
        *ret = (struct tg_cel_value){.tag = args[0].tag, .integer = difference};
        return over ? overflow(run, call) : 0;
    }
}

int tg_cel_call_multiply(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t product = 0;
    uint64_t uproduct = 0;
    bool over;

    if (args[0].tag == TG_CEL_V_DOUBLE) {
        *ret = tg_cel_double(args[0].real * args[1].real);
        return 0;
    }
    if (args[0].tag == TG_CEL_V_UINT) {
        over = __builtin_mul_overflow(args[0].uinteger, args[1].uinteger, &uproduct);
        return give_uint(run, call, over, uproduct, ret);
    }
    over = __builtin_mul_overflow(args[0].integer, args[1].integer, &product);
    return give_int(run, call, over, product, ret);
}

int tg_cel_call_divide(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    if (args[0].tag == TG_CEL_V_DOUBLE) {
        *ret = tg_cel_double(args[0].real / args[1].real);
        return 0;
    }
    if (args[1].integer == 0)
        return tg_cel_fail(run, call, "division by zero");
    if (args[0].tag == TG_CEL_V_UINT) {
        *ret = tg_cel_uint(args[0].uinteger / args[1].uinteger);
        return 0;
    }
    if (args[0].integer == INT64_MIN && args[1].integer == -1)
        return overflow(run, call);
    *ret = tg_cel_int(args[0].integer / args[1].integer);
    return 0;
}

int tg_cel_call_modulo(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    if (args[1].integer == 0)
        return tg_cel_fail(run, call, "modulus by zero");
    if (args[0].tag == TG_CEL_V_UINT) {
        *ret = tg_cel_uint(args[0].uinteger % args[1].uinteger);
        return 0;
    }
    if (args[0].integer == INT64_MIN && args[1].integer == -1)
        return overflow(run, call);
    *ret = tg_cel_int(args[0].integer % args[1].integer);
    return 0;
}

int tg_cel_call_negate(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    if (args[0].tag == TG_CEL_V_DOUBLE) {
        *ret = tg_cel_double(-args[0].real);
        return 0;
    }
    if (args[0].integer == INT64_MIN)
        return overflow(run, call);
    *ret = tg_cel_int(-args[0].integer);
    return 0;
}

static int compare(struct tg_cel_run *run, const struct tg_cel_node *call,
                   const struct tg_cel_value *args, int *ret, bool *unordered)
{
    if (!tg_cel_compare(&args[0], &args[1], ret, unordered))
        return tg_cel_fail_overload(run, call);
    return *unordered ? tg_cel_fail(run, call, "NaN values cannot be ordered") : 0;
}

#define RELATION(name, sign)                                                                       \
    int tg_cel_call_##name(struct tg_cel_run *run, const struct tg_cel_node *call,                 \
                           const struct tg_cel_value *args, struct tg_cel_value *ret)              \
    {                                                                                              \
        bool unordered = false;                                                                    \
        int order = 0;                                                                             \
                                                                                                   \
        if (compare(run, call, args, &order, &unordered) < 0)                                      \
            return -1;                                                                             \
        *ret = tg_cel_bool(order sign 0);                                                          \
        return 0;                                                                                  \
    }

RELATION(less, <)
RELATION(less_equal, <=)
RELATION(greater, >)
RELATION(greater_equal, >=)
