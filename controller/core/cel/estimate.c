/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/estimate.h"

#include <string.h>

#define LIST_BASE 10U
/* Of the API server's limits: a name format's pattern, and a format itself. */
#define FORMAT_PATTERN 128
#define FORMAT_SIZE 64

void tg_cel_coster_declare(struct tg_cel_coster *c, const struct tg_cel_cost_variable *variable)
{
    if (c->n_variables == c->capacity) {
        size_t capacity = c->capacity == 0 ? 16 : c->capacity * 2;
        struct tg_cel_cost_variable *grown =
            tg_arena_alloc_array(c->arena, capacity, sizeof(*grown));

        if (grown == NULL) {
            c->no_memory = true;
            return;
        }
        if (c->n_variables > 0)
            memcpy(grown, c->variables, c->n_variables * sizeof(*grown));
        c->variables = grown;
        c->capacity = capacity;
    }
    c->variables[c->n_variables++] = *variable;
}

const struct tg_cel_cost_variable *tg_cel_coster_variable(const struct tg_cel_coster *c,
                                                          const struct tg_cel_node *ident)
{
    if (ident->kind != TG_CEL_IDENT || ident->place != TG_CEL_SLOT)
        return NULL;
    for (size_t i = c->n_variables; i > 0; i--) {
        if (c->variables[i - 1].slot == ident->slot)
            return &c->variables[i - 1];
    }
    return NULL;
}

const struct tg_cel_size_decl *tg_cel_estimate_decl(const struct tg_cel_coster *c,
                                                    const struct tg_cel_node *node)
{
    const struct tg_cel_cost_variable *v = tg_cel_coster_variable(c, node);
    const struct tg_cel_estimate *e = node->estimate;

    if (v != NULL)
        return v->decl;
    return e == NULL ? NULL : e->decl;
}

struct tg_cel_entry_size tg_cel_entry_of(const struct tg_cel_coster *c,
                                         const struct tg_cel_node *node)
{
    const struct tg_cel_estimate *e = node->estimate;
    const struct tg_cel_cost_variable *v = tg_cel_coster_variable(c, node);

    if (e != NULL && e->entry.kind != TG_CEL_DYN)
        return e->entry;
    return v != NULL ? v->entry : (struct tg_cel_entry_size){.kind = TG_CEL_DYN};
}

static bool is_scalar(const struct tg_cel_type *t)
{
    while (t->kind == TG_CEL_OPTIONAL)
        t = t->params[0];
    switch ((int)t->kind) {
    case TG_CEL_BOOL:
    case TG_CEL_INT:
    case TG_CEL_UINT:
    case TG_CEL_DOUBLE:
    case TG_CEL_TIMESTAMP:
    case TG_CEL_DURATION:
        return true;
    default:
        return false;
    }
}

static bool written_size(const struct tg_cel_node *node, uint64_t *ret)
{
    if (node->kind == TG_CEL_LITERAL)
        *ret = tg_cel_size(&node->literal);
    else if (node->kind == TG_CEL_CREATE_LIST)
        *ret = node->n_args;
    else if (node->kind == TG_CEL_CREATE_MAP)
        *ret = node->n_args / 2;
    else
        return false;
    return true;
}

bool tg_cel_size_of_estimate(const struct tg_cel_coster *c, const struct tg_cel_node *node,
                             const struct tg_cel_estimate *e, struct tg_cel_cost_range *ret)
{
    const struct tg_cel_cost_variable *v = tg_cel_coster_variable(c, node);
    const struct tg_cel_size_decl *decl = v != NULL ? v->decl : e == NULL ? NULL : e->decl;
    uint64_t written = 0;

    if (e != NULL && e->has_size) {
        *ret = e->size;
    } else if (written_size(node, &written)) {
        *ret = tg_cel_fixed(written);
    } else if (decl != NULL) {
        *ret = (struct tg_cel_cost_range){0, decl->max};
    } else if (is_scalar(node->type)) {
        *ret = tg_cel_fixed(1);
    } else if (v != NULL && v->has_size) {
        *ret = v->size;
    } else {
        return false;
    }
    return true;
}

bool tg_cel_size_of(const struct tg_cel_coster *c, const struct tg_cel_node *node,
                    struct tg_cel_cost_range *ret)
{
    return tg_cel_size_of_estimate(c, node, node->estimate, ret);
}

struct tg_cel_cost_range tg_cel_size_or_unknown(const struct tg_cel_coster *c,
                                                const struct tg_cel_node *node)
{
    struct tg_cel_cost_range size = {0, UINT64_MAX};

    (void)tg_cel_size_of(c, node, &size);
    return size;
}

/* What a rule works on. */
struct call {
    struct tg_cel_coster *c;
    const struct tg_cel_node *node;
    const struct tg_cel_node *target; /* NULL: a function */
    struct tg_cel_node *const *args;  /* behind the target */
    size_t n;
    const struct tg_cel_cost_range *costs; /* of args */
    struct tg_cel_estimate *own;
    struct tg_cel_call_estimate *ret;
};

static struct tg_cel_cost_range size_of(const struct call *k, const struct tg_cel_node *node)
{
    return tg_cel_size_or_unknown(k->c, node);
}

static void result_size(const struct call *k, struct tg_cel_cost_range size)
{
    k->ret->has_size = true;
    k->ret->size = size;
}

static struct tg_cel_cost_range argument_costs(const struct call *k)
{
    struct tg_cel_cost_range sum = {0, 0};

    for (size_t i = 0; i < k->n; i++)
        sum = tg_cel_sum(sum, k->costs[i]);
    return sum;
}

static struct tg_cel_entry_size join_entries(const struct call *k, const struct tg_cel_node *x,
                                             const struct tg_cel_node *y)
{
    struct tg_cel_entry_size a = tg_cel_entry_of(k->c, x), b = tg_cel_entry_of(k->c, y);

    if (a.kind == TG_CEL_DYN || b.kind == TG_CEL_DYN)
        return (struct tg_cel_entry_size){.kind = TG_CEL_DYN};
    return (struct tg_cel_entry_size){a.kind, tg_cel_union(a.key, b.key),
                                      tg_cel_union(a.value, b.value)};
}

/* a + b of strings, bytes and lists */
static struct tg_cel_cost_range join_cost(const struct call *k, bool lists)
{
    struct tg_cel_cost_range size = tg_cel_sum(size_of(k, k->args[0]), size_of(k, k->args[1]));
    struct tg_cel_entry_size entry = join_entries(k, k->args[0], k->args[1]);

    if (entry.kind != TG_CEL_DYN)
        k->own->entry = entry;
    result_size(k, size);
    return lists ? tg_cel_fixed(1) : tg_cel_scale(size, 0.1);
}

static struct tg_cel_cost_range compare_cost(const struct call *k)
{
    uint64_t a = size_of(k, k->args[0]).max, b = size_of(k, k->args[1]).max;
    struct tg_cel_cost_range least = {0, a < b ? a : b};

    least.min = least.max > 0 ? 1 : 0;
    return tg_cel_scale(least, 0.1);
}

/* == of values of one Kubernetes type; false: another pair. */
static bool kube_equality(const struct call *k, struct tg_cel_cost_range *ret)
{
    const struct tg_cel_type *type = k->args[0]->type;

    if ((type->kind != TG_CEL_OBJECT && type->kind != TG_CEL_OPAQUE) ||
        !tg_cel_type_same(type, k->args[1]->type) || type == &tg_cel_type_device)
        return false;
    *ret = tg_cel_fixed(1);
    if (type == &tg_cel_type_format)
        *ret = tg_cel_scale((struct tg_cel_cost_range){1, FORMAT_SIZE}, 0.1);
    if (type == &tg_cel_type_url) {
        struct tg_cel_cost_range size = {1, 1};

        (void)tg_cel_size_of(k->c, k->args[1], &size);
        *ret = tg_cel_scale((struct tg_cel_cost_range){1, size.max}, 0.1);
    }
    return true;
}

/* The sum of the arguments is a part of these, in a way of their own. */
static bool short_circuit(const struct call *k, enum tg_cel_cost rule)
{
    if (rule == TG_CEL_COST_LOGIC) {
        k->ret->cost = (struct tg_cel_cost_range){k->costs[0].min,
                                                  tg_cel_plus(k->costs[0].max, k->costs[1].max)};
        return true;
    }
    if (rule != TG_CEL_COST_CONDITIONAL)
        return false;
    k->own->entry = join_entries(k, k->args[1], k->args[2]);
    k->ret->cost = tg_cel_sum(k->costs[0], tg_cel_union(k->costs[1], k->costs[2]));
    result_size(k, tg_cel_union(size_of(k, k->args[1]), size_of(k, k->args[2])));
    return true;
}

static uint64_t literal_or(const struct tg_cel_node *node, uint64_t otherwise)
{
    if (node->kind != TG_CEL_LITERAL || node->literal.tag != TG_CEL_V_INT)
        return otherwise;
    return node->literal.integer < 0 ? 0 : node->literal.uinteger;
}

/* The limit of split(), where a negative one counts as a huge one. */
static uint64_t literal_as_is(const struct tg_cel_node *node, uint64_t otherwise)
{
    return node->kind == TG_CEL_LITERAL && node->literal.tag == TG_CEL_V_INT
               ? node->literal.uinteger
               : otherwise;
}

/* A new list of that size. */
static struct tg_cel_cost_range new_list(const struct call *k, double factor,
                                         struct tg_cel_cost_range size)
{
    result_size(k, size);
    return tg_cel_sum(tg_cel_scale(size, factor), tg_cel_fixed(1 + LIST_BASE));
}

static struct tg_cel_cost_range sort_cost(const struct call *k, const struct tg_cel_node *keys,
                                          const struct tg_cel_overload *o)
{
    enum tg_cel_kind element = o->args[o->n_args - 1]->params[0]->kind;
    struct tg_cel_cost_range size = size_of(k, keys);
    bool text = element == TG_CEL_STRING || element == TG_CEL_BYTES;

    return new_list(k, text ? 2.1 : 2.0, tg_cel_product(size, size));
}

static struct tg_cel_cost_range list_cost(const struct call *k, enum tg_cel_cost rule,
                                          const struct tg_cel_overload *o)
{
    struct tg_cel_cost_range size;

    switch ((int)rule) {
    case TG_CEL_COST_SLICE:
        size = size_of(k, k->target);
        return new_list(k, 1,
                        tg_cel_fixed(literal_or(k->args[1], size.max) - literal_or(k->args[0], 0)));
    case TG_CEL_COST_RANGE:
        return new_list(k, 1, tg_cel_fixed(literal_or(k->args[0], UINT64_MAX)));
    case TG_CEL_COST_REVERSE:
        return new_list(k, 1, size_of(k, k->target));
    case TG_CEL_COST_FLATTEN:
        return new_list(k, k->n == 1 ? (double)literal_or(k->args[0], UINT64_MAX) : 1.0,
                        size_of(k, k->target));
    case TG_CEL_COST_DISTINCT:
        size = size_of(k, k->target);
        return new_list(k, 2.0, tg_cel_product(size, size));
    case TG_CEL_COST_SORT:
        return sort_cost(k, k->target, o);
    default:
        return sort_cost(k, k->args[0], o);
    }
}

static struct tg_cel_cost_range text_cost(const struct call *k, enum tg_cel_cost rule)
{
    struct tg_cel_cost_range size = size_of(k, k->args[0]);

    switch ((int)rule) {
    case TG_CEL_COST_FORMAT:
        return tg_cel_scale(size_of(k, k->target), 0.1);
    case TG_CEL_COST_TO_BYTES:
        result_size(k, (struct tg_cel_cost_range){size.min, size.max * 4});
        break;
    case TG_CEL_COST_FROM_BYTES:
        result_size(k, (struct tg_cel_cost_range){size.min / 4, size.max});
        break;
    case TG_CEL_COST_QUOTE:
        result_size(k, (struct tg_cel_cost_range){size.min + 2, size.max * 2 + 2});
        break;
    default:
        break;
    }
    return tg_cel_scale(size, 0.1);
}

/* matches, as a function and as a method; the function costs 1 before 1.37. */
static struct tg_cel_cost_range matches_cost(const struct call *k)
{
    const struct tg_cel_node *text = k->target, *pattern = k->args[0];

    if (text == NULL) {
        if (k->c->env->profile == TG_CEL_DRA && k->c->env->minor < 37)
            return tg_cel_fixed(1);
        text = k->args[0];
        pattern = k->args[1];
    }
    return tg_cel_product(tg_cel_scale(tg_cel_sum(size_of(k, text), tg_cel_fixed(1)), 0.1),
                          tg_cel_scale(size_of(k, pattern), 0.25));
}

static struct tg_cel_cost_range by_overload(const struct call *k, enum tg_cel_cost rule,
                                            const struct tg_cel_overload *o)
{
    struct tg_cel_cost_range cost;

    switch ((int)rule) {
    case TG_CEL_COST_EQUALITY:
        if (k->node->op == TG_CEL_OP_EQUAL && k->c->env->profile == TG_CEL_DRA &&
            kube_equality(k, &cost))
            return cost;
        return compare_cost(k);
    case TG_CEL_COST_ORDER:
        return compare_cost(k);
    case TG_CEL_COST_IN_LIST:
        return size_of(k, k->args[1]);
    case TG_CEL_COST_MATCHES:
        return matches_cost(k);
    case TG_CEL_COST_CONTAINS:
        return tg_cel_product(tg_cel_scale(size_of(k, k->target), 0.1),
                              tg_cel_scale(size_of(k, k->args[0]), 0.1));
    case TG_CEL_COST_JOIN_TEXT:
        return join_cost(k, false);
    case TG_CEL_COST_JOIN_LISTS:
        return join_cost(k, true);
    case TG_CEL_COST_SETS:
    case TG_CEL_COST_SETS_TWICE:
        cost = tg_cel_product(size_of(k, k->args[0]), size_of(k, k->args[1]));
        return tg_cel_sum(tg_cel_scale(cost, rule == TG_CEL_COST_SETS ? 1 : 2), tg_cel_fixed(1));
    case TG_CEL_COST_AFFIX:
    case TG_CEL_COST_FORMAT:
    case TG_CEL_COST_TO_BYTES:
    case TG_CEL_COST_FROM_BYTES:
    case TG_CEL_COST_QUOTE:
        return text_cost(k, rule);
    default:
        return list_cost(k, rule, o);
    }
}

/* isSorted, indexOf, includes: one look at each element. */
static struct tg_cel_cost_range scan_cost(const struct call *k, const struct tg_cel_overload *o)
{
    const struct tg_cel_type *type = k->target->type;
    struct tg_cel_cost_range one = tg_cel_fixed(1), size = size_of(k, k->target);

    if (o->library == TG_CEL_LIB_INCLUDES && k->c->env->minor < 37)
        return (struct tg_cel_cost_range){0, 48};
    if (type->n_params > 0) {
        const struct tg_cel_size_decl *of = tg_cel_estimate_decl(k->c, k->target);
        enum tg_cel_kind element = type->params[0]->kind;
        uint64_t max = of != NULL && of->value != NULL ? of->value->max : UINT64_MAX;

        if (element == TG_CEL_STRING || element == TG_CEL_BYTES)
            one = tg_cel_sum(one, tg_cel_scale((struct tg_cel_cost_range){0, max}, 0.1));
        return tg_cel_product(size, one);
    }
    return o->library == TG_CEL_LIB_INCLUDES ? size : tg_cel_scale(size, 0.1);
}

static void replace_size(const struct call *k, struct tg_cel_cost_range size)
{
    struct tg_cel_cost_range from = size_of(k, k->args[0]), to = size_of(k, k->args[1]);
    struct tg_cel_cost_range count = {0, 0}, kept = {0, 0};

    if (from.min == 0) {
        count.max = tg_cel_plus(size.max, 1);
        kept.max = size.max;
    } else if (to.max <= from.min) {
        kept.max = size.max;
    } else {
        count.max = (uint64_t)fmin(ceil((double)size.max / (double)from.min), 0x1p63);
    }
    if (from.max == 0) {
        count.min = tg_cel_plus(size.min, 1);
        kept.min = size.min;
    } else if (from.max <= to.min) {
        kept.min = size.min;
    } else {
        count.min = (uint64_t)ceil((double)size.min / (double)from.max);
    }
    result_size(k, tg_cel_sum(tg_cel_product(count, to), kept));
}

static struct tg_cel_cost_range join_strings(const struct call *k)
{
    struct tg_cel_cost_range list = size_of(k, k->target), size = {0, UINT64_MAX};
    const struct tg_cel_size_decl *of = tg_cel_estimate_decl(k->c, k->target);

    if (of != NULL && of->value != NULL)
        size.max = of->value->max;
    size = tg_cel_product(list, size);
    if (k->target->type->n_params == 0) /* not known to be a list: nothing is counted */
        size = tg_cel_fixed(0);
    if (k->n > 0) {
        struct tg_cel_cost_range between = {list.min > 0 ? list.min - 1 : 0,
                                            list.max > 0 ? list.max - 1 : 0};

        size = tg_cel_sum(size, tg_cel_product(size_of(k, k->args[0]), between));
    }
    result_size(k, size);
    return tg_cel_scale(size, 0.1);
}

static struct tg_cel_cost_range net_cost(const struct call *k, enum tg_cel_cost rule)
{
    struct tg_cel_cost_range size = {4, 16};
    struct tg_cel_cost_range cost = tg_cel_scale(tg_cel_sum(size, size), 0.1);

    if (rule == TG_CEL_COST_CONTAINS_CIDR || rule == TG_CEL_COST_CONTAINS_CIDR_TEXT)
        cost = tg_cel_sum(tg_cel_sum(cost, tg_cel_scale(size, 0.1)), tg_cel_fixed(1));
    if (rule == TG_CEL_COST_CONTAINS_IP_TEXT || rule == TG_CEL_COST_CONTAINS_CIDR_TEXT)
        cost = tg_cel_sum(cost, tg_cel_scale(size_of(k, k->args[0]), 0.1));
    return cost;
}

/* A list, and for every other character at most a requirement: a list and a struct. */
static struct tg_cel_cost_range requirements_cost(struct tg_cel_cost_range size)
{
    struct tg_cel_cost_range parse = tg_cel_sum(tg_cel_fixed(10), tg_cel_scale(size, 0.1));

    return tg_cel_sum(parse, tg_cel_scale(tg_cel_scale(size, 0.5), 50));
}

static struct tg_cel_cost_range by_name(const struct call *k, enum tg_cel_cost rule,
                                        const struct tg_cel_overload *o)
{
    struct tg_cel_cost_range size = {0, 0};

    if (rule != TG_CEL_COST_UNIT)
        size = size_of(k, k->target != NULL ? k->target : k->args[0]);
    switch ((int)rule) {
    case TG_CEL_COST_SCAN:
        return scan_cost(k, o);
    case TG_CEL_COST_TRAVERSE:
        result_size(k, size);
        return tg_cel_scale(size, 0.1);
    case TG_CEL_COST_REPLACE:
        replace_size(k, size);
        return tg_cel_scale(size, 0.2);
    case TG_CEL_COST_SPLIT:
        result_size(k, (struct tg_cel_cost_range){0, k->n > 1 ? literal_as_is(k->args[1], size.max)
                                                              : size.max});
        return tg_cel_scale(size, 0.2);
    case TG_CEL_COST_JOIN:
        return join_strings(k);
    case TG_CEL_COST_FIND:
        result_size(k, (struct tg_cel_cost_range){0, size.max});
        return tg_cel_product(tg_cel_scale(tg_cel_sum(size, tg_cel_fixed(1)), 0.1),
                              tg_cel_scale(size_of(k, k->args[0]), 0.25));
    case TG_CEL_COST_PARSE:
        return tg_cel_scale(size, 0.1);
    case TG_CEL_COST_PARSE_TWICE:
        return tg_cel_scale(size, 0.2);
    case TG_CEL_COST_VALIDATE:
        return tg_cel_scale(tg_cel_scale(size_of(k, k->args[0]), 0.1), FORMAT_PATTERN * 0.25);
    case TG_CEL_COST_UNIT:
        return tg_cel_fixed(1);
    case TG_CEL_COST_AUTHORIZE:
        return tg_cel_fixed(TG_CEL_AUTHORIZE_COST);
    case TG_CEL_COST_REQUIREMENTS:
        return requirements_cost(size_of(k, k->args[0]));
    default:
        return net_cost(k, rule);
    }
}

void tg_cel_estimate_call(struct tg_cel_coster *c, const struct tg_cel_node *node,
                          const struct tg_cel_overload *overload,
                          const struct tg_cel_cost_range *costs, struct tg_cel_estimate *own,
                          struct tg_cel_call_estimate *ret)
{
    enum tg_cel_cost rule = (enum tg_cel_cost)overload->cost;
    size_t skip = node->member ? 1 : 0;
    struct call k = {
        .c = c,
        .node = node,
        .target = node->member ? node->args[0] : NULL,
        .args = skip == 0 ? node->args : node->args + skip,
        .n = node->n_args - skip,
        .costs = costs + skip,
        .own = own,
        .ret = ret,
    };
    struct tg_cel_cost_range cost = tg_cel_fixed(1);

    if (short_circuit(&k, rule))
        return;
    if (rule >= TG_CEL_COST_BY_NAME)
        cost = by_name(&k, rule, overload);
    else if (rule != TG_CEL_COST_ONE)
        cost = by_overload(&k, rule, overload);
    ret->cost = tg_cel_sum(cost, argument_costs(&k));
}
