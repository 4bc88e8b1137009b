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
                         const struct tg_fleet_device *device)
{
    const struct tg_device_taint_selector *s =
        rule->spec == NULL ? NULL : rule->spec->device_selector;

    if (s == NULL || rule->spec->taint == NULL || !tg_taint_blocks(rule->spec->taint))
        return false;
    return (s->driver == NULL || strcmp(s->driver, device->driver) == 0) &&
           (s->pool == NULL || strcmp(s->pool, device->pool) == 0) &&
           (s->device == NULL || strcmp(s->device, device->name) == 0);
}

static bool is_unhealthy(const struct tg_fleet_device *device)
{
    const struct tg_device_attribute *a =
        tg_attribute_own(device->object, device->driver, "healthy");

    return a != NULL && a->bool_.set && !a->bool_.value;
}

/* With taints NULL it only counts. */
static size_t gather(const struct tg_fleet_device *device,
                     const struct tg_device_taint_rule *const *rules, size_t n_rules,
                     const struct tg_taint **taints)
{
    size_t n = 0;

    for (size_t i = 0; i < device->object->taints.n; i++) {
        const struct tg_taint *taint = &device->object->taints.items[i];

        if (tg_taint_blocks(taint)) {
            if (taints != NULL)
                taints[n] = taint;
            n++;
        }
    }
    for (size_t i = 0; i < n_rules; i++) {
        if (rule_selects(rules[i], device)) {
            if (taints != NULL)
                taints[n] = rules[i]->spec->taint;
            n++;
        }
    }
    if (is_unhealthy(device)) {
        if (taints != NULL)
            taints[n] = &unhealthy;
        n++;
    }
    return n;
}

int tg_taint_collect(struct tg_fleet_device *device,
                     const struct tg_device_taint_rule *const *rules, size_t n_rules,
                     struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    device->n_taints = gather(device, rules, n_rules, NULL);
    if (device->n_taints == 0)
        return 0;
    rc = tg_core_alloc(arena, device->n_taints, sizeof(*device->taints), &device->taints, err);
    if (rc == 0)
        gather(device, rules, n_rules, device->taints);
    return rc;
}
