/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/book.h"
#include "tests/unit/core/fit_world.h"

static void equal_requests_are_one_want(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "1", SELECT("true")) "," REQUEST(
                        "b", "3", SELECT("true")) "," REQUEST("c", "1", SELECT("false")) "]");
    trial_claim(&t, "\"requests\":[" REQUEST("x", "2", SELECT("true")) "]");
    assert_int_equal(t.book.n_wants, 2);
    assert_int_equal(t.book.n_selectors, 2);
    assert_int_equal(t.claims[1].requests[0].choices[0].want,
                     t.claims[0].requests[1].choices[0].want);
    assert_int_equal(t.claims[0].requests[1].choices[0].count, 3);
    trial_done(&t);
}

static void constraints_cover_requests_or_single_alternatives(void **state)
{
    struct tg_fit_claim *claim;
    struct trial t;

    (void)state;
    trial_init(&t);
    trial_open(&t);
    claim = trial_claim(
        &t,
        "\"requests\":[" REQUEST("a", "1", "") ",{\"name\":\"b\",\"firstAvailable\":[" ALTERNATIVE(
            "s", "1", "") "," ALTERNATIVE("t", "1",
                                          "") "]}],\"constraints\":[{"
                                              "\"matchAttribute\":\"d/x\"},{\"requests\":[\"b\"],"
                                              "\"matchAttribute\":\"d/x\"},{\"requests\":[\"b/t\"],"
                                              "\"distinctAttribute\":\"d/y\"}]");
    assert_int_equal(claim->problem.fault, TG_FAULT_NONE);
    assert_true(claim->requests[0].choices[0].bound[0]);
    assert_false(claim->requests[0].choices[0].bound[1]);
    assert_true(claim->requests[1].choices[0].bound[1]);
    assert_false(claim->requests[1].choices[0].bound[2]);
    assert_true(claim->requests[1].choices[1].bound[2]);
    assert_true(claim->constraints[2].distinct);
    assert_string_equal(claim->requests[1].choices[1].name, "b/t");
    trial_done(&t);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *devices;
        enum tg_fit_fault fault;
        unsigned off, feature;
        size_t sound, sound_choices;
    } rows[] = {
        {"\"requests\":[" REQUEST("a", "1", "") ",{\"name\":\"b\",\"exactly\":{"
                                                "\"deviceClassName\":\"no\"}}]",
         TG_FAULT_UNKNOWN_CLASS, 0, 0, 1, 0},
        {"\"requests\":[{\"name\":\"b\",\"exactly\":{}}]", TG_FAULT_MISSING_CLASS, 0, 0, 0, 0},
        {"\"requests\":[{\"name\":\"b\"}]", TG_FAULT_MISSING_CLASS, 0, 0, 0, 0},
        {"\"requests\":[" REQUEST("a", "1", ",\"selectors\":[{}]") "]",
         TG_FAULT_UNSUPPORTED_SELECTOR, 0, 0, 0, 0},
        {"\"requests\":[" REQUEST("a", "1", ",\"allocationMode\":\"Some\"") "]",
         TG_FAULT_UNSUPPORTED_MODE, 0, 0, 0, 0},
        {"\"requests\":[" REQUEST("a", "1", ",\"adminAccess\":false") "]",
         TG_FAULT_FEATURE_DISABLED, TG_FEATURE_ADMIN_ACCESS, TG_FEATURE_ADMIN_ACCESS, 0, 0},
        {"\"requests\":[{\"name\":\"b\",\"firstAvailable\":[" ALTERNATIVE("s", "1", "") "]}]",
         TG_FAULT_FEATURE_DISABLED, TG_FEATURE_PRIORITIZED_LIST, TG_FEATURE_PRIORITIZED_LIST, 0, 0},
        {"\"requests\":[" REQUEST("a", "1", ",\"capacity\":{}") "]", TG_FAULT_FEATURE_DISABLED,
         TG_FEATURE_CONSUMABLE_CAPACITY, TG_FEATURE_CONSUMABLE_CAPACITY, 0, 0},
        {"\"requests\":[" REQUEST("a", "1", ",\"capacity\":{\"requests\":{\"m\":\"x\"}}") "]",
         TG_FAULT_UNREADABLE_CAPACITY, 0, 0, 0, 0},
        {"\"requests\":[{\"name\":\"b\",\"firstAvailable\":[" ALTERNATIVE(
             "s", "1", "") ",{\"name\":\"t\"}]}]",
         TG_FAULT_MISSING_CLASS, 0, 0, 0, 1},
        {"\"requests\":[" REQUEST("a", "1", "") "],\"constraints\":[{}]",
         TG_FAULT_UNSUPPORTED_CONSTRAINT, 0, 0, 1, 0},
        {"\"requests\":[" REQUEST("a", "1", "") "],\"constraints\":[{\"distinctAttribute\":\"d/x\"}"
                                                "]",
         TG_FAULT_UNSUPPORTED_CONSTRAINT,
         TG_FEATURE_CONSUMABLE_CAPACITY | TG_FEATURE_DEVICE_BINDING_AND_STATUS, 0, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        const struct tg_fit_claim *claim;
        struct trial t;

        trial_init(&t);
        t.rules.features &= ~rows[i].off;
        trial_open(&t);
        claim = trial_claim(&t, rows[i].devices);
        if (claim->problem.fault != rows[i].fault)
            fail_msg("row %zu: %s", i, tg_fit_fault_name(claim->problem.fault));
        assert_int_equal(claim->problem.feature, rows[i].feature);
        assert_int_equal(claim->n_sound, rows[i].sound);
        assert_int_equal(claim->n_sound_choices, rows[i].sound_choices);
        trial_done(&t);
    }
}

static void a_selector_that_does_not_compile_is_no_problem_yet(void **state)
{
    const struct tg_fit_claim *claim;
    struct trial t;

    (void)state;
    trial_init(&t);
    trial_open(&t);
    claim = trial_claim(&t, "\"requests\":[" REQUEST("a", "1", SELECT("nothing.at.all")) "]");
    assert_int_equal(claim->problem.fault, TG_FAULT_NONE);
    assert_null(t.book.selectors[0].compiled);
    assert_non_null(strstr(t.book.selectors[0].problem, "undeclared"));
    trial_done(&t);
}

static void memory_that_ends_is_an_error(void **state)
{
    struct trial t;
    int rc = -1;

    (void)state;
    trial_init(&t);
    trial_open(&t);
    for (size_t n = 1; rc != 0 && n < 200; n++) {
        struct tg_resource_claim *claim = new_claim(
            &t.w, "q",
            "\"requests\":[" REQUEST(
                "a", "1", SELECT("true")) "],"
                                          "\"constraints\":[{\"matchAttribute\":\"d/x\"}]");

        tg_arena_fail_after(t.w.arena, n);
        rc = tg_fit_book_add(&t.book, claim, &t.claims[0], NULL);
        tg_arena_fail_after(t.w.arena, 0);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
    }
    assert_int_equal(rc, 0);
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_are_one_want),
        cmocka_unit_test(constraints_cover_requests_or_single_alternatives),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(a_selector_that_does_not_compile_is_no_problem_yet),
        cmocka_unit_test(memory_that_ends_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
