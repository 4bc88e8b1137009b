/* SPDX-License-Identifier: Apache-2.0 */
/* Pools as one node sees them: the newest generation of which it sees anything; complete if all
 * slices of it are there, wherever they point (structured/internal/.../pools_*.go). */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static bool usable(const struct tg_check_view *view, const struct tg_resource_slice *slice)
{
    const struct tg_resource_slice_spec *spec = slice->spec;

    if (spec == NULL || spec->pool == NULL || spec->driver == NULL || spec->pool->name == NULL)
        return false;
    /* Without the feature such slices belong to something that is not understood. */
    return tg_check_has(view, TG_CHECK_PARTITIONABLE_DEVICES) ||
           (!spec->per_device_node_selection.set && spec->shared_counters.n == 0);
}

static int64_t generation_of(const struct tg_resource_slice *slice)
{
    return slice->spec->pool->generation.set ? slice->spec->pool->generation.value : 0;
}

static bool concerns_node(const struct tg_check_view *view, const struct tg_resource_slice *slice)
{
    static const struct tg_device none;
    const struct tg_resource_slice_spec *spec = slice->spec;

    if (!spec->per_device_node_selection.set || !spec->per_device_node_selection.value)
        return tg_check_device_on_node(view->in->node, slice, &none);
    for (size_t i = 0; i < spec->devices.n; i++) {
        if (tg_check_device_on_node(view->in->node, slice, &spec->devices.items[i]))
            return true;
    }
    return false;
}

struct tg_check_pool *tg_check_pool_named(const struct tg_check_view *view, const char *driver,
                                          const char *name)
{
    for (size_t i = 0; i < view->n_pools; i++) {
        if (tg_streq(view->pools[i].driver, driver) && tg_streq(view->pools[i].name, name))
            return &view->pools[i];
    }
    return NULL;
}

static bool of_pool(const struct tg_check_pool *pool, const struct tg_resource_slice *slice)
{
    const struct tg_resource_slice_spec *spec = slice->spec;

    return spec != NULL && spec->pool != NULL && tg_streq(spec->driver, pool->driver) &&
           tg_streq(spec->pool->name, pool->name);
}

/* The pools that have something for the node, each with its newest such generation. */
static int find_pools(struct tg_check_view *view)
{
    view->pools = tg_arena_alloc_array(view->arena, view->in->n_slices, sizeof(*view->pools));
    if (view->pools == NULL)
        return tg_check_no_memory(view);
    for (size_t i = 0; i < view->in->n_slices; i++) {
        const struct tg_resource_slice *slice = view->in->slices[i];
        struct tg_check_pool *pool;

        if (!usable(view, slice) || !concerns_node(view, slice))
            continue;
        pool = tg_check_pool_named(view, slice->spec->driver, slice->spec->pool->name);
        if (pool == NULL) {
            pool = &view->pools[view->n_pools++];
            *pool = (struct tg_check_pool){
                .driver = slice->spec->driver, .name = slice->spec->pool->name, .generation = -1};
        }
        if (generation_of(slice) < pool->generation)
            continue;
        if (generation_of(slice) > pool->generation)
            pool->n_here = 0;
        pool->generation = generation_of(slice);
        /* Which of two counts is right depends on an order that means nothing: none is. */
        if (pool->n_here++ == 0)
            pool->slice_count = slice->spec->pool->resource_slice_count.value;
        else if (pool->slice_count != slice->spec->pool->resource_slice_count.value)
            pool->slice_count = -1;
    }
    return 0;
}

/* The slices of a pool's generation; what is newer elsewhere. */
static int fill_pool(const struct tg_check_view *view, struct tg_check_pool *pool)
{
    const struct tg_check_input *in = view->in;
    bool newer = false;

    pool->slices = tg_arena_alloc_array(view->arena, in->n_slices, sizeof(*pool->slices));
    if (pool->slices == NULL)
        return tg_check_no_memory(view);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < in->n_slices; i++) {
            const struct tg_resource_slice *slice = in->slices[i];
            bool here;

            if (!of_pool(pool, slice))
                continue;
            newer = newer || generation_of(slice) > pool->generation;
            here = usable(view, slice) && concerns_node(view, slice);
            if (generation_of(slice) == pool->generation && here == (pass == 0))
                pool->slices[pool->n++] = slice;
        }
    }
    /* All that the node should see is there: news of other nodes changes nothing. */
    if ((int64_t)pool->n_here == pool->slice_count)
        pool->n = pool->n_here;
    else if (newer && in->minor > 34)
        pool->superseded = true;
    else if (newer || (int64_t)pool->n != pool->slice_count)
        pool->incomplete = true;
    return 0;
}

bool tg_check_is_mixed(const struct tg_check_view *view, const struct tg_resource_slice *slice)
{
    return (view->in->features & TG_CHECK_COUNTERS_BESIDE_DEVICES) != 0 &&
           slice->spec->shared_counters.n > 0 && slice->spec->devices.n > 0;
}

bool tg_check_has_devices(const struct tg_check_view *view, const struct tg_resource_slice *slice)
{
    return view->in->minor <= 34 || slice->spec->shared_counters.n == 0 ||
           tg_check_is_mixed(view, slice);
}

/* Is the device of the slice `s`, at `at`, in the pool once more, later on? */
static bool is_twice(const struct tg_check_view *view, const struct tg_check_pool *pool, size_t s,
                     size_t at)
{
    const char *name = pool->slices[s]->spec->devices.items[at].name;

    for (size_t i = s; i < pool->n_here; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        if (!tg_check_has_devices(view, pool->slices[i]))
            continue;
        for (size_t j = i == s ? at + 1 : 0; j < spec->devices.n; j++) {
            if (tg_streq(spec->devices.items[j].name, name))
                return true;
        }
    }
    return false;
}

/* Rules of which nothing is known here: which devices of a counter set may be given away beside
 * each other (alpha in 1.37). */
static bool has_groups(const struct tg_check_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        for (size_t j = 0; j < spec->devices.n; j++) {
            const struct tg_device *device = &spec->devices.items[j];

            for (size_t k = 0; k < device->consumes_counters.n; k++) {
                if (device->consumes_counters.items[k].compatibility_groups.n > 0)
                    return true;
            }
        }
    }
    return false;
}

static const char *contradiction(const struct tg_check_view *view, const struct tg_check_pool *pool)
{
    for (size_t i = 0; i < pool->n_here; i++) {
        const struct tg_resource_slice *slice = pool->slices[i];

        for (size_t j = 0; tg_check_has_devices(view, slice) && j < slice->spec->devices.n; j++) {
            if (is_twice(view, pool, i, j))
                return "the pool contradicts itself: two devices of one name";
        }
    }
    return tg_check_has(view, TG_CHECK_PARTITIONABLE_DEVICES) ? tg_check_counter_sets(view, pool)
                                                              : NULL;
}

int tg_check_pools(struct tg_check_view *view)
{
    int rc = find_pools(view);

    for (size_t i = 0; rc == 0 && i < view->n_pools; i++) {
        struct tg_check_pool *pool = &view->pools[i];

        rc = fill_pool(view, pool);
        if (rc == 0 && pool->incomplete && view->in->minor > 34)
            pool->broken = "the pool is incomplete: its driver is updating it";
        else if (rc == 0 && view->in->minor >= 37 && has_groups(pool))
            pool->broken = "the pool uses compatibilityGroups, which are not served";
        else if (rc == 0 && !pool->superseded)
            pool->broken = contradiction(view, pool);
    }
    return rc;
}
