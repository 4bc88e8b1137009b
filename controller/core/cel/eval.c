/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows the tree, whose depth the parser bounds. Costs are those of cel-go's tracker:
 * identifiers, selections and indexes 1, constants nothing, has() nothing for its last step. */
#include "controller/core/cel/eval.h"

#include <math.h>
#include <string.h>

#include "controller/core/cel/charge.h"
#include "controller/core/cel/function.h"
#include "controller/core/cel/map.h"

#define LIST_COST 10U
#define MAP_COST 30U

static bool first_is(const struct tg_cel_value *v, const struct tg_cel_type *type)
{
    if (v->tag == TG_CEL_V_LIST)
        return v->list->n == 0 || tg_cel_value_is(&v->list->items[0], type->params[0]);
    if (v->map->kind != TG_CEL_MAP_ENTRIES || v->map->n == 0)
        return true;
    return tg_cel_value_is(&v->map->buffer->items[0], type->params[0]) &&
           tg_cel_value_is(&v->map->buffer->items[1], type->params[1]);
}

bool tg_cel_value_is(const struct tg_cel_value *v, const struct tg_cel_type *type)
{
    const struct tg_cel_type *own;

    if (type->kind == TG_CEL_PARAM || tg_cel_type_is_dyn(type))
        return true;
    own = tg_cel_type_of(v);
    if (own->kind != type->kind || (own != type && strcmp(own->name, type->name) != 0))
        return false;
    if (v->tag == TG_CEL_V_OPTIONAL)
        return v->inner == NULL || tg_cel_value_is(v->inner, type->params[0]);
    return (v->tag != TG_CEL_V_LIST && v->tag != TG_CEL_V_MAP) || first_is(v, type);
}

static int eval_slot(struct tg_cel_run *run, const struct tg_cel_node *node,
                     struct tg_cel_value *ret)
{
    struct tg_cel_slot *slot = &run->slots[node->slot];

    if (slot->init != NULL) { /* cel.bind: now it is wanted */
        const struct tg_cel_node *init = slot->init;

        slot->init = NULL;
        if (tg_cel_eval(run, init, &slot->value) < 0) {
            struct tg_cel_fault *fault = tg_cel_alloc(run->scratch, sizeof(*fault));

            if (run->fault.fatal || fault == NULL)
                return run->fault.fatal ? -1 : tg_cel_fail_memory(run, node);
            *fault = run->fault;
            slot->fault = fault;
        }
    }
    if (slot->fault != NULL) {
        run->fault = *slot->fault;
        return -1;
    }
    *ret = slot->value;
    return 0;
}

static int eval_ident(struct tg_cel_run *run, const struct tg_cel_node *node,
                      struct tg_cel_value *ret)
{
    if (node->place == TG_CEL_TYPE_NAME) { /* a constant */
        *ret = node->literal;
        return 0;
    }
    if (tg_cel_spend(run, node, 1) < 0)
        return -1;
    switch ((int)node->place) {
    case TG_CEL_SLOT:
        return eval_slot(run, node, ret);
    case TG_CEL_DEVICE:
        *ret = run->device;
        return 0;
    case TG_CEL_VARIABLE:
        *ret = run->variables[node->slot];
        return 0;
    default:
        return tg_cel_fail_text(run, node, "no such attribute: ", node->name, strlen(node->name));
    }
}

/* An index into a list as a number: an int, uint, or double without a fraction. */
static bool list_index(const struct tg_cel_value *key, int64_t *ret)
{
    if (key->tag == TG_CEL_V_DOUBLE) {
        if (!(fabs(key->real) < 0x1p62) || trunc(key->real) != key->real)
            return false;
        *ret = (int64_t)key->real;
        return true;
    }
    if (key->tag == TG_CEL_V_UINT && key->uinteger > INT64_MAX)
        *ret = INT64_MAX;
    else
        *ret = key->integer;
    return key->tag == TG_CEL_V_INT || key->tag == TG_CEL_V_UINT;
}

static int take_element(struct tg_cel_run *run, const struct tg_cel_node *node,
                        const struct tg_cel_value *object, const struct tg_cel_value *key,
                        bool test, struct tg_cel_value *ret, bool *present)
{
    int64_t i = 0;

    *present = false;
    if (!list_index(key, &i))
        return tg_cel_fail_text(run, node,
                                "unsupported index type in list: ", tg_cel_type_of(key)->name,
                                strlen(tg_cel_type_of(key)->name));
    if (i < 0 || (uint64_t)i >= object->list->n)
        return test ? 0 : tg_cel_fail_value(run, node, "index out of bounds: ", key);
    *ret = object->list->items[i];
    *present = true;
    return 0;
}

/* object[key]. With test, what is missing is not present and no error. */
static int qualify(struct tg_cel_run *run, const struct tg_cel_node *node,
                   const struct tg_cel_value *object, const struct tg_cel_value *key, bool test,
                   struct tg_cel_value *ret, bool *present)
{
    struct tg_cel_value storage;
    const struct tg_cel_value *found = NULL;
    bool no_memory = false, there = false;

    *present = false;
    if (object->tag == TG_CEL_V_LIST)
        return take_element(run, node, object, key, test, ret, present);
    if (object->tag == TG_CEL_V_MAP)
        found = tg_cel_map_find(run->scratch, object->map, key, &storage, &there, &no_memory);
    if (no_memory)
        return tg_cel_fail_memory(run, node);
    /* The conformance suite wants an error where a thing without keys is asked for one. */
    if (found == NULL && (!test || (run->plain && object->tag != TG_CEL_V_MAP)))
        return tg_cel_fail_value(run, node, "no such key: ", key);
    if (found == NULL)
        return 0;
    *ret = *found;
    *present = true;
    return 0;
}

/* Is the operand of a step an optional that the steps behind it look into? One that was merely
 * found on the way, as a value of a map, is not. `computed` marks those that a step has made. */
static bool is_viral(const struct tg_cel_node *step, const struct tg_cel_value *operand)
{
    const struct tg_cel_node *from = step->args[0];
    bool is_step = (from->kind == TG_CEL_SELECT && !from->test) ||
                   (from->kind == TG_CEL_CALL && from->op >= TG_CEL_OP_INDEX &&
                    from->op <= TG_CEL_OP_OPTIONAL_SELECT);

    return operand->tag == TG_CEL_V_OPTIONAL && (!is_step || operand->computed);
}

/* The result of an optional step; inner NULL: none. */
static int give_optional(struct tg_cel_run *run, const struct tg_cel_node *node,
                         const struct tg_cel_value *inner, struct tg_cel_value *ret)
{
    *ret = tg_cel_none();
    if (inner != NULL && !tg_cel_optional(run->scratch, inner, ret))
        return tg_cel_fail_memory(run, node);
    ret->computed = true;
    return 0;
}

/* operand.key, operand[key] and the optional forms: an optional operand makes an optional result.
 * A step that need not find anything and does not costs nothing. */
static int step_into(struct tg_cel_run *run, const struct tg_cel_node *node, bool optional,
                     const struct tg_cel_value *operand, const struct tg_cel_value *key,
                     struct tg_cel_value *ret)
{
    bool viral = is_viral(node, operand), present = false;
    struct tg_cel_value value = TG_CEL_NULL_VALUE;

    if (!viral && !optional) {
        if (tg_cel_spend(run, node, 1) < 0 ||
            qualify(run, node, operand, key, false, ret, &present) < 0)
            return -1;
        if (ret->tag == TG_CEL_V_OPTIONAL)
            ret->computed = false;
        return 0;
    }
    if (viral && operand->inner == NULL)
        return give_optional(run, node, NULL, ret);
    if (qualify(run, node, viral ? operand->inner : operand, key, true, &value, &present) < 0 ||
        give_optional(run, node, present ? &value : NULL, ret) < 0)
        return -1;
    return tg_cel_spend(run, node, present ? 1 : 0);
}

/* operand.name where the operand is device.attributes["x"] or the like: the whole path in one step,
 * for the price of all of it; the last step is free where it is not there and need not be. */
static int eval_in_domain(struct tg_cel_run *run, const struct tg_cel_node *node, const char *name,
                          size_t name_n, bool free_if_absent, struct tg_cel_value *ret,
                          bool *ret_present)
{
    const struct tg_cel_node *domain = node->args[0];
    bool capacity = domain->args[0]->name[0] == 'c', no_memory = false;
    const struct tg_cel_value *found =
        tg_cel_device_find(run->scratch, run->device.map->device, capacity,
                           &domain->args[1]->literal, name, name_n, &no_memory);

    if (no_memory)
        return tg_cel_fail_memory(run, node);
    *ret_present = found != NULL;
    if (found != NULL)
        *ret = *found;
    return tg_cel_spend(run, node, found != NULL || !free_if_absent ? 4 : 3);
}

static int eval_attribute(struct tg_cel_run *run, const struct tg_cel_node *node,
                          struct tg_cel_value *ret)
{
    bool present = false;

    if (eval_in_domain(run, node, node->name, node->slot, false, ret, &present) < 0)
        return -1;
    if (node->test) {
        run->cost--; /* whether a key is there is asked for nothing */
        *ret = tg_cel_bool(present);
        return 0;
    }
    return present ? 0 : tg_cel_fail_text(run, node, "no such key: ", node->name, node->slot);
}

static int eval_select(struct tg_cel_run *run, const struct tg_cel_node *node,
                       struct tg_cel_value *ret)
{
    struct tg_cel_value operand = TG_CEL_NULL_VALUE, value = TG_CEL_NULL_VALUE;
    struct tg_cel_value key = tg_cel_text(node->name, node->slot);
    const struct tg_cel_value *object = &operand;
    bool present = false;

    if (node->args[0]->domain)
        return eval_attribute(run, node, ret);
    if (tg_cel_eval(run, node->args[0], &operand) < 0 ||
        tg_cel_spend(run, node, node->relative ? 1 : 0) < 0)
        return -1;
    if (!node->test)
        return step_into(run, node, false, &operand, &key, ret);
    if (operand.tag == TG_CEL_V_OPTIONAL)
        object = operand.inner;
    if (object != NULL && qualify(run, node, object, &key, true, &value, &present) < 0)
        return -1;
    *ret = tg_cel_bool(present);
    return 0;
}

/* device.attributes["x"].?name */
static int eval_optional_attribute(struct tg_cel_run *run, const struct tg_cel_node *node,
                                   struct tg_cel_value *ret)
{
    const struct tg_cel_value *key = &node->args[1]->literal;
    struct tg_cel_value value = TG_CEL_NULL_VALUE;
    bool present = false;

    if (eval_in_domain(run, node, key->text, key->length, true, &value, &present) < 0)
        return -1;
    return give_optional(run, node, present ? &value : NULL, ret);
}

static int eval_index(struct tg_cel_run *run, const struct tg_cel_node *node,
                      struct tg_cel_value *ret)
{
    struct tg_cel_value operand = TG_CEL_NULL_VALUE, key = TG_CEL_NULL_VALUE;

    if (node->op == TG_CEL_OP_OPTIONAL_SELECT && node->args[0]->domain)
        return eval_optional_attribute(run, node, ret);
    if (tg_cel_eval(run, node->args[0], &operand) < 0 ||
        tg_cel_spend(run, node, node->relative ? 1 : 0) < 0)
        return -1;
    if (is_viral(node, &operand) && operand.inner == NULL)
        return give_optional(run, node, NULL, ret); /* nobody asks for the key */
    if (tg_cel_eval(run, node->args[1], &key) < 0)
        return -1;
    run->cost -= node->args[1]->rooted ? 1 : 0; /* as behind a condition */
    return step_into(run, node, node->op != TG_CEL_OP_INDEX, &operand, &key, ret);
}

/* The operand that decides (false for &&, true for ||) decides, whatever error stands beside it. */
static int eval_logic(struct tg_cel_run *run, const struct tg_cel_node *node,
                      struct tg_cel_value *ret)
{
    bool deciding = node->op == TG_CEL_OP_OR;
    struct tg_cel_fault first = {0};
    bool failed = false;

    for (size_t i = 0; i < 2; i++) {
        struct tg_cel_value value = TG_CEL_NULL_VALUE;
        int rc = tg_cel_eval(run, node->args[i], &value);

        if (rc < 0 && run->fault.fatal)
            return -1;
        if (rc == 0 && value.tag != TG_CEL_V_BOOL)
            rc = tg_cel_fail_overload(run, node->args[i]);
        if (rc == 0 && value.boolean == deciding) {
            *ret = value;
            return 0;
        }
        if (rc < 0 && !failed) {
            failed = true;
            first = run->fault;
        }
    }
    if (failed) {
        run->fault = first;
        return -1;
    }
    *ret = tg_cel_bool(!deciding);
    return 0;
}

static int eval_conditional(struct tg_cel_run *run, const struct tg_cel_node *node,
                            struct tg_cel_value *ret)
{
    struct tg_cel_value condition = TG_CEL_NULL_VALUE;
    const struct tg_cel_node *branch;
    int rc;

    if (tg_cel_eval(run, node->args[0], &condition) < 0)
        return -1;
    if (condition.tag != TG_CEL_V_BOOL)
        return tg_cel_fail_overload(run, node->args[0]);
    branch = node->args[condition.boolean ? 1 : 2];
    rc = tg_cel_eval(run, branch, ret);
    run->cost -= branch->rooted ? 1 : 0; /* what a path of its own begins with costs nothing here */
    return rc;
}

/* Both operands, the second one after an error of the first, too. *fault: the first error, whose
 * value counts as null. -1: nothing absorbs it. */
static int eval_both(struct tg_cel_run *run, const struct tg_cel_node *node, struct tg_cel_value *a,
                     struct tg_cel_value *b, struct tg_cel_fault *fault)
{
    struct tg_cel_value *const values[] = {a, b};

    for (size_t i = 0; i < 2; i++) {
        if (tg_cel_eval(run, node->args[i], values[i]) == 0)
            continue;
        if (run->fault.fatal)
            return -1;
        *values[i] = TG_CEL_NULL_VALUE;
        if (fault->what == NULL)
            *fault = run->fault;
    }
    return 0;
}

static int eval_equality(struct tg_cel_run *run, const struct tg_cel_node *node,
                         struct tg_cel_value *ret)
{
    struct tg_cel_value a = TG_CEL_NULL_VALUE, b = TG_CEL_NULL_VALUE;
    struct tg_cel_fault fault = {.what = NULL};
    enum tg_cel_equality equal;

    if (eval_both(run, node, &a, &b, &fault) < 0 ||
        tg_cel_spend(run, node, tg_cel_charge_equality(&a, &b)) < 0)
        return -1;
    if (fault.what != NULL) {
        run->fault = fault;
        return -1;
    }
    equal = tg_cel_equal(&a, &b);
    if (node->op == TG_CEL_OP_NOT_EQUAL)
        *ret = tg_cel_bool(equal != TG_CEL_EQUAL);
    else if (equal == TG_CEL_EQUAL_NO_OVERLOAD)
        return tg_cel_fail_overload(run, node);
    else
        *ret = tg_cel_bool(equal == TG_CEL_EQUAL);
    return 0;
}

/* @not_strictly_false: an error is not false. */
static int eval_not_strictly_false(struct tg_cel_run *run, const struct tg_cel_node *node,
                                   struct tg_cel_value *ret)
{
    struct tg_cel_value value = TG_CEL_NULL_VALUE;

    if (tg_cel_eval(run, node->args[0], &value) < 0 && run->fault.fatal)
        return -1;
    if (tg_cel_spend(run, node, 1) < 0)
        return -1;
    *ret = tg_cel_bool(value.tag != TG_CEL_V_BOOL || value.boolean);
    return 0;
}

/* a.or(b), a.orValue(b): what is no optional stands for itself. */
static int eval_or(struct tg_cel_run *run, const struct tg_cel_node *node, struct tg_cel_value *ret)
{
    struct tg_cel_value left = TG_CEL_NULL_VALUE;

    if (tg_cel_eval(run, node->args[0], &left) < 0)
        return -1;
    if (left.tag != TG_CEL_V_OPTIONAL ||
        (left.inner != NULL && node->op == TG_CEL_OP_OR_OPTIONAL)) {
        *ret = left;
        return 0;
    }
    if (left.inner != NULL) {
        *ret = *left.inner;
        return 0;
    }
    return tg_cel_eval(run, node->args[1], ret);
}

/* In Kubernetes a set is made of the list, and looking into it costs nothing; a version and a
 * format cannot be looked up in a set there. */
static int eval_in_constants(struct tg_cel_run *run, const struct tg_cel_node *node,
                             struct tg_cel_value *ret)
{
    struct tg_cel_value args[2] = {TG_CEL_NULL_VALUE, node->args[1]->literal};

    if (tg_cel_eval(run, node->args[0], &args[0]) < 0)
        return -1;
    if (args[0].tag == TG_CEL_V_SEMVER || args[0].tag == TG_CEL_V_FORMAT) {
        tg_cel_fail_overload(run, node);
        run->fault.fatal = true; /* a panic there, which nothing absorbs */
        return -1;
    }
    return node->overloads[0]->call(run, node, args, ret);
}

static const struct tg_cel_overload *choose(const struct tg_cel_node *node,
                                            const struct tg_cel_value *args)
{
    if (node->exact)
        return node->overloads[0];
    for (size_t i = 0; i < node->n_overloads; i++) {
        const struct tg_cel_overload *o = node->overloads[i];
        bool fits = true;

        for (size_t k = 0; k < o->n_args && fits; k++)
            fits = tg_cel_value_is(&args[k], o->args[k]);
        if (fits)
            return o;
    }
    return NULL;
}

/* A constant quantity or version: made once, paid each time. A quantity can change in its life. */
static int eval_made(struct tg_cel_run *run, const struct tg_cel_node *node,
                     struct tg_cel_value *ret)
{
    *ret = node->literal;
    if (ret->tag == TG_CEL_V_QUANTITY) {
        ret->quantity = tg_cel_alloc(run->scratch, sizeof(*ret->quantity));
        if (ret->quantity == NULL)
            return tg_cel_fail_memory(run, node);
        *ret->quantity = *node->literal.quantity;
    }
    return tg_cel_spend(run, node, node->slot);
}

/* Argument `at` gave an error, and so does the call. It is paid for nevertheless, and of two
 * arguments the other one is evaluated, as the Go implementation does it; with more it stops there,
 * and the call is paid for only if that was the last. */
static int charge_failed(struct tg_cel_run *run, const struct tg_cel_node *node,
                         struct tg_cel_value *args, size_t at)
{
    struct tg_cel_fault fault = run->fault;
    bool resolved = node->n_overloads == 1;

    args[at] = TG_CEL_NULL_VALUE;
    if (node->n_args == 2 && at == 0 && tg_cel_eval(run, node->args[1], &args[1]) < 0) {
        if (run->fault.fatal)
            return -1;
        args[1] = TG_CEL_NULL_VALUE;
    }
    if ((node->n_args < 3 || at + 1 == node->n_args) &&
        tg_cel_spend(run, node,
                     tg_cel_charge(run, node->overloads[0], resolved, args, node->n_args, NULL)) <
            0)
        return -1;
    run->fault = fault;
    return -1;
}

static int eval_call(struct tg_cel_run *run, const struct tg_cel_node *node,
                     struct tg_cel_value *ret)
{
    TG_CEL_UNCLEARED struct tg_cel_value args[TG_CEL_MAX_ARGS];
    const struct tg_cel_overload *overload;
    int rc;

    if (node->folded)
        return eval_made(run, node, ret);
    if (node->n_overloads == 0) /* unchecked, and no function of that name */
        return tg_cel_fail_overload(run, node);
    for (size_t i = 0; i < node->n_args; i++) {
        if (tg_cel_eval(run, node->args[i], &args[i]) < 0)
            return run->fault.fatal ? -1 : charge_failed(run, node, args, i);
    }
    overload = choose(node, args);
    if (overload == NULL)
        return tg_cel_spend(
                   run, node,
                   tg_cel_charge(run, node->overloads[0], false, args, node->n_args, NULL)) < 0
                   ? -1
                   : tg_cel_fail_overload(run, node);
    /* What makes much out of little is paid before it is made. */
    if (overload->cost == TG_CEL_COST_RANGE && args[0].integer > 0 &&
        (uint64_t)args[0].integer > run->limit)
        return tg_cel_spend(run, node, (uint64_t)args[0].integer);
    rc = overload->call(run, node, args, ret);
    if (rc < 0 && run->fault.fatal)
        return -1;
    if (tg_cel_spend(run, node,
                     tg_cel_charge(run, overload, node->n_overloads == 1, args, node->n_args,
                                   rc < 0 ? NULL : ret)) < 0)
        return -1;
    return rc;
}

/* An element gave an error: the list or map that it was for is paid for nevertheless. */
static int pay_anyway(struct tg_cel_run *run, const struct tg_cel_node *node, uint64_t cost)
{
    struct tg_cel_fault fault = run->fault;

    if (fault.fatal || tg_cel_spend(run, node, cost) < 0)
        return -1;
    run->fault = fault;
    return -1;
}

static int eval_list(struct tg_cel_run *run, const struct tg_cel_node *node,
                     struct tg_cel_value *ret)
{
    struct tg_cel_value *items, list = TG_CEL_NULL_VALUE;
    size_t n = 0;

    if (node->folded) {
        *ret = node->literal;
        return 0;
    }
    items = tg_cel_list_reserve(run->scratch, node->n_args, &list);
    if (items == NULL)
        return tg_cel_fail_memory(run, node);
    for (size_t i = 0; i < node->n_args; i++) {
        struct tg_cel_value item = TG_CEL_NULL_VALUE;

        if (tg_cel_eval(run, node->args[i], &item) < 0)
            return pay_anyway(run, node, LIST_COST);
        if (node->optional != NULL && node->optional[i]) {
            if (item.tag != TG_CEL_V_OPTIONAL)
                return tg_cel_fail(run, node->args[i],
                                   "cannot initialize optional list element from non-optional");
            if (item.inner == NULL)
                continue;
            item = *item.inner;
        }
        items[n++] = item;
    }
    if (n < node->n_args && !tg_cel_list_make(run->scratch, items, n, &list))
        return tg_cel_fail_memory(run, node);
    *ret = list;
    return tg_cel_spend(run, node, LIST_COST);
}

static int eval_map(struct tg_cel_run *run, const struct tg_cel_node *node,
                    struct tg_cel_value *ret)
{
    struct tg_cel_value map = TG_CEL_NULL_VALUE;

    if (node->folded) {
        *ret = node->literal;
        return 0;
    }
    if (!tg_cel_map_make(run->scratch, TG_CEL_MAP_ENTRIES, NULL, &map))
        return tg_cel_fail_memory(run, node);
    for (size_t i = 0; i < node->n_args; i += 2) {
        struct tg_cel_value key = TG_CEL_NULL_VALUE, value = TG_CEL_NULL_VALUE;

        if (tg_cel_eval(run, node->args[i], &key) < 0 ||
            tg_cel_eval(run, node->args[i + 1], &value) < 0)
            return pay_anyway(run, node, MAP_COST);
        if (node->optional != NULL && node->optional[i]) {
            if (value.tag != TG_CEL_V_OPTIONAL)
                return tg_cel_fail(run, node->args[i + 1],
                                   "cannot initialize optional entry from non-optional value");
            if (value.inner == NULL)
                continue;
            value = *value.inner;
        }
        if (tg_cel_map_put(run->scratch, map.map, &key, &value, true, &map) != TG_CEL_PUT)
            return tg_cel_fail_memory(run, node);
    }
    *ret = map;
    return tg_cel_spend(run, node, MAP_COST);
}

/* What a fold walks over. */
struct range {
    const struct tg_cel_value *keys; /* NULL: indexes */
    const struct tg_cel_value *values;
    size_t n;
};

static int open_range(struct tg_cel_run *run, const struct tg_cel_node *node, struct range *ret)
{
    const struct tg_cel_node *over = node->fold->range;
    struct tg_cel_value value = TG_CEL_NULL_VALUE, *keys = NULL, *values = NULL;

    if (tg_cel_eval(run, over, &value) < 0)
        return -1;
    if (value.tag == TG_CEL_V_LIST) {
        *ret = (struct range){.values = value.list->items, .n = value.list->n};
        return 0;
    }
    if (value.tag != TG_CEL_V_MAP)
        return tg_cel_fail_text(run, over, "expected iterable type, got ",
                                tg_cel_type_of(&value)->name, strlen(tg_cel_type_of(&value)->name));
    if (!tg_cel_map_entries(run->scratch, value.map, &keys, &values, &ret->n))
        return tg_cel_fail_memory(run, node);
    ret->keys = keys;
    ret->values = values;
    return 0;
}

static void set_variables(struct tg_cel_slot *slots, const struct tg_cel_fold *fold,
                          const struct range *range, size_t i)
{
    if (fold->iter2 == NULL) {
        slots[0] =
            (struct tg_cel_slot){.value = range->keys != NULL ? range->keys[i] : range->values[i]};
        return;
    }
    slots[0] = (struct tg_cel_slot){.value = range->keys != NULL ? range->keys[i]
                                                                 : tg_cel_int((int64_t)i)};
    slots[1] = (struct tg_cel_slot){.value = range->values[i]};
}

/* Keeps the error that step gave as the value of the accumulator. */
static int keep_fault(struct tg_cel_run *run, const struct tg_cel_node *node,
                      struct tg_cel_slot *accu)
{
    struct tg_cel_fault *fault;

    if (run->fault.fatal || node->fold->sticky)
        return -1;
    fault = (struct tg_cel_fault *)accu->fault;
    if (fault == NULL)
        fault = tg_cel_alloc(run->scratch, sizeof(*fault));
    if (fault == NULL)
        return tg_cel_fail_memory(run, node);
    *fault = run->fault;
    *accu = (struct tg_cel_slot){.fault = fault};
    return 0;
}

static int eval_fold(struct tg_cel_run *run, const struct tg_cel_node *node,
                     struct tg_cel_value *ret)
{
    const struct tg_cel_fold *fold = node->fold;
    struct tg_cel_slot *slots = &run->slots[fold->slot];
    struct range range = {0};
    struct tg_cel_slot accu = {0};

    if (fold->bind) {
        slots[2] = (struct tg_cel_slot){.init = fold->init};
        return tg_cel_eval(run, fold->result, ret);
    }
    if (open_range(run, node, &range) < 0 || tg_cel_eval(run, fold->init, &accu.value) < 0)
        return -1;
    slots[2] = accu;
    for (size_t i = 0; i < range.n; i++) {
        struct tg_cel_value go_on = TG_CEL_NULL_VALUE, next = TG_CEL_NULL_VALUE;

        set_variables(slots, fold, &range, i);
        if (tg_cel_eval(run, fold->condition, &go_on) < 0 && run->fault.fatal)
            return -1;
        if (go_on.tag == TG_CEL_V_BOOL && !go_on.boolean)
            break;
        if (tg_cel_eval(run, fold->step, &next) == 0)
            slots[2] = (struct tg_cel_slot){.value = next};
        else if (keep_fault(run, node, &slots[2]) < 0)
            return -1;
    }
    return tg_cel_eval(run, fold->result, ret);
}

typedef int evaluator(struct tg_cel_run *run, const struct tg_cel_node *node,
                      struct tg_cel_value *ret);

static evaluator *const operators[] = {
    [TG_CEL_OP_NONE] = eval_call,
    [TG_CEL_OP_AND] = eval_logic,
    [TG_CEL_OP_OR] = eval_logic,
    [TG_CEL_OP_CONDITIONAL] = eval_conditional,
    [TG_CEL_OP_EQUAL] = eval_equality,
    [TG_CEL_OP_NOT_EQUAL] = eval_equality,
    [TG_CEL_OP_INDEX] = eval_index,
    [TG_CEL_OP_OPTIONAL_INDEX] = eval_index,
    [TG_CEL_OP_OPTIONAL_SELECT] = eval_index,
    [TG_CEL_OP_NOT_STRICTLY_FALSE] = eval_not_strictly_false,
    [TG_CEL_OP_OR_OPTIONAL] = eval_or,
    [TG_CEL_OP_OR_VALUE] = eval_or,
    [TG_CEL_OP_IN_CONSTANTS] = eval_in_constants,
};

int tg_cel_eval(struct tg_cel_run *run, const struct tg_cel_node *node, struct tg_cel_value *ret)
{
    switch ((int)node->kind) {
    case TG_CEL_LITERAL:
        *ret = node->literal;
        return 0;
    case TG_CEL_IDENT:
        return eval_ident(run, node, ret);
    case TG_CEL_SELECT:
        return eval_select(run, node, ret);
    case TG_CEL_CALL:
        return operators[node->op](run, node, ret);
    case TG_CEL_CREATE_LIST:
        return eval_list(run, node, ret);
    case TG_CEL_CREATE_MAP:
        return eval_map(run, node, ret);
    default:
        return eval_fold(run, node, ret);
    }
}
