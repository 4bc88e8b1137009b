/* SPDX-License-Identifier: Apache-2.0 */
/* What must be written so that the observed slices become the desired ones: see inventory.h for the
 * rules. */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "driver/inventory/inventory.h"

/* A generation from here on was not written by us, and leaves no room to count. */
#define GENERATION_MAX (INT64_C(1) << 62)

/* ---- equality: what a consumer of the slice could see, whatever the order of maps and the
 * spelling of quantities ---- */

static bool attribute_equal(const struct tg_device_attribute *a,
                            const struct tg_device_attribute *b)
{
    return a->int_.set == b->int_.set && (!a->int_.set || a->int_.value == b->int_.value) &&
           a->bool_.set == b->bool_.set && (!a->bool_.set || a->bool_.value == b->bool_.value) &&
           tg_streq(a->string, b->string) && tg_streq(a->version, b->version);
}

static bool attributes_equal(const struct tg_device *a, const struct tg_device *b)
{
    if (a->attributes.n != b->attributes.n)
        return false;
    for (size_t i = 0; i < a->attributes.n; i++) {
        size_t j = 0;
        while (j < b->attributes.n &&
               !tg_streq(b->attributes.items[j].key, a->attributes.items[i].key))
            j++;
        if (j == b->attributes.n ||
            !attribute_equal(&a->attributes.items[i].value, &b->attributes.items[j].value))
            return false;
    }
    return true;
}

/* The server writes quantities in its own form ("1024Mi" comes back as "1Gi"). */
static bool capacity_equal(const struct tg_device_capacity *a, const struct tg_device_capacity *b)
{
    struct tg_quantity left, right;
    if (!tg_streq(a->request_policy, b->request_policy))
        return false;
    if (tg_streq(a->value, b->value))
        return true;
    return a->value != NULL && b->value != NULL && tg_quantity_parse(a->value, &left, NULL) == 0 &&
           tg_quantity_parse(b->value, &right, NULL) == 0 && tg_quantity_cmp(&left, &right) == 0;
}

static bool capacities_equal(const struct tg_device *a, const struct tg_device *b)
{
    if (a->capacity.n != b->capacity.n)
        return false;
    for (size_t i = 0; i < a->capacity.n; i++) {
        size_t j = 0;
        while (j < b->capacity.n && !tg_streq(b->capacity.items[j].key, a->capacity.items[i].key))
            j++;
        if (j == b->capacity.n ||
            !capacity_equal(&a->capacity.items[i].value, &b->capacity.items[j].value))
            return false;
    }
    return true;
}

static bool quantity_equal(const char *a, const char *b)
{
    return capacity_equal(&(struct tg_device_capacity){.value = a},
                          &(struct tg_device_capacity){.value = b});
}

static bool counters_equal(const struct tg_counter_set *a, const struct tg_counter_set *b)
{
    if (!tg_streq(a->name, b->name) || a->counters.n != b->counters.n)
        return false;
    for (size_t i = 0; i < a->counters.n; i++) {
        size_t j = 0;
        while (j < b->counters.n && !tg_streq(b->counters.items[j].key, a->counters.items[i].key))
            j++;
        if (j == b->counters.n ||
            !quantity_equal(a->counters.items[i].value.value, b->counters.items[j].value.value))
            return false;
    }
    return true;
}

/* The server keeps the order of these lists. */
static bool counter_sets_equal(const struct tg_counter_set *a, size_t n,
                               const struct tg_counter_set *b, size_t m)
{
    bool equal = n == m;
    for (size_t i = 0; equal && i < n; i++)
        equal = counters_equal(&a[i], &b[i]);
    return equal;
}

static bool is_true(struct tg_opt_bool value)
{
    return value.set && value.value;
}

/* Fields that we never write: whoever has set one has changed our slice. */
static bool has_foreign_fields(const struct tg_device *device)
{
    return device->taints.n > 0 || device->binding_conditions.n > 0 ||
           device->binding_failure_conditions.n > 0 || device->node_name != NULL ||
           device->node_selector != NULL || is_true(device->all_nodes) ||
           is_true(device->binds_to_node) || is_true(device->allow_multiple_allocations);
}

static bool device_equal(const struct tg_device *desired, const struct tg_device *observed)
{
    return tg_streq(desired->name, observed->name) && attributes_equal(desired, observed) &&
           capacities_equal(desired, observed) &&
           counter_sets_equal(desired->consumes_counters.items, desired->consumes_counters.n,
                              observed->consumes_counters.items, observed->consumes_counters.n) &&
           !has_foreign_fields(observed);
}

static bool provided_equal(const struct tg_provider_device *a, const struct tg_provider_device *b)
{
    if ((a->partition == NULL) != (b->partition == NULL) || a->minor != b->minor ||
        !tg_streq(a->uuid, b->uuid))
        return false;
    /* Where a partition is follows from its name. */
    return (a->partition == NULL || a->partition->dynamic == b->partition->dynamic) &&
           device_equal(&a->device, &b->device);
}

bool tg_inventory_set_equal(const struct tg_device_set *a, const struct tg_device_set *b)
{
    bool equal = a->devices.n == b->devices.n && a->problems.n == b->problems.n &&
                 counter_sets_equal(a->counter_sets.items, a->counter_sets.n, b->counter_sets.items,
                                    b->counter_sets.n);
    for (size_t i = 0; equal && i < a->devices.n; i++)
        equal = provided_equal(&a->devices.items[i], &b->devices.items[i]);
    for (size_t i = 0; equal && i < a->problems.n; i++)
        equal = tg_streq(a->problems.items[i], b->problems.items[i]);
    return equal;
}

static bool owner_equal(const struct tg_object_meta *desired, const struct tg_object_meta *observed)
{
    for (size_t i = 0; i < desired->owner_references.n; i++) {
        const struct tg_owner_reference *wanted = &desired->owner_references.items[i];
        size_t j = 0;
        while (j < observed->owner_references.n &&
               !tg_streq(observed->owner_references.items[j].uid, wanted->uid))
            j++;
        if (j == observed->owner_references.n)
            return false;
    }
    return true;
}

/* Everything but the generation. */
static bool content_equal(const struct tg_resource_slice *desired,
                          const struct tg_resource_slice *observed)
{
    const struct tg_resource_slice_spec *a = desired->spec, *b = observed->spec;
    if (b->pool->resource_slice_count.value != a->pool->resource_slice_count.value ||
        a->devices.n != b->devices.n)
        return false;
    if (!counter_sets_equal(a->shared_counters.items, a->shared_counters.n,
                            b->shared_counters.items, b->shared_counters.n) ||
        b->node_selector != NULL || is_true(b->all_nodes) || is_true(b->per_device_node_selection))
        return false;
    for (size_t i = 0; i < a->devices.n; i++) {
        if (!device_equal(&a->devices.items[i], &b->devices.items[i]))
            return false;
    }
    return owner_equal(desired->metadata, observed->metadata);
}

/* ---- matching ---- */

struct comparison {
    const struct tg_inventory_owner *owner;
    const struct tg_slice_list *desired;
    const struct tg_resource_slice **matches;  /* of each desired slice, NULL if there is none */
    const struct tg_resource_slice **obsolete; /* of ours, wanted no more */
    size_t n_obsolete;
    int64_t newest; /* generation that consumers look at, 0 if there is none */
    struct tg_inventory_plan *plan;
    struct tg_arena *arena;
};

static bool is_ours(const struct tg_inventory_owner *owner, const struct tg_resource_slice *slice)
{
    return slice->metadata != NULL && slice->spec != NULL && slice->spec->pool != NULL &&
           tg_streq(slice->spec->driver, owner->driver) &&
           tg_streq(slice->spec->node_name, owner->node_name);
}

static int64_t generation_of(const struct tg_resource_slice *slice)
{
    return slice->spec->pool->generation.value;
}

/* In our pool, with a generation that counting can go on from. */
static bool is_sound(const struct tg_inventory_owner *owner, const struct tg_resource_slice *slice)
{
    return tg_streq(slice->spec->pool->name, owner->node_name) && generation_of(slice) >= 0 &&
           generation_of(slice) < GENERATION_MAX;
}

static size_t desired_index(const struct comparison *c, const struct tg_resource_slice *observed)
{
    size_t i = 0;
    while (i < c->desired->n &&
           !tg_streq(c->desired->items[i].metadata->name, observed->metadata->name))
        i++;
    return i;
}

static int match(struct comparison *c, const struct tg_resource_slice *const *observed, size_t n,
                 struct tg_error *err)
{
    c->matches = tg_arena_alloc_array(c->arena, c->desired->n, sizeof(*c->matches));
    c->obsolete = tg_arena_alloc_array(c->arena, n, sizeof(*c->obsolete));
    if (c->matches == NULL || c->obsolete == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "comparing the slices of this node needs too much memory");
    for (size_t i = 0; i < n; i++) {
        if (!is_ours(c->owner, observed[i]))
            continue;
        size_t index = desired_index(c, observed[i]);
        bool sound = is_sound(c->owner, observed[i]);
        if (sound && generation_of(observed[i]) > c->newest)
            c->newest = generation_of(observed[i]);
        if (index < c->desired->n && sound)
            c->matches[index] = observed[i];
        else
            c->obsolete[c->n_obsolete++] = observed[i];
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct tg_resource_slice *const *left = a, *const *right = b;
    return tg_strcmp((*left)->metadata->name, (*right)->metadata->name);
}

/* ---- planning ---- */

/* A match of an older generation is invisible to consumers: the slice has to be written as if it
 * were missing. */
static bool is_visible(const struct comparison *c, size_t i)
{
    return c->matches[i] != NULL && generation_of(c->matches[i]) == c->newest;
}

static bool needs_new_generation(const struct comparison *c)
{
    size_t changed = 0, missing = 0, leaving = 0;
    for (size_t i = 0; i < c->desired->n; i++) {
        if (!is_visible(c, i))
            missing++;
        else if (!content_equal(&c->desired->items[i], c->matches[i]))
            changed++;
    }
    for (size_t i = 0; i < c->n_obsolete; i++)
        leaving += is_sound(c->owner, c->obsolete[i]) && generation_of(c->obsolete[i]) == c->newest;
    if (changed + missing == 0)
        return false;
    return leaving > 0 || changed > 1 || (changed == 1 && missing > 0);
}

static int add(struct comparison *c, enum tg_inventory_action action,
               const struct tg_resource_slice *slice, const char *why)
{
    if (slice == NULL)
        return -1;
    c->plan->items[c->plan->n++] =
        (struct tg_inventory_operation){.action = action, .slice = slice, .why = why};
    return 0;
}

/* The desired slice as it is to be sent: with the generation, and for an update the identity of
 * what it replaces. */
static const struct tg_resource_slice *filled(struct comparison *c, size_t i,
                                              const struct tg_resource_slice *replaced)
{
    struct tg_resource_slice *slice = tg_arena_alloc(c->arena, sizeof(*slice));
    struct tg_object_meta *metadata = tg_arena_alloc(c->arena, sizeof(*metadata));
    struct tg_resource_slice_spec *spec = tg_arena_alloc(c->arena, sizeof(*spec));
    struct tg_resource_pool *pool = tg_arena_alloc(c->arena, sizeof(*pool));
    if (slice == NULL || metadata == NULL || spec == NULL || pool == NULL)
        return NULL;
    *metadata = *c->desired->items[i].metadata;
    *spec = *c->desired->items[i].spec;
    *pool = *spec->pool;
    pool->generation = (struct tg_opt_int){.set = true, .value = c->plan->generation};
    spec->pool = pool;
    if (replaced != NULL) {
        metadata->uid = replaced->metadata->uid;
        metadata->resource_version = replaced->metadata->resource_version;
        /* Not ours to drop. */
        metadata->labels = replaced->metadata->labels;
        metadata->annotations = replaced->metadata->annotations;
        metadata->finalizers = replaced->metadata->finalizers;
    }
    *slice = (struct tg_resource_slice){.metadata = metadata, .spec = spec};
    return slice;
}

static int plan_updates(struct comparison *c)
{
    for (size_t i = 0; i < c->desired->n; i++) {
        const struct tg_resource_slice *match = c->matches[i];
        if (match == NULL)
            continue;
        bool equal = content_equal(&c->desired->items[i], match);
        if (equal && generation_of(match) == c->plan->generation)
            continue;
        if (add(c, TG_INVENTORY_UPDATE, filled(c, i, match),
                equal ? "generation differs" : "content differs") != 0)
            return -1;
    }
    return 0;
}

static int plan_creations(struct comparison *c)
{
    for (size_t i = 0; i < c->desired->n; i++) {
        if (c->matches[i] == NULL &&
            add(c, TG_INVENTORY_CREATE, filled(c, i, NULL), "missing") != 0)
            return -1;
    }
    return 0;
}

/* `in_the_way`: those whose names are needed, which must go first; or all others, which go last. */
static int plan_deletions(struct comparison *c, bool in_the_way)
{
    for (size_t i = 0; i < c->n_obsolete; i++) {
        bool needed = desired_index(c, c->obsolete[i]) < c->desired->n;
        if (needed == in_the_way &&
            add(c, TG_INVENTORY_DELETE, c->obsolete[i],
                needed ? "pool or generation cannot be ours" : "obsolete") != 0)
            return -1;
    }
    return 0;
}

int tg_inventory_compare(const struct tg_inventory_owner *owner,
                         const struct tg_slice_list *desired,
                         const struct tg_resource_slice *const *observed, size_t n_observed,
                         int64_t last_generation, struct tg_arena *arena,
                         struct tg_inventory_plan *ret, struct tg_error *err)
{
    struct comparison c = {.owner = owner, .desired = desired, .plan = ret, .arena = arena};
    *ret = (struct tg_inventory_plan){0};
    int rc = match(&c, observed, n_observed, err);
    if (rc < 0)
        return rc;
    if (c.n_obsolete > 0)
        qsort(c.obsolete, c.n_obsolete, sizeof(*c.obsolete), compare_names);
    ret->items = tg_arena_alloc_array(arena, desired->n + n_observed, sizeof(*ret->items));
    ret->generation = c.newest > last_generation ? c.newest : last_generation;
    if (ret->generation < 1)
        ret->generation = 1;
    else if (needs_new_generation(&c))
        ret->generation++;
    if (ret->items == NULL || plan_deletions(&c, true) != 0 || plan_updates(&c) != 0 ||
        plan_creations(&c) != 0 || plan_deletions(&c, false) != 0)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "comparing the slices of this node needs too much memory");
    return 0;
}
