/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "api/runtime/base/clock.h"

static int64_t boottime(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &now), 0);
    return (int64_t)now.tv_sec * TG_SECOND + now.tv_nsec;
}

static void the_system_clock_counts_suspension(void **state)
{
    int64_t before = boottime();
    int64_t now = tg_now_monotonic(tg_clock_system());

    (void)state;
    assert_true(now >= before);
    assert_true(boottime() >= now);
}

static void the_system_clock_tells_wall_time_in_nanoseconds(void **state)
{
    int64_t before = (int64_t)time(NULL);
    int64_t wall = tg_now_wall(tg_clock_system());

    (void)state;
    assert_true(wall / TG_SECOND >= before - 1);
    assert_true(wall / TG_SECOND <= (int64_t)time(NULL) + 1);
}

static void a_fake_clock_moves_only_when_told(void **state)
{
    struct tg_fake_clock fake;

    (void)state;
    tg_fake_clock_init(&fake, 1000 * TG_SECOND);
    assert_int_equal(tg_now_monotonic(&fake.clock), 0);
    assert_int_equal(tg_now_wall(&fake.clock), 1000 * TG_SECOND);
    tg_fake_clock_advance(&fake, 5 * TG_MILLISECOND);
    assert_int_equal(tg_now_monotonic(&fake.clock), 5 * TG_MILLISECOND);
    assert_int_equal(tg_now_wall(&fake.clock), 1000 * TG_SECOND + 5 * TG_MILLISECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_clock_counts_suspension),
        cmocka_unit_test(the_system_clock_tells_wall_time_in_nanoseconds),
        cmocka_unit_test(a_fake_clock_moves_only_when_told),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
