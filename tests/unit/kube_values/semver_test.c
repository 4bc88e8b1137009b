/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/cleanup.h"

static void test_precedence_is_that_of_the_standard(void **state)
{
    /* Ascending; semver.org, item 11, and more. */
    static const char *const rows[][2] = {
        {"0.0.0-0"},
        {"0.0.0"},
        {"0.0.1"},
        {"0.10.0"},
        {"1.0.0-1"},
        {"1.0.0-2"},
        {"1.0.0-10"},
        {"1.0.0--"},
        {"1.0.0-Beta"},
        {"1.0.0-alpha", "1.0.0-alpha+x"},
        {"1.0.0-alpha.1"},
        {"1.0.0-alpha.beta"},
        {"1.0.0-beta"},
        {"1.0.0-beta.2"},
        {"1.0.0-beta.11"},
        {"1.0.0-rc.1"},
        {"1.0.0", "1.0.0+001.a-b"},
        {"535.129.3"},
        {"570.0.0"},
        {"18446744073709551615.0.0"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        for (size_t j = 0; j < TG_ARRAY_SIZE(rows); j++) {
            for (size_t k = 0; k < 4; k++) {
                struct tg_semver a;
                struct tg_semver b;
                int order;

                if (rows[i][k / 2] == NULL || rows[j][k % 2] == NULL)
                    continue;
                assert_int_equal(tg_semver_parse(rows[i][k / 2], &a, NULL), 0);
                assert_int_equal(tg_semver_parse(rows[j][k % 2], &b, NULL), 0);
                order = tg_semver_compare(&a, &b);
                assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            }
        }
    }
}

static void test_what_is_no_version_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "1",
        "1.2",
        "1.2.",
        "1.2.3.4",
        "v1.2.3",
        " 1.2.3",
        "1.2.3 ",
        "01.2.3",
        "1.02.3",
        "1.2.03",
        "1.2.-3",
        "a.b.c",
        "1..3",
        "1.2.3-",
        "1.2.3-a..b",
        "1.2.3-01",
        "1.2.3-a.01",
        "1.2.3-a_b",
        "1.2.3+",
        "1.2.3+a..b",
        "1.2.3+a+b",
        "1.2.3-+a",
        "1.2.3-.a",
        "1.2.3-a.",
        "18446744073709551616.0.0",
        "1.2.3-18446744073709551616",
        "535.129.03",
        "+1.2.3",
        "1.2.3-\xc3\xa9",
    };
    struct tg_semver v;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        if (tg_semver_parse(cases[i], &v, &err) != -TG_INVALID_ARGUMENT)
            fail_msg("%s", cases[i]);
        assert_non_null(strstr(err.message, "is not a semantic version"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence_is_that_of_the_standard),
        cmocka_unit_test(test_what_is_no_version_is_refused),
    };

    return cmocka_run_group_tests_name("semver", tests, NULL, NULL);
}
