/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_pool.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/node_match.h"
#include "controller/core/model/sort.h"

/* Counter sets had to be in the slices of their devices until 1.34 (dra-api 2.3). */
#define RELEASE_OF_COUNTER_SLICES 35

int64_t tg_slice_generation(const struct tg_resource_slice *slice)
{
    return slice->spec->pool->generation.set ? slice->spec->pool->generation.value : 0;
}

static bool has_selection(const struct tg_resource_slice_spec *spec)
{
    return (spec->node_name != NULL && spec->node_name[0] != '\0') ||
           (spec->all_nodes.set && spec->all_nodes.value) || spec->node_selector != NULL;
}

static bool any_device_matches(const struct tg_resource_slice_spec *spec,
                               const struct tg_node *node)
{
    for (size_t i = 0; i < spec->devices.n; i++) {
        const struct tg_device *device = &spec->devices.items[i];

        if (tg_node_matches(node, device->node_name,
                            device->all_nodes.set && device->all_nodes.value,
                            device->node_selector))
            return true;
    }
    return false;
}

/* Has the slice devices for the node? One without any selection that we know has none: it is of an
 * extension that came later. */
static bool is_for_node(const struct tg_resource_slice_spec *spec, const struct tg_node *node)
{
    if (has_selection(spec))
        return tg_node_matches(node, spec->node_name, spec->all_nodes.set && spec->all_nodes.value,
                               spec->node_selector);
    return spec->per_device_node_selection.set && spec->per_device_node_selection.value &&
           any_device_matches(spec, node);
}

static bool is_ignored(const struct tg_resource_slice_spec *spec, const struct tg_rules *rules)
{
    if (tg_rules_have(rules, TG_FEATURE_PARTITIONABLE_DEVICES))
        return false;
    return spec->per_device_node_selection.set ||
           (spec->shared_counters.n > 0 && rules->release >= RELEASE_OF_COUNTER_SLICES);
}

static bool holds_counters_only(const struct tg_resource_slice_spec *spec,
                                const struct tg_rules *rules)
{
    return spec->shared_counters.n > 0 && rules->release >= RELEASE_OF_COUNTER_SLICES;
}

/* Slices come newest first, so the first one for the node has the generation that counts. A slice
 * of counters is for the nodes that it names, as any other (from 1.37 on; earlier releases let it
 * count for every node, and so took devices from a generation that was no longer the newest). */
static bool find_generation(const struct tg_fleet_pool *pool, const struct tg_node *node,
                            const struct tg_rules *rules, int64_t *ret)
{
    for (size_t i = 0; i < pool->n_slices; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        if (is_ignored(spec, rules) || !is_for_node(spec, node))
            continue;
        *ret = tg_slice_generation(pool->slices[i]);
        return true;
    }
    return false;
}

struct slices {
    const struct tg_resource_slice **items;
    size_t n;
};

static int gather(const struct tg_fleet_pool *pool, const struct tg_node *node,
                  const struct tg_rules *rules, int64_t generation, struct tg_arena *arena,
                  struct tg_node_pool *ret, struct slices *relevant, struct tg_error *err)
{
    int rc = tg_core_alloc(arena, pool->n_slices, sizeof(*ret->own), &ret->own, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, pool->n_slices, sizeof(*ret->all), &ret->all, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, pool->n_slices, sizeof(*relevant->items), &relevant->items, err);
    for (size_t i = 0; rc == 0 && i < pool->n_slices; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        if (tg_slice_generation(pool->slices[i]) != generation)
            continue;
        ret->all[ret->n_all++] = pool->slices[i];
        if (is_ignored(spec, rules) || !is_for_node(spec, node))
            continue;
        relevant->items[relevant->n++] = pool->slices[i];
        if (!holds_counters_only(spec, rules))
            ret->own[ret->n_own++] = pool->slices[i];
    }
    return rc;
}

/* Each slice must say how many they are. Where they contradict each other the built-in allocator
 * believes one of them; here nothing is known then. */
static bool are_complete(const struct tg_resource_slice *const *slices, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_opt_int *count = &slices[i]->spec->pool->resource_slice_count;

        if (!count->set || count->value < 0 || (uint64_t)count->value != n)
            return false;
    }
    return n > 0;
}

static int compare_names(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_device *)a)->name, ((const struct tg_device *)b)->name);
}

/* *ret_twice: the name that two devices of these slices have, or NULL. */
static int find_twin(struct tg_node_pool *p, struct tg_arena *arena, const char **ret_twice,
                     struct tg_error *err)
{
    const void **order;
    size_t n = 0;
    int rc = 0;

    *ret_twice = NULL;
    for (size_t i = 0; i < p->n_own; i++)
        n += p->own[i]->spec->devices.n;
    rc = tg_core_alloc(arena, n, sizeof(*order), &order, err);
    if (rc < 0)
        return rc;
    n = 0;
    for (size_t i = 0; i < p->n_own; i++) {
        const struct tg_resource_slice_spec *spec = p->own[i]->spec;

        for (size_t k = 0; k < spec->devices.n; k++) {
            const struct tg_device *device = &spec->devices.items[k];

            p->has_binding = p->has_binding || device->binding_conditions.n > 0;
            if (device->name != NULL)
                order[n++] = device;
        }
    }
    rc = tg_core_sort(order, n, compare_names, NULL, arena, err);
    for (size_t i = 1; rc == 0 && i < n && *ret_twice == NULL; i++) {
        if (compare_names(order[i - 1], order[i], NULL) == 0)
            *ret_twice = ((const struct tg_device *)order[i])->name;
    }
    return rc;
}

static int judge_names(struct tg_node_pool *p, struct tg_arena *arena, struct tg_error *err)
{
    const char *twice = NULL;
    int rc = find_twin(p, arena, &twice, err);

    if (rc < 0 || twice == NULL)
        return rc;
    p->state = TG_POOL_INVALID;
    p->why = tg_arena_printf(arena, "has two devices named %s", twice);
    return p->why == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                         "the decision needs more memory than its budget")
                          : 0;
}

int tg_node_pool_judge(const struct tg_fleet_pool *pool, const struct tg_node *node,
                       const struct tg_rules *rules, struct tg_arena *arena,
                       struct tg_node_pool *ret, bool *ret_seen, struct tg_error *err)
{
    int64_t generation = 0;
    struct slices relevant = {.n = 0};
    int rc = 0;

    *ret = (struct tg_node_pool){.pool = pool, .state = TG_POOL_USABLE};
    *ret_seen = find_generation(pool, node, rules, &generation);
    if (!*ret_seen)
        return 0;
    rc = gather(pool, node, rules, generation, arena, ret, &relevant, err);
    if (rc < 0)
        return rc;
    /* What the node sees is all there is of the generation. Otherwise look at every slice of the
     * pool, which release 34 did not: a newer generation elsewhere makes what is here obsolete. */
    if (!are_complete(relevant.items, relevant.n)) {
        bool looks = rules->release >= RELEASE_OF_COUNTER_SLICES;

        if (looks && tg_slice_generation(pool->slices[0]) > generation) {
            *ret_seen = false;
            return 0;
        }
        if (!looks || !are_complete(ret->all, ret->n_all)) {
            ret->state = TG_POOL_INCOMPLETE;
            ret->why = "incomplete";
        }
    }
    return ret->state == TG_POOL_INCOMPLETE && rules->release >= RELEASE_OF_COUNTER_SLICES
               ? 0
               : judge_names(ret, arena, err);
}
