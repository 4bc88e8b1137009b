/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/time.h"

#include <stdio.h>
#include <string.h>

#include "controller/core/cel/number.h"

#define DAY INT64_C(86400)
#define NANO INT64_C(1000000000)

/* Days since 1970-01-01 of a date of the Gregorian calendar, counted in eras of 400 years that
 * begin in March. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

struct tg_cel_calendar tg_cel_calendar_of(int64_t seconds)
{
    struct tg_cel_calendar c;
    int64_t days = seconds >= 0 ? seconds / DAY : -((-seconds + DAY - 1) / DAY);
    int64_t rest = seconds - days * DAY, z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t shifted = (5 * of_year + 2) / 153;

    c.day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    c.month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    c.year = year + era * 400 + (c.month <= 2 ? 1 : 0);
    c.day_of_year = (int)(days - days_of(c.year, 1, 1));
    c.weekday = (int)(((days + 4) % 7 + 7) % 7);
    c.hour = (int)(rest / 3600);
    c.minute = (int)(rest / 60 % 60);
    c.second = (int)(rest % 60);
    return c;
}

struct reader {
    const char *text;
    size_t n, at;
    bool failed;
};

static int take_digits(struct reader *r, size_t count)
{
    int value = 0;

    for (size_t i = 0; i < count; i++) {
        char c = r->at < r->n ? r->text[r->at] : '\0';

        if (c < '0' || c > '9') {
            r->failed = true;
            return 0;
        }
        value = value * 10 + (c - '0');
        r->at++;
    }
    return value;
}

static void take(struct reader *r, char wanted)
{
    if (r->at < r->n && r->text[r->at] == wanted)
        r->at++;
    else
        r->failed = true;
}

/* One digit will do, as Go's parser has it. */
static int take_hour(struct reader *r)
{
    bool one = r->at + 1 < r->n && r->text[r->at + 1] == ':';

    return take_digits(r, one ? 1 : 2);
}

/* .digits, rounded down to a nanosecond */
static uint32_t take_fraction(struct reader *r)
{
    uint32_t nanos = 0;
    size_t digits = 0;

    if (r->at >= r->n || (r->text[r->at] != '.' && r->text[r->at] != ','))
        return 0;
    for (r->at++; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++) {
        if (digits < 9)
            nanos = nanos * 10 + (uint32_t)(r->text[r->at] - '0');
        digits++;
    }
    r->failed = r->failed || digits == 0;
    for (; digits < 9; digits++)
        nanos *= 10;
    return nanos;
}

/* Z or +hh:mm, in minutes */
static int take_zone(struct reader *r)
{
    int sign = 0, hours = 0, minutes = 0;

    if (r->at < r->n && r->text[r->at] == 'Z') {
        r->at++;
        return 0;
    }
    if (r->at < r->n)
        sign = r->text[r->at] == '+' ? 1 : r->text[r->at] == '-' ? -1 : 0;
    r->failed = r->failed || sign == 0;
    r->at++;
    hours = take_digits(r, 2);
    take(r, ':');
    minutes = take_digits(r, 2);
    r->failed = r->failed || hours > 24 || minutes > 60;
    return sign * (hours * 60 + minutes);
}

bool tg_cel_time_parse(const char *text, size_t n, struct tg_cel_value *ret)
{
    struct reader r = {.text = text, .n = n};
    int year = take_digits(&r, 4), month, day, hour, minute, second, zone;
    uint32_t nanos;
    int64_t seconds;

    take(&r, '-');
    month = take_digits(&r, 2);
    take(&r, '-');
    day = take_digits(&r, 2);
    take(&r, 'T');
    hour = take_hour(&r);
    take(&r, ':');
    minute = take_digits(&r, 2);
    take(&r, ':');
    second = take_digits(&r, 2);
    nanos = take_fraction(&r);
    zone = take_zone(&r);
    if (r.failed || r.at != n || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    seconds = days_of(year, month, day) * DAY + hour * 3600 + minute * 60 + second - zone * 60;
    *ret = tg_cel_timestamp(seconds, nanos);
    ret->zone = (int16_t)zone;
    return seconds >= TG_CEL_TIME_MIN && seconds <= TG_CEL_TIME_MAX;
}

static const struct {
    const char *name;
    int64_t nanoseconds;
} units[] = {
    {"ns", 1},       {"us", 1000}, {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
    {"ms", 1000000}, {"s", NANO},  {"m", 60 * NANO},    {"h", 3600 * NANO},
};

/* The unit at the reader, 0 if there is none. Longer names are found first where one begins
 * another. */
static int64_t take_unit(struct reader *r)
{
    size_t n = 0;

    while (r->at + n < r->n && r->text[r->at + n] != '.' &&
           (r->text[r->at + n] < '0' || r->text[r->at + n] > '9'))
        n++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == n && memcmp(units[i].name, r->text + r->at, n) == 0) {
            r->at += n;
            return units[i].nanoseconds;
        }
    }
    return 0;
}

/* One number and its unit, as nanoseconds in 128 bits. */
static bool take_part(struct reader *r, __int128 *ret)
{
    uint64_t whole = 0, fraction = 0, scale = 1;
    size_t digits = 0;
    int64_t unit;

    for (; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++, digits++) {
        if (__builtin_mul_overflow(whole, 10U, &whole) ||
            __builtin_add_overflow(whole, (unsigned)(r->text[r->at] - '0'), &whole) ||
            whole > UINT64_C(1) << 63)
            return false;
    }
    if (r->at < r->n && r->text[r->at] == '.') {
        for (r->at++; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9';
             r->at++, digits++) {
            if (scale < UINT64_C(100000000000000000)) {
                fraction = fraction * 10 + (uint64_t)(r->text[r->at] - '0');
                scale *= 10;
            }
        }
    }
    unit = take_unit(r);
    if (digits == 0 || unit == 0)
        return false;
    *ret += (__int128)whole * unit + (__int128)((double)fraction * ((double)unit / (double)scale));
    return *ret <= (__int128)1 << 63;
}

bool tg_cel_duration_parse(const char *text, size_t n, int64_t *ret)
{
    struct reader r = {.text = text, .n = n};
    bool negative = n > 0 && text[0] == '-';
    __int128 sum = 0;

    if (n > 0 && (text[0] == '-' || text[0] == '+'))
        r.at++;
    *ret = 0;
    if (n - r.at == 1 && text[r.at] == '0')
        return true;
    if (r.at == n)
        return false;
    while (r.at < n) {
        if (!take_part(&r, &sum))
            return false;
    }
    if (negative)
        sum = -sum;
    if (sum > INT64_MAX)
        return false;
    *ret = (int64_t)sum;
    return true;
}

size_t tg_cel_time_text(const struct tg_cel_value *time, char *out)
{
    struct tg_cel_calendar c = tg_cel_calendar_of(time->integer + time->zone * 60);
    int n = snprintf(out, TG_CEL_TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", (int)c.year, c.month,
                     c.day, c.hour, c.minute, c.second);

    if (time->nanos != 0) {
        n += snprintf(out + n, TG_CEL_TIME_TEXT - (size_t)n, ".%09u", time->nanos);
        while (out[n - 1] == '0')
            n--;
    }
    if (time->zone == 0)
        n += snprintf(out + n, TG_CEL_TIME_TEXT - (size_t)n, "Z");
    else
        n += snprintf(out + n, TG_CEL_TIME_TEXT - (size_t)n, "%c%02d:%02d",
                      time->zone < 0 ? '-' : '+', (time->zone < 0 ? -time->zone : time->zone) / 60,
                      (time->zone < 0 ? -time->zone : time->zone) % 60);
    return (size_t)n;
}

size_t tg_cel_duration_text(int64_t nanoseconds, char *out)
{
    /* As Go's Duration.Seconds(): whole seconds and the rest, each exact. */
    double seconds = (double)(nanoseconds / NANO) + (double)(nanoseconds % NANO) / 1e9;
    size_t n = tg_cel_fixed_text(seconds, out);

    out[n] = 's';
    return n + 1;
}

bool tg_cel_time_add(const struct tg_cel_value *time, int64_t nanoseconds, struct tg_cel_value *ret)
{
    int64_t nanos = (int64_t)time->nanos + nanoseconds % NANO;
    int64_t seconds = time->integer + nanoseconds / NANO;

    if (nanos < 0) {
        nanos += NANO;
        seconds--;
    } else if (nanos >= NANO) {
        nanos -= NANO;
        seconds++;
    }
    *ret = tg_cel_timestamp(seconds, (uint32_t)nanos);
    ret->zone = time->zone;
    return seconds >= TG_CEL_TIME_MIN && seconds <= TG_CEL_TIME_MAX;
}

bool tg_cel_time_between(const struct tg_cel_value *a, const struct tg_cel_value *b, int64_t *ret)
{
    __int128 difference =
        ((__int128)a->integer - b->integer) * NANO + ((int64_t)a->nanos - (int64_t)b->nanos);

    *ret = (int64_t)difference;
    return difference >= INT64_MIN && difference <= INT64_MAX;
}
