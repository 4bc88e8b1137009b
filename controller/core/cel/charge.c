/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: the cost trackers of cel-go (interpreter/runtimecost.go, ext) and of the API server
 * (pkg/cel/library/cost.go). A unit is about 50 ns there. */
#include "controller/core/cel/charge.h"

#include <math.h>

#include "controller/core/cel/map.h"
#include "controller/core/cel/named_format.h"

#define LIST_BASE 10U

/* A tenth of a unit a character, a quarter a character of a pattern; rounded up. */
static uint64_t tenth(uint64_t size)
{
    return (uint64_t)ceil((double)size * 0.1);
}

static uint64_t quarter(uint64_t size)
{
    return (uint64_t)ceil((double)size * 0.25);
}

/* Looking at all of a value. Recursion is bounded by the depth of values. */
static uint64_t traversal(const struct tg_cel_value *v)
{
    uint64_t cost = 0;

    if (v->tag == TG_CEL_V_STRING || v->tag == TG_CEL_V_BYTES)
        return (uint64_t)((double)v->length * 0.1);
    if (v->tag == TG_CEL_V_LIST) {
        for (size_t i = 0; i < v->list->n; i++)
            cost += traversal(&v->list->items[i]);
        return cost;
    }
    if (v->tag == TG_CEL_V_MAP && v->map->kind == TG_CEL_MAP_ENTRIES) {
        for (size_t i = 0; i < 2 * v->map->n; i++)
            cost += traversal(&v->map->buffer->items[i]);
        return cost;
    }
    return v->tag == TG_CEL_V_MAP ? tg_cel_map_count(v->map) : 1;
}

uint64_t tg_cel_charge_equality(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    uint64_t left, right;

    if (a->tag >= TG_CEL_V_QUANTITY)
        return 1;
    left = tg_cel_size(a);
    right = tg_cel_size(b);
    return tenth(left < right ? left : right);
}

/* Sorting and the like, with everything compared to everything. */
static uint64_t self_compare(const struct tg_cel_value *list)
{
    uint64_t n = tg_cel_size(list);
    double factor = 2.0;

    if (list->tag == TG_CEL_V_LIST && n > 0 &&
        (list->list->items[0].tag == TG_CEL_V_STRING || list->list->items[0].tag == TG_CEL_V_BYTES))
        factor += 0.1;
    return (uint64_t)((double)(n * n) * factor) + 1 + LIST_BASE;
}

static uint64_t flatten(const struct tg_cel_value *args, size_t n)
{
    double depth = n == 2 && args[1].tag == TG_CEL_V_INT ? (double)args[1].integer : 1.0;
    double cost = (double)tg_cel_size(&args[0]) * depth;

    if (!(cost > 0))
        return 1 + LIST_BASE;
    return (cost > 1e18 ? (uint64_t)1e18 : (uint64_t)cost) + 1 + LIST_BASE;
}

/* The language's own rules, which need an overload that is known before. */
static uint64_t by_overload(const struct tg_cel_run *run, enum tg_cel_cost rule,
                            const struct tg_cel_value *args, size_t n,
                            const struct tg_cel_value *result)
{
    switch ((int)rule) {
    case TG_CEL_COST_ORDER:
        return tg_cel_charge_equality(&args[0], &args[1]);
    case TG_CEL_COST_AFFIX:
        return tenth(tg_cel_size(&args[run->minor >= 37 || run->plain ? 1 : 0]));
    case TG_CEL_COST_TO_BYTES:
    case TG_CEL_COST_FROM_BYTES:
    case TG_CEL_COST_QUOTE:
    case TG_CEL_COST_FORMAT:
        return tenth(tg_cel_size(&args[0]));
    case TG_CEL_COST_IN_LIST:
        return tg_cel_size(&args[1]);
    case TG_CEL_COST_JOIN_TEXT:
        return tenth(tg_cel_size(&args[0]) + tg_cel_size(&args[1]));
    case TG_CEL_COST_MATCHES:
        return tenth(tg_cel_size(&args[0]) + 1) * quarter(tg_cel_size(&args[1]));
    case TG_CEL_COST_CONTAINS:
        return tenth(tg_cel_size(&args[0])) * tenth(tg_cel_size(&args[1]));
    case TG_CEL_COST_SETS:
        return 1 + tg_cel_size(&args[0]) * tg_cel_size(&args[1]);
    case TG_CEL_COST_SETS_TWICE:
        return 1 + 2 * tg_cel_size(&args[0]) * tg_cel_size(&args[1]);
    case TG_CEL_COST_SLICE:
    case TG_CEL_COST_RANGE:
    case TG_CEL_COST_REVERSE:
        return (result == NULL ? 1 : tg_cel_size(result)) + 1 + LIST_BASE;
    case TG_CEL_COST_FLATTEN:
        return flatten(args, n);
    case TG_CEL_COST_DISTINCT:
    case TG_CEL_COST_SORT:
        return self_compare(&args[0]);
    case TG_CEL_COST_SORT_BY:
        return self_compare(&args[1]);
    default:
        return 1;
    }
}

static uint64_t by_name(enum tg_cel_cost rule, const struct tg_cel_value *args,
                        const struct tg_cel_value *result)
{
    uint64_t size = rule == TG_CEL_COST_UNIT ? 0 : tg_cel_size(&args[0]);

    switch ((int)rule) {
    case TG_CEL_COST_SCAN:
        return traversal(&args[0]);
    case TG_CEL_COST_TRAVERSE:
    case TG_CEL_COST_PARSE:
        return tenth(size);
    case TG_CEL_COST_REPLACE:
    case TG_CEL_COST_SPLIT:
    case TG_CEL_COST_PARSE_TWICE:
        return (uint64_t)ceil((double)size * 2 * 0.1);
    case TG_CEL_COST_JOIN:
        return result == NULL ? 1 : (uint64_t)ceil((double)tg_cel_size(result) * 2 * 0.1);
    case TG_CEL_COST_FIND:
        return tenth(size + 1) * quarter(tg_cel_size(&args[1]));
    case TG_CEL_COST_CONTAINS_IP:
        return tenth(2 * size);
    case TG_CEL_COST_CONTAINS_IP_TEXT:
        return tenth(2 * size) + tenth(tg_cel_size(&args[1]));
    case TG_CEL_COST_CONTAINS_CIDR:
        return tenth(2 * size) + tenth(size) + 1;
    case TG_CEL_COST_CONTAINS_CIDR_TEXT:
        return tenth(2 * size) + tenth(size) + 1 + tenth(tg_cel_size(&args[1]));
    case TG_CEL_COST_VALIDATE:
        if (args[0].tag != TG_CEL_V_FORMAT)
            return 1;
        return tenth(tg_cel_size(&args[1]) + 1) *
               quarter(tg_cel_named_format_pattern(args[0].format));
    case TG_CEL_COST_AUTHORIZE:
        return TG_CEL_AUTHORIZE_COST;
    default:
        return 1;
    }
}

uint64_t tg_cel_charge(const struct tg_cel_run *run, const struct tg_cel_overload *overload,
                       bool resolved, const struct tg_cel_value *args, size_t n,
                       const struct tg_cel_value *result)
{
    enum tg_cel_cost rule = (enum tg_cel_cost)overload->cost;

    if (rule == TG_CEL_COST_ONE)
        return 1;
    if (rule >= TG_CEL_COST_BY_NAME)
        return by_name(rule, args, result);
    return resolved ? by_overload(run, rule, args, n, result) : 1;
}
