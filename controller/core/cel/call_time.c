/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of timestamps (in UTC, or in a zone) and of durations. */
#include "controller/core/cel/calls.h"
#include "controller/core/cel/time.h"
#include "controller/core/cel/zone.h"

#define NANO INT64_C(1000000000)

static int calendar(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_calendar *ret)
{
    int64_t offset = 0;

    if (call->n_args > 1 &&
        !tg_cel_zone_offset(run->zones, args[1].text, args[1].length, args[0].integer, &offset))
        return tg_cel_fail_value(run, call, "unknown time zone ", &args[1]);
    *ret = tg_cel_calendar_of(args[0].integer + offset);
    return 0;
}

#define PART(name, expression)                                                                     \
    int tg_cel_call_##name(struct tg_cel_run *run, const struct tg_cel_node *call,                 \
                           const struct tg_cel_value *args, struct tg_cel_value *ret)              \
    {                                                                                              \
        struct tg_cel_calendar c;                                                                  \
                                                                                                   \
        if (calendar(run, call, args, &c) < 0)                                                     \
            return -1;                                                                             \
        *ret = tg_cel_int(expression);                                                             \
        return 0;                                                                                  \
    }

PART(full_year, c.year)
PART(month, c.month - 1)
PART(date, c.day)
PART(day_of_month, c.day - 1)
PART(day_of_week, c.weekday)
PART(day_of_year, c.day_of_year)

/* Of a duration the whole of it in that unit, of a timestamp what the clock shows. */
#define CLOCK_PART(name, divisor, expression)                                                      \
    int tg_cel_call_##name(struct tg_cel_run *run, const struct tg_cel_node *call,                 \
                           const struct tg_cel_value *args, struct tg_cel_value *ret)              \
    {                                                                                              \
        struct tg_cel_calendar c;                                                                  \
                                                                                                   \
        if (args[0].tag == TG_CEL_V_DURATION) {                                                    \
            *ret = tg_cel_int(args[0].integer / (divisor));                                        \
            return 0;                                                                              \
        }                                                                                          \
        if (calendar(run, call, args, &c) < 0)                                                     \
            return -1;                                                                             \
        *ret = tg_cel_int(expression);                                                             \
        return 0;                                                                                  \
    }

CLOCK_PART(hours, 3600 * NANO, c.hour)
CLOCK_PART(minutes, 60 * NANO, c.minute)
CLOCK_PART(seconds, NANO, c.second)
CLOCK_PART(milliseconds, NANO / 1000, (int64_t)args[0].nanos / 1000000)
