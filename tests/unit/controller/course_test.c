/* SPDX-License-Identifier: Apache-2.0 */
/* The undisturbed course of each kind of unit, from objects to bound pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/controller/bench.h"
#include "tests/unit/controller/invariants.h"

static void a_single_claim_is_allocated_in_one_status_write_and_its_pod_released(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 1, 2, NULL);
    bench_settle(bench, 0);
    assert_string_equal(bench_trace(bench), "metadata p-0; allocate p-0; ungate p");
    assert_int_equal(bench_bound(bench), 1);
    invariants_rest(bench);
    bench_free(bench);
}

static void
a_pod_with_several_claims_writes_its_plan_then_all_claims_then_loses_gate_and_plan(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 1);
    bench_pod(bench, "p", 2, 1, NULL);
    bench_settle(bench, 0);
    assert_string_equal(bench_trace(bench), "pod p +plan; metadata p-0; allocate p-0; metadata "
                                            "p-1; allocate p-1; ungate p -plan");
    assert_int_equal(bench_bound(bench), 1);
    bench_free(bench);
}

static void a_gang_goes_plan_claims_allocated_gates_shrink(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 2);
    bench_gang(bench, "g", 3, 3);
    bench_settle(bench, 0);
    assert_string_equal(
        bench_trace(bench),
        "create g; +finalizer; Committing +plan; metadata g-0-0; allocate g-0-0; metadata g-1-0; "
        "allocate g-1-0; metadata g-2-0; allocate g-2-0; Allocated; ungate g-0; ungate g-1; "
        "ungate g-2; Running small plan; -finalizer");
    assert_int_equal(bench_bound(bench), 3);
    assert_string_equal(bench_phase(bench, "g"), "Running");
    assert_int_equal(bench->ungated_early, 0);
    assert_int_equal(tg_cluster_unconditional(bench->cluster), 0);
    invariants_rest(bench);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_claim_is_allocated_in_one_status_write_and_its_pod_released),
        cmocka_unit_test(
            a_pod_with_several_claims_writes_its_plan_then_all_claims_then_loses_gate_and_plan),
        cmocka_unit_test(a_gang_goes_plan_claims_allocated_gates_shrink),
    };

    return cmocka_run_group_tests_name("course", tests, NULL, NULL);
}
