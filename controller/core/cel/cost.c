/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows the tree, whose depth the parser bounds; a node that a macro uses twice is
 * estimated once. */
#include "controller/core/cel/cost.h"

#include <string.h>

#include "controller/core/cel/cost_range.h"
#include "controller/core/cel/estimate.h"
#include "controller/core/cel/function.h"

static struct tg_cel_cost_range cost_of(struct tg_cel_coster *c, struct tg_cel_node *node);

static const struct tg_cel_size_decl quantity = {.max = 0};
static const struct tg_cel_size_decl name_text = {.max = 32};   /* DeviceMaxIDLength */
static const struct tg_cel_size_decl domain_text = {.max = 63}; /* DeviceMaxDomainLength */
static const struct tg_cel_size_decl driver_text = {.max = 63}; /* DriverNameMaxLength */
static const struct tg_cel_size_decl flag = {.max = 1};
/* DeviceAttributeMaxValueLength; a list has at most 48 elements */
static const struct tg_cel_size_decl attribute = {.max = 64};
/* ResourceSliceMaxAttributesAndCapacitiesPerDevice */
static const struct tg_cel_size_decl attributes = {
    .max = 32, .key = &name_text, .value = &attribute};
static const struct tg_cel_size_decl domains = {
    .max = 32, .key = &domain_text, .value = &attributes};
static const struct tg_cel_size_decl capacities = {
    .max = 32, .key = &name_text, .value = &quantity};
static const struct tg_cel_size_decl capacity_domains = {
    .max = 32, .key = &domain_text, .value = &capacities};
static const struct tg_cel_size_decl device = {.max = 0};

static const struct tg_cel_size_decl *field_decl(const struct tg_cel_size_decl *of,
                                                 const char *name)
{
    if (of == &device) {
        if (strcmp(name, "driver") == 0)
            return &driver_text;
        if (strcmp(name, "attributes") == 0)
            return &domains;
        if (strcmp(name, "capacity") == 0)
            return &capacity_domains;
        return strcmp(name, "allowMultipleAllocations") == 0 ? &flag : NULL;
    }
    /* All attributes have the same bound, whatever their name. */
    return of == &attributes ? &attribute : NULL;
}

static struct tg_cel_cost_range cost_ident(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                           struct tg_cel_estimate *e)
{
    const struct tg_cel_cost_variable *v = tg_cel_coster_variable(c, node);

    if (v != NULL)
        e->decl = v->decl;
    else if (node->place == TG_CEL_DEVICE)
        e->decl = &device;
    return tg_cel_fixed(1);
}

static struct tg_cel_cost_range cost_select(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                            struct tg_cel_estimate *e)
{
    struct tg_cel_cost_range cost = cost_of(c, node->args[0]);
    const struct tg_cel_type *type = node->args[0]->type;
    const struct tg_cel_size_decl *of = tg_cel_estimate_decl(c, node->args[0]);

    if (node->test)
        return c->env->profile == TG_CEL_PLAIN ? tg_cel_sum(cost, tg_cel_fixed(1)) : cost;
    e->decl = of == NULL ? NULL : field_decl(of, node->name);
    if (type->kind == TG_CEL_MAP || type->kind == TG_CEL_OBJECT)
        cost = tg_cel_sum(cost, tg_cel_fixed(1));
    return cost;
}

static struct tg_cel_cost_range cost_list(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                          struct tg_cel_estimate *e)
{
    struct tg_cel_cost_range sum = tg_cel_fixed(10), item = {UINT64_MAX, 0};

    if (node->n_args == 0)
        item.min = 0;
    for (size_t i = 0; i < node->n_args; i++) {
        sum = tg_cel_sum(sum, cost_of(c, node->args[i]));
        item = tg_cel_union(item, tg_cel_size_or_unknown(c, node->args[i]));
    }
    e->entry = (struct tg_cel_entry_size){TG_CEL_LIST, tg_cel_fixed(1), item};
    return sum;
}

static struct tg_cel_cost_range cost_map(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                         struct tg_cel_estimate *e)
{
    struct tg_cel_cost_range sum = tg_cel_fixed(30), sizes[2] = {{UINT64_MAX, 0}, {UINT64_MAX, 0}};

    if (node->n_args == 0)
        sizes[0].min = sizes[1].min = 0;
    for (size_t i = 0; i < node->n_args; i++) {
        sum = tg_cel_sum(sum, cost_of(c, node->args[i]));
        sizes[i % 2] = tg_cel_union(sizes[i % 2], tg_cel_size_or_unknown(c, node->args[i]));
    }
    e->entry = (struct tg_cel_entry_size){TG_CEL_MAP, sizes[0], sizes[1]};
    return sum;
}

/* The variables of a fold over a range: keys, values, elements, indexes. */
static void declare_range(struct tg_cel_coster *c, const struct tg_cel_fold *fold)
{
    struct tg_cel_entry_size entry = tg_cel_entry_of(c, fold->range);
    enum tg_cel_kind container = entry.kind;
    const struct tg_cel_size_decl *of = tg_cel_estimate_decl(c, fold->range);
    struct tg_cel_cost_variable key = {.slot = fold->slot}, value = {.slot = fold->slot + 1};
    bool known = entry.kind != TG_CEL_DYN, list;

    if (!known)
        container = fold->range->type->kind;
    list = container == TG_CEL_LIST;
    key.has_size = value.has_size = known;
    key.size = entry.key;
    value.size = entry.value;
    value.decl = of == NULL ? NULL : of->value;
    key.decl = of == NULL || list ? NULL : of->key;
    if (fold->iter2 == NULL) {
        if (list) {
            value.slot = fold->slot;
            key = value;
        }
        tg_cel_coster_declare(c, &key);
        return;
    }
    tg_cel_coster_declare(c, &key);
    tg_cel_coster_declare(c, &value);
}

static void declare_accumulator(struct tg_cel_coster *c, const struct tg_cel_fold *fold)
{
    struct tg_cel_cost_variable v = {
        .slot = fold->slot + 2,
        .decl = tg_cel_estimate_decl(c, fold->init),
        .entry = tg_cel_entry_of(c, fold->init),
    };

    v.has_size = tg_cel_size_of(c, fold->init, &v.size);
    tg_cel_coster_declare(c, &v);
}

static struct tg_cel_cost_range cost_bind(struct tg_cel_coster *c, const struct tg_cel_fold *fold,
                                          struct tg_cel_estimate *e)
{
    struct tg_cel_cost_range sum = cost_of(c, fold->range);

    sum = tg_cel_sum(sum, cost_of(c, fold->init));
    declare_accumulator(c, fold);
    sum = tg_cel_sum(sum, cost_of(c, fold->result));
    c->n_variables--; /* before: the size of the bare variable is not known outside */
    e->has_size = tg_cel_size_of(c, fold->result, &e->size);
    e->entry = tg_cel_entry_of(c, fold->result);
    return sum;
}

static struct tg_cel_cost_range cost_fold(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                          struct tg_cel_estimate *e)
{
    const struct tg_cel_fold *fold = node->fold;
    struct tg_cel_cost_range sum, loop, count;
    size_t outer = c->n_variables;

    if (fold->bind)
        return cost_bind(c, fold, e);
    sum = cost_of(c, fold->range);
    sum = tg_cel_sum(sum, cost_of(c, fold->init));
    declare_accumulator(c, fold);
    declare_range(c, fold);
    loop = cost_of(c, fold->condition);
    loop = tg_cel_sum(loop, cost_of(c, fold->step));
    c->n_variables = outer + 1;
    sum = tg_cel_sum(sum, cost_of(c, fold->result));
    c->n_variables = outer;
    count = tg_cel_size_or_unknown(c, fold->range);
    sum = tg_cel_sum(sum, tg_cel_product(count, loop));
    if (fold->init->kind == TG_CEL_LITERAL) {
        e->has_size = tg_cel_size_of(c, fold->init, &e->size);
    } else if (fold->init->kind == TG_CEL_CREATE_LIST || fold->init->kind == TG_CEL_CREATE_MAP) {
        e->has_size = true;
        e->size = count;
        e->entry = tg_cel_entry_of(c, fold->step);
    }
    return sum;
}

static struct tg_cel_cost_range cost_call(struct tg_cel_coster *c, const struct tg_cel_node *node,
                                          struct tg_cel_estimate *e)
{
    struct tg_cel_cost_range costs[TG_CEL_MAX_ARGS] = {{0, 0}}, call = {UINT64_MAX, 0};
    struct tg_cel_cost_range target = {0, 0};

    if (node->n_overloads == 0)
        return target;
    for (size_t i = 0; i < node->n_args; i++)
        costs[i] = cost_of(c, node->args[i]);
    if (strcmp(node->name, "dyn") == 0) {
        e->has_size = tg_cel_size_of(c, node->args[0], &e->size);
        e->entry = tg_cel_entry_of(c, node->args[0]);
        return tg_cel_sum(costs[0], tg_cel_fixed(1));
    }
    if (node->member)
        target = costs[0];
    for (size_t i = 0; i < node->n_overloads; i++) {
        struct tg_cel_call_estimate one = {.has_size = false};

        tg_cel_estimate_call(c, node, node->overloads[i], costs, e, &one);
        call = tg_cel_union(call, one.cost);
        if (one.has_size) {
            e->size = e->has_size ? tg_cel_union(e->size, one.size) : one.size;
            e->has_size = true;
        }
        if (node->op == TG_CEL_OP_INDEX && node->overloads[i]->library == TG_CEL_LIB_STANDARD) {
            const struct tg_cel_size_decl *of = tg_cel_estimate_decl(c, node->args[0]);
            struct tg_cel_entry_size entry = tg_cel_entry_of(c, node->args[0]);

            e->has_size = entry.kind != TG_CEL_DYN;
            e->size = entry.value;
            e->decl = of == NULL ? NULL : of->value;
        }
        if (!e->has_size)
            e->has_size = tg_cel_size_of_estimate(c, node, e, &e->size);
    }
    return tg_cel_sum(target, call);
}

static struct tg_cel_cost_range cost_of(struct tg_cel_coster *c, struct tg_cel_node *node)
{
    struct tg_cel_estimate *e = node->estimate;

    if (e != NULL && node->costed)
        return e->cost;
    e = tg_arena_alloc(c->arena, sizeof(*e));
    if (e == NULL) {
        c->no_memory = true;
        return tg_cel_fixed(UINT64_MAX);
    }
    node->estimate = e;
    switch ((int)node->kind) {
    case TG_CEL_LITERAL:
        break;
    case TG_CEL_IDENT:
        e->cost = cost_ident(c, node, e);
        break;
    case TG_CEL_SELECT:
        e->cost = cost_select(c, node, e);
        break;
    case TG_CEL_CALL:
        e->cost = cost_call(c, node, e);
        break;
    case TG_CEL_CREATE_LIST:
        e->cost = cost_list(c, node, e);
        break;
    case TG_CEL_CREATE_MAP:
        e->cost = cost_map(c, node, e);
        break;
    default:
        e->cost = cost_fold(c, node, e);
    }
    node->costed = true;
    return e->cost;
}

bool tg_cel_cost(const struct tg_cel_environment *env, struct tg_arena *arena,
                 struct tg_cel_node *root, uint64_t *ret)
{
    struct tg_cel_coster c = {.env = env, .arena = arena};

    *ret = cost_of(&c, root).max;
    return !c.no_memory;
}
