/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

static unsigned minor_of(const struct fixture *f)
{
    return f->controller->selectors.minor;
}

static void read_again(struct fixture *f)
{
    unsigned versions = f->versions;

    tg_release_read(f->controller->release);
    while (f->versions == versions)
        tg_loop_run_once(f->loop, true);
    fixture_settle(f);
}

static void selectors_are_compiled_for_the_release_of_the_server(void **state)
{
    struct fixture *f = *state;
    struct tg_view view;

    f->version = "35";
    fixture_start(f, "");
    assert_int_equal(minor_of(f), 35);
    assert_int_equal(tg_release_minor(f->controller->release), 35);
    tg_view_init(&view);
    tg_controller_fill_view(f->controller, &view);
    assert_ptr_equal(view.selectors, &f->controller->selectors);
    assert_ptr_equal(view.selectors->zones->context, f->controller->zoneinfo);
    tg_view_done(&view);
}

static void an_upgrade_under_a_running_controller_is_noticed(void **state)
{
    struct fixture *f = *state;
    unsigned passes;

    f->version = "36+";
    fixture_start(f, "");
    fixture_settle(f);
    assert_int_equal(minor_of(f), 36);
    passes = f->passes;
    read_again(f);
    assert_int_equal(f->passes, passes); /* nothing new */
    f->version = "37";
    read_again(f);
    assert_int_equal(minor_of(f), 37);
    assert_true(f->passes > passes); /* what was refused may be right now */
}

static void a_server_that_does_not_tell_counts_as_the_newest(void **state)
{
    struct fixture *f = *state;

    f->version = "";
    fixture_start(f, "");
    fixture_settle(f);
    assert_int_equal(minor_of(f), 0);
    f->version = "x";
    read_again(f);
    assert_int_equal(minor_of(f), 0);
    f->version = "34";
    read_again(f);
    assert_int_equal(minor_of(f), 34);
    f->version = "";
    read_again(f);
    assert_int_equal(minor_of(f), 34); /* what was known stays */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selectors_are_compiled_for_the_release_of_the_server,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_upgrade_under_a_running_controller_is_noticed,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_server_that_does_not_tell_counts_as_the_newest,
                                        fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
