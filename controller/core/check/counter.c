/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that the devices of a pool share (KEP-4815): what is left of each after everything that
 * anybody has, on any node. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static const struct tg_keyed_counter *counter_in(const struct tg_counter_set *set, const char *name)
{
    for (size_t i = 0; i < set->counters.n; i++) {
        if (tg_streq(set->counters.items[i].key, name))
            return &set->counters.items[i];
    }
    return NULL;
}

/* Counters of one slice count what devices of the other take: 1.34 has them in the same slice,
 * later releases anywhere in the pool. */
static bool in_scope(const struct tg_check_view *view, const struct tg_resource_slice *a,
                     const struct tg_resource_slice *b)
{
    return a == b ||
           (view->in->minor > 34 && !tg_check_is_mixed(view, a) && !tg_check_is_mixed(view, b));
}

/* The set that devices of the slice mean. ret_n: how many there are. */
static const struct tg_counter_set *set_named(const struct tg_check_view *view,
                                              const struct tg_check_pool *pool,
                                              const struct tg_resource_slice *of, const char *name,
                                              size_t *ret_n)
{
    const struct tg_counter_set *found = NULL;

    *ret_n = 0;
    for (size_t i = 0; i < pool->n; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        for (size_t j = 0; j < spec->shared_counters.n; j++) {
            if (!tg_streq(spec->shared_counters.items[j].name, name))
                continue;
            if (!in_scope(view, pool->slices[i], of))
                continue;
            found = &spec->shared_counters.items[j];
            (*ret_n)++;
        }
    }
    return found;
}

static const char *device_counters(const struct tg_check_view *view,
                                   const struct tg_check_pool *pool,
                                   const struct tg_resource_slice *slice,
                                   const struct tg_device *device)
{
    for (size_t i = 0; i < device->consumes_counters.n; i++) {
        const struct tg_counter_set *use = &device->consumes_counters.items[i];
        size_t n;
        const struct tg_counter_set *set = set_named(view, pool, slice, use->name, &n);

        if (set == NULL)
            return "the pool contradicts itself: a device consumes from a counter set that is not "
                   "there";
        for (size_t j = 0; j < use->counters.n; j++) {
            if (counter_in(set, use->counters.items[j].key) == NULL)
                return "the pool contradicts itself: a device consumes a counter that is not there";
        }
    }
    return NULL;
}

const char *tg_check_counter_sets(const struct tg_check_view *view,
                                  const struct tg_check_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) {
        const struct tg_resource_slice *slice = pool->slices[i];
        const struct tg_resource_slice_spec *spec = slice->spec;
        const char *why = NULL;

        for (size_t j = 0; j < spec->shared_counters.n; j++) {
            size_t n;

            set_named(view, pool, slice, spec->shared_counters.items[j].name, &n);
            if (n > 1)
                return "the pool contradicts itself: two counter sets of one name";
        }
        for (size_t j = 0; why == NULL && tg_check_has_devices(view, slice) && j < spec->devices.n;
             j++)
            why = device_counters(view, pool, slice, &spec->devices.items[j]);
        if (why != NULL)
            return why;
    }
    return NULL;
}

static bool is_held(const struct tg_check_view *view, const struct tg_check_pool *pool,
                    const char *device)
{
    for (size_t i = 0; i < view->in->n_held; i++) {
        const struct tg_check_held *h = &view->in->held[i];

        if (tg_streq(h->device, device) && tg_streq(h->pool, pool->name) &&
            tg_streq(h->driver, pool->driver))
            return true;
    }
    for (size_t i = 0; i < view->in->n_consumed; i++) {
        const struct tg_check_consumed *c = &view->in->consumed[i];

        if (tg_streq(c->device, device) && tg_streq(c->pool, pool->name) &&
            tg_streq(c->driver, pool->driver))
            return true;
    }
    return false;
}

static bool is_picked(const struct tg_check_view *view, const struct tg_device *device)
{
    for (size_t i = 0; i < view->n_picks; i++) {
        if (view->picks[i].device == device)
            return true;
    }
    return false;
}

/* Takes what the device consumes of the counter. false: no quantity. */
static bool take(const struct tg_device *device, const char *set, const char *counter,
                 struct tg_quantity *left)
{
    for (size_t i = 0; i < device->consumes_counters.n; i++) {
        const struct tg_counter_set *use = &device->consumes_counters.items[i];
        const struct tg_keyed_counter *c =
            tg_streq(use->name, set) ? counter_in(use, counter) : NULL;
        struct tg_quantity q;

        if (c != NULL && (tg_quantity_parse(tg_or(c->value.value, ""), &q, NULL) < 0 ||
                          tg_quantity_sub(left, &q, NULL) < 0))
            return false;
    }
    return true;
}

static int check_counter(const struct tg_check_view *view, const struct tg_check_pick *pick,
                         const struct tg_resource_slice *of, const char *set,
                         const struct tg_keyed_counter *counter)
{
    const struct tg_check_pool *pool = pick->pool;
    struct tg_quantity left, none = {0};
    bool good = tg_quantity_parse(tg_or(counter->value.value, ""), &left, NULL) == 0;

    for (size_t i = 0; good && i < pool->n; i++) {
        const struct tg_resource_slice *slice = pool->slices[i];

        if (!tg_check_has_devices(view, slice) || !in_scope(view, slice, of))
            continue;
        for (size_t j = 0; good && j < slice->spec->devices.n; j++) {
            const struct tg_device *d = &slice->spec->devices.items[j];

            if (d->consumes_counters.n > 0 && (is_picked(view, d) || is_held(view, pool, d->name)))
                good = take(d, set, counter->key, &left);
        }
    }
    if (good && tg_quantity_cmp(&left, &none) >= 0)
        return 0;
    return tg_check_broken(view, "Counters", pick->ask->claim, pick->ask, pick,
                           "all devices in use together take more than there is of counter %s of "
                           "set %s",
                           counter->key, set);
}

/* The counters that the device may have taken from. Others of the pool may be overdrawn by what
 * somebody has already; nothing is taken from those. */
static int check_pool(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < pick->pool->n; i++) {
        const struct tg_resource_slice *slice = pick->pool->slices[i];

        if (!in_scope(view, slice, pick->slice))
            continue;
        for (size_t j = 0; rc == 0 && j < slice->spec->shared_counters.n; j++) {
            const struct tg_counter_set *set = &slice->spec->shared_counters.items[j];

            for (size_t k = 0; rc == 0 && k < set->counters.n; k++)
                rc = check_counter(view, pick, slice, set->name, &set->counters.items[k]);
        }
    }
    return rc;
}

static bool is_checked(const struct tg_check_view *view, const struct tg_check_pick *pick)
{
    const struct tg_resource_slice *checked = pick->pool->counters_checked;

    return checked != NULL && in_scope(view, checked, pick->slice);
}

int tg_check_counters(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; i < view->n_pools; i++)
        view->pools[i].counters_checked = NULL;
    for (size_t i = 0; rc == 0 && i < view->n_picks; i++) {
        struct tg_check_pick *pick = &view->picks[i];

        /* A further share of a device costs nothing more. */
        if (pick->device->consumes_counters.n == 0 || is_checked(view, pick) ||
            (pick->shared && is_held(view, pick->pool, pick->device->name)))
            continue;
        pick->pool->counters_checked = pick->slice;
        rc = check_pool(view, pick);
    }
    return rc;
}
