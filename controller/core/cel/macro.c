/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/macro.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

/* What an expander works on. first: its first argument behind target and variables. */
struct call {
    const struct tg_cel_builder *b;
    const struct tg_cel_source *source;
    struct tg_cel_node *node;
    struct tg_cel_node *target;
    const char *iter, *iter2;
    struct tg_cel_node **args;
    size_t n;
    struct tg_error *err;
};

static int refuse(const struct call *c, const struct tg_cel_node *at, const char *why)
{
    return tg_cel_report(c->err, TG_INVALID_ARGUMENT, c->source, at->offset, "%s", why);
}

static int give(struct tg_cel_node *node, struct tg_cel_node **ret, struct tg_error *err)
{
    if (node == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    *ret = node;
    return 0;
}

static struct tg_cel_node *accu(const struct call *c)
{
    return tg_cel_build_ident(c->b, TG_CEL_ACCUMULATOR);
}

static struct tg_cel_node *truth(const struct call *c, bool value)
{
    return tg_cel_build_literal(c->b, tg_cel_bool(value));
}

static int fold(const struct call *c, struct tg_cel_node *init, struct tg_cel_node *condition,
                struct tg_cel_node *step, struct tg_cel_node *result, struct tg_cel_node **ret)
{
    struct tg_cel_fold f = {
        .iter = c->iter,
        .iter2 = c->iter2,
        .accu = TG_CEL_ACCUMULATOR,
        .range = c->target,
        .init = init,
        .condition = condition,
        .step = step,
        .result = result,
        /* Only && and || absorb an error of an earlier turn. */
        .sticky = condition != NULL && condition->kind == TG_CEL_LITERAL,
    };

    return give(tg_cel_build_fold(c->b, &f), ret, c->err);
}

static int expand_has(const struct call *c, struct tg_cel_node **ret)
{
    struct tg_cel_node *field = c->args[0], *node;

    if (field->kind != TG_CEL_SELECT || field->test)
        return refuse(c, field, "has() takes a selection with a dot, like has(a.b)");
    node = tg_cel_build(c->b, TG_CEL_SELECT, field->name, 1);
    if (node != NULL) {
        node->test = true;
        node->args[0] = field->args[0];
        node->depth = field->depth;
    }
    return give(node, ret, c->err);
}

static int expand_all(const struct call *c, struct tg_cel_node **ret)
{
    return fold(c, truth(c, true), tg_cel_build_1(c->b, "@not_strictly_false", accu(c)),
                tg_cel_build_2(c->b, "_&&_", accu(c), c->args[0]), accu(c), ret);
}

static int expand_exists(const struct call *c, struct tg_cel_node **ret)
{
    struct tg_cel_node *negated = tg_cel_build_1(c->b, "!_", accu(c));

    return fold(c, truth(c, false), tg_cel_build_1(c->b, "@not_strictly_false", negated),
                tg_cel_build_2(c->b, "_||_", accu(c), c->args[0]), accu(c), ret);
}

static int expand_exists_one(const struct call *c, struct tg_cel_node **ret)
{
    struct tg_cel_node *one = tg_cel_build_literal(c->b, tg_cel_int(1));
    struct tg_cel_node *more = tg_cel_build_2(c->b, "_+_", accu(c), one);
    struct tg_cel_node *unit = tg_cel_build_literal(c->b, tg_cel_int(1));

    return fold(c, tg_cel_build_literal(c->b, tg_cel_int(0)), truth(c, true),
                tg_cel_build_3(c->b, "_?_:_", c->args[0], more, accu(c)),
                tg_cel_build_2(c->b, "_==_", accu(c), unit), ret);
}

/* accu + what, where the filter (if there is one) holds. */
static int collect(const struct call *c, struct tg_cel_node *init, struct tg_cel_node *filter,
                   struct tg_cel_node *step, struct tg_cel_node **ret)
{
    if (filter != NULL)
        step = tg_cel_build_3(c->b, "_?_:_", filter, step, accu(c));
    return fold(c, init, truth(c, true), step, accu(c), ret);
}

static struct tg_cel_node *append(const struct call *c, struct tg_cel_node *what)
{
    return tg_cel_build_2(c->b, "_+_", accu(c), tg_cel_build_list(c->b, what));
}

/* map, transformList: [filter,] transformation */
static int expand_map(const struct call *c, struct tg_cel_node **ret)
{
    return collect(c, tg_cel_build_list(c->b, NULL), c->n == 2 ? c->args[0] : NULL,
                   append(c, c->args[c->n - 1]), ret);
}

static int expand_filter(const struct call *c, struct tg_cel_node **ret)
{
    return collect(c, tg_cel_build_list(c->b, NULL), c->args[0],
                   append(c, tg_cel_build_ident(c->b, c->iter)), ret);
}

static int expand_transform_map(const struct call *c, struct tg_cel_node **ret)
{
    struct tg_cel_node *step = tg_cel_build_3(c->b, "cel.@mapInsert", accu(c),
                                              tg_cel_build_ident(c->b, c->iter), c->args[c->n - 1]);

    return collect(c, tg_cel_build(c->b, TG_CEL_CREATE_MAP, NULL, 0), c->n == 2 ? c->args[0] : NULL,
                   step, ret);
}

static int expand_transform_map_entry(const struct call *c, struct tg_cel_node **ret)
{
    struct tg_cel_node *step = tg_cel_build_2(c->b, "cel.@mapInsert", accu(c), c->args[c->n - 1]);

    return collect(c, tg_cel_build(c->b, TG_CEL_CREATE_MAP, NULL, 0), c->n == 2 ? c->args[0] : NULL,
                   step, ret);
}

/* A name for a value inside an expression. */
static struct tg_cel_node *bind(const struct tg_cel_builder *b, const char *name,
                                struct tg_cel_node *value, struct tg_cel_node *in)
{
    struct tg_cel_fold f = {
        .iter = TG_CEL_UNUSED,
        .accu = name,
        .range = tg_cel_build_list(b, NULL),
        .init = value,
        .condition = tg_cel_build_literal(b, tg_cel_bool(false)),
        .step = tg_cel_build_ident(b, name),
        .result = in,
        .bind = true,
    };

    return tg_cel_build_fold(b, &f);
}

static int expand_bind(const struct call *c, struct tg_cel_node **ret)
{
    if (c->args[0]->kind != TG_CEL_IDENT)
        return refuse(c, c->args[0], "cel.bind() takes a simple name first");
    return give(bind(c->b, c->args[0]->name, c->args[1], c->args[2]), ret, c->err);
}

/* target.hasValue() ? then : optional.none(), where inner (in then) binds target.value(). */
static int expand_optional(const struct call *c, bool wrap, struct tg_cel_node **ret)
{
    struct tg_cel_node *has = tg_cel_build_call(c->b, "hasValue", true, &c->target, 1);
    struct tg_cel_node *value = tg_cel_build_call(c->b, "value", true, &c->target, 1);
    struct tg_cel_node *none = tg_cel_build(c->b, TG_CEL_CALL, "optional.none", 0);
    struct tg_cel_node *then;

    if (c->args[0]->kind != TG_CEL_IDENT)
        return refuse(c, c->args[0], "the name of the variable must be a simple name");
    then = bind(c->b, c->args[0]->name, value, c->args[1]);
    if (wrap)
        then = tg_cel_build_1(c->b, "optional.of", then);
    return give(tg_cel_build_3(c->b, "_?_:_", has, then, none), ret, c->err);
}

static int expand_opt_map(const struct call *c, struct tg_cel_node **ret)
{
    return expand_optional(c, true, ret);
}

static int expand_opt_flat_map(const struct call *c, struct tg_cel_node **ret)
{
    return expand_optional(c, false, ret);
}

/* The list is bound once, mapped to its keys, and sorted by them. */
static int expand_sort_by(const struct call *c, struct tg_cel_node **ret)
{
    static const char input[] = "@sort_input";
    struct call inner = *c;
    struct tg_cel_node *sort[2] = {tg_cel_build_ident(c->b, input), NULL};
    int rc = 0;

    if (c->target->kind == TG_CEL_LITERAL || c->target->kind == TG_CEL_CREATE_MAP ||
        c->target->kind == TG_CEL_CREATE_STRUCT)
        return refuse(c, c->target, "sortBy() takes a list");
    inner.target = tg_cel_build_ident(c->b, input);
    rc = inner.target == NULL ? give(NULL, ret, c->err) : expand_map(&inner, &sort[1]);
    if (rc < 0)
        return rc;
    return give(bind(c->b, input, c->target,
                     tg_cel_build_call(c->b, "@sortByAssociatedKeys", true, sort, 2)),
                ret, c->err);
}

struct macro {
    const char *name;
    unsigned n_args;    /* the target not counted */
    unsigned variables; /* of n_args, the names of iteration variables */
    bool member;
    enum tg_cel_library library;
    int (*expand)(const struct call *call, struct tg_cel_node **ret);
};

static const struct macro macros[] = {
    {"has", 1, 0, false, TG_CEL_LIB_STANDARD, expand_has},
    {"all", 2, 1, true, TG_CEL_LIB_STANDARD, expand_all},
    {"exists", 2, 1, true, TG_CEL_LIB_STANDARD, expand_exists},
    {"exists_one", 2, 1, true, TG_CEL_LIB_STANDARD, expand_exists_one},
    {"existsOne", 2, 1, true, TG_CEL_LIB_STANDARD, expand_exists_one},
    {"map", 2, 1, true, TG_CEL_LIB_STANDARD, expand_map},
    {"map", 3, 1, true, TG_CEL_LIB_STANDARD, expand_map},
    {"filter", 2, 1, true, TG_CEL_LIB_STANDARD, expand_filter},
    {"all", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_all},
    {"exists", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_exists},
    {"exists_one", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_exists_one},
    {"existsOne", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_exists_one},
    {"transformList", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_map},
    {"transformList", 4, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_map},
    {"transformMap", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_transform_map},
    {"transformMap", 4, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_transform_map},
    {"transformMapEntry", 3, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_transform_map_entry},
    {"transformMapEntry", 4, 2, true, TG_CEL_LIB_TWO_VARIABLES, expand_transform_map_entry},
    {"bind", 3, 0, true, TG_CEL_LIB_BINDINGS, expand_bind},
    {"optMap", 2, 0, true, TG_CEL_LIB_OPTIONAL, expand_opt_map},
    {"optFlatMap", 2, 0, true, TG_CEL_LIB_OPTIONAL, expand_opt_flat_map},
    {"sortBy", 2, 1, true, TG_CEL_LIB_LISTS, expand_sort_by},
};

static const struct macro *find(const struct tg_cel_environment *env,
                                const struct tg_cel_node *call)
{
    size_t n_args = call->n_args - (call->member ? 1 : 0);

    for (size_t i = 0; i < TG_ARRAY_SIZE(macros); i++) {
        const struct macro *m = &macros[i];

        if (m->n_args != n_args || m->member != call->member || strcmp(m->name, call->name) != 0 ||
            !tg_cel_has_library(env, m->library))
            continue;
        /* cel.bind(), and no method of that name */
        if (m->expand == expand_bind &&
            (call->args[0]->kind != TG_CEL_IDENT || !tg_streq(call->args[0]->name, "cel")))
            continue;
        return m;
    }
    return NULL;
}

static int take_variable(struct call *c, const char **ret)
{
    const struct tg_cel_node *name = c->args[0];

    if (name->kind != TG_CEL_IDENT)
        return refuse(c, name, "the name of the variable must be a simple name");
    if (strcmp(name->name, TG_CEL_ACCUMULATOR) == 0 || strcmp(name->name, "__result__") == 0)
        return refuse(c, name, "the iteration variable overwrites the accumulator variable");
    *ret = name->name;
    c->args++;
    c->n--;
    return 0;
}

int tg_cel_macro_expand(const struct tg_cel_builder *b, const struct tg_cel_environment *env,
                        const struct tg_cel_source *source, struct tg_cel_node *call,
                        struct tg_cel_node **ret, struct tg_error *err)
{
    const struct macro *m = find(env, call);
    struct call c = {.b = b, .source = source, .node = call, .err = err};
    int rc = 0;

    *ret = call;
    if (m == NULL)
        return 0;
    c.target = call->member ? call->args[0] : NULL;
    c.args = call->args + (call->member ? 1 : 0);
    c.n = m->n_args;
    if (m->variables > 0)
        rc = take_variable(&c, &c.iter);
    if (rc == 0 && m->variables > 1)
        rc = take_variable(&c, &c.iter2);
    if (rc == 0 && c.iter2 != NULL && strcmp(c.iter, c.iter2) == 0)
        rc = refuse(&c, c.args[-1], "both variables have the same name");
    if (rc == 0)
        rc = m->expand(&c, ret);
    return rc;
}
