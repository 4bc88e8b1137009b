/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/json/value.h"
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

enum outcome { YES, NO, RUNTIME, INVALID, UNIMPLEMENTED };

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
    {"has(" A "[\"index\"])", INVALID, "has() takes a selection with a dot"},
    /* A missing key is an error, absorbed as CEL does. */
    {A ".nope == 1", RUNTIME, "no such key: nope"},
    {"device.attributes[\"nowhere\"].nope == 1", RUNTIME, "no such key"},
    {A ".nope == 1 || true", YES, NULL},
    {"true || " A ".nope == 1", YES, NULL},
    {A ".nope == 1 && false", NO, NULL},
    {A ".nope == 1 || false", RUNTIME, "no such key: nope"},
    {"\"nope\" in " A " && " A ".nope == 1", NO, NULL},
    {"!(" A ".nope == 1)", RUNTIME, "no such key"},
    {A ".list == 1", RUNTIME, "does not read"},
    /* Truth. */
    {A ".ecc", YES, NULL},
    {A ".off", NO, NULL},
    {"!" A ".ecc", NO, NULL},
    {"!!!" A ".off && !!" A ".ecc", YES, NULL},
    {A ".ecc == true && false < true", YES, NULL},
    {A ".index", RUNTIME, "not bool"},
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
    {"quantity(\"lots\") == quantity(\"1\")", INVALID, "not a quantity"},
    {"semver(\"v1\") == semver(\"1.0.0\")", INVALID, "not a semantic version"},
    /* Types that never fit. */
    {"1", INVALID, "must give bool, not int"},
    {C ".memory", INVALID, "must give bool, not quantity"},
    {"device.driver == 1", INVALID, "between string and int"},
    {"1 == 1.0", INVALID, "between int and double"},
    {"1 < 1.5 && 1u <= 1", YES, NULL},
    {C ".memory > 5", INVALID, "'>' has no meaning between quantity and int"},
    {C ".memory < quantity(\"1\")", INVALID, "no meaning"},
    {C ".memory.isGreaterThan(semver(\"1.0.0\"))", INVALID, "no meaning"},
    {"device.driver.compareTo(\"x\") == 0", INVALID, "no meaning"},
    {"!device.driver", INVALID, "takes bool, not string"},
    {"true && 1", INVALID, "takes bool, not int"},
    {"1 in " A, INVALID, "keys of this map are strings"},
    /* Not CEL. */
    {"", INVALID, "ends too early"},
    {"true &&", INVALID, "column 8"},
    {"true)", INVALID, "')'"},
    {"(true", INVALID, "')' is expected"},
    {"true = false", INVALID, "does not know"},
    {"\"open", INVALID, "not closed"},
    {"'\\q' == 'q'", INVALID, "unknown escape"},
    {"'\\ud800' == 'q'", INVALID, "no Unicode character"},
    {"12a == 12", INVALID, "malformed"},
    {"9223372036854775808 > 1", INVALID, "out of range"},
    {"0x10000000000000000 > 1", INVALID, "out of range"},
    {"-1u < 1", INVALID, "no sign"},
    {"dev.driver == \"\"", UNIMPLEMENTED, "dev"},
    {"dev", INVALID, "unknown name"},
    {"device.nope == 1", INVALID, "device has the fields"},
    {"device", INVALID, "device has to be followed"},
    /* CEL, but not in this version. */
    {"device.attributes[\"d\"].exists(x, x == 1)", UNIMPLEMENTED, "column 24: 'exists'"},
    {"device.attributes.exists_one(x, x == \"d\")", UNIMPLEMENTED, "'exists_one'"},
    {A ".model.startsWith(\"H\")", UNIMPLEMENTED, "'startsWith'"},
    {"device.driver.matches(\"g.*\")", UNIMPLEMENTED, "'matches'"},
    {"size(device.driver) > 1", UNIMPLEMENTED, "'size'"},
    {"cel.bind(x, true, x)", UNIMPLEMENTED, "'cel'"},
    {"true ? true : false", UNIMPLEMENTED, "'?'"},
    {A ".?index.orValue(1) == 1", UNIMPLEMENTED, "'?'"},
    {A ".index + 1 == 4", UNIMPLEMENTED, "'+'"},
    {"-(1) < 0", UNIMPLEMENTED, "'-'"},
    {A ".index in [1, 2]", UNIMPLEMENTED, "'['"},
    {"1 in " A ".list", UNIMPLEMENTED, "list attributes"},
    {A ".index == null", UNIMPLEMENTED, "'null'"},
    {"b'x' == b'x'", UNIMPLEMENTED, "bytes"},
    {"'\\x00' == 'x'", UNIMPLEMENTED, "NUL"},
    {"semver(\"v1\", true) == semver(\"1.0.0\")", UNIMPLEMENTED, "second argument"},
    {"quantity(device.driver) == quantity(\"1\")", UNIMPLEMENTED, "string literal"},
    {"device.allowMultipleAllocations == false", UNIMPLEMENTED, "'allowMultipleAllocations'"},
    {"device.attributes[device.driver].index == 3", UNIMPLEMENTED, "string literal"},
    {"device.attributes == device.attributes", UNIMPLEMENTED, "whole map"},
    {"device.driver in " A, UNIMPLEMENTED, "string literal"},
};

static enum outcome run(const char *expression, const char *driver, const struct tg_device *device,
                        struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_selector *selector = NULL;
    bool match = false;
    int rc = tg_selector_compile(expression, arena, &selector, err);

    if (rc == -TG_UNIMPLEMENTED)
        return UNIMPLEMENTED;
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
        {"", "(", "true", 5000, UNIMPLEMENTED},
        {"true", " == true", "", 1000, UNIMPLEMENTED},
        {"", "quantity(\"1\").compareTo(", "", 300, UNIMPLEMENTED},
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

/* What the case file expects of an expression; UNIMPLEMENTED is always a fair answer of this
 * version. */
static void check_case(struct tg_arena *arena, const struct tg_json *c)
{
    const struct tg_json *expect = tg_json_get(c, "expect"), *match = tg_json_get(expect, "match");
    struct tg_buf text = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    const struct tg_device *device;
    const char *driver = tg_json_string(tg_json_get(tg_json_get(c, "device"), "driver"));
    enum outcome outcome, wanted = match != NULL ? (match->boolean ? YES : NO) : INVALID;

    if (tg_json_get(expect, "runtimeError") != NULL)
        wanted = RUNTIME;
    assert_int_equal(tg_json_write(tg_json_get(c, "device"), &text), 0);
    device = decode(arena, &tg_device_type, tg_buf_str(&text));
    outcome = run(tg_json_string(tg_json_get(c, "expression")), driver, device, &err);
    if (outcome != wanted && outcome != UNIMPLEMENTED)
        fail_msg("%s: outcome %d, wanted %d: %s", tg_json_string(tg_json_get(c, "name")), outcome,
                 wanted, err.message);
    tg_buf_done(&text);
}

static void shared_cases_agree_with_upstream_where_they_are_not_refused(void **state)
{
    static const char path[] = TEST_SOURCE_DIR "/../shared/cases/cel/dra-cel-cases-v0.36.2.json";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_json *root = NULL;
    const struct tg_json *list;
    FILE *f = fopen(path, "r");
    char *data = malloc(1 << 20);
    size_t n = 0;

    (void)state;
    assert_non_null(data);
    if (f == NULL) {
        free(data);
        print_message("not run: %s is not there\n", path);
        skip();
        return;
    }
    n = fread(data, 1, 1 << 20, f);
    fclose(f);
    assert_int_equal(tg_json_parse(data, n, arena, &root, NULL), 0);
    free(data);
    list = tg_json_get(root, "cases");
    assert_true(list->n >= 40);
    for (size_t i = 0; i < list->n; i++)
        check_case(arena, list->items[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_expression_means_what_it_means_in_kubernetes_or_is_refused),
        cmocka_unit_test(any_prefix_of_an_expression_is_answered),
        cmocka_unit_test(length_and_depth_are_bounded_and_chains_are_not_deep),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
        cmocka_unit_test(shared_cases_agree_with_upstream_where_they_are_not_refused),
    };

    return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
