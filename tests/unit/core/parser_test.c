/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/parser.h"

#include "tests/unit/core/world.h"

static const struct tg_cel_environment newest = {.profile = TG_CEL_DRA, .minor = 37};

static void show(const struct tg_cel_node *node, char *out, size_t size);

static void add(char *out, size_t size, const char *text)
{
    size_t n = strlen(out);

    snprintf(out + n, size - n, "%s", text);
}

static void show_fold(const struct tg_cel_fold *fold, char *out, size_t size)
{
    add(out, size, fold->bind ? "bind " : "fold ");
    add(out, size, fold->bind ? fold->accu : fold->iter);
    for (int i = 0; i < 4; i++) {
        const struct tg_cel_node *const parts[] = {fold->range, fold->init, fold->step,
                                                   fold->result};

        if (fold->bind && i != 1 && i != 3)
            continue;
        add(out, size, " ");
        show(parts[i], out, size);
    }
}

/* The tree as a text with all parentheses. */
static void show(const struct tg_cel_node *node, char *out, size_t size)
{
    char number[32];

    if (node->kind == TG_CEL_LITERAL && node->literal.tag == TG_CEL_V_INT) {
        snprintf(number, sizeof(number), "%lld", (long long)node->literal.integer);
        add(out, size, number);
        return;
    }
    if (node->kind == TG_CEL_LITERAL || node->kind == TG_CEL_IDENT) {
        add(out, size, node->kind == TG_CEL_IDENT ? node->name : "literal");
        return;
    }
    add(out, size, "(");
    if (node->kind == TG_CEL_FOLD)
        show_fold(node->fold, out, size);
    else if (node->kind == TG_CEL_SELECT)
        add(out, size, node->test ? "has " : ". ");
    add(out, size,
        node->kind == TG_CEL_CREATE_LIST  ? "list"
        : node->kind == TG_CEL_CREATE_MAP ? "map"
        : node->kind == TG_CEL_FOLD       ? ""
                                          : node->name);
    for (size_t i = 0; i < node->n_args; i++) {
        add(out, size, node->optional != NULL && node->optional[i] ? " ?" : " ");
        show(node->args[i], out, size);
    }
    add(out, size, ")");
}

static const struct {
    const char *source, *tree;
} cases[] = {
    {"a || b && c || !d", "(_||_ (_||_ a (_&&_ b c)) (!_ d))"},
    {"(a || b) && c", "(_&&_ (_||_ a b) c)"},
    {"a && b && c && d", "(_&&_ (_&&_ a b) (_&&_ c d))"},
    {"a < b == c", "(_==_ (_<_ a b) c)"},
    {"a + b * c - d", "(_-_ (_+_ a (_*_ b c)) d)"},
    {"a - b - c", "(_-_ (_-_ a b) c)"},
    {"a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))"},
    {"!!a && !!!b", "(_&&_ a (!_ b))"},
    {"-1 - -1", "(_-_ -1 -1)"},
    {"--1", "1"},
    {"-a.b", "(-_ (. b a))"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"a.b['c'].d(e)", "(d (_[_] (. b a) literal) e)"},
    {"a.?b[?c]", "(_[?_] (_?._ a literal) c)"},
    {"[a, ?b,]", "(list a ?b)"},
    {"[,]", "(list)"},
    {"{?a: b, c: d}", "(map ?a b c d)"},
    {"has(a.b.c)", "(has c (. b a))"},
    {"cel.bind(x, a, x)", "(bind x a x)"},
    {"a.all(x, x)", "(fold x a literal (_&&_ @result x) @result)"},
    {"a.map(x, b, x)", "(fold x a (list) (_?_:_ b (_+_ @result (list x)) @result) @result)"},
    {"a.exists_one(x, x)", "(fold x a 0 (_?_:_ x (_+_ @result 1) @result) (_==_ @result 1))"},
};

static void trees_are_those_of_the_grammar_and_macros_are_expanded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_cel_source source = {.text = cases[i].source, .n = strlen(cases[i].source)};
        struct tg_cel_node *root = NULL;
        struct tg_error err = TG_ERROR_INIT;
        char out[512] = "";

        if (tg_cel_parse(&source, &newest, arena, &root, &err) < 0)
            fail_msg("%s: %s", cases[i].source, err.message);
        show(root, out, sizeof(out));
        assert_string_equal(out, cases[i].tree);
    }
}

static const struct {
    const char *source, *text;
} bad[] = {
    {"a.all(b.c, true)", "1:8: the name of the variable must be a simple name"},
    {"a.all(__result__, true)", "overwrites the accumulator"},
    {"a.all(x, x, true)", "both variables have the same name"},
    {"has(a)", "has() takes a selection"},
    {"[a b]", "1:4: Syntax error: unexpected 'b'"},
    {"{a b}", "':' is expected"},
    {"a ? b", "':' is expected"},
    {"f(a,)", "an argument is expected"},
    {"a.if()", NULL},
    {"a..b", "a name is expected"},
    {"-!a", "a number or a name"},
};

static void what_is_wrong_is_said_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_cel_source source = {.text = bad[i].source, .n = strlen(bad[i].source)};
        struct tg_cel_node *root = NULL;
        struct tg_error err = TG_ERROR_INIT;
        int rc = tg_cel_parse(&source, &newest, arena, &root, &err);

        assert_int_equal(rc, bad[i].text == NULL ? 0 : -TG_INVALID_ARGUMENT);
        if (bad[i].text != NULL && strstr(err.message, bad[i].text) == NULL)
            fail_msg("%s: '%s' lacks '%s'", bad[i].source, err.message, bad[i].text);
    }
}

static void the_caret_stands_under_the_character_that_is_meant(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_source source = {.text = "a ==\n'\xc3\xa9' + #", .n = 13};
    struct tg_cel_node *root = NULL;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(tg_cel_parse(&source, &newest, arena, &root, &err), -TG_INVALID_ARGUMENT);
    assert_string_equal(err.message, "2:7: '#' is no token of CEL\n | '\xc3\xa9' + #\n | ......^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_those_of_the_grammar_and_macros_are_expanded),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(the_caret_stands_under_the_character_that_is_meant),
    };

    return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
