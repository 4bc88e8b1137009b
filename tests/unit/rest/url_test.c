/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/rest/rest.h"

static void everything_but_unreserved_characters_is_escaped(void **state)
{
    struct tg_buf buf = TG_BUF_INIT(4096);

    (void)state;
    tg_url_escape(&buf, "azAZ09-._~ /?&=%+:,\xc3\xa9");
    assert_string_equal(tg_buf_str(&buf), "azAZ09-._~%20%2F%3F%26%3D%25%2B%3A%2C%C3%A9");
    tg_buf_done(&buf);
}

static void a_full_buffer_is_told_by_the_buffer(void **state)
{
    struct tg_buf buf = TG_BUF_INIT(5);

    (void)state;
    tg_url_escape(&buf, "a b c");
    assert_true(buf.failed);
    tg_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_but_unreserved_characters_is_escaped),
        cmocka_unit_test(a_full_buffer_is_told_by_the_buffer),
    };
    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
