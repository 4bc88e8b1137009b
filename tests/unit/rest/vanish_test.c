/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that is gone without a word, as when its machine loses power: TCP_USER_TIMEOUT and
 * keepalive find out, long before the deadlines of requests. One that hangs while its kernel goes
 * on is found by the deadlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/http_server.h"
#include "tests/support/tls_server.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/runtime/rest/rest.h"

#define DEAD_AFTER TG_SECOND
#define NEVER (3600 * TG_SECOND) /* deadlines that must not be what ends a request */

struct answer {
    int calls, pieces, status;
    struct tg_error err;
    int64_t at;
};

struct fixture {
    struct tg_loop *loop;
    struct test_server server;
    struct tg_rest *rest;
    struct test_connection *last; /* on which the last request came */
    size_t requests;
};

static int64_t now(void)
{
    return tg_now_monotonic(tg_clock_system());
}

static void handle(void *data, struct test_connection *connection,
                   const struct test_request *request)
{
    struct fixture *f = data;

    f->requests++;
    f->last = connection;
    if (tg_streq(request->path, "/watch")) {
        test_begin(connection, 200);
        test_chunk(connection, "{}\n");
    } else if (tg_streq(request->path, "/answered")) {
        test_reply(connection, 200, "", "yes");
    }
}

static int setup(void **state)
{
    struct fixture *f = tg_xcalloc(1, sizeof(*f));
    struct tg_rest_config config = {.dead_after = DEAD_AFTER};

    f->loop = tg_loop_new(true);
    test_server_start(&f->server, f->loop, handle, f);
    config.base_url = f->server.url;
    f->rest = tg_rest_new(f->loop, &config, NULL);
    assert_non_null(f->rest);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tg_rest_free(f->rest);
    test_server_stop(&f->server);
    tg_loop_free(f->loop);
    free(f);
    return 0;
}

static void on_done(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    struct answer *answer = data;

    answer->calls++;
    answer->status = response->status;
    answer->err = *err;
    answer->at = now();
}

static int on_data(void *data, const char *bytes, size_t n)
{
    struct answer *answer = data;

    (void)bytes;
    (void)n;
    answer->pieces++;
    return 0;
}

static void ask(struct tg_rest *rest, const char *path, int64_t timeout, struct answer *answer)
{
    const struct tg_rest_call call = {
        .path = path, .timeout = timeout, .done = on_done, .data = answer};

    tg_rest_send(rest, &call);
}

static void wait_for(struct tg_loop *loop, const struct answer *answer)
{
    while (answer->calls == 0)
        tg_loop_run_once(loop, true);
}

static void expect_answered(struct fixture *f, size_t connections)
{
    struct answer answer = {0};

    ask(f->rest, "/answered", NEVER, &answer);
    wait_for(f->loop, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_int_equal(answer.status, 200);
    assert_int_equal(f->server.accepted, connections);
}

/* The kernel knows after DEAD_AFTER; probes of an idle connection come once a second. */
static void expect_in_time(const struct answer *answer, int64_t since)
{
    assert_true(answer->at - since >= DEAD_AFTER * 9 / 10);
    assert_true(answer->at - since < 10 * DEAD_AFTER);
}

static void expect_given_up(const struct answer *answer, int64_t since)
{
    assert_int_equal(answer->err.code, TG_UNAVAILABLE);
    assert_true(answer->err.retry);
    expect_in_time(answer, since);
}

/* curl sends again what a connection that it had used before did not carry. */
static void a_request_to_a_peer_that_vanished_goes_again_on_another_connection(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    int64_t since;

    expect_answered(f, 1);
    test_vanish(f->last->io.fd);
    since = now();
    ask(f->rest, "/answered", NEVER, &answer);
    wait_for(f->loop, &answer);
    assert_int_equal(answer.err.code, TG_OK);
    assert_int_equal(answer.status, 200);
    expect_in_time(&answer, since);
    assert_int_equal(f->server.accepted, 2);
    assert_int_equal(f->requests, 2); /* the first sending was never seen */
}

static void a_request_whose_peer_vanishes_before_it_answers_fails(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    int64_t since;

    ask(f->rest, "/never", NEVER, &answer);
    while (f->requests == 0)
        tg_loop_run_once(f->loop, true);
    test_vanish(f->last->io.fd);
    since = now();
    wait_for(f->loop, &answer);
    expect_given_up(&answer, since);
    expect_answered(f, 2);
}

static void a_watch_whose_peer_vanishes_fails_although_it_sends_nothing(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    const struct tg_rest_call call = {.path = "/watch",
                                      .timeout = NEVER,
                                      .idle_timeout = NEVER,
                                      .on_data = on_data,
                                      .done = on_done,
                                      .data = &answer};
    int64_t since;

    tg_rest_send(f->rest, &call);
    while (answer.pieces == 0)
        tg_loop_run_once(f->loop, true);
    test_vanish(f->last->io.fd);
    since = now();
    wait_for(f->loop, &answer);
    expect_given_up(&answer, since);
    expect_answered(f, 2);
}

static void a_machine_that_is_not_there_costs_a_request_its_deadline_at_most(void **state)
{
    struct fixture *f = *state;
    struct answer answer = {0};
    int64_t since = now();

    test_vanish(f->server.fd);
    ask(f->rest, "/answered", 200 * TG_MILLISECOND, &answer);
    wait_for(f->loop, &answer);
    assert_int_equal(answer.err.code, TG_DEADLINE_EXCEEDED);
    assert_true(answer.at - since < 10 * TG_SECOND);
    assert_int_equal(f->server.accepted, 0);
}

/* curl looks up names on a thread of its own. It may be at it when nobody wants to know any more.
 */
static void a_name_that_leads_nowhere_costs_its_deadline_at_most_and_may_be_left(void **state)
{
    struct fixture *f = *state;
    const struct tg_rest_config config = {.base_url = "https://tangram.invalid:6443"};
    struct tg_rest *rest = tg_rest_new(f->loop, &config, NULL);
    struct answer answer = {0}, left = {0};

    assert_non_null(rest);
    ask(rest, "/", 2 * TG_SECOND, &answer);
    wait_for(f->loop, &answer);
    assert_true(answer.err.code == TG_UNAVAILABLE || answer.err.code == TG_DEADLINE_EXCEEDED);
    assert_true(answer.err.retry);
    ask(rest, "/", 2 * TG_SECOND, &left);
    tg_loop_run_once(f->loop, false);
    tg_rest_free(rest);
    assert_int_equal(left.calls, 0);
}

/* The server's kernel acknowledges everything: only the deadline of one request tells, and what
 * shared its fate is given up with it. */
static void a_server_that_hangs_is_given_up_at_a_deadline_with_all_that_waits_for_it(void **state)
{
    struct tls_server server;
    struct tg_loop *loop = tg_loop_new(true);
    struct answer first = {0}, patient = {0}, hasty = {0}, last = {0};
    char one[128];
    struct tg_rest *rest;
    int64_t since;

    (void)state;
    tls_server_start(&server, TEST_SOURCE_DIR);
    tls_server_path(&server, "one.crt", one);
    rest = tg_rest_new(
        loop, &(struct tg_rest_config){.base_url = server.url, .tls = {.ca_file = one}}, NULL);
    assert_non_null(rest);
    ask(rest, "/", NEVER, &first);
    wait_for(loop, &first);
    assert_int_equal(first.status, 200);

    tls_server_hang(&server);
    since = now();
    ask(rest, "/", NEVER, &patient);
    ask(rest, "/", 300 * TG_MILLISECOND, &hasty);
    wait_for(loop, &hasty);
    wait_for(loop, &patient);
    assert_int_equal(hasty.err.code, TG_DEADLINE_EXCEEDED);
    assert_int_equal(patient.err.code, TG_UNAVAILABLE);
    assert_non_null(strstr(patient.err.message, "given up because nothing arrived"));
    assert_true(patient.at - since < 5 * TG_SECOND);

    tls_server_go_on(&server);
    ask(rest, "/", NEVER, &last);
    wait_for(loop, &last);
    assert_int_equal(last.status, 200);
    tg_rest_free(rest);
    tg_loop_free(loop);
    tls_server_stop(&server);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_request_to_a_peer_that_vanished_goes_again_on_another_connection),
        TEST(a_request_whose_peer_vanishes_before_it_answers_fails),
        TEST(a_watch_whose_peer_vanishes_fails_although_it_sends_nothing),
        TEST(a_machine_that_is_not_there_costs_a_request_its_deadline_at_most),
        TEST(a_name_that_leads_nowhere_costs_its_deadline_at_most_and_may_be_left),
        cmocka_unit_test(a_server_that_hangs_is_given_up_at_a_deadline_with_all_that_waits_for_it),
    };
    return cmocka_run_group_tests_name("vanish", tests, NULL, NULL);
}
