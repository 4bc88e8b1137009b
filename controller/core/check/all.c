/* SPDX-License-Identifier: Apache-2.0 */
/* A request for all devices has every one that it could ever have on the node. */
#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static bool has(const struct tg_check_view *view, const struct tg_check_ask *ask,
                const struct tg_device *device)
{
    for (size_t i = 0; i < view->n_picks; i++) {
        if (view->picks[i].ask == ask && view->picks[i].device == device)
            return true;
    }
    return false;
}

static int check_device(struct tg_check_view *view, const struct tg_check_ask *ask,
                        const struct tg_check_pool *pool, const struct tg_resource_slice *slice,
                        const struct tg_device *device)
{
    const char *why = NULL;
    bool match = false;
    int rc = tg_check_selectable(view, ask, slice, device, &match);

    if (rc < 0 || !match || has(view, ask, device))
        return rc;
    /* Releases up to 1.36 leave out a device that others have used up, later ones wait for it. */
    if (tg_check_has(view, TG_CHECK_CONSUMABLE_CAPACITY))
        rc = tg_check_capacity_suits(view, ask->exact, pool, device,
                                     tg_check_may_be_shared(view, device), &why);
    if (rc < 0 || why != NULL)
        return rc;
    return tg_check_broken(view, "All", ask->claim, ask, NULL,
                           "all devices are asked for, %s/%s/%s is missing", pool->driver,
                           pool->name, tg_or(device->name, ""));
}

static int check_pool(struct tg_check_view *view, const struct tg_check_ask *ask,
                      const struct tg_check_pool *pool)
{
    int rc = 0;

    if (pool->superseded)
        return 0;
    if (pool->broken != NULL || pool->incomplete)
        return tg_check_broken(view, "All", ask->claim, ask, NULL,
                               "all devices are asked for, and of pool %s/%s it is not known which "
                               "there are: %s",
                               pool->driver, pool->name, tg_or(pool->broken, "it is incomplete"));
    for (size_t i = 0; rc == 0 && i < pool->n_here; i++) {
        const struct tg_resource_slice *slice = pool->slices[i];

        for (size_t j = 0;
             rc == 0 && tg_check_has_devices(view, slice) && j < slice->spec->devices.n; j++)
            rc = check_device(view, ask, pool, slice, &slice->spec->devices.items[j]);
    }
    return rc;
}

int tg_check_all_devices(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_asks; i++) {
        const struct tg_check_ask *ask = &view->asks[i];

        if (ask->all && ask->n == 0)
            return tg_check_broken(view, "All", ask->claim, ask, NULL,
                                   "all devices are asked for, at least one is needed");
        for (size_t j = 0; rc == 0 && ask->all && j < view->n_pools; j++)
            rc = check_pool(view, ask, &view->pools[j]);
    }
    return rc;
}
