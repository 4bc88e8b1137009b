/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/inventory/inventory.h"

#include <string.h>

#include "api/kubernetes/values/names.h"
#include "api/runtime/base/str.h"

#define OBJECT_NAME_MAX 253

static int exhausted(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the slices of this node need too much memory");
}

/* 00000-gpu.tangram.dev-node-1-3f2a9c01 */
static const char *slice_name(const struct tg_inventory_owner *owner, size_t index,
                              struct tg_arena *arena)
{
    const char *identity = tg_arena_printf(arena, "%s/%s", owner->driver, owner->node_name);
    if (identity == NULL)
        return NULL;
    unsigned digits = (unsigned)(tg_hash64(identity, strlen(identity)) & 0xffffffff);
    int room = OBJECT_NAME_MAX - 5 - 1 - (int)strlen(owner->driver) - 1 - 1 - 8;
    int cut = (int)strnlen(owner->node_name, (size_t)room);
    while (cut > 0 &&
           owner->node_name[cut - 1] == '.') /* a label must not begin with the "-" that follows */
        cut--;
    return tg_arena_printf(arena, "%05zx-%s-%.*s-%08x", index, owner->driver, cut, owner->node_name,
                           digits);
}

static struct tg_object_meta *make_metadata(const struct tg_inventory_owner *owner, size_t index,
                                            struct tg_arena *arena)
{
    struct tg_object_meta *metadata = tg_arena_alloc(arena, sizeof(*metadata));
    struct tg_owner_reference *node = tg_arena_alloc(arena, sizeof(*node));
    if (metadata == NULL || node == NULL)
        return NULL;
    metadata->name = slice_name(owner, index, arena);
    if (metadata->name == NULL)
        return NULL;
    if (tg_or(owner->node_uid, "")[0] != '\0') {
        *node = (struct tg_owner_reference){
            .api_version = "v1",
            .kind = "Node",
            .name = owner->node_name,
            .uid = owner->node_uid,
            .controller = {.set = true, .value = true},
        };
        metadata->owner_references.items = node;
        metadata->owner_references.n = 1;
    }
    return metadata;
}

static struct tg_resource_slice_spec *make_spec(const struct tg_inventory_owner *owner,
                                                size_t count, struct tg_arena *arena)
{
    struct tg_resource_slice_spec *spec = tg_arena_alloc(arena, sizeof(*spec));
    struct tg_resource_pool *pool = tg_arena_alloc(arena, sizeof(*pool));
    if (spec == NULL || pool == NULL)
        return NULL;
    *pool = (struct tg_resource_pool){
        .name = owner->node_name,
        .resource_slice_count = {.set = true, .value = (int64_t)count},
    };
    spec->driver = owner->driver;
    spec->pool = pool;
    spec->node_name = owner->node_name;
    return spec;
}

/* What goes into one slice. */
struct part {
    const struct tg_counter_set *sets;
    struct tg_device *devices;
    size_t n_sets, n_devices;
};
struct content {
    struct part *parts;
    size_t n;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void cut_sets(const struct tg_counter_set *sets, size_t n, struct content *ret)
{
    for (size_t i = 0; i < n; i += TG_SLICE_COUNTER_SETS_MAX)
        ret->parts[ret->n++] =
            (struct part){.sets = sets + i, .n_sets = smaller(n - i, TG_SLICE_COUNTER_SETS_MAX)};
}

static void cut_devices(struct tg_device *devices, size_t n, size_t most, struct content *ret)
{
    for (size_t i = 0; i < n; i += most)
        ret->parts[ret->n++] =
            (struct part){.devices = devices + i, .n_devices = smaller(n - i, most)};
}

static bool consumes(const struct tg_device *device, const struct tg_counter_set *set)
{
    return device->consumes_counters.n > 0 &&
           tg_streq(device->consumes_counters.items[0].name, set->name);
}

/* Into `to`, in their order, those that consume of the set; NULL: of none. Returns how many. */
static size_t pick(const struct tg_published *from, const struct tg_counter_set *set,
                   struct tg_device *to)
{
    size_t n = 0;
    for (size_t i = 0; i < from->n; i++) {
        if (set == NULL ? from->items[i].consumes_counters.n == 0 : consumes(&from->items[i], set))
            to[n++] = from->items[i];
    }
    return n;
}

/* As many cards in a slice as there is room for, each with its counters; and what has none. */
static int cut_together(const struct tg_device_set *set, const struct tg_published *published,
                        struct tg_device *devices, struct content *ret, struct tg_error *err)
{
    size_t at = 0, counters = 0;
    for (size_t i = 0; i < set->counter_sets.n; i++) {
        const struct tg_counter_set *one = &set->counter_sets.items[i];
        struct part *last = ret->n == 0 ? NULL : &ret->parts[ret->n - 1];
        size_t n = pick(published, one, devices + at);
        if (n > TG_SLICE_DEVICES_MAX_ADVANCED || one->counters.n > TG_SLICE_COUNTERS_MAX_TOGETHER)
            return tg_error_set(err, TG_FAILED_PRECONDITION,
                                "%s: %zu devices over %zu counters do not fit into one slice, as "
                                "this API server (1.34) wants it",
                                one->name, n, one->counters.n);
        if (last == NULL || last->n_devices + n > TG_SLICE_DEVICES_MAX_ADVANCED ||
            counters + one->counters.n > TG_SLICE_COUNTERS_MAX_TOGETHER) {
            last = &ret->parts[ret->n++];
            *last = (struct part){.sets = one, .devices = devices + at};
            counters = 0;
        }
        last->n_sets++;
        last->n_devices += n;
        counters += one->counters.n;
        at += n;
    }
    cut_devices(devices + at, pick(published, NULL, devices + at), TG_SLICE_DEVICES_MAX, ret);
    return 0;
}

/* What the pool holds, cut into slices. */
static int find_content(enum tg_slice_layout layout, const struct tg_device_set *set,
                        struct tg_arena *arena, struct content *ret, struct tg_error *err)
{
    struct tg_published published;
    *ret = (struct content){0};
    int rc = tg_slice_layout_apply(layout, set, arena, &published, err);
    if (rc < 0)
        return rc;
    ret->parts =
        tg_arena_alloc_array(arena, set->counter_sets.n + published.n + 1, sizeof(*ret->parts));
    struct tg_device *devices = tg_arena_alloc_array(arena, published.n, sizeof(*devices));
    if (ret->parts == NULL || devices == NULL)
        return exhausted(err);
    if (published.counters && layout == TG_SLICES_TOGETHER)
        rc = cut_together(set, &published, devices, ret, err);
    else if (published.counters)
        cut_sets(set->counter_sets.items, set->counter_sets.n, ret);
    if (layout != TG_SLICES_TOGETHER || !published.counters)
        cut_devices(published.items, published.n,
                    published.counters ? TG_SLICE_DEVICES_MAX_ADVANCED : TG_SLICE_DEVICES_MAX, ret);
    if (ret->n == 0)
        ret->parts[ret->n++] = (struct part){0};
    return rc;
}

static int fill(struct tg_resource_slice_spec *spec, const struct part *part,
                struct tg_arena *arena, struct tg_error *err)
{
    spec->devices.items = part->devices;
    spec->devices.n = part->n_devices;
    if (part->n_sets == 0)
        return 0;
    spec->shared_counters.items =
        tg_arena_alloc_array(arena, part->n_sets, sizeof(*spec->shared_counters.items));
    if (spec->shared_counters.items == NULL)
        return exhausted(err);
    memcpy(spec->shared_counters.items, part->sets, part->n_sets * sizeof(*part->sets));
    spec->shared_counters.n = part->n_sets;
    return 0;
}

int tg_inventory_build(const struct tg_inventory_owner *owner, const struct tg_device_set *set,
                       struct tg_arena *arena, struct tg_slice_list *ret, struct tg_error *err)
{
    struct content content = {0};
    int rc = tg_name_check(TG_NAME_DRIVER, tg_or(owner->driver, ""), err);
    if (rc == 0)
        rc = tg_name_check(TG_NAME_SUBDOMAIN, tg_or(owner->node_name, ""), err);
    if (rc == 0)
        rc = tg_device_set_validate(set, err);
    if (rc == 0)
        rc = find_content(owner->layout, set, arena, &content, err);
    if (rc < 0)
        return rc;
    struct tg_resource_slice *items = tg_arena_alloc_array(arena, content.n, sizeof(*items));
    if (items == NULL)
        return exhausted(err);
    for (size_t i = 0; i < content.n && rc == 0; i++) {
        items[i].metadata = make_metadata(owner, i, arena);
        items[i].spec = make_spec(owner, content.n, arena);
        rc = items[i].metadata == NULL || items[i].spec == NULL
                 ? exhausted(err)
                 : fill(items[i].spec, &content.parts[i], arena, err);
    }
    if (rc == 0)
        *ret = (struct tg_slice_list){.items = items, .n = content.n};
    return rc;
}
