/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/error.h"
#include "api/runtime/base/str.h"

static void set_returns_the_negative_code_and_fills_everything(void **state)
{
    struct tg_error err = {.http_status = 409, .reason = "Conflict", .message = "old"};

    (void)state;
    assert_int_equal(tg_error_set(&err, TG_NOT_FOUND, "claim %s", "a/b"), -TG_NOT_FOUND);
    assert_int_equal(err.code, TG_NOT_FOUND);
    assert_string_equal(err.message, "claim a/b");
    assert_false(err.retry);
    assert_int_equal(err.http_status, 0);
    assert_string_equal(err.reason, "");
}

static void retry_follows_the_code(void **state)
{
    (void)state;
    for (int code = 1; code <= TG_UNAUTHENTICATED; code++) {
        struct tg_error err = TG_ERROR_INIT;
        bool retry = code == TG_UNAVAILABLE || code == TG_ABORTED || code == TG_DEADLINE_EXCEEDED ||
                     code == TG_RESOURCE_EXHAUSTED;

        assert_int_equal(tg_error_set(&err, (enum tg_code)code, "x"), -code);
        assert_int_equal(err.retry, retry);
    }
}

static void without_an_error_object_only_the_code_is_told(void **state)
{
    (void)state;
    assert_int_equal(tg_error_set(NULL, TG_ABORTED, "x"), -TG_ABORTED);
    assert_int_equal(tg_error_errno(NULL, ENOENT, "x"), -TG_NOT_FOUND);
    assert_int_equal(tg_error_wrap(NULL, "x"), -TG_UNKNOWN);
}

static void wrap_adds_context_in_front_and_keeps_the_rest(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    tg_error_set(&err, TG_ABORTED, "object was modified");
    err.http_status = 409;
    assert_int_equal(tg_error_wrap(&err, "claim \"%s\"", "a"), -TG_ABORTED);
    assert_int_equal(tg_error_wrap(&err, "gang"), -TG_ABORTED);
    assert_string_equal(err.message, "gang: claim \"a\": object was modified");
    assert_true(err.retry);
    assert_int_equal(err.http_status, 409);
}

static void arguments_may_be_the_message_itself(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    tg_error_set(&err, TG_ABORTED, "inner");
    tg_error_set(&err, TG_INTERNAL, "outer (%s)", err.message);
    assert_string_equal(err.message, "outer (inner)");
    tg_error_wrap(&err, "again %s", err.message);
    assert_string_equal(err.message, "again outer (inner): outer (inner)");
}

static void long_messages_are_cut_between_characters(void **state)
{
    char text[600];

    (void)state;
    for (size_t offset = 0; offset < 4; offset++) {
        struct tg_error err = TG_ERROR_INIT;

        memset(text, 'a', sizeof(text));
        for (size_t i = offset; i + 4 < sizeof(text); i += 4)
            memcpy(text + i, "\360\237\230\200", 4);
        text[sizeof(text) - 1] = '\0';
        tg_error_set(&err, TG_INTERNAL, "%s", text);
        assert_in_range(strlen(err.message), sizeof(err.message) - 5, sizeof(err.message) - 1);
        assert_true(tg_utf8_valid(err.message, strlen(err.message)));
        tg_error_wrap(&err, "%s", text);
        assert_true(tg_utf8_valid(err.message, strlen(err.message)));
    }
}

static void errno_gives_code_and_text(void **state)
{
    static const struct {
        int number;
        enum tg_code code;
        const char *message;
    } cases[] = {
        {ENOENT, TG_NOT_FOUND, "open \"f\": No such file or directory"},
        {EEXIST, TG_ALREADY_EXISTS, "open \"f\": File exists"},
        {EACCES, TG_PERMISSION_DENIED, "open \"f\": Permission denied"},
        {ENOSPC, TG_RESOURCE_EXHAUSTED, "open \"f\": No space left on device"},
        {EIO, TG_UNAVAILABLE, "open \"f\": Input/output error"},
        {EAGAIN, TG_UNAVAILABLE, "open \"f\": Resource temporarily unavailable"},
        {EDOM, TG_INTERNAL, "open \"f\": Numerical argument out of domain"},
        {99999, TG_INTERNAL, "open \"f\": error number 99999"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(tg_error_errno(&err, cases[i].number, "open \"%s\"", "f"),
                         -(int)cases[i].code);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void codes_have_the_names_and_numbers_of_grpc(void **state)
{
    static const char *const names[] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++)
        assert_string_equal(tg_code_name((enum tg_code)i), names[i]);
    assert_string_equal(tg_code_name((enum tg_code)17), "UNKNOWN");
    assert_string_equal(tg_code_name((enum tg_code) - 1), "UNKNOWN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_returns_the_negative_code_and_fills_everything),
        cmocka_unit_test(retry_follows_the_code),
        cmocka_unit_test(without_an_error_object_only_the_code_is_told),
        cmocka_unit_test(wrap_adds_context_in_front_and_keeps_the_rest),
        cmocka_unit_test(arguments_may_be_the_message_itself),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(errno_gives_code_and_text),
        cmocka_unit_test(codes_have_the_names_and_numbers_of_grpc),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
