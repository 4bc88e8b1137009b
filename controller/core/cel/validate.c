/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows the tree, whose depth the parser bounds. */
#include "controller/core/cel/validate.h"

#include <string.h>

struct validator {
    const struct tg_cel_source *source;
    struct tg_error *err;
};

static int mismatch(const struct validator *v, const struct tg_cel_node *at,
                    const struct tg_cel_type *wanted, const struct tg_cel_type *got)
{
    char a[96], b[96];

    return tg_cel_report(
        v->err, TG_INVALID_ARGUMENT, v->source, at->offset, "expected type '%s' but found '%s'",
        tg_cel_type_text(wanted, a, sizeof(a)), tg_cel_type_text(got, b, sizeof(b)));
}

/* Every `step`-th argument from `first` on has the type of the first of them. */
static int check_one_type(const struct validator *v, const struct tg_cel_node *node, size_t first,
                          size_t step)
{
    const struct tg_cel_type *wanted = NULL;

    for (size_t i = first; i < node->n_args; i += step) {
        const struct tg_cel_type *type = node->args[i]->type;
        bool optional =
            node->optional != NULL && node->optional[i - first] && (step == 1 || first == 1);

        if (optional && type->kind == TG_CEL_OPTIONAL)
            type = type->params[0];
        if (wanted == NULL)
            wanted = type;
        else if (!tg_cel_type_same(wanted, type))
            return mismatch(v, node->args[i], wanted, type);
    }
    return 0;
}

static bool is_one_of(const struct tg_cel_node *node, const enum tg_cel_kind *kinds)
{
    if (node->type->kind == TG_CEL_DYN)
        return true;
    for (; *kinds != TG_CEL_ERROR; kinds++) {
        if (node->type->kind == *kinds)
            return true;
    }
    return false;
}

static const enum tg_cel_kind text_kinds[] = {
    TG_CEL_LIST, TG_CEL_MAP,       TG_CEL_INT,   TG_CEL_UINT,     TG_CEL_DOUBLE,
    TG_CEL_BOOL, TG_CEL_STRING,    TG_CEL_BYTES, TG_CEL_DURATION, TG_CEL_TYPE,
    TG_CEL_NULL, TG_CEL_TIMESTAMP, TG_CEL_ERROR,
};

static const struct {
    char clause;
    enum tg_cel_kind kinds[5]; /* ERROR ends them */
} clauses[] = {
    {'d', {TG_CEL_INT, TG_CEL_UINT, TG_CEL_ERROR}},
    {'f', {TG_CEL_DOUBLE, TG_CEL_STRING, TG_CEL_ERROR}},
    {'e', {TG_CEL_DOUBLE, TG_CEL_STRING, TG_CEL_ERROR}},
    {'b', {TG_CEL_INT, TG_CEL_UINT, TG_CEL_BOOL, TG_CEL_ERROR}},
    {'o', {TG_CEL_INT, TG_CEL_UINT, TG_CEL_ERROR}},
    {'x', {TG_CEL_INT, TG_CEL_UINT, TG_CEL_STRING, TG_CEL_BYTES, TG_CEL_ERROR}},
    {'X', {TG_CEL_INT, TG_CEL_UINT, TG_CEL_STRING, TG_CEL_BYTES, TG_CEL_ERROR}},
};

/* %s takes what can be written, inside of literals too. */
static bool fits_text(const struct tg_cel_node *node)
{
    if (!is_one_of(node, text_kinds))
        return false;
    for (size_t i = 0; i < node->n_args; i++) {
        if ((node->kind == TG_CEL_CREATE_LIST || node->kind == TG_CEL_CREATE_MAP) &&
            !fits_text(node->args[i]))
            return false;
    }
    return true;
}

/* NULL: the argument fits the clause. */
static const char *check_clause(char clause, const struct tg_cel_node *arg)
{
    if (clause == 's')
        return fits_text(arg) ? NULL : "the argument does not fit its clause %s";
    for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        if (clauses[i].clause == clause)
            return is_one_of(arg, clauses[i].kinds) ? NULL : "the argument does not fit its clause";
    }
    return "could not parse formatting clause: unrecognized clause";
}

/* Reads one clause behind its '%': NULL, or what is wrong with it. */
static const char *read_clause(const struct tg_cel_value *format, const struct tg_cel_node *args,
                               size_t *at, size_t *next)
{
    if (*next >= args->n_args)
        return "string.format: more clauses than arguments";
    if (*at < format->length && format->text[*at] == '.') {
        do {
            (*at)++;
        } while (*at < format->length && format->text[*at] >= '0' && format->text[*at] <= '9');
    }
    if (*at >= format->length)
        return "string.format: unexpected end of string";
    return check_clause(format->text[*at], args->args[(*next)++]);
}

/* "format".format([arguments]) */
static int check_format(const struct validator *v, const struct tg_cel_node *call)
{
    const struct tg_cel_value *format = &call->args[0]->literal;
    const struct tg_cel_node *args = call->args[1];
    size_t next = 0;

    for (size_t i = 0; i < format->length; i++) {
        const char *why = NULL;

        if (format->text[i] != '%')
            continue;
        i++;
        if (i < format->length && format->text[i] == '%')
            continue;
        why = read_clause(format, args, &i, &next);
        if (why != NULL)
            return tg_cel_report(v->err, TG_INVALID_ARGUMENT, v->source, call->offset, "%s", why);
    }
    if (next < args->n_args)
        return tg_cel_report(v->err, TG_INVALID_ARGUMENT, v->source, call->offset,
                             "too many arguments supplied to string.format (expected %zu, got %u)",
                             next, args->n_args);
    return 0;
}

static bool is_format(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_CALL && strcmp(node->name, "format") == 0;
}

static bool is_constant_format(const struct tg_cel_node *node)
{
    return is_format(node) && node->member && node->n_args == 2 &&
           node->args[0]->kind == TG_CEL_LITERAL && node->args[0]->literal.tag == TG_CEL_V_STRING &&
           node->args[1]->kind == TG_CEL_CREATE_LIST;
}

/* The node alone. exempt: somewhere inside of a call of format(). */
static int validate_node(const struct validator *v, const struct tg_cel_node *node, bool exempt)
{
    int rc = 0;

    if (is_constant_format(node))
        return check_format(v, node);
    if (exempt)
        return 0;
    if (node->kind == TG_CEL_CREATE_LIST)
        return check_one_type(v, node, 0, 1);
    if (node->kind != TG_CEL_CREATE_MAP)
        return 0;
    rc = check_one_type(v, node, 0, 2);
    return rc < 0 ? rc : check_one_type(v, node, 1, 2);
}

static int validate(const struct validator *v, struct tg_cel_node *node, bool exempt)
{
    int rc = 0;

    if (node->validated)
        return 0;
    node->validated = true;
    rc = validate_node(v, node, exempt);
    exempt = exempt || is_format(node);
    for (size_t i = 0; rc == 0 && i < node->n_args; i++)
        rc = validate(v, node->args[i], exempt);
    if (node->kind == TG_CEL_FOLD) {
        struct tg_cel_node *const parts[] = {node->fold->range, node->fold->init,
                                             node->fold->condition, node->fold->step,
                                             node->fold->result};

        for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
            rc = validate(v, parts[i], exempt);
    }
    return rc;
}

int tg_cel_validate(const struct tg_cel_source *source, struct tg_cel_node *root,
                    struct tg_error *err)
{
    struct validator v = {.source = source, .err = err};

    return validate(&v, root, false);
}
