/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_client/watched.h"

static void pages_become_one_snapshot_and_the_watch_begins_at_its_version(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("10", "c/1=", NODE("a", "ua", "5") "," NODE("b", "ub", "7")));
    struct test_connection *second = fixture_expect(&w.f, "GET", LIST_PATH "&continue=c%2F1%3D");
    assert_string_equal(w.log, ""); /* nothing is told before the list is complete */
    assert_false(tg_informer_synced(w.informer));
    test_reply(second, 200, "", LIST("10", "", NODE("c", "uc", "9")));
    fixture_expect(&w.f, "GET", WATCH_PATH("10"));
    expect_log(&w, "+a:5 +b:7 +c:9 = ");
    assert_int_equal(tg_informer_count(w.informer), 3);
    finish(&w);
}

static void selectors_and_namespace_go_with_list_and_watch(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.kind = &tg_kind_pod,
                                           .namespace_ = "team-a",
                                           .field_selector = "spec.nodeName=n 1",
                                           .label_selector = "a in (b,c)"});
    test_reply(fixture_expect(&w.f, "GET",
                              "/api/v1/namespaces/team-a/pods?limit=500&fieldSelector=spec.nodeName"
                              "%3Dn%201&labelSelector=a%20in%20%28b%2Cc%29"),
               200, "", LIST("10", "", ""));
    fixture_expect(
        &w.f, "GET",
        "/api/v1/namespaces/team-a/pods?watch=1&allowWatchBookmarks=true&resourceVersion="
        "10&timeoutSeconds=300&fieldSelector=spec.nodeName%3Dn%201&labelSelector=a%20in%20"
        "%28b%2Cc%29");
    expect_log(&w, "= ");
    finish(&w);
}

static void watch_events_change_the_store_in_order(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch =
        sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    test_chunk(watch,
               EVENT("ADDED", NODE("b", "ub", "11")) EVENT("MODIFIED", NODE("a", "ua", "12")));
    test_chunk(watch, EVENT("DELETED", NODE("b", "ub", "13")));
    expect_log(&w, "+a:5 = +b:11 ~a:12 -b:11 ");
    assert_int_equal(tg_informer_count(w.informer), 1);
    assert_int_equal(tg_informer_counters(w.informer).events, 3);
    finish(&w);
}

static void a_line_may_arrive_in_any_pieces(void **state)
{
    static const char text[] =
        EVENT("ADDED", NODE("b", "ub", "11")) "\n" EVENT("ADDED", NODE("c", "uc", "12"));
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(&w, LIST("10", "", ""), WATCH_PATH("10"));
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        char piece[2] = {text[i], '\0'};
        test_chunk(watch, piece);
        tg_loop_run_once(w.f.loop, false);
    }
    expect_log(&w, "= +b:11 +c:12 ");
    finish(&w);
}

static void a_cut_watch_resumes_after_the_last_event_and_half_a_line_is_nothing(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(&w, LIST("10", "", ""), WATCH_PATH("10"));
    test_chunk(watch,
               EVENT("ADDED", NODE("b", "ub", "11")) "{\"type\":\"DELETED\",\"object\":{\"met");
    test_connection_close(watch);
    watch = fixture_expect(&w.f, "GET", WATCH_PATH("11"));
    test_begin(watch, 200);
    test_chunk(watch, EVENT("MODIFIED", NODE("b", "ub", "12")));
    expect_log(&w, "= +b:11 ~b:12 ");
    assert_int_equal(tg_informer_counters(w.informer).reconnects, 1);
    assert_int_equal(tg_informer_counters(w.informer).relists, 0);
    finish(&w);
}

static void a_watch_that_ends_cleanly_resumes_from_its_bookmark(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(&w, LIST("10", "", ""), WATCH_PATH("10"));
    test_chunk(watch,
               EVENT("BOOKMARK", "{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"40\"}}"));
    test_end(watch);
    fixture_expect(&w.f, "GET", WATCH_PATH("40"));
    expect_log(&w, "= ");
    assert_int_equal(tg_informer_counters(w.informer).events, 0);
    finish(&w);
}

static void after_gone_the_difference_is_told_and_nothing_else(bool as_event)
{
    struct watched w;

    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch =
        sync_to(&w,
                LIST("10", "",
                     NODE("a", "ua", "5") "," NODE("b", "ub", "6") "," NODE(
                         "c", "uc", "7") "," NODE("e", "ue", "8")),
                WATCH_PATH("10"));
    expect_log(&w, "+a:5 +b:6 +c:7 +e:8 = ");
    if (as_event) {
        test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
    } else {
        test_connection_close(watch);
        test_reply(fixture_expect(&w.f, "GET", WATCH_PATH("10")), 410, "", STATUS(410, "Expired"));
    }
    /* a is unchanged, b changed, c was deleted, d is new, e was deleted and made again. */
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("90", "",
                    NODE("a", "ua", "5") "," NODE("b", "ub", "60") "," NODE(
                        "d", "ud", "70") "," NODE("e", "ux", "80")));
    fixture_expect(&w.f, "GET", WATCH_PATH("90"));
    expect_log(&w, "! -c:7 ~b:60 +d:70 -e:8 +e:80 ");
    assert_int_equal(w.error.code, TG_OUT_OF_RANGE);
    assert_int_equal(tg_informer_counters(w.informer).relists, 1);
    finish(&w);
}

static void gone_as_an_event_relists_without_inventing_or_losing_anything(void **state)
{
    (void)state;
    after_gone_the_difference_is_told_and_nothing_else(true);
}

static void gone_as_a_status_relists_without_inventing_or_losing_anything(void **state)
{
    (void)state;
    after_gone_the_difference_is_told_and_nothing_else(false);
}

static void a_snapshot_lost_between_pages_is_listed_again_in_one_piece(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("10", "more", NODE("a", "ua", "5")));
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH "&continue=more"), 410, "",
               STATUS(410, "Expired"));
    test_reply(fixture_expect(&w.f, "GET", "/api/v1/nodes?limit=0"), 200, "",
               LIST("20", "", NODE("b", "ub", "15")));
    fixture_expect(&w.f, "GET", WATCH_PATH("20"));
    expect_log(&w, "! +b:15 = "); /* a was in the lost half only */
    finish(&w);
}

static void a_list_cut_in_the_middle_tells_nothing_and_is_tried_again(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *list = fixture_expect(&w.f, "GET", LIST_PATH);
    test_begin(list, 200);
    test_chunk(list,
               "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" NODE("a", "ua", "5") ",");
    fixture_settle(&w.f);
    test_connection_close(list);
    list = fixture_expect(&w.f, "GET", LIST_PATH);
    assert_string_equal(w.log, "! ");
    test_reply(list, 200, "", LIST("12", "", NODE("b", "ub", "11")));
    fixture_expect(&w.f, "GET", WATCH_PATH("12"));
    expect_log(&w, "! +b:11 = ");
    finish(&w);
}

static void a_page_that_trickles_for_ever_is_given_up_and_asked_for_again(void **state)
{
    struct watched w;
    struct test_connection *page;

    (void)state;
    start(&w, &(struct tg_informer_config){.page_timeout = 100 * TG_MILLISECOND});
    page = fixture_expect(&w.f, "GET", LIST_PATH);
    test_begin(page, 200);
    test_chunk(page, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[");
    while (w.log[0] == '\0') { /* never silent, never done */
        test_chunk(page, " ");
        tg_loop_run_once(w.f.loop, true);
    }
    assert_non_null(strstr(w.error.message, "not complete within 100 ms"));
    assert_int_equal(w.error.code, TG_UNAVAILABLE);
    w.log[0] = '\0';
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("11", "", NODE("a", "ua", "5")));
    expect_log(&w, "+a:5 = ");
    finish(&w);
}

static void an_answer_that_is_no_list_is_an_error(void **state)
{
    static const char *const answers[] = {"",      "[]", "{}", "{\"items\":[]}", "{\"items\":[1]}",
                                          "<html>"};
    struct watched w;

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        start(&w, &(struct tg_informer_config){0});
        test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "", answers[i]);
        test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "", LIST("3", "", ""));
        fixture_expect(&w.f, "GET", WATCH_PATH("3"));
        expect_log(&w, "! = ");
        finish(&w);
    }
}

static void failures_back_off_and_retry_after_is_heeded(void **state)
{
    const struct tg_clock *clock = tg_clock_system();
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.backoff = 20 * TG_MILLISECOND});
    struct test_connection *list = fixture_expect(&w.f, "GET", LIST_PATH);
    int64_t before = tg_now_monotonic(clock);
    test_reply(list, 503, "", STATUS(503, "ServiceUnavailable"));
    list = fixture_expect(&w.f, "GET", LIST_PATH);
    assert_true(tg_now_monotonic(clock) - before >= 20 * TG_MILLISECOND);
    before = tg_now_monotonic(clock);
    test_reply(list, 500, "", "");
    list = fixture_expect(&w.f, "GET", LIST_PATH);
    assert_true(tg_now_monotonic(clock) - before >= 40 * TG_MILLISECOND);
    before = tg_now_monotonic(clock);
    test_reply(list, 429, "Retry-After: 1\r\n", STATUS(429, "TooManyRequests"));
    fixture_expect(&w.f, "GET", LIST_PATH);
    assert_true(tg_now_monotonic(clock) - before >= TG_SECOND);
    assert_string_equal(w.log, "! ! ! ");
    assert_int_equal(w.error.code, TG_RESOURCE_EXHAUSTED);
    finish(&w);
}

static void a_server_that_ends_every_watch_at_once_is_not_asked_without_pause(void **state)
{
    const struct tg_clock *clock = tg_clock_system();
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.backoff = 10 * TG_MILLISECOND});
    struct test_connection *watch = sync_to(&w, LIST("10", "", ""), WATCH_PATH("10"));
    int64_t before = tg_now_monotonic(clock);
    for (int i = 0; i < 3; i++) {
        test_end(watch);
        watch = fixture_expect(&w.f, "GET", WATCH_PATH("10"));
        test_begin(watch, 200);
    }
    assert_true(tg_now_monotonic(clock) - before >= (10 + 20 + 40) * TG_MILLISECOND);
    finish(&w);
}

static void a_watch_open_longer_than_asked_for_is_cut_and_resumed(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.watch_timeout = 400 * TG_MILLISECOND});
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "", LIST("10", "", ""));
    struct test_connection *watch = fixture_next(&w.f);
    assert_non_null(strstr(w.f.last.path, "timeoutSeconds=1"));
    test_begin(watch, 200);
    test_chunk(watch, EVENT("ADDED", NODE("a", "ua", "11"))); /* and then never ends */
    fixture_next(&w.f);
    assert_non_null(strstr(w.f.last.path, "resourceVersion=11"));
    expect_log(&w, "= +a:11 ");
    finish(&w);
}

static void a_watch_silent_for_longer_than_allowed_is_resumed(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.watch_idle = 300 * TG_MILLISECOND});
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "", LIST("10", "", ""));
    struct test_connection *watch = fixture_next(&w.f);
    test_begin(watch, 200);
    test_chunk(watch, EVENT("ADDED", NODE("a", "ua", "11"))); /* and then not even a bookmark */
    fixture_next(&w.f);
    assert_non_null(strstr(w.f.last.path, "resourceVersion=11"));
    expect_log(&w, "= +a:11 ");
    finish(&w);
}

static void a_watch_in_the_future_of_a_restored_server_leads_to_a_list(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(
        &w, LIST("100", "", NODE("a", "ua", "50") "," NODE("b", "ub", "60")), WATCH_PATH("100"));
    test_connection_close(watch);
    test_reply(fixture_expect(&w.f, "GET", WATCH_PATH("100")), 504, "",
               "{\"message\":\"Too large resource version: 100, current: 30\",\"code\":504}");
    /* The backup knows a as it once was, and not b: its word counts although its numbers are lower.
     */
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("30", "", NODE("a", "ua", "20")));
    watch = fixture_expect(&w.f, "GET", WATCH_PATH("30"));
    test_begin(watch, 200);
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "31")));
    expect_log(&w, "+a:50 +b:60 = ! -b:60 ~a:20 ~a:31 ");
    finish(&w);
}

#define ODD_NODE(name, uid, version)                                                               \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version "\"" \
    "},\"spec\":\"odd\"}"

static const struct tg_stored *get(const struct watched *w, const char *name)
{
    return tg_informer_get(w->informer, NULL, name);
}

static void an_object_that_cannot_be_read_is_there_all_the_same_and_hides_no_other(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(
        &w, LIST("10", "", ODD_NODE("o", "uo", "4") "," NODE("a", "ua", "5")), WATCH_PATH("10"));
    expect_log(&w, "! +o:4 +a:5 = ");
    assert_string_equal(w.about, "o uo:4");
    assert_non_null(strstr(w.error.message, "Node o, resourceVersion 4, cannot be read: spec: "));
    assert_non_null(get(&w, "o")->stale);
    assert_null(get(&w, "a")->stale);
    /* What was good before stays as it was, and is marked. */
    test_chunk(watch, EVENT("MODIFIED", ODD_NODE("a", "ua", "11")));
    expect_log(&w, "! ~a:5 ");
    assert_string_equal(w.about, "a ua:11");
    assert_non_null(strstr(get(&w, "a")->stale, "spec: expected an object, found a string"));
    assert_int_equal(get(&w, "a")->version, 11);
    /* Late news of what it was before that. */
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "9")));
    test_chunk(watch, EVENT("ADDED", ODD_NODE("n", "un", "12")));
    expect_log(&w, "! +n:12 ");
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "13")));
    test_chunk(watch, EVENT("DELETED", ODD_NODE("n", "un", "14")));
    expect_log(&w, "~a:13 -n:12 ");
    assert_null(get(&w, "a")->stale);
    assert_int_equal(tg_informer_counters(w.informer).decode_errors, 3);
    finish(&w);
}

static void a_list_with_what_cannot_be_read_neither_deletes_nor_repeats_it(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(
        &w, LIST("10", "", NODE("a", "ua", "5") "," NODE("b", "ub", "6")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 +b:6 = ");
    for (int i = 0; i < 2; i++) {
        test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
        test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
                   LIST("20", "", ODD_NODE("a", "ua", "11") "," ODD_NODE("b", "ux", "12")));
        watch = fixture_expect(&w.f, "GET", WATCH_PATH("20"));
        test_begin(watch, 200);
        /* b was deleted and made again: nothing of the first is the second's. */
        expect_log(&w, i == 0 ? "! ! ! ~a:5 -b:6 +b:12 " : "! ! ! ");
    }
    assert_non_null(get(&w, "a")->stale);
    /* Mended by hand in a backup: the good version counts again. */
    test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
               LIST("19", "", NODE("a", "ua", "5") "," NODE("b", "ux", "13")));
    watch = fixture_expect(&w.f, "GET", WATCH_PATH("19"));
    expect_log(&w, "! ~a:5 ~b:13 ");
    assert_null(get(&w, "a")->stale);
    finish(&w);
}

/* A list shows one version that cannot be read after another, with its own version or without
 * numbers to compare. */
static void another_version_that_cannot_be_read_is_a_change(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(
        &w, LIST("10", "", NODE("a", "ua", "5") "," NODE("x", "ux", "x1")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 +x:x1 = ");
    for (int i = 0; i < 2; i++) {
        test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
        test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
                   i == 0
                       ? LIST("20", "", ODD_NODE("a", "ua", "11") "," NODE("x", "ux", "x1"))
                       : LIST("20", "", ODD_NODE("a", "ua", "12") "," ODD_NODE("x", "ux", "x2")));
        watch = fixture_expect(&w.f, "GET", WATCH_PATH("20"));
        test_begin(watch, 200);
        expect_log(&w, i == 0 ? "! ! ~a:5 " : "! ! ! ~a:5 ~x:x1 ");
    }
    assert_int_equal(get(&w, "a")->version, 12);
    assert_non_null(get(&w, "x")->stale);
    finish(&w);
}

static void an_object_without_a_name_is_reported_and_hides_no_other(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    sync_to(&w, LIST("10", "", "{\"metadata\":{\"name\":7}}," NODE("a", "ua", "5") ",{}"),
            WATCH_PATH("10"));
    expect_log(&w, "! ! +a:5 = ");
    assert_string_equal(w.about, " :");
    finish(&w);
}

static void an_answer_that_cannot_be_read_is_an_error_and_leaves_a_mark(void **state)
{
    struct watched w;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 = ");
    assert_int_equal(tg_informer_apply(w.informer, ODD_NODE("a", "ua", "12"),
                                       strlen(ODD_NODE("a", "ua", "12")), &err),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "spec"));
    assert_string_equal(w.log, "~a:5 ");
    assert_non_null(get(&w, "a")->stale);
    finish(&w);
}

static void what_is_odd_inside_an_object_is_nobodys_business(void **state)
{
    struct tg_buf odd = TG_BUF_INIT(1 << 20);
    struct tg_buf text = TG_BUF_INIT(1 << 20);
    struct watched w;

    (void)state;
    /* Whoever may create a claim can put this into its opaque parameters. */
    tg_buf_append_str(&odd,
                      "{\"metadata\":{\"name\":\"o\",\"uid\":\"uo\",\"resourceVersion\":\"11\"},"
                      "\"spec\":{\"unschedulable\":true,\"a\":{\"b\":{\"c\":\"\xff\",\"c\":");
    for (int i = 0; i < 10000; i++)
        tg_buf_append_char(&odd, '[');
    for (int i = 0; i < 10000; i++)
        tg_buf_append_char(&odd, ']');
    tg_buf_append_str(&odd, "}}}}");
    start(&w, &(struct tg_informer_config){0});
    tg_buf_printf(&text, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[%s,%s]}",
                  tg_buf_str(&odd), NODE("a", "ua", "5"));
    struct test_connection *watch = sync_to(&w, tg_buf_str(&text), WATCH_PATH("10"));
    /* The API server holds it, and what we need of it is in order. */
    expect_log(&w, "+o:11 +a:5 = ");
    test_chunk(watch, EVENT("DELETED", NODE("o", "uo", "12")));
    tg_buf_clear(&text);
    tg_buf_printf(&text, EVENT("ADDED", "%s"), tg_buf_str(&odd));
    test_chunk(watch, tg_buf_str(&text));
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "12")));
    expect_log(&w, "-o:11 +o:11 ~a:12 ");
    assert_true(
        ((const struct tg_node *)(const void *)get(&w, "o")->object)->spec->unschedulable.value);
    tg_buf_clear(&text);
    tg_buf_printf(&text, EVENT("DELETED", "%s"), tg_buf_str(&odd));
    test_chunk(watch, tg_buf_str(&text));
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "13")));
    expect_log(&w, "-o:11 ~a:13 ");
    assert_int_equal(tg_informer_counters(w.informer).relists, 0);
    assert_int_equal(tg_informer_counters(w.informer).decode_errors, 0);
    tg_buf_done(&odd);
    tg_buf_done(&text);
    finish(&w);
}

static void a_huge_object_is_reported_and_hides_no_other(void **state)
{
    struct watched w;
    struct tg_buf list = TG_BUF_INIT(8 << 20);

    (void)state;
    start(&w, &(struct tg_informer_config){.max_object = 1000});
    tg_buf_append_str(
        &list, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" NODE(
                   "a", "ua",
                   "5") ",{\"metadata\":{\"name\":\"big\",\"uid\":\"x\",\"resourceVersion\":\"4\"},"
                        "\"text\":\"");
    for (int i = 0; i < 1000; i++)
        tg_buf_append_str(&list, "0123456789");
    tg_buf_append_str(&list, "\"}," NODE("b", "ub", "6") "]}");
    test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "", tg_buf_str(&list));
    fixture_expect(&w.f, "GET", WATCH_PATH("10"));
    expect_log(&w, "! +a:5 +big:4 +b:6 = ");
    assert_int_equal(w.error.code, TG_RESOURCE_EXHAUSTED);
    assert_non_null(get(&w, "big")->stale);
    tg_buf_done(&list);
    finish(&w);
}

static void an_event_that_cannot_be_read_leads_to_a_list(void **state)
{
    static const char *const lines[] = {
        "garbage\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"PUSHED\",\"object\":{}}\n",
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{}}}\n",
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":[]}}\n",
    };
    struct watched w;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        start(&w, &(struct tg_informer_config){0});
        struct test_connection *watch =
            sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
        test_chunk(watch, lines[i]);
        test_reply(fixture_expect(&w.f, "GET", LIST_PATH), 200, "",
                   LIST("20", "", NODE("a", "ua", "5")));
        fixture_expect(&w.f, "GET", WATCH_PATH("20"));
        expect_log(&w, "+a:5 = ! ! ");
        finish(&w);
    }
}

static int apply(struct watched *w, const char *json)
{
    return tg_informer_apply(w->informer, json, strlen(json), NULL);
}

static void an_answer_to_a_write_enters_at_once_and_its_event_is_no_second_one(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch =
        sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 = ");
    assert_int_equal(apply(&w, NODE("a", "ua", "12")), 0);
    assert_int_equal(apply(&w, NODE("n", "un", "13")), 0);
    assert_string_equal(w.log, "~a:12 +n:13 ");
    w.log[0] = '\0';
    /* 11 is somebody's earlier write, whose event comes after our answer. */
    test_chunk(watch,
               EVENT("MODIFIED", NODE("a", "ua", "11")) EVENT("MODIFIED", NODE("a", "ua", "12"))
                   EVENT("ADDED", NODE("n", "un", "13")) EVENT("MODIFIED", NODE("a", "ua", "14")));
    expect_log(&w, "~a:14 ");
    assert_int_equal(apply(&w, "{}"), -TG_INVALID_ARGUMENT);
    finish(&w);
}

static void an_old_answer_does_not_bring_a_deleted_object_back(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch =
        sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 = ");
    w.apply_on_delete = NODE("a", "ua", "12");
    test_chunk(watch, EVENT("DELETED", NODE("a", "ua", "13")));
    expect_log(&w, "-a:5 ");
    assert_int_equal(apply(&w, NODE("a", "ua", "12")), 0);
    assert_string_equal(w.log, "");
    /* The same name again is another object. */
    w.apply_on_delete = NULL;
    assert_int_equal(apply(&w, NODE("a", "uz", "15")), 0);
    assert_string_equal(w.log, "+a:15 ");
    finish(&w);
}

static void a_list_older_than_an_answer_neither_undoes_nor_deletes_it(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch =
        sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
    struct test_connection *list = fixture_expect(&w.f, "GET", LIST_PATH);
    expect_log(&w, "+a:5 = ! ");
    /* The snapshot was taken at 20; our writes happened after, their answers come before the list.
     */
    assert_int_equal(apply(&w, NODE("a", "ua", "21")), 0);
    assert_int_equal(apply(&w, NODE("n", "un", "22")), 0);
    test_reply(list, 200, "", LIST("20", "", NODE("a", "ua", "5")));
    watch = fixture_expect(&w.f, "GET", WATCH_PATH("20"));
    test_begin(watch, 200);
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "21")) EVENT("ADDED", NODE("n", "un", "22"))
                          EVENT("DELETED", NODE("n", "un", "23")));
    expect_log(&w, "~a:21 +n:22 -n:22 ");
    finish(&w);
}

static void a_reference_keeps_an_object_alive_after_it_left_the_store(void **state)
{
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){.kind = &tg_kind_node});
    struct test_connection *watch =
        sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    expect_log(&w, "+a:5 = ");
    struct tg_stored *kept =
        tg_stored_ref((struct tg_stored *)(uintptr_t)tg_informer_get(w.informer, NULL, "a"));
    test_chunk(watch, EVENT("DELETED", NODE("a", "ua", "13")));
    expect_log(&w, "-a:5 ");
    assert_null(tg_informer_get(w.informer, NULL, "a"));
    assert_string_equal(kept->object->metadata->uid, "ua");
    tg_stored_unref(kept);
    tg_stored_unref(NULL);
    finish(&w);
}

static bool visit(void *data, const struct tg_stored *stored)
{
    char *names = data;

    names[strlen(names)] = stored->key[0];
    return strlen(names) < 3;
}

static void objects_are_visited_in_the_order_of_their_first_arrival(void **state)
{
    char names[8] = "";
    struct watched w;

    (void)state;
    start(&w, &(struct tg_informer_config){0});
    struct test_connection *watch = sync_to(
        &w, LIST("10", "", NODE("d", "ud", "5") "," NODE("a", "ua", "6") "," NODE("c", "uc", "7")),
        WATCH_PATH("10"));
    test_chunk(watch,
               EVENT("MODIFIED", NODE("d", "ud", "11")) EVENT("ADDED", NODE("b", "ub", "12")));
    expect_log(&w, "+d:5 +a:6 +c:7 = ~d:11 +b:12 ");
    tg_informer_each(w.informer, visit, names);
    assert_string_equal(names, "dac"); /* stops when told to */
    finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_become_one_snapshot_and_the_watch_begins_at_its_version),
        cmocka_unit_test(selectors_and_namespace_go_with_list_and_watch),
        cmocka_unit_test(watch_events_change_the_store_in_order),
        cmocka_unit_test(a_line_may_arrive_in_any_pieces),
        cmocka_unit_test(a_cut_watch_resumes_after_the_last_event_and_half_a_line_is_nothing),
        cmocka_unit_test(a_watch_that_ends_cleanly_resumes_from_its_bookmark),
        cmocka_unit_test(gone_as_an_event_relists_without_inventing_or_losing_anything),
        cmocka_unit_test(gone_as_a_status_relists_without_inventing_or_losing_anything),
        cmocka_unit_test(a_snapshot_lost_between_pages_is_listed_again_in_one_piece),
        cmocka_unit_test(a_list_cut_in_the_middle_tells_nothing_and_is_tried_again),
        cmocka_unit_test(a_page_that_trickles_for_ever_is_given_up_and_asked_for_again),
        cmocka_unit_test(an_answer_that_is_no_list_is_an_error),
        cmocka_unit_test(failures_back_off_and_retry_after_is_heeded),
        cmocka_unit_test(a_server_that_ends_every_watch_at_once_is_not_asked_without_pause),
        cmocka_unit_test(a_watch_open_longer_than_asked_for_is_cut_and_resumed),
        cmocka_unit_test(a_watch_silent_for_longer_than_allowed_is_resumed),
        cmocka_unit_test(a_watch_in_the_future_of_a_restored_server_leads_to_a_list),
        cmocka_unit_test(an_object_that_cannot_be_read_is_there_all_the_same_and_hides_no_other),
        cmocka_unit_test(a_list_with_what_cannot_be_read_neither_deletes_nor_repeats_it),
        cmocka_unit_test(another_version_that_cannot_be_read_is_a_change),
        cmocka_unit_test(an_object_without_a_name_is_reported_and_hides_no_other),
        cmocka_unit_test(an_answer_that_cannot_be_read_is_an_error_and_leaves_a_mark),
        cmocka_unit_test(what_is_odd_inside_an_object_is_nobodys_business),
        cmocka_unit_test(a_huge_object_is_reported_and_hides_no_other),
        cmocka_unit_test(an_event_that_cannot_be_read_leads_to_a_list),
        cmocka_unit_test(an_answer_to_a_write_enters_at_once_and_its_event_is_no_second_one),
        cmocka_unit_test(an_old_answer_does_not_bring_a_deleted_object_back),
        cmocka_unit_test(a_list_older_than_an_answer_neither_undoes_nor_deletes_it),
        cmocka_unit_test(a_reference_keeps_an_object_alive_after_it_left_the_store),
        cmocka_unit_test(objects_are_visited_in_the_order_of_their_first_arrival),
    };
    return cmocka_run_group_tests_name("informer", tests, NULL, NULL);
}
