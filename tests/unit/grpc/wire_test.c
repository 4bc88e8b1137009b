/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/grpc/wire.h"

static void timeouts_of_every_unit_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"1H", 3600 * TG_SECOND},
        {"2M", 120 * TG_SECOND},
        {"1S", TG_SECOND},
        {"45100m", 45100 * TG_MILLISECOND},
        {"999480u", 999480000},
        {"7n", 7},
        {"0n", 0},
        {"99999999H", INT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        int64_t ns = -1;
        assert_int_equal(tg_grpc_parse_timeout(cases[i].text, strlen(cases[i].text), &ns), 0);
        assert_int_equal(ns, cases[i].ns);
    }
}

static void malformed_timeouts_are_refused(void **state)
{
    static const char *const cases[] = {"",    "1",  "S",   "123456789S", "-1S",
                                        "+1S", "1s", "1 S", "1.5S",       "1SS"};
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        int64_t ns;
        assert_int_equal(tg_grpc_parse_timeout(cases[i], strlen(cases[i]), &ns), -1);
    }
}

static void status_texts_are_percent_encoded_and_valid_utf8(void **state)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(200);
    (void)state;
    tg_grpc_append_status_text("50% of \"x\"\n\xc3\xa4\xff~", &buf);
    assert_string_equal(tg_buf_str(&buf), "50%25%20of%20\"x\"%0A%C3%A4?~");
}

static void feed_ok(struct tg_grpc_framer *framer, const char *bytes, size_t n)
{
    struct tg_error err = TG_ERROR_INIT;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tg_grpc_framer_feed(framer, (const uint8_t *)bytes + i, 1, &err), 0);
}

static void a_message_in_single_bytes_is_put_together(void **state)
{
    struct tg_grpc_framer framer;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    tg_grpc_framer_init(&framer);
    feed_ok(&framer, "\0\0\0\0\3abc", 8);
    assert_int_equal(tg_grpc_framer_finish(&framer, &err), 0);
    assert_string_equal(tg_buf_str(&framer.message), "abc");
    tg_grpc_framer_done(&framer);
}

static void an_empty_message_is_a_message(void **state)
{
    struct tg_grpc_framer framer;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    tg_grpc_framer_init(&framer);
    feed_ok(&framer, "\0\0\0\0\0", 5);
    assert_int_equal(tg_grpc_framer_finish(&framer, &err), 0);
    tg_grpc_framer_done(&framer);
}

static void missing_and_cut_messages_are_internal_errors(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{"", 0}, {"\0\0\0", 3}, {"\0\0\0\0\3ab", 7}};
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_grpc_framer framer;
        struct tg_error err = TG_ERROR_INIT;
        tg_grpc_framer_init(&framer);
        feed_ok(&framer, cases[i].bytes, cases[i].n);
        assert_int_equal(tg_grpc_framer_finish(&framer, &err), -TG_INTERNAL);
        tg_grpc_framer_done(&framer);
    }
}

static void bad_frames_have_the_codes_of_the_protocol(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        enum tg_code code;
    } cases[] = {
        {"\1\0\0\0\0", 5, TG_UNIMPLEMENTED},        /* compressed */
        {"\0\0\x40\0\1", 5, TG_RESOURCE_EXHAUSTED}, /* one byte over 4 MiB */
        {"\0\xff\xff\xff\xff", 5, TG_RESOURCE_EXHAUSTED},
        {"\0\0\0\0\1ab", 7, TG_INTERNAL}, /* bytes of a second message */
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_grpc_framer framer;
        struct tg_error err = TG_ERROR_INIT;
        tg_grpc_framer_init(&framer);
        assert_int_equal(
            tg_grpc_framer_feed(&framer, (const uint8_t *)cases[i].bytes, cases[i].n, &err),
            -(int)cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        tg_grpc_framer_done(&framer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_of_every_unit_are_read),
        cmocka_unit_test(malformed_timeouts_are_refused),
        cmocka_unit_test(status_texts_are_percent_encoded_and_valid_utf8),
        cmocka_unit_test(a_message_in_single_bytes_is_put_together),
        cmocka_unit_test(an_empty_message_is_a_message),
        cmocka_unit_test(missing_and_cut_messages_are_internal_errors),
        cmocka_unit_test(bad_frames_have_the_codes_of_the_protocol),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
