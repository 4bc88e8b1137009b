/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of the comparison with Kubernetes: reads the requests that tests/peers/cel reads, and
 * answers in the same form, one JSON object a line. --kubernetes 1.37 names the release.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/zoneinfo.h"
#include "api/runtime/json/decode.h"
#include "controller/core/cel/device.h"
#include "controller/core/cel/program.h"
#include "controller/core/cel/zone.h"
#include "tests/differential/typed_value.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define ANSWER_BYTES ((size_t)64 << 20)

struct request {
    const char *id, *expression, *expression_hex, *env, *container;
    const char *device, *type_env, *bindings; /* JSON */
    TG_LIST_OF(const char *) features;
    struct tg_opt_bool disable_check;
};
static const struct tg_field request_fields[] = {
    TG_FIELD_RAWJSON(struct request, id, "id"),
    TG_FIELD_STR(struct request, expression, "expression"),
    TG_FIELD_STR(struct request, expression_hex, "expression_hex"), /* where that has a NUL */
    TG_FIELD_STR(struct request, env, "env"),
    TG_FIELD_STR(struct request, container, "container"),
    TG_FIELD_RAWJSON(struct request, device, "device"),
    TG_FIELD_RAWJSON(struct request, type_env, "type_env"),
    TG_FIELD_RAWJSON(struct request, bindings, "bindings"),
    TG_FIELD_STR_LIST(struct request, features, "features"),
    TG_FIELD_BOOLEAN(struct request, disable_check, "disable_check"),
};
static const struct tg_type request_type = TG_TYPE(struct request, request_fields);

struct driver {
    const char *driver;
};
static const struct tg_field driver_fields[] = {
    TG_FIELD_STR(struct driver, driver, "driver"),
};
static const struct tg_type driver_type = TG_TYPE(struct driver, driver_fields);

struct input {
    struct request request;
    struct tg_cel_environment env; /* without new_expression and any_result */
    const char *driver;
    struct tg_device *device; /* NULL: none */
    const char *text;         /* of the expression, n bytes */
    size_t n;
    struct tg_cel_value *values;
    struct tg_arena *arena;
    struct tg_cel_scratch *scratch;
};

static int read_variable(struct input *in, const struct tg_json *declared,
                         const struct tg_json *bound, struct tg_cel_variable *variable,
                         struct tg_cel_value *ret, struct tg_error *err)
{
    const struct tg_json *value;
    int rc;

    variable->name = tg_json_string(tg_json_get(declared, "name"));
    if (variable->name == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "a variable without a name");
    rc = typed_value_read_type(tg_json_get(declared, "type"), in->arena, &variable->type, err);
    value = tg_json_get(bound, variable->name);
    return rc < 0 || value == NULL ? rc : typed_value_read(value, in->scratch, ret, err);
}

/* Without type check a name that is only bound is a variable as well. */
static int read_undeclared(struct input *in, const struct tg_json *bound,
                           struct tg_cel_variable *variables, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < bound->n && rc == 0; i++) {
        size_t at = in->env.n_variables, known = 0;

        while (known < at && strcmp(variables[known].name, bound->keys[i]) != 0)
            known++;
        if (known < at)
            continue;
        variables[at] = (struct tg_cel_variable){bound->keys[i], &tg_cel_type_dyn};
        rc = typed_value_read(bound->items[i], in->scratch, &in->values[at], err);
        in->env.n_variables++;
    }
    return rc;
}

static int read_variables(struct input *in, struct tg_error *err)
{
    const char *type_env = tg_or(in->request.type_env, "[]");
    const char *bindings = tg_or(in->request.bindings, "{}");
    struct tg_cel_variable *variables;
    struct tg_json *types, *bound;
    int rc = tg_json_parse(type_env, strlen(type_env), in->arena, &types, err);

    if (rc == 0)
        rc = tg_json_parse(bindings, strlen(bindings), in->arena, &bound, err);
    if (rc < 0)
        return rc;
    variables = tg_arena_alloc_array(in->arena, types->n + bound->n + 1, sizeof(*variables));
    in->values = tg_arena_alloc_array(in->arena, types->n + bound->n + 1, sizeof(*in->values));
    if (variables == NULL || in->values == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "too many variables");
    for (size_t i = 0; i < types->n && rc == 0; i++)
        rc = read_variable(in, types->items[i], bound, &variables[i], &in->values[i], err);
    in->env.variables = variables;
    in->env.n_variables = types->n;
    return rc == 0 && in->env.unchecked ? read_undeclared(in, bound, variables, err) : rc;
}

static int read_device(struct input *in, struct tg_error *err)
{
    const char *text = in->request.device;
    struct driver driver = {0};
    int rc;

    if (text == NULL)
        return 0;
    in->device = tg_arena_alloc(in->arena, sizeof(*in->device));
    if (in->device == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the device is too large");
    rc = tg_json_decode(&driver_type, text, strlen(text), &driver, in->arena, err);
    in->driver = tg_or(driver.driver, "");
    return rc < 0 ? rc
                  : tg_json_decode(&tg_device_type, text, strlen(text), in->device, in->arena, err);
}

static int read_text(struct input *in, struct tg_error *err)
{
    const char *hex = in->request.expression_hex;
    char *text, digits[3] = {0};

    in->text = in->request.expression;
    in->n = strlen(in->text);
    if (hex == NULL)
        return 0;
    in->n = strlen(hex) / 2;
    text = tg_arena_alloc(in->arena, in->n + 1);
    if (text == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the expression is too large");
    for (size_t i = 0; i < in->n; i++) {
        memcpy(digits, hex + 2 * i, 2);
        text[i] = (char)strtoul(digits, NULL, 16);
    }
    in->text = text;
    return 0;
}

static int read_input(const char *line, size_t n, struct input *in, struct tg_error *err)
{
    struct request *request = &in->request;
    int rc = tg_json_decode(&request_type, line, n, request, in->arena, err);

    if (rc < 0)
        return rc;
    if (request->id == NULL || request->expression == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "a request has an id and an expression");
    for (size_t i = 0; i < request->features.n; i++) {
        const char *name = request->features.items[i];

        if (strcmp(name, "ConsumableCapacity") == 0)
            in->env.consumable_capacity = true;
        else if (strcmp(name, "ListTypeAttributes") == 0)
            in->env.list_type_attributes = true;
        else
            return tg_error_set(err, TG_INVALID_ARGUMENT, "unknown feature gate %s", name);
    }
    in->env.container = request->container;
    in->env.unchecked = request->disable_check.value;
    rc = read_text(in, err);
    if (rc == 0)
        rc = read_variables(in, err);
    return rc < 0 ? rc : read_device(in, err);
}

static void put_error(struct tg_buf *out, const struct tg_error *err)
{
    tg_buf_append_str(out, "\"error\":");
    typed_value_quote(err->message, strlen(err->message), out);
}

static void put_verdict(const struct input *in, const char *name, bool new_expression,
                        struct tg_buf *out)
{
    struct tg_cel_environment env = in->env;
    struct tg_cel_program *program;
    struct tg_error err = {0};
    uint64_t cost;

    env.new_expression = new_expression;
    tg_buf_printf(out, ",\"%s\":{", name);
    if (tg_cel_compile(in->text, in->n, &env, in->arena, &program, &err) < 0) {
        tg_buf_printf(out, "\"verdict\":\"%s\",", in->n > TG_CEL_MAX_BYTES ? "long" : "invalid");
        put_error(out, &err);
    } else {
        cost = tg_cel_program_cost(program);
        tg_buf_printf(out, "\"verdict\":\"%s\",\"cost\":%" PRIu64,
                      cost > TG_CEL_MAX_COST ? "expensive" : "ok", cost);
    }
    tg_buf_append_char(out, '}');
}

/* reads: of the program, as selectors do it; NULL: the whole device. */
static int evaluation_input(const struct input *in, const struct tg_cel_reads *reads,
                            struct tg_cel_device *device, struct tg_cel_input *ret,
                            struct tg_error *err)
{
    *ret = (struct tg_cel_input){.variables = in->values};
    if (in->device == NULL)
        return 0;
    ret->device = device;
    return tg_cel_device_init(device, reads, in->scratch, in->driver, in->device,
                              tg_cel_has_list_attributes(&in->env) ? TG_CEL_DEVICE_LISTS : 0U, err);
}

static void put_outcome(const struct input *in, struct tg_buf *out)
{
    struct tg_cel_program *program;
    struct tg_cel_device device;
    struct tg_cel_input input;
    struct tg_error err = {0};
    bool match = false;
    int rc = tg_cel_compile(in->text, in->n, &in->env, in->arena, &program, &err);

    if (rc == 0)
        rc = evaluation_input(in, tg_cel_program_reads(program), &device, &input, &err);
    if (rc == 0)
        rc = tg_cel_evaluate_bool(program, &input, in->scratch, &match, NULL, &err);
    tg_buf_append_str(out, ",\"outcome\":{");
    if (rc < 0)
        put_error(out, &err);
    else
        tg_buf_printf(out, "\"match\":%s", match ? "true" : "false");
    tg_buf_append_char(out, '}');
}

static void put_value(const struct input *in, struct tg_buf *out)
{
    struct tg_cel_environment env = in->env;
    struct tg_cel_program *program;
    struct tg_cel_device device = {0};
    struct tg_cel_input input;
    struct tg_cel_value value;
    struct tg_error err = {0};
    uint64_t cost = 0;
    int rc;

    env.any_result = true;
    env.new_expression = strcmp(tg_or(in->request.env, "stored"), "new") == 0;
    tg_buf_append_str(out, ",\"value\":{");
    if (tg_cel_compile(in->text, in->n, &env, in->arena, &program, &err) < 0) {
        tg_buf_append_str(out, "\"stage\":\"compile\",");
        put_error(out, &err);
    } else {
        rc = evaluation_input(in, NULL, &device, &input, &err);
        if (rc == 0)
            rc = tg_cel_evaluate(program, &input, in->scratch, &value, &cost, &err);
        tg_buf_printf(out, "\"cost\":%" PRIu64 ",", cost);
        tg_buf_append_str(out, rc < 0 ? "\"stage\":\"run\"," : "\"value\":");
        if (rc < 0)
            put_error(out, &err);
        else
            typed_value_write(&value, in->scratch, out);
    }
    tg_buf_append_char(out, '}');
}

static int answer(const char *line, size_t n, unsigned minor, const struct tg_cel_zones *zones,
                  struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(ANSWER_BYTES);
    struct tg_cel_scratch scratch;
    struct input in = {.env = {.profile = TG_CEL_DRA, .minor = minor, .zones = zones},
                       .arena = arena};
    int rc;

    tg_cel_scratch_on(&scratch, arena);
    in.scratch = &scratch;
    rc = read_input(line, n, &in, err);
    if (rc < 0)
        return rc;
    tg_buf_printf(&out, "{\"id\":%s", in.request.id);
    if (in.device != NULL) {
        put_verdict(&in, "new", true, &out);
        put_verdict(&in, "stored", false, &out);
        put_outcome(&in, &out);
    }
    put_value(&in, &out);
    if (out.failed)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the answer is too large");
    if (printf("%s}\n", tg_buf_str(&out)) < 0 || fflush(stdout) != 0)
        return tg_error_set(err, TG_UNAVAILABLE, "the answer cannot be written");
    return 0;
}

int main(int argc, char **argv)
{
    struct tg_zoneinfo *zoneinfo = tg_zoneinfo_new(TG_ZONEINFO_FOLDER);
    const struct tg_cel_zones zones = {.find = tg_zoneinfo_find, .context = zoneinfo};
    struct tg_error err = {0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    unsigned minor = 0;
    int rc = 0;

    if (argc == 3 && strcmp(argv[1], "--kubernetes") == 0 && strncmp(argv[2], "1.", 2) == 0)
        minor = (unsigned)strtoul(argv[2] + 2, NULL, 10);
    if (minor < TG_CEL_OLDEST_MINOR || minor > TG_CEL_NEWEST_MINOR) {
        fprintf(stderr, "usage: %s --kubernetes 1.%u ... 1.%u < requests\n", argv[0],
                TG_CEL_OLDEST_MINOR, TG_CEL_NEWEST_MINOR);
        return 2;
    }
    while (rc == 0 && (n = getline(&line, &capacity, stdin)) > 0)
        rc = answer(line, (size_t)n, minor, &zones, &err);
    free(line);
    tg_zoneinfo_free(zoneinfo);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return rc < 0;
}
