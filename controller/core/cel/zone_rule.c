/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/zone_rule.h"

#include <string.h>

#include "controller/core/cel/time.h"

#define DAY INT64_C(86400)
/* Hours of an offset or a time of day, as RFC 8536 has it. */
#define MOST_HOURS (24 * 7)

struct text {
    const char *at, *end;
};

enum day_kind { DAY_OF_YEAR, JULIAN, MONTH_WEEK_DAY };

struct rule {
    enum day_kind kind;
    int64_t day, week, month;
    int64_t time; /* of day, seconds */
};

static bool take(struct text *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_number(struct text *t, int64_t least, int64_t most, int64_t *ret)
{
    const char *first = t->at;
    int64_t number = 0;

    while (t->at < t->end && *t->at >= '0' && *t->at <= '9' && number <= most)
        number = 10 * number + (*t->at++ - '0');
    *ret = number;
    return t->at > first && number >= least && number <= most;
}

/* "CET" or "<+0530>"; what it is called is of no interest. */
static bool take_name(struct text *t)
{
    const char *first = t->at;

    if (take(t, '<')) {
        while (t->at < t->end && *t->at != '>')
            t->at++;
        return take(t, '>');
    }
    while (t->at < t->end && strchr("0123456789,-+", *t->at) == NULL)
        t->at++;
    return t->at - first >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds */
static bool take_time(struct text *t, int64_t *ret)
{
    bool negative = take(t, '-');
    int64_t hours = 0, minutes = 0, seconds = 0;

    if (!negative)
        take(t, '+');
    if (!take_number(t, 0, MOST_HOURS, &hours))
        return false;
    if (take(t, ':') &&
        (!take_number(t, 0, 59, &minutes) || (take(t, ':') && !take_number(t, 0, 59, &seconds))))
        return false;
    *ret = (hours * 60 + minutes) * 60 + seconds;
    if (negative)
        *ret = -*ret;
    return true;
}

static bool take_rule(struct text *t, struct rule *ret)
{
    *ret = (struct rule){.kind = DAY_OF_YEAR, .time = 7200};
    if (take(t, 'J')) {
        ret->kind = JULIAN;
        if (!take_number(t, 1, 365, &ret->day))
            return false;
    } else if (take(t, 'M')) {
        ret->kind = MONTH_WEEK_DAY;
        if (!take_number(t, 1, 12, &ret->month) || !take(t, '.') ||
            !take_number(t, 1, 5, &ret->week) || !take(t, '.') || !take_number(t, 0, 6, &ret->day))
            return false;
    } else if (!take_number(t, 0, 365, &ret->day)) {
        return false;
    }
    return !take(t, '/') || take_time(t, &ret->time);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of the year before a month. */
static int64_t days_before(int64_t month, bool leap)
{
    static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

    return before[month - 1] + (leap && month > 2 ? 1 : 0);
}

/* The day of the year, from 0, where new_year is the weekday of its first day. */
static int64_t day_of(const struct rule *r, int64_t year, int64_t new_year)
{
    bool leap = is_leap(year);
    int64_t first, day;

    if (r->kind == DAY_OF_YEAR)
        return r->day;
    if (r->kind == JULIAN)
        return r->day - 1 + (leap && r->day >= 60 ? 1 : 0);
    first = days_before(r->month, leap);
    day = (r->day - (new_year + first) % 7 + 7) % 7 + 7 * (r->week - 1);
    while (day >= (r->month == 12 ? 31 : days_before(r->month + 1, leap) - first))
        day -= 7; /* the fifth is the last */
    return first + day;
}

/* Is it the time between start and end? Each is given in the offset that holds before it. */
static bool is_summer(const struct rule *start, const struct rule *end, int64_t standard,
                      int64_t summer, int64_t at)
{
    struct tg_cel_calendar c = tg_cel_calendar_of(at);
    int64_t second = c.day_of_year * DAY + c.hour * 3600 + c.minute * 60 + c.second;
    int64_t new_year = ((c.weekday - c.day_of_year) % 7 + 7) % 7;
    int64_t from = day_of(start, c.year, new_year) * DAY + start->time - standard;
    int64_t to = day_of(end, c.year, new_year) * DAY + end->time - summer;

    if (from <= to)
        return second >= from && second < to;
    return second < to || second >= from; /* south of the equator */
}

bool tg_cel_zone_rule_offset(const char *rule, size_t n, int64_t at, int64_t *ret)
{
    static const char usual[] = ",M3.2.0,M11.1.0";
    struct text t = {.at = rule, .end = rule + n};
    struct rule start, end;
    int64_t standard = 0, summer;

    if (!take_name(&t) || !take_time(&t, &standard))
        return false;
    standard = -standard; /* there west counts */
    *ret = standard;
    if (t.at == t.end)
        return true;
    if (!take_name(&t))
        return false;
    summer = standard + 3600;
    if (t.at < t.end && *t.at != ',') {
        if (!take_time(&t, &summer))
            return false;
        summer = -summer;
    }
    if (t.at == t.end)
        t = (struct text){.at = usual, .end = usual + sizeof(usual) - 1};
    if (!take(&t, ',') || !take_rule(&t, &start) || !take(&t, ',') || !take_rule(&t, &end) ||
        t.at != t.end)
        return false;
    *ret = is_summer(&start, &end, standard, summer, at) ? summer : standard;
    return true;
}
