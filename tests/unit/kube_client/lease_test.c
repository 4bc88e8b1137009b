/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_client/fixture.h"

#define PATH "/apis/coordination.k8s.io/v1/namespaces/tangram-system/leases"
#define ONE PATH "/controller"

struct election {
    struct fixture f;
    struct tg_elector *elector;
    char log[256]; /* "leading:EPOCH " and "lost:CODE " */
    bool free_when_lost;
    int released;
};

static void on_leading(void *data, uint64_t epoch)
{
    struct election *e = data;
    size_t n = strlen(e->log);

    snprintf(e->log + n, sizeof(e->log) - n, "leading:%llu ", (unsigned long long)epoch);
}

static void on_lost(void *data, const struct tg_error *why)
{
    struct election *e = data;
    size_t n = strlen(e->log);

    snprintf(e->log + n, sizeof(e->log) - n, "lost:%s ", tg_code_name(why->code));
    if (e->free_when_lost) {
        tg_elector_free(e->elector);
        e->elector = NULL;
    }
}

static void on_released(void *data)
{
    struct election *e = data;

    e->released++;
}

static void start(struct election *e)
{
    const struct tg_elector_config config = {.namespace_ = "tangram-system",
                                             .name = "controller",
                                             .identity = "me",
                                             .epoch_annotation = "tangram.dev/epoch",
                                             .duration = 15 * TG_SECOND,
                                             .on_leading = on_leading,
                                             .on_lost = on_lost,
                                             .data = e};

    memset(e, 0, sizeof(*e));
    fixture_init(&e->f, NULL);
    e->elector = tg_elector_new(e->f.client, &config);
}

static void finish(struct election *e)
{
    tg_elector_free(e->elector);
    fixture_done(&e->f);
}

/* A lease as the server shows it. */
static const char *lease(const char *version, const char *holder, const char *renewed, int seconds,
                         const char *epoch)
{
    static char text[1024];

    snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"name\":\"controller\",\"resourceVersion\":\"%s\",\"annotations\":{"
        "\"tangram.dev/epoch\":\"%s\"}},\"spec\":{\"holderIdentity\":\"%s\",\"renewTime\":\"%s\","
        "\"leaseDurationSeconds\":%d,\"leaseTransitions\":4}}",
        version, epoch, holder, renewed, seconds);
    return text;
}

static void move(struct election *e, int64_t by)
{
    tg_fake_clock_advance(&e->f.clock, by);
    tg_elector_tick(e->elector);
}

static void settle(struct election *e, const char *log)
{
    while (strlen(e->log) < strlen(log))
        tg_loop_run_once(e->f.loop, true);
    fixture_settle(&e->f);
    assert_string_equal(e->log, log);
    e->log[0] = '\0';
}

/* Leads with epoch 8 after the lease was free at epoch 7. */
static void lead(struct election *e)
{
    start(e);
    test_reply(fixture_expect(&e->f, "GET", ONE), 200, "", lease("10", "", "t0", 15, "7"));
    test_reply(fixture_expect(&e->f, "PATCH", ONE), 200, "", lease("11", "me", "t1", 15, "8"));
    settle(e, "leading:8 ");
}

/* Half of an answer: without a byte of it, curl would send the request again by itself. */
static void lose_answer(struct test_connection *connection)
{
    static const char half[] = "HTTP/1.1 200 X\r\nContent-Le";

    test_send(connection, half, sizeof(half) - 1);
    test_connection_close(connection);
}

static bool body_has(const struct election *e, const char *part)
{
    return strstr(e->f.last.body, part) != NULL;
}

static void an_absent_lease_is_created_with_the_first_epoch(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    assert_false(tg_elector_leading(e.elector));
    test_reply(fixture_expect(&e.f, "GET", ONE), 404, "", "{}");
    test_reply(fixture_expect(&e.f, "POST", PATH), 201, "", lease("3", "me", "t", 15, "1"));
    assert_true(body_has(&e, "\"kind\":\"Lease\""));
    assert_true(body_has(&e, "\"name\":\"controller\""));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"1\""));
    assert_true(body_has(&e, "\"holderIdentity\":\"me\""));
    assert_true(body_has(&e, "\"leaseDurationSeconds\":15"));
    assert_true(body_has(&e, "\"renewTime\":\"2025-"));
    settle(&e, "leading:1 ");
    assert_true(tg_elector_leading(e.elector));
    assert_int_equal(tg_elector_epoch(e.elector), 1);
    finish(&e);
}

static void a_free_lease_is_taken_with_a_higher_epoch_in_the_same_write(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "", "t0", 15, "7"));
    struct test_connection *write = fixture_expect(&e.f, "PATCH", ONE);
    assert_true(body_has(&e, "\"resourceVersion\":\"10\""));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"8\""));
    assert_true(body_has(&e, "\"leaseTransitions\":5"));
    assert_non_null(strstr(e.f.last.headers, TG_KUBE_MERGE_PATCH));
    /* It counts from when the request was sent, not from when the answer came. */
    int64_t sent = e.f.clock.monotonic_now;
    tg_fake_clock_advance(&e.f.clock, 2 * TG_SECOND);
    test_reply(write, 200, "", lease("11", "me", "t1", 15, "8"));
    settle(&e, "leading:8 ");
    assert_true(tg_elector_valid_until(e.elector) == sent + 15 * TG_SECOND);
    finish(&e);
}

static void a_lease_that_somebody_keeps_renewing_is_never_taken(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    for (int i = 0; i < 5; i++) {
        char renewed[16];
        snprintf(renewed, sizeof(renewed), "t%d", i);
        test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "you", renewed, 15, "7"));
        fixture_settle(&e.f);
        move(&e, 14 * TG_SECOND);
    }
    assert_string_equal(e.log, "");
    finish(&e);
}

static void a_lease_that_did_not_change_for_its_duration_is_taken(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    /* The holder promised 20 s; its time of renewal, by a clock of its own, says nothing. */
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "",
               lease("10", "you", "1970-01-01T00:00:00Z", 20, "7"));
    fixture_settle(&e.f);
    move(&e, 19 * TG_SECOND);
    /* Somebody's annotation in between is no renewal. */
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "",
               lease("12", "you", "1970-01-01T00:00:00Z", 20, "7"));
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    move(&e, TG_SECOND);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("13", "me", "t", 15, "8"));
    assert_true(body_has(&e, "\"resourceVersion\":\"12\""));
    settle(&e, "leading:8 ");
    finish(&e);
}

static void a_lease_of_an_earlier_life_of_ours_is_taken_at_once_with_a_new_epoch(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "me", "t0", 15, "7"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("11", "me", "t1", 15, "8"));
    assert_true(body_has(&e, "\"leaseTransitions\":4"));
    settle(&e, "leading:8 ");
    finish(&e);
}

static void a_race_for_the_lease_has_one_winner(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "", "t0", 15, "7"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 409, "", "{\"reason\":\"Conflict\"}");
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    move(&e, 3 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("11", "you", "t1", 15, "8"));
    fixture_settle(&e.f);
    assert_string_equal(e.log, "");
    assert_false(tg_elector_leading(e.elector));
    finish(&e);
}

static void it_is_renewed_every_third_with_the_version_last_seen(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 4 * TG_SECOND);
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    int64_t sent = e.f.clock.monotonic_now + TG_SECOND;
    move(&e, TG_SECOND);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("12", "me", "t2", 15, "8"));
    assert_true(body_has(&e, "\"resourceVersion\":\"11\""));
    assert_false(body_has(&e, "acquireTime"));
    assert_false(body_has(&e, "epoch"));
    fixture_settle(&e.f);
    assert_true(tg_elector_valid_until(e.elector) == sent + 15 * TG_SECOND);
    move(&e, 5 * TG_SECOND);
    fixture_expect(&e.f, "PATCH", ONE);
    assert_true(body_has(&e, "\"resourceVersion\":\"12\""));
    assert_string_equal(e.log, "");
    finish(&e);
}

static void without_renewal_leadership_ends_at_two_thirds_even_before_a_timer_says_so(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    tg_fake_clock_advance(&e.f.clock, 10 * TG_SECOND - 1);
    assert_true(tg_elector_leading(e.elector));
    tg_fake_clock_advance(&e.f.clock, 1);
    assert_false(tg_elector_leading(e.elector));
    assert_string_equal(e.log, "");
    tg_elector_tick(e.elector);
    settle(&e, "lost:DEADLINE_EXCEEDED ");
    assert_true(tg_elector_valid_until(e.elector) == 0);
    finish(&e);
}

static void a_renewal_under_way_does_not_delay_the_end(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 5 * TG_SECOND);
    fixture_expect(&e.f, "PATCH", ONE); /* done by the server, its answer not waited for */
    move(&e, 5 * TG_SECOND);
    settle(&e, "lost:DEADLINE_EXCEEDED ");
    /* It is still ours on the server: taken again, but as a new reign. */
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("12", "me", "t2", 15, "8"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("13", "me", "t3", 15, "9"));
    settle(&e, "leading:9 ");
    finish(&e);
}

static void a_renewal_whose_answer_was_lost_is_read_and_goes_on(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 5 * TG_SECOND);
    lose_answer(fixture_expect(&e.f, "PATCH", ONE));
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("12", "me", "t2", 15, "8"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("13", "me", "t3", 15, "8"));
    assert_true(body_has(&e, "\"resourceVersion\":\"12\""));
    fixture_settle(&e.f);
    assert_string_equal(e.log, "");
    assert_true(tg_elector_leading(e.elector));
    finish(&e);
}

static void an_acquisition_whose_answer_was_lost_is_no_leadership_until_it_is_repeated(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "", "t0", 15, "7"));
    lose_answer(fixture_expect(&e.f, "PATCH", ONE));
    fixture_settle(&e.f);
    assert_false(tg_elector_leading(e.elector));
    move(&e, 3 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("11", "me", "t1", 15, "8"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("12", "me", "t2", 15, "9"));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"9\""));
    settle(&e, "leading:9 ");
    finish(&e);
}

static void a_lease_taken_by_another_ends_leadership_at_once(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 5 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 409, "", "{\"reason\":\"Conflict\"}");
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("20", "you", "t5", 15, "9"));
    settle(&e, "lost:ABORTED ");
    assert_false(tg_elector_leading(e.elector));
    finish(&e);
}

static void a_deleted_lease_ends_leadership_and_is_made_again_with_a_higher_epoch(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 5 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 404, "", "{\"reason\":\"NotFound\"}");
    test_reply(fixture_expect(&e.f, "GET", ONE), 404, "", "{\"reason\":\"NotFound\"}");
    settle(&e, "lost:NOT_FOUND ");
    move(&e, 3 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "GET", ONE), 404, "", "{\"reason\":\"NotFound\"}");
    test_reply(fixture_expect(&e.f, "POST", PATH), 201, "", lease("30", "me", "t6", 15, "9"));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"9\""));
    settle(&e, "leading:9 ");
    finish(&e);
}

static void an_epoch_that_is_none_does_not_set_ours_back(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    move(&e, 5 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "",
               lease("12", "me", "t2", 15, "nonsense"));
    fixture_settle(&e.f);
    move(&e, 10 * TG_SECOND);
    settle(&e, "lost:DEADLINE_EXCEEDED ");
    move(&e, 3 * TG_SECOND);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "",
               lease("12", "me", "t2", 15, "18446744073709551615"));
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("13", "me", "t3", 15, "9"));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"9\""));
    settle(&e, "leading:9 ");
    finish(&e);
}

static void a_higher_epoch_is_written_by_a_leader_that_has_seen_it_elsewhere(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    tg_elector_raise(e.elector, 7); /* not above ours */
    tg_elector_raise(e.elector, UINT64_MAX);
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    tg_elector_raise(e.elector, 41);
    assert_int_equal(tg_elector_epoch(e.elector), 8);
    struct test_connection *write = fixture_expect(&e.f, "PATCH", ONE);
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"42\""));
    assert_true(body_has(&e, "\"leaseTransitions\":4"));
    test_reply(write, 200, "", lease("12", "me", "t2", 15, "42"));
    settle(&e, "leading:42 ");
    assert_int_equal(tg_elector_epoch(e.elector), 42);
    assert_true(tg_elector_leading(e.elector));
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    finish(&e);
}

/* Its holder notices only at its next renewal. */
static void
a_lease_that_was_deleted_under_its_holder_is_waited_out_before_it_is_made_anew(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "you", "t0", 15, "7"));
    fixture_settle(&e.f);
    for (int i = 0; i < 14; i++) {
        move(&e, TG_SECOND);
        test_reply(fixture_expect(&e.f, "GET", ONE), 404, "", "{\"reason\":\"NotFound\"}");
        fixture_settle(&e.f);
        assert_int_equal(e.f.n, 0);
    }
    move(&e, TG_SECOND);
    test_reply(fixture_expect(&e.f, "GET", ONE), 404, "", "{\"reason\":\"NotFound\"}");
    test_reply(fixture_expect(&e.f, "POST", PATH), 201, "", lease("30", "me", "t6", 15, "8"));
    assert_true(body_has(&e, "\"tangram.dev/epoch\":\"8\""));
    settle(&e, "leading:8 ");
    finish(&e);
}

/* What it sees late it takes late. */
static void a_standby_looks_twice_a_second(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    for (int i = 0; i < 4; i++) {
        test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "you", "t0", 15, "7"));
        fixture_settle(&e.f);
        move(&e, TG_SECOND / 2 - 1);
        fixture_settle(&e.f);
        assert_int_equal(e.f.n, 0);
        move(&e, 1);
    }
    fixture_expect(&e.f, "GET", ONE);
    finish(&e);
}

static void the_elector_may_be_freed_when_it_loses(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    e.free_when_lost = true;
    move(&e, 11 * TG_SECOND);
    settle(&e, "lost:DEADLINE_EXCEEDED ");
    finish(&e);
}

static void releasing_empties_the_holder_and_ends_leadership_at_once(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    tg_elector_release(e.elector, on_released, &e);
    assert_false(tg_elector_leading(e.elector));
    assert_int_equal(e.released, 0);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 200, "", lease("12", "", "t2", 1, "8"));
    assert_true(body_has(&e, "\"holderIdentity\":null"));
    assert_true(body_has(&e, "\"leaseDurationSeconds\":1"));
    while (e.released == 0)
        tg_loop_run_once(e.f.loop, true);
    fixture_settle(&e.f);
    assert_int_equal(e.released, 1);
    assert_string_equal(e.log, "");
    assert_int_equal(e.f.n, 0);
    finish(&e);
}

static void releasing_after_a_conflict_reads_and_leaves_the_lease_of_another(void **state)
{
    struct election e;

    (void)state;
    lead(&e);
    tg_elector_release(e.elector, on_released, &e);
    test_reply(fixture_expect(&e.f, "PATCH", ONE), 409, "", "{\"reason\":\"Conflict\"}");
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("20", "you", "t5", 15, "9"));
    while (e.released == 0)
        tg_loop_run_once(e.f.loop, true);
    fixture_settle(&e.f);
    assert_int_equal(e.f.n, 0);
    finish(&e);
}

static void a_standby_that_releases_is_done_without_a_write(void **state)
{
    struct election e;

    (void)state;
    start(&e);
    test_reply(fixture_expect(&e.f, "GET", ONE), 200, "", lease("10", "you", "t0", 15, "7"));
    fixture_settle(&e.f);
    tg_elector_release(e.elector, on_released, &e);
    while (e.released == 0)
        tg_loop_run_once(e.f.loop, true);
    assert_int_equal(e.f.n, 0);
    finish(&e);
}

static void releasing_does_not_wait_for_a_dead_server(void **state)
{
    const struct tg_clock *clock = tg_clock_system();
    int64_t before = tg_now_monotonic(clock);
    struct election e;

    (void)state;
    lead(&e);
    tg_elector_release(e.elector, on_released, &e);
    fixture_expect(&e.f, "PATCH", ONE); /* never answered */
    while (e.released == 0)
        tg_loop_run_once(e.f.loop, true);
    assert_in_range(tg_now_monotonic(clock) - before, 1900 * TG_MILLISECOND, 20 * TG_SECOND);
    finish(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_lease_is_created_with_the_first_epoch),
        cmocka_unit_test(a_free_lease_is_taken_with_a_higher_epoch_in_the_same_write),
        cmocka_unit_test(a_lease_that_somebody_keeps_renewing_is_never_taken),
        cmocka_unit_test(a_lease_that_did_not_change_for_its_duration_is_taken),
        cmocka_unit_test(a_lease_of_an_earlier_life_of_ours_is_taken_at_once_with_a_new_epoch),
        cmocka_unit_test(a_race_for_the_lease_has_one_winner),
        cmocka_unit_test(it_is_renewed_every_third_with_the_version_last_seen),
        cmocka_unit_test(without_renewal_leadership_ends_at_two_thirds_even_before_a_timer_says_so),
        cmocka_unit_test(a_renewal_under_way_does_not_delay_the_end),
        cmocka_unit_test(a_renewal_whose_answer_was_lost_is_read_and_goes_on),
        cmocka_unit_test(
            an_acquisition_whose_answer_was_lost_is_no_leadership_until_it_is_repeated),
        cmocka_unit_test(a_lease_taken_by_another_ends_leadership_at_once),
        cmocka_unit_test(a_deleted_lease_ends_leadership_and_is_made_again_with_a_higher_epoch),
        cmocka_unit_test(an_epoch_that_is_none_does_not_set_ours_back),
        cmocka_unit_test(a_higher_epoch_is_written_by_a_leader_that_has_seen_it_elsewhere),
        cmocka_unit_test(
            a_lease_that_was_deleted_under_its_holder_is_waited_out_before_it_is_made_anew),
        cmocka_unit_test(a_standby_looks_twice_a_second),
        cmocka_unit_test(the_elector_may_be_freed_when_it_loses),
        cmocka_unit_test(releasing_empties_the_holder_and_ends_leadership_at_once),
        cmocka_unit_test(releasing_after_a_conflict_reads_and_leaves_the_lease_of_another),
        cmocka_unit_test(a_standby_that_releases_is_done_without_a_write),
        cmocka_unit_test(releasing_does_not_wait_for_a_dead_server),
    };
    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
