/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/duration.h"

/* What Go's time.ParseDuration and Duration.String give for the same text. */
static void go_durations_are_read_and_printed_as_go_does(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        const char *printed;
    } cases[] = {
        {"0", 0, "0s"},
        {"-0", 0, "0s"},
        {"+0", 0, "0s"},
        {"0s", 0, "0s"},
        {"5s", 5000000000, "5s"},
        {"30s", 30000000000, "30s"},
        {"1478s", 1478000000000, "24m38s"},
        {"-5s", -5000000000, "-5s"},
        {"+5s", 5000000000, "5s"},
        {"5.0s", 5000000000, "5s"},
        {"5.6s", 5600000000, "5.6s"},
        {"5.s", 5000000000, "5s"},
        {".5s", 500000000, "500ms"},
        {"1.0s", 1000000000, "1s"},
        {"1.004s", 1004000000, "1.004s"},
        {"100.00100s", 100001000000, "1m40.001s"},
        {"10ns", 10, "10ns"},
        {"11us", 11000, "11\302\265s"},
        {"12\302\265s", 12000, "12\302\265s"},
        {"12\316\274s", 12000, "12\302\265s"},
        {"13ms", 13000000, "13ms"},
        {"1.5ms", 1500000, "1.5ms"},
        {"1ms1ns", 1000001, "1.000001ms"},
        {"15m", 900000000000, "15m0s"},
        {"16h", 57600000000000, "16h0m0s"},
        {"3h30m", 12600000000000, "3h30m0s"},
        {"10.5s4m", 250500000000, "4m10.5s"},
        {"-2m3.4s", -123400000000, "-2m3.4s"},
        {"1h2m3s4ms5us6ns", 3723004005006, "1h2m3.004005006s"},
        {"39h9m14.425s", 140954425000000, "39h9m14.425s"},
        {"52763797000ns", 52763797000, "52.763797s"},
        {"0.3333333333333333333h", 1200000000000, "20m0s"},
        {"9007199254740993ns", 9007199254740993, "2501h59m59.254740993s"},
        {"9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s"},
        {"9223372036854775.807us", INT64_MAX, "2562047h47m16.854775807s"},
        {"9223372036s854ms775us807ns", INT64_MAX, "2562047h47m16.854775807s"},
        {"-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s"},
        {"-2562047h47m16.854775808s", INT64_MIN, "-2562047h47m16.854775808s"},
        {"0.100000000000000000000h", 360000000000, "6m0s"},
        {"0.830103483285477580700h", 2988372539827, "49m48.372539827s"},
    };
    char text[TG_DURATION_TEXT];

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        int64_t value = -1;
        int64_t again = -1;

        assert_int_equal(tg_parse_duration(cases[i].text, &value), 0);
        assert_int_equal(value, cases[i].value);
        assert_string_equal(tg_format_duration(value, text), cases[i].printed);
        assert_int_equal(tg_parse_duration(text, &again), 0);
        assert_int_equal(again, value);
    }
}

static void what_go_refuses_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "3",
        "-",
        "s",
        ".",
        "-.",
        ".s",
        "+.s",
        "1d",
        "-+5",
        "++5s",
        " 5s",
        "5s ",
        "5 s",
        "1e3s",
        "0x1s",
        "1.2.3s",
        "s5",
        "5S",
        "5ss",
        "1m2",
        "3000000h",
        "9223372036854775808ns",
        "9223372036854775.808us",
        "-9223372036854775809ns",
        "99999999999999999999999ns",
        "9223372036854ms775us808ns",
        "-9223372036854775808ns1ns",
        "5\302s",
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++) {
        int64_t value = 42;

        assert_int_equal(tg_parse_duration(texts[i], &value), -1);
        assert_int_equal(value, 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_durations_are_read_and_printed_as_go_does),
        cmocka_unit_test(what_go_refuses_is_refused),
    };

    return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
