/* SPDX-License-Identifier: Apache-2.0 */
/* An API server that is gone without a word: the informer finds out by itself and misses nothing.
 */
#include "tests/unit/kube_client/watched.h"

#include "api/runtime/base/clock.h"

static void a_watch_on_a_vanished_server_goes_on_with_another_and_misses_nothing(void **state)
{
    const struct tg_kube_config server = {.dead_after = TG_SECOND};
    struct test_connection *watch;
    struct watched w;
    int64_t since;

    (void)state;
    start_with(&w, &(struct tg_informer_config){.backoff = TG_MILLISECOND}, server);
    watch = sync_to(&w, LIST("10", "", NODE("a", "ua", "5")), WATCH_PATH("10"));
    test_chunk(watch, EVENT("ADDED", NODE("b", "ub", "11")));
    expect_log(&w, "+a:5 = +b:11 ");
    test_vanish(watch->io.fd);
    since = tg_now_monotonic(tg_clock_system());
    /* Meanwhile, b changes. Nobody answers; the deadline of the watch is minutes away. */
    watch = fixture_expect(&w.f, "GET", WATCH_PATH("11"));
    assert_true(tg_now_monotonic(tg_clock_system()) - since < 10 * TG_SECOND);
    test_begin(watch, 200);
    test_chunk(watch, EVENT("MODIFIED", NODE("b", "ub", "12")));
    expect_log(&w, "~b:12 ");
    assert_int_equal(tg_informer_counters(w.informer).relists, 0);
    assert_int_equal(tg_informer_counters(w.informer).reconnects, 1);
    assert_int_equal(w.f.server.accepted, 2);
    finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_on_a_vanished_server_goes_on_with_another_and_misses_nothing),
    };
    return cmocka_run_group_tests_name("vanish", tests, NULL, NULL);
}
