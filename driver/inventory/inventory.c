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

/* What the pool holds, before it is cut into slices. */
struct content {
    const struct tg_counter_set *sets;
    size_t n_sets, set_slices;
    struct tg_published devices;
    size_t a_slice; /* devices */
    size_t slices;
};

static size_t slices_of(size_t n, size_t most)
{
    return (n + most - 1) / most;
}

static int find_content(enum tg_slice_layout layout, const struct tg_device_set *set,
                        struct tg_arena *arena, struct content *ret, struct tg_error *err)
{
    *ret = (struct content){0};
    int rc = tg_slice_layout_apply(layout, set, arena, &ret->devices, err);
    if (rc < 0)
        return rc;
    if (ret->devices.counters) {
        ret->sets = set->counter_sets.items;
        ret->n_sets = set->counter_sets.n;
    }
    ret->a_slice = ret->devices.counters ? TG_SLICE_DEVICES_MAX_ADVANCED : TG_SLICE_DEVICES_MAX;
    ret->set_slices = slices_of(ret->n_sets, TG_SLICE_COUNTER_SETS_MAX);
    ret->slices = ret->set_slices + slices_of(ret->devices.n, ret->a_slice);
    if (ret->slices == 0)
        ret->slices = 1;
    return 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int fill(struct tg_resource_slice_spec *spec, const struct content *content, size_t index,
                struct tg_arena *arena, struct tg_error *err)
{
    if (index < content->set_slices) {
        size_t first = index * TG_SLICE_COUNTER_SETS_MAX;
        size_t n = smaller(content->n_sets - first, TG_SLICE_COUNTER_SETS_MAX);
        spec->shared_counters.items =
            tg_arena_alloc_array(arena, n, sizeof(*spec->shared_counters.items));
        if (spec->shared_counters.items == NULL)
            return exhausted(err);
        memcpy(spec->shared_counters.items, content->sets + first, n * sizeof(*content->sets));
        spec->shared_counters.n = n;
        return 0;
    }
    size_t first = (index - content->set_slices) * content->a_slice;
    spec->devices.items = content->devices.items + first;
    spec->devices.n = smaller(content->devices.n - first, content->a_slice);
    return 0;
}

int tg_inventory_build(const struct tg_inventory_owner *owner, const struct tg_device_set *set,
                       struct tg_arena *arena, struct tg_slice_list *ret, struct tg_error *err)
{
    struct content content;
    int rc = tg_name_check(TG_NAME_DRIVER, tg_or(owner->driver, ""), err);
    if (rc == 0)
        rc = tg_name_check(TG_NAME_SUBDOMAIN, tg_or(owner->node_name, ""), err);
    if (rc == 0)
        rc = tg_device_set_validate(set, err);
    if (rc == 0)
        rc = find_content(owner->layout, set, arena, &content, err);
    if (rc < 0)
        return rc;
    struct tg_resource_slice *items = tg_arena_alloc_array(arena, content.slices, sizeof(*items));
    if (items == NULL)
        return exhausted(err);
    for (size_t i = 0; i < content.slices && rc == 0; i++) {
        items[i].metadata = make_metadata(owner, i, arena);
        items[i].spec = make_spec(owner, content.slices, arena);
        rc = items[i].metadata == NULL || items[i].spec == NULL
                 ? exhausted(err)
                 : fill(items[i].spec, &content, i, arena, err);
    }
    if (rc == 0)
        *ret = (struct tg_slice_list){.items = items, .n = content.slices};
    return rc;
}
