/* SPDX-License-Identifier: Apache-2.0 */
/* Is more given away of what devices share than there is? */
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"
#include "controller/core/model/node_view.h"

static const struct tg_view_device *find(const struct tg_view *view, const char *driver,
                                         const char *pool, const char *device)
{
    for (size_t i = 0; i < view->n_devices; i++) {
        const struct tg_view_device *d = &view->devices[i];

        if (tg_streq(d->name, device) && tg_streq(d->pool_name, pool) &&
            tg_streq(d->driver, driver))
            return d;
    }
    return NULL;
}

static const char *overdrawn(const struct tg_view *view, const struct tg_view_device *device,
                             struct tg_arena *arena)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        const struct tg_view_counter *counter = &view->counters[device->consumes[i].counter];

        if (counter->left < 0)
            return tg_arena_printf(arena, "counter %s of set %s", tg_or(counter->name, "?"),
                                   tg_or(counter->set, "?"));
    }
    for (size_t i = 0; i < device->n_capacity; i++) {
        if (device->capacity[i].used > device->capacity[i].value)
            return tg_arena_printf(arena, "capacity %s", tg_or(device->capacity[i].name, "?"));
    }
    return NULL;
}

const char *tg_fleet_overdrawn(const struct tg_fleet *fleet, const char *node, const char *driver,
                               const char *pool, const char *device, struct tg_arena *arena)
{
    const struct tg_rules rules = tg_rules_of_objects();
    size_t row = tg_fleet_find_device(fleet, driver, pool, device);
    const struct tg_view_device *found;
    struct tg_view view;

    if (row == TG_NO_INDEX || !fleet->devices[row].exact)
        return NULL;
    tg_arena_reset(fleet->model->scratch);
    if (tg_fleet_view(fleet, node, &rules, fleet->model->scratch, &view, NULL) < 0)
        return NULL;
    found = find(&view, driver, pool, device);
    return found == NULL ? NULL : overdrawn(&view, found, arena);
}
