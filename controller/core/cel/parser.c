/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/parser.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/build.h"
#include "controller/core/cel/lexer.h"
#include "controller/core/cel/macro.h"

/* One token ahead. Depths count how often a rule of the grammar is open, as the parser in
 * Kubernetes does; recursion ends there. */
struct parser {
    struct tg_cel_lexer lexer;
    struct tg_cel_token token;
    const struct tg_cel_environment *env;
    unsigned expr_depth, relation_depth, calc_depth;
    struct tg_error *err;
};

struct list {
    struct tg_cel_node **items;
    bool *optional;
    size_t n, capacity;
    bool any_optional;
};

static int parse_expr(struct parser *p, struct tg_cel_node **ret);

static int advance(struct parser *p)
{
    return tg_cel_lexer_next(&p->lexer, &p->token, p->err);
}

static int no_memory(struct parser *p)
{
    return tg_error_set(p->err, TG_RESOURCE_EXHAUSTED,
                        "the selector needs more memory than its budget");
}

static int give(struct parser *p, struct tg_cel_node *node, struct tg_cel_node **ret)
{
    if (node == NULL)
        return no_memory(p);
    *ret = node;
    return 0;
}

static int refuse_at(struct parser *p, size_t offset, const char *why)
{
    return tg_cel_report(p->err, TG_INVALID_ARGUMENT, p->lexer.source, offset, "%s", why);
}

static int unexpected(struct parser *p, const char *wanted)
{
    size_t n = p->token.length;

    if (p->token.kind == TG_CEL_TOKEN_END)
        return tg_cel_report(p->err, TG_INVALID_ARGUMENT, p->lexer.source, p->token.offset,
                             "Syntax error: the expression ends too early, %s is expected", wanted);
    return tg_cel_report(p->err, TG_INVALID_ARGUMENT, p->lexer.source, p->token.offset,
                         "Syntax error: unexpected '%.*s', %s is expected", (int)(n > 32 ? 32 : n),
                         p->lexer.source->text + p->token.offset, wanted);
}

static int expect(struct parser *p, enum tg_cel_token_kind kind, const char *wanted)
{
    return p->token.kind == kind ? advance(p) : unexpected(p, wanted);
}

static int enter(struct parser *p, unsigned *depth)
{
    if (++*depth > TG_CEL_MAX_DEPTH)
        return tg_cel_report(p->err, TG_INVALID_ARGUMENT, p->lexer.source, p->token.offset,
                             "expression recursion limit exceeded: %u", TG_CEL_MAX_DEPTH);
    return 0;
}

static struct tg_cel_builder builder(const struct parser *p, size_t offset)
{
    return (struct tg_cel_builder){.arena = p->lexer.arena, .offset = offset};
}

static int push(struct parser *p, struct list *list, struct tg_cel_node *node, bool optional)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
        struct tg_cel_node **items =
            tg_arena_alloc_array(p->lexer.arena, capacity, sizeof(struct tg_cel_node *));
        bool *flags = tg_arena_alloc(p->lexer.arena, capacity);

        if (items == NULL || flags == NULL)
            return no_memory(p);
        if (list->n > 0) {
            memcpy(items, list->items, list->n * sizeof(struct tg_cel_node *));
            memcpy(flags, list->optional, list->n);
        }
        list->items = items;
        list->optional = flags;
        list->capacity = capacity;
    }
    list->items[list->n] = node;
    list->optional[list->n++] = optional;
    list->any_optional = list->any_optional || optional;
    return 0;
}

static char *copy_name(struct parser *p, const struct tg_cel_token *token, bool dot)
{
    char *name = tg_arena_alloc(p->lexer.arena, token->length + 2);
    const char *text = p->lexer.source->text + token->offset;

    if (name == NULL)
        return NULL;
    name[0] = '.';
    memcpy(name + (dot ? 1 : 0), text, token->length);
    name[token->length + (dot ? 1 : 0)] = '\0';
    return name;
}

static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",    "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while",
    };

    for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
        if (strcmp(words[i], name) == 0)
            return true;
    }
    return false;
}

/* One more operator over the operands: their depth counts. */
static int deepen(struct parser *p, struct tg_cel_node *node)
{
    if (node == NULL)
        return no_memory(p);
    if (++node->depth > TG_CEL_MAX_DEPTH)
        return refuse_at(p, node->offset, "expression recursion limit exceeded: 250");
    return 0;
}

/* A call, or what it stands for as a macro. deeper: an operator that counts. */
static int finish_call(struct parser *p, size_t offset, struct tg_cel_node *call, bool deeper,
                       struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, offset);
    struct tg_cel_node *node = NULL;
    unsigned depth;
    int rc = call == NULL ? no_memory(p) : 0;

    if (rc == 0 && deeper)
        rc = deepen(p, call);
    if (rc == 0)
        rc = tg_cel_macro_expand(&b, p->env, p->lexer.source, call, &node, p->err);
    if (rc < 0)
        return rc;
    depth = call->depth;
    if (node->depth < depth)
        node->depth = (uint16_t)depth;
    *ret = node;
    return 0;
}

/* expr {, expr} up to the closing parenthesis, which is consumed. */
static int parse_arguments(struct parser *p, struct list *args)
{
    int rc = advance(p);

    while (rc == 0 && p->token.kind != TG_CEL_TOKEN_RIGHT_PAREN) {
        struct tg_cel_node *arg = NULL;

        rc = parse_expr(p, &arg);
        if (rc == 0)
            rc = push(p, args, arg, false);
        if (rc < 0 || p->token.kind == TG_CEL_TOKEN_RIGHT_PAREN)
            break;
        rc = expect(p, TG_CEL_TOKEN_COMMA, "',' or ')'");
        if (rc == 0 && p->token.kind == TG_CEL_TOKEN_RIGHT_PAREN)
            rc = unexpected(p, "an argument");
    }
    return rc < 0 ? rc : advance(p);
}

static int optional_mark(struct parser *p, bool *ret)
{
    *ret = p->token.kind == TG_CEL_TOKEN_QUESTION;
    if (!*ret)
        return 0;
    if (!tg_cel_has_library(p->env, TG_CEL_LIB_OPTIONAL))
        return refuse_at(p, p->token.offset, "unsupported syntax '?'");
    return advance(p);
}

/* One element of a list, or one key: value of a map. */
static int parse_element(struct parser *p, bool map, struct list *list)
{
    struct tg_cel_node *node = NULL;
    bool optional = false;
    int rc = optional_mark(p, &optional);

    if (rc == 0)
        rc = parse_expr(p, &node);
    if (rc == 0)
        rc = push(p, list, node, optional);
    if (rc == 0 && map) {
        rc = expect(p, TG_CEL_TOKEN_COLON, "':'");
        if (rc == 0)
            rc = parse_expr(p, &node);
        if (rc == 0)
            rc = push(p, list, node, false);
    }
    return rc;
}

/* Elements and commas, up to the closing bracket; one comma may stand behind the last of them, or
 * alone. */
static int parse_elements(struct parser *p, bool map, enum tg_cel_token_kind close,
                          struct list *list)
{
    int rc = 0;

    while (rc == 0 && p->token.kind != close && p->token.kind != TG_CEL_TOKEN_COMMA) {
        rc = parse_element(p, map, list);
        if (rc < 0 || p->token.kind != TG_CEL_TOKEN_COMMA)
            break;
        rc = advance(p);
        if (rc == 0 && p->token.kind == TG_CEL_TOKEN_COMMA)
            rc = unexpected(p, "an element");
    }
    if (rc == 0 && list->n == 0 && p->token.kind == TG_CEL_TOKEN_COMMA)
        rc = advance(p);
    if (rc == 0)
        rc = expect(p, close, map ? "',' or '}'" : "',' or ']'");
    return rc;
}

static int parse_aggregate(struct parser *p, bool map, struct tg_cel_node **ret)
{
    enum tg_cel_token_kind close = map ? TG_CEL_TOKEN_RIGHT_BRACE : TG_CEL_TOKEN_RIGHT_BRACKET;
    struct tg_cel_builder b = builder(p, p->token.offset);
    struct list list = {0};
    struct tg_cel_node *node;
    int rc = advance(p);

    if (rc == 0)
        rc = parse_elements(p, map, close, &list);
    if (rc < 0)
        return rc;
    node = tg_cel_build(&b, map ? TG_CEL_CREATE_MAP : TG_CEL_CREATE_LIST, NULL, 0);
    if (node == NULL)
        return no_memory(p);
    node->args = list.items;
    node->n_args = (uint32_t)list.n;
    node->optional = list.any_optional ? list.optional : NULL;
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i]->depth > node->depth)
            node->depth = list.items[i]->depth;
    }
    *ret = node;
    return 0;
}

static bool parse_digits(const char *text, size_t n, uint64_t *ret)
{
    unsigned base = n > 2 && text[1] == 'x' ? 16 : 10;

    *ret = 0;
    for (size_t i = base == 16 ? 2 : 0; i < n; i++) {
        unsigned c = (unsigned char)text[i];
        unsigned digit = c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10;

        if (__builtin_mul_overflow(*ret, base, ret) || __builtin_add_overflow(*ret, digit, ret))
            return false;
    }
    return true;
}

static int parse_number(struct parser *p, bool negative, struct tg_cel_node **ret)
{
    const char *text = p->lexer.source->text + p->token.offset;
    struct tg_cel_builder b = builder(p, p->token.offset);
    enum tg_cel_token_kind kind = p->token.kind;
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    uint64_t magnitude = 0;
    int rc = 0;

    if (kind == TG_CEL_TOKEN_DOUBLE) {
        char *copy = copy_name(p, &p->token, false);

        if (copy == NULL)
            return no_memory(p);
        value = tg_cel_double(strtod(copy, NULL));
        if (isinf(value.real))
            return refuse_at(p, p->token.offset, "invalid double literal: out of range");
        value.real = negative ? -value.real : value.real;
    } else if (!parse_digits(text, p->token.length - (kind == TG_CEL_TOKEN_UINT ? 1 : 0),
                             &magnitude)) {
        return refuse_at(p, p->token.offset, "an integer out of range");
    } else if (kind == TG_CEL_TOKEN_UINT) {
        value = tg_cel_uint(magnitude);
    } else if (magnitude > (uint64_t)INT64_MAX + (negative ? 1U : 0U)) {
        return refuse_at(p, p->token.offset, "an integer out of range");
    } else {
        value = tg_cel_int((int64_t)(negative ? 0 - magnitude : magnitude));
    }
    rc = give(p, tg_cel_build_literal(&b, value), ret);
    return rc < 0 ? rc : advance(p);
}

static int parse_constant(struct parser *p, struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, p->token.offset);
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    int rc = 0;

    if (p->token.kind == TG_CEL_TOKEN_STRING || p->token.kind == TG_CEL_TOKEN_BYTES) {
        value = tg_cel_text(p->token.text, p->token.text_n);
        if (p->token.kind == TG_CEL_TOKEN_BYTES)
            value.tag = TG_CEL_V_BYTES;
    } else if (p->token.kind != TG_CEL_TOKEN_NULL) {
        value = tg_cel_bool(p->token.kind == TG_CEL_TOKEN_TRUE);
    }
    rc = give(p, tg_cel_build_literal(&b, value), ret);
    return rc < 0 ? rc : advance(p);
}

/* [.] IDENT [( arguments )] */
static int parse_name(struct parser *p, bool dot, struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, p->token.offset);
    struct list args = {0};
    char *name;
    int rc = 0;

    if (p->token.kind != TG_CEL_TOKEN_IDENT)
        return unexpected(p, "a name");
    name = copy_name(p, &p->token, dot);
    if (name == NULL)
        return no_memory(p);
    if (is_reserved(name + (dot ? 1 : 0)))
        return tg_cel_report(p->err, TG_INVALID_ARGUMENT, p->lexer.source, p->token.offset,
                             "reserved identifier: %s", name);
    rc = advance(p);
    if (rc < 0)
        return rc;
    if (p->token.kind != TG_CEL_TOKEN_LEFT_PAREN)
        return give(p, tg_cel_build_ident(&b, name), ret);
    rc = parse_arguments(p, &args);
    if (rc < 0)
        return rc;
    return finish_call(p, b.offset, tg_cel_build_call(&b, name, false, args.items, args.n), false,
                       ret);
}

static int parse_parenthesis(struct parser *p, struct tg_cel_node **ret)
{
    int rc = advance(p);

    if (rc == 0)
        rc = parse_expr(p, ret);
    return rc < 0 ? rc : expect(p, TG_CEL_TOKEN_RIGHT_PAREN, "')'");
}

static int parse_primary(struct parser *p, struct tg_cel_node **ret)
{
    int rc = 0;

    switch ((int)p->token.kind) {
    case TG_CEL_TOKEN_DOT:
        rc = advance(p);
        return rc < 0 ? rc : parse_name(p, true, ret);
    case TG_CEL_TOKEN_IDENT:
        return parse_name(p, false, ret);
    case TG_CEL_TOKEN_LEFT_PAREN:
        return parse_parenthesis(p, ret);
    case TG_CEL_TOKEN_LEFT_BRACKET:
        return parse_aggregate(p, false, ret);
    case TG_CEL_TOKEN_LEFT_BRACE:
        return parse_aggregate(p, true, ret);
    case TG_CEL_TOKEN_INT:
    case TG_CEL_TOKEN_UINT:
    case TG_CEL_TOKEN_DOUBLE:
        return parse_number(p, false, ret);
    case TG_CEL_TOKEN_MINUS:
        rc = advance(p);
        if (rc == 0 && p->token.kind != TG_CEL_TOKEN_INT && p->token.kind != TG_CEL_TOKEN_DOUBLE)
            rc = unexpected(p, "a number");
        return rc < 0 ? rc : parse_number(p, true, ret);
    case TG_CEL_TOKEN_STRING:
    case TG_CEL_TOKEN_BYTES:
    case TG_CEL_TOKEN_TRUE:
    case TG_CEL_TOKEN_FALSE:
    case TG_CEL_TOKEN_NULL:
        return parse_constant(p, ret);
    default:
        return unexpected(p, "an expression");
    }
}

/* The name behind a dot: *ret without its backticks. */
static int field_name(struct parser *p, char **ret, bool *ret_escaped)
{
    *ret_escaped = p->token.kind == TG_CEL_TOKEN_ESCAPED_IDENT;
    if (*ret_escaped && !tg_cel_has_escaped_names(p->env))
        return refuse_at(p, p->token.offset, "unsupported syntax: '`'");
    if (!*ret_escaped && p->token.kind != TG_CEL_TOKEN_IDENT)
        return unexpected(p, "a name");
    *ret = copy_name(p, &p->token, false);
    if (*ret == NULL)
        return no_memory(p);
    if (*ret_escaped) {
        (*ret)[p->token.length - 1] = '\0';
        (*ret)++;
    }
    return advance(p);
}

static int parse_selection(struct parser *p, struct tg_cel_node *operand, struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, p->token.offset);
    struct tg_cel_node *node;
    struct list args = {0};
    bool optional = false, escaped = false;
    char *name = NULL;
    int rc = advance(p);

    if (rc == 0)
        rc = optional_mark(p, &optional);
    if (rc == 0)
        rc = field_name(p, &name, &escaped);
    if (rc < 0)
        return rc;
    if (optional) {
        struct tg_cel_node *field = tg_cel_build_literal(&b, tg_cel_text(name, strlen(name)));

        node = tg_cel_build_2(&b, "_?._", operand, field);
        *ret = node;
        return deepen(p, node);
    }
    if (!escaped && p->token.kind == TG_CEL_TOKEN_LEFT_PAREN) {
        rc = push(p, &args, operand, false);
        if (rc == 0)
            rc = parse_arguments(p, &args);
        if (rc < 0)
            return rc;
        node = tg_cel_build_call(&b, name, true, args.items, args.n);
        return finish_call(p, b.offset, node, true, ret);
    }
    node = tg_cel_build(&b, TG_CEL_SELECT, name, 1);
    if (node == NULL)
        return no_memory(p);
    node->args[0] = operand;
    node->depth = operand->depth;
    *ret = node;
    return deepen(p, node);
}

static int parse_index(struct parser *p, struct tg_cel_node *operand, struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, p->token.offset);
    struct tg_cel_node *index = NULL;
    bool optional = false;
    int rc = advance(p);

    if (rc == 0)
        rc = optional_mark(p, &optional);
    if (rc == 0)
        rc = parse_expr(p, &index);
    if (rc == 0)
        rc = expect(p, TG_CEL_TOKEN_RIGHT_BRACKET, "']'");
    if (rc < 0)
        return rc;
    *ret = tg_cel_build_2(&b, optional ? "_[?_]" : "_[_]", operand, index);
    return deepen(p, *ret);
}

static bool is_path(const struct tg_cel_node *node)
{
    while (node->kind == TG_CEL_SELECT && !node->test)
        node = node->args[0];
    return node->kind == TG_CEL_IDENT;
}

/* [postfix operators] */
static int parse_member(struct parser *p, struct tg_cel_node **ret)
{
    bool bare = p->token.kind == TG_CEL_TOKEN_IDENT || p->token.kind == TG_CEL_TOKEN_DOT;
    int rc = parse_primary(p, ret);

    while (rc == 0) {
        if (p->token.kind == TG_CEL_TOKEN_DOT)
            rc = parse_selection(p, *ret, ret);
        else if (p->token.kind == TG_CEL_TOKEN_LEFT_BRACKET)
            rc = parse_index(p, *ret, ret);
        else if (p->token.kind == TG_CEL_TOKEN_LEFT_BRACE && bare && is_path(*ret))
            return refuse_at(p, (*ret)->offset,
                             "messages cannot be made in a device selector: undeclared reference");
        else
            break;
    }
    return rc;
}

static bool is_signed_number(const struct parser *p, enum tg_cel_token_kind sign, size_t n)
{
    return sign == TG_CEL_TOKEN_MINUS && n == 1 &&
           (p->token.kind == TG_CEL_TOKEN_INT || p->token.kind == TG_CEL_TOKEN_DOUBLE);
}

static int parse_unary(struct parser *p, struct tg_cel_node **ret)
{
    enum tg_cel_token_kind kind = p->token.kind;
    struct tg_cel_lexer saved = p->lexer;
    struct tg_cel_token first = p->token;
    struct tg_cel_builder b = builder(p, first.offset);
    size_t n = 0;
    int rc = 0;

    if (kind != TG_CEL_TOKEN_NOT && kind != TG_CEL_TOKEN_MINUS)
        return parse_member(p, ret);
    while (rc == 0 && p->token.kind == kind) {
        n++;
        rc = advance(p);
    }
    if (rc == 0 && is_signed_number(p, kind, n)) {
        p->lexer = saved; /* the sign is a part of the number */
        p->token = first;
        return parse_member(p, ret);
    }
    if (rc == 0 && p->token.kind == TG_CEL_TOKEN_NOT)
        rc = unexpected(p, "a number or a name");
    if (rc == 0)
        rc = parse_member(p, ret);
    if (rc < 0 || n % 2 == 0)
        return rc;
    return give(p, tg_cel_build_1(&b, kind == TG_CEL_TOKEN_NOT ? "!_" : "-_", *ret), ret);
}

struct binary {
    enum tg_cel_token_kind kind;
    unsigned level; /* 2 binds closer than 1 */
    const char *function;
};

static const struct binary arithmetic[] = {
    {TG_CEL_TOKEN_STAR, 2, "_*_"}, {TG_CEL_TOKEN_SLASH, 2, "_/_"}, {TG_CEL_TOKEN_PERCENT, 2, "_%_"},
    {TG_CEL_TOKEN_PLUS, 1, "_+_"}, {TG_CEL_TOKEN_MINUS, 1, "_-_"},
};
static const struct binary relations[] = {
    {TG_CEL_TOKEN_LESS, 1, "_<_"},    {TG_CEL_TOKEN_LESS_EQUAL, 1, "_<=_"},
    {TG_CEL_TOKEN_GREATER, 1, "_>_"}, {TG_CEL_TOKEN_GREATER_EQUAL, 1, "_>=_"},
    {TG_CEL_TOKEN_EQUAL, 1, "_==_"},  {TG_CEL_TOKEN_NOT_EQUAL, 1, "_!=_"},
    {TG_CEL_TOKEN_IN, 1, "@in"},
};

static const struct binary *find_binary(const struct binary *table, size_t n,
                                        enum tg_cel_token_kind kind)
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].kind == kind)
            return &table[i];
    }
    return NULL;
}

static int finish_binary(struct parser *p, size_t offset, const char *function,
                         struct tg_cel_node *left, struct tg_cel_node *right,
                         struct tg_cel_node **ret)
{
    struct tg_cel_builder b = builder(p, offset);

    *ret = tg_cel_build_2(&b, function, left, right);
    return deepen(p, *ret);
}

/* Operators of at least this level, to the left. */
static int parse_calc(struct parser *p, unsigned level, struct tg_cel_node **ret)
{
    int rc = enter(p, &p->calc_depth);

    if (rc == 0)
        rc = parse_unary(p, ret);
    while (rc == 0) {
        const struct binary *op = find_binary(arithmetic, TG_ARRAY_SIZE(arithmetic), p->token.kind);
        struct tg_cel_node *right = NULL;
        size_t offset = p->token.offset;

        if (op == NULL || op->level < level)
            break;
        rc = advance(p);
        if (rc == 0)
            rc = parse_calc(p, op->level + 1, &right);
        if (rc == 0)
            rc = finish_binary(p, offset, op->function, *ret, right, ret);
    }
    p->calc_depth--;
    return rc;
}

static int parse_relation(struct parser *p, struct tg_cel_node **ret)
{
    int rc = enter(p, &p->relation_depth);

    if (rc == 0)
        rc = parse_calc(p, 1, ret);
    while (rc == 0) {
        const struct binary *op = find_binary(relations, TG_ARRAY_SIZE(relations), p->token.kind);
        struct tg_cel_node *right = NULL;
        size_t offset = p->token.offset;

        if (op == NULL)
            break;
        rc = advance(p);
        if (rc == 0)
            rc = enter(p, &p->relation_depth);
        if (rc == 0) {
            rc = parse_calc(p, 1, &right);
            p->relation_depth--;
        }
        if (rc == 0)
            rc = finish_binary(p, offset, op->function, *ret, right, ret);
    }
    p->relation_depth--;
    return rc;
}

/* A chain as a balanced tree, so that its length is no depth. */
static struct tg_cel_node *balance(struct parser *p, const char *function,
                                   struct tg_cel_node *const *terms, const size_t *offsets,
                                   size_t low, size_t high)
{
    size_t middle = (low + high + 1) / 2;
    struct tg_cel_builder b = builder(p, offsets[middle]);
    struct tg_cel_node *left =
        middle == low ? terms[middle] : balance(p, function, terms, offsets, low, middle - 1);
    struct tg_cel_node *right =
        middle == high ? terms[middle + 1] : balance(p, function, terms, offsets, middle + 1, high);

    return tg_cel_build_2(&b, function, left, right);
}

static int parse_chain(struct parser *p, bool disjunction, struct tg_cel_node **ret)
{
    enum tg_cel_token_kind kind = disjunction ? TG_CEL_TOKEN_OR : TG_CEL_TOKEN_AND;
    struct list terms = {0};
    size_t *offsets = NULL, capacity = 0;
    struct tg_cel_node *term = NULL;
    int rc = disjunction ? parse_chain(p, false, &term) : parse_relation(p, &term);

    if (rc < 0 || p->token.kind != kind) {
        *ret = term;
        return rc;
    }
    rc = push(p, &terms, term, false);
    while (rc == 0 && p->token.kind == kind) {
        if (terms.n > capacity) {
            size_t *grown = tg_arena_alloc_array(p->lexer.arena, terms.n * 4, sizeof(*grown));

            if (grown == NULL)
                return no_memory(p);
            if (capacity > 0)
                memcpy(grown, offsets, capacity * sizeof(*grown));
            offsets = grown;
            capacity = terms.n * 4;
        }
        offsets[terms.n - 1] = p->token.offset;
        rc = advance(p);
        if (rc == 0)
            rc = disjunction ? parse_chain(p, false, &term) : parse_relation(p, &term);
        if (rc == 0)
            rc = push(p, &terms, term, false);
    }
    if (rc < 0)
        return rc;
    return give(p, balance(p, disjunction ? "_||_" : "_&&_", terms.items, offsets, 0, terms.n - 2),
                ret);
}

/* condition ? then : otherwise */
static int parse_ternary(struct parser *p, struct tg_cel_node **ret)
{
    struct tg_cel_node *condition = NULL, *then = NULL, *otherwise = NULL;
    int rc = parse_chain(p, true, &condition);
    struct tg_cel_builder b = builder(p, p->token.offset);

    *ret = condition;
    if (rc < 0 || p->token.kind != TG_CEL_TOKEN_QUESTION)
        return rc;
    rc = advance(p);
    if (rc == 0)
        rc = parse_chain(p, true, &then);
    if (rc == 0)
        rc = expect(p, TG_CEL_TOKEN_COLON, "':'");
    if (rc == 0)
        rc = parse_expr(p, &otherwise);
    if (rc < 0)
        return rc;
    *ret = tg_cel_build_3(&b, "_?_:_", condition, then, otherwise);
    return deepen(p, *ret);
}

static int parse_expr(struct parser *p, struct tg_cel_node **ret)
{
    int rc = enter(p, &p->expr_depth);

    if (rc == 0)
        rc = parse_ternary(p, ret);
    p->expr_depth--;
    return rc;
}

int tg_cel_parse(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                 struct tg_arena *arena, struct tg_cel_node **ret, struct tg_error *err)
{
    struct parser p = {
        .lexer = {.source = source, .arena = arena},
        .env = env,
        .err = err,
    };
    int rc = advance(&p);

    if (rc == 0)
        rc = parse_expr(&p, ret);
    if (rc == 0 && p.token.kind != TG_CEL_TOKEN_END)
        rc = unexpected(&p, "an operator or the end");
    return rc;
}
