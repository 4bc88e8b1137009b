/* SPDX-License-Identifier: Apache-2.0 */
/* cases_cel [--profile NAME] PATH...: see README.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/zoneinfo.h"
#include "controller/core/cel/program.h"
#include "controller/core/cel/zone.h"
#include "tests/cases/case_files.h"
#include "tests/cases/cel_case.h"

enum profile { BY_FORMAT, PLAIN, DRA };

struct options {
    enum profile profile;
    unsigned minor;
    struct tg_cel_zones zones;
    size_t passed, failed;
};

/* Cases whose expectation is not that of the Go package that the profile stands for. minor 0: of
 * the language profile; cost 0: not run at all. */
static const struct {
    const char *name;
    unsigned minor;
    uint64_t cost;
    const char *why;
} known[] = {
    {"map_value_repeat_key", 0, 0, "cel-go lets the last of two values win"},
    {"map_value_repeat_key_heterogeneous", 0, 0, "cel-go holds 0 and 0u apart"},
    {"includes-function-on-very-long-list-runtime-error", 37, 0,
     "1.37.2 has no limit on the length of lists"},
    {"includes-function-", 37, 68,
     "1.37.2 estimates includes() by the size of any attribute, 64, no longer of a list, 48"},
};

static unsigned known_case(const char *name, unsigned minor)
{
    unsigned i = 0;

    while (i < TG_ARRAY_SIZE(known) &&
           (known[i].minor != minor ||
            (known[i].cost == 0 ? strcmp(known[i].name, name) != 0
                                : strncmp(known[i].name, name, strlen(known[i].name)) != 0)))
        i++;
    return i;
}

/* The cost that the Go package of that release gives; otherwise what the case says. A version that
 * is parsed costs 1 more. */
static uint64_t expected_cost(const char *name, unsigned minor, uint64_t cost, bool semver)
{
    unsigned i = known_case(name, minor);

    return i == TG_ARRAY_SIZE(known) ? cost : known[i].cost + (semver ? 1 : 0);
}

static void report(struct options *o, const struct tg_json *c, const char *expected,
                   const char *got)
{
    const char *name = tg_json_string(tg_json_get(c, "name"));
    const char *text = tg_json_string(tg_json_get(c, "expr"));

    if (text == NULL)
        text = tg_json_string(tg_json_get(c, "expression"));
    printf("%s/%s: %s\n    expected: %s\n    got: %s\n",
           tg_or(tg_json_string(tg_json_get(c, "file")), "dra"), tg_or(name, "?"), tg_or(text, "?"),
           expected, got);
    o->failed++;
}

struct outcome {
    bool compile_error, runtime_error;
    struct tg_error err;
    struct tg_cel_value value;
    struct tg_cel_program *program;
};

static void run_text(const char *text, const struct tg_cel_environment *env,
                     const struct tg_cel_input *input, struct tg_arena *arena, struct outcome *ret)
{
    struct tg_cel_scratch scratch;
    size_t n = 0;
    const char *expression = case_show_nul(text, arena, &n);

    *ret = (struct outcome){.err = TG_ERROR_INIT};
    ret->compile_error = tg_cel_compile(expression, n, env, arena, &ret->program, &ret->err) < 0;
    if (ret->compile_error || input == NULL)
        return;
    tg_cel_scratch_on(&scratch, arena);
    ret->runtime_error =
        tg_cel_evaluate(ret->program, input, &scratch, &ret->value, NULL, &ret->err) < 0;
}

/* type_env and bindings; -1: not understood. */
static int read_environment(const struct tg_json *c, struct tg_arena *arena,
                            struct tg_cel_environment *env, struct tg_cel_value **values)
{
    const struct tg_json *types = tg_json_get(c, "type_env"), *bound = tg_json_get(c, "bindings");
    size_t n_types = types == NULL ? 0 : types->n, n_bound = bound == NULL ? 0 : bound->n;
    struct tg_cel_variable *variables =
        tg_arena_alloc_array(arena, n_types + n_bound + 1, sizeof(*variables));

    *values = tg_arena_alloc_array(arena, n_types + n_bound + 1, sizeof(**values));
    for (size_t i = 0; i < n_types + n_bound; i++) {
        if (i < n_types) {
            variables[i].name = tg_json_string(tg_json_get(types->items[i], "name"));
            if (case_type(tg_json_get(types->items[i], "type"), arena, &variables[i].type) < 0)
                return -1;
            for (size_t b = 0; b < n_bound; b++) {
                if (strcmp(bound->keys[b], variables[i].name) == 0 &&
                    case_value(bound->items[b], arena, &(*values)[i]) < 0)
                    return -1;
            }
            continue;
        }
        variables[i] = (struct tg_cel_variable){bound->keys[i - n_types], &tg_cel_type_dyn};
        if (case_value(bound->items[i - n_types], arena, &(*values)[i]) < 0)
            return -1;
    }
    env->variables = variables;
    env->n_variables = n_types + n_bound;
    return 0;
}

static void judge_type(struct options *o, const struct tg_json *c, struct tg_arena *arena,
                       const struct outcome *got)
{
    const struct tg_cel_type *wanted = NULL;
    char a[128], b[128];

    if (case_type(tg_json_get(c, "expect_type"), arena, &wanted) < 0)
        report(o, c, "a type that the runner knows", "another");
    else if (got->compile_error)
        report(o, c, tg_cel_type_text(wanted, a, sizeof(a)), got->err.message);
    else if (!tg_cel_type_same(wanted, tg_cel_program_type(got->program)))
        report(o, c, tg_cel_type_text(wanted, a, sizeof(a)),
               tg_cel_type_text(tg_cel_program_type(got->program), b, sizeof(b)));
    else
        o->passed++;
}

static void judge_value(struct options *o, const struct tg_json *c, struct tg_arena *arena,
                        const struct outcome *got)
{
    const struct tg_json *expect = tg_json_get(c, "expect");
    bool failed = got->compile_error || got->runtime_error;
    struct tg_cel_value wanted;
    char a[256], b[256];

    if (tg_json_get(c, "expect_error") != NULL) {
        if (failed)
            o->passed++;
        else
            report(o, c, "an error", case_show(&got->value, b, sizeof(b)));
    } else if (expect == NULL || case_value(expect, arena, &wanted) < 0) {
        report(o, c, "an expectation that the runner knows", "another");
    } else if (failed) {
        report(o, c, case_show(&wanted, a, sizeof(a)), got->err.message);
    } else if (!case_same(&wanted, &got->value)) {
        report(o, c, case_show(&wanted, a, sizeof(a)), case_show(&got->value, b, sizeof(b)));
    } else {
        o->passed++;
    }
}

static void run_language_case(struct options *o, const struct tg_json *c, struct tg_arena *arena)
{
    const struct tg_json *unchecked = tg_json_get(c, "disable_check");
    const char *text = tg_json_string(tg_json_get(c, "expr"));
    struct tg_cel_environment env = {
        .profile = TG_CEL_PLAIN,
        .unchecked = unchecked != NULL && unchecked->boolean,
        .container = tg_json_string(tg_json_get(c, "container")),
        .zones = &o->zones,
    };
    struct tg_cel_value *values = NULL;
    struct tg_cel_input input = {0};
    struct outcome got;

    if (text == NULL || read_environment(c, arena, &env, &values) < 0) {
        report(o, c, "a case that the runner knows", "another");
        return;
    }
    if (o->profile == DRA) {
        env.profile = TG_CEL_DRA;
        env.minor = o->minor;
        env.unchecked = false;
    }
    input.variables = values;
    if (tg_json_get(c, "check_only") != NULL) {
        run_text(text, &env, NULL, arena, &got);
        judge_type(o, c, arena, &got);
        return;
    }
    run_text(text, &env, &input, arena, &got);
    judge_value(o, c, arena, &got);
}

/* A selector has to give bool. */
static void demand_bool(struct outcome *got)
{
    if (got->compile_error || got->runtime_error || got->value.tag == TG_CEL_V_BOOL)
        return;
    got->runtime_error = true;
    tg_error_set(&got->err, TG_FAILED_PRECONDITION,
                 "CEL result of type %s could not be converted to bool",
                 tg_cel_type_of(&got->value)->name);
}

static bool judge_cost(struct options *o, const struct tg_json *c, const struct outcome *got)
{
    const struct tg_json *expect = tg_json_get(c, "expect");
    const char *text = tg_json_string(tg_json_get(c, "expression"));
    char a[64], b[64];
    int64_t cost = 0;
    uint64_t wanted;

    if (tg_json_get(expect, "maxCostEstimate") == NULL)
        return true;
    if (tg_json_i64(tg_json_get(expect, "maxCostEstimate"), &cost) < 0) {
        report(o, c, "a cost that the runner knows", "another");
        return false;
    }
    wanted = expected_cost(tg_json_string(tg_json_get(c, "name")), o->minor, (uint64_t)cost,
                           strstr(text, "semver") != NULL);
    if (wanted == tg_cel_program_cost(got->program))
        return true;
    snprintf(a, sizeof(a), "cost %" PRIu64, wanted);
    snprintf(b, sizeof(b), "cost %" PRIu64, tg_cel_program_cost(got->program));
    report(o, c, a, b);
    return false;
}

static void judge_selector(struct options *o, const struct tg_json *c, const struct outcome *got)
{
    const struct tg_json *expect = tg_json_get(c, "expect");
    const struct tg_json *match = tg_json_get(expect, "match");
    const char *compile_error = tg_json_string(tg_json_get(expect, "compileError"));
    const char *runtime_error = tg_json_string(tg_json_get(expect, "runtimeError"));
    char text[256];

    if (compile_error != NULL) {
        if (got->compile_error)
            o->passed++;
        else
            report(o, c, compile_error, "it compiles");
        return;
    }
    if (got->compile_error) {
        report(o, c, "it compiles", got->err.message);
        return;
    }
    if (!judge_cost(o, c, got))
        return;
    if (runtime_error != NULL && !got->runtime_error)
        report(o, c, runtime_error, case_show(&got->value, text, sizeof(text)));
    else if (runtime_error == NULL && match == NULL)
        report(o, c, "an expectation that the runner knows", "another");
    else if (runtime_error == NULL && got->runtime_error)
        report(o, c, match->boolean ? "true" : "false", got->err.message);
    else if (runtime_error == NULL && got->value.boolean != match->boolean)
        report(o, c, match->boolean ? "true" : "false", case_show(&got->value, text, sizeof(text)));
    else
        o->passed++;
}

static bool has_feature(const struct tg_json *c, const char *name)
{
    const struct tg_json *features = tg_json_get(c, "features");

    for (size_t i = 0; features != NULL && i < features->n; i++) {
        if (tg_streq(tg_json_string(features->items[i]), name))
            return true;
    }
    return false;
}

static void run_selector_case(struct options *o, const struct tg_json *c, bool lists,
                              struct tg_arena *arena)
{
    const char *text = tg_json_string(tg_json_get(c, "expression"));
    const char *kind = tg_json_string(tg_json_get(c, "env"));
    struct tg_cel_environment env = {
        .profile = TG_CEL_DRA,
        .minor = o->minor,
        .new_expression = tg_streq(kind, "NewExpressions"),
        .consumable_capacity = has_feature(c, "ConsumableCapacity"),
        .list_type_attributes = lists,
    };
    struct tg_cel_device device;
    struct tg_cel_input input = {.device = &device};
    struct outcome got;
    int rc = case_device(tg_json_get(c, "device"), lists || o->minor >= 37, arena, &device);

    if (text == NULL || kind == NULL || rc == -1) {
        report(o, c, "a case that the runner knows", "another");
        return;
    }
    run_text(text, &env, rc == 0 ? &input : NULL, arena, &got);
    if (rc == -2 && !got.compile_error) {
        got.runtime_error = true;
        tg_error_set(&got.err, TG_FAILED_PRECONDITION, "unsupported attribute value");
    }
    demand_bool(&got);
    judge_selector(o, c, &got);
}

static void run_case(struct options *o, const struct tg_json *c, bool selector)
{
    const struct tg_json *lists = tg_json_get(c, "listTypeAttributes");
    struct options once = *o;
    const char *name = tg_or(tg_json_string(tg_json_get(c, "name")), "");
    unsigned i_known = known_case(name, selector ? o->minor : 0);
    size_t runs = selector && lists != NULL ? lists->n : 1;

    if (i_known < TG_ARRAY_SIZE(known) && known[i_known].cost == 0) {
        printf("not run: %s: %s\n", name, known[i_known].why);
        return;
    }
    once.passed = once.failed = 0;
    if (selector && once.profile != DRA)
        once.minor = 37;
    for (size_t i = 0; i < runs && once.failed == 0; i++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        if (selector)
            run_selector_case(&once, c, lists != NULL && lists->items[i]->boolean, arena);
        else
            run_language_case(&once, c, arena);
        tg_arena_free(arena);
    }
    if (once.failed > 0)
        o->failed++;
    else
        o->passed++;
}

static void on_case(void *data, const char *path, const struct tg_json *root,
                    const struct tg_json *c)
{
    (void)path;
    run_case(data, c, tg_json_get(root, "format") != NULL);
}

static int set_profile(struct options *o, const char *name)
{
    if (strcmp(name, "plain") == 0) {
        o->profile = PLAIN;
        return 0;
    }
    if (strncmp(name, "dra-1.3", 7) != 0 || name[7] < '4' || name[7] > '7' || name[8] != '\0') {
        fprintf(stderr, "unknown profile '%s': plain, dra-1.34, dra-1.35, dra-1.36, dra-1.37\n",
                name);
        return 2;
    }
    o->profile = DRA;
    o->minor = 30 + (unsigned)(name[7] - '0');
    return 0;
}

int main(int argc, char **argv)
{
    struct tg_zoneinfo *zoneinfo = tg_zoneinfo_new(TG_ZONEINFO_FOLDER);
    struct options o = {.profile = BY_FORMAT,
                        .minor = 37,
                        .zones = {.find = tg_zoneinfo_find, .context = zoneinfo}};
    const struct case_files files = {.prepare = case_hide_nul, .on_case = on_case, .data = &o};
    int rc = 0, i = 1;

    if (argc > 2 && strcmp(argv[1], "--profile") == 0) {
        rc = set_profile(&o, argv[2]);
        i = 3;
    }
    if (rc != 0 || i >= argc) {
        fprintf(stderr, "usage: cases_cel [--profile NAME] PATH...\n");
        return 2;
    }
    for (; i < argc && rc == 0; i++)
        rc = case_files_run(&files, argv[i]);
    printf("%zu passed, %zu failed\n", o.passed, o.failed);
    tg_zoneinfo_free(zoneinfo);
    return rc != 0 ? rc : o.failed > 0 ? 1 : 0;
}
