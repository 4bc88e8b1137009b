/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/claim_check.h"

#include "api/runtime/base/str.h"

int tg_claim_check(const struct tg_resource_claim *claim, const char *uid,
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
    *ret = claim->status->allocation->devices;
    return 0;
}
