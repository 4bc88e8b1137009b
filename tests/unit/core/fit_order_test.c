/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/order.h"
#include "tests/unit/core/fit_world.h"

static void alike_parts_have_alike_devices(void **state)
{
    struct tg_fit_order order;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 3);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_state(&t);
    assert_int_equal(tg_fit_order_init(&order, &t.state, false, NULL), 0);
    assert_int_equal(order.n, 9);
    assert_int_equal(order.orbit[trial_device(&t, "c0-low")],
                     order.orbit[trial_device(&t, "c2-low")]);
    assert_int_not_equal(order.orbit[trial_device(&t, "c0-low")],
                         order.orbit[trial_device(&t, "c0-high")]);
    assert_int_equal(order.part[trial_device(&t, "c0-low")],
                     order.part[trial_device(&t, "c0-whole")]);
    assert_int_not_equal(order.part[trial_device(&t, "c0-low")],
                         order.part[trial_device(&t, "c1-low")]);
    /* Halves hinder one other device, the whole one two. */
    for (size_t i = 6; i < 9; i++)
        assert_non_null(strstr(t.view.devices[order.devices[i]].name, "whole"));
    trial_done(&t);
}

static void what_a_constraint_or_a_holder_tells_apart_is_not_alike(void **state)
{
    struct tg_fit_order order;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 3);
    t.w.claims[t.w.n_claims++] =
        decode(t.w.arena, &tg_resource_claim_type,
               "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"h\",\"uid\":\"h\"},\"status\":{"
               "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\","
               "\"pool\":\"p\",\"device\":\"c1-low\"}]}}}}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_state(&t);
    assert_int_equal(tg_fit_order_init(&order, &t.state, false, NULL), 0);
    assert_int_equal(order.class[order.part[trial_device(&t, "c0-low")]],
                     order.class[order.part[trial_device(&t, "c2-low")]]);
    assert_int_not_equal(order.class[order.part[trial_device(&t, "c0-low")]],
                         order.class[order.part[trial_device(&t, "c1-high")]]);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "],\"constraints\":[{"
                                                           "\"matchAttribute\":\"d/card\"}]");
    trial_state(&t);
    assert_int_equal(tg_fit_order_init(&order, &t.state, false, NULL), 0);
    assert_int_not_equal(order.class[order.part[trial_device(&t, "c0-low")]],
                         order.class[order.part[trial_device(&t, "c2-low")]]);
    trial_done(&t);
}

static void only_what_is_wanted_is_in_it_and_as_given_if_so_asked(void **state)
{
    struct tg_fit_order order;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 2);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1",
                                             SELECT("device.attributes['d'].card == 1 || "
                                                    "device.attributes['d'].part == "
                                                    "'whole'")) "]");
    trial_state(&t);
    assert_int_equal(tg_fit_order_init(&order, &t.state, true, NULL), 0);
    assert_int_equal(order.n, 4);
    for (size_t i = 1; i < order.n; i++)
        assert_true(order.devices[i - 1] < order.devices[i]);
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_parts_have_alike_devices),
        cmocka_unit_test(what_a_constraint_or_a_holder_tells_apart_is_not_alike),
        cmocka_unit_test(only_what_is_wanted_is_in_it_and_as_given_if_so_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
