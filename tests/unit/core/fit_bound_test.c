/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/bound.h"
#include "tests/unit/core/fit_world.h"

/* Of the untouched claims of the trial. */
static bool holds(struct trial *t, bool exact)
{
    static const size_t fixed[] = {TG_ANY_CHOICE, TG_ANY_CHOICE, TG_ANY_CHOICE, TG_ANY_CHOICE,
                                   TG_ANY_CHOICE, TG_ANY_CHOICE, TG_ANY_CHOICE, TG_ANY_CHOICE};
    static const size_t first[] = {0};
    const struct tg_fit_place place = {.turn = 0};
    struct tg_fit_turn items[8];
    struct tg_fit_turns turns = {.items = items};
    struct tg_fit_bound bound;
    struct tg_fit_order order;

    for (size_t r = 0; r < t->claims[0].n_requests; r++)
        items[turns.n++] = (struct tg_fit_turn){.claim = 0, .request = r};
    trial_state(t);
    assert_int_equal(tg_fit_order_init(&order, &t->state, false, NULL), 0);
    assert_int_equal(tg_fit_bound_init(&bound, &t->state, &order, &turns, fixed, first, NULL), 0);
    return tg_fit_bound_holds(&bound, &place, exact);
}

static void expect(void (*add)(struct trial *t), const char *devices, bool rough, bool exact)
{
    struct trial t;

    trial_init(&t);
    add(&t);
    trial_open(&t);
    trial_claim(&t, devices);
    assert_int_equal(holds(&t, false), rough);
    assert_int_equal(holds(&t, true), exact);
    trial_done(&t);
}

static void six_plain(struct trial *t)
{
    add_plain(t, 6);
}

static void two_cards(struct trial *t)
{
    add_cards(t, 2);
}

static void requests_need_enough_devices_each_and_together(void **state)
{
    (void)state;
    expect(six_plain, "\"requests\":[" REQUEST("a", "3", "") "," REQUEST("b", "3", "") "]", true,
           true);
    expect(six_plain, "\"requests\":[" REQUEST("a", "7", "") "]", false, false);
    expect(six_plain, "\"requests\":[" REQUEST("a", "3", "") "," REQUEST("b", "4", "") "]", false,
           false);
}

static void only_matching_sees_that_three_want_the_same_two(void **state)
{
    (void)state;
    expect(
        six_plain,
        "\"requests\":[" REQUEST("a", "2", SELECT("device.attributes['d'].index < 2")) "," REQUEST(
            "b", "1", SELECT("device.attributes['d'].index < 2")) "," REQUEST("c", "2", "") "]",
        true, false);
}

static void a_request_may_do_with_one_of_its_alternatives(void **state)
{
    (void)state;
    expect(six_plain,
           "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[" ALTERNATIVE(
               "many", "9", "") "," ALTERNATIVE("few", "2", "") "]}," REQUEST("b", "4", "") "]",
           true, true);
}

static void counters_of_one_name_are_summed_up(void **state)
{
    (void)state;
    expect(two_cards,
           "\"requests\":[" REQUEST("w", "1", SELECT(IS("part", "'whole'"))) "," REQUEST(
               "v", "1", SELECT(IS("part", "'whole'"))) "]",
           true, true);
    expect(two_cards,
           "\"requests\":[" REQUEST("w", "2", SELECT(IS("part", "'whole'"))) "," REQUEST(
               "l", "1", SELECT("device.attributes['d'].part == 'half'")) "]",
           true, true);
    expect(two_cards,
           "\"requests\":[" REQUEST("w", "2", SELECT(IS("part", "'whole'"))) "," REQUEST(
               "v", "1", SELECT("device.attributes['d'].part != 'half'")) "]",
           false, false);
}

static void add_slices_of_memory(struct trial *t)
{
    add_part(
        t, "a", 2, "\"nodeName\":\"n\",",
        "{\"name\":\"a\",\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"m0\":{"
        "\"value\":\"1\"},\"m1\":{\"value\":\"1\"}}}]},{\"name\":\"b\",\"consumesCounters\":[{"
        "\"counterSet\":\"s\",\"counters\":{\"m1\":{\"value\":\"1\"},\"m2\":{\"value\":\"1\"}}}]}");
    add_part(
        t, "b", 2,
        "\"nodeName\":\"n\",\"sharedCounters\":[{\"name\":\"s\",\"counters\":{\"m0\":{\"value\":"
        "\"1\"},\"m1\":{\"value\":\"1\"},\"m2\":{\"value\":\"1\"}}}],",
        "");
}

/* Of each numbered slice there is enough for two, of all of them together there is not. */
static void numbered_counters_are_summed_up_as_one_thing(void **state)
{
    (void)state;
    expect(add_slices_of_memory, "\"requests\":[" REQUEST("r", "1", "") "]", true, true);
    expect(add_slices_of_memory, "\"requests\":[" REQUEST("r", "2", "") "]", false, false);
}

static void devices_that_must_differ_need_as_many_values(void **state)
{
    (void)state;
    expect(six_plain,
           "\"requests\":[" REQUEST("a", "2", "") "," REQUEST("b", "1", "") "],\"constraints\":[{"
                                                                            "\"distinctAttribute\":"
                                                                            "\"d/half\"}]",
           true, true);
    expect(six_plain,
           "\"requests\":[" REQUEST("a", "2", "") "," REQUEST("b", "2", "") "],\"constraints\":[{"
                                                                            "\"distinctAttribute\":"
                                                                            "\"d/half\"}]",
           false, false);
}

static void devices_that_must_match_need_a_value_that_is_there_often_enough(void **state)
{
    (void)state;
    expect(six_plain,
           "\"requests\":[" REQUEST("a", "2", "") "],\"constraints\":[{\"matchAttribute\":"
                                                  "\"d/half\"}]",
           true, true);
    expect(six_plain,
           "\"requests\":[" REQUEST("a", "1", "") "," REQUEST("b", "2", "") "],\"constraints\":[{"
                                                                            "\"matchAttribute\":"
                                                                            "\"d/half\"}]",
           false, false);
    expect(six_plain,
           "\"requests\":[" REQUEST("a", "1", "") "," REQUEST("b", "2", "") "],\"constraints\":[{"
                                                                            "\"requests\":[\"b\"],"
                                                                            "\"matchAttribute\":"
                                                                            "\"d/half\"}]",
           true, true);
}

/* Two devices to be shared, with one value between them. */
static void two_to_share(struct trial *t)
{
    add_devices(
        t, "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"attributes\":{\"k\":{\"int\":1}}},"
           "{\"name\":\"b\",\"allowMultipleAllocations\":true,\"attributes\":{\"k\":{\"int\":2}}}");
}

static void expect_in(unsigned release, const char *devices, bool holding)
{
    struct trial t;

    trial_init(&t);
    t.rules = tg_rules_of_release(release);
    t.rules.features |= TG_FEATURE_CONSUMABLE_CAPACITY;
    two_to_share(&t);
    trial_open(&t);
    trial_claim(&t, devices);
    assert_int_equal(holds(&t, true), holding);
    trial_done(&t);
}

/* Up to release 35 one request may have several shares of a device. */
static void one_request_may_have_a_device_several_times_in_old_releases(void **state)
{
    static const char three[] = "\"requests\":[" REQUEST("r", "3", "") "]";
    static const char same[] =
        "\"requests\":[" REQUEST("r", "2", "") "],\"constraints\":[{\"matchAttribute\":\"d/k\"}]";
    static const char differing[] = "\"requests\":[" REQUEST(
        "r", "3", "") "],\"constraints\":[{\"distinctAttribute\":\"d/k\"}]";

    (void)state;
    expect_in(35, three, true);
    expect_in(36, three, false);
    expect_in(35, same, true);
    expect_in(36, same, false);
    expect_in(35, differing, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_need_enough_devices_each_and_together),
        cmocka_unit_test(only_matching_sees_that_three_want_the_same_two),
        cmocka_unit_test(a_request_may_do_with_one_of_its_alternatives),
        cmocka_unit_test(counters_of_one_name_are_summed_up),
        cmocka_unit_test(numbered_counters_are_summed_up_as_one_thing),
        cmocka_unit_test(devices_that_must_differ_need_as_many_values),
        cmocka_unit_test(devices_that_must_match_need_a_value_that_is_there_often_enough),
        cmocka_unit_test(one_request_may_have_a_device_several_times_in_old_releases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
