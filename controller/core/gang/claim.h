/* SPDX-License-Identifier: Apache-2.0 */
/* What of a claim this version can serve, whatever its classes are. */
#ifndef TG_CORE_GANG_CLAIM_H
#define TG_CORE_GANG_CLAIM_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"

/* TG_UNIMPLEMENTED: a feature (named with its field, and what to do instead); TG_INVALID_ARGUMENT:
 * a count below 1, more than 32 devices. *ret_devices: devices that all requests must have at least
 * (the smallest alternatives; of All one). */
int tg_claim_supported(const struct tg_resource_claim *claim, size_t *ret_devices,
                       struct tg_error *err);
/* Devices that a request for a number asks for: its count, 1 if unset. */
size_t tg_request_count(const struct tg_exact_request *request);

#endif
