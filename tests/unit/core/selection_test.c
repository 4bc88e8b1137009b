/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/selection.h"

#include "tests/unit/core/world.h"

#define MEMORY "device.attributes[\"" GPU_DRIVER "\"].memory"

static size_t count(const struct tg_fleet *fleet, struct tg_selection *selection)
{
    size_t n = 0;

    for (size_t i = 0; i < fleet->n_devices; i++) {
        bool match = false;

        assert_int_equal(tg_selection_matches(selection, fleet, i, &match, NULL), 0);
        n += match ? 1 : 0;
    }
    return n;
}

static struct tg_selection *get(const struct tg_fleet *fleet, const char *expression)
{
    struct tg_selection *selection = NULL;

    assert_int_equal(tg_selection_get(fleet, expression, &selection, NULL), 0);
    return selection;
}

/* Cards have an index of their own, so that no two contents are equal. */
static struct tg_fleet *fleet_of_two_kinds(struct world *w)
{
    world_init(w);
    for (size_t i = 0; i < 6; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n-%zu", i);
        add_gpus(w, name, 4, i < 2 ? "\"memory\":{\"int\":40}" : "\"memory\":{\"int\":80}");
    }
    return world_fleet(w);
}

static void a_selector_is_evaluated_once_for_each_tuple_of_what_it_reads(void **state)
{
    struct world w;
    struct tg_fleet *fleet = fleet_of_two_kinds(&w);
    struct tg_selection *memory = get(fleet, MEMORY " >= 80");
    struct tg_selection *index = get(fleet, "device.attributes[\"" GPU_DRIVER "\"].index == 3");
    struct tg_selection *domain = get(fleet, "\"other\" in device.attributes[\"x.com\"]");

    (void)state;
    assert_int_equal(count(fleet, memory), 16);
    assert_int_equal(tg_selection_evaluations(memory), 2);
    assert_int_equal(count(fleet, memory), 16);
    assert_int_equal(tg_selection_evaluations(memory), 2);
    assert_int_equal(count(fleet, index), 6);
    assert_int_equal(tg_selection_evaluations(index), 4);
    assert_int_equal(count(fleet, domain), 0);
    assert_int_equal(tg_selection_evaluations(domain), 1);
    assert_ptr_equal(get(fleet, MEMORY " >= 80"), memory);
    world_done(&w);
}

static void what_fails_on_a_device_fails_again_with_its_text(void **state)
{
    struct world w;
    struct tg_selection *selection;
    struct tg_fleet *fleet;
    bool match = true;

    (void)state;
    world_init(&w);
    add_gpus(&w, "n", 1, "");
    fleet = world_fleet(&w);
    selection = get(fleet, MEMORY " == 1");
    for (size_t i = 0; i < 3; i++) {
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(tg_selection_matches(selection, fleet, 0, &match, &err),
                         -TG_FAILED_PRECONDITION);
        assert_non_null(strstr(err.message, "no such key: memory"));
        assert_false(match);
    }
    world_done(&w);
}

/* The number of a content that has gone is given to the next one. */
static void what_a_device_was_says_nothing_of_what_it_is(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    const struct tg_resource_slice *slices[2];

    (void)state;
    world_init(&w);
    add_gpus(&w, "n", 4, "\"memory\":{\"int\":40}");
    add_gpus(&w, "n", 4, "\"memory\":{\"int\":80}");
    slices[0] = w.slices[0];
    slices[1] = w.slices[1];
    w.n_slices = 0;
    fleet = world_fleet(&w);
    for (size_t i = 0; i < 6; i++) {
        tg_fleet_put(fleet, TG_FLEET_SLICE, slices[i % 2]);
        tg_fleet_settle(fleet);
        assert_int_equal(count(fleet, get(fleet, MEMORY " >= 80")), i % 2 == 0 ? 0 : 4);
        if (i % 3 == 2)
            tg_fleet_drop(fleet, TG_FLEET_SLICE, NULL, "s-n");
    }
    world_done(&w);
}

static void only_what_is_held_or_was_used_of_late_is_kept(void **state)
{
    struct world w;
    struct tg_fleet *fleet = fleet_of_two_kinds(&w);
    struct tg_selection *held = get(fleet, MEMORY " >= 80");

    (void)state;
    tg_selection_hold(held);
    assert_int_equal(count(fleet, held), 16);
    for (size_t i = 0; i < 200; i++) {
        char expression[64];

        snprintf(expression, sizeof(expression), MEMORY " >= %zu", 100 + i);
        tg_selections_tick(fleet);
        assert_int_equal(count(fleet, get(fleet, expression)), 0);
    }
    assert_ptr_equal(get(fleet, MEMORY " >= 80"), held);
    assert_int_equal(tg_selection_evaluations(held), 2);
    /* Long forgotten: it starts anew. */
    assert_int_equal(tg_selection_evaluations(get(fleet, MEMORY " >= 100")), 0);
    tg_selection_release(held);
    world_done(&w);
}

static void a_selector_that_does_not_compile_is_an_error_each_time(void **state)
{
    struct world w;
    struct tg_fleet *fleet = fleet_of_two_kinds(&w);
    struct tg_selection *selection;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(tg_selection_get(fleet, "1 +", &selection, NULL), -TG_INVALID_ARGUMENT);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_selector_is_evaluated_once_for_each_tuple_of_what_it_reads),
        cmocka_unit_test(what_fails_on_a_device_fails_again_with_its_text),
        cmocka_unit_test(what_a_device_was_says_nothing_of_what_it_is),
        cmocka_unit_test(only_what_is_held_or_was_used_of_late_is_kept),
        cmocka_unit_test(a_selector_that_does_not_compile_is_an_error_each_time),
    };

    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
