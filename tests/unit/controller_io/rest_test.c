/* SPDX-License-Identifier: Apache-2.0 */
/* While a controller rests after a pass, nothing that happens starts another; afterwards one sees
 * it all. */
#include "tests/unit/controller_io/fixture.h"

static void what_happens_during_a_rest_is_seen_by_one_pass_after_it(void **state)
{
    struct fixture *f = *state;
    unsigned passes;

    fixture_start(f, "");
    fixture_settle(f);
    fixture_freeze(f, 10 * TG_SECOND);
    f->controller->rests_until = f->clock.monotonic_now + 5 * TG_MILLISECOND;
    passes = f->passes;
    for (size_t i = 0; i < 3; i++) {
        tg_controller_kick(f->controller);
        fixture_run_for(f, TG_MILLISECOND);
    }
    assert_int_equal(f->passes, passes);
    tg_fake_clock_advance(&f->clock, 5 * TG_MILLISECOND);
    while (f->passes == passes)
        fixture_run_for(f, TG_MILLISECOND);
    assert_int_equal(f->passes, passes + 1);
    fixture_run_for(f, 10 * TG_MILLISECOND);
    assert_int_equal(f->passes, passes + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_happens_during_a_rest_is_seen_by_one_pass_after_it,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
