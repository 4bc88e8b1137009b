/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/overloads.h"

PARAMETER(a, "A");
PARAMETER(b, "B");
LIST_OF(list_a, &a);
MAP_OF(map_ab, &a, &b);
static const struct tg_cel_type type_of_a = {
    .kind = TG_CEL_TYPE, .n_params = 1, .name = "type", .params = {&a}};

static const struct tg_cel_overload to_bool[] = {
    GLOBAL("bool_to_bool", STANDARD, ONE, tg_cel_call_bool, BOOL, BOOL),
    GLOBAL("string_to_bool", STANDARD, ONE, tg_cel_call_bool, BOOL, STRING),
};
static const struct tg_cel_overload to_bytes[] = {
    GLOBAL("bytes_to_bytes", STANDARD, ONE, tg_cel_call_bytes, BYTES, BYTES),
    GLOBAL("string_to_bytes", STANDARD, TO_BYTES, tg_cel_call_bytes, BYTES, STRING),
};
static const struct tg_cel_overload contains[] = {
    MEMBER("contains_string", STANDARD, CONTAINS, tg_cel_call_contains, BOOL, STRING, STRING),
};
static const struct tg_cel_overload to_double[] = {
    GLOBAL("double_to_double", STANDARD, ONE, tg_cel_call_double, DOUBLE, DOUBLE),
    GLOBAL("int64_to_double", STANDARD, ONE, tg_cel_call_double, DOUBLE, INT),
    GLOBAL("string_to_double", STANDARD, ONE, tg_cel_call_double, DOUBLE, STRING),
    GLOBAL("uint64_to_double", STANDARD, ONE, tg_cel_call_double, DOUBLE, UINT),
};
static const struct tg_cel_overload to_duration[] = {
    GLOBAL("duration_to_duration", STANDARD, ONE, tg_cel_call_duration, DURATION, DURATION),
    GLOBAL("string_to_duration", STANDARD, ONE, tg_cel_call_duration, DURATION, STRING),
};
static const struct tg_cel_overload to_dyn[] = {
    GLOBAL("to_dyn", STANDARD, ONE, tg_cel_call_dyn, DYN, &a),
};
static const struct tg_cel_overload ends_with[] = {
    MEMBER("ends_with_string", STANDARD, AFFIX, tg_cel_call_ends_with, BOOL, STRING, STRING),
};

/* A part of a timestamp, in UTC and in a named zone. */
#define TIME_PART(name, call)                                                                      \
    MEMBER("timestamp_to_" name, STANDARD, ONE, call, INT, TIME),                                  \
        MEMBER("timestamp_to_" name "_with_tz", STANDARD, ONE, call, INT, TIME, STRING)

static const struct tg_cel_overload get_date[] = {
    TIME_PART("day_of_month_1_based", tg_cel_call_date)};
static const struct tg_cel_overload get_day_of_month[] = {
    TIME_PART("day_of_month", tg_cel_call_day_of_month)};
static const struct tg_cel_overload get_day_of_week[] = {
    TIME_PART("day_of_week", tg_cel_call_day_of_week)};
static const struct tg_cel_overload get_day_of_year[] = {
    TIME_PART("day_of_year", tg_cel_call_day_of_year)};
static const struct tg_cel_overload get_full_year[] = {TIME_PART("year", tg_cel_call_full_year)};
static const struct tg_cel_overload get_hours[] = {
    TIME_PART("hours", tg_cel_call_hours),
    MEMBER("duration_to_hours", STANDARD, ONE, tg_cel_call_hours, INT, DURATION),
};
static const struct tg_cel_overload get_milliseconds[] = {
    TIME_PART("milliseconds", tg_cel_call_milliseconds),
    MEMBER("duration_to_milliseconds", STANDARD, ONE, tg_cel_call_milliseconds, INT, DURATION),
};
static const struct tg_cel_overload get_minutes[] = {
    TIME_PART("minutes", tg_cel_call_minutes),
    MEMBER("duration_to_minutes", STANDARD, ONE, tg_cel_call_minutes, INT, DURATION),
};
static const struct tg_cel_overload get_month[] = {TIME_PART("month", tg_cel_call_month)};
static const struct tg_cel_overload get_seconds[] = {
    TIME_PART("seconds", tg_cel_call_seconds),
    MEMBER("duration_to_seconds", STANDARD, ONE, tg_cel_call_seconds, INT, DURATION),
};

static const struct tg_cel_overload to_int[] = {
    GLOBAL("int64_to_int64", STANDARD, ONE, tg_cel_call_int, INT, INT),
    GLOBAL("double_to_int64", STANDARD, ONE, tg_cel_call_int, INT, DOUBLE),
    GLOBAL("duration_to_int64", STANDARD, ONE, tg_cel_call_int, INT, DURATION),
    GLOBAL("string_to_int64", STANDARD, ONE, tg_cel_call_int, INT, STRING),
    GLOBAL("timestamp_to_int64", STANDARD, ONE, tg_cel_call_int, INT, TIME),
    GLOBAL("uint64_to_int64", STANDARD, ONE, tg_cel_call_int, INT, UINT),
};
static const struct tg_cel_overload matches[] = {
    GLOBAL("matches", STANDARD, MATCHES, tg_cel_call_matches, BOOL, STRING, STRING),
    MEMBER("matches_string", STANDARD, MATCHES, tg_cel_call_matches, BOOL, STRING, STRING),
};
static const struct tg_cel_overload size[] = {
    GLOBAL("size_bytes", STANDARD, ONE, tg_cel_call_size, INT, BYTES),
    MEMBER("bytes_size", STANDARD, ONE, tg_cel_call_size, INT, BYTES),
    GLOBAL("size_list", STANDARD, ONE, tg_cel_call_size, INT, &list_a),
    MEMBER("list_size", STANDARD, ONE, tg_cel_call_size, INT, &list_a),
    GLOBAL("size_map", STANDARD, ONE, tg_cel_call_size, INT, &map_ab),
    MEMBER("map_size", STANDARD, ONE, tg_cel_call_size, INT, &map_ab),
    GLOBAL("size_string", STANDARD, ONE, tg_cel_call_size, INT, STRING),
    MEMBER("string_size", STANDARD, ONE, tg_cel_call_size, INT, STRING),
};
static const struct tg_cel_overload starts_with[] = {
    MEMBER("starts_with_string", STANDARD, AFFIX, tg_cel_call_starts_with, BOOL, STRING, STRING),
};
static const struct tg_cel_overload to_string[] = {
    GLOBAL("string_to_string", STANDARD, ONE, tg_cel_call_string, STRING, STRING),
    GLOBAL("bool_to_string", STANDARD, ONE, tg_cel_call_string, STRING, BOOL),
    GLOBAL("bytes_to_string", STANDARD, FROM_BYTES, tg_cel_call_string, STRING, BYTES),
    GLOBAL("double_to_string", STANDARD, ONE, tg_cel_call_string, STRING, DOUBLE),
    GLOBAL("duration_to_string", STANDARD, ONE, tg_cel_call_string, STRING, DURATION),
    GLOBAL("int64_to_string", STANDARD, ONE, tg_cel_call_string, STRING, INT),
    GLOBAL("timestamp_to_string", STANDARD, ONE, tg_cel_call_string, STRING, TIME),
    GLOBAL("uint64_to_string", STANDARD, ONE, tg_cel_call_string, STRING, UINT),
    GLOBAL("ip_to_string", IP, ONE, tg_cel_call_string, STRING, IP),
    GLOBAL("cidr_to_string", CIDR, ONE, tg_cel_call_string, STRING, CIDR),
};
static const struct tg_cel_overload to_timestamp[] = {
    GLOBAL("timestamp_to_timestamp", STANDARD, ONE, tg_cel_call_timestamp, TIME, TIME),
    GLOBAL("int64_to_timestamp", STANDARD, ONE, tg_cel_call_timestamp, TIME, INT),
    GLOBAL("string_to_timestamp", STANDARD, ONE, tg_cel_call_timestamp, TIME, STRING),
};
static const struct tg_cel_overload to_type[] = {
    GLOBAL("type", STANDARD, ONE, tg_cel_call_type, &type_of_a, &a),
};
static const struct tg_cel_overload to_uint[] = {
    GLOBAL("uint64_to_uint64", STANDARD, ONE, tg_cel_call_uint, UINT, UINT),
    GLOBAL("double_to_uint64", STANDARD, ONE, tg_cel_call_uint, UINT, DOUBLE),
    GLOBAL("int64_to_uint64", STANDARD, ONE, tg_cel_call_uint, UINT, INT),
    GLOBAL("string_to_uint64", STANDARD, ONE, tg_cel_call_uint, UINT, STRING),
};

/* By name, as strcmp has it. */
static const struct tg_cel_function functions[] = {
    FUNCTION("bool", to_bool),
    FUNCTION("bytes", to_bytes),
    FUNCTION("contains", contains),
    FUNCTION("double", to_double),
    FUNCTION("duration", to_duration),
    FUNCTION("dyn", to_dyn),
    FUNCTION("endsWith", ends_with),
    FUNCTION("getDate", get_date),
    FUNCTION("getDayOfMonth", get_day_of_month),
    FUNCTION("getDayOfWeek", get_day_of_week),
    FUNCTION("getDayOfYear", get_day_of_year),
    FUNCTION("getFullYear", get_full_year),
    FUNCTION("getHours", get_hours),
    FUNCTION("getMilliseconds", get_milliseconds),
    FUNCTION("getMinutes", get_minutes),
    FUNCTION("getMonth", get_month),
    FUNCTION("getSeconds", get_seconds),
    FUNCTION("int", to_int),
    FUNCTION("matches", matches),
    FUNCTION("size", size),
    FUNCTION("startsWith", starts_with),
    FUNCTION("string", to_string),
    FUNCTION("timestamp", to_timestamp),
    FUNCTION("type", to_type),
    FUNCTION("uint", to_uint),
};

const struct tg_cel_functions tg_cel_standard_functions = {functions, TG_ARRAY_SIZE(functions)};
