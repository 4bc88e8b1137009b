/* SPDX-License-Identifier: Apache-2.0 */
/* Is this the claim that the kubelet means, and can it be prepared? Pure. */
#ifndef TG_PLUGIN_CLAIM_CHECK_H
#define TG_PLUGIN_CLAIM_CHECK_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"

/*
 * The kubelet tells only names and uid; the claim was read from the API server. *ret are results
 * and configuration of its allocation, of all drivers. NOT_FOUND: another claim bears the name now.
 * FAILED_PRECONDITION (retry): not allocated.
 */
int tg_claim_check(const struct tg_resource_claim *claim, const char *uid,
                   const struct tg_allocation_devices **ret, struct tg_error *err);

#endif
