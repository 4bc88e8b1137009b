/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/check.h"
#include "controller/core/cel/parser.h"
#include "tests/unit/core/world.h"

/* The tree as a text with all parentheses, and its static type. */
static void show(const struct tg_cel_node *node, char *out, size_t size)
{
    size_t n = strlen(out);

    if (node->first == NULL) {
        snprintf(out + n, size - n, "%s%s%s", tg_cel_op_name(node->op),
                 node->name == NULL ? "" : ":", node->name == NULL ? "" : node->name);
        return;
    }
    snprintf(out + n, size - n, "(%s", tg_cel_op_name(node->op));
    for (const struct tg_cel_node *c = node->first; c != NULL; c = c->next) {
        n = strlen(out);
        snprintf(out + n, size - n, " ");
        show(c, out, size);
    }
    n = strlen(out);
    snprintf(out + n, size - n, ")");
}

static const struct {
    const char *source, *tree;
    unsigned depth;
    enum tg_cel_type type;
} cases[] = {
    {"true", "literal", 1, TG_CEL_BOOL},
    {"true || false && true || !false", "(|| literal (&& literal literal) (! literal))", 3,
     TG_CEL_BOOL},
    {"(true || false) && true", "(&& (|| literal literal) literal)", 3, TG_CEL_BOOL},
    {"true && true && true && true", "(&& literal literal literal literal)", 2, TG_CEL_BOOL},
    {"1 < 2 == true", "(== (< literal literal) literal)", 3, TG_CEL_BOOL},
    {"device.attributes['d'].n", "device.attributes:n", 1, TG_CEL_DYN},
    {"'n' in device.capacity['d'] || has(device.attributes['d'].m)", "(|| in:n in:m)", 2,
     TG_CEL_BOOL},
    {"device.capacity['d'].n.compareTo(quantity('1')) >= 0",
     "(>= (compareTo device.capacity:n literal) literal)", 3, TG_CEL_BOOL},
    {"!!!device.attributes.d.n", "(! device.attributes:n)", 2, TG_CEL_BOOL},
};

static void precedence_is_that_of_the_language_and_chains_are_flat(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_cel_node *root = NULL;
        struct tg_error err = TG_ERROR_INIT;
        char out[512] = "";

        if (tg_cel_parse(cases[i].source, arena, &root, &err) < 0 || tg_cel_check(root, &err) < 0)
            fail_msg("%s: %s", cases[i].source, err.message);
        show(root, out, sizeof(out));
        assert_string_equal(out, cases[i].tree);
        assert_int_equal(root->depth, cases[i].depth);
        assert_int_equal(root->type, cases[i].type);
    }
}

static void bad_utf8_is_refused(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_node *root = NULL;

    (void)state;
    assert_int_equal(tg_cel_parse("'\xff' == 'x'", arena, &root, NULL), -TG_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence_is_that_of_the_language_and_chains_are_flat),
        cmocka_unit_test(bad_utf8_is_refused),
    };

    return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
