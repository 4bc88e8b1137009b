/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/labels.h"

#include <stdint.h>
#include <string.h>

#include "api/kubernetes/values/names.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"

static bool has_value(const struct tg_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->n_values; i++) {
        if (strcmp(r->values[i], value) == 0)
            return true;
    }
    return false;
}

static bool matches_in(const struct tg_requirement *r, const char *value)
{
    return value != NULL && has_value(r, value);
}

static bool matches_not_in(const struct tg_requirement *r, const char *value)
{
    return value == NULL || !has_value(r, value);
}

static bool matches_exists(const struct tg_requirement *r, const char *value)
{
    (void)r;
    return value != NULL;
}

static bool matches_does_not_exist(const struct tg_requirement *r, const char *value)
{
    (void)r;
    return value == NULL;
}

/* As Go's strconv.ParseInt, which takes a plus sign too. */
static bool parse_integer(const char *s, int64_t *ret)
{
    if (s[0] == '+' && s[1] != '-')
        s++;
    return tg_parse_i64(s, strlen(s), ret) == 0;
}

/* -1, 0 or 1 as the label's number is less, equal or greater; 2 if the two cannot be compared. */
static int compare_label(const struct tg_requirement *r, const char *value)
{
    int64_t label;
    int64_t bound;

    if (value == NULL || r->n_values != 1 || !parse_integer(value, &label) ||
        !parse_integer(r->values[0], &bound))
        return 2;
    return (label > bound) - (label < bound);
}

static bool matches_gt(const struct tg_requirement *r, const char *value)
{
    return compare_label(r, value) == 1;
}

static bool matches_lt(const struct tg_requirement *r, const char *value)
{
    return compare_label(r, value) == -1;
}

enum value_rule { VALUES_SOME, VALUES_NONE, VALUES_INTEGER };

static const struct operator_rule {
    const char *name;
    bool (*matches)(const struct tg_requirement *r, const char *value);
    enum value_rule values;
    const char *one;     /* how a selector writes it with one value, NULL: never */
    const char *several; /* with any number of values */
} operators[] = {
    {"In", matches_in, VALUES_SOME, "=", " in "},
    {"NotIn", matches_not_in, VALUES_SOME, "!=", " notin "},
    {"Exists", matches_exists, VALUES_NONE, NULL, NULL},
    {"DoesNotExist", matches_does_not_exist, VALUES_NONE, NULL, NULL},
    {"Gt", matches_gt, VALUES_INTEGER, ">", NULL},
    {"Lt", matches_lt, VALUES_INTEGER, "<", NULL},
};

static const struct operator_rule *find_operator(const char *name)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(operators); i++) {
        if (tg_streq(operators[i].name, name))
            return &operators[i];
    }
    return NULL;
}

static int check_values(const struct tg_requirement *r, enum value_rule rule, struct tg_error *err)
{
    int64_t number;

    if (rule == VALUES_SOME && r->n_values == 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s %s: it needs at least one value", r->key,
                            r->operator);
    if (rule == VALUES_NONE && r->n_values != 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s %s: it takes no values", r->key,
                            r->operator);
    if (rule == VALUES_INTEGER && (r->n_values != 1 || !parse_integer(r->values[0], &number)))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s %s: it needs exactly one integer", r->key,
                            r->operator);
    for (size_t i = 0; i < r->n_values; i++) {
        int rc = tg_name_check(TG_NAME_LABEL_VALUE, r->values[i], err);

        if (rc != 0)
            return rc;
    }
    return 0;
}

int tg_requirement_check(const struct tg_requirement *r, struct tg_error *err)
{
    const struct operator_rule *rule = find_operator(r->operator);
    int rc = tg_name_check(TG_NAME_QUALIFIED, r->key, err);

    if (rc != 0)
        return rc;
    if (rule == NULL)
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "%s: unknown operator \"%.32s\" (known: In, NotIn, Exists, DoesNotExist, Gt, Lt)",
            r->key, r->operator== NULL ? "" : r->operator);
    return check_values(r, rule->values, err);
}

bool tg_requirement_matches(const struct tg_requirement *r, tg_label_get get, void *data)
{
    const struct operator_rule *rule = find_operator(r->operator);

    if (rule == NULL || r->key == NULL || (r->n_values == 0) != (rule->values == VALUES_NONE))
        return false;
    return rule->matches(r, get(data, r->key));
}

bool tg_requirements_match(const struct tg_requirement *requirements, size_t n, tg_label_get get,
                           void *data)
{
    for (size_t i = 0; i < n; i++) {
        if (!tg_requirement_matches(&requirements[i], get, data))
            return false;
    }
    return true;
}

static void format_values(const struct tg_requirement *r, struct tg_buf *out)
{
    tg_buf_append_char(out, '(');
    for (size_t i = 0; i < r->n_values; i++)
        tg_buf_printf(out, "%s%s", i == 0 ? "" : ",", r->values[i]);
    tg_buf_append_char(out, ')');
}

int tg_label_selector_format(const struct tg_requirement *requirements, size_t n,
                             struct tg_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_requirement *r = &requirements[i];
        const struct operator_rule *rule = find_operator(r->operator);

        if (rule == NULL)
            continue;
        tg_buf_printf(out, "%s%s%s", i == 0 ? "" : ",",
                      rule->matches == matches_does_not_exist ? "!" : "", r->key);
        if (rule->one != NULL && r->n_values == 1) {
            tg_buf_printf(out, "%s%s", rule->one, r->values[0]);
        } else if (rule->several != NULL) {
            tg_buf_append_str(out, rule->several);
            format_values(r, out);
        }
    }
    return out->failed ? -1 : 0;
}

/* The parser of selectors: one token ahead. */

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_GREATER,
    TOKEN_LESS,
};

static const struct {
    const char *text;
    enum token_kind kind;
} symbols[] = {
    {"==", TOKEN_EQUAL}, {"!=", TOKEN_NOT_EQUAL}, {"=", TOKEN_EQUAL},
    {"!", TOKEN_NOT},    {"(", TOKEN_OPEN},       {")", TOKEN_CLOSE},
    {",", TOKEN_COMMA},  {">", TOKEN_GREATER},    {"<", TOKEN_LESS},
};

struct parser {
    const char *at; /* after the current token */
    enum token_kind kind;
    const char *text;
    size_t n;
    struct tg_arena *arena;
    struct tg_error *err;
};

/* Grown by TG_VEC_PUSH. */
struct strings {
    const char **items;
    size_t n, capacity;
};
struct requirements {
    struct tg_requirement *items;
    size_t n, capacity;
};

static void advance(struct parser *p)
{
    p->text = p->at + strspn(p->at, " \t\r\n");
    for (size_t i = 0; i < TG_ARRAY_SIZE(symbols); i++) {
        if (tg_has_prefix(p->text, symbols[i].text)) {
            p->kind = symbols[i].kind;
            p->n = strlen(symbols[i].text);
            p->at = p->text + p->n;
            return;
        }
    }
    p->n = strcspn(p->text, " \t\r\n=!(),<>");
    p->kind = p->n == 0 ? TOKEN_END : TOKEN_WORD;
    p->at = p->text + p->n;
}

static int unexpected(struct parser *p, const char *wanted)
{
    if (p->kind == TOKEN_END)
        return tg_error_set(p->err, TG_INVALID_ARGUMENT,
                            "label selector: it ends where %s is wanted", wanted);
    return tg_error_set(p->err, TG_INVALID_ARGUMENT,
                        "label selector: \"%.*s\" stands where %s is wanted",
                        (int)(p->n < 64 ? p->n : 64), p->text, wanted);
}

static int no_memory(struct parser *p)
{
    return tg_error_set(p->err, TG_RESOURCE_EXHAUSTED,
                        "label selector: it needs more memory than it may use");
}

static bool word_is(const struct parser *p, const char *word)
{
    return p->kind == TOKEN_WORD && p->n == strlen(word) && memcmp(p->text, word, p->n) == 0;
}

/* The current word, or "" if there is none; steps over it. */
static int take_word(struct parser *p, const char **ret)
{
    size_t n = p->kind == TOKEN_WORD ? p->n : 0;

    *ret = tg_arena_strndup(p->arena, p->text, n);
    if (*ret == NULL)
        return no_memory(p);
    if (n > 0)
        advance(p);
    return 0;
}

/* "(a,b)"; an empty place is the empty value, as in "()" and "(,a)". */
static int parse_values(struct parser *p, struct strings *values)
{
    if (p->kind != TOKEN_OPEN)
        return unexpected(p, "\"(\"");
    do {
        const char *value;
        int rc;

        advance(p);
        rc = take_word(p, &value);
        if (rc != 0)
            return rc;
        *TG_VEC_PUSH(values) = value;
    } while (p->kind == TOKEN_COMMA);
    if (p->kind != TOKEN_CLOSE)
        return unexpected(p, "\",\" or \")\"");
    advance(p);
    return 0;
}

static int parse_exact(struct parser *p, struct strings *values)
{
    const char *value;
    int rc;

    advance(p);
    if (p->kind != TOKEN_WORD && p->kind != TOKEN_COMMA && p->kind != TOKEN_END)
        return unexpected(p, "a value");
    rc = take_word(p, &value);
    if (rc == 0)
        *TG_VEC_PUSH(values) = value;
    return rc;
}

/* What follows the key. */
static int parse_operator(struct parser *p, const char **name, struct strings *values)
{
    static const struct {
        enum token_kind kind;
        const char *name;
    } exact[] = {
        {TOKEN_EQUAL, "In"}, {TOKEN_NOT_EQUAL, "NotIn"}, {TOKEN_GREATER, "Gt"}, {TOKEN_LESS, "Lt"}};

    for (size_t i = 0; i < TG_ARRAY_SIZE(exact); i++) {
        if (p->kind == exact[i].kind) {
            *name = exact[i].name;
            return parse_exact(p, values);
        }
    }
    if (word_is(p, "in"))
        *name = "In";
    else if (word_is(p, "notin"))
        *name = "NotIn";
    else
        return unexpected(p, "one of =, ==, !=, in, notin, > and <");
    advance(p);
    return parse_values(p, values);
}

static int keep_values(struct parser *p, const struct strings *values, struct tg_requirement *r)
{
    const char **copy;

    if (values->n == 0)
        return 0;
    copy = tg_arena_alloc_array(p->arena, values->n, sizeof(*copy));
    if (copy == NULL)
        return no_memory(p);
    memcpy(copy, values->items, values->n * sizeof(*copy));
    r->values = copy;
    r->n_values = values->n;
    return 0;
}

static int parse_requirement(struct parser *p, struct tg_requirement *ret)
{
    struct strings values = {0};
    struct tg_requirement r = {.operator= "Exists" };
    int rc;

    if (p->kind == TOKEN_NOT) {
        r.operator= "DoesNotExist";
        advance(p);
    }
    if (p->kind != TOKEN_WORD)
        return unexpected(p, "a label's name");
    rc = take_word(p, &r.key);
    if (rc == 0 && strcmp(r.operator, "Exists") == 0 && p->kind != TOKEN_END &&
        p->kind != TOKEN_COMMA)
        rc = parse_operator(p, &r.operator, & values);
    if (rc == 0)
        rc = keep_values(p, &values, &r);
    TG_VEC_DONE(&values);
    if (rc == 0)
        rc = tg_requirement_check(&r, p->err);
    if (rc == 0)
        *ret = r;
    return rc;
}

static int parse_all(struct parser *p, struct requirements *requirements)
{
    advance(p);
    while (p->kind != TOKEN_END) {
        struct tg_requirement r;
        int rc = parse_requirement(p, &r);

        if (rc != 0)
            return rc;
        *TG_VEC_PUSH(requirements) = r;
        if (p->kind == TOKEN_END)
            break;
        if (p->kind != TOKEN_COMMA)
            return unexpected(p, "\",\" or the end");
        advance(p);
        if (p->kind == TOKEN_END)
            return unexpected(p, "a label's name");
    }
    return 0;
}

int tg_label_selector_parse(const char *s, struct tg_arena *arena, struct tg_requirement **ret,
                            size_t *ret_n, struct tg_error *err)
{
    struct parser p = {.at = s, .arena = arena, .err = err};
    struct requirements requirements = {0};
    struct tg_requirement *copy;
    int rc = parse_all(&p, &requirements);

    if (rc == 0) {
        copy = tg_arena_alloc_array(arena, requirements.n, sizeof(*copy));
        if (copy == NULL) {
            rc = no_memory(&p);
        } else {
            if (requirements.n > 0)
                memcpy(copy, requirements.items, requirements.n * sizeof(*copy));
            *ret = copy;
            *ret_n = requirements.n;
        }
    }
    TG_VEC_DONE(&requirements);
    return rc;
}
