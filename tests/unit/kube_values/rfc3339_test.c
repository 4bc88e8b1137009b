/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"

static void test_times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-30T07:37:10Z", INT64_C(1796024230) * TG_SECOND},
        {"2026-11-30T07:37:10.5Z", INT64_C(1796024230) * TG_SECOND + 500000000},
        {"2026-11-30T07:37:10.123456789999Z", INT64_C(1796024230) * TG_SECOND + 123456789},
        {"2026-11-30T09:37:10+02:00", INT64_C(1796024230) * TG_SECOND},
        {"2026-11-29T23:07:10-08:30", INT64_C(1796024230) * TG_SECOND},
        /* What the RFC forbids and Go takes. */
        {"2026-11-30T07:37:10,5Z", INT64_C(1796024230) * TG_SECOND + 500000000},
        {"2026-11-30T7:37:10Z", INT64_C(1796024230) * TG_SECOND},
        {"2026-12-01T08:37:10+24:60", INT64_C(1796024230) * TG_SECOND},
        {"2000-02-29T23:59:59Z", INT64_C(951868799) * TG_SECOND},
        {"1969-12-31T23:59:59.999999999Z", -1},
        {"1900-03-01T00:00:00Z", INT64_C(-2203891200) * TG_SECOND},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
        {"1677-09-21T00:12:43.145224192Z", INT64_MIN},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_error err = TG_ERROR_INIT;
        int64_t ns = 0;

        if (tg_time_parse(cases[i].text, &ns, &err) != 0)
            fail_msg("%s", err.message);
        assert_true(ns == cases[i].ns);
    }
}

static void test_what_is_no_time_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "2026-11-30",
        "2026-11-30T07:37:10",
        "2026-11-30 07:37:10Z",
        "2026-11-30t07:37:10z",
        "2026-11-30T07:37:10Zx",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+25:00",
        "2026-01-01T00:00:00+00:61",
        "2026-01-01T00:00:00+0000",
        "2026-01-01T00:00:00*00:00",
        "26-01-01T00:00:00Z",
        "+2026-01-01T00:00:00Z",
        "2026-1-1T00:00:00Z",
    };
    int64_t ns = 0;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        if (tg_time_parse(cases[i], &ns, &err) != -TG_INVALID_ARGUMENT)
            fail_msg("%s", cases[i]);
    }
    assert_int_equal(tg_time_parse("2262-04-11T23:47:16.854775808Z", &ns, &err), -TG_OUT_OF_RANGE);
    assert_int_equal(tg_time_parse("0000-01-01T00:00:00Z", &ns, &err), -TG_OUT_OF_RANGE);
    assert_int_equal(tg_time_parse("9999-12-31T23:59:59Z", &ns, &err), -TG_OUT_OF_RANGE);
}

static void test_times_are_written(void **state)
{
    char out[32];

    (void)state;
    tg_time_format_seconds(1796024230, out);
    assert_string_equal(out, "2026-11-30T07:37:10Z");
    tg_time_format_seconds(-1, out);
    assert_string_equal(out, "1969-12-31T23:59:59Z");
    tg_time_format_seconds(951782400, out);
    assert_string_equal(out, "2000-02-29T00:00:00Z");
    tg_time_format_seconds(-62135596800, out);
    assert_string_equal(out, "0001-01-01T00:00:00Z");
    tg_time_format_seconds(INT64_MAX, out);
    assert_string_equal(out, "292277026596-12-04T15:30:07Z");
    tg_time_format_seconds(INT64_MIN, out);
    assert_string_equal(out, "-292277022657-01-27T08:29:52Z");
    tg_time_format_micro(INT64_C(1796024230) * TG_SECOND + 123456789, out);
    assert_string_equal(out, "2026-11-30T07:37:10.123456Z");
    tg_time_format_micro(-1, out);
    assert_string_equal(out, "1969-12-31T23:59:59.999999Z");
    tg_time_format_micro(INT64_MIN, out);
    assert_string_equal(out, "1677-09-21T00:12:43.145224Z");
}

static void test_every_day_of_eight_hundred_years_reads_back(void **state)
{
    (void)state;
    for (int64_t day = -100000; day < 192200; day++) {
        int64_t seconds = day * 86400 + day % 86400;
        int64_t ns = 0;
        char out[32];

        if (seconds < INT64_MIN / TG_SECOND + 1 || seconds > INT64_MAX / TG_SECOND - 1)
            continue;
        tg_time_format_seconds(seconds, out);
        assert_int_equal(tg_time_parse(out, &ns, NULL), 0);
        assert_true(ns == seconds * TG_SECOND);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_are_read),
        cmocka_unit_test(test_what_is_no_time_is_refused),
        cmocka_unit_test(test_times_are_written),
        cmocka_unit_test(test_every_day_of_eight_hundred_years_reads_back),
    };

    return cmocka_run_group_tests_name("rfc3339", tests, NULL, NULL);
}
