/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/unparse.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/cel/macro.h"

/* What an operand may be without parentheses: this or anything that binds closer. */
enum strength { ANY, OR, AND, RELATION, SUM, PRODUCT, UNARY, MEMBER };

struct printer {
    struct tg_buf *out;
    const struct unparse_options *options;
    bool failed;
};

static void print(struct printer *p, const struct tg_cel_node *node, enum strength strength);

static const struct infix {
    const char *name, *text;
    enum strength own, left, right;
} infixes[] = {
    /* Parsed as balanced trees, so that what is nested in text must be said. */
    {"_||_", " || ", OR, AND, AND},
    {"_&&_", " && ", AND, RELATION, RELATION},
    {"_==_", " == ", RELATION, RELATION, SUM},
    {"_!=_", " != ", RELATION, RELATION, SUM},
    {"_<_", " < ", RELATION, RELATION, SUM},
    {"_<=_", " <= ", RELATION, RELATION, SUM},
    {"_>_", " > ", RELATION, RELATION, SUM},
    {"_>=_", " >= ", RELATION, RELATION, SUM},
    {"@in", " in ", RELATION, RELATION, SUM},
    {"_+_", " + ", SUM, SUM, PRODUCT},
    {"_-_", " - ", SUM, SUM, PRODUCT},
    {"_*_", " * ", PRODUCT, PRODUCT, UNARY},
    {"_/_", " / ", PRODUCT, PRODUCT, UNARY},
    {"_%_", " % ", PRODUCT, PRODUCT, UNARY},
};

static const struct infix *find_infix(const struct tg_cel_node *node)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(infixes); i++) {
        if (node->kind == TG_CEL_CALL && node->n_args == 2 && !node->member &&
            strcmp(infixes[i].name, node->name) == 0)
            return &infixes[i];
    }
    return NULL;
}

static bool is_call(const struct tg_cel_node *node, const char *name, size_t n_args)
{
    return node->kind == TG_CEL_CALL && node->n_args == n_args && strcmp(node->name, name) == 0;
}

/* --- literals -------------------------------------------------------------------------------- */

static void put_text(struct printer *p, const struct tg_cel_value *v)
{
    bool bytes = v->tag == TG_CEL_V_BYTES;

    tg_buf_append_str(p->out, bytes ? "b\"" : "\"");
    for (size_t i = 0; i < v->length; i++) {
        unsigned char c = (unsigned char)v->text[i];

        if (bytes && (c < 0x20 || c > 0x7e))
            tg_buf_printf(p->out, "\\x%02x", c);
        else if (c < 0x20 || c == 0x7f)
            tg_buf_printf(p->out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            tg_buf_printf(p->out, "\\%c", c);
        else
            tg_buf_append_char(p->out, (char)c);
    }
    tg_buf_append_char(p->out, '"');
}

static void put_double(struct printer *p, double value)
{
    char text[40];

    p->failed = p->failed || !isfinite(value);
    snprintf(text, sizeof(text), "%.17g", value);
    tg_buf_printf(p->out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

static void put_literal(struct printer *p, const struct tg_cel_value *v)
{
    switch (v->tag) {
    case TG_CEL_V_NULL:
        tg_buf_append_str(p->out, "null");
        break;
    case TG_CEL_V_BOOL:
        tg_buf_append_str(p->out, v->boolean ? "true" : "false");
        break;
    case TG_CEL_V_INT:
        tg_buf_printf(p->out, "%" PRId64, v->integer);
        break;
    case TG_CEL_V_UINT:
        tg_buf_printf(p->out, "%" PRIu64 "u", v->uinteger);
        break;
    case TG_CEL_V_DOUBLE:
        put_double(p, v->real);
        break;
    default:
        put_text(p, v);
    }
}

static bool is_negative(const struct tg_cel_value *v)
{
    return (v->tag == TG_CEL_V_INT && v->integer < 0) ||
           (v->tag == TG_CEL_V_DOUBLE && signbit(v->real));
}

static void print_literal(struct printer *p, const struct tg_cel_value *v, enum strength strength)
{
    bool negative = is_negative(v) && strength > UNARY;

    if (p->options->hide_constants)
        tg_buf_append_str(p->out, "([true][0] ? ");
    tg_buf_append_str(p->out, negative ? "(" : "");
    put_literal(p, v);
    tg_buf_append_str(p->out, negative ? ")" : "");
    if (p->options->hide_constants) {
        tg_buf_append_str(p->out, " : ");
        put_literal(p, v);
        tg_buf_append_char(p->out, ')');
    }
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_plain_name(const char *name)
{
    static const char *const words[] = {"in", "true", "false", "null"};

    for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
        if (strcmp(words[i], name) == 0)
            return false;
    }
    if (*name != '_' && !isalpha((unsigned char)*name))
        return false;
    while (*name == '_' || isalnum((unsigned char)*name))
        name++;
    return *name == '\0';
}

static void put_field(struct printer *p, const char *name, size_t n)
{
    TG_AUTOFREE char *copy = strndup(name, n);
    const char *quote = copy != NULL && is_plain_name(copy) ? "" : "`";

    tg_buf_printf(p->out, "%s%.*s%s", quote, (int)n, name, quote);
}

/* --- macros ---------------------------------------------------------------------------------- */

/* args[first] to args[n - 1] */
static void print_list(struct printer *p, struct tg_cel_node *const *args, size_t first, size_t n)
{
    for (size_t i = first; i < n; i++) {
        if (i > first)
            tg_buf_append_str(p->out, ", ");
        print(p, args[i], ANY);
    }
}

/* target.name(variables, args...) */
static void put_macro(struct printer *p, const struct tg_cel_fold *fold, const char *name,
                      struct tg_cel_node *const *args, size_t n)
{
    print(p, fold->range, MEMBER);
    tg_buf_printf(p->out, ".%s(%s%s%s, ", name, fold->iter, fold->iter2 == NULL ? "" : ", ",
                  tg_or(fold->iter2, ""));
    print_list(p, args, 0, n);
    tg_buf_append_char(p->out, ')');
}

/* all, exists, exists_one; false: none of them. */
static bool put_quantifier(struct printer *p, const struct tg_cel_fold *fold)
{
    struct tg_cel_node *step = fold->step;
    const char *name = NULL;

    if (is_call(fold->condition, "@not_strictly_false", 1))
        name = fold->condition->args[0]->kind == TG_CEL_IDENT ? "all" : "exists";
    if (name != NULL) {
        put_macro(p, fold, name, &step->args[1], 1);
        return true;
    }
    if (fold->init->kind != TG_CEL_LITERAL)
        return false;
    put_macro(p, fold, "exists_one", &step->args[0], 1);
    return true;
}

/* map, filter and the transformations */
static void put_collection(struct printer *p, const struct tg_cel_fold *fold)
{
    bool list = fold->init->kind == TG_CEL_CREATE_LIST;
    const struct tg_cel_node *step = fold->step;
    struct tg_cel_node *args[2];
    const char *name = fold->iter2 == NULL ? "map" : "transformList";
    size_t n = 0;

    if (is_call(step, "_?_:_", 3)) {
        args[n++] = step->args[0];
        step = step->args[1];
    }
    if (!list)
        name = step->n_args == 3 ? "transformMap" : "transformMapEntry";
    args[n++] = list ? step->args[1]->args[0] : step->args[step->n_args - 1];
    put_macro(p, fold, name, args, n);
}

static void print_fold(struct printer *p, const struct tg_cel_fold *fold)
{
    if (fold->bind && fold->result->kind == TG_CEL_CALL &&
        strcmp(fold->result->name, "@sortByAssociatedKeys") == 0) {
        struct tg_cel_fold keys = *fold->result->args[1]->fold;

        keys.range = fold->init;
        put_macro(p, &keys, "sortBy", &keys.step->args[1]->args[0], 1);
    } else if (fold->bind) {
        tg_buf_printf(p->out, "cel.bind(%s, ", fold->accu);
        print(p, fold->init, ANY);
        tg_buf_append_str(p->out, ", ");
        print(p, fold->result, ANY);
        tg_buf_append_char(p->out, ')');
    } else if (!put_quantifier(p, fold)) {
        put_collection(p, fold);
    }
}

/* target.optMap(name, body), target.optFlatMap(name, body) */
static bool print_optional_map(struct printer *p, const struct tg_cel_node *node)
{
    const struct tg_cel_node *then = node->args[1];
    bool wrapped = then->kind == TG_CEL_CALL;
    const struct tg_cel_fold *bind;

    if (!is_call(node->args[2], "optional.none", 0) || node->args[2]->member)
        return false;
    bind = (wrapped ? then->args[0] : then)->fold;
    print(p, bind->init->args[0], MEMBER);
    tg_buf_printf(p->out, ".%s(%s, ", wrapped ? "optMap" : "optFlatMap", bind->accu);
    print(p, bind->result, ANY);
    tg_buf_append_char(p->out, ')');
    return true;
}

/* --- calls ----------------------------------------------------------------------------------- */

static void print_infix(struct printer *p, const struct tg_cel_node *node, const struct infix *o,
                        enum strength strength)
{
    struct unparse_options shown = {.turn_maps = p->options->turn_maps};
    const struct unparse_options *options = p->options;

    tg_buf_append_str(p->out, o->own < strength ? "(" : "");
    print(p, node->args[0], o->left);
    tg_buf_append_str(p->out, o->text);
    /* Kubernetes itself makes a set of a constant list, with a meaning of its own. */
    if (strcmp(o->name, "@in") == 0 && node->args[1]->kind == TG_CEL_CREATE_LIST)
        p->options = &shown;
    print(p, node->args[1], o->right);
    p->options = options;
    tg_buf_append_str(p->out, o->own < strength ? ")" : "");
}

static void print_unary(struct printer *p, const struct tg_cel_node *node, enum strength strength)
{
    const struct tg_cel_node *operand = node->args[0];
    /* Signs in a row would be one, and one before a number part of it. */
    bool bare =
        operand->kind != TG_CEL_LITERAL && !is_call(operand, "-_", 1) && !is_call(operand, "!_", 1);

    tg_buf_append_str(p->out, strength > UNARY ? "(" : "");
    tg_buf_append_char(p->out, node->name[0]);
    tg_buf_append_str(p->out, bare ? "" : "(");
    print(p, operand, bare ? MEMBER : ANY);
    tg_buf_append_str(p->out, bare ? "" : ")");
    tg_buf_append_str(p->out, strength > UNARY ? ")" : "");
}

static void print_conditional(struct printer *p, const struct tg_cel_node *node,
                              enum strength strength)
{
    if (print_optional_map(p, node))
        return;
    tg_buf_append_str(p->out, strength > ANY ? "(" : "");
    print(p, node->args[0], OR);
    tg_buf_append_str(p->out, " ? ");
    print(p, node->args[1], OR);
    tg_buf_append_str(p->out, " : ");
    print(p, node->args[2], ANY);
    tg_buf_append_str(p->out, strength > ANY ? ")" : "");
}

static void print_call(struct printer *p, const struct tg_cel_node *node, enum strength strength)
{
    const struct infix *o = find_infix(node);
    size_t target = node->member ? 1 : 0;

    if (o != NULL) {
        print_infix(p, node, o, strength);
    } else if (is_call(node, "-_", 1) || is_call(node, "!_", 1)) {
        print_unary(p, node, strength);
    } else if (is_call(node, "_?_:_", 3)) {
        print_conditional(p, node, strength);
    } else if (is_call(node, "_[_]", 2) || is_call(node, "_[?_]", 2)) {
        print(p, node->args[0], MEMBER);
        tg_buf_append_str(p->out, is_call(node, "_[_]", 2) ? "[" : "[?");
        print(p, node->args[1], ANY);
        tg_buf_append_char(p->out, ']');
    } else if (is_call(node, "_?._", 2)) {
        print(p, node->args[0], MEMBER);
        tg_buf_append_str(p->out, ".?");
        put_field(p, node->args[1]->literal.text, node->args[1]->literal.length);
    } else {
        if (target > 0)
            print(p, node->args[0], MEMBER);
        tg_buf_printf(p->out, "%s%s(", target > 0 ? "." : "", node->name);
        print_list(p, node->args, target, node->n_args);
        tg_buf_append_char(p->out, ')');
    }
}

/* --- containers ------------------------------------------------------------------------------ */

static bool same_literal(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    if (a->tag != b->tag)
        return false;
    switch (a->tag) {
    case TG_CEL_V_NULL:
        return true;
    case TG_CEL_V_BOOL:
        return a->boolean == b->boolean;
    case TG_CEL_V_STRING:
    case TG_CEL_V_BYTES:
        return a->length == b->length &&
               (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
    default:
        return a->uinteger == b->uinteger; /* bit by bit */
    }
}

/* Would another order of the entries say the same? Not where a key comes twice, or may. */
static bool can_be_turned(const struct tg_cel_node *map)
{
    for (size_t i = 0; i < map->n_args; i += 2) {
        if (map->args[i]->kind != TG_CEL_LITERAL ||
            map->args[i]->literal.tag != map->args[0]->literal.tag)
            return false;
        for (size_t j = 0; j < i; j += 2) {
            if (same_literal(&map->args[i]->literal, &map->args[j]->literal))
                return false;
        }
    }
    return true;
}

static void print_map(struct printer *p, const struct tg_cel_node *map)
{
    bool turn = p->options->turn_maps && can_be_turned(map);

    tg_buf_append_char(p->out, '{');
    for (size_t i = 0; i < map->n_args; i += 2) {
        size_t at = turn ? map->n_args - 2 - i : i;

        if (i > 0)
            tg_buf_append_str(p->out, ", ");
        tg_buf_append_str(p->out, map->optional != NULL && map->optional[at] ? "?" : "");
        print(p, map->args[at], ANY);
        tg_buf_append_str(p->out, ": ");
        print(p, map->args[at + 1], ANY);
    }
    tg_buf_append_char(p->out, '}');
}

static void print_elements(struct printer *p, const struct tg_cel_node *list)
{
    tg_buf_append_char(p->out, '[');
    for (size_t i = 0; i < list->n_args; i++) {
        tg_buf_append_str(p->out, i > 0 ? ", " : "");
        tg_buf_append_str(p->out, list->optional != NULL && list->optional[i] ? "?" : "");
        print(p, list->args[i], ANY);
    }
    tg_buf_append_char(p->out, ']');
}

static void print(struct printer *p, const struct tg_cel_node *node, enum strength strength)
{
    switch ((int)node->kind) {
    case TG_CEL_LITERAL:
        print_literal(p, &node->literal, strength);
        break;
    case TG_CEL_IDENT:
        tg_buf_append_str(p->out, node->name);
        break;
    case TG_CEL_SELECT:
        tg_buf_append_str(p->out, node->test ? "has(" : "");
        print(p, node->args[0], MEMBER);
        tg_buf_append_char(p->out, '.');
        put_field(p, node->name, strlen(node->name));
        tg_buf_append_str(p->out, node->test ? ")" : "");
        break;
    case TG_CEL_CALL:
        print_call(p, node, strength);
        break;
    case TG_CEL_CREATE_LIST:
        print_elements(p, node);
        break;
    case TG_CEL_CREATE_MAP:
        print_map(p, node);
        break;
    case TG_CEL_FOLD:
        print_fold(p, node->fold);
        break;
    default: /* messages */
        p->failed = true;
    }
}

bool unparse(const struct tg_cel_node *node, const struct unparse_options *options,
             struct tg_buf *out)
{
    struct printer p = {.out = out, .options = options};

    print(&p, node, ANY);
    return !p.failed && !out->failed;
}

/* --- trees ----------------------------------------------------------------------------------- */

static bool same_fold(const struct tg_cel_fold *a, const struct tg_cel_fold *b)
{
    return tg_streq(a->iter, b->iter) && tg_streq(tg_or(a->iter2, ""), tg_or(b->iter2, "")) &&
           tg_streq(a->accu, b->accu) && a->bind == b->bind && a->sticky == b->sticky &&
           unparse_same(a->range, b->range) && unparse_same(a->init, b->init) &&
           unparse_same(a->condition, b->condition) && unparse_same(a->step, b->step) &&
           unparse_same(a->result, b->result);
}

static bool same_node(const struct tg_cel_node *a, const struct tg_cel_node *b)
{
    return a->kind == b->kind && a->n_args == b->n_args && a->member == b->member &&
           a->test == b->test && tg_streq(tg_or(a->name, ""), tg_or(b->name, "")) &&
           (a->optional == NULL) == (b->optional == NULL);
}

bool unparse_same(const struct tg_cel_node *a, const struct tg_cel_node *b)
{
    if (!same_node(a, b))
        return false;
    if (a->kind == TG_CEL_LITERAL && !same_literal(&a->literal, &b->literal))
        return false;
    for (size_t i = 0; i < a->n_args; i++) {
        if (!unparse_same(a->args[i], b->args[i]))
            return false;
        if (a->optional != NULL && (a->kind != TG_CEL_CREATE_MAP || i % 2 == 0) &&
            a->optional[i] != b->optional[i])
            return false;
    }
    return a->kind != TG_CEL_FOLD || same_fold(a->fold, b->fold);
}

unsigned unparse_height(const struct tg_cel_node *node)
{
    unsigned most = 0;

    for (size_t i = 0; i < node->n_args; i++) {
        unsigned height = unparse_height(node->args[i]);

        most = height > most ? height : most;
    }
    if (node->kind == TG_CEL_FOLD) {
        const struct tg_cel_node *const parts[] = {node->fold->range, node->fold->init,
                                                   node->fold->step, node->fold->result};

        for (size_t i = 0; i < TG_ARRAY_SIZE(parts); i++) {
            unsigned height = unparse_height(parts[i]);

            most = height > most ? height : most;
        }
    }
    return most + 1;
}
