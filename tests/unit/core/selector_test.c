/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "controller/core/cel/program.h"
#include "controller/core/cel/selector.h"
#include "tests/unit/core/world.h"

static const char device_json[] =
    "{\"name\":\"d\",\"attributes\":{\"index\":{\"int\":3},\"big\":{\"int\":9223372036854775807},"
    "\"model\":{\"string\":"
    "\"H100\"},\"driverVersion\":{\"version\":\"550.90.7\"},\"ecc\":{\"bool\":true},\"off\":{"
    "\"bool\":false},"
    "\"other.example.com/link\":{\"string\":\"nv\\u00e9\"},\"gpu.example.com/"
    "model\":{\"string\":\"H200\"},\"list\":{"
    "\"ints\":[1]}},\"capacity\":{\"memory\":{\"value\":\"80Gi\"},\"other.example.com/"
    "lanes\":{\"value\":\"16\"}}}";

#define A "device.attributes[\"gpu.example.com\"]"
#define C "device.capacity[\"gpu.example.com\"]"

enum outcome { YES, NO, RUNTIME, INVALID };

static const struct {
    const char *expression;
    enum outcome outcome;
    const char *text; /* in the message */
} cases[] = {
    {TG_GUARD_EXPRESSION, YES, NULL},
    {"device.attributes[\"tangram.dev\"].granted", YES, NULL},
    {"\"tangram.dev\" in device.attributes", YES, NULL},
    {"\"other\" in device.attributes[\"tangram.dev\"]", NO, NULL},
    {"device.driver == \"gpu.example.com\"", YES, NULL},
    {"device.driver != 'gpu.example.com'", NO, NULL},
    {"device.driver < \"h\" && \"a\" < device.driver", YES, NULL},
    {A ".index == 3", YES, NULL},
    {A "[\"index\"] == 3", YES, NULL},
    {"device.attributes['gpu.example.com'].index >= 4", NO, NULL},
    {A ".index == 3.0 && " A ".index < 3.5 && " A ".index == 3u", YES, NULL},
    {"-1 < " A ".index && " A ".index > -9223372036854775808", YES, NULL},
    {A ".big > 9223372036854775806 && " A ".big < 9223372036854775808u", YES, NULL},
    {A ".big < 9.3e18 && " A ".index > 0x2", YES, NULL},
    /* Different types are unequal, but have no order. */
    {A ".index == \"3\"", NO, NULL},
    {A ".index != \"3\"", YES, NULL},
    {A ".index < \"3\"", RUNTIME, "no such overload"},
    /* The qualified spelling wins. */
    {A ".model == \"H200\"", YES, NULL},
    {"device.attributes[\"other.example.com\"].link == \"nv\\u00e9\"", YES, NULL},
    {"device.attributes[\"other.example.com\"].link == \"nv\\xe9\"", YES, NULL},
    {"device.attributes[\"other.example.com\"].link == 'nv\\351'", YES, NULL},
    {"r\"a\\b\" == \"a\\\\b\" && '''a\"'b''' == \"a\\\"'b\"", YES, NULL},
    /* Presence. */
    {"\"index\" in " A, YES, NULL},
    {"\"nope\" in " A, NO, NULL},
    {"\"nope\" in device.attributes[\"nowhere\"]", NO, NULL},
    {"\"nowhere\" in device.attributes || \"nowhere\" in device.capacity", NO, NULL},
    {"has(" A ".index) && !has(" A ".nope) && has(" C ".memory)", YES, NULL},
    /* A missing key is an error, absorbed as CEL does. */
    {A ".nope == 1", RUNTIME, "no such key: nope"},
    {"device.attributes[\"nowhere\"].nope == 1", RUNTIME, "no such key"},
    {A ".nope == 1 || true", YES, NULL},
    {"true || " A ".nope == 1", YES, NULL},
    {A ".nope == 1 && false", NO, NULL},
    {A ".nope == 1 || false", RUNTIME, "no such key: nope"},
    {"\"nope\" in " A " && " A ".nope == 1", NO, NULL},
    {"!(" A ".nope == 1)", RUNTIME, "no such key"},
    {A ".list == 1", NO, NULL},
    /* Truth. */
    {A ".ecc", YES, NULL},
    {A ".off", NO, NULL},
    {"!" A ".ecc", NO, NULL},
    {"!!!" A ".off && !!" A ".ecc", YES, NULL},
    {A ".ecc == true && false < true", YES, NULL},
    {A ".index", RUNTIME, "could not be converted to bool"},
    {A ".index && true", RUNTIME, "no such overload"},
    {"true || false && false", YES, NULL},
    {"(true || false) && false", NO, NULL},
    {"true // && false", YES, NULL},
    /* Quantities and versions. */
    {C ".memory.compareTo(quantity(\"80Gi\")) == 0", YES, NULL},
    {C ".memory.compareTo(quantity(\"81Gi\")) >= 0", NO, NULL},
    {C ".memory.isGreaterThan(quantity('40Gi')) && " C ".memory.isLessThan(quantity('100Gi'))", YES,
     NULL},
    {C ".memory == quantity(\"81920Mi\")", YES, NULL},
    {"quantity(\"20\").isGreaterThan(device.capacity[\"other.example.com\"].lanes)", YES, NULL},
    {C ".nope.compareTo(quantity(\"1\")) == 0", RUNTIME, "no such key"},
    {A ".driverVersion.isGreaterThan(semver(\"550.54.15\"))", YES, NULL},
    {A ".driverVersion.isLessThan(semver(\"550.90.7\"))", NO, NULL},
    {A ".driverVersion.compareTo(semver(\"551.0.0\")) == -1", YES, NULL},
    {A ".driverVersion == semver(\"550.90.7+build\")", YES, NULL},
    {A ".driverVersion == \"550.90.7\"", RUNTIME, "no such overload"},
    {"\"550.90.7\" == " A ".driverVersion", NO, NULL},
    {A ".index.isGreaterThan(semver(\"1.0.0\"))", RUNTIME, "no such overload"},
    {A ".driverVersion.isGreaterThan(quantity(\"1\"))", RUNTIME, "no such overload"},
    {"quantity(\"lots\") == quantity(\"1\")", RUNTIME, "not a quantity"},
    /* Types that never fit. */
    {"1", INVALID, "must evaluate to bool"},
    {C ".memory", INVALID, "must evaluate to bool"},
    {"device.driver == 1", INVALID, "no matching overload"},
    {"1 == 1.0", INVALID, "no matching overload"},
    {"dyn(1) == 1.0", YES, NULL},
    {"1 < 1.5 && 1u <= 1", YES, NULL},
    {C ".memory > 5", INVALID, "'_>_' applied to 'kubernetes.Quantity, int'"},
    {C ".memory.isGreaterThan(semver(\"1.0.0\"))", INVALID, "no matching overload"},
    {"device.driver.compareTo(\"x\") == 0", INVALID, "no matching overload"},
    {"!device.driver", INVALID, "no matching overload"},
    {"true && 1", INVALID, "no matching overload"},
    {"1 in " A, INVALID, "no matching overload"},
    {"[1, 'a'] == []", INVALID, "expected type 'int' but found 'string'"},
    {"device.attributes", INVALID, "must evaluate to bool"},
    {"[1].all(x, x)", INVALID, "no matching overload"},
    {"1.all(x, true)", INVALID, "cannot be range"},
    /* Not CEL. */
    {"", INVALID, "ends too early"},
    {"true &&", INVALID, "1:8"},
    {"true)", INVALID, "')'"},
    {"(true", INVALID, "')' is expected"},
    {"true = false", INVALID, "equality is '=='"},
    {"\"open", INVALID, "not closed"},
    {"'\\q' == 'q'", INVALID, "unknown escape"},
    {"'\\ud800' == 'q'", INVALID, "no Unicode character"},
    {"12a == 12", INVALID, "unexpected 'a'"},
    {"9223372036854775808 > 1", INVALID, "out of range"},
    {"0x10000000000000000 > 1", INVALID, "out of range"},
    {"-1u < 1", INVALID, "no matching overload"},
    {"if == 1", INVALID, "reserved identifier: if"},
    {"dev.driver == \"\"", INVALID, "a selector knows only 'device'"},
    {"dev", INVALID, "undeclared reference to 'dev'"},
    {"device.nope == 1", INVALID, "device has driver, attributes"},
    {"device.productName == 'x'", INVALID,
     "did you mean device.attributes[\"gpu.tangram.dev\"].productName?"},
    {"device.driver.startWith('x')", INVALID, "did you mean 'startsWith'?"},
    {"has(" A "[\"index\"])", INVALID, "selection with a dot"},
    {"a.b{c: 1}", INVALID, "messages"},
    /* The rest of the language. */
    {"device.attributes.exists_one(x, x == \"other.example.com\")", YES, NULL},
    {A ".list.exists(x, x == 1)", YES, NULL},
    {"1 in " A ".list && " A ".list.size() == 1", YES, NULL},
    {A ".index.exists(x, x == 1)", RUNTIME, "expected iterable type, got int"},
    {A ".model.startsWith(\"H\")", YES, NULL},
    {"device.driver.matches(\"^gpu[.]e.*m$\")", YES, NULL},
    {"device.driver.matches(\"(\")", INVALID, "invalid regular expression"},
    {"size(device.driver) == 15", YES, NULL},
    {"cel.bind(x, " A ".index, x + x == 6)", YES, NULL},
    {"cel.bind(x, " A ".nope, true)", YES, NULL},
    {"true ? true : false", YES, NULL},
    {A ".?index.orValue(1) == 3 && " A ".?nope.orValue(1) == 1", YES, NULL},
    {"device.attributes[?\"nowhere\"].hasValue()", YES, NULL},
    {A ".index + 1 == 4 && -(1) < 0", YES, NULL},
    {A ".big + 1 > 0", RUNTIME, "integer overflow"},
    {A ".index / 0 == 1", RUNTIME, "division by zero"},
    {A ".index in [1, 2, 3]", YES, NULL},
    {A ".index == null", NO, NULL},
    {"b'x' == b'x'", YES, NULL},
    {"'\\x00' == 'x'", NO, NULL},
    {"semver(\"v1\", true) == semver(\"1.0.0\")", YES, NULL},
    {"quantity(device.driver) == quantity(\"1\")", RUNTIME, "not a quantity"},
    {"semver(\"v1\") == semver(\"1.0.0\")", RUNTIME, "not a semantic version"},
    {"int('x') == 1", INVALID, "int() of a constant fails"},
    {"device.allowMultipleAllocations == false", YES, NULL},
    {"device.attributes[device.driver].index == 3", YES, NULL},
    {"device.attributes == device.attributes", YES, NULL},
    {"device.driver in " A, NO, NULL},
    {A ".index.includes(3) && " A ".list.includes(1)", YES, NULL},
    {C ".memory.add(quantity('1Gi')) == quantity('81Gi')", YES, NULL},
    {"quantity('81Gi') == " C ".memory.add(quantity('1Gi'))", RUNTIME, "no such overload"},
    {"ip('127.0.0.1').isLoopback() && cidr('10.0.0.0/8').containsIP('10.1.2.3')", YES, NULL},
    {"url('https://a.example:80/b?c=d').getPort() == '80'", YES, NULL},
    {"!format.dns1123Label().validate('a-b').hasValue()", YES, NULL},
    {"[3, 1, 2].sort() == [1, 2, 3] && [[1], [2]].flatten() == [1, 2]", YES, NULL},
    {"{'a': 1}.all(k, v, k == 'a' && v == 1)", YES, NULL},
    /* Declared in Kubernetes, but nothing there is an authorizer. */
    {"dyn(1).path('/') == dyn(1)", RUNTIME, "no such overload"},
    {"true || dyn(1).path('/').check('get').allowed()", YES, NULL},
    {"dyn(1).path(1) == dyn(1)", INVALID, "no matching overload"},
    {"authorizer.path('/').check('get').allowed()", INVALID, "undeclared reference"},
    {"dyn(1).path('/').check('a').allowed() && dyn(1).path('/').check('b').allowed() && "
     "dyn(1).path('/').check('c').allowed()",
     INVALID, "exceeds cost limit"},
    /* Of a bound domain only what is used is read, its absence included. */
    {"cel.bind(a, " A ", a.ecc && a.index == 3 && !has(a.nope))", YES, NULL},
    {"cel.bind(a, " A ", a['index'] == 3 && size(a) > 5 && 'ecc' in a)", YES, NULL},
    {"cel.bind(a, " A ", cel.bind(b, " C ", a.index == 3 && has(b.memory)))", YES, NULL},
    {"cel.bind(a, device.attributes['nowhere'], has(a.index) || size(a) > 0)", NO, NULL},
    {"device.attributes['nowhere'].?index.hasValue()", NO, NULL},
    {A ".?model.orValue('') == 'H200' && !" A ".?nope.hasValue()", YES, NULL},
    {"'abc'.indexOf('', 8) == 3 && 'abc'.lastIndexOf('', 2) == 2", YES, NULL},
    {"'abc'.indexOf('', -1) == -1", RUNTIME, "out of range"},
};

static enum outcome run(const char *expression, const char *driver, const struct tg_device *device,
                        struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_selector *selector = NULL;
    bool match = false;
    int rc = tg_selector_compile(expression, arena, &selector, err);

    if (rc < 0) {
        assert_int_equal(rc, -TG_INVALID_ARGUMENT);
        return INVALID;
    }
    rc = tg_selector_matches(selector, driver, device, &match, err);
    if (rc < 0) {
        assert_int_equal(rc, -TG_FAILED_PRECONDITION);
        return RUNTIME;
    }
    return match ? YES : NO;
}

static void every_expression_means_what_it_means_in_kubernetes_or_is_refused(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_device *device = decode(arena, &tg_device_type, device_json);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_error err = TG_ERROR_INIT;
        enum outcome outcome = run(cases[i].expression, GPU_DRIVER, device, &err);

        if (outcome != cases[i].outcome)
            fail_msg("%s: outcome %d, wanted %d: %s", cases[i].expression, outcome,
                     cases[i].outcome, err.message);
        if (cases[i].text != NULL && strstr(err.message, cases[i].text) == NULL)
            fail_msg("%s: '%s' lacks '%s'", cases[i].expression, err.message, cases[i].text);
    }
}

static void any_prefix_of_an_expression_is_answered(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_device *device = decode(arena, &tg_device_type, device_json);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t n = 0; n < strlen(cases[i].expression); n++) {
            char *prefix = strndup(cases[i].expression, n);
            struct tg_error err = TG_ERROR_INIT;

            assert_non_null(prefix);
            run(prefix, GPU_DRIVER, device, &err);
            free(prefix);
        }
    }
}

static char *repeat(const char *before, const char *unit, size_t n, const char *after)
{
    size_t size = strlen(before) + n * strlen(unit) + strlen(after) + 1, at = 0;
    char *s = malloc(size);

    assert_non_null(s);
    at += (size_t)snprintf(s, size, "%s", before);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(s + at, size - at, "%s", unit);
    snprintf(s + at, size - at, "%s", after);
    return s;
}

static void length_and_depth_are_bounded_and_chains_are_not_deep(void **state)
{
    static const struct {
        const char *before, *unit, *after;
        size_t n;
        enum outcome outcome;
    } long_ones[] = {
        {"false", " || false", " || true", 1000, YES},
        {"true", " && true", "", 1100, YES},
        {"", "!", "true", 5000, YES},
        {"", "(", "true", 5000, INVALID},
        {"true", " == true", "", 250, YES},
        {"true", " == true", "", 251, INVALID},
        {"", "quantity(\"1\").compareTo(", "", 300, INVALID},
        {"optional.of(true)", ".optMap(x, x)", ".hasValue()", 20, INVALID},
        {"true", " ", "", 20000, INVALID},
        {"", "\"x\" == \"x\" && ", "true", 700, YES},
    };
    struct tg_device device = {.name = "d"};

    (void)state;
    for (size_t i = 0; i < sizeof(long_ones) / sizeof(long_ones[0]); i++) {
        char *s =
            repeat(long_ones[i].before, long_ones[i].unit, long_ones[i].n, long_ones[i].after);
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(run(s, GPU_DRIVER, &device, &err), long_ones[i].outcome);
        free(s);
    }
}

static void an_exhausted_budget_is_an_ordinary_error(void **state)
{
    struct tg_selector *selector = NULL;
    int rc = -1;

    (void)state;
    for (size_t nth = 1; rc != 0; nth++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        tg_arena_fail_after(arena, nth);
        rc = tg_selector_compile(TG_GUARD_EXPRESSION " && !(" A ".index == 3 || has(" A ".b))",
                                 arena, &selector, NULL);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
        tg_arena_free(arena);
    }
}

static void what_a_selector_reads_is_known(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_selector *selector = NULL;
    const struct tg_cel_reads *reads;

    (void)state;
    assert_int_equal(tg_selector_compile(A ".index == 3 && cel.bind(c, " C ", has(c.memory)) && "
                                           "device.driver != '' && " A ".index > 1",
                                         arena, &selector, NULL),
                     0);
    reads = tg_selector_reads(selector);
    assert_true(reads->driver);
    assert_false(reads->all);
    assert_false(reads->allow_multiple_allocations);
    assert_int_equal(reads->n, 2);
    assert_string_equal(reads->items[0].name, "index");
    assert_false(reads->items[0].capacity);
    assert_true(reads->items[1].capacity);
    assert_string_equal(reads->items[1].name, "memory"); /* through the bound name */
    assert_int_equal(tg_selector_compile("cel.bind(a, " A ", a.index == 3 && a == " A ")", arena,
                                         &selector, NULL),
                     0);
    reads = tg_selector_reads(selector);
    assert_int_equal(reads->n, 2);
    assert_null(reads->items[1].name); /* the whole of it */
    assert_int_equal(
        tg_selector_compile("device.attributes.exists(d, d == 'x')", arena, &selector, NULL), 0);
    assert_true(tg_selector_reads(selector)->all);
}

static void what_would_cost_too_much_is_refused_before_it_is_run(void **state)
{
    static const char costly[] =
        "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, "
        "device.attributes.all(d, a + b + c + d != 'x'))))";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_selector *selector = NULL;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(tg_selector_compile(costly, arena, &selector, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "exceeds cost limit"));
}

static void an_expression_that_needs_a_newer_release_says_so(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_selector *selector = NULL;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    assert_int_equal(tg_selector_compile_for(A ".list.includes(1)", 34, arena, &selector, &err),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "needs Kubernetes 1.37"));
    assert_int_equal(tg_selector_compile_for(A ".list.includes(1)", 37, arena, &selector, &err), 0);
    /* Older ones count as 1.34, newer and unknown ones as 1.37. */
    assert_int_equal(tg_selector_compile_for(A ".list.includes(1)", 30, arena, &selector, &err),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_selector_compile_for(A ".list.includes(1)", 0, arena, &selector, &err), 0);
    assert_int_equal(tg_selector_compile_for(A ".list.includes(1)", 99, arena, &selector, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_expression_means_what_it_means_in_kubernetes_or_is_refused),
        cmocka_unit_test(any_prefix_of_an_expression_is_answered),
        cmocka_unit_test(length_and_depth_are_bounded_and_chains_are_not_deep),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
        cmocka_unit_test(what_a_selector_reads_is_known),
        cmocka_unit_test(what_would_cost_too_much_is_refused_before_it_is_run),
        cmocka_unit_test(an_expression_that_needs_a_newer_release_says_so),
    };

    return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
