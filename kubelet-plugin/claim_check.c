/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/claim_check.h"

#include "api/runtime/base/str.h"

int tg_claim_check(const struct tg_resource_claim *claim, const char *uid, const char *driver,
                   const struct tg_allocation_devices **ret, struct tg_error *err)
{
    const char *found = claim->metadata != NULL ? claim->metadata->uid : NULL;

    if (!tg_streq(found, uid))
        return tg_error_set(
            err, TG_NOT_FOUND,
            "the claim has uid %s, the kubelet asks for %s: it was deleted and made anew",
            tg_or(found, "(none)"), uid);
    if (claim->status == NULL || claim->status->allocation == NULL ||
        claim->status->allocation->devices == NULL) {
        int rc = tg_error_set(err, TG_FAILED_PRECONDITION, "the claim is not allocated");
        if (err != NULL)
            err->retry = true;
        return rc;
    }
    const struct tg_allocation_devices *devices = claim->status->allocation->devices;
    for (size_t i = 0; i < devices->config.n; i++) {
        const struct tg_opaque_config *opaque = devices->config.items[i].opaque;
        if (opaque != NULL && tg_streq(opaque->driver, driver))
            return tg_error_set(
                err, TG_UNIMPLEMENTED,
                "status.allocation.devices.config[%zu]: driver %s has no configuration; "
                "remove the entry from the claim or its class",
                i, driver);
    }
    *ret = devices;
    return 0;
}
