/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/reader.h"

struct log {
    const char *text; /* the document; NULL if it comes in chunks */
    struct tg_buf out;
};

/* Each token as it stands in the document, with the depth after it. */
static int log_event(void *data, const struct tg_json_reader *reader,
                     const struct tg_json_event *event, struct tg_error *err)
{
    struct log *log = data;

    (void)err;
    if (log->text != NULL)
        tg_buf_append(&log->out, log->text + event->start, event->end - event->start);
    else
        tg_buf_append(&log->out, event->text, event->n);
    tg_buf_printf(&log->out, "%u ", tg_json_reader_depth(reader));
    return 0;
}

static int refuse_numbers(void *data, const struct tg_json_reader *reader,
                          const struct tg_json_event *event, struct tg_error *err)
{
    (void)data;
    if (event->kind == TG_JSON_EVENT_NUMBER)
        return tg_json_reader_refuse(reader, err, TG_ABORTED, "no numbers");
    return 0;
}

static void test_tokens_know_where_they_stand(void **state)
{
    static const char json[] =
        "\t{ \"a\" : [ 1 , -2.5e3,\"x\\n\" ,null ] ,\"b\\u0041\":{},\"c\": true }\n";
    struct log log = {.text = json, .out = TG_BUF_INIT(1000)};

    (void)state;
    assert_int_equal(tg_json_read(json, sizeof(json) - 1, log_event, &log, NULL), 0);
    assert_string_equal(log.out.data,
                        "{1 \"a\"1 [2 12 -2.5e32 \"x\\n\"2 null2 ]1 \"b\\u0041\"1 {2 }1 "
                        "\"c\"1 true1 }0 ");
    tg_buf_done(&log.out);
    log.text = "12";
    assert_int_equal(tg_json_read("12", 2, log_event, &log, NULL), 0);
    assert_string_equal(log.out.data, "120 ");
    tg_buf_done(&log.out);
}

static void test_chunks_of_any_size_give_the_same_tokens(void **state)
{
    static const char json[] = "{\"key\":[-12.5,\"a\\u00e9\\ud83d\\ude00\xc3\xa9\"],\"\":null}";

    (void)state;
    for (size_t chunk = 1; chunk <= sizeof(json); chunk++) {
        struct log log = {.out = TG_BUF_INIT(1000)};
        struct tg_json_reader *reader = tg_json_reader_new(log_event, &log, 1);

        for (size_t at = 0; at < sizeof(json) - 1; at += chunk) {
            size_t n = sizeof(json) - 1 - at < chunk ? sizeof(json) - 1 - at : chunk;

            assert_int_equal(tg_json_reader_feed(reader, json + at, n, NULL), 0);
        }
        assert_int_equal(tg_json_reader_end(reader, NULL), 0);
        assert_string_equal(log.out.data, "1 key1 2 -12.52 a\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9"
                                          "2 1 1 1 0 ");
        tg_json_reader_free(reader);
        tg_buf_done(&log.out);
    }
}

static void test_the_consumer_stops_the_reader_with_a_path(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"1", "no numbers"},
        {"[1]", "[0]: no numbers"},
        {"{\"a\":[{},[{\"b-c\":1}]]}", "a[1][0].b-c: no numbers"},
        {"{\"a.b\":{\"\":1}}", "[\"a.b\"][\"\"]: no numbers"},
        {"{\"a\":{},\"b\":{\"x\":[]},\"c\":1}", "c: no numbers"},
        {"{\"\\u0041\":1}", "[\"\\u0041\"]: no numbers"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(
            tg_json_read(cases[i].json, strlen(cases[i].json), refuse_numbers, NULL, &err),
            -TG_ABORTED);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_long_paths_are_cut_and_stay_utf8(void **state)
{
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    for (int i = 0; i < 60; i++) {
        tg_buf_append_str(&json, "{\"x");
        for (int j = 0; j < 40; j++)
            tg_buf_append_str(&json, "\xc3\xa9");
        tg_buf_append_str(&json, "\":");
    }
    tg_buf_append_char(&json, '1');
    assert_int_equal(tg_json_read(json.data, json.len, refuse_numbers, NULL, &err), -TG_ABORTED);
    assert_non_null(strstr(err.message, "no numbers"));
    assert_true(tg_utf8_valid(err.message, strlen(err.message)));
    assert_true(strlen(err.message) < 300);
}

static void test_a_refused_document_stays_refused(void **state)
{
    struct tg_json_reader *reader = tg_json_reader_new(refuse_numbers, NULL, 1);

    (void)state;
    assert_int_equal(tg_json_reader_feed(reader, "[1]", 3, NULL), -TG_ABORTED);
    assert_int_equal(tg_json_reader_feed(reader, "[]", 2, NULL), -TG_FAILED_PRECONDITION);
    assert_int_equal(tg_json_reader_end(reader, NULL), -TG_FAILED_PRECONDITION);
    tg_json_reader_free(reader);
    tg_json_reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_know_where_they_stand),
        cmocka_unit_test(test_chunks_of_any_size_give_the_same_tokens),
        cmocka_unit_test(test_the_consumer_stops_the_reader_with_a_path),
        cmocka_unit_test(test_long_paths_are_cut_and_stay_utf8),
        cmocka_unit_test(test_a_refused_document_stays_refused),
    };

    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
