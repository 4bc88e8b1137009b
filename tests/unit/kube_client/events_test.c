/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_client/fixture.h"

#include "api/kubernetes/client/events.h"

#define PATH "/api/v1/namespaces/team-a/events"

struct recorder {
    struct fixture f;
    struct tg_events *events;
};

static const struct tg_object_meta claim = {
    .name = "claim-1", .namespace_ = "team-a", .uid = "u-1", .resource_version = "7"};

static void start(struct recorder *r)
{
    fixture_init(&r->f, NULL);
    r->events = tg_events_new(r->f.client, "tangram-controller", "pod-0");
}

static void finish(struct recorder *r)
{
    tg_events_free(r->events);
    fixture_done(&r->f);
}

static void record(struct recorder *r, const char *message)
{
    tg_events_record(r->events, &tg_kind_resource_claim, &claim, "Warning", "Waiting", message);
}

static void move(struct recorder *r, int64_t by)
{
    tg_fake_clock_advance(&r->f.clock, by);
    tg_events_pump(r->events);
    fixture_settle(&r->f);
}

static bool body_has(const struct recorder *r, const char *part)
{
    return strstr(r->f.last.body, part) != NULL;
}

static void answer(struct recorder *r, const char *method, int status)
{
    struct test_connection *connection = fixture_next(&r->f);

    assert_string_equal(r->f.last.method, method);
    test_reply(connection, status, "", "{}");
    fixture_settle(&r->f);
}

static void an_event_names_object_reason_and_reporter(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "no node has \"8\" GPUs");
    assert_int_equal(r.f.n, 0);
    answer(&r, "POST", 201);
    assert_string_equal(r.f.last.path, PATH);
    assert_true(body_has(&r,
                         "\"involvedObject\":{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":"
                         "\"ResourceClaim\",\"namespace\":\"team-a\",\"name\":\"claim-1\",\"uid\":"
                         "\"u-1\"}"));
    assert_true(body_has(&r, "\"name\":\"claim-1."));
    assert_true(body_has(&r,
                         "\"type\":\"Warning\",\"reason\":\"Waiting\",\"message\":\"no node has "
                         "\\\"8\\\" GPUs\""));
    assert_true(body_has(&r, "\"reportingComponent\":\"tangram-controller\",\"reportingInstance\":"
                             "\"pod-0\""));
    assert_true(body_has(&r, "\"count\":1"));
    assert_true(body_has(&r, "\"firstTimestamp\":\"2025-11-30T07:35:00Z\""));
    assert_int_equal(tg_events_counters(r.events).written, 1);
    finish(&r);
}

static void an_event_about_a_cluster_scoped_object_goes_to_default(void **state)
{
    const struct tg_object_meta node = {.name = "n1", .uid = "u"};
    struct recorder r;

    (void)state;
    start(&r);
    tg_events_record(r.events, &tg_kind_node, &node, "Normal", "Seen", "hello");
    answer(&r, "POST", 201);
    assert_string_equal(r.f.last.path, "/api/v1/namespaces/default/events");
    assert_true(
        body_has(&r, "\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\""));
    finish(&r);
}

static void repetitions_raise_the_count_by_one_patch_a_minute(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "same");
    answer(&r, "POST", 201);
    for (int i = 0; i < 59; i++) {
        record(&r, "same");
        move(&r, TG_SECOND);
        assert_int_equal(r.f.n, 0);
    }
    move(&r, TG_SECOND);
    answer(&r, "PATCH", 200);
    assert_true(tg_has_prefix(r.f.last.path, PATH "/claim-1."));
    assert_true(body_has(&r, "\"count\":60"));
    assert_false(body_has(&r, "firstTimestamp"));
    assert_true(body_has(&r, "\"lastTimestamp\":\"2025-11-30T07:36:00Z\""));
    record(&r, "same");
    move(&r, 59 * TG_SECOND);
    assert_int_equal(r.f.n, 0);
    move(&r, TG_SECOND);
    answer(&r, "PATCH", 200);
    assert_true(body_has(&r, "\"count\":61"));
    finish(&r);
}

static void after_ten_minutes_the_same_message_is_a_new_event(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "same");
    answer(&r, "POST", 201);
    move(&r, 600 * TG_SECOND);
    record(&r, "same");
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"count\":1"));
    finish(&r);
}

static void of_changing_messages_the_newest_is_written_every_five_seconds(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "first");
    answer(&r, "POST", 201);
    record(&r, "second");
    move(&r, 4 * TG_SECOND);
    assert_int_equal(r.f.n, 0);
    record(&r, "third");
    move(&r, TG_SECOND);
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"message\":\"third\""));
    assert_int_equal(r.f.n, 0);
    finish(&r);
}

static void a_message_that_returns_to_what_is_written_is_no_news(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "first");
    answer(&r, "POST", 201);
    record(&r, "second");
    record(&r, "first");
    move(&r, 59 * TG_SECOND);
    assert_int_equal(r.f.n, 0);
    move(&r, TG_SECOND);
    answer(&r, "PATCH", 200);
    assert_true(body_has(&r, "\"count\":2"));
    assert_int_equal(r.f.n, 0);
    finish(&r);
}

static void a_message_that_changes_while_its_event_is_written_is_not_lost(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "first");
    struct test_connection *connection = fixture_next(&r.f);
    record(&r, "second");
    test_reply(connection, 201, "", "{}");
    fixture_settle(&r.f);
    move(&r, 5 * TG_SECOND);
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"message\":\"second\""));
    finish(&r);
}

static void an_expired_event_is_written_anew(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "same");
    answer(&r, "POST", 201);
    record(&r, "same");
    move(&r, 60 * TG_SECOND);
    answer(&r, "PATCH", 404);
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"message\":\"same\""));
    finish(&r);
}

static void a_failed_event_is_tried_three_times_under_one_name_and_given_up(void **state)
{
    struct recorder r;
    char name[2][256];

    (void)state;
    start(&r);
    record(&r, "same");
    for (int i = 0; i < 3; i++) {
        answer(&r, "POST", 503);
        snprintf(name[i > 0], sizeof(name[0]), "%.60s",
                 strstr(r.f.last.body, "\"name\":\"claim-1."));
        if (i > 0)
            assert_string_equal(name[0], name[1]);
        move(&r, 9 * TG_SECOND);
        assert_int_equal(r.f.n, 0);
        move(&r, TG_SECOND);
    }
    assert_int_equal(r.f.n, 0);
    assert_int_equal(tg_events_counters(r.events).failed, 3);
    assert_int_equal(tg_events_counters(r.events).dropped, 1);
    finish(&r);
}

static void a_refused_event_is_given_up_at_once(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record(&r, "same");
    answer(&r, "POST", 403);
    move(&r, 60 * TG_SECOND);
    assert_int_equal(r.f.n, 0);
    assert_int_equal(tg_events_counters(r.events).dropped, 1);
    finish(&r);
}

static void record_many(struct recorder *r, int from, int to)
{
    for (int i = from; i < to; i++) {
        char name[32];
        const struct tg_object_meta about = {.name = name, .namespace_ = "team-a", .uid = name};
        snprintf(name, sizeof(name), "claim-%d", i);
        tg_events_record(r->events, &tg_kind_resource_claim, &about, "Normal", "R", "m");
    }
}

static void a_full_queue_drops_the_oldest_and_few_requests_run_at_once(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    record_many(&r, 0, 300); /* 4 are sent, 256 wait */
    fixture_settle(&r.f);
    assert_int_equal(r.f.n, 4);
    assert_int_equal(tg_events_counters(r.events).dropped, 300 - 4 - 256);
    for (int i = 0; i < 4; i++)
        answer(&r, "POST", 201);
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"name\":\"claim-44\"")); /* 4..43 were dropped */
    for (int i = 1; i < 256; i++)
        answer(&r, "POST", 201);
    assert_int_equal(r.f.n, 0);
    assert_int_equal(tg_events_counters(r.events).written, 260);
    finish(&r);
}

static void what_is_remembered_is_bounded(void **state)
{
    struct recorder r;

    (void)state;
    start(&r);
    for (int i = 0; i < 3000; i += 4) {
        record_many(&r, i, i + 4);
        for (int k = 0; k < 4; k++)
            answer(&r, "POST", 201);
    }
    /* The first was forgotten: it is a new event and no higher count; the last is still known. */
    record_many(&r, 0, 1);
    record_many(&r, 2999, 3000);
    fixture_settle(&r.f);
    assert_int_equal(r.f.n, 1);
    answer(&r, "POST", 201);
    assert_true(body_has(&r, "\"name\":\"claim-0\""));
    finish(&r);
}

static void long_names_and_messages_are_cut_at_whole_characters(void **state)
{
    char name[254];
    char message[2000];
    const struct tg_object_meta about = {.name = name, .namespace_ = "team-a", .uid = "u"};
    struct recorder r;

    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[235] = '.'; /* would stand before the dot of the suffix */
    name[sizeof(name) - 1] = '\0';
    memset(message, 'm', sizeof(message) - 1);
    memcpy(message + 1023, "\xc3\xa9", 2); /* its second byte is the 1025th */
    message[sizeof(message) - 1] = '\0';
    start(&r);
    tg_events_record(r.events, &tg_kind_resource_claim, &about, "Normal", "R", message);
    answer(&r, "POST", 201);
    const char *begin = strstr(r.f.last.body, "\"message\":\"") + strlen("\"message\":\"");
    assert_int_equal(strchr(begin, '"') - begin, 1023);
    begin = strstr(r.f.last.body, "\"name\":\"") + strlen("\"name\":\"");
    assert_in_range(strchr(begin, '"') - begin, 200, 253);
    assert_null(memmem(begin, 253, "..", 2));
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_names_object_reason_and_reporter),
        cmocka_unit_test(an_event_about_a_cluster_scoped_object_goes_to_default),
        cmocka_unit_test(repetitions_raise_the_count_by_one_patch_a_minute),
        cmocka_unit_test(after_ten_minutes_the_same_message_is_a_new_event),
        cmocka_unit_test(of_changing_messages_the_newest_is_written_every_five_seconds),
        cmocka_unit_test(a_message_that_returns_to_what_is_written_is_no_news),
        cmocka_unit_test(a_message_that_changes_while_its_event_is_written_is_not_lost),
        cmocka_unit_test(an_expired_event_is_written_anew),
        cmocka_unit_test(a_failed_event_is_tried_three_times_under_one_name_and_given_up),
        cmocka_unit_test(a_refused_event_is_given_up_at_once),
        cmocka_unit_test(a_full_queue_drops_the_oldest_and_few_requests_run_at_once),
        cmocka_unit_test(what_is_remembered_is_bounded),
        cmocka_unit_test(long_names_and_messages_are_cut_at_whole_characters),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
