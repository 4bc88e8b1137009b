/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/program.h"

#include <string.h>

#include "controller/core/cel/check.h"
#include "controller/core/cel/cost.h"
#include "controller/core/cel/eval.h"
#include "controller/core/cel/finish.h"
#include "controller/core/cel/parser.h"
#include "controller/core/cel/reads.h"
#include "controller/core/cel/text.h"
#include "controller/core/cel/validate.h"

struct tg_cel_program {
    struct tg_cel_source source;
    struct tg_cel_node *root;
    const struct tg_cel_type *type;
    unsigned n_slots, minor;
    bool plain;
    const struct tg_cel_zones *zones;
    uint64_t cost;
    struct tg_cel_reads reads;
};

static int no_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the selector needs more memory than its budget");
}

/* bool, or what a bare attribute has. */
static int check_result(const struct tg_cel_program *program, const struct tg_cel_environment *env,
                        struct tg_error *err)
{
    enum tg_cel_kind unknown = tg_cel_has_list_attributes(env) ? TG_CEL_DYN : TG_CEL_ANY;
    enum tg_cel_kind kind = program->type->kind;
    char text[96];

    if (env->profile == TG_CEL_PLAIN || env->any_result || kind == TG_CEL_BOOL || kind == unknown)
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "must evaluate to bool or the unknown type, not %s",
                        tg_cel_type_text(program->type, text, sizeof(text)));
}

static int compile(struct tg_cel_program *program, const struct tg_cel_environment *env,
                   struct tg_arena *arena, struct tg_error *err)
{
    struct tg_cel_unifier u;
    int rc = tg_cel_parse(&program->source, env, arena, &program->root, err);

    tg_cel_unifier_init(&u, arena);
    if (rc == 0)
        rc = tg_cel_check(&program->source, env, &u, program->root, &program->n_slots, err);
    if (rc < 0)
        return rc;
    tg_cel_resolve_types(&u, program->root);
    program->type = program->root->type;
    if (u.no_memory || !tg_cel_cost(env, arena, program->root, &program->cost) ||
        !tg_cel_find_reads(arena, program->root, &program->reads))
        return no_memory(err);
    if (env->profile == TG_CEL_DRA)
        rc = tg_cel_validate(&program->source, program->root, err);
    if (rc == 0)
        rc = tg_cel_finish(&program->source, env, arena, program->root, err);
    return rc < 0 ? rc : check_result(program, env, err);
}

int tg_cel_compile(const char *text, size_t n, const struct tg_cel_environment *env,
                   struct tg_arena *arena, struct tg_cel_program **ret, struct tg_error *err)
{
    struct tg_cel_program *program = tg_arena_alloc(arena, sizeof(*program));
    char *copy;
    int rc;

    if (n > TG_CEL_MAX_BYTES)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "the expression is too long: %zu bytes, at most %zu are allowed", n,
                            TG_CEL_MAX_BYTES);
    if (!tg_cel_text_valid(text, n))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the expression is not valid UTF-8");
    copy = tg_arena_strndup(arena, text, n);
    if (program == NULL || copy == NULL)
        return no_memory(err);
    program->source = (struct tg_cel_source){.text = copy, .n = n};
    program->minor = env->minor;
    program->zones = env->zones;
    program->plain = env->profile == TG_CEL_PLAIN;
    rc = compile(program, env, arena, err);
    if (rc == 0)
        *ret = program;
    return rc;
}

uint64_t tg_cel_program_cost(const struct tg_cel_program *program)
{
    return program->cost;
}

const struct tg_cel_type *tg_cel_program_type(const struct tg_cel_program *program)
{
    return program->type;
}

const struct tg_cel_reads *tg_cel_program_reads(const struct tg_cel_program *program)
{
    return &program->reads;
}

static int report_fault(const struct tg_cel_program *program, const struct tg_cel_fault *fault,
                        struct tg_error *err)
{
    static const char missing[] = "no such key: ";
    bool hint = strncmp(fault->what, missing, sizeof(missing) - 1) == 0;
    int n = fault->n > 96 ? 96 : (int)fault->n;

    return tg_cel_report(err, TG_FAILED_PRECONDITION, &program->source, fault->offset, "%s%.*s%s",
                         fault->what, n, fault->text == NULL ? "" : fault->text,
                         hint ? "; guard it with has(), or with .? and orValue()" : "");
}

int tg_cel_evaluate(const struct tg_cel_program *program, const struct tg_cel_input *input,
                    struct tg_cel_scratch *scratch, struct tg_cel_value *ret, uint64_t *ret_cost,
                    struct tg_error *err)
{
    TG_CEL_UNCLEARED struct tg_cel_run run; /* of which every member is set here */
    int rc;

    run.scratch = scratch;
    run.variables = input->variables;
    run.fault = (struct tg_cel_fault){.what = ""};
    run.cost = 0;
    run.limit = input->cost_limit == 0 ? TG_CEL_MAX_COST : input->cost_limit;
    run.plain = program->plain;
    run.minor = program->minor;
    run.zones = program->zones;
    run.slots = tg_cel_alloc(scratch, (program->n_slots + 1) * sizeof(*run.slots));
    if (run.slots == NULL ||
        !tg_cel_map_make(scratch, TG_CEL_MAP_DEVICE, input->device, &run.device))
        return no_memory(err);
    rc = tg_cel_eval(&run, program->root, ret);
    if (ret_cost != NULL)
        *ret_cost = run.cost;
    return rc == 0 ? 0 : report_fault(program, &run.fault, err);
}

int tg_cel_evaluate_bool(const struct tg_cel_program *program, const struct tg_cel_input *input,
                         struct tg_cel_scratch *scratch, bool *ret, uint64_t *ret_cost,
                         struct tg_error *err)
{
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    int rc = tg_cel_evaluate(program, input, scratch, &value, ret_cost, err);

    if (rc < 0)
        return rc;
    if (value.tag != TG_CEL_V_BOOL)
        return tg_error_set(err, TG_FAILED_PRECONDITION,
                            "CEL result of type %s could not be converted to bool",
                            tg_cel_type_of(&value)->name);
    *ret = value.boolean;
    return 0;
}
