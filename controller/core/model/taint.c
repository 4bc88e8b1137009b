/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/taint.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/sort.h"

static const struct tg_taint unhealthy = {.key = TG_TAINT_UNHEALTHY_KEY,
                                          .effect = TG_EFFECT_NO_SCHEDULE};

bool tg_taint_blocks(const struct tg_taint *taint)
{
    return tg_streq(taint->effect, TG_EFFECT_NO_SCHEDULE) ||
           tg_streq(taint->effect, TG_EFFECT_NO_EXECUTE);
}

static bool empty_or_equal(const char *wanted, const char *have)
{
    return wanted == NULL || wanted[0] == '\0' || tg_streq(wanted, have);
}

static bool tolerates(const struct tg_toleration *t, const struct tg_taint *taint)
{
    const char *operator_ = tg_or(t->operator_, "Equal");

    if (!empty_or_equal(t->effect, taint->effect) || !empty_or_equal(t->key, taint->key))
        return false;
    if (strcmp(operator_, "Exists") == 0)
        return true;
    return strcmp(operator_, "Equal") == 0 &&
           strcmp(tg_or(t->value, ""), tg_or(taint->value, "")) == 0;
}

bool tg_taint_tolerated(const struct tg_taint *taint, const struct tg_toleration *tolerations,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (tolerates(&tolerations[i], taint))
            return true;
    }
    return false;
}

static bool rule_selects(const struct tg_device_taint_rule *rule,
                         const struct tg_taint_query *query)
{
    const struct tg_device_taint_selector *s =
        rule->spec == NULL ? NULL : rule->spec->device_selector;

    if (s == NULL || rule->spec->taint == NULL)
        return false;
    return (s->driver == NULL || tg_streq(s->driver, query->driver)) &&
           (s->pool == NULL || tg_streq(s->pool, query->pool)) &&
           (s->device == NULL || tg_streq(s->device, query->device->name));
}

static bool is_unhealthy(const struct tg_taint_query *query)
{
    const struct tg_device_attribute *a = tg_attribute_own(query->device, query->driver, "healthy");

    return a != NULL && a->bool_.set && !a->bool_.value;
}

struct gathering {
    const struct tg_taint_query *query;
    const struct tg_taint **taints; /* NULL: only counts */
    size_t n;
};

static void take(struct gathering *g, const struct tg_taint *taint)
{
    if (!g->query->any_effect && !tg_taint_blocks(taint))
        return;
    if (g->taints != NULL)
        g->taints[g->n] = taint;
    g->n++;
}

static size_t gather(const struct tg_fleet *fleet, const struct tg_taint_query *query,
                     const struct tg_taint **taints)
{
    struct gathering g = {.query = query, .taints = taints};

    for (size_t i = 0; query->published && i < query->device->taints.n; i++)
        take(&g, &query->device->taints.items[i]);
    for (size_t i = 0; query->published && i < fleet->n_taint_rules; i++) {
        if (rule_selects(fleet->taint_rules[i], query))
            take(&g, fleet->taint_rules[i]->spec->taint);
    }
    if (is_unhealthy(query))
        take(&g, &unhealthy);
    return g.n;
}

int tg_taint_collect(const struct tg_fleet *fleet, const struct tg_taint_query *query,
                     struct tg_arena *arena, const struct tg_taint *const **ret, size_t *ret_n,
                     struct tg_error *err)
{
    const struct tg_taint **taints = NULL;
    int rc = 0;

    *ret = NULL;
    *ret_n = gather(fleet, query, NULL);
    if (*ret_n > 0)
        rc = tg_core_alloc(arena, *ret_n, sizeof(struct tg_taint *), &taints, err);
    if (rc < 0)
        return rc;
    if (taints != NULL)
        gather(fleet, query, taints);
    *ret = taints;
    return 0;
}
