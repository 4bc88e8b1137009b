/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_client/watched.h"

#include "tests/support/promtool.h"

#include "api/kubernetes/client/events.h"

struct measured {
    struct watched w;
    struct tg_metrics *metrics;
    struct tg_buf out;
};

static void begin(struct measured *m)
{
    m->metrics = tg_metrics_new();
    tg_buf_init(&m->out, 1 << 20);
    fixture_init(&m->w.f, NULL);
    tg_kube_client_measure(m->w.f.client, m->metrics, "main");
}

static void end(struct measured *m)
{
    fixture_done(&m->w.f);
    tg_metrics_free(m->metrics);
    tg_buf_done(&m->out);
}

static void expect_metric(struct measured *m, const char *line)
{
    char whole[256];

    snprintf(whole, sizeof(whole), "\n%s\n", line);
    tg_buf_clear(&m->out);
    tg_metrics_write(m->metrics, &m->out);
    if (strstr(tg_buf_str(&m->out), whole) == NULL)
        fail_msg("not found: %s\n%s", line, tg_buf_str(&m->out));
}

static void ignore(void *data, const struct tg_kube_result *result)
{
    (void)result;
    ++*(int *)data;
}

static void requests_are_counted_by_code_and_method(void **state)
{
    struct measured m = {0};
    int calls = 0;
    const struct tg_kube_call get = {
        .target = {.kind = &tg_kind_node, .name = "n"}, .done = ignore, .data = &calls};
    struct tg_kube_call patch = get;

    (void)state;
    begin(&m);
    patch.method = TG_REST_PATCH;
    patch.body = "{}";
    patch.body_len = 2;
    tg_kube_send(m.w.f.client, &get);
    expect_metric(&m, "tangram_client_requests_in_flight{client=\"main\"} 1");
    test_reply(fixture_next(&m.w.f), 200, "", "{}");
    tg_kube_send(m.w.f.client, &patch);
    test_reply(fixture_next(&m.w.f), 409, "", "{}");
    tg_kube_send(m.w.f.client, &patch);
    test_connection_close(fixture_next(&m.w.f));
    while (calls < 3)
        tg_loop_run_once(m.w.f.loop, true);
    expect_metric(&m, "rest_client_requests_total{code=\"200\",method=\"GET\"} 1");
    expect_metric(&m, "rest_client_requests_total{code=\"409\",method=\"PATCH\"} 1");
    expect_metric(&m, "rest_client_requests_total{code=\"<error>\",method=\"PATCH\"} 1");
    expect_metric(&m, "rest_client_request_duration_seconds_count{verb=\"PATCH\"} 2");
    end(&m);
}

/* Lists, events, answers and lost places of one informer. */
static void an_informer_tells_what_it_does(void **state)
{
    struct measured m = {0};
    struct watched *w = &m.w;
    struct test_connection *watch;
    const char *answer = NODE("a", "ua", "12");

    (void)state;
    begin(&m);
    w->informer =
        tg_informer_new(w->f.client, &(struct tg_informer_config){.kind = &tg_kind_node,
                                                                  .backoff = 2 * TG_MILLISECOND,
                                                                  .watch_timeout = 300 * TG_SECOND,
                                                                  .on_change = on_change,
                                                                  .on_synced = on_synced,
                                                                  .on_error = on_error,
                                                                  .data = w});
    expect_metric(&m, "tangram_informer_synced{informer=\"nodes\"} 0");
    expect_metric(&m, "tangram_informer_relists_total{informer=\"nodes\"} 0");
    watch = sync_to(w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    test_chunk(watch, EVENT("ADDED", NODE("b", "ub", "11")));
    expect_log(w, "+a:5 = +b:11 ");
    expect_metric(&m, "tangram_informer_synced{informer=\"nodes\"} 1");
    expect_metric(&m, "tangram_informer_objects{informer=\"nodes\"} 2");
    expect_metric(&m, "tangram_informer_events_total{informer=\"nodes\"} 1");
    expect_metric(&m, "tangram_informer_list_duration_seconds_count{informer=\"nodes\"} 1");
    expect_metric(&m, "rest_client_request_duration_seconds_count{verb=\"LIST\"} 1");

    tg_fake_clock_advance(&w->f.clock, 7 * TG_SECOND);
    expect_metric(&m, "tangram_informer_silence_seconds{informer=\"nodes\"} 7");
    assert_int_equal(tg_informer_apply(w->informer, answer, strlen(answer), NULL), 0);
    tg_fake_clock_advance(&w->f.clock, 2 * TG_SECOND);
    test_chunk(watch, EVENT("MODIFIED", NODE("a", "ua", "12")));
    test_chunk(watch, EVENT("ERROR", STATUS(410, "Expired")));
    fixture_expect(&w->f, "GET", LIST_PATH);
    expect_metric(&m, "tangram_informer_lag_seconds_sum{informer=\"nodes\"} 2");
    expect_metric(&m, "tangram_informer_relists_total{informer=\"nodes\"} 1");
    expect_metric(&m, "tangram_informer_failures_total{informer=\"nodes\"} 1");
    expect_metric(&m, "tangram_informer_silence_seconds{informer=\"nodes\"} 0");
    assert_true(promtool_accepts(TEST_SOURCE_DIR, tg_buf_str(&m.out)));
    assert_true(metrics_are_documented(TEST_SOURCE_DIR, tg_buf_str(&m.out)));
    tg_informer_free(w->informer);
    end(&m);
}

static void events_tell_what_became_of_them(void **state)
{
    struct measured m = {0};
    struct tg_events *events;
    const struct tg_object_meta about = {.name = "n", .uid = "u"};

    (void)state;
    begin(&m);
    events = tg_events_new(m.w.f.client, "tester", "one");
    tg_events_record(events, &tg_kind_node, &about, "Normal", "Reason", "first");
    test_reply(fixture_next(&m.w.f), 201, "", "{}");
    fixture_settle(&m.w.f);
    tg_events_record(events, &tg_kind_node, &about, "Normal", "Reason", "second");
    expect_metric(&m, "tangram_events_recorded_total 2");
    expect_metric(&m, "tangram_events_written_total 1");
    expect_metric(&m, "tangram_events_waiting 1");
    assert_true(promtool_accepts(TEST_SOURCE_DIR, tg_buf_str(&m.out)));
    assert_true(metrics_are_documented(TEST_SOURCE_DIR, tg_buf_str(&m.out)));
    tg_events_free(events);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_counted_by_code_and_method),
        cmocka_unit_test(an_informer_tells_what_it_does),
        cmocka_unit_test(events_tell_what_became_of_them),
    };
    return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
