/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/inventory/layout.h"

#include <string.h>

#include "api/runtime/base/str.h"

static bool is_published(enum tg_slice_layout layout, const struct tg_provider_device *device)
{
    return layout != TG_SLICES_PLAIN || device->partition == NULL || !device->partition->dynamic;
}

/* `derived: true`, at its place in the order of keys. */
static int add_derived(struct tg_device *device, struct tg_arena *arena)
{
    size_t n = device->attributes.n, at = 0;
    struct tg_keyed_attribute *items = tg_arena_alloc_array(arena, n + 1, sizeof(*items));
    if (items == NULL)
        return -1;
    while (at < n && tg_strcmp(device->attributes.items[at].key, "derived") < 0)
        at++;
    memcpy(items, device->attributes.items, at * sizeof(*items));
    items[at] = (struct tg_keyed_attribute){.key = "derived",
                                            .value = {.bool_ = {.set = true, .value = true}}};
    if (n > at)
        memcpy(items + at + 1, device->attributes.items + at, (n - at) * sizeof(*items));
    device->attributes.items = items;
    device->attributes.n = n + 1;
    return 0;
}

int tg_slice_layout_apply(enum tg_slice_layout layout, const struct tg_device_set *set,
                          struct tg_arena *arena, struct tg_published *ret, struct tg_error *err)
{
    int rc = 0;
    *ret = (struct tg_published){
        .items = tg_arena_alloc_array(arena, set->devices.n, sizeof(*ret->items))};
    for (size_t i = 0; ret->items != NULL && rc == 0 && i < set->devices.n; i++) {
        const struct tg_provider_device *from = &set->devices.items[i];
        struct tg_device *to = &ret->items[ret->n];
        if (!is_published(layout, from))
            continue;
        ret->n++;
        *to = from->device;
        if (to->consumes_counters.n == 0)
            continue;
        if (tg_slice_layout_keeps_counters(layout)) {
            ret->counters = true;
            continue;
        }
        to->consumes_counters.items = NULL;
        to->consumes_counters.n = 0;
        if (layout == TG_SLICES_DERIVED)
            rc = add_derived(to, arena);
    }
    if (ret->items == NULL || rc < 0)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the slices of this node need too much memory");
    return 0;
}
