/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/program.h"

#include "tests/unit/core/world.h"

enum outcome { TRUE, FALSE, RUNTIME, INVALID };

/* Where Kubernetes surprises; found by the comparison with it. minor: the release. */
static const struct {
    unsigned minor;
    const char *expression;
    enum outcome outcome;
} cases[] = {
    /* Integers and doubles meet as doubles. */
    {37, "9223372036854775807 < 9223372036854775808.0", FALSE},
    {37, "double('NaN') < 1.0", RUNTIME},
    {37, "double('1_0') == 10.0", TRUE},
    {37, "string(1000000.0) == '1e+06'", TRUE},
    /* A quantity out of add() is held by pointer, and no quantity equals a pointer. */
    {37, "quantity('1').add(1) == quantity('2')", TRUE},
    {37, "quantity('2') == quantity('1').add(1)", RUNTIME},
    {37, "quantity('2') != quantity('2').add(0)", TRUE},
    {37, "quantity('Ki') == quantity('0')", TRUE},
    {37, "quantity('1.0').isInteger()", FALSE},
    {37, "quantity('1Gi').asInteger() == 1073741824", TRUE},
    /* in: a constant list is a set, an empty one is never looked into. */
    {37, "url('rel').getHost() in []", FALSE},
    {37, "dyn(semver('1.0.0')) in ['a'] || true", RUNTIME},
    {37, "1 in [1.0, 2.0]", INVALID},
    /* Optionals: a step wraps what it finds, an optional too; one that was found is no path. */
    {37, "{'a': optional.of('x')}.?a.value() == optional.of('x')", TRUE},
    {37, "optional.of({'a': optional.of(1)}).a == optional.of(optional.of(1))", TRUE},
    {37, "{'a': optional.of({'b': 1})}.a.?b.hasValue()", FALSE},
    {37, "{'a': optional.of({'b': 1})}.a.b.hasValue()", RUNTIME},
    {37, "{'a': optional.none()}.?a.hasValue()", TRUE},
    {37, "[{'a': true}][?2][?'ab'.substring(8, 4)].hasValue()", FALSE},
    {37, "optional.none()[?'ab'.substring(8, 4)].hasValue()", FALSE},
    {37, "dyn(1) in [1.0, 2.0]", TRUE},
    /* Mixed literals are errors, but for the arguments of format(). */
    {37, "[1, 'a'].size() == 2", INVALID},
    {37, "'%s %d'.format(['a', 1]) == 'a 1'", TRUE},
    {37, "'%d'.format([1.5]) == ''", INVALID},
    {37, "'%d %d'.format([1]) == ''", INVALID},
    {37, "'%f'.format([1.5, 2.5]) == ''", INVALID},
    {37, "'%.2f'.format([1234567.125]) == '1,234,567.12'", TRUE},
    {37,
     "'%.1e'.format([1500.0]) == '1.5\xc3\x97"
     "10\xe2\x81\xb0\xc2\xb3'",
     TRUE},
    /* What changed between releases. */
    {36, "lists.range(-1).size() == 0", TRUE},
    {37, "lists.range(-1).size() == 0", RUNTIME},
    {36, "device.`driver` == 'd'", INVALID},
    {37, "device.`driver` == 'd'", TRUE},
    {34, "[1].exists(x, x == 1)", TRUE},
    {35, "[1].includes(1)", INVALID},
    {36, "[1].includes(1)", TRUE},
    /* Constants that fail are refused, but for those of the Kubernetes libraries. */
    {37, "true || int('a') == 1", INVALID},
    {37, "true || duration('a') == duration('1s')", INVALID},
    {37, "true || quantity('a') == quantity('1')", TRUE},
    {37, "true || 'a'.find('(') == ''", INVALID},
    {37, "{1: 1}[dyn(b'')] == 1", INVALID},
    /* Patterns. */
    {37, "'ab'.matches('(?<name>a)b')", TRUE},
    {37, "'\xe6\x97\xa5'.findAll('\\\\B').size() == 2", TRUE},
    {37, "'a'.matches('\\\\C')", INVALID},
    /* An unknown domain is an empty map, in has() too. */
    {37, "device.attributes['x'] == {}", TRUE},
    {37, "has(device.attributes.x)", TRUE},
    {37, "'x' in device.attributes", FALSE},
    /* cel.bind is lazy, its errors are absorbed like others. */
    {37, "cel.bind(x, 1 / 0, true)", TRUE},
    {37, "cel.bind(x, 1 / 0 == 1, x || true)", TRUE},
    {37, "cel.bind(x, [1, 2].map(y, y + 1), x.all(z, z in x))", TRUE},
    {37, "[0, 1].all(x, 1 / x > 0)", RUNTIME},
    {37, "[0, 1, 2].all(x, 1 / x > 5)", FALSE},
    {37, "[0, 1].exists(x, 1 / x == 1)", TRUE},
    {37, "[0, 1].exists_one(x, 1 / x == 1)", RUNTIME},
};

static enum outcome run(unsigned minor, const char *expression, uint64_t limit,
                        struct tg_error *err)
{
    struct tg_cel_environment env = {
        .profile = TG_CEL_DRA,
        .minor = minor,
        .consumable_capacity = true,
        .list_type_attributes = true,
    };
    struct tg_cel_device device = {.driver = "d", .driver_n = 1};
    struct tg_cel_input input = {.device = &device, .cost_limit = limit};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_cel_program *program = NULL;
    struct tg_cel_scratch scratch;
    bool result = false;

    tg_cel_scratch_on(&scratch, arena);
    if (tg_cel_compile(expression, strlen(expression), &env, arena, &program, err) < 0)
        return INVALID;
    if (tg_cel_evaluate_bool(program, &input, &scratch, &result, NULL, err) < 0)
        return RUNTIME;
    return result ? TRUE : FALSE;
}

static void each_release_means_what_kubernetes_means_by_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_error err = TG_ERROR_INIT;
        enum outcome outcome = run(cases[i].minor, cases[i].expression, 0, &err);

        if (outcome != cases[i].outcome)
            fail_msg("1.%u: %s: outcome %d, wanted %d: %s", cases[i].minor, cases[i].expression,
                     outcome, cases[i].outcome, err.message);
    }
}

static void nothing_absorbs_the_cost_limit(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(run(37, "lists.range(1000).all(x, x >= 0) || true", 100, &err), RUNTIME);
    assert_non_null(strstr(err.message, "actual cost limit exceeded"));
    assert_int_equal(run(37, "lists.range(1000000000000).size() > 0", 0, &err), RUNTIME);
    assert_int_equal(run(37, "lists.range(1000).all(x, x >= 0) || true", 0, &err), TRUE);
}

static void estimated_costs_are_those_of_the_api_server(void **state)
{
    static const struct {
        const char *expression;
        uint64_t cost;
    } costs[] = {
        {"true", 0},
        {"device.driver == 'x'", 3},
        {"device.attributes['d'].n > 0", 5},
        {"cel.bind(a, device.attributes['d'], a.n)", 15},
        {"device.attributes['d'].exists_one(x, x == 'y')", 133},
        {"device.attributes['d'].n.includes('x')", 68},
        {"device.attributes['d'].s.matches('[^a]?sym')", 18},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
        struct tg_cel_environment env = {.profile = TG_CEL_DRA, .minor = 37};
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_cel_program *program = NULL;

        assert_int_equal(tg_cel_compile(costs[i].expression, strlen(costs[i].expression), &env,
                                        arena, &program, NULL),
                         0);
        assert_int_equal(tg_cel_program_cost(program), costs[i].cost);
    }
}

/* What the cost tracker of the Go package counts, errors that are absorbed included. */
static const struct {
    const char *expression;
    uint64_t cost;
} spent[] = {
    {"type(1) == int", 1},
    {"int == int", 1},
    {"[true][?-1].hasValue()", 2},
    {"[1][?0].hasValue()", 3},
    {"{'a': 1}.?b.hasValue()", 2},
    {"{'a': 1}.?a.hasValue()", 3},
    {"[true, false].exists_one(b, b)", 6},
    {"[1, 2].exists(x, x == 1)", 10},
    {"1 / 0 == 1 || true", 2},
    {"[1 / 0].size() == 1 || true", 13},
    {"dyn(1).check('a').allowed() || true", 350001},
    {"(true ? {?'a': optional.of('')} : {'a': '0'}).a == 'x'", 32},
    {"'b'.contains(string(1 / 0)) || true", 3},
    {"'abcdefghijk'.contains('b')", 2},
    {"cel.bind(x, [1, 2], x[0] == 1)", 3},
    {"['a', 'b'].map(k, {'a': 1, 'b': 2}[k]).size() == 2", 31},
    {"{'a': 1 / 0}.size() == 1 || true", 33},
    {"!(1 / 0 == 1) || true", 3},
};

static void spent_costs_are_those_of_kubernetes(void **state)
{
    static const struct tg_cel_environment env = {.profile = TG_CEL_DRA, .minor = 37};

    (void)state;
    for (size_t i = 0; i < sizeof(spent) / sizeof(spent[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        const char *text = spent[i].expression;
        struct tg_cel_device device = {.driver = "d", .driver_n = 1};
        struct tg_cel_input input = {.device = &device};
        struct tg_cel_program *program = NULL;
        struct tg_cel_scratch scratch;
        bool match = false;
        uint64_t cost = 0;

        tg_cel_scratch_on(&scratch, arena);
        assert_int_equal(tg_cel_compile(text, strlen(text), &env, arena, &program, NULL), 0);
        assert_int_equal(tg_cel_evaluate_bool(program, &input, &scratch, &match, &cost, NULL), 0);
        if (cost != spent[i].cost)
            fail_msg("%s cost %lu, not %lu", text, (unsigned long)cost,
                     (unsigned long)spent[i].cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_release_means_what_kubernetes_means_by_it),
        cmocka_unit_test(nothing_absorbs_the_cost_limit),
        cmocka_unit_test(estimated_costs_are_those_of_the_api_server),
        cmocka_unit_test(spent_costs_are_those_of_kubernetes),
    };

    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
