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

/* A gang of two, a pod with two claims, and a pod with one. Returns the allocations that were made;
 * with nth 0 their sites are taken down, too. */
static size_t run(size_t nth)
{
    struct bench *bench = bench_new();
    size_t calls;
    bool came;

    bench->memory_ends = true;
    bench_fleet(bench, 4);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "pair", 2, 1, NULL);
    bench_pod(bench, "single", 1, 1, NULL);
    if (nth == 0)
        failing_arena_record();
    else
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

/* Each site, which is a chain of calls from main on, fails when it is first and when it is last
 * come to. */
static void any_allocation_of_a_pass_may_fail(void **state)
{
    size_t calls = run(0);
    size_t runs = 0;

    (void)state;
    assert_true(calls > 1000);
    assert_true(failing_arena.sites.n > 100);
    for (size_t i = 0; i < failing_arena.sites.n; i++) {
        const struct failing_arena_site *site = &failing_arena.sites.items[i];
        run(site->first);
        runs++;
        if (site->last == site->first)
            continue;
        run(site->last);
        runs++;
    }
    print_message("%zu allocations at %zu sites; %zu of them failed in turn\n", calls,
                  failing_arena.sites.n, runs);
    failing_arena_forget();
}

/* The same without that rule, which takes five times as long. */
static void every_allocation_of_a_pass_may_fail(void **state)
{
    size_t calls = run(0);

    (void)state;
    failing_arena_forget();
    for (size_t nth = 1; nth <= calls; nth++)
        run(nth);
    print_message("%zu allocations failed in turn\n", calls);
}

/* With the argument --every: the second one. */
int main(int argc, char **argv)
{
    const struct CMUnitTest sites[] = {cmocka_unit_test(any_allocation_of_a_pass_may_fail)};
    const struct CMUnitTest every[] = {cmocka_unit_test(every_allocation_of_a_pass_may_fail)};

    if (argc > 1 && strcmp(argv[1], "--every") == 0)
        return cmocka_run_group_tests_name("memory", every, NULL, NULL);
    return cmocka_run_group_tests_name("memory", sites, NULL, NULL);
}
