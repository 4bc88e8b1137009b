/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/runtime/loop/loop.h"

static int setup(void **state)
{
    *state = tg_loop_new(false);
    return 0;
}

static int teardown(void **state)
{
    tg_loop_free(*state);
    return 0;
}

struct order {
    struct tg_loop *loop;
    char seen[16];
    size_t n;
    struct tg_deferred *more;
    size_t rounds;
};

struct letter {
    struct tg_deferred deferred;
    struct order *order;
    char name;
};

static void note(struct tg_deferred *deferred)
{
    struct letter *letter = deferred->data;
    struct order *order = letter->order;

    order->seen[order->n++] = letter->name;
    if (order->more != NULL) {
        tg_defer(order->loop, order->more);
        order->more = NULL;
    }
}

static void init_letter(struct letter *letter, struct order *order, char name)
{
    *letter = (struct letter){.order = order, .name = name};
    letter->deferred.callback = note;
    letter->deferred.data = letter;
}

static void deferred_work_runs_once_in_order_of_deferral(void **state)
{
    struct order order = {.loop = *state};
    struct letter a, b, c;

    init_letter(&a, &order, 'a');
    init_letter(&b, &order, 'b');
    init_letter(&c, &order, 'c');
    tg_defer(*state, &b.deferred);
    tg_defer(*state, &a.deferred);
    tg_defer(*state, &b.deferred); /* already queued: keeps its place */
    tg_defer(*state, &c.deferred);
    tg_defer_cancel(*state, &a.deferred);
    tg_defer_cancel(*state, &a.deferred);
    tg_loop_run_once(*state, false);
    assert_string_equal(order.seen, "bc");
    tg_loop_run_once(*state, false);
    assert_string_equal(order.seen, "bc");
}

static void work_deferred_by_deferred_work_runs_before_the_loop_sleeps(void **state)
{
    struct order order = {.loop = *state};
    struct letter a, b;

    init_letter(&a, &order, 'a');
    init_letter(&b, &order, 'b');
    order.more = &b.deferred;
    tg_defer(*state, &a.deferred);
    tg_loop_run_once(*state, false);
    assert_string_equal(order.seen, "ab");
}

static void again(struct tg_deferred *deferred)
{
    struct order *order = deferred->data;

    order->rounds++;
    tg_defer(order->loop, deferred);
}

static void readable(struct tg_io *io, int events)
{
    struct order *order = io->data;

    assert_int_equal(events, TG_LOOP_READ);
    order->seen[order->n++] = 'r';
    tg_io_stop(io);
    tg_loop_stop(order->loop);
}

static void endless_deferred_work_does_not_starve_descriptors(void **state)
{
    struct order order = {.loop = *state};
    struct tg_deferred deferred = {.callback = again, .data = &order};
    struct tg_io io = {.callback = readable, .data = &order};
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    tg_io_start(*state, &io, fds[0], TG_LOOP_READ);
    tg_defer(*state, &deferred);
    tg_loop_run(*state);
    assert_string_equal(order.seen, "r");
    assert_in_range(order.rounds, 1, 10000);
    tg_defer_cancel(*state, &deferred);
    close(fds[0]);
    close(fds[1]);
}

static void free_self(struct tg_deferred *deferred)
{
    int *calls = deferred->data;

    (*calls)++;
    free(deferred);
}

static void deferred_work_may_free_itself(void **state)
{
    int calls = 0;
    struct tg_deferred *deferred = calloc(1, sizeof(*deferred));

    deferred->callback = free_self;
    deferred->data = &calls;
    tg_defer(*state, deferred);
    tg_loop_run_once(*state, false);
    assert_int_equal(calls, 1);
}

static void one_waiting_iteration_ends_when_deferred_work_ran(void **state)
{
    struct order order = {.loop = *state};
    struct letter a;

    init_letter(&a, &order, 'a');
    tg_defer(*state, &a.deferred);
    tg_loop_run_once(*state, true); /* no event will ever come */
    assert_string_equal(order.seen, "a");
}

static void stop_loop(struct tg_timer *timer)
{
    tg_loop_stop(timer->data);
}

static void count_and_free(struct tg_timer *timer)
{
    int *count = timer->data;

    (*count)++;
    free(timer);
}

static void a_timer_may_free_itself_and_a_stopped_one_never_fires(void **state)
{
    int count = 0;
    int never = 0;
    struct tg_timer *first = calloc(1, sizeof(*first));
    struct tg_timer *stopped = calloc(1, sizeof(*stopped));
    struct tg_timer last = {.callback = stop_loop, .data = *state};

    first->callback = stopped->callback = count_and_free;
    first->data = &count;
    stopped->data = &never;
    tg_timer_start(*state, first, 0);
    tg_timer_start(*state, stopped, TG_MILLISECOND);
    assert_true(stopped->active);
    tg_timer_start(*state, &last, 5 * TG_MILLISECOND);
    tg_timer_stop(stopped);
    tg_timer_stop(stopped);
    assert_false(stopped->active);
    tg_loop_run(*state);
    assert_false(last.active);
    assert_int_equal(count, 1);
    assert_int_equal(never, 0);
    free(stopped);
}

static void a_timer_started_again_is_rearmed(void **state)
{
    struct tg_timer timer = {.callback = stop_loop, .data = *state};
    const struct tg_clock *clock = tg_clock_system();
    int64_t before = tg_now_monotonic(clock);

    tg_timer_start(*state, &timer, 3600 * TG_SECOND);
    tg_timer_start(*state, &timer, 10 * TG_MILLISECOND);
    tg_loop_run(*state);
    assert_true(tg_now_monotonic(clock) - before >= 9 * TG_MILLISECOND);
}

static void writable(struct tg_io *io, int events)
{
    int *seen = io->data;

    *seen |= events;
    if ((events & TG_LOOP_WRITE) != 0)
        tg_io_modify(io, TG_LOOP_READ);
}

static void interest_in_a_descriptor_can_be_changed_in_its_callback(void **state)
{
    int seen = 0;
    int fds[2];
    struct tg_io io = {.callback = writable, .data = &seen};

    assert_int_equal(pipe(fds), 0);
    tg_io_start(*state, &io, fds[1], TG_LOOP_WRITE);
    tg_loop_run_once(*state, true);
    assert_int_equal(seen, TG_LOOP_WRITE);
    seen = 0;
    tg_loop_run_once(*state, false);
    assert_int_equal(seen, 0);
    tg_io_stop(&io);
    tg_io_stop(&io);
    close(fds[0]);
    close(fds[1]);
}

static void got_signal(struct tg_signal *signal, int number)
{
    int *seen = signal->data;

    *seen = number;
}

static void a_signal_arrives_as_a_callback(void **state)
{
    int seen = 0;
    struct tg_signal signal = {.callback = got_signal, .data = &seen};

    tg_signal_start(*state, &signal, SIGUSR1);
    assert_int_equal(raise(SIGUSR1), 0);
    tg_loop_run_once(*state, true);
    assert_int_equal(seen, SIGUSR1);
    tg_signal_stop(&signal);
    tg_signal_stop(&signal);
}

static long wakeups(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_nvcsw;
}

static void an_idle_loop_sleeps(void **state)
{
    struct order order = {.loop = *state};
    struct letter a;
    struct tg_timer timer = {.callback = stop_loop, .data = *state};
    long before;

    /* Deferred work before must leave nothing behind that keeps the loop polling. */
    init_letter(&a, &order, 'a');
    tg_defer(*state, &a.deferred);
    tg_loop_run_once(*state, false);
    before = wakeups();
    tg_timer_start(*state, &timer, 100 * TG_MILLISECOND);
    tg_loop_run(*state);
    assert_in_range(wakeups() - before, 0, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deferred_work_runs_once_in_order_of_deferral, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(work_deferred_by_deferred_work_runs_before_the_loop_sleeps,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(endless_deferred_work_does_not_starve_descriptors, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(one_waiting_iteration_ends_when_deferred_work_ran, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(deferred_work_may_free_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_may_free_itself_and_a_stopped_one_never_fires,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_timer_started_again_is_rearmed, setup, teardown),
        cmocka_unit_test_setup_teardown(interest_in_a_descriptor_can_be_changed_in_its_callback,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_signal_arrives_as_a_callback, setup, teardown),
        cmocka_unit_test_setup_teardown(an_idle_loop_sleeps, setup, teardown),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
