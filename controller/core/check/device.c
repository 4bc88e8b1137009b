/* SPDX-License-Identifier: Apache-2.0 */
/* One result: its device is there, may be had, and is described as it is. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

bool tg_check_may_be_shared(const struct tg_check_view *view, const struct tg_device *device)
{
    return tg_check_has(view, TG_CHECK_CONSUMABLE_CAPACITY) &&
           device->allow_multiple_allocations.set && device->allow_multiple_allocations.value;
}

static int find_device(struct tg_check_view *view, struct tg_check_pick *pick)
{
    const struct tg_allocation_device *r = pick->result;
    size_t claim = pick->ask->claim;

    pick->pool = tg_check_pool_named(view, r->driver, r->pool);
    if (pick->pool == NULL)
        return tg_check_broken(view, "Node", claim, pick->ask, pick,
                               "the pool has nothing for node %s", view->in->node->metadata->name);
    if (pick->pool->superseded || pick->pool->broken != NULL)
        return tg_check_broken(view, "Pool", claim, pick->ask, pick, "%s",
                               tg_or(pick->pool->broken, "a newer generation of the pool is out"));
    for (size_t i = 0; i < pick->pool->n_here; i++) {
        const struct tg_resource_slice *slice = pick->pool->slices[i];

        for (size_t j = 0; tg_check_has_devices(view, slice) && j < slice->spec->devices.n; j++) {
            if (!tg_streq(slice->spec->devices.items[j].name, r->device))
                continue;
            pick->slice = slice;
            pick->device = &slice->spec->devices.items[j];
        }
    }
    if (pick->device == NULL)
        return tg_check_broken(view, "Unknown", claim, pick->ask, pick,
                               "the pool has no such device for node %s",
                               view->in->node->metadata->name);
    if (!tg_check_device_on_node(view->in->node, pick->slice, pick->device))
        return tg_check_broken(view, "Node", claim, pick->ask, pick,
                               "the device is out of reach of node %s",
                               view->in->node->metadata->name);
    pick->shared = tg_check_may_be_shared(view, pick->device);
    return 0;
}

static int compiled(struct tg_check_view *view, const char *expression, struct tg_selector **ret)
{
    const struct tg_selector_options options = {.minor = view->in->minor, .zones = view->in->zones};
    struct tg_check_selector *s = view->selectors;
    int rc;

    while (s != NULL && strcmp(s->expression, expression) != 0)
        s = s->next;
    if (s == NULL) {
        s = tg_arena_alloc(view->arena, sizeof(*s));
        if (s == NULL)
            return tg_check_no_memory(view);
        rc = tg_selector_compile_with(expression, &options, view->arena, &s->selector, view->err);
        if (rc < 0)
            return rc;
        s->expression = expression;
        s->next = view->selectors;
        view->selectors = s;
    }
    *ret = s->selector;
    return 0;
}

/* Negative with the error of the expression, not yet of the rule. */
static int all_true(struct tg_check_view *view, const struct tg_device_selector *selectors,
                    size_t n, const char *driver, const struct tg_device *device, bool *ret)
{
    *ret = true;
    for (size_t i = 0; *ret && i < n; i++) {
        struct tg_selector *selector = NULL;
        int rc;

        if (selectors[i].cel == NULL || selectors[i].cel->expression == NULL)
            return tg_error_set(view->err, TG_INVALID_ARGUMENT, "a selector that is not CEL");
        rc = compiled(view, selectors[i].cel->expression, &selector);
        if (rc == 0)
            rc = tg_selector_matches(selector, driver, device, ret, view->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int tg_check_selectable(struct tg_check_view *view, const struct tg_check_ask *ask,
                        const struct tg_resource_slice *slice, const struct tg_device *device,
                        bool *ret)
{
    const char *driver = slice->spec->driver;
    int rc;

    *ret = false;
    if (!tg_check_has(view, TG_CHECK_BINDING_CONDITIONS) && device->binding_conditions.n > 0)
        return 0;
    rc = ask->klass->spec == NULL ? 0
                                  : all_true(view, ask->klass->spec->selectors.items,
                                             ask->klass->spec->selectors.n, driver, device, ret);
    if (rc == 0 && *ret)
        rc = all_true(view, ask->exact->selectors.items, ask->exact->selectors.n, driver, device,
                      ret);
    if (rc == 0 && *ret)
        *ret = tg_check_device_on_node(view->in->node, slice, device);
    if (rc < 0 && rc != -TG_RESOURCE_EXHAUSTED) {
        struct tg_error why = view->err == NULL ? TG_ERROR_INIT : *view->err;

        return tg_check_broken(view, "Selector", ask->claim, ask, NULL, "on device %s/%s/%s: %s",
                               driver, slice->spec->pool->name, device->name, why.message);
    }
    return rc;
}

static int check_selectors(struct tg_check_view *view, const struct tg_check_pick *pick)
{
    bool match = false;
    int rc = tg_check_selectable(view, pick->ask, pick->slice, pick->device, &match);

    if (rc < 0 || match)
        return rc;
    if (!tg_check_has(view, TG_CHECK_BINDING_CONDITIONS) && pick->device->binding_conditions.n > 0)
        return tg_check_broken(view, "Feature", pick->ask->claim, pick->ask, pick,
                               "binding conditions are not switched on");
    return tg_check_broken(view, "Selector", pick->ask->claim, pick->ask, pick,
                           "class or request select other devices");
}

/* KEP-5055: an unset key, value or effect of a toleration matches any. */
static bool tolerates(const struct tg_toleration *t, const struct tg_taint *taint)
{
    const char *operator_ = tg_or(t->operator_, "");

    if (*tg_or(t->effect, "") != '\0' && !tg_streq(t->effect, taint->effect))
        return false;
    if (*tg_or(t->key, "") != '\0' && !tg_streq(t->key, taint->key))
        return false;
    if (strcmp(operator_, "Exists") == 0)
        return true;
    return (*operator_ == '\0' || strcmp(operator_, "Equal") == 0) &&
           strcmp(tg_or(t->value, ""), tg_or(taint->value, "")) == 0;
}

static int check_taint(const struct tg_check_view *view, const struct tg_check_pick *pick,
                       const struct tg_taint *taint)
{
    const struct tg_exact_request *exact = pick->ask->exact;

    if (view->in->minor > 34 && !tg_streq(taint->effect, "NoSchedule") &&
        !tg_streq(taint->effect, "NoExecute"))
        return 0;
    for (size_t i = 0; i < exact->tolerations.n; i++) {
        if (tolerates(&exact->tolerations.items[i], taint))
            return 0;
    }
    return tg_check_broken(view, "Taint", pick->ask->claim, pick->ask, pick,
                           "the taint %s=%s:%s is not tolerated", tg_or(taint->key, ""),
                           tg_or(taint->value, ""), tg_or(taint->effect, ""));
}

static bool rule_concerns(const struct tg_device_taint_rule *rule, const struct tg_check_pick *pick)
{
    const struct tg_device_taint_selector *s;

    if (rule->spec == NULL || rule->spec->taint == NULL || rule->spec->device_selector == NULL)
        return false;
    s = rule->spec->device_selector;
    return (s->driver == NULL || tg_streq(s->driver, pick->result->driver)) &&
           (s->pool == NULL || tg_streq(s->pool, pick->result->pool)) &&
           (s->device == NULL || tg_streq(s->device, pick->result->device));
}

static int check_taints(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    int rc = 0;

    if (!tg_check_has(view, TG_CHECK_DEVICE_TAINTS))
        return 0;
    for (size_t i = 0; rc == 0 && i < pick->device->taints.n; i++)
        rc = check_taint(view, pick, &pick->device->taints.items[i]);
    for (size_t i = 0; rc == 0 && i < view->in->n_taint_rules; i++) {
        if (rule_concerns(view->in->taint_rules[i], pick))
            rc = check_taint(view, pick, view->in->taint_rules[i]->spec->taint);
    }
    return rc;
}

static bool same_names(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    bool same = n_a == n_b;

    for (size_t i = 0; same && i < n_a; i++)
        same = tg_streq(a[i], b[i]);
    return same;
}

static bool same_tolerations(const struct tg_check_pick *pick)
{
    const struct tg_toleration *a = pick->ask->exact->tolerations.items;
    const struct tg_toleration *b = pick->result->tolerations.items;
    bool same = pick->ask->exact->tolerations.n == pick->result->tolerations.n;

    for (size_t i = 0; same && i < pick->result->tolerations.n; i++)
        same = tg_streq(a[i].key, b[i].key) && tg_streq(a[i].value, b[i].value) &&
               tg_streq(a[i].effect, b[i].effect) &&
               strcmp(tg_or(a[i].operator_, "Equal"), tg_or(b[i].operator_, "Equal")) == 0 &&
               a[i].toleration_seconds.set == b[i].toleration_seconds.set &&
               (!a[i].toleration_seconds.set ||
                a[i].toleration_seconds.value == b[i].toleration_seconds.value);
    return same;
}

/* What the result repeats of device and request. */
static int check_copies(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    const struct tg_allocation_device *r = pick->result;
    const struct tg_device *d = pick->device;

    if ((r->admin_access.set && r->admin_access.value) != pick->ask->admin)
        return tg_check_broken(view, "AdminAccess", pick->ask->claim, pick->ask, pick,
                               pick->ask->admin ? "adminAccess is asked for and missing"
                                                : "adminAccess without being asked for");
    if (!same_tolerations(pick))
        return tg_check_broken(view, "Tolerations", pick->ask->claim, pick->ask, pick,
                               "the tolerations are not those of the request");
    if (!same_names(r->binding_conditions.items, r->binding_conditions.n,
                    d->binding_conditions.items, d->binding_conditions.n))
        return tg_check_broken(view, "BindingConditions", pick->ask->claim, pick->ask, pick,
                               "the binding conditions are not those of the device");
    if (tg_check_has(view, TG_CHECK_BINDING_CONDITIONS) &&
        !same_names(r->binding_failure_conditions.items, r->binding_failure_conditions.n,
                    d->binding_failure_conditions.items, d->binding_failure_conditions.n))
        return tg_check_broken(view, "BindingConditions", pick->ask->claim, pick->ask, pick,
                               "the binding failure conditions are not those of the device");
    return 0;
}

static bool is_device(const struct tg_check_pick *pick, const char *driver, const char *pool,
                      const char *device)
{
    return tg_streq(pick->result->device, device) && tg_streq(pick->result->pool, pool) &&
           tg_streq(pick->result->driver, driver);
}

/* Others have it. */
static int check_held(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    for (size_t i = 0; !pick->ask->admin && i < view->in->n_held; i++) {
        const struct tg_check_held *h = &view->in->held[i];

        if (!is_device(pick, h->driver, h->pool, h->device))
            continue;
        if (h->share_id == NULL)
            return tg_check_broken(view, "InUse", pick->ask->claim, pick->ask, pick,
                                   "another claim has the device");
        if (!pick->shared)
            return tg_check_broken(view, "InUse", pick->ask->claim, pick->ask, pick,
                                   "another claim has a share of the device");
    }
    return 0;
}

/* Two results of one device. */
static int check_pair(const struct tg_check_view *view, const struct tg_check_pick *a,
                      const struct tg_check_pick *b)
{
    if (b->shared) {
        /* From 1.36 on each device of a request is another one. */
        if (a->ask == b->ask && view->in->minor > 35)
            return tg_check_broken(view, "InUse", b->ask->claim, b->ask, b,
                                   "the request has the device twice");
        return 0;
    }
    if (a->ask->claim == b->ask->claim)
        return tg_check_broken(view, "InUse", b->ask->claim, b->ask, b,
                               "the claim has the device twice");
    if (!a->ask->admin && !b->ask->admin)
        return tg_check_broken(view, "InUse", b->ask->claim, b->ask, b,
                               "two of the claims have the device");
    return 0;
}

static int check_twice(const struct tg_check_view *view, struct tg_check_pick *pick)
{
    int rc = 0;

    pick->first = true;
    for (const struct tg_check_pick *p = view->picks; rc == 0 && p < pick; p++) {
        if (!is_device(p, pick->result->driver, pick->result->pool, pick->result->device))
            continue;
        pick->first = false;
        rc = check_pair(view, p, pick);
    }
    return rc;
}

static int check_pick(struct tg_check_view *view, struct tg_check_pick *pick)
{
    int rc = find_device(view, pick);

    if (rc == 0)
        rc = check_held(view, pick);
    if (rc == 0)
        rc = check_twice(view, pick);
    if (rc == 0)
        rc = check_selectors(view, pick);
    if (rc == 0 && pick->device->consumes_counters.n > 0 &&
        !tg_check_has(view, TG_CHECK_PARTITIONABLE_DEVICES))
        rc = tg_check_broken(view, "Feature", pick->ask->claim, pick->ask, pick,
                             "partitionable devices are not switched on");
    return rc == 0 ? check_taints(view, pick) : rc;
}

int tg_check_devices(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_picks; i++)
        rc = check_pick(view, &view->picks[i]);
    return rc;
}

int tg_check_copies(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_picks; i++)
        rc = check_copies(view, &view->picks[i]);
    return rc;
}
