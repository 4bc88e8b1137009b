/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_match.h"
#include "tests/unit/core/world.h"

static void terms_are_ored_and_requirements_anded(void **state)
{
    static const struct {
        const char *terms;
        bool matches;
    } cases[] = {
        {"{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"In\",\"values\":[\"r1\"]}]}",
         true},
        {"{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"In\",\"values\":[\"r2\"]}]},{"
         "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}",
         true},
        {"{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Exists\"},{\"key\":\"zone\","
         "\"operator\":\"Exists\"}]}",
         false},
        {"{}", false},
        {"", false},
        {"{\"matchFields\":[{\"key\":\"metadata.uid\",\"operator\":\"NotIn\",\"values\":[\"n\"]}]}",
         true},
        {"{\"matchFields\":[{\"key\":\"metadata.uid\",\"operator\":\"In\",\"values\":[\"n\"]}]}",
         false},
        {"{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Near\",\"values\":[\"r1\"]}]}",
         false},
        {"{\"matchExpressions\":[{\"key\":\"rack\"}]}", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;

        world_init(&w);
        add_node(&w, "n", "\"rack\":\"r1\"", "");
        assert_int_equal(
            tg_node_selector_matches(decodef(w.arena, &tg_node_selector_type,
                                             "{\"nodeSelectorTerms\":[%s]}", cases[i].terms),
                                     w.nodes[0]),
            cases[i].matches);
        world_done(&w);
    }
}

static void a_name_comes_before_all_nodes_and_that_before_a_selector(void **state)
{
    struct world w;
    const struct tg_node_selector nothing = {.terms = {.n = 0}};

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    assert_true(tg_node_matches(w.nodes[0], "n", false, &nothing));
    assert_false(tg_node_matches(w.nodes[0], "m", true, NULL));
    assert_true(tg_node_matches(w.nodes[0], "", true, &nothing));
    assert_false(tg_node_matches(w.nodes[0], NULL, false, &nothing));
    assert_false(tg_node_matches(w.nodes[0], NULL, false, NULL));
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_ored_and_requirements_anded),
        cmocka_unit_test(a_name_comes_before_all_nodes_and_that_before_a_selector),
    };

    return cmocka_run_group_tests_name("node_match", tests, NULL, NULL);
}
