/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing and releasing while memory runs out at any allocation: what was acknowledged stays, and
 * the same call succeeds when there is memory again. */
#include "tests/unit/driver/course.h"

#include "tests/support/failing_arena.h"

/* Returns whether the nth allocation came. */
static bool run(size_t nth, bool restart)
{
    struct fixture *f = fixture_new();
    struct tg_error err = TG_ERROR_INIT;
    size_t done = 0;
    bool came;

    f->options.compact_after = 5;
    fixture_open(f);
    failing_arena_start(nth);
    while (done < OPERATIONS && perform(f, &scenario[done], &err) == 0)
        done++;
    if (restart) /* recovery needs memory too; it fails or succeeds, and harms nothing */
    {
        fixture_close(f);
        (void)tg_prepare_open(&f->options, &f->devices, &f->prepare, &f->report, NULL);
    }
    came = failing_arena_stop();
    if (done < OPERATIONS) {
        assert_true(came);
        assert_int_equal(err.code, TG_RESOURCE_EXHAUSTED);
        assert_true(err.message[0] != '\0');
    }
    if (restart) {
        fixture_open(f);
        assert_invariants(f, done);
    }
    finish_scenario(f, done);
    fixture_free(f);
    return came;
}

static void any_allocation_may_fail_while_the_plugin_runs(void **state)
{
    size_t nth = 1;

    (void)state;
    while (run(nth, false))
        nth++;
    assert_true(nth > OPERATIONS);
}

static void any_allocation_may_fail_also_while_it_recovers(void **state)
{
    size_t nth = 1;

    (void)state;
    while (run(nth, true))
        nth++;
    assert_true(nth > OPERATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail_while_the_plugin_runs),
        cmocka_unit_test(any_allocation_may_fail_also_while_it_recovers),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
