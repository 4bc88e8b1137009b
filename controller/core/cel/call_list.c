/* SPDX-License-Identifier: Apache-2.0 */
/* Lists: the language's extension library and that of the API server, sets, in, optionals of lists.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/core/cel/calls.h"
#include "controller/core/cel/map.h"

static int give(struct tg_cel_run *run, const struct tg_cel_node *call, bool made)
{
    return made ? 0 : tg_cel_fail_memory(run, call);
}

/* Equality, no overload counting as unequal. */
static bool equal(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    return tg_cel_equal(a, b) == TG_CEL_EQUAL;
}

static bool list_has(const struct tg_cel_list *list, const struct tg_cel_value *v)
{
    for (size_t i = 0; i < list->n; i++) {
        if (equal(v, &list->items[i]))
            return true;
    }
    return false;
}

int tg_cel_call_in(struct tg_cel_run *run, const struct tg_cel_node *call,
                   const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    struct tg_cel_value storage;
    bool present = false, no_memory = false;

    if (args[1].tag == TG_CEL_V_LIST) {
        *ret = tg_cel_bool(list_has(args[1].list, &args[0]));
        return 0;
    }
    tg_cel_map_find(run->scratch, args[1].map, &args[0], &storage, &present, &no_memory);
    *ret = tg_cel_bool(present);
    return give(run, call, !no_memory);
}

int tg_cel_call_includes(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    if (args[0].tag != TG_CEL_V_LIST) {
        *ret = tg_cel_bool(equal(&args[0], &args[1]));
        return 0;
    }
    if (run->minor == 36 && args[0].list->n > 48)
        return tg_cel_fail(run, call,
                           "'includes' function cannot be applied to lists longer than 48 values");
    *ret = tg_cel_bool(false);
    for (size_t i = 0; i < args[0].list->n && !ret->boolean; i++)
        ret->boolean = equal(&args[0].list->items[i], &args[1]);
    return 0;
}

int tg_cel_call_list_index_of(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int(-1);
    for (size_t i = 0; i < args[0].list->n && ret->integer < 0; i++) {
        if (equal(&args[0].list->items[i], &args[1]))
            *ret = tg_cel_int((int64_t)i);
    }
    return 0;
}

int tg_cel_call_list_last_index_of(struct tg_cel_run *run, const struct tg_cel_node *call,
                                   const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_int(-1);
    for (size_t i = args[0].list->n; i > 0 && ret->integer < 0; i--) {
        if (equal(&args[0].list->items[i - 1], &args[1]))
            *ret = tg_cel_int((int64_t)i - 1);
    }
    return 0;
}

int tg_cel_call_is_sorted(struct tg_cel_run *run, const struct tg_cel_node *call,
                          const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;

    (void)run;
    (void)call;
    *ret = tg_cel_bool(true);
    for (size_t i = 1; i < list->n; i++) {
        bool unordered = false;
        int order = 0;

        if (tg_cel_compare(&list->items[i - 1], &list->items[i], &order, &unordered) && order > 0)
            *ret = tg_cel_bool(false);
    }
    return 0;
}

/* The element that stands first when sorted by `sign`. */
static int extreme(struct tg_cel_run *run, const struct tg_cel_node *call,
                   const struct tg_cel_value *args, int sign, const char *empty,
                   struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;

    if (list->n == 0)
        return tg_cel_fail(run, call, empty);
    *ret = list->items[0];
    for (size_t i = 1; i < list->n; i++) {
        bool unordered = false;
        int order = 0;

        if (tg_cel_compare(ret, &list->items[i], &order, &unordered) && order * sign > 0)
            *ret = list->items[i];
    }
    return 0;
}

int tg_cel_call_min(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return extreme(run, call, args, 1, "min called on empty list", ret);
}

int tg_cel_call_max(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    return extreme(run, call, args, -1, "max called on empty list", ret);
}

int tg_cel_call_sum(struct tg_cel_run *run, const struct tg_cel_node *call,
                    const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    enum tg_cel_kind kind = call->overloads[0]->result->kind;
    struct tg_cel_value pair[2] = {tg_cel_int(0)};

    if (args[0].list->n > 0)
        kind = tg_cel_type_of(&args[0].list->items[0])->kind;
    if (kind == TG_CEL_UINT)
        pair[0] = tg_cel_uint(0);
    else if (kind == TG_CEL_DOUBLE)
        pair[0] = tg_cel_double(0);
    else if (kind == TG_CEL_DURATION)
        pair[0] = tg_cel_duration(0);
    for (size_t i = 0; i < args[0].list->n; i++) {
        pair[1] = args[0].list->items[i];
        if (pair[1].tag != pair[0].tag)
            return tg_cel_fail_overload(run, call);
        if (tg_cel_call_add(run, call, pair, &pair[0]) < 0)
            return -1;
    }
    *ret = pair[0];
    return 0;
}

int tg_cel_call_slice(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;
    int64_t start = args[1].integer, end = args[2].integer;

    if (start < 0 || end < 0)
        return tg_cel_fail(run, call, "cannot slice: negative indexes not supported");
    if (start > end)
        return tg_cel_fail(run, call,
                           "cannot slice: start index must be less than or equal to end index");
    if ((uint64_t)end > list->n)
        return tg_cel_fail_value(run, call, "cannot slice, the list is too short for ", &args[2]);
    return give(run, call,
                tg_cel_list_make(run->scratch, list->items + start, (size_t)(end - start), ret));
}

static size_t flat_size(const struct tg_cel_list *list, int64_t depth)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += list->items[i].tag == TG_CEL_V_LIST && depth > 0
                 ? flat_size(list->items[i].list, depth - 1)
                 : 1;
    return n;
}

static struct tg_cel_value *flatten(const struct tg_cel_list *list, int64_t depth,
                                    struct tg_cel_value *out)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].tag == TG_CEL_V_LIST && depth > 0)
            out = flatten(list->items[i].list, depth - 1, out);
        else
            *out++ = list->items[i];
    }
    return out;
}

int tg_cel_call_flatten(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    int64_t depth = call->n_args > 1 ? args[1].integer : 1;
    struct tg_cel_value *out;

    if (depth < 0)
        return tg_cel_fail(run, call, "level must be non-negative");
    out = tg_cel_list_reserve(run->scratch, flat_size(args[0].list, depth), ret);
    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    flatten(args[0].list, depth, out);
    return 0;
}

int tg_cel_call_range(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    size_t n = args[0].integer < 0 ? 0 : (size_t)args[0].integer;
    struct tg_cel_value *out;

    if (args[0].integer < 0 && (run->plain || run->minor >= 37))
        return tg_cel_fail_value(run, call, "lists.range: size must be non-negative, got ",
                                 &args[0]);
    out = tg_cel_list_reserve(run->scratch, n, ret);
    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < n; i++)
        out[i] = tg_cel_int((int64_t)i);
    return 0;
}

int tg_cel_call_list_reverse(struct tg_cel_run *run, const struct tg_cel_node *call,
                             const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;
    struct tg_cel_value *out = tg_cel_list_reserve(run->scratch, list->n, ret);

    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < list->n; i++)
        out[i] = list->items[list->n - 1 - i];
    return 0;
}

int tg_cel_call_distinct(struct tg_cel_run *run, const struct tg_cel_node *call,
                         const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;
    struct tg_cel_value *out = tg_cel_list_reserve(run->scratch, list->n, ret);
    size_t n = 0;

    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    /* Paid before it is done: everything may be compared to everything. */
    if (list->n > 1000000 || (uint64_t)list->n * list->n > 2 * run->limit)
        return tg_cel_spend(run, call, run->limit);
    for (size_t i = 0; i < list->n; i++) {
        bool seen = false;

        for (size_t j = 0; j < n && !seen; j++)
            seen = equal(&list->items[i], &out[j]);
        if (!seen)
            out[n++] = list->items[i];
    }
    return give(run, call, tg_cel_list_make(run->scratch, out, n, ret));
}

static int by_key(const void *pa, const void *pb)
{
    const struct tg_cel_value *a = pa, *b = pb;
    bool unordered = false;
    int order = 0;

    tg_cel_compare(&a[0], &b[0], &order, &unordered);
    return order != 0 ? order : (a[1].integer > b[1].integer) - (a[1].integer < b[1].integer);
}

/* sort() and sortBy(): keys in args[1], or the list itself; equal keys keep their order. */
int tg_cel_call_sort(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;
    const struct tg_cel_list *keys = call->n_args > 1 ? args[1].list : list;
    struct tg_cel_value *pairs, *out;

    if (keys->n != list->n)
        return tg_cel_fail(run, call, "sortBy expected as many keys as elements");
    pairs = tg_cel_alloc(run->scratch, (2 * list->n + 1) * sizeof(*pairs));
    out = tg_cel_list_reserve(run->scratch, list->n, ret);
    if (pairs == NULL || out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < list->n; i++) {
        if (keys->items[i].tag != keys->items[0].tag)
            return tg_cel_fail(run, call, "list elements must have the same type");
        pairs[2 * i] = keys->items[i];
        pairs[2 * i + 1] = tg_cel_int((int64_t)i);
    }
    qsort(pairs, list->n, 2 * sizeof(*pairs), by_key);
    for (size_t i = 0; i < list->n; i++)
        out[i] = list->items[pairs[2 * i + 1].integer];
    return 0;
}

static bool contains_all(const struct tg_cel_list *list, const struct tg_cel_list *of)
{
    for (size_t i = 0; i < of->n; i++) {
        if (!list_has(list, &of->items[i]))
            return false;
    }
    return true;
}

int tg_cel_call_sets_contains(struct tg_cel_run *run, const struct tg_cel_node *call,
                              const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(contains_all(args[0].list, args[1].list));
    return 0;
}

int tg_cel_call_sets_equivalent(struct tg_cel_run *run, const struct tg_cel_node *call,
                                const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(contains_all(args[0].list, args[1].list) &&
                       contains_all(args[1].list, args[0].list));
    return 0;
}

int tg_cel_call_sets_intersects(struct tg_cel_run *run, const struct tg_cel_node *call,
                                const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)run;
    (void)call;
    *ret = tg_cel_bool(false);
    for (size_t i = 0; i < args[0].list->n && !ret->boolean; i++)
        *ret = tg_cel_bool(list_has(args[1].list, &args[0].list->items[i]));
    return 0;
}

int tg_cel_call_first(struct tg_cel_run *run, const struct tg_cel_node *call,
                      const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    *ret = tg_cel_none();
    if (args[0].list->n == 0)
        return 0;
    return give(run, call, tg_cel_optional(run->scratch, &args[0].list->items[0], ret));
}

int tg_cel_call_last(struct tg_cel_run *run, const struct tg_cel_node *call,
                     const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;

    *ret = tg_cel_none();
    if (list->n == 0)
        return 0;
    return give(run, call, tg_cel_optional(run->scratch, &list->items[list->n - 1], ret));
}

int tg_cel_call_unwrap(struct tg_cel_run *run, const struct tg_cel_node *call,
                       const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    const struct tg_cel_list *list = args[0].list;
    struct tg_cel_value *out = tg_cel_list_reserve(run->scratch, list->n, ret);
    size_t n = 0;

    if (out == NULL)
        return tg_cel_fail_memory(run, call);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].tag != TG_CEL_V_OPTIONAL)
            return tg_cel_fail_value(run, call, "not optional: ", &list->items[i]);
        if (list->items[i].inner != NULL)
            out[n++] = *list->items[i].inner;
    }
    return give(run, call, tg_cel_list_make(run->scratch, out, n, ret));
}
