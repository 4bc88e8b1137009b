/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/resource.h"

static void terms_and_their_requirements_keep_their_places(void **state)
{
    const struct tg_selector_term *term;
    const struct tg_node_selector *selector;
    struct document d;

    (void)state;
    document_read(&d, "ResourceClaim", &tg_resource_claim_type);
    selector = ((const struct tg_resource_claim *)d.object)->status->allocation->node_selector;
    assert_int_equal(selector->terms.n, 1);
    term = &selector->terms.items[0];
    assert_int_equal(term->match_expressions.n, 2);
    assert_string_equal(term->match_expressions.items[0].key, "topology.kubernetes.io/zone");
    assert_string_equal(term->match_expressions.items[0].operator_, "In");
    assert_int_equal(term->match_expressions.items[0].values.n, 2);
    assert_string_equal(term->match_expressions.items[0].values.items[1], "z2");
    assert_string_equal(term->match_expressions.items[1].operator_, "Exists");
    assert_int_equal(term->match_expressions.items[1].values.n, 0);
    assert_int_equal(term->match_fields.n, 1);
    assert_string_equal(term->match_fields.items[0].key, "metadata.name");
    assert_string_equal(term->match_fields.items[0].values.items[0], "node-1");
    document_done(&d);
}

static void a_selector_without_terms_is_told_from_none(void **state)
{
    static const char text[] = "{\"status\":{\"allocation\":{\"nodeSelector\":"
                               "{\"nodeSelectorTerms\":[]}}}}";
    struct tg_arena *arena = tg_arena_new(1 << 16);
    void *object = NULL;

    (void)state;
    assert_int_equal(
        tg_json_decode_new(&tg_resource_claim_type, text, strlen(text), arena, &object, NULL), 0);
    const struct tg_allocation *allocation =
        ((const struct tg_resource_claim *)object)->status->allocation;
    assert_non_null(allocation->node_selector);
    assert_int_equal(allocation->node_selector->terms.n, 0);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_and_their_requirements_keep_their_places),
        cmocka_unit_test(a_selector_without_terms_is_told_from_none),
    };
    return cmocka_run_group_tests_name("node_selector", tests, NULL, NULL);
}
