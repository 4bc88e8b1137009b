/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and the pools that they make up. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/model.h"

static bool is_true(struct tg_opt_bool value)
{
    return value.set && value.value;
}

/* --- pools --- */

struct pool_key {
    const char *driver, *name;
};

static uint64_t pool_hash(const struct pool_key *key)
{
    return tg_hash_text(tg_hash_text(TG_HASH_SEED, key->driver), key->name);
}

static bool is_pool(const struct tg_record *record, const void *key)
{
    const struct tg_fleet_pool *pool = (const struct tg_fleet_pool *)record;
    const struct pool_key *k = key;

    return strcmp(pool->driver, k->driver) == 0 && strcmp(pool->name, k->name) == 0;
}

struct tg_fleet_pool *tg_fleet_pool_find(const struct tg_model *model, const char *driver,
                                         const char *name)
{
    const struct pool_key key = {.driver = driver, .name = name};

    if (driver == NULL || name == NULL)
        return NULL;
    return (struct tg_fleet_pool *)tg_table_find(&model->pools, pool_hash(&key), is_pool, &key);
}

struct tg_fleet_pool *tg_fleet_pool_of(struct tg_model *model, const char *driver, const char *name)
{
    const struct pool_key key = {.driver = driver, .name = name};
    struct tg_fleet_pool *pool = tg_fleet_pool_find(model, driver, name);

    if (pool != NULL)
        return pool;
    pool = tg_xcalloc(1, sizeof(*pool));
    pool->record.hash = (uint32_t)pool_hash(&key);
    pool->driver = tg_model_string(model, driver);
    pool->name = tg_model_string(model, name);
    tg_table_add(&model->pools, &pool->record);
    tg_rows_add_pool(model, pool);
    return pool;
}

void tg_fleet_pool_release(struct tg_model *model, struct tg_fleet_pool *pool)
{
    if (pool->slices.n > 0 || pool->n_held > 0)
        return;
    tg_rows_drop_pool(model, pool);
    tg_table_remove(&model->pools, &pool->record);
    TG_VEC_DONE(&pool->slices);
    tg_model_drop_string(model, pool->driver);
    tg_model_drop_string(model, pool->name);
    free(pool);
}

int tg_fleet_pool_compare(const struct tg_fleet_pool *a, const struct tg_fleet_pool *b)
{
    int order = a->driver == b->driver ? 0 : strcmp(a->driver, b->driver);

    return order != 0 ? order : strcmp(a->name, b->name);
}

/* Where the pool is, or would have to be, in a list in order; whether it is there. */

static bool find_pool(struct tg_fleet_pool *const *items, size_t n,
                      const struct tg_fleet_pool *pool, size_t *ret_at)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tg_fleet_pool_compare(items[middle], pool) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_at = low;
    return low < n && items[low] == pool;
}

/* A macro, for the lists are vectors of their own types. */
#define ADD_POOL(list, pool)                                                                       \
    do {                                                                                           \
        size_t at_ = 0;                                                                            \
        if (!find_pool((list)->items, (list)->n, (pool), &at_)) {                                  \
            (void)TG_VEC_PUSH(list);                                                               \
            memmove((list)->items + at_ + 1, (list)->items + at_,                                  \
                    ((list)->n - 1 - at_) * sizeof(*(list)->items));                               \
            (list)->items[at_] = (pool);                                                           \
        }                                                                                          \
    } while (0)
#define REMOVE_POOL(list, pool)                                                                    \
    do {                                                                                           \
        size_t at_ = 0;                                                                            \
        if (find_pool((list)->items, (list)->n, (pool), &at_)) {                                   \
            (list)->n--;                                                                           \
            memmove((list)->items + at_, (list)->items + at_ + 1,                                  \
                    ((list)->n - at_) * sizeof(*(list)->items));                                   \
        }                                                                                          \
    } while (0)

static bool speaks_of(const struct tg_fleet_pool *pool, const struct tg_place *place)
{
    for (size_t i = 0; i < pool->slices.n; i++) {
        if (pool->slices.items[i]->place == place)
            return true;
    }
    return false;
}

static int compare_slices(const struct tg_fleet_slice *a, const struct tg_fleet_slice *b)
{
    if (a->generation != b->generation)
        return a->generation > b->generation ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void link_slice(struct tg_model *model, struct tg_fleet_slice *slice)
{
    struct tg_fleet_pool *pool = slice->pool;
    size_t at = pool->slices.n;

    (void)TG_VEC_PUSH(&pool->slices);
    for (; at > 0 && compare_slices(pool->slices.items[at - 1], slice) > 0; at--)
        pool->slices.items[at] = pool->slices.items[at - 1];
    pool->slices.items[at] = slice;
    if (slice->place != NULL)
        ADD_POOL(&slice->place->pools, pool);
    else if (pool->n_wide++ == 0)
        ADD_POOL(&model->wide, pool);
}

static void unlink_slice(struct tg_model *model, struct tg_fleet_slice *slice)
{
    struct tg_fleet_pool *pool = slice->pool;
    size_t at = 0;

    while (pool->slices.items[at] != slice)
        at++;
    pool->slices.n--;
    memmove(pool->slices.items + at, pool->slices.items + at + 1,
            (pool->slices.n - at) * sizeof(struct tg_fleet_slice *));
    if (slice->place == NULL) {
        if (--pool->n_wide == 0)
            REMOVE_POOL(&model->wide, pool);
    } else if (!speaks_of(pool, slice->place)) {
        REMOVE_POOL(&slice->place->pools, pool);
    }
}

/* --- slices --- */

static bool is_slice(const struct tg_record *record, const void *key)
{
    return strcmp(((const struct tg_fleet_slice *)record)->name, key) == 0;
}

struct tg_fleet_slice *tg_slice_find(const struct tg_model *model, const char *name)
{
    return (struct tg_fleet_slice *)tg_table_find(&model->slices, tg_hash_text(TG_HASH_SEED, name),
                                                  is_slice, name);
}

static bool derived(const struct tg_resource_slice_spec *slice, const struct tg_device *device)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, slice->driver, "derived");

    return a != NULL && is_true(a->bool_);
}

static uint32_t flags_of(const struct tg_resource_slice_spec *spec, const struct tg_device *device)
{
    const struct tg_device_attribute *health = tg_attribute_own(device, spec->driver, "healthy");
    unsigned flags = 0;

    flags |= device->taints.n > 0 ? TG_SLOT_TAINTED : 0U;
    flags |= health != NULL && health->bool_.set && !health->bool_.value ? TG_SLOT_UNHEALTHY : 0U;
    flags |= device->consumes_counters.n > 0 ? TG_SLOT_COUNTS : 0U;
    flags |= derived(spec, device) ? TG_SLOT_DERIVED : 0U;
    flags |= device->binding_conditions.n > 0 ? TG_SLOT_BINDING : 0U;
    flags |= is_true(device->allow_multiple_allocations) ? TG_SLOT_SHARED : 0U;
    flags |= tg_attribute_has_domain(device, spec->driver, TG_GUARD_DOMAIN) ? TG_SLOT_GUARD : 0U;
    for (size_t i = 0; i < device->consumes_counters.n; i++)
        flags |=
            device->consumes_counters.items[i].compatibility_groups.n > 0 ? TG_SLOT_GROUPS : 0U;
    for (size_t i = 0; i < device->capacity.n; i++)
        flags |= device->capacity.items[i].value.request_policy != NULL ? TG_SLOT_POLICY : 0U;
    return flags;
}

static void fill_slots(struct tg_model *model, const struct tg_resource_slice_spec *spec,
                       struct tg_fleet_slice *slice)
{
    slice->slots = spec->devices.n == 0 ? NULL : tg_xcalloc(spec->devices.n, sizeof(*slice->slots));
    for (size_t i = 0; i < spec->devices.n; i++) {
        const struct tg_device *device = &spec->devices.items[i];
        struct tg_slot *slot = &slice->slots[slice->n_slots];

        if (device->name == NULL)
            continue;
        slot->name = model->pack.put(model->pack.data, device->name);
        slot->content = tg_content_keep(model, spec->driver, device);
        slot->flags = flags_of(spec, device);
        slice->flags |= slot->flags;
        slice->n_slots++;
    }
}

/* What only some slices have: copied as a whole. */
static void keep_extras(struct tg_model *model, const struct tg_resource_slice_spec *spec,
                        struct tg_fleet_slice *slice)
{
    const struct tg_resource_slice_spec extras = {.node_selector = spec->node_selector,
                                                  .shared_counters = spec->shared_counters};
    const struct tg_resource_slice_spec *copy;
    size_t n;

    if (spec->node_selector == NULL && spec->shared_counters.n == 0)
        return;
    n = tg_pack(&tg_resource_slice_spec_type, &extras, NULL, NULL, 0);
    TG_VEC_RESERVE(&model->buffer, n);
    tg_pack(&tg_resource_slice_spec_type, &extras, NULL, model->buffer.items, n);
    slice->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    copy = tg_unpack(&tg_resource_slice_spec_type, model->buffer.items, NULL, slice->arena);
    if (copy == NULL)
        abort(); /* as tg_xmalloc */
    slice->selector = copy->node_selector;
    slice->counters = copy->shared_counters.items;
    slice->n_counters = copy->shared_counters.n;
}

static bool well_formed(const struct tg_resource_slice *slice)
{
    return slice->spec != NULL && slice->spec->driver != NULL && slice->spec->pool != NULL &&
           slice->spec->pool->name != NULL;
}

static struct tg_fleet_slice *new_slice(struct tg_model *model,
                                        const struct tg_resource_slice *object)
{
    const struct tg_resource_slice_spec *spec = object->spec;
    struct tg_fleet_slice *slice = tg_xcalloc(1, sizeof(*slice));
    const struct tg_opt_int *count = &spec->pool->resource_slice_count;

    slice->name = tg_model_string(model, object->metadata->name);
    slice->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, slice->name);
    slice->generation = spec->pool->generation.set ? spec->pool->generation.value : 0;
    slice->count = count->set && count->value >= 0 ? count->value : -1;
    slice->all_nodes = is_true(spec->all_nodes);
    slice->per_device = spec->per_device_node_selection;
    slice->pool = tg_fleet_pool_of(model, spec->driver, spec->pool->name);
    if (spec->node_name != NULL && spec->node_name[0] != '\0') {
        slice->place = tg_place_of(model, spec->node_name);
        slice->place->links++;
        slice->node_name = slice->place->name;
    }
    fill_slots(model, spec, slice);
    keep_extras(model, spec, slice);
    return slice;
}

void tg_slice_free(struct tg_model *model, struct tg_fleet_slice *slice)
{
    for (size_t i = 0; i < slice->n_slots; i++) {
        tg_blobs_drop(&model->strings, slice->slots[i].name, NULL, NULL);
        tg_content_leave(model, slice->slots[i].content);
    }
    if (slice->place != NULL) {
        slice->place->links--;
        tg_place_release(model, slice->place);
    }
    tg_arena_free(slice->arena);
    tg_model_drop_string(model, slice->name);
    free(slice->slots);
    free(slice);
}

/* Its pool, which may be empty now, is judged by the caller. */
static void take_out(struct tg_model *model, struct tg_fleet_slice *slice)
{
    unlink_slice(model, slice);
    tg_table_remove(&model->slices, &slice->record);
    tg_slice_free(model, slice);
}

static void remove_slice(struct tg_model *model, struct tg_fleet_slice *slice)
{
    struct tg_fleet_pool *pool = slice->pool;

    take_out(model, slice);
    tg_fleet_pool_judge(model, pool);
    tg_rows_change(model, pool);
    tg_fleet_pool_release(model, pool);
}

/* The new one is there before the old one goes, so that what they have in common stays. */
void tg_slice_put(struct tg_model *model, const struct tg_resource_slice *object)
{
    struct tg_fleet_slice *before = tg_slice_find(model, object->metadata->name), *slice = NULL;

    if (well_formed(object)) {
        slice = new_slice(model, object);
        tg_table_add(&model->slices, &slice->record);
        link_slice(model, slice);
    }
    if (before != NULL && (slice == NULL || before->pool != slice->pool))
        remove_slice(model, before);
    else if (before != NULL)
        take_out(model, before);
    if (slice == NULL)
        return;
    tg_fleet_pool_judge(model, slice->pool);
    tg_rows_change(model, slice->pool);
}

void tg_slice_drop(struct tg_model *model, const char *name)
{
    struct tg_fleet_slice *slice = tg_slice_find(model, name);

    if (slice != NULL)
        remove_slice(model, slice);
}

void tg_fleet_slices_of(const struct tg_fleet *fleet, const char *node,
                        void (*visit)(void *data, const char *slice), void *data)
{
    const struct tg_model *model = fleet->model;
    const struct tg_place *place = tg_place_find(model, node);
    struct tg_fleet_pool *const *pools = place == NULL ? NULL : place->pools.items;
    size_t n = place == NULL ? 0 : place->pools.n;

    if (node == NULL) {
        pools = model->wide.items;
        n = model->wide.n;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < pools[i]->slices.n; k++) {
            if (pools[i]->slices.items[k]->place == place)
                visit(data, pools[i]->slices.items[k]->name);
        }
    }
}
