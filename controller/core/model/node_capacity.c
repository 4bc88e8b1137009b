/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_capacity.h"

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

/* An absent quantity leaves *ret alone and *ret_set false. false: what is there is none. */
static bool read(const char *text, __int128 *ret, bool *ret_set)
{
    *ret_set = text != NULL;
    return text == NULL || tg_nanos_parse(text, ret, NULL) == 0;
}

static bool read_range(const struct tg_capacity_range *range, struct tg_view_capacity *c)
{
    bool has_min = false;

    c->policy = TG_POLICY_RANGE;
    return read(range->min, &c->min, &has_min) && read(range->max, &c->max, &c->has_max) &&
           read(range->step, &c->step, &c->has_step);
}

static bool read_values(const struct tg_capacity_policy *policy, __int128 *values,
                        struct tg_view_capacity *c)
{
    c->policy = TG_POLICY_VALUES;
    c->values = values;
    c->n_values = policy->valid_values.n;
    for (size_t i = 0; i < c->n_values; i++) {
        if (tg_nanos_parse(tg_or(policy->valid_values.items[i], ""), &values[i], NULL) < 0)
            return false;
    }
    return true;
}

static int read_policy(const char *text, struct tg_view_capacity *c, bool *ret_ok,
                       struct tg_arena *arena, struct tg_error *err)
{
    struct tg_capacity_policy *policy;
    __int128 *values;
    int rc = tg_capacity_policy_read(text, arena, &policy, err);

    *ret_ok = rc == 0;
    if (rc < 0)
        return rc == -TG_RESOURCE_EXHAUSTED ? rc : 0;
    c->has_policy = true;
    *ret_ok = read(policy->default_, &c->default_, &c->has_default);
    if (*ret_ok && policy->valid_range != NULL)
        *ret_ok = read_range(policy->valid_range, c);
    if (!*ret_ok || policy->valid_values.n == 0)
        return 0;
    rc = tg_core_alloc(arena, policy->valid_values.n, sizeof(*values), &values, err);
    if (rc == 0)
        *ret_ok = read_values(policy, values, c);
    return rc;
}

static void add_share(const struct tg_share *share, struct tg_view_capacity *c)
{
    for (size_t i = 0; i < share->n_consumed; i++) {
        __int128 amount = 0;

        if (!tg_streq(share->consumed[i].key, c->name))
            continue;
        c->used += tg_nanos_parse(tg_or(share->consumed[i].value, ""), &amount, NULL) < 0 ? c->value
                                                                                          : amount;
    }
}

int tg_node_capacity_of(const struct tg_held *held, struct tg_view_device *row,
                        struct tg_arena *arena, struct tg_error *err)
{
    int rc =
        tg_core_alloc(arena, row->object->capacity.n, sizeof(*row->capacity), &row->capacity, err);

    for (size_t i = 0; rc == 0 && i < row->object->capacity.n; i++) {
        const struct tg_keyed_capacity *keyed = &row->object->capacity.items[i];
        struct tg_view_capacity *c = &row->capacity[row->n_capacity++];
        bool ok = true;

        c->name = keyed->key;
        ok = tg_nanos_parse(tg_or(keyed->value.value, ""), &c->value, NULL) == 0;
        if (ok && keyed->value.request_policy != NULL)
            rc = read_policy(keyed->value.request_policy, c, &ok, arena, err);
        if (!ok)
            row->barred = "has a capacity that is no quantity";
        for (const struct tg_grant *g = held == NULL ? NULL : held->first; g != NULL;
             g = tg_grant_next(g)) {
            if (tg_grant_share(g) != NULL)
                add_share(g->share, c);
        }
    }
    return rc;
}
