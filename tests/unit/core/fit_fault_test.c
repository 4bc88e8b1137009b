/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/fault.h"
#include "tests/unit/core/world.h"

static void faults_have_the_names_of_the_cases(void **state)
{
    (void)state;
    assert_string_equal(tg_fit_fault_name(TG_FAULT_NONE), "");
    assert_string_equal(tg_fit_fault_name(TG_FAULT_CLAIM_LIMIT), "claimLimit");
    assert_string_equal(tg_fit_fault_name(TG_FAULT_INVALID_POOLS), "invalidPools");
    assert_string_equal(tg_fit_fault_name((enum tg_fit_fault)1000), "");
}

static void a_message_without_room_becomes_the_name(void **state)
{
    struct tg_arena *arena = tg_arena_new(4096);
    struct tg_fit_problem problem;

    (void)state;
    assert_true(tg_fit_fail(&problem, arena, TG_FAULT_MISSING_CLASS, "claim %s", "q"));
    assert_string_equal(problem.message, "claim q");
    tg_arena_fail_after(arena, 1);
    assert_true(tg_fit_fail(&problem, arena, TG_FAULT_MISSING_CLASS, "claim %s", "q"));
    assert_string_equal(problem.message, "missingClass");
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_have_the_names_of_the_cases),
        cmocka_unit_test(a_message_without_room_becomes_the_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
