/* SPDX-License-Identifier: Apache-2.0 */
/* I1, counters: what is held of a pool takes no more of a shared counter than the newest complete
 * pool offers. Placements that overlap on a card take the same counters (KEP-4815). */
#include <stdlib.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "controller/audit/parts.h"

#define NAMES_MAX 256 /* bytes of device names in a text */

static int64_t generation(const struct tg_resource_slice *slice)
{
    return slice->spec->pool->generation.value;
}

static int compare_pool(const struct tg_resource_slice *slice, const char *driver, const char *pool)
{
    int order = tg_strcmp(slice->spec->driver, driver);

    return order != 0 ? order : tg_strcmp(slice->spec->pool->name, pool);
}

/* By pool, newest generation first, then by name. */
static int compare_slices(const void *pa, const void *pb)
{
    const struct tg_resource_slice *a = *(const struct tg_resource_slice *const *)pa;
    const struct tg_resource_slice *b = *(const struct tg_resource_slice *const *)pb;
    int order = compare_pool(a, b->spec->driver, b->spec->pool->name);

    if (order == 0)
        order = (generation(a) < generation(b)) - (generation(a) > generation(b));
    return order != 0 ? order : tg_strcmp(a->metadata->name, b->metadata->name);
}

static const struct tg_resource_slice **sorted(struct tg_auditing *a, size_t *ret_n)
{
    const struct tg_view_list *list = &a->view->lists[TG_VIEW_SLICE];
    const struct tg_resource_slice **slices =
        tg_arena_alloc_array(a->arena, list->n, sizeof(*slices));

    *ret_n = 0;
    for (size_t i = 0; slices != NULL && i < list->n; i++) {
        const struct tg_resource_slice *slice = list->items[i];

        if (slice->spec != NULL && slice->spec->pool != NULL)
            slices[(*ret_n)++] = slice;
    }
    if (*ret_n > 0)
        qsort(slices, *ret_n, sizeof(const void *), compare_slices);
    return slices;
}

/* Is the device held? The holds of a pool are sorted by device. */
static bool is_held(const struct tg_audit_pool *pool, const char *device)
{
    size_t low = 0, high = pool->n_holds;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tg_strcmp(pool->holds[middle].result->device, device) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pool->n_holds && tg_streq(pool->holds[low].result->device, device);
}

/* Devices and counters in one slice: a server of 1.34 has kept it, and they are each other's only.
 */
static bool is_mixed(const struct tg_resource_slice *slice)
{
    return slice->spec->devices.n > 0 && slice->spec->shared_counters.n > 0;
}

/* What held devices take of one counter of the slice; *ret_names: theirs. False: a quantity does
 * not parse, or nobody takes any. */
static bool sum(const struct tg_audit_pool *pool, const struct tg_resource_slice *slice,
                const char *set, const char *counter, struct tg_quantity *ret,
                struct tg_buf *ret_names)
{
    struct tg_quantity value;
    bool any = false;

    for (size_t i = 0; i < pool->n; i++) {
        if ((is_mixed(slice) || is_mixed(pool->slices[i])) && pool->slices[i] != slice)
            continue;
        for (size_t j = 0; j < pool->slices[i]->spec->devices.n; j++) {
            const struct tg_device *device = &pool->slices[i]->spec->devices.items[j];

            for (size_t k = 0; k < device->consumes_counters.n; k++) {
                const struct tg_counter_set *from = &device->consumes_counters.items[k];

                for (size_t l = 0; tg_streq(from->name, set) && l < from->counters.n; l++) {
                    if (!tg_streq(from->counters.items[l].key, counter) ||
                        !is_held(pool, device->name))
                        continue;
                    if (tg_quantity_parse(tg_or(from->counters.items[l].value.value, ""), &value,
                                          NULL) < 0 ||
                        tg_quantity_add(ret, &value, NULL) < 0)
                        return false;
                    tg_buf_printf(ret_names, "%s%s", any ? ", " : "", device->name);
                    any = true;
                }
            }
        }
    }
    return any;
}

static int check_counter(struct tg_auditing *a, const struct tg_audit_pool *pool,
                         const struct tg_resource_slice *slice, const char *set,
                         const struct tg_keyed_counter *counter)
{
    TG_AUTOBUF struct tg_buf names = TG_BUF_INIT(NAMES_MAX);
    struct tg_quantity offered, taken = {0};
    char text[TG_QUANTITY_TEXT];

    if (tg_quantity_parse(tg_or(counter->value.value, ""), &offered, NULL) < 0 ||
        !sum(pool, slice, set, counter->key, &taken, &names) ||
        tg_quantity_cmp(&taken, &offered) <= 0)
        return 0;
    if (tg_quantity_format(&taken, text, sizeof(text)) < 0)
        text[0] = '\0';
    return tg_audit_found(a, TG_FOUND_COUNTERS_EXCEEDED, &tg_kind_resource_slice, slice->metadata,
                          "counter %s of set %s in pool %s/%s offers %s, and allocated devices "
                          "take %s: %s",
                          counter->key, set, tg_or(slice->spec->driver, ""),
                          slice->spec->pool->name, counter->value.value, text, tg_buf_str(&names));
}

static int check_pool(struct tg_auditing *a, const struct tg_audit_pool *pool)
{
    const struct tg_opt_int want = pool->slices[0]->spec->pool->resource_slice_count;
    int r = 0;

    /* Of a pool that is being published nothing is known yet. */
    if (!want.set || (size_t)want.value != pool->n)
        return 0;
    for (size_t i = 0; i < pool->n; i++)
        for (size_t j = 0; j < pool->slices[i]->spec->shared_counters.n; j++) {
            const struct tg_counter_set *set = &pool->slices[i]->spec->shared_counters.items[j];

            for (size_t k = 0; r == 0 && k < set->counters.n; k++)
                r = check_counter(a, pool, pool->slices[i], tg_or(set->name, ""),
                                  &set->counters.items[k]);
        }
    if (r == 0)
        r = tg_audit_shares(a, pool);
    return r < 0 ? r : tg_audit_windows(a, pool);
}

/* The slices of the newest generation of a pool, from the sorted ones. */
static void find_pool(const struct tg_resource_slice **slices, size_t n, const char *driver,
                      const char *name, struct tg_audit_pool *ret)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_pool(slices[middle], driver, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    ret->slices = &slices[low];
    ret->n = 0;
    while (low + ret->n < n && compare_pool(slices[low + ret->n], driver, name) == 0 &&
           generation(slices[low + ret->n]) == generation(slices[low]))
        ret->n++;
}

int tg_audit_pools(struct tg_auditing *a)
{
    size_t n, end;
    const struct tg_resource_slice **slices = sorted(a, &n);
    int r = 0;

    if (slices == NULL)
        return tg_audit_out_of_memory(a);
    for (size_t i = 0; r == 0 && i < a->n_holds; i = end) {
        const struct tg_allocation_device *first = a->holds[i].result;
        struct tg_audit_pool pool = {.holds = &a->holds[i]};

        for (end = i; end < a->n_holds && tg_streq(a->holds[end].result->driver, first->driver) &&
                      tg_streq(a->holds[end].result->pool, first->pool);
             end++)
            pool.n_holds++;
        find_pool(slices, n, first->driver, first->pool, &pool);
        if (pool.n > 0)
            r = check_pool(a, &pool);
    }
    return r;
}
