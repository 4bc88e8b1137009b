/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps and durations: Go's time.Parse(RFC3339), time.ParseDuration, and the calendar. */
#ifndef TG_CORE_CEL_TIME_H
#define TG_CORE_CEL_TIME_H

#include "controller/core/cel/value.h"

/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970. */
#define TG_CEL_TIME_MIN INT64_C(-62135596800)
#define TG_CEL_TIME_MAX INT64_C(253402300799)

#define TG_CEL_TIME_TEXT 48

bool tg_cel_time_parse(const char *text, size_t n, struct tg_cel_value *ret);
bool tg_cel_duration_parse(const char *text, size_t n, int64_t *ret);
/* RFC 3339 with as many digits of a second as there are; the length. */
size_t tg_cel_time_text(const struct tg_cel_value *time, char *out);
/* "1.5s"; the length. out: TG_CEL_TIME_TEXT bytes. */
size_t tg_cel_duration_text(int64_t nanoseconds, char *out);
/* false: outside the years 1 to 9999, or of a duration. */
bool tg_cel_time_add(const struct tg_cel_value *time, int64_t nanoseconds,
                     struct tg_cel_value *ret);
bool tg_cel_time_between(const struct tg_cel_value *a, const struct tg_cel_value *b, int64_t *ret);

struct tg_cel_calendar {
    int64_t year;
    int month, day;  /* from 1 */
    int day_of_year; /* from 0 */
    int weekday;     /* 0 = Sunday */
    int hour, minute, second;
};
struct tg_cel_calendar tg_cel_calendar_of(int64_t seconds);

#endif
