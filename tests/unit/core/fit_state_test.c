/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/state.h"
#include "tests/unit/core/fit_world.h"

static const struct tg_fit_choice *choice(const struct trial *t, size_t claim, size_t request)
{
    return &t->claims[claim].requests[request].choices[0];
}

static enum tg_fit_taken take(struct trial *t, size_t claim, size_t request, const char *device)
{
    return tg_fit_state_take(&t->state, claim, choice(t, claim, request), trial_device(t, device));
}

static void a_device_is_given_once(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 2);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "2", "") "]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", ",\"adminAccess\":true") "]");
    trial_state(&t);
    assert_int_equal(take(&t, 0, 0, "g00"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "g00"), TG_TAKE_REFUSED);
    assert_int_equal(take(&t, 1, 0, "g00"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 1, 0, "g00"), TG_TAKE_REFUSED);
    trial_done(&t);
}

static void constraints_hold_between_any_two_devices(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 6);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "3", "") "],\"constraints\":[{"
                                                           "\"distinctAttribute\":\"d/half\"}]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "3", "") "],\"constraints\":[{"
                                                           "\"matchAttribute\":\"d/half\"}]");
    trial_state(&t);
    assert_int_equal(take(&t, 0, 0, "g00"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "g02"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "g01"), TG_TAKE_FORBIDDEN);
    assert_int_equal(take(&t, 1, 0, "g04"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 1, 0, "g01"), TG_TAKE_FORBIDDEN);
    assert_int_equal(take(&t, 1, 0, "g05"), TG_TAKE_DONE);
    trial_done(&t);
}

static void a_list_narrows_with_each_device_and_widens_when_it_is_taken_back(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    t.rules.features |= TG_FEATURE_LIST_TYPE_ATTRIBUTES;
    add_devices(&t, "{\"name\":\"a\",\"attributes\":{\"x\":{\"ints\":[1,2]}}},"
                    "{\"name\":\"b\",\"attributes\":{\"x\":{\"ints\":[2,3]}}},"
                    "{\"name\":\"c\",\"attributes\":{\"x\":{\"ints\":[1,3]}}}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "3", "") "],\"constraints\":[{"
                                                           "\"matchAttribute\":\"d/x\"}]");
    trial_state(&t);
    assert_int_equal(take(&t, 0, 0, "a"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "b"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "c"), TG_TAKE_FORBIDDEN);
    tg_fit_state_undo(&t.state);
    assert_int_equal(take(&t, 0, 0, "c"), TG_TAKE_DONE);
    trial_done(&t);
}

static void counters_are_charged_once_a_device_however_often_it_is_shared(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_part(
        &t, "a", 2, "\"nodeName\":\"n\",",
        "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"consumesCounters\":[{"
        "\"counterSet\":\"s\",\"counters\":{\"m\":{\"value\":\"2\"}}}]},{\"name\":\"b\","
        "\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"m\":{\"value\":\"2\"}}}]}");
    add_part(
        &t, "b", 2,
        "\"nodeName\":\"n\",\"sharedCounters\":[{\"name\":\"s\",\"counters\":{\"m\":{\"value\":"
        "\"3\"}}}],",
        "");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "," REQUEST("q", "1", "") "]");
    trial_state(&t);
    assert_int_equal(take(&t, 0, 0, "a"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 1, "a"), TG_TAKE_DONE);
    assert_true(t.state.left[0] == TG_NANOS_ONE);
    assert_int_equal(take(&t, 0, 0, "b"), TG_TAKE_REFUSED);
    tg_fit_state_undo(&t.state);
    assert_true(t.state.left[0] == TG_NANOS_ONE);
    tg_fit_state_undo(&t.state);
    assert_true(t.state.left[0] == 3 * TG_NANOS_ONE);
    assert_int_equal(take(&t, 0, 0, "b"), TG_TAKE_DONE);
    trial_done(&t);
}

static void taking_back_leaves_nothing_behind(void **state)
{
    __int128 left[8];
    struct trial t;

    (void)state;
    trial_init(&t);
    add_cards(&t, 2);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "4", "") "],\"constraints\":[{"
                                                           "\"matchAttribute\":\"d/part\"}]");
    trial_state(&t);
    assert_true(t.view.n_counters <= 8);
    memcpy(left, t.state.left, t.view.n_counters * sizeof(left[0]));
    assert_int_equal(take(&t, 0, 0, "c0-low"), TG_TAKE_DONE);
    assert_int_equal(take(&t, 0, 0, "c0-whole"), TG_TAKE_REFUSED);
    assert_int_equal(take(&t, 0, 0, "c1-whole"), TG_TAKE_FORBIDDEN);
    assert_int_equal(take(&t, 0, 0, "c1-high"), TG_TAKE_DONE);
    tg_fit_state_undo(&t.state);
    tg_fit_state_undo(&t.state);
    assert_memory_equal(left, t.state.left, t.view.n_counters * sizeof(left[0]));
    assert_int_equal(t.state.n_takes + t.state.per_claim[0] + t.state.tracks[0][0].n_levels, 0);
    for (size_t d = 0; d < t.view.n_devices; d++)
        assert_int_equal(t.state.held[d] + t.state.shares[d], 0);
    assert_int_equal(take(&t, 0, 0, "c1-whole"), TG_TAKE_DONE);
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_given_once),
        cmocka_unit_test(constraints_hold_between_any_two_devices),
        cmocka_unit_test(a_list_narrows_with_each_device_and_widens_when_it_is_taken_back),
        cmocka_unit_test(counters_are_charged_once_a_device_however_often_it_is_shared),
        cmocka_unit_test(taking_back_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
