/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/table.h"
#include "tests/unit/core/fit_world.h"

#define ALL                                                                                        \
    "{\"name\":\"all\",\"exactly\":{\"deviceClassName\":\"any\",\"allocationMode\":\"All\"}}"

/* The answer for the first request of the claim that was added last. */
static enum tg_fit_cell cell(struct trial *t, const char *device)
{
    const struct tg_fit_claim *claim = &t->claims[t->n_claims - 1];

    return tg_fit_table_cell(&t->table, claim->requests[0].choices[0].want,
                             trial_device(t, device));
}

static void hold(struct trial *t, const char *device, const char *share)
{
    t->w.claims[t->w.n_claims++] =
        decodef(t->w.arena, &tg_resource_claim_type,
                "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"h\",\"uid\":\"h\"},\"status\":{"
                "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\","
                "\"pool\":\"p\",\"device\":\"%s\"%s}]}}}}",
                device, share);
}

static void a_device_that_is_held_is_only_for_admins(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 2);
    hold(&t, "g00", "");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_claim(&t, "\"requests\":[" ALL "]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", ",\"adminAccess\":true") "]");
    trial_table(&t);
    assert_int_equal(cell(&t, "g00"), TG_CELL_YES);
    t.n_claims--;
    assert_int_equal(cell(&t, "g00"), TG_CELL_BLOCKED);
    assert_int_equal(cell(&t, "g01"), TG_CELL_YES);
    assert_int_equal(t.table.all[t.claims[1].requests[0].choices[0].want].n, 2);
    t.n_claims--;
    assert_int_equal(cell(&t, "g00"), TG_CELL_NO);
    trial_done(&t);
}

static void selectors_are_asked_in_order_until_one_says_no(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 2);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST(
                        "r", "1",
                        ",\"selectors\":[{\"cel\":{\"expression\":\"" IS(
                            "index", "0") "\"}},{\"cel\":{\"expression\":\"device.attributes['d']."
                                          "none == 1\"}}]") "]");
    trial_table(&t);
    assert_int_equal(cell(&t, "g01"), TG_CELL_NO);
    assert_int_equal(cell(&t, "g00"), TG_CELL_ERROR);
    trial_done(&t);
}

static void errors_are_explained(void **state)
{
    struct tg_fit_problem problem;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\"},{\"name\":\"b\",\"attributes\":{\"x\":{}}}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", SELECT("true")) "]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", SELECT("1 +")) "]");
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", SELECT(IS("y", "1"))) "]");
    trial_table(&t);
    for (size_t i = 0; i < 3; i++) {
        static const enum tg_fit_fault faults[] = {TG_FAULT_UNSUPPORTED_ATTRIBUTE_VALUE,
                                                   TG_FAULT_CEL_COMPILE, TG_FAULT_CEL_RUNTIME};
        size_t want = t.claims[i].requests[0].choices[0].want;

        assert_int_equal(tg_fit_table_cell(&t.table, want, i == 0), TG_CELL_ERROR);
        tg_fit_table_explain(&t.table, want, i == 0, &problem);
        assert_int_equal(problem.fault, faults[i]);
        assert_non_null(problem.message);
    }
    trial_done(&t);
}

static void gates_that_are_off_make_devices_unusable(void **state)
{
    struct trial t;

    (void)state;
    for (size_t on = 0; on < 2; on++) {
        trial_init(&t);
        if (on == 0)
            t.rules.features &= ~(unsigned)TG_FEATURE_DEVICE_BINDING_AND_STATUS;
        add_devices(&t, "{\"name\":\"a\",\"bindingConditions\":[\"Ready\"],"
                        "\"bindingFailureConditions\":[\"Failed\"]}");
        trial_open(&t);
        trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
        trial_table(&t);
        assert_int_equal(cell(&t, "a"), on == 0 ? TG_CELL_NO : TG_CELL_YES);
        trial_done(&t);
    }
}

static void taints_must_be_tolerated(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"},{"
                    "\"key\":\"o\",\"effect\":\"None\"}]}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_table(&t);
    assert_int_equal(cell(&t, "a"), TG_CELL_NO);
    trial_claim(&t,
                "\"requests\":[" REQUEST(
                    "r", "1", ",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]") "]");
    trial_claim(&t, "\"requests\":[" ALL "]");
    trial_table(&t);
    assert_int_equal(cell(&t, "a"), TG_CELL_BLOCKED);
    t.n_claims--;
    assert_int_equal(cell(&t, "a"), TG_CELL_YES);
    trial_done(&t);
}

/* kubernetes#140769: All leaves a used-up device out, or waits for it. */
static void what_all_means_of_a_used_up_device_depends_on_the_release(void **state)
{
    for (unsigned release = 36; release <= 37; release++) {
        struct trial t;

        (void)state;
        trial_init(&t);
        t.rules = tg_rules_of_release(release);
        add_devices(&t, "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"capacity\":{\"m\":{"
                        "\"value\":\"4\"}}},{\"name\":\"b\"}");
        hold(&t, "a", ",\"shareID\":\"s\",\"consumedCapacity\":{\"m\":\"4\"}");
        trial_open(&t);
        trial_claim(&t, "\"requests\":[" ALL "]");
        trial_table(&t);
        assert_int_equal(cell(&t, "a"), release == 36 ? TG_CELL_NO : TG_CELL_BLOCKED);
        trial_done(&t);
    }
}

static void a_device_that_still_has_shares_is_not_given_wholly(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\"}");
    hold(&t, "a", ",\"shareID\":\"s\"");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    trial_table(&t);
    assert_int_equal(cell(&t, "a"), TG_CELL_NO);
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_held_is_only_for_admins),
        cmocka_unit_test(selectors_are_asked_in_order_until_one_says_no),
        cmocka_unit_test(errors_are_explained),
        cmocka_unit_test(gates_that_are_off_make_devices_unusable),
        cmocka_unit_test(taints_must_be_tolerated),
        cmocka_unit_test(what_all_means_of_a_used_up_device_depends_on_the_release),
        cmocka_unit_test(a_device_that_still_has_shares_is_not_given_wholly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
