/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/prepare.h"
#include "tests/unit/core/fit_world.h"

#define ALL(more)                                                                                  \
    "{\"name\":\"all\",\"exactly\":{\"deviceClassName\":\"any\",\"allocationMode\":\"All\"" more   \
    "}}"
#define UNKNOWN "{\"name\":\"u\",\"exactly\":{\"deviceClassName\":\"no\"}}"

static enum tg_fit_fault prepare(struct trial *t)
{
    struct tg_fit_problem problem;

    assert_int_equal(tg_fit_table_init(&t->table, &t->book, &t->view, t->w.arena, NULL), 0);
    assert_int_equal(tg_fit_prepare(&t->table, t->claims, t->n_claims, &problem, NULL), 0);
    return problem.fault;
}

static void a_claim_has_at_most_32_results(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_plain(&t, 2);
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "30", "") "," ALL("") "]");
    assert_int_equal(prepare(&t), TG_FAULT_NONE);
    assert_int_equal(tg_fit_least_results(&t.table, &t.claims[0], 0), 32);
    assert_int_equal(tg_fit_least_results(&t.table, &t.claims[0], 1), 2);
    trial_claim(&t, "\"requests\":[" REQUEST("a", "31", "") "," ALL("") "]");
    assert_int_equal(prepare(&t), TG_FAULT_CLAIM_LIMIT);
    t.n_claims = 0;
    trial_claim(&t, "\"requests\":[" REQUEST("a", "9223372036854775807",
                                             "") "," REQUEST("b", "9223372036854775807", "") "]");
    assert_int_equal(prepare(&t), TG_FAULT_CLAIM_LIMIT);
    t.n_claims = 0;
    trial_claim(&t, "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[" ALTERNATIVE(
                        "many", "500", "") "," ALTERNATIVE("few", "32", "") "]}]");
    assert_int_equal(prepare(&t), TG_FAULT_NONE);
    trial_done(&t);
}

static void the_first_problem_in_the_order_of_claims_is_told(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_part(&t, "s", 2, "\"nodeName\":\"n\",", "{\"name\":\"a\"}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" UNKNOWN "," ALL("") "]");
    assert_int_equal(prepare(&t), TG_FAULT_UNKNOWN_CLASS);
    t.n_claims = 0;
    trial_claim(&t, "\"requests\":[" ALL("") "," UNKNOWN "]");
    assert_int_equal(prepare(&t), TG_FAULT_POOL_INCOMPLETE_ALL);
    t.n_claims = 0;
    trial_claim(&t, "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"s\","
                    "\"deviceClassName\":\"any\",\"allocationMode\":\"All\"},{\"name\":\"t\","
                    "\"deviceClassName\":\"no\"}]}]");
    assert_int_equal(prepare(&t), TG_FAULT_POOL_INCOMPLETE_ALL);
    trial_done(&t);
}

static void all_reports_pools_and_selectors_that_forbid_it(void **state)
{
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\"},{\"name\":\"a\"}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" ALL("") "]");
    assert_int_equal(prepare(&t), TG_FAULT_INVALID_POOLS);
    trial_done(&t);
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\"},{\"name\":\"b\"}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" ALL(SELECT(IS("x", "1"))) "]");
    assert_int_equal(prepare(&t), TG_FAULT_CEL_RUNTIME);
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_has_at_most_32_results),
        cmocka_unit_test(the_first_problem_in_the_order_of_claims_is_told),
        cmocka_unit_test(all_reports_pools_and_selectors_that_forbid_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
