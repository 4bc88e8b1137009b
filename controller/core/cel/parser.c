/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/parser.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/cel/lexer.h"

struct parser {
    struct tg_cel_lexer lexer;
    struct tg_cel_token token; /* the current, not yet consumed one */
    struct tg_arena *arena;
    unsigned depth;
    struct tg_error *err;
};

/* device.x as far as the text goes. */
struct path {
    bool capacity;  /* of device.capacity, else of device.attributes */
    unsigned level; /* 0: the map of domains; 1: the map of one domain; 2: a value */
    bool dotted;    /* the value was selected by .name, which has() demands */
    const char *domain, *name;
};

static int parse_expression(struct parser *p, struct tg_cel_node **ret);

static bool is(const struct parser *p, const char *text)
{
    const struct tg_cel_token *t = &p->token;

    return (t->kind == TG_CEL_TOKEN_PUNCTUATION || t->kind == TG_CEL_TOKEN_IDENT) &&
           strlen(text) == t->length && memcmp(p->lexer.source + t->offset, text, t->length) == 0;
}

static int advance(struct parser *p)
{
    return tg_cel_lexer_next(&p->lexer, &p->token, p->err);
}

static int fail(const struct parser *p, enum tg_code code, const struct tg_cel_token *at,
                const char *what)
{
    const char *source = p->lexer.source;

    if (at->kind == TG_CEL_TOKEN_END)
        return tg_error_set(p->err, code, "column %zu: the expression ends too early: %s",
                            tg_cel_column(source, at->offset), what);
    return tg_error_set(p->err, code, "column %zu: '%.*s': %s", tg_cel_column(source, at->offset),
                        (int)(at->length < 40 ? at->length : 40), source + at->offset, what);
}

/* What is CEL and not in the subset, by its first token. */
static const struct {
    const char *text, *what;
} refused[] = {
    {"?", "conditions and optional values are not supported in this version"},
    {"[", "lists are not supported in this version"},
    {"{", "maps are not supported in this version"},
    {"+", "arithmetic is not supported in this version"},
    {"-", "arithmetic is not supported in this version"},
    {"*", "arithmetic is not supported in this version"},
    {"/", "arithmetic is not supported in this version"},
    {"%", "arithmetic is not supported in this version"},
    {"null", "null is not supported in this version"},
};

static int unexpected(const struct parser *p, const char *wanted)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(refused); i++) {
        if (is(p, refused[i].text))
            return fail(p, TG_UNIMPLEMENTED, &p->token, refused[i].what);
    }
    return fail(p, TG_INVALID_ARGUMENT, &p->token, wanted);
}

static int expect(struct parser *p, const char *text, const char *wanted)
{
    return is(p, text) ? advance(p) : unexpected(p, wanted);
}

static int new_node(struct parser *p, enum tg_cel_op op, const struct tg_cel_token *at,
                    struct tg_cel_node **ret)
{
    *ret = tg_arena_alloc(p->arena, sizeof(**ret));
    if (*ret == NULL)
        return tg_error_set(p->err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    (*ret)->op = op;
    (*ret)->depth = 1;
    (*ret)->column = tg_cel_column(p->lexer.source, at->offset);
    return 0;
}

static int too_deep(const struct parser *p)
{
    return tg_error_set(
        p->err, TG_UNIMPLEMENTED,
        "column %zu: nested more than %u deep, which is not supported in this version",
        tg_cel_column(p->lexer.source, p->token.offset), TG_CEL_MAX_DEPTH);
}

static int adopt(const struct parser *p, struct tg_cel_node *parent, struct tg_cel_node *last,
                 struct tg_cel_node *child)
{
    if (last == NULL)
        parent->first = child;
    else
        last->next = child;
    if (child->depth + 1 > parent->depth)
        parent->depth = child->depth + 1;
    return parent->depth > TG_CEL_MAX_DEPTH ? too_deep(p) : 0;
}

static int new_pair(struct parser *p, enum tg_cel_op op, const struct tg_cel_token *at,
                    struct tg_cel_node *left, struct tg_cel_node *right, struct tg_cel_node **ret)
{
    int rc = new_node(p, op, at, ret);

    if (rc == 0)
        rc = adopt(p, *ret, NULL, left);
    if (rc == 0)
        rc = adopt(p, *ret, left, right);
    return rc;
}

/* .name or ["name"]: one step down a map. */
static int parse_step(struct parser *p, const char **ret_key, bool *ret_dotted)
{
    int rc = 0;

    *ret_dotted = is(p, ".");
    rc = advance(p);
    if (rc < 0)
        return rc;
    if (is(p, "?"))
        return unexpected(p, "a key is expected");
    if (!*ret_dotted) {
        if (p->token.kind != TG_CEL_TOKEN_STRING)
            return fail(p, TG_UNIMPLEMENTED, &p->token,
                        "only a string literal may stand here in this version");
        *ret_key = p->token.string;
        rc = advance(p);
        return rc < 0 ? rc : expect(p, "]", "']' is expected");
    }
    if (p->token.kind != TG_CEL_TOKEN_IDENT)
        return unexpected(p, "a name is expected");
    struct tg_cel_token name = p->token;

    *ret_key = tg_arena_strndup(p->arena, p->lexer.source + name.offset, name.length);
    if (*ret_key == NULL)
        return tg_error_set(p->err, TG_RESOURCE_EXHAUSTED,
                            "the selector needs more memory than its budget");
    rc = advance(p);
    if (rc == 0 && is(p, "("))
        return fail(p, TG_UNIMPLEMENTED, &name,
                    "this function is not supported on a map in this version");
    return rc;
}

/* After "device": ret->level tells how far the text goes. *ret_driver: it is device.driver. */
static int parse_device(struct parser *p, struct path *ret, bool *ret_driver)
{
    struct tg_cel_token field;
    int rc = expect(p, ".", "device has to be followed by .driver, .attributes or .capacity");

    *ret = (struct path){.level = 0};
    if (rc < 0)
        return rc;
    field = p->token;
    *ret_driver = is(p, "driver");
    ret->capacity = is(p, "capacity");
    if (is(p, "allowMultipleAllocations"))
        return fail(p, TG_UNIMPLEMENTED, &field, "this field is not supported in this version");
    if (!*ret_driver && !ret->capacity && !is(p, "attributes"))
        return unexpected(p, "device has the fields driver, attributes and capacity");
    rc = advance(p);
    if (rc < 0 || *ret_driver)
        return rc;
    while (rc == 0 && ret->level < 2 && (is(p, ".") || is(p, "["))) {
        rc = parse_step(p, ret->level == 0 ? &ret->domain : &ret->name, &ret->dotted);
        ret->level++;
    }
    return rc;
}

static int parse_device_value(struct parser *p, const struct tg_cel_token *at,
                              struct tg_cel_node **ret)
{
    struct path path;
    bool driver;
    int rc = parse_device(p, &path, &driver);

    if (rc < 0)
        return rc;
    if (driver)
        return new_node(p, TG_CEL_DRIVER, at, ret);
    if (path.level < 2)
        return fail(
            p, TG_UNIMPLEMENTED, at,
            "a whole map as a value is not supported in this version; name domain and attribute");
    rc = new_node(p, path.capacity ? TG_CEL_CAPACITY : TG_CEL_ATTRIBUTE, at, ret);
    if (rc == 0) {
        (*ret)->domain = path.domain;
        (*ret)->name = path.name;
    }
    return rc;
}

static int new_presence(struct parser *p, const struct path *path, const char *key,
                        const struct tg_cel_token *at, struct tg_cel_node **ret)
{
    static const enum tg_cel_op ops[2][2] = {
        {TG_CEL_HAS_ATTRIBUTE_DOMAIN, TG_CEL_HAS_CAPACITY_DOMAIN},
        {TG_CEL_HAS_ATTRIBUTE, TG_CEL_HAS_CAPACITY},
    };
    int rc = new_node(p, ops[path->level == 0 ? 0 : 1][path->capacity], at, ret);

    if (rc == 0) {
        (*ret)->domain = path->level == 0 ? key : path->domain;
        (*ret)->name = path->level == 0 ? NULL : key;
    }
    return rc;
}

/* After "left in": what device has of that name. */
static int parse_in(struct parser *p, const struct tg_cel_token *at, const struct tg_cel_node *left,
                    struct tg_cel_node **ret)
{
    struct path path;
    bool driver;
    struct tg_cel_token right = p->token;
    int rc = 0;

    if (!is(p, "device"))
        return fail(p, TG_UNIMPLEMENTED, &right,
                    "only device.attributes and device.capacity may follow 'in' in this version");
    rc = advance(p);
    if (rc == 0)
        rc = parse_device(p, &path, &driver);
    if (rc < 0)
        return rc;
    if (driver)
        return fail(p, TG_INVALID_ARGUMENT, at, "device.driver is a string: nothing is 'in' it");
    if (path.level == 2)
        return fail(p, TG_UNIMPLEMENTED, at, "list attributes are not supported in this version");
    if (left->op != TG_CEL_LITERAL)
        return fail(p, TG_UNIMPLEMENTED, at,
                    "only a string literal may precede 'in' in this version");
    if (left->value.type != TG_CEL_STRING)
        return fail(p, TG_INVALID_ARGUMENT, at, "the keys of this map are strings");
    return new_presence(p, &path, left->value.string, at, ret);
}

/* After "has": (device.attributes["d"].n) */
static int parse_has(struct parser *p, const struct tg_cel_token *at, struct tg_cel_node **ret)
{
    struct path path;
    bool driver = false;
    int rc = expect(p, "(", "'(' is expected after has");

    if (rc < 0)
        return rc;
    if (!is(p, "device"))
        return fail(p, TG_UNIMPLEMENTED, at,
                    "only has(device.attributes[\"domain\"].name) is supported in this version");
    rc = advance(p);
    if (rc == 0)
        rc = parse_device(p, &path, &driver);
    if (rc == 0 && !driver && path.level < 2)
        return fail(p, TG_UNIMPLEMENTED, at,
                    "only has(device.attributes[\"domain\"].name) is supported in this version");
    if (rc == 0 && !driver && !path.dotted)
        return fail(p, TG_INVALID_ARGUMENT, at, "has() takes a selection with a dot, not an index");
    if (rc == 0)
        rc = expect(p, ")", "')' is expected");
    if (rc < 0)
        return rc;
    if (driver)
        return fail(p, TG_UNIMPLEMENTED, at, "has(device.driver) is not supported in this version");
    return new_presence(p, &path, path.name, at, ret);
}

static int constant_quantity(struct parser *p, const struct tg_cel_token *text,
                             struct tg_cel_value *ret)
{
    struct tg_error cause = TG_ERROR_INIT;

    ret->type = TG_CEL_QUANTITY;
    if (tg_quantity_parse(text->string, &ret->quantity, &cause) < 0)
        return fail(p, TG_INVALID_ARGUMENT, text, "this is not a quantity");
    return 0;
}

static int constant_semver(struct parser *p, const struct tg_cel_token *text,
                           struct tg_cel_value *ret)
{
    struct tg_error cause = TG_ERROR_INIT;

    ret->type = TG_CEL_SEMVER;
    if (tg_semver_parse(text->string, &ret->semver, &cause) < 0)
        return fail(p, TG_INVALID_ARGUMENT, text, "this is not a semantic version");
    return 0;
}

static const struct {
    const char *name;
    int (*make)(struct parser *p, const struct tg_cel_token *text, struct tg_cel_value *ret);
} constructors[] = {
    {"quantity", constant_quantity},
    {"semver", constant_semver},
};

/* After quantity or semver: ("text"). A text that does not parse fails here rather than at each
 * device: it can never be meant. */
static int parse_constructor(struct parser *p, size_t which, const struct tg_cel_token *at,
                             struct tg_cel_node **ret)
{
    struct tg_cel_token text;
    int rc = expect(p, "(", "'(' is expected");

    if (rc < 0)
        return rc;
    text = p->token;
    if (text.kind != TG_CEL_TOKEN_STRING)
        return fail(p, TG_UNIMPLEMENTED, at,
                    "only a string literal as its argument is supported in this version");
    rc = advance(p);
    if (rc == 0 && is(p, ","))
        return fail(p, TG_UNIMPLEMENTED, at, "a second argument is not supported in this version");
    if (rc == 0)
        rc = expect(p, ")", "')' is expected");
    if (rc == 0)
        rc = new_node(p, TG_CEL_LITERAL, at, ret);
    return rc < 0 ? rc : constructors[which].make(p, &text, &(*ret)->value);
}

static int parse_word(struct parser *p, struct tg_cel_node **ret)
{
    struct tg_cel_token word = p->token;
    bool truth = is(p, "true");
    bool device = is(p, "device"), has = is(p, "has");
    size_t which = 0;
    int rc = 0;

    for (; which < TG_ARRAY_SIZE(constructors); which++) {
        if (is(p, constructors[which].name))
            break;
    }
    if (is(p, "null"))
        return unexpected(p, "");
    if (truth || is(p, "false")) {
        rc = new_node(p, TG_CEL_LITERAL, &word, ret);
        if (rc == 0)
            (*ret)->value = (struct tg_cel_value){.type = TG_CEL_BOOL, .boolean = truth};
        return rc < 0 ? rc : advance(p);
    }
    rc = advance(p);
    if (rc < 0)
        return rc;
    if (device)
        return parse_device_value(p, &word, ret);
    if (has)
        return parse_has(p, &word, ret);
    if (which < TG_ARRAY_SIZE(constructors))
        return parse_constructor(p, which, &word, ret);
    if (is(p, "(") || is(p, "."))
        return fail(p, TG_UNIMPLEMENTED, &word, "this function is not supported in this version");
    return fail(p, TG_INVALID_ARGUMENT, &word, "an unknown name; a selector knows only 'device'");
}

static int integer_value(struct parser *p, bool negative, const struct tg_cel_token *number,
                         struct tg_cel_value *ret)
{
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);

    if (number->number > limit)
        return fail(p, TG_INVALID_ARGUMENT, number, "an int is out of range");
    ret->type = TG_CEL_INT;
    /* Negated as unsigned: the lowest int has no positive counterpart. */
    ret->integer = (int64_t)(negative ? 0 - number->number : number->number);
    return 0;
}

static int parse_number(struct parser *p, bool negative, struct tg_cel_node **ret)
{
    struct tg_cel_token number = p->token;
    int rc = new_node(p, TG_CEL_LITERAL, &number, ret);

    if (rc < 0)
        return rc;
    if (number.kind == TG_CEL_TOKEN_INT)
        rc = integer_value(p, negative, &number, &(*ret)->value);
    else if (number.kind == TG_CEL_TOKEN_DOUBLE)
        (*ret)->value = (struct tg_cel_value){.type = TG_CEL_DOUBLE,
                                              .real = negative ? -number.real : number.real};
    else if (negative)
        return fail(p, TG_INVALID_ARGUMENT, &number, "a uint has no sign");
    else
        (*ret)->value = (struct tg_cel_value){.type = TG_CEL_UINT, .uinteger = number.number};
    return rc < 0 ? rc : advance(p);
}

static bool is_number(const struct parser *p)
{
    return p->token.kind == TG_CEL_TOKEN_INT || p->token.kind == TG_CEL_TOKEN_UINT ||
           p->token.kind == TG_CEL_TOKEN_DOUBLE;
}

static int parse_primary(struct parser *p, struct tg_cel_node **ret)
{
    int rc = 0;

    if (p->token.kind == TG_CEL_TOKEN_IDENT && !is(p, "in"))
        return parse_word(p, ret);
    if (is_number(p))
        return parse_number(p, false, ret);
    if (p->token.kind == TG_CEL_TOKEN_STRING) {
        rc = new_node(p, TG_CEL_LITERAL, &p->token, ret);
        if (rc == 0)
            (*ret)->value = (struct tg_cel_value){.type = TG_CEL_STRING, .string = p->token.string};
        return rc < 0 ? rc : advance(p);
    }
    rc = expect(p, "(", "a value is expected");
    if (rc == 0)
        rc = parse_expression(p, ret);
    return rc < 0 ? rc : expect(p, ")", "')' is expected");
}

static const struct {
    const char *name;
    enum tg_cel_op op;
} methods[] = {
    {"isGreaterThan", TG_CEL_IS_GREATER_THAN},
    {"isLessThan", TG_CEL_IS_LESS_THAN},
    {"compareTo", TG_CEL_COMPARE_TO},
};

/* On the name after the dot. */
static int parse_method(struct parser *p, struct tg_cel_node *receiver, struct tg_cel_node **ret)
{
    struct tg_cel_token name = p->token;
    struct tg_cel_node *argument;
    size_t which = 0;
    int rc = 0;

    if (name.kind != TG_CEL_TOKEN_IDENT)
        return unexpected(p, "a name is expected");
    while (which < TG_ARRAY_SIZE(methods) && !is(p, methods[which].name))
        which++;
    if (which == TG_ARRAY_SIZE(methods))
        return fail(p, TG_UNIMPLEMENTED, &name, "this is not supported in this version");
    rc = advance(p);
    if (rc == 0)
        rc = expect(p, "(", "'(' is expected");
    if (rc == 0)
        rc = parse_expression(p, &argument);
    if (rc == 0)
        rc = expect(p, ")", "')' is expected: the function takes one argument");
    return rc < 0 ? rc : new_pair(p, methods[which].op, &name, receiver, argument, ret);
}

static int parse_member(struct parser *p, struct tg_cel_node **ret)
{
    int rc = parse_primary(p, ret);

    while (rc == 0 && is(p, ".")) {
        struct tg_cel_node *receiver = *ret;

        rc = advance(p);
        if (rc == 0)
            rc = parse_method(p, receiver, ret);
    }
    if (rc == 0 && is(p, "["))
        return fail(p, TG_UNIMPLEMENTED, &p->token,
                    "indexing is not supported here in this version");
    return rc;
}

/* Any number of '!', or one '-' before a number literal. A chain of '!' is one node (with the
 * parity as its value). */
static int parse_unary(struct parser *p, struct tg_cel_node **ret)
{
    struct tg_cel_token at = p->token;
    struct tg_cel_node *operand;
    bool negate = false;
    int rc = 0;

    if (is(p, "-")) {
        rc = advance(p);
        if (rc < 0)
            return rc;
        return is_number(p)
                   ? parse_number(p, true, ret)
                   : fail(p, TG_UNIMPLEMENTED, &at, "arithmetic is not supported in this version");
    }
    if (!is(p, "!"))
        return parse_member(p, ret);
    while (rc == 0 && is(p, "!")) {
        negate = !negate;
        rc = advance(p);
    }
    if (rc == 0)
        rc = parse_member(p, &operand);
    if (rc == 0)
        rc = new_node(p, TG_CEL_NOT, &at, ret);
    if (rc < 0)
        return rc;
    (*ret)->value = (struct tg_cel_value){.type = TG_CEL_BOOL, .boolean = negate};
    return adopt(p, *ret, NULL, operand);
}

static const enum tg_cel_op relations[] = {TG_CEL_EQUAL,   TG_CEL_NOT_EQUAL,
                                           TG_CEL_LESS,    TG_CEL_LESS_EQUAL,
                                           TG_CEL_GREATER, TG_CEL_GREATER_EQUAL};

static int parse_relation(struct parser *p, struct tg_cel_node **ret)
{
    int rc = parse_unary(p, ret);

    while (rc == 0) {
        struct tg_cel_token at = p->token;
        struct tg_cel_node *left = *ret, *right;
        size_t which = 0;

        if (is(p, "in")) {
            rc = advance(p);
            if (rc == 0)
                rc = parse_in(p, &at, left, ret);
            continue;
        }
        while (which < TG_ARRAY_SIZE(relations) && !is(p, tg_cel_op_name(relations[which])))
            which++;
        if (which == TG_ARRAY_SIZE(relations))
            return 0;
        rc = advance(p);
        if (rc == 0)
            rc = parse_unary(p, &right);
        if (rc == 0)
            rc = new_pair(p, relations[which], &at, left, right, ret);
    }
    return rc;
}

/* One level of && or ||: a single operand stays as it is, more become one node. */
static int parse_chain(struct parser *p, enum tg_cel_op op,
                       int (*operand)(struct parser *, struct tg_cel_node **),
                       struct tg_cel_node **ret)
{
    struct tg_cel_node *last, *chain;
    struct tg_cel_token at;
    int rc = operand(p, &last);

    *ret = last;
    if (rc < 0 || !is(p, tg_cel_op_name(op)))
        return rc;
    at = p->token;
    rc = new_node(p, op, &at, &chain);
    if (rc == 0)
        rc = adopt(p, chain, NULL, last);
    while (rc == 0 && is(p, tg_cel_op_name(op))) {
        struct tg_cel_node *next = NULL;

        rc = advance(p);
        if (rc == 0)
            rc = operand(p, &next);
        if (rc == 0)
            rc = adopt(p, chain, last, next);
        last = next;
    }
    *ret = chain;
    return rc;
}

static int parse_and(struct parser *p, struct tg_cel_node **ret)
{
    return parse_chain(p, TG_CEL_AND, parse_relation, ret);
}

static int parse_expression(struct parser *p, struct tg_cel_node **ret)
{
    int rc = 0;

    if (p->depth == TG_CEL_MAX_DEPTH)
        return too_deep(p);
    p->depth++;
    rc = parse_chain(p, TG_CEL_OR, parse_and, ret);
    p->depth--;
    return rc;
}

int tg_cel_parse(const char *source, struct tg_arena *arena, struct tg_cel_node **ret,
                 struct tg_error *err)
{
    size_t length = strlen(source);
    struct tg_error own = TG_ERROR_INIT;
    struct parser p = {.arena = arena, .err = err != NULL ? err : &own};
    int rc = 0;

    if (length > TG_CEL_MAX_BYTES)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "longer than %zu bytes", TG_CEL_MAX_BYTES);
    if (!tg_utf8_valid(source, length))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "not valid UTF-8");
    tg_cel_lexer_init(&p.lexer, source, length, arena);
    rc = advance(&p);
    if (rc == 0)
        rc = parse_expression(&p, ret);
    if (rc == 0 && p.token.kind != TG_CEL_TOKEN_END)
        rc = unexpected(&p, "an operator or the end is expected");
    return rc;
}
