/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows the tree, whose depth the parser bounds. */
#include "controller/core/cel/check.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/tangram/names.h"
#include "controller/core/cel/function.h"

#define QUALIFIED_MAX 512

struct scope_variable {
    const char *name;
    const struct tg_cel_type *type;
    unsigned slot;
};

struct checker {
    const struct tg_cel_source *source;
    const struct tg_cel_environment *env;
    struct tg_cel_unifier *u;
    struct scope_variable *scope;
    size_t n_scope, scope_capacity;
    unsigned slots, max_slots;
    struct tg_error *err;
};

static int check(struct checker *c, struct tg_cel_node *node);

static int no_memory(struct checker *c)
{
    return tg_error_set(c->err, TG_RESOURCE_EXHAUSTED,
                        "the selector needs more memory than its budget");
}

static int mismatch(struct checker *c, const struct tg_cel_node *at,
                    const struct tg_cel_type *wanted, const struct tg_cel_type *got)
{
    char a[96], b[96];

    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, at->offset,
                         "expected type '%s' but found '%s'",
                         tg_cel_type_text(tg_cel_substitute(c->u, wanted, true), a, sizeof(a)),
                         tg_cel_type_text(tg_cel_substitute(c->u, got, true), b, sizeof(b)));
}

static const struct tg_cel_type *make(struct checker *c, enum tg_cel_kind kind,
                                      const struct tg_cel_type *a, const struct tg_cel_type *b)
{
    const struct tg_cel_type *t = tg_cel_type_new(c->u->arena, kind, a, b);

    if (t == NULL)
        c->u->no_memory = true;
    return t == NULL ? &tg_cel_type_dyn : t;
}

/* "a.b.c" of a chain of selections from an identifier; false: it is none, or too long. */
static bool qualified(const struct tg_cel_node *node, char *out, size_t n, const char **root)
{
    const struct tg_cel_node *parts[QUALIFIED_MAX / 2];
    size_t count = 0, used = 0;

    while (node->kind == TG_CEL_SELECT && !node->test && count < TG_ARRAY_SIZE(parts)) {
        parts[count++] = node;
        node = node->args[0];
    }
    if (node->kind != TG_CEL_IDENT)
        return false;
    *root = node->name;
    used = (size_t)snprintf(out, n, "%s", node->name);
    while (count > 0 && used < n) {
        count--;
        used += (size_t)snprintf(out + used, n - used, ".%s", parts[count]->name);
    }
    return used < n;
}

/* The i-th name to look up: in the container, outwards. false: there is none. */
static bool candidate(const struct tg_cel_environment *env, const char *name, size_t i, char *out,
                      size_t n)
{
    const char *container = env->container == NULL ? "" : env->container;
    size_t length = strlen(container);

    if (*name == '.' || length == 0)
        return i == 0 && (size_t)snprintf(out, n, "%s", name + (*name == '.' ? 1 : 0)) < n;
    for (; i > 0 && length > 0; i--) {
        while (length > 0 && container[length - 1] != '.')
            length--;
        length -= length > 0 ? 1 : 0;
    }
    if (i > 0)
        return false;
    return (size_t)snprintf(out, n, "%.*s%s%s", (int)length, container, length > 0 ? "." : "",
                            name) < n;
}

static const struct scope_variable *find_local(const struct checker *c, const char *name)
{
    for (size_t i = c->n_scope; i > 0; i--) {
        if (strcmp(c->scope[i - 1].name, name) == 0)
            return &c->scope[i - 1];
    }
    return NULL;
}

/* Makes the node a variable or a type name of the environment, if it names one. */
static bool resolve(struct checker *c, struct tg_cel_node *node, const char *name)
{
    char full[QUALIFIED_MAX];
    const struct tg_cel_type *type;

    for (size_t i = 0; candidate(c->env, name, i, full, sizeof(full)); i++) {
        if (c->env->profile == TG_CEL_DRA && strcmp(full, "device") == 0) {
            node->place = TG_CEL_DEVICE;
            node->type = &tg_cel_type_device;
            return true;
        }
        for (size_t v = 0; v < c->env->n_variables; v++) {
            if (strcmp(c->env->variables[v].name, full) != 0)
                continue;
            node->place = TG_CEL_VARIABLE;
            node->slot = (uint32_t)v;
            node->type = c->env->variables[v].type;
            return true;
        }
        type = tg_cel_type_named(full);
        if (type != NULL) {
            node->place = TG_CEL_TYPE_NAME;
            node->literal = (struct tg_cel_value){.tag = TG_CEL_V_TYPE, .type = type};
            node->type = make(c, TG_CEL_TYPE, type, NULL);
            return true;
        }
    }
    return false;
}

/* Before 1.37 a name was looked up in the container first, then among the variables of folds. */
static bool looks_outside_first(const struct checker *c)
{
    return c->env->profile == TG_CEL_DRA && c->env->minor < 37;
}

static bool hides_locals(const struct checker *c, const char *name)
{
    char full[QUALIFIED_MAX];

    if (!looks_outside_first(c) || c->env->container == NULL ||
        !candidate(c->env, name, 0, full, sizeof(full)))
        return false;
    for (size_t v = 0; v < c->env->n_variables; v++) {
        if (strcmp(c->env->variables[v].name, full) == 0)
            return true;
    }
    return false;
}

static int check_ident(struct checker *c, struct tg_cel_node *node)
{
    const struct scope_variable *local = *node->name == '.' ? NULL : find_local(c, node->name);

    if (local != NULL && !hides_locals(c, node->name)) {
        node->place = TG_CEL_SLOT;
        node->slot = local->slot;
        node->type = local->type;
        return 0;
    }
    if (resolve(c, node, node->name))
        return 0;
    node->place = TG_CEL_UNRESOLVED;
    node->type = &tg_cel_type_dyn;
    if (c->env->unchecked)
        return 0;
    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, node->offset,
                         "undeclared reference to '%s'%s", node->name,
                         c->env->profile == TG_CEL_DRA ? "; a selector knows only 'device'" : "");
}

struct field {
    const char *name;
    const struct tg_cel_type *type;
};

static const struct tg_cel_type inner_any = {.kind = TG_CEL_MAP,
                                             .n_params = 2,
                                             .name = "map",
                                             .params = {&tg_cel_type_string, &tg_cel_type_any}};
static const struct tg_cel_type inner_dyn = {.kind = TG_CEL_MAP,
                                             .n_params = 2,
                                             .name = "map",
                                             .params = {&tg_cel_type_string, &tg_cel_type_dyn}};
static const struct tg_cel_type inner_capacity = {
    .kind = TG_CEL_MAP,
    .n_params = 2,
    .name = "map",
    .params = {&tg_cel_type_string, &tg_cel_type_quantity}};
#define OUTER(id, inner)                                                                           \
    static const struct tg_cel_type id = {                                                         \
        .kind = TG_CEL_MAP, .n_params = 2, .name = "map", .params = {&tg_cel_type_string, inner}}
OUTER(outer_any, &inner_any);
OUTER(outer_dyn, &inner_dyn);
OUTER(outer_capacity, &inner_capacity);

static int device_field(struct checker *c, const struct tg_cel_node *at, const char *name,
                        const struct tg_cel_type **ret)
{
    *ret = NULL;
    if (strcmp(name, "driver") == 0)
        *ret = &tg_cel_type_string;
    else if (strcmp(name, "attributes") == 0)
        *ret = tg_cel_has_list_attributes(c->env) ? &outer_dyn : &outer_any;
    else if (strcmp(name, "capacity") == 0)
        *ret = &outer_capacity;
    else if (strcmp(name, "allowMultipleAllocations") == 0 &&
             tg_cel_has_multiple_allocations(c->env))
        *ret = &tg_cel_type_bool;
    if (*ret != NULL)
        return 0;
    return tg_cel_report(
        c->err, TG_INVALID_ARGUMENT, c->source, at->offset,
        "undefined field '%s'; did you mean device.attributes[\"" TG_DRIVER_DEFAULT
        "\"].%s? device has driver, attributes, capacity%s",
        name, name, tg_cel_has_multiple_allocations(c->env) ? ", allowMultipleAllocations" : "");
}

/* The type of operand.field; the operand is checked here. */
static int check_field(struct checker *c, struct tg_cel_node *node, struct tg_cel_node *operand,
                       const char *field, bool optional, const struct tg_cel_type **ret)
{
    const struct tg_cel_type *target, *result = NULL;
    char text[96];
    int rc = check(c, operand);
    bool was_optional;

    if (rc < 0)
        return rc;
    target = tg_cel_substitute(c->u, operand->type, false);
    was_optional = target->kind == TG_CEL_OPTIONAL;
    if (was_optional)
        target = target->params[0];
    if (target->kind == TG_CEL_MAP) {
        result = target->params[1];
    } else if (target->kind == TG_CEL_OBJECT && target == &tg_cel_type_device) {
        rc = device_field(c, node, field, &result);
    } else if (target->kind == TG_CEL_PARAM) {
        tg_cel_assignable(c->u, &tg_cel_type_dyn, target);
        result = &tg_cel_type_dyn;
    } else if (tg_cel_type_is_dyn(target) || target->kind == TG_CEL_ERROR || c->env->unchecked) {
        result = &tg_cel_type_dyn;
    } else {
        rc = tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, node->offset,
                           "type '%s' does not support field selection",
                           tg_cel_type_text(target, text, sizeof(text)));
    }
    if (rc < 0)
        return rc;
    *ret = was_optional || optional ? make(c, TG_CEL_OPTIONAL, result, NULL) : result;
    return 0;
}

static int check_select(struct checker *c, struct tg_cel_node *node)
{
    const struct tg_cel_type *type = NULL;
    char name[QUALIFIED_MAX];
    const char *root = NULL;
    int rc = 0;

    if (!node->test && qualified(node, name, sizeof(name), &root) &&
        (*root == '.' || looks_outside_first(c) || find_local(c, root) == NULL) &&
        resolve(c, node, name)) {
        node->kind = TG_CEL_IDENT;
        return 0;
    }
    rc = check_field(c, node, node->args[0], node->name, false, &type);
    if (rc < 0)
        return rc;
    node->type = node->test ? &tg_cel_type_bool : tg_cel_substitute(c->u, type, false);
    return 0;
}

static int no_overload(struct checker *c, const struct tg_cel_node *call,
                       const struct tg_cel_type *const *args)
{
    char text[192] = "", part[64];
    size_t used = 0;

    for (size_t i = 0; i < call->n_args && used < sizeof(text); i++) {
        const char *between = i == 0 ? "" : call->member && i == 1 ? ".(" : ", ";

        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%s", between,
            tg_cel_type_text(tg_cel_substitute(c->u, args[i], true), part, sizeof(part)));
    }
    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, call->offset,
                         "found no matching overload for '%s' applied to '%s%s'", call->name, text,
                         call->member && call->n_args > 1 ? ")" : "");
}

/* A library that the environment lacks has what is called here. */
static int too_new(struct checker *c, const struct tg_cel_node *call,
                   const struct tg_cel_function *f)
{
    unsigned since = tg_cel_library_since((enum tg_cel_library)f->overloads[0].library);

    if (c->env->profile == TG_CEL_DRA && since <= TG_CEL_NEWEST_MINOR)
        return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, call->offset,
                             "undeclared reference to '%s': it needs Kubernetes 1.%u%s%s",
                             call->name, since, c->env->new_expression ? " in the cluster, " : "",
                             c->env->new_expression ? "and a release more in a new object" : "");
    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, call->offset,
                         "undeclared reference to '%s'", call->name);
}

static int undeclared_function(struct checker *c, struct tg_cel_node *call)
{
    const char *like = tg_cel_function_like(call->name, c->env);

    if (c->env->unchecked)
        return 0; /* an error when it is called */
    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, call->offset,
                         "undeclared reference to '%s'%s%s%s", call->name,
                         like == NULL ? "" : "; did you mean '", like == NULL ? "" : like,
                         like == NULL ? "" : "'?");
}

static const struct tg_cel_function *find_function(const struct checker *c, const char *name)
{
    const struct tg_cel_function *f;
    char full[QUALIFIED_MAX];

    for (size_t i = 0; candidate(c->env, name, i, full, sizeof(full)); i++) {
        f = tg_cel_function_find(full);
        /* Unchecked, one that the environment lacks is an error when it is called, as any other. */
        if (f != NULL && !(c->env->unchecked && !tg_cel_function_in(f, c->env)))
            return f;
    }
    return NULL;
}

/* The overload's types fit: what it gives; NULL: they do not. */
static const struct tg_cel_type *try_overload(struct checker *c, const struct tg_cel_overload *o,
                                              const struct tg_cel_type *const *args)
{
    const struct tg_cel_type *wanted[TG_CEL_MAX_ARGS];
    struct tg_cel_instance instance = {.n = 0};

    for (size_t i = 0; i < o->n_args; i++)
        wanted[i] = tg_cel_instantiate(c->u, &instance, o->args[i]);
    if (c->env->unchecked)
        return &tg_cel_type_dyn;
    if (!tg_cel_assignable_all(c->u, args, wanted, o->n_args))
        return NULL;
    return tg_cel_substitute(c->u, tg_cel_instantiate(c->u, &instance, o->result), false);
}

/* Has the overload the form of the call? */
static bool fits_call(const struct checker *c, const struct tg_cel_node *call,
                      const struct tg_cel_overload *o)
{
    return o->member == call->member && o->n_args == call->n_args &&
           tg_cel_has_library(c->env, (enum tg_cel_library)o->library);
}

static int resolve_overloads(struct checker *c, struct tg_cel_node *call,
                             const struct tg_cel_function *f)
{
    const struct tg_cel_type *args[TG_CEL_MAX_ARGS], *result = NULL;

    if (!tg_cel_function_in(f, c->env))
        return too_new(c, call, f);
    if (call->n_args > TG_CEL_MAX_ARGS)
        return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, call->offset,
                             "found no matching overload for '%s': too many arguments", call->name);
    call->op = (uint8_t)f->op;
    call->name = f->name;
    call->overloads = tg_arena_alloc_array(c->u->arena, f->n, sizeof(struct tg_cel_overload *));
    if (call->overloads == NULL)
        return no_memory(c);
    for (size_t i = 0; i < call->n_args; i++)
        args[i] = call->args[i]->type;
    for (size_t i = 0; i < f->n; i++) {
        const struct tg_cel_overload *o = &f->overloads[i];
        const struct tg_cel_type *type = fits_call(c, call, o) ? try_overload(c, o, args) : NULL;

        if (type == NULL)
            continue;
        call->overloads[call->n_overloads++] = o;
        if (result == NULL)
            result = type;
        else if (!tg_cel_type_is_dyn(result) && !tg_cel_type_same(type, result))
            result = &tg_cel_type_dyn;
    }
    if (result == NULL)
        return no_overload(c, call, args);
    call->type = result;
    return 0;
}

static int check_optional_select(struct checker *c, struct tg_cel_node *call)
{
    const struct tg_cel_type *type = NULL;
    char field[QUALIFIED_MAX];
    const struct tg_cel_value *name = &call->args[1]->literal;
    int rc = 0;

    snprintf(field, sizeof(field), "%.*s", (int)name->length, name->text);
    call->op = TG_CEL_OP_OPTIONAL_SELECT;
    call->args[1]->type = &tg_cel_type_string;
    rc = check_field(c, call, call->args[0], field, true, &type);
    if (rc < 0)
        return rc;
    call->type = tg_cel_substitute(c->u, type, false);
    call->overloads = tg_arena_alloc_array(c->u->arena, 1, sizeof(struct tg_cel_overload *));
    if (call->overloads == NULL)
        return no_memory(c);
    call->overloads[call->n_overloads++] = &tg_cel_function_find("_?._")->overloads[0];
    return 0;
}

static int check_call(struct checker *c, struct tg_cel_node *call)
{
    const struct tg_cel_function *f = NULL;
    char prefix[QUALIFIED_MAX], name[QUALIFIED_MAX];
    const char *root;
    int rc = 0;

    if (strcmp(call->name, "_?._") == 0)
        return check_optional_select(c, call);
    for (size_t i = call->member ? 1 : 0; rc == 0 && i < call->n_args; i++)
        rc = check(c, call->args[i]);
    if (rc < 0)
        return rc;
    /* a.b.c() is a function of that name before it is a method of a.b */
    if (call->member && qualified(call->args[0], prefix, sizeof(prefix), &root) &&
        (size_t)snprintf(name, sizeof(name), "%s.%s", prefix, call->name) < sizeof(name))
        f = find_function(c, name);
    if (f != NULL) {
        call->args++;
        call->n_args--;
        call->member = false;
        return resolve_overloads(c, call, f);
    }
    if (call->member)
        rc = check(c, call->args[0]);
    if (rc < 0)
        return rc;
    f = find_function(c, call->name);
    return f == NULL ? undeclared_function(c, call) : resolve_overloads(c, call, f);
}

/* The type of elements of both types; mixed ones are dyn (and refused later, where Kubernetes
 * does). */
static void join(struct checker *c, const struct tg_cel_type **previous,
                 const struct tg_cel_type *current)
{
    if (*previous == NULL)
        *previous = current;
    else if (tg_cel_assignable(c->u, *previous, current))
        *previous = tg_cel_most_general(*previous, current);
    else
        *previous = &tg_cel_type_dyn;
}

static int check_element(struct checker *c, struct tg_cel_node *element, bool optional,
                         const struct tg_cel_type **joined)
{
    const struct tg_cel_type *type;
    int rc = check(c, element);

    if (rc < 0)
        return rc;
    type = element->type;
    if (optional) {
        if (type->kind == TG_CEL_OPTIONAL)
            type = type->params[0];
        else if (!tg_cel_type_is_dyn(type))
            return mismatch(c, element, make(c, TG_CEL_OPTIONAL, type, NULL), type);
    }
    join(c, joined, type);
    return 0;
}

static int check_list(struct checker *c, struct tg_cel_node *node)
{
    const struct tg_cel_type *type = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < node->n_args; i++)
        rc = check_element(c, node->args[i], node->optional != NULL && node->optional[i], &type);
    if (rc < 0)
        return rc;
    if (type == NULL)
        type = tg_cel_unifier_variable(c->u);
    node->type = make(c, TG_CEL_LIST, type, NULL);
    return 0;
}

static int check_map(struct checker *c, struct tg_cel_node *node)
{
    const struct tg_cel_type *key = NULL, *value = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < node->n_args; i += 2) {
        rc = check_element(c, node->args[i], false, &key);
        if (rc == 0)
            rc = check_element(c, node->args[i + 1], node->optional != NULL && node->optional[i],
                               &value);
    }
    if (rc < 0)
        return rc;
    if (key == NULL) {
        key = tg_cel_unifier_variable(c->u);
        value = tg_cel_unifier_variable(c->u);
    }
    node->type = make(c, TG_CEL_MAP, key, value);
    return 0;
}

static int declare(struct checker *c, const char *name, const struct tg_cel_type *type,
                   unsigned slot)
{
    if (c->n_scope == c->scope_capacity) {
        size_t capacity = c->scope_capacity == 0 ? 16 : c->scope_capacity * 2;
        struct scope_variable *grown = tg_arena_alloc_array(c->u->arena, capacity, sizeof(*grown));

        if (grown == NULL)
            return no_memory(c);
        if (c->n_scope > 0)
            memcpy(grown, c->scope, c->n_scope * sizeof(*grown));
        c->scope = grown;
        c->scope_capacity = capacity;
    }
    c->scope[c->n_scope++] = (struct scope_variable){name, type, slot};
    return 0;
}

/* The types of the iteration variables over a range. */
static int range_types(struct checker *c, const struct tg_cel_fold *fold,
                       const struct tg_cel_type **ret_1, const struct tg_cel_type **ret_2)
{
    const struct tg_cel_type *range = tg_cel_substitute(c->u, fold->range->type, false);
    char text[96];

    *ret_1 = *ret_2 = &tg_cel_type_dyn;
    switch ((int)range->kind) {
    case TG_CEL_LIST:
        *ret_1 = fold->iter2 == NULL ? range->params[0] : &tg_cel_type_int;
        *ret_2 = range->params[0];
        return 0;
    case TG_CEL_MAP:
        *ret_1 = range->params[0];
        *ret_2 = range->params[1];
        return 0;
    case TG_CEL_DYN:
    case TG_CEL_ERROR:
    case TG_CEL_PARAM:
        tg_cel_assignable(c->u, &tg_cel_type_dyn, range);
        return 0;
    default:
        if (c->env->unchecked)
            return 0;
        return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, fold->range->offset,
                             "expression of type '%s' cannot be range of a comprehension (must be "
                             "list, map, or dynamic)",
                             tg_cel_type_text(range, text, sizeof(text)));
    }
}

static int check_as(struct checker *c, struct tg_cel_node *node, const struct tg_cel_type *wanted)
{
    int rc = check(c, node);

    if (rc < 0 || c->env->unchecked || tg_cel_assignable(c->u, wanted, node->type))
        return rc;
    return mismatch(c, node, wanted, node->type);
}

static int check_loop(struct checker *c, struct tg_cel_fold *fold, const struct tg_cel_type *first,
                      const struct tg_cel_type *second)
{
    size_t outer = c->n_scope;
    int rc = declare(c, fold->iter, first, fold->slot);

    if (rc == 0 && fold->iter2 != NULL)
        rc = declare(c, fold->iter2, second, fold->slot + 1);
    if (rc == 0)
        rc = check_as(c, fold->condition, &tg_cel_type_bool);
    if (rc == 0)
        rc = check_as(c, fold->step, fold->init->type);
    c->n_scope = outer;
    return rc;
}

static int check_fold(struct checker *c, struct tg_cel_node *node)
{
    struct tg_cel_fold *fold = node->fold;
    const struct tg_cel_type *first = NULL, *second = NULL;
    size_t outer = c->n_scope;
    int rc;

    /* Before range and init: the init of cel.bind is evaluated while the slots are in use. */
    fold->slot = c->slots;
    c->slots += 3;
    if (c->slots > c->max_slots)
        c->max_slots = c->slots;
    rc = check(c, fold->range);
    if (rc == 0)
        rc = check(c, fold->init);
    if (rc == 0)
        rc = range_types(c, fold, &first, &second);
    if (rc < 0)
        return rc;
    rc = declare(c, fold->accu, fold->init->type, fold->slot + 2);
    if (rc == 0)
        rc = check_loop(c, fold, first, second);
    if (rc == 0)
        rc = check(c, fold->result);
    c->n_scope = outer;
    c->slots -= 3;
    if (rc == 0)
        node->type = tg_cel_substitute(c->u, fold->result->type, false);
    return rc;
}

static int check(struct checker *c, struct tg_cel_node *node)
{
    int rc = 0;

    if (node->checked) /* a macro uses it twice */
        return 0;
    switch ((int)node->kind) {
    case TG_CEL_LITERAL:
        node->type = tg_cel_type_of(&node->literal);
        break;
    case TG_CEL_IDENT:
        rc = check_ident(c, node);
        break;
    case TG_CEL_SELECT:
        rc = check_select(c, node);
        break;
    case TG_CEL_CALL:
        rc = check_call(c, node);
        break;
    case TG_CEL_CREATE_LIST:
        rc = check_list(c, node);
        break;
    case TG_CEL_CREATE_MAP:
        rc = check_map(c, node);
        break;
    default:
        rc = check_fold(c, node);
    }
    node->checked = true;
    if (rc == 0 && c->u->no_memory)
        rc = no_memory(c);
    if (rc == 0 && c->env->unchecked)
        node->type = &tg_cel_type_dyn;
    return rc;
}

int tg_cel_check(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                 struct tg_cel_unifier *u, struct tg_cel_node *root, unsigned *ret_slots,
                 struct tg_error *err)
{
    struct checker c = {.source = source, .env = env, .u = u, .err = err};
    int rc = check(&c, root);

    *ret_slots = c.max_slots;
    return rc;
}
