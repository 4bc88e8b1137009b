/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/result.h"
#include "tests/unit/core/fit_world.h"

static const struct tg_allocation *allocate(struct trial *t)
{
    struct tg_allocation *allocations = NULL;

    assert_int_equal(trial_search(t), TG_FIT_ALLOCATED);
    assert_int_equal(tg_fit_result(&t->book, &t->view, t->claims, t->n_claims, &t->answer,
                                   t->w.arena, &allocations, NULL),
                     0);
    return allocations;
}

static void results_say_what_was_asked_and_what_the_device_adds(void **state)
{
    const struct tg_allocation_device *result;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_devices(&t, "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"capacity\":{\"m\":{"
                    "\"value\":\"8Gi\"},\"d/n\":{\"value\":\"4\",\"requestPolicy\":{\"default\":"
                    "\"1\"}}},\"bindingConditions\":[\"Ready\"],\"bindingFailureConditions\":["
                    "\"Failed\"]}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST(
                        "r", "1",
                        ",\"capacity\":{\"requests\":{\"m\":\"1536Mi\"}},\"tolerations\":[{"
                        "\"key\":\"k\",\"operator\":\"Exists\"}]") "]");
    result = &allocate(&t)[0].devices->results.items[0];
    assert_string_equal(result->request, "r");
    assert_string_equal(result->device, "a");
    assert_string_equal(result->share_id, TG_FIT_SHARE_ID);
    assert_string_equal(result->consumed_capacity, "{\"m\":\"1536Mi\",\"d/n\":\"1\"}");
    assert_string_equal(result->tolerations.items[0].key, "k");
    assert_string_equal(result->binding_conditions.items[0], "Ready");
    assert_string_equal(result->binding_failure_conditions.items[0], "Failed");
    assert_false(result->admin_access.set);
    trial_done(&t);
}

static void config_of_classes_comes_first_and_names_the_requests(void **state)
{
    for (unsigned release = 36; release <= 37; release++) {
        const struct tg_allocation_devices *devices;
        struct trial t;

        (void)state;
        trial_init(&t);
        t.rules = tg_rules_of_release(release);
        add_plain(&t, 3);
        add_raw_class(&t.w, "{\"metadata\":{\"name\":\"set\"},\"spec\":{\"config\":[{\"opaque\":{"
                            "\"driver\":\"d\",\"parameters\":{}}}]}}");
        trial_open(&t);
        trial_claim(&t,
                    "\"requests\":[{\"name\":\"a\",\"exactly\":{\"deviceClassName\":\"set\"}},"
                    "{\"name\":\"b\",\"firstAvailable\":[{\"name\":\"s\",\"deviceClassName\":"
                    "\"set\"}]}],\"config\":[{\"requests\":[\"a\",\"b/s\"],\"opaque\":{\"driver\""
                    ":\"d\",\"parameters\":{\"x\":1}}},{\"requests\":[\"c\"],\"opaque\":{"
                    "\"driver\":\"d\",\"parameters\":{}}},{\"requests\":[\"b\"],\"opaque\":{"
                    "\"driver\":\"d\",\"parameters\":{}}}]");
        devices = allocate(&t)[0].devices;
        /* Up to 36 an entry is there once for each request that it names. */
        assert_int_equal(devices->config.n, release == 36 ? 4 : 3);
        assert_string_equal(devices->config.items[0].source, "FromClass");
        assert_int_equal(devices->config.items[0].requests.n, release == 36 ? 2 : 0);
        assert_string_equal(devices->config.items[1].source, "FromClaim");
        assert_int_equal(devices->config.items[1].requests.n, release == 36 ? 2 : 0);
        assert_string_equal(devices->config.items[devices->config.n - 1].requests.items[0], "b");
        trial_done(&t);
    }
}

#define ZONE                                                                                       \
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","           \
    "\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}]},"
#define ZONE_AND_RACK                                                                              \
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"rack\","           \
    "\"operator\":\"Exists\"},{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"b\",\"a\"]}]}]}" \
    ","

static void the_node_selector_is_merged_or_names_the_node(void **state)
{
    static const struct {
        const char *first, *second;
        size_t n_expressions, n_fields;
    } rows[] = {
        {"\"allNodes\":true,", "\"allNodes\":true,", 0, 0},
        {ZONE, "\"allNodes\":true,", 1, 0},
        {ZONE, ZONE_AND_RACK, 2, 0},
        {ZONE, "\"nodeName\":\"n\",", 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        const struct tg_node_selector *selector;
        struct trial t;

        trial_init(&t);
        t.w.n_nodes = 0;
        add_node(&t.w, "n", "\"zone\":\"a\",\"rack\":\"r\"", "");
        add_part(&t, "s", 2, rows[i].first, "{\"name\":\"a\"}");
        add_part(&t, "t", 2, rows[i].second, "{\"name\":\"b\"}");
        trial_open(&t);
        trial_claim(&t, "\"requests\":[" REQUEST("r", "2", "") "]");
        selector = allocate(&t)[0].node_selector;
        if (rows[i].n_expressions + rows[i].n_fields == 0) {
            assert_null(selector);
        } else {
            assert_int_equal(selector->terms.n, 1);
            assert_int_equal(selector->terms.items[0].match_expressions.n, rows[i].n_expressions);
            assert_int_equal(selector->terms.items[0].match_fields.n, rows[i].n_fields);
        }
        trial_done(&t);
    }
}

static void a_device_that_binds_to_its_node_names_it(void **state)
{
    const struct tg_node_selector *selector;
    struct trial t;

    (void)state;
    trial_init(&t);
    add_part(&t, "s", 1, "\"allNodes\":true,", "{\"name\":\"a\",\"bindsToNode\":true}");
    trial_open(&t);
    trial_claim(&t, "\"requests\":[" REQUEST("r", "1", "") "]");
    selector = allocate(&t)[0].node_selector;
    assert_string_equal(selector->terms.items[0].match_fields.items[0].key, "metadata.name");
    assert_string_equal(selector->terms.items[0].match_fields.items[0].values.items[0], "n");
    trial_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_say_what_was_asked_and_what_the_device_adds),
        cmocka_unit_test(config_of_classes_comes_first_and_names_the_requests),
        cmocka_unit_test(the_node_selector_is_merged_or_names_the_node),
        cmocka_unit_test(a_device_that_binds_to_its_node_names_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
