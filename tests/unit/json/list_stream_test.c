/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/decode.h"

struct seen {
    struct tg_buf items; /* separated by | */
    int stop_at;         /* refuse the nth item; 0 = never */
    int n;
};

static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct seen *seen = data;

    if (++seen->n == seen->stop_at)
        return tg_error_set(err, TG_ABORTED, "stopped");
    tg_buf_append(&seen->items, json, n);
    tg_buf_append_char(&seen->items, '|');
    return 0;
}

static int stream(const char *json, size_t chunk, size_t max_item, struct seen *seen,
                  struct tg_json_list_meta *meta, struct tg_error *err)
{
    struct tg_json_list_stream *s = tg_json_list_stream_new(on_item, seen, max_item);
    size_t n = strlen(json);
    int rc = 0;

    for (size_t at = 0; at < n && rc == 0; at += chunk)
        rc = tg_json_list_stream_feed(s, json + at, n - at < chunk ? n - at : chunk, err);
    if (rc == 0)
        rc = tg_json_list_stream_end(s, meta, err);
    else
        assert_int_equal(tg_json_list_stream_feed(s, "{", 1, NULL), -TG_FAILED_PRECONDITION);
    tg_json_list_stream_free(s);
    return rc;
}

static void assert_refused(const char *json, const char *message)
{
    for (size_t chunk = 1; chunk < 100; chunk += 33) {
        struct seen seen = {.items = TG_BUF_INIT(1000)};
        struct tg_json_list_meta meta;
        struct tg_error err = TG_ERROR_INIT;
        int rc = stream(json, chunk, 64, &seen, &meta, &err);

        if (rc != -TG_INVALID_ARGUMENT || strstr(err.message, message) == NULL)
            print_error("%s: %d \"%s\"\n", json, rc, err.message);
        assert_int_equal(rc, -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, message));
        tg_buf_done(&seen.items);
    }
}

static void test_items_are_the_same_for_every_cut_of_the_input(void **state)
{
    static const char json[] =
        "{\"kind\":\"PodList\", \"metadata\" : "
        "{\"resourceVersion\":\"12\\u0033\",\"x\":{\"continue\":\"no\"},\"continue\":\"c/=\","
        "\"remainingItemCount\":5},\"items\" :[ {\"a\":[{}, \"]\\\"}\"] } "
        ",{},{\"items\":[{}],\"metadata\":{\"resourceVersion\":\"0\"}}\n]}\n";

    (void)state;
    for (size_t chunk = 1; chunk <= sizeof(json); chunk++) {
        struct seen seen = {.items = TG_BUF_INIT(1000)};
        struct tg_json_list_meta meta;

        assert_int_equal(stream(json, chunk, 64, &seen, &meta, NULL), 0);
        assert_string_equal(tg_buf_str(&seen.items),
                            "{\"a\":[{}, \"]\\\"}\"] "
                            "}|{}|{\"items\":[{}],\"metadata\":{\"resourceVersion\":\"0\"}}|");
        assert_string_equal(meta.resource_version, "123");
        assert_string_equal(meta.continue_token, "c/=");
        tg_buf_done(&seen.items);
    }
}

static void test_metadata_may_come_last_and_items_be_null(void **state)
{
    struct seen seen = {.items = TG_BUF_INIT(1000)};
    struct tg_json_list_meta meta;

    (void)state;
    assert_int_equal(
        stream("{\"items\":[{}],\"metadata\":{\"resourceVersion\":\"7\",\"continue\":null}}", 3, 64,
               &seen, &meta, NULL),
        0);
    assert_string_equal(meta.resource_version, "7");
    assert_string_equal(meta.continue_token, "");
    assert_int_equal(seen.n, 1);
    assert_int_equal(stream("{\"metadata\":{},\"items\":null}", 3, 64, &seen, &meta, NULL), 0);
    assert_int_equal(seen.n, 1);
    tg_buf_done(&seen.items);
}

static void test_what_is_no_list_is_refused(void **state)
{
    (void)state;
    assert_refused("[]", "not a list: expected an object, found an array");
    assert_refused("{}", "not a list: it has no \"items\"");
    assert_refused("{\"items\":{}}", "items: expected an array, found an object");
    assert_refused("{\"items\":[{},7]}", "items[1]: expected an object, found a number");
    assert_refused("{\"items\":[{},{\"a\" 1}]}", "items[1]: not JSON");
    assert_refused("{\"items\":[]", "not JSON");
    assert_refused("{\"items\":[]}x", "not JSON");
    assert_refused("{\"items\":[{}],\"metadata\":7}",
                   "metadata: expected an object, found a number");
    assert_refused("{\"items\":[{}],\"metadata\":{\"resourceVersion\":7}}",
                   "metadata.resourceVersion: not a string");
    assert_refused("{\"items\":[{}],\"items\":[{}]}", "key twice");
    assert_refused("{\"metadata\":{\"continue\":\"\",\"continue\":\"\"},\"items\":[{}]}",
                   "key twice");
    assert_refused("{\"metadata\":{\"continue\":\"\xff\"},\"items\":[{}]}", "not valid UTF-8");
}

static void test_an_odd_item_is_handed_over_and_hides_no_other(void **state)
{
    static const char begin[] = "{\"items\":[{},{\"a\":\"\xff\",\"b\":1,\"b\":2,\"c\":";
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 20);
    struct seen seen = {.items = TG_BUF_INIT(1 << 20)};
    struct tg_json_list_meta meta;

    (void)state;
    tg_buf_append_str(&json, begin);
    for (int i = 0; i < 5000; i++)
        tg_buf_append_char(&json, '[');
    for (int i = 0; i < 5000; i++)
        tg_buf_append_char(&json, ']');
    tg_buf_append_str(&json, "},{\"z\":1}]}");
    assert_int_equal(stream(tg_buf_str(&json), 777, 1 << 20, &seen, &meta, NULL), 0);
    assert_int_equal(seen.n, 3);
    assert_string_equal(tg_buf_str(&seen.items) + seen.items.len - 8, "{\"z\":1}|");
    tg_buf_done(&seen.items);
}

static void test_an_item_that_the_receiver_refuses_ends_the_list(void **state)
{
    struct seen seen = {.items = TG_BUF_INIT(1000), .stop_at = 2};
    struct tg_json_list_meta meta;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(stream("{\"items\":[{},{},{}]}", 100, 64, &seen, &meta, &err), -TG_ABORTED);
    assert_string_equal(err.message, "items[1]: stopped");
    assert_int_equal(seen.n, 2);
    tg_buf_done(&seen.items);
}

static void test_memory_is_bounded_by_one_item(void **state)
{
    struct tg_buf json TG_AUTOBUF = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json_list_meta meta;

    (void)state;
    tg_buf_append_str(&json, "{\"items\":[{},{\"a\":\"");
    for (int i = 0; i < 200000; i++)
        tg_buf_append_char(&json, 'x');
    tg_buf_append_str(&json, "\"}]}");
    for (size_t chunk = 100; chunk <= 1000000; chunk *= 100) {
        struct seen seen = {.items = TG_BUF_INIT(1000)};

        assert_int_equal(stream(json.data, chunk, 1000, &seen, &meta, &err),
                         -TG_RESOURCE_EXHAUSTED);
        assert_string_equal(err.message, "items[1]: larger than allowed");
        tg_buf_done(&seen.items);
    }
    /* A token outside the items. */
    memcpy(json.data, "{\"itemz\":[{},{\"a\":\"", 19);
    struct seen seen = {.items = TG_BUF_INIT(1000)};
    assert_int_equal(stream(json.data, 100, 1000, &seen, &meta, &err), -TG_RESOURCE_EXHAUSTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_are_the_same_for_every_cut_of_the_input),
        cmocka_unit_test(test_metadata_may_come_last_and_items_be_null),
        cmocka_unit_test(test_what_is_no_list_is_refused),
        cmocka_unit_test(test_an_odd_item_is_handed_over_and_hides_no_other),
        cmocka_unit_test(test_an_item_that_the_receiver_refuses_ends_the_list),
        cmocka_unit_test(test_memory_is_bounded_by_one_item),
    };

    return cmocka_run_group_tests_name("list_stream", tests, NULL, NULL);
}
