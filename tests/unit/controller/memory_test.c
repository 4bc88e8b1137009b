/* SPDX-License-Identifier: Apache-2.0 */
/* A controller whose memory runs out at any allocation of a pass: the invariants hold, it wants to
 * try again by itself, and then everything runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/failing_arena.h"
#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

#define MINUTE (60 * TG_SECOND)
/* A run for each allocation would take minutes: a prime, so that every place is met in one run or
 * another. */
#define STRIDE 29

/* A gang of two, a pod with two claims, and a pod with one. Returns the allocations that were made.
 */
static size_t run(size_t nth)
{
    struct bench *bench = bench_new();
    size_t calls;
    bool came;

    bench_fleet(bench, 4);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "pair", 2, 1, NULL);
    bench_pod(bench, "single", 1, 1, NULL);
    failing_arena_start(nth);
    bench_settle(bench, 0); /* invariants I1, I2 and I4 are checked at every change */
    calls = failing_arena.calls;
    came = failing_arena_stop();
    if (nth > 0)
        assert_true(came);
    /* Nobody from outside has to give it a push. */
    if (bench_bound(bench) < 4 && bench->controller.wake_at == 0)
        bench_fail(bench, "allocation %zu failed and nothing is tried again", nth);
    bench_settle(bench, 10 * MINUTE);
    if (bench_bound(bench) != 4)
        bench_fail(bench, "allocation %zu failed: %zu pods are bound in the end", nth,
                   bench_bound(bench));
    invariants_rest(bench);
    bench_free(bench);
    return calls;
}

static void any_allocation_of_a_pass_may_fail(void **state)
{
    size_t calls = run(0);

    (void)state;
    assert_true(calls > 1000);
    for (size_t nth = 1; nth <= calls; nth += STRIDE)
        run(nth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_of_a_pass_may_fail),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
