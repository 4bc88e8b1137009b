/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of consumable capacity (KEP-5075) that ResourceSlice, ResourceClaim and allocations
 * keep as raw JSON, read. Quantities stay text. */
#ifndef TG_KUBERNETES_OBJECTS_CAPACITY_H
#define TG_KUBERNETES_OBJECTS_CAPACITY_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"

struct tg_capacity_range { /* CapacityRequestPolicyRange */
    const char *min, *max, *step;
};
struct tg_capacity_policy { /* CapacityRequestPolicy */
    const char *default_;
    TG_LIST_OF(const char *) valid_values;
    struct tg_capacity_range *valid_range;
};

/* requestPolicy of a device's capacity; text is not NULL. TG_INVALID_ARGUMENT: the text is none;
 * TG_RESOURCE_EXHAUSTED. */
int tg_capacity_policy_read(const char *text, struct tg_arena *arena,
                            struct tg_capacity_policy **ret, struct tg_error *err);
/* An object of quantities, as consumedCapacity of a result is one; text NULL: none. Errors as
 * above. */
int tg_capacity_amounts_read(const char *text, struct tg_arena *arena,
                             const struct tg_string_pair **ret, size_t *ret_n,
                             struct tg_error *err);

/* The requests of CapacityRequirements, as `capacity` of a device request is one. Errors and NULL
 * as above. */
int tg_capacity_requests_read(const char *text, struct tg_arena *arena,
                              const struct tg_string_pair **ret, size_t *ret_n,
                              struct tg_error *err);

#endif
