/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

enum { WINDOW = 64, MORE = 8 };

static void execute(struct fixture *f, struct tg_unit_state *state, enum tg_write_kind kind,
                    const char *name)
{
    const struct tg_write write = {
        .kind = kind, .namespace_ = "ns", .name = name, .resource_version = "1", .body = "{}"};

    tg_controller_execute(f->controller, state, &write, 1);
}

static void execute_pods(struct fixture *f, struct tg_unit_state *state, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *name = tg_xasprintf("p%zu", i);

        execute(f, state, TG_WRITE_POD, name);
        free(name);
    }
}

static void answer_all(struct fixture *f)
{
    while (f->n > 0)
        test_reply(fixture_take(f, 0), 200, "", OBJECT("x", "2000"));
}

static void only_so_many_writes_are_in_flight_and_the_others_follow_in_order(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute_pods(f, f->state, WINDOW + MORE);
    fixture_wait_calls(f, WINDOW);
    fixture_settle(f);
    assert_int_equal(f->n, WINDOW);
    assert_int_equal(f->controller->operations, WINDOW);
    assert_int_equal(f->state->in_flight, WINDOW + MORE);
    for (size_t i = 0; i < MORE; i++) {
        char *path = tg_xasprintf(POD_PATH "p%zu", WINDOW + i);

        test_reply(fixture_take(f, 0), 200, "", OBJECT("x", "2000"));
        fixture_wait_calls(f, WINDOW);
        assert_string_equal(f->calls[WINDOW - 1].path, path);
        free(path);
    }
    assert_false(f->state->returned);
    answer_all(f);
    fixture_returned(f);
    assert_int_equal(f->controller->operations, 0);
    assert_int_equal(f->controller->writes, WINDOW + MORE);
}

/* The gates of what was begun first are removed before others are begun. */
static void the_unit_that_began_first_goes_first(void **state)
{
    static const char *const order[] = {"a", "gate-1", "gate-2", "b", "c", "d"};
    struct fixture *f = *state;
    struct tg_unit_state *second, *third;

    fixture_start(f, "");
    second = tg_controller_state(f->controller, "second");
    third = tg_controller_state(f->controller, "third");
    fixture_freeze(f, 0); /* nothing may be sent yet */
    execute(f, f->state, TG_WRITE_POD, "a");
    execute(f, second, TG_WRITE_POD, "b");
    execute(f, third, TG_WRITE_POD, "d");
    execute(f, f->state, TG_WRITE_POD, "gate-1");
    execute(f, f->state, TG_WRITE_POD, "gate-2");
    execute(f, second, TG_WRITE_POD, "c");
    f->controller->window.size = 1;
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    tg_controller_start_waiting(f->controller);
    for (size_t i = 0; i < TG_ARRAY_SIZE(order); i++) {
        TG_AUTOFREE char *path = tg_xasprintf(POD_PATH "%s", order[i]);

        f->controller->window.answered = SIZE_MAX; /* one more is 0: it stays that narrow */
        test_reply(fixture_expect(f, "PATCH", path), 200, "", OBJECT("x", "2000"));
    }
    fixture_returned(f);
    assert_null(f->controller->first_waiting);
    /* The end of the queue is known: one more comes through. */
    execute(f, third, TG_WRITE_POD, "e");
    fixture_expect(f, "PATCH", POD_PATH "e");
}

/* All that were in flight are late together: once for a request's time. */
static void a_late_answer_halves_the_window_and_answers_widen_it(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, f->state, TG_WRITE_POD, "p");
    fixture_lose_answer(fixture_expect(f, "PATCH", POD_PATH "p"));
    fixture_lose_answer(fixture_expect(f, "PATCH", POD_PATH "p"));
    test_reply(fixture_expect(f, "PATCH", POD_PATH "p"), 200, "", OBJECT("p", "2000"));
    fixture_returned(f);
    assert_int_equal(f->controller->window.size, WINDOW / 2);
    f->state->returned = false;
    execute_pods(f, f->state, WINDOW);
    fixture_wait_calls(f, WINDOW / 2);
    fixture_settle(f);
    assert_int_equal(f->controller->operations, WINDOW / 2);
    while (!f->state->returned) {
        answer_all(f);
        tg_loop_run_once(f->loop, true);
    }
    /* 1 + 64 answers: one more after 32 of them, another one after 33 more. */
    assert_int_equal(f->controller->window.size, WINDOW / 2 + 2);
}

static void nothing_is_sent_that_the_lease_might_not_outlast(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    fixture_freeze(f, tg_controller_write_timeout(f->controller));
    assert_false(tg_controller_may_write(f->controller));
    execute(f, f->state, TG_WRITE_POD, "p");
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    assert_int_equal(f->state->in_flight, 1);
    /* It is looked at again by itself. */
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    test_reply(fixture_expect(f, "PATCH", POD_PATH "p"), 200, "", OBJECT("p", "2000"));
    fixture_returned(f);
}

static void a_request_ends_before_anybody_else_can_lead(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "delays: {lease: 9s, request: 1s}\n");
    assert_int_equal(tg_controller_write_timeout(f->controller), TG_SECOND);
}

static void a_long_deadline_is_cut_to_what_the_lease_allows(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "delays: {lease: 9s, request: 60s}\n");
    assert_int_equal(tg_controller_write_timeout(f->controller), 3 * TG_SECOND);
}

static void waiting_writes_of_a_unit_are_forgotten_but_what_takes_back(void **state)
{
    struct fixture *f = *state;
    struct tg_unit_state *other;

    fixture_start(f, "");
    other = tg_controller_state(f->controller, "other");
    fixture_freeze(f, 0);
    execute(f, f->state, TG_WRITE_POD, "gate");
    execute(f, other, TG_WRITE_POD, "others");
    execute(f, f->state, TG_WRITE_CLAIM_CLEAR, "back");
    execute(f, f->state, TG_WRITE_CLAIM_EPOCH, "fence");
    execute(f, f->state, TG_WRITE_CLAIM_ALLOCATE, "more");
    tg_controller_drop_waiting(f->controller, f->state);
    assert_int_equal(f->state->in_flight, 2);
    assert_int_equal(other->in_flight, 1);
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    tg_controller_start_waiting(f->controller);
    fixture_wait_calls(f, 3);
    fixture_find(f, "PATCH", POD_PATH "others");
    test_reply(f->last.connection, 200, "", OBJECT("others", "2000"));
    fixture_find(f, "PATCH", CLAIM_PATH "back/status");
    test_reply(f->last.connection, 200, "", OBJECT("back", "2000"));
    test_reply(fixture_find(f, "GET", CLAIM_PATH "fence?resourceVersion=1"), 404, "",
               STATUS(404, "NotFound"));
    fixture_returned(f);
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    assert_int_equal(other->in_flight, 0);
}

static void a_unit_whose_only_writes_were_forgotten_has_them_back(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    fixture_freeze(f, 0);
    execute(f, f->state, TG_WRITE_POD, "a");
    execute(f, f->state, TG_WRITE_POD, "b");
    tg_controller_drop_waiting(f->controller, f->state);
    assert_int_equal(f->state->in_flight, 0);
    assert_true(f->state->returned);
    assert_null(f->controller->first_waiting);
    /* The queue is as it was: one more comes through. */
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    execute(f, f->state, TG_WRITE_POD, "c");
    fixture_expect(f, "PATCH", POD_PATH "c");
}

/* --- the end --------------------------------------------------------------------------------- */

static void on_drained(void *data)
{
    (*(unsigned *)data)++;
}

static void stopping_waits_for_what_is_in_flight_and_sends_nothing_new(void **state)
{
    struct fixture *f = *state;
    unsigned drained = 0;

    fixture_start(f, "");
    execute_pods(f, f->state, WINDOW + MORE);
    fixture_wait_calls(f, WINDOW);
    tg_controller_stop(f->controller, on_drained, &drained);
    assert_int_equal(f->state->in_flight, WINDOW);
    while (f->n > 1)
        test_reply(fixture_take(f, 0), 200, "", OBJECT("x", "2000"));
    while (f->state->in_flight > 1)
        tg_loop_run_once(f->loop, true);
    fixture_settle(f);
    assert_int_equal(f->n, 1);
    assert_int_equal(drained, 0);
    answer_all(f);
    fixture_returned(f);
    assert_int_equal(drained, 1);
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    assert_int_equal(drained, 1);
}

static void stopping_with_nothing_in_flight_is_over_at_once(void **state)
{
    struct fixture *f = *state;
    unsigned drained = 0;

    fixture_start(f, "");
    fixture_freeze(f, 0);
    execute(f, f->state, TG_WRITE_POD, "p");
    tg_controller_stop(f->controller, on_drained, &drained);
    assert_int_equal(drained, 1);
    assert_int_equal(f->state->in_flight, 0);
}

/* It may still arrive: giving the lease away before it did would let it meet the writes of a
 * successor. */
static void a_write_whose_answer_was_lost_is_awaited_while_stopping(void **state)
{
    struct fixture *f = *state;
    unsigned drained = 0;

    fixture_start(f, "");
    execute(f, f->state, TG_WRITE_POD, "p");
    fixture_lose_answer(fixture_expect(f, "PATCH", POD_PATH "p"));
    fixture_settle(f);
    tg_controller_stop(f->controller, on_drained, &drained);
    fixture_settle(f);
    assert_int_equal(drained, 0);
    test_reply(fixture_expect(f, "PATCH", POD_PATH "p"), 200, "", OBJECT("p", "2000"));
    fixture_returned(f);
    assert_int_equal(drained, 1);
}

/* The lease is then kept, and whoever comes next waits until it has run out. */
static void a_loop_whose_last_answer_does_not_come_is_stopped_without_draining(void **state)
{
    struct fixture *f = *state;
    unsigned drained = 0;

    fixture_start(f, "delays: {lease: 3s, request: 300ms}\n");
    execute(f, f->state, TG_WRITE_POD, "p");
    fixture_expect(f, "PATCH", POD_PATH "p");
    tg_controller_stop(f->controller, on_drained, &drained);
    tg_loop_run(f->loop);
    assert_int_equal(drained, 0);
    assert_int_equal(f->controller->operations, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(only_so_many_writes_are_in_flight_and_the_others_follow_in_order),
        TEST(the_unit_that_began_first_goes_first),
        TEST(a_late_answer_halves_the_window_and_answers_widen_it),
        TEST(nothing_is_sent_that_the_lease_might_not_outlast),
        TEST(a_request_ends_before_anybody_else_can_lead),
        TEST(a_long_deadline_is_cut_to_what_the_lease_allows),
        TEST(waiting_writes_of_a_unit_are_forgotten_but_what_takes_back),
        TEST(a_unit_whose_only_writes_were_forgotten_has_them_back),
        TEST(stopping_waits_for_what_is_in_flight_and_sends_nothing_new),
        TEST(stopping_with_nothing_in_flight_is_over_at_once),
        TEST(a_write_whose_answer_was_lost_is_awaited_while_stopping),
        TEST(a_loop_whose_last_answer_does_not_come_is_stopped_without_draining),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
