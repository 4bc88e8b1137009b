/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/client/informer_state.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

/* An informer without a server: bytes go straight into its watch. */
struct watch {
    struct tg_informer informer;
    char log[512]; /* "+key:version@position", "~", "-"; "! " error about an object, "? " another */
};

static void note(struct watch *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct watch *w, const char *format, ...)
{
    size_t n = strlen(w->log);
    va_list args;

    va_start(args, format);
    vsnprintf(w->log + n, sizeof(w->log) - n, format, args);
    va_end(args);
}

static void on_change(void *data, const struct tg_stored *before, const struct tg_stored *after)
{
    struct watch *w = data;
    const struct tg_stored *one = after != NULL ? after : before;

    note(w, "%c%s:%s@%llu ",
         before == NULL  ? '+'
         : after == NULL ? '-'
                         : '~',
         one->key, one->object->metadata->resource_version,
         (unsigned long long)w->informer.store.position);
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    (void)informer;
    assert_true(err->message[0] != '\0');
    note(data, about != NULL ? "! " : "? ");
}

static void start(struct watch *w, const struct tg_kind *kind)
{
    *w = (struct watch){.informer = {.clock = tg_clock_system(),
                                     .config = {.kind = kind, .on_error = on_error, .data = w},
                                     .line = TG_BUF_INIT(TG_INFORMER_MAX_TEXT),
                                     .error = TG_ERROR_INIT}};
    tg_store_init(&w->informer.store, kind, 1 << 20);
    w->informer.store.on_change = on_change;
    w->informer.store.data = w;
}

static void finish(struct watch *w)
{
    tg_store_done(&w->informer.store);
    tg_buf_done(&w->informer.line);
}

static int feed(struct watch *w, const char *text)
{
    return tg_informer_on_watch_data(&w->informer, text, strlen(text));
}

static void expect(struct watch *w, const char *log)
{
    assert_string_equal(w->log, log);
    w->log[0] = '\0';
}

#define NODE(name, version)                                                                        \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

static void the_place_moves_before_a_change_is_told(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_node);
    assert_int_equal(feed(&w, EVENT("ADDED", NODE("a", "11")) EVENT("MODIFIED", NODE("a", "12"))
                                  EVENT("DELETED", NODE("a", "13"))),
                     0);
    expect(&w, "+a:11@11 ~a:12@12 -a:12@13 ");
    assert_string_equal(w.informer.resource_version, "13");
    assert_int_equal(w.informer.counters.events, 3);
    assert_int_equal(w.informer.watch_events, 3);
    finish(&w);
}

static void a_bookmark_moves_the_place_and_nothing_else(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_node);
    assert_int_equal(
        feed(&w,
             EVENT("BOOKMARK", "{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"40\"}}")),
        0);
    expect(&w, "");
    assert_string_equal(w.informer.resource_version, "40");
    assert_int_equal(w.informer.store.position, 40);
    assert_int_equal(w.informer.store.highest, 40);
    assert_int_equal(w.informer.counters.events, 0);
    assert_int_equal(w.informer.watch_events, 1);
    /* One without a version says nothing. */
    assert_int_equal(feed(&w, EVENT("BOOKMARK", "{\"metadata\":{}}")), 0);
    assert_string_equal(w.informer.resource_version, "40");
    finish(&w);
}

static void old_news_moves_the_place_and_is_not_told(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_node);
    assert_int_equal(feed(&w, EVENT("ADDED", NODE("a", "20")) EVENT("MODIFIED", NODE("a", "15"))),
                     0);
    expect(&w, "+a:20@20 ");
    assert_string_equal(w.informer.resource_version, "15");
    assert_int_equal(w.informer.store.highest, 20);
    assert_int_equal(w.informer.counters.events, 1);
    finish(&w);
}

static void blank_lines_and_carriage_returns_are_nothing(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_node);
    assert_int_equal(
        feed(&w, "\n\r\n  \n{\"type\":\"ADDED\",\"object\":" NODE("a", "11") "} \r\n\n"), 0);
    expect(&w, "+a:11@11 ");
    finish(&w);
}

static void keys_of_namespaced_kinds_have_their_namespace(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_pod);
    assert_int_equal(
        feed(&w, EVENT("ADDED", "{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\",\"uid\":\"u\","
                                "\"resourceVersion\":\"11\"}}")),
        0);
    expect(&w, "+n/a:11@11 ");
    assert_int_not_equal(feed(&w, EVENT("DELETED", NODE("a", "12"))), 0);
    expect(&w, "? ");
    finish(&w);
}

static void what_is_no_event_asks_for_a_list_and_ends_the_watch(void **state)
{
    static const char *const lines[] = {
        "garbage\n",
        "[]\n",
        "{}\n",
        EVENT("PUSHED", NODE("b", "12")),
        "{\"type\":\"ADDED\",\"object\":7}\n",
        EVENT("ADDED", "{\"metadata\":{\"name\":\"b\",\"uid\":\"u\"}}"),
        EVENT("ADDED", "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"12\"}}"),
        EVENT("MODIFIED", "{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"12\"}}"),
        "{\"type\":\"ADDED\",\"type\":\"DELETED\",\"object\":" NODE("a", "12") "}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[1024];
        struct watch w;

        start(&w, &tg_kind_node);
        assert_int_equal(feed(&w, EVENT("ADDED", NODE("a", "11"))), 0);
        snprintf(text, sizeof(text), "%s%s", lines[i], EVENT("DELETED", NODE("a", "13")));
        assert_int_not_equal(feed(&w, text), 0);
        expect(&w, "+a:11@11 ? "); /* what follows is not looked at */
        assert_int_equal(w.informer.error.code, TG_OUT_OF_RANGE);
        assert_string_equal(w.informer.resource_version, "11");
        finish(&w);
    }
}

static void an_object_that_cannot_be_read_moves_the_place_and_stays_there(void **state)
{
    struct watch w;

    (void)state;
    start(&w, &tg_kind_node);
    assert_int_equal(
        feed(&w, EVENT("ADDED", NODE("a", "11")) EVENT(
                     "MODIFIED", "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":"
                                 "\"12\"},\"spec\":7}")),
        0);
    expect(&w, "+a:11@11 ! ~a:11@12 ");
    assert_int_equal(w.informer.counters.decode_errors, 1);
    /* A deletion needs no more than the name. */
    assert_int_equal(
        feed(&w, EVENT("DELETED", "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":"
                                  "\"13\"},\"spec\":7}")),
        0);
    expect(&w, "-a:11@13 ");
    assert_int_equal(tg_index_count(w.informer.store.objects), 0);
    finish(&w);
}

static void an_error_event_has_the_code_of_its_status(void **state)
{
    static const struct {
        const char *object;
        enum tg_code code;
    } cases[] = {
        {"{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}",
         TG_OUT_OF_RANGE},
        {"{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"no\"}",
         TG_PERMISSION_DENIED},
        {"{\"kind\":\"Status\",\"code\":500,\"reason\":\"InternalError\"}", TG_UNAVAILABLE},
        {"{\"kind\":\"Status\",\"code\":200}", TG_UNAVAILABLE},
        {"{\"code\":\"odd\"}", TG_UNAVAILABLE},
        {"{}", TG_UNAVAILABLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        struct watch w;

        start(&w, &tg_kind_node);
        snprintf(text, sizeof(text), "{\"type\":\"ERROR\",\"object\":%s}\n", cases[i].object);
        assert_int_not_equal(feed(&w, text), 0);
        assert_int_equal(w.informer.error.code, cases[i].code);
        assert_non_null(strstr(w.informer.error.message, "watch nodes"));
        /* It is no sign of life: a server that only refuses must not be asked without pause. */
        assert_int_equal(w.informer.watch_events, 0);
        finish(&w);
    }
}

static void an_event_without_end_is_given_up(void **state)
{
    enum { PIECE = 1 << 20 };
    char *piece = tg_xmalloc(PIECE);
    size_t fed = 0;
    struct watch w;

    (void)state;
    memset(piece, ' ', PIECE);
    start(&w, &tg_kind_node);
    while (tg_informer_on_watch_data(&w.informer, piece, PIECE) == 0)
        fed += PIECE;
    assert_true(fed <= TG_INFORMER_MAX_TEXT);
    assert_int_equal(w.informer.error.code, TG_RESOURCE_EXHAUSTED);
    free(piece);
    finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_moves_before_a_change_is_told),
        cmocka_unit_test(a_bookmark_moves_the_place_and_nothing_else),
        cmocka_unit_test(old_news_moves_the_place_and_is_not_told),
        cmocka_unit_test(blank_lines_and_carriage_returns_are_nothing),
        cmocka_unit_test(keys_of_namespaced_kinds_have_their_namespace),
        cmocka_unit_test(what_is_no_event_asks_for_a_list_and_ends_the_watch),
        cmocka_unit_test(an_object_that_cannot_be_read_moves_the_place_and_stays_there),
        cmocka_unit_test(an_error_event_has_the_code_of_its_status),
        cmocka_unit_test(an_event_without_end_is_given_up),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
