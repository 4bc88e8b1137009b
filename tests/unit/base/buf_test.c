/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"

static void content_is_always_followed_by_a_nul(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(100000);

    (void)state;
    assert_string_equal(tg_buf_str(&buf), "");
    assert_null(buf.data);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(tg_buf_append_char(&buf, 'x'), 0);
        assert_int_equal(buf.len, i + 1);
        assert_int_equal(strlen(buf.data), i + 1);
    }
}

static void the_cap_counts_the_content_and_not_the_nul(void **state)
{
    (void)state;
    for (size_t max = 0; max < 300; max++) {
        TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(max);

        for (size_t i = 0; i < max; i++)
            assert_int_equal(tg_buf_append_char(&buf, 'x'), 0);
        assert_true(buf.capacity <= max + 1);
        assert_int_equal(tg_buf_append_char(&buf, 'x'), -1);
        assert_true(buf.failed);
    }
}

static void a_failed_buffer_is_empty_and_stays_failed(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4);

    (void)state;
    assert_int_equal(tg_buf_append_str(&buf, "abcd"), 0);
    assert_int_equal(tg_buf_append_str(&buf, "e"), -1);
    assert_int_equal(buf.len, 0);
    assert_string_equal(tg_buf_str(&buf), "");
    assert_int_equal(tg_buf_append_str(&buf, "a"), -1);
    assert_int_equal(tg_buf_append(&buf, NULL, 0), -1);
    assert_int_equal(tg_buf_printf(&buf, "%d", 1), -1);
    assert_int_equal(tg_buf_printf(&buf, "%s", ""), -1);
    tg_buf_clear(&buf);
    assert_false(buf.failed);
    assert_int_equal(tg_buf_append_str(&buf, "abcd"), 0);
}

static void sizes_that_overflow_fail(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(SIZE_MAX);

    (void)state;
    assert_int_equal(tg_buf_append(&buf, "x", SIZE_MAX), -1);
    tg_buf_clear(&buf);
    assert_int_equal(tg_buf_append_str(&buf, "x"), 0);
    assert_int_equal(tg_buf_append(&buf, "x", SIZE_MAX - 1), -1);
    assert_true(buf.failed);
}

static void printf_appends_what_fits_exactly(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(6);

    (void)state;
    assert_int_equal(tg_buf_printf(&buf, "%s", ""), 0);
    assert_int_equal(tg_buf_printf(&buf, "%d-", 12), 0);
    assert_int_equal(tg_buf_printf(&buf, "%s", "abc"), 0);
    assert_string_equal(tg_buf_str(&buf), "12-abc");
    assert_int_equal(tg_buf_printf(&buf, "%c", 'x'), -1);
}

static void clear_keeps_the_memory(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1000);
    const char *memory;

    (void)state;
    assert_int_equal(tg_buf_append_str(&buf, "hello"), 0);
    memory = buf.data;
    tg_buf_clear(&buf);
    assert_string_equal(tg_buf_str(&buf), "");
    assert_int_equal(tg_buf_append_str(&buf, "again"), 0);
    assert_ptr_equal(buf.data, memory);
}

static void consume_removes_from_the_front(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1000);

    (void)state;
    tg_buf_consume(&buf, 0);
    assert_int_equal(tg_buf_append_str(&buf, "hello world"), 0);
    tg_buf_consume(&buf, 6);
    assert_string_equal(tg_buf_str(&buf), "world");
    tg_buf_consume(&buf, 5);
    assert_string_equal(tg_buf_str(&buf), "");
    assert_int_equal(buf.len, 0);
}

static void take_hands_over_and_never_gives_null(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1000);
    TG_AUTOFREE char *empty = tg_buf_take(&buf);
    TG_AUTOFREE char *text = NULL;

    (void)state;
    assert_string_equal(empty, "");
    assert_int_equal(tg_buf_append_str(&buf, "mine"), 0);
    text = tg_buf_take(&buf);
    assert_string_equal(text, "mine");
    assert_null(buf.data);
    assert_int_equal(buf.max, 1000);
}

static void bytes_may_be_nul(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(10);

    (void)state;
    assert_int_equal(tg_buf_append(&buf, "a\0b", 3), 0);
    assert_int_equal(buf.len, 3);
    assert_memory_equal(buf.data, "a\0b\0", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_always_followed_by_a_nul),
        cmocka_unit_test(the_cap_counts_the_content_and_not_the_nul),
        cmocka_unit_test(a_failed_buffer_is_empty_and_stays_failed),
        cmocka_unit_test(sizes_that_overflow_fail),
        cmocka_unit_test(printf_appends_what_fits_exactly),
        cmocka_unit_test(clear_keeps_the_memory),
        cmocka_unit_test(consume_removes_from_the_front),
        cmocka_unit_test(take_hands_over_and_never_gives_null),
        cmocka_unit_test(bytes_may_be_nul),
    };

    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
