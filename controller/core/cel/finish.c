/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows the tree, whose depth the parser bounds. */
#include "controller/core/cel/finish.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/eval.h"
#include "controller/core/cel/function.h"
#include "controller/core/cel/regex.h"

/* Calls fn on all nodes below node. */
static int each_child(struct tg_cel_node *node, int (*fn)(void *context, struct tg_cel_node *node),
                      void *context)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < node->n_args; i++)
        rc = fn(context, node->args[i]);
    if (node->kind == TG_CEL_FOLD) {
        struct tg_cel_node *const parts[] = {node->fold->range, node->fold->init,
                                             node->fold->condition, node->fold->step,
                                             node->fold->result};

        for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(parts); i++)
            rc = fn(context, parts[i]);
    }
    return rc;
}

/* A resolved type is marked by the flag that finish() clears again. */
static int resolve(void *context, struct tg_cel_node *node)
{
    if (node->finished)
        return 0;
    node->finished = true;
    if (node->type != NULL)
        node->type = tg_cel_substitute(context, node->type, true);
    return each_child(node, resolve, context);
}

static int unmark(void *context, struct tg_cel_node *node)
{
    if (!node->finished)
        return 0;
    node->finished = false;
    return each_child(node, unmark, context);
}

void tg_cel_resolve_types(struct tg_cel_unifier *u, struct tg_cel_node *root)
{
    resolve(u, root);
    unmark(NULL, root);
}

struct finisher {
    const struct tg_cel_source *source;
    const struct tg_cel_environment *env;
    struct tg_arena *arena;
    struct tg_error *err;
};

/* The static type says that no value of another kind can come. */
static bool certain(const struct tg_cel_type *type, const struct tg_cel_type *wanted)
{
    if (wanted->kind == TG_CEL_PARAM || tg_cel_type_is_dyn(wanted))
        return true;
    if (type->kind != wanted->kind || strcmp(type->name, wanted->name) != 0)
        return false;
    for (unsigned i = 0; i < wanted->n_params; i++) {
        if (!certain(type->params[i], wanted->params[i]))
            return false;
    }
    return true;
}

static void find_exact(struct tg_cel_node *call)
{
    bool exact = call->n_overloads == 1;

    for (size_t i = 0; i < call->n_args && exact; i++)
        exact = certain(call->args[i]->type, call->overloads[0]->args[i]);
    call->exact = exact;
}

static bool is_type_name(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_IDENT && node->place == TG_CEL_TYPE_NAME;
}

static bool is_constant(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_LITERAL || (node->folded && node->kind != TG_CEL_CALL) ||
           is_type_name(node);
}

static bool is_index(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_CALL && node->op >= TG_CEL_OP_INDEX &&
           node->op <= TG_CEL_OP_OPTIONAL_SELECT;
}

static bool is_conditional(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_CALL && node->op == TG_CEL_OP_CONDITIONAL;
}

/* Selections and indexes cost 1 more when they begin at a computed value. */
static bool begins_computed(const struct tg_cel_node *operand)
{
    return operand->kind != TG_CEL_IDENT && operand->kind != TG_CEL_SELECT && !is_index(operand) &&
           !is_conditional(operand);
}

/* Of a path from a variable or a computed value on: true, but where it is selected from what a
 * condition chooses. */
static bool is_rooted(const struct tg_cel_node *node)
{
    if (node->kind == TG_CEL_SELECT ? node->test : node->kind != TG_CEL_IDENT && !is_index(node))
        return false;
    while ((node->kind == TG_CEL_SELECT && !node->test) || is_index(node))
        node = node->args[0];
    return !is_conditional(node) && !is_type_name(node);
}

static int evaluate(struct finisher *f, struct tg_cel_node *node, struct tg_cel_value *ret,
                    uint64_t *cost, const char **why)
{
    struct tg_cel_scratch scratch;
    struct tg_cel_run run = {
        .scratch = &scratch,
        .limit = TG_CEL_MAX_COST,
        .minor = f->env->minor,
        .plain = f->env->profile == TG_CEL_PLAIN,
    };
    int rc;

    tg_cel_scratch_on(&scratch, f->arena);
    rc = tg_cel_eval(&run, node, ret);
    *why = run.fault.what;
    *cost = run.cost;
    return rc;
}

/* Lists and maps of constants are made once. */
static void fold_aggregate(struct finisher *f, struct tg_cel_node *node)
{
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    const char *why = NULL;
    uint64_t cost = 0;

    if (node->optional != NULL)
        return;
    for (size_t i = 0; i < node->n_args; i++) {
        if (!is_constant(node->args[i]))
            return;
    }
    if (evaluate(f, node, &value, &cost, &why) < 0)
        return;
    node->literal = value;
    node->folded = true;
}

static int fold_conversion(struct finisher *f, struct tg_cel_node *call)
{
    static const char *const names[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                        "int",  "string", "timestamp", "type",     "uint"};
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    const char *why = NULL;
    uint64_t cost = 0;
    bool found = false;

    for (size_t i = 0; i < TG_ARRAY_SIZE(names) && !found; i++)
        found = strcmp(names[i], call->name) == 0;
    if (!found || call->n_args != 1 || !is_constant(call->args[0]))
        return 0;
    if (evaluate(f, call, &value, &cost, &why) == 0) {
        call->kind = TG_CEL_LITERAL;
        call->literal = value;
        return 0;
    }
    if (f->env->profile == TG_CEL_PLAIN)
        return 0;
    return tg_cel_report(f->err, TG_INVALID_ARGUMENT, f->source, call->offset,
                         "%s() of a constant fails: %s", call->name, why == NULL ? "" : why);
}

/* `in` with a constant list: false if it is empty, whatever the left side would give. */
static void find_constants(struct finisher *f, struct tg_cel_node *call)
{
    const struct tg_cel_list *list;

    if (f->env->profile == TG_CEL_PLAIN || strcmp(call->name, "@in") != 0 ||
        call->n_overloads != 1 || call->overloads[0]->cost != TG_CEL_COST_IN_LIST ||
        !call->args[1]->folded)
        return;
    list = call->args[1]->literal.list;
    if (list->n == 0) {
        call->kind = TG_CEL_LITERAL;
        call->literal = tg_cel_bool(false);
        return;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].tag < TG_CEL_V_BOOL || list->items[i].tag > TG_CEL_V_STRING)
            return;
    }
    call->op = TG_CEL_OP_IN_CONSTANTS;
}

/* Constants of the Kubernetes types: quantity("40Gi"), semver("1.2.3"). One that is malformed fails
 * when it is evaluated. */
static void fold_parse(struct finisher *f, struct tg_cel_node *call)
{
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    const char *why = NULL;
    uint64_t cost = 0;

    if (!call->exact || call->overloads[0]->cost != TG_CEL_COST_PARSE)
        return;
    for (size_t i = 0; i < call->n_args; i++) {
        if (call->args[i]->kind != TG_CEL_LITERAL)
            return;
    }
    if (evaluate(f, call, &value, &cost, &why) < 0)
        return;
    if (value.tag == TG_CEL_V_QUANTITY && value.quantity->big != NULL)
        return; /* sums are written into it: each evaluation has its own */
    call->literal = value;
    call->slot = (uint32_t)cost;
    call->folded = true;
}

static int compile_pattern(struct finisher *f, struct tg_cel_node *call)
{
    const struct tg_cel_node *pattern = call->n_args > 1 ? call->args[1] : NULL;
    char why[128] = "";

    if (strcmp(call->name, "matches") != 0 && strcmp(call->name, "find") != 0 &&
        strcmp(call->name, "findAll") != 0)
        return 0;
    if (pattern == NULL || pattern->kind != TG_CEL_LITERAL ||
        pattern->literal.tag != TG_CEL_V_STRING)
        return 0;
    call->regex =
        tg_cel_regex_new(pattern->literal.text, pattern->literal.length, why, sizeof(why));
    if (call->regex == NULL && f->env->profile == TG_CEL_PLAIN)
        return 0;
    if (call->regex == NULL)
        return tg_cel_report(f->err, TG_INVALID_ARGUMENT, f->source, pattern->offset,
                             "invalid regular expression: %s", why);
    if (tg_arena_on_reset(f->arena, tg_cel_regex_free, call->regex) < 0) {
        tg_cel_regex_free(call->regex);
        call->regex = NULL;
        return tg_error_set(f->err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    }
    return 0;
}

/* device.attributes["x"] and device.capacity["x"]: what nearly every selector looks into. */
static bool is_domain(const struct tg_cel_node *node)
{
    const struct tg_cel_node *field = node->args[0], *key = node->args[1];

    return node->op == TG_CEL_OP_INDEX && field->kind == TG_CEL_SELECT && !field->test &&
           field->args[0]->kind == TG_CEL_IDENT && field->args[0]->place == TG_CEL_DEVICE &&
           (strcmp(field->name, "attributes") == 0 || strcmp(field->name, "capacity") == 0) &&
           key->kind == TG_CEL_LITERAL && key->literal.tag == TG_CEL_V_STRING;
}

/* A constant of another type is no index in Kubernetes, whatever is indexed. */
static int finish_index(struct finisher *f, struct tg_cel_node *node)
{
    const struct tg_cel_node *key = node->args[1];

    node->relative = begins_computed(node->args[0]);
    node->domain = is_domain(node);
    if (f->env->profile == TG_CEL_PLAIN || !is_constant(key) ||
        (key->literal.tag >= TG_CEL_V_BOOL && key->literal.tag <= TG_CEL_V_STRING))
        return 0;
    return tg_cel_report(f->err, TG_INVALID_ARGUMENT, f->source, key->offset,
                         "invalid qualifier type: %s", tg_cel_type_of(&key->literal)->name);
}

static int finish(void *context, struct tg_cel_node *node)
{
    struct finisher *f = context;
    int rc = 0;

    if (node->finished)
        return 0;
    node->finished = true;
    rc = each_child(node, finish, f);
    if (rc < 0)
        return rc;
    switch ((int)node->kind) {
    case TG_CEL_SELECT:
        node->slot = (uint32_t)strlen(node->name);
        node->relative = begins_computed(node->args[0]);
        break;
    case TG_CEL_CREATE_LIST:
    case TG_CEL_CREATE_MAP:
        fold_aggregate(f, node);
        break;
    case TG_CEL_CALL:
        find_exact(node);
        if (is_index(node))
            rc = finish_index(f, node);
        if (rc < 0)
            return rc;
        find_constants(f, node);
        fold_parse(f, node);
        rc = fold_conversion(f, node);
        if (rc == 0)
            rc = compile_pattern(f, node);
        break;
    default:
        break;
    }
    node->rooted = is_rooted(node);
    return rc;
}

int tg_cel_finish(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                  struct tg_arena *arena, struct tg_cel_node *root, struct tg_error *err)
{
    struct finisher f = {.source = source, .env = env, .arena = arena, .err = err};

    return finish(&f, root);
}
