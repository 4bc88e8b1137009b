/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/rfc3339.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/clock.h"

#define DAY INT64_C(86400)
/* The Gregorian calendar repeats after 400 years. */
#define DAYS_OF_ERA INT64_C(146097)
#define DAYS_0000_03_01_TO_1970 INT64_C(719468)

/* Days since 1970-01-01; years begin in March, so that the leap day is the last one. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * DAYS_OF_ERA + day_of_era - DAYS_0000_03_01_TO_1970;
}

struct date {
    int64_t year;
    int month, day, hour, minute, second;
};

static struct date date_of(int64_t unix_s)
{
    int64_t days = unix_s / DAY - (unix_s % DAY < 0);
    int second = (int)(unix_s % DAY < 0 ? unix_s % DAY + DAY : unix_s % DAY);
    int64_t shifted = days + DAYS_0000_03_01_TO_1970;
    int64_t era = (shifted >= 0 ? shifted : shifted - DAYS_OF_ERA + 1) / DAYS_OF_ERA;
    int64_t day_of_era = shifted - era * DAYS_OF_ERA;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int month = (int)((5 * day_of_year + 2) / 153); /* 0 = March */

    return (struct date){
        .year = year_of_era + era * 400 + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = (int)(day_of_year - (153 * month + 2) / 5) + 1,
        .hour = second / 3600,
        .minute = second / 60 % 60,
        .second = second % 60,
    };
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

/* n digits and the character after them ('\0' = none); false if they are not there. */
static bool take(const char **s, int n, char after, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++, (*s)++) {
        if (**s < '0' || **s > '9')
            return false;
        value = value * 10 + (**s - '0');
    }
    *ret = value;
    if (after == '\0')
        return true;
    return *(*s)++ == after;
}

/* As take, of one digit or two. */
static bool take_hour(const char **s, int *ret)
{
    bool two = (*s)[0] != '\0' && (*s)[1] >= '0' && (*s)[1] <= '9';

    return take(s, two ? 2 : 1, ':', ret);
}

/* None, or a point or comma with digits. */
static void take_fraction(const char **s, int64_t *ret_ns)
{
    int64_t unit = TG_SECOND;
    size_t n;

    if ((**s != '.' && **s != ',') || (*s)[1] < '0' || (*s)[1] > '9')
        return;
    (*s)++;
    n = strspn(*s, "0123456789");
    for (size_t i = 0; i < n; i++) {
        unit /= 10;
        *ret_ns += unit * ((*s)[i] - '0');
    }
    *s += n;
}

static bool take_offset(const char **s, int64_t *ret_s)
{
    int sign = **s == '-' ? -1 : 1;
    int hours;
    int minutes;

    if (*(*s)++ == 'Z')
        return **s == '\0';
    if ((*s)[-1] != '+' && (*s)[-1] != '-')
        return false;
    if (!take(s, 2, ':', &hours) || !take(s, 2, '\0', &minutes) || hours > 24 || minutes > 60)
        return false;
    *ret_s = sign * (hours * 3600 + minutes * 60);
    return **s == '\0';
}

static bool is_valid(const struct date *d)
{
    return d->month >= 1 && d->month <= 12 && d->day >= 1 &&
           d->day <= days_in_month(d->year, d->month) && d->hour <= 23 && d->minute <= 59 &&
           d->second <= 59;
}

static bool parse(const char *s, struct date *date, int64_t *ns, int64_t *offset_s)
{
    int year;

    if (!take(&s, 4, '-', &year) || !take(&s, 2, '-', &date->month) ||
        !take(&s, 2, 'T', &date->day) || !take_hour(&s, &date->hour) ||
        !take(&s, 2, ':', &date->minute) || !take(&s, 2, '\0', &date->second))
        return false;
    date->year = year;
    take_fraction(&s, ns);
    return is_valid(date) && take_offset(&s, offset_s);
}

int tg_time_parse(const char *s, int64_t *ret_unix_ns, struct tg_error *err)
{
    struct date date;
    int64_t ns = 0;
    int64_t offset_s = 0;
    int64_t seconds;
    __int128 total;

    if (!parse(s, &date, &ns, &offset_s))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "\"%.40s\" is not a time like 2026-11-30T07:37:10Z", s);
    seconds = days_of(date.year, date.month, date.day) * DAY + date.hour * 3600 + date.minute * 60 +
              date.second - offset_s;
    total = (__int128)seconds * TG_SECOND + ns;
    if (total > INT64_MAX || total < INT64_MIN)
        return tg_error_set(err, TG_OUT_OF_RANGE,
                            "the time %.40s is not between the years 1677 and 2262", s);
    *ret_unix_ns = (int64_t)total;
    return 0;
}

/* Everything up to the seconds; returns its length. */
static size_t write_date(int64_t unix_s, char out[32])
{
    struct date d = date_of(unix_s);
    int n = snprintf(out, 32, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)d.year, d.month, d.day,
                     d.hour, d.minute, d.second);

    return (size_t)n;
}

void tg_time_format_seconds(int64_t unix_s, char out[32])
{
    size_t n = write_date(unix_s, out);

    snprintf(out + n, 32 - n, "Z");
}

void tg_time_format_micro(int64_t unix_ns, char out[32])
{
    int64_t rest = unix_ns % TG_SECOND;
    size_t n = write_date(unix_ns / TG_SECOND - (rest < 0), out);

    if (rest < 0)
        rest += TG_SECOND;
    snprintf(out + n, 32 - n, ".%06dZ", (int)(rest / 1000));
}
