/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/pool.h"

static void equal_bytes_have_one_number_until_nobody_holds_them(void **state)
{
    struct tg_pool *pool = tg_pool_new();
    uint32_t a = tg_pool_take(pool, "abc", 3);
    uint32_t b = tg_pool_take(pool, "ab\0c", 4);
    size_t n;

    (void)state;
    assert_int_not_equal(a, 0);
    assert_int_not_equal(a, b);
    assert_int_equal(tg_pool_take(pool, "abc", 3), a);
    assert_int_equal(tg_pool_count(pool), 2);
    assert_memory_equal(tg_pool_get(pool, b, &n), "ab\0c", 4);
    assert_int_equal(n, 4);
    tg_pool_release(pool, a);
    assert_memory_equal(tg_pool_get(pool, a, &n), "abc", 3);
    tg_pool_release(pool, a);
    assert_int_equal(tg_pool_count(pool), 1);
    assert_int_equal(tg_pool_take(pool, "new", 3), a); /* the number is used again */
    tg_pool_free(pool);
    tg_pool_free(NULL);
}

static void nothing_is_the_number_zero(void **state)
{
    struct tg_pool *pool = tg_pool_new();
    size_t n = 7;

    (void)state;
    assert_int_equal(tg_pool_take(pool, "", 0), 0);
    assert_non_null(tg_pool_get(pool, 0, &n));
    assert_int_equal(n, 0);
    tg_pool_release(pool, 0);
    assert_int_equal(tg_pool_count(pool), 0);
    tg_pool_free(pool);
}

static void thousands_come_and_go(void **state)
{
    enum { N = 5000 };
    static uint32_t numbers[N];
    struct tg_pool *pool = tg_pool_new();
    char text[32];
    size_t n;

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            int length = snprintf(text, sizeof(text), "text %d", i);
            numbers[i] = tg_pool_take(pool, text, (size_t)length);
        }
        assert_int_equal(tg_pool_count(pool), N);
        for (int i = 0; i < N; i++) {
            int length = snprintf(text, sizeof(text), "text %d", i);
            assert_memory_equal(tg_pool_get(pool, numbers[i], &n), text, (size_t)length);
            assert_int_equal(n, length);
        }
        for (int i = 0; i < N; i++)
            tg_pool_release(pool, numbers[(i * 7) % N]);
        assert_int_equal(tg_pool_count(pool), 0);
    }
    tg_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_have_one_number_until_nobody_holds_them),
        cmocka_unit_test(nothing_is_the_number_zero),
        cmocka_unit_test(thousands_come_and_go),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
