/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this allocation allowed? The rules of the built-in allocator of Kubernetes
 * (dynamic-resource-allocation/structured, 0.34 to 0.37; KEP-4381, 4815, 4816, 5007, 5018, 5055,
 * 5075), read from the result backwards: nothing is searched, and no code is shared with what
 * searches. Tests, the auditor and debug builds ask it.
 *
 * It is as strict as the newest release where releases differ in what they let pass by mistake:
 * distinctAttribute holds between any two devices, a device is in use as long as a share of it is.
 * Where both of two answers are safe (node selectors, entries of config) it takes either.
 */
#ifndef TG_CORE_CHECK_CHECK_H
#define TG_CORE_CHECK_CHECK_H

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "controller/core/cel/zone.h"

/* What the cluster has switched on, bit by bit; names of the allocator's features. */
enum tg_check_feature {
    TG_CHECK_ADMIN_ACCESS = 1U << 0,
    TG_CHECK_PRIORITIZED_LIST = 1U << 1,
    TG_CHECK_PARTITIONABLE_DEVICES = 1U << 2,
    TG_CHECK_DEVICE_TAINTS = 1U << 3,
    TG_CHECK_BINDING_CONDITIONS = 1U << 4, /* DeviceBindingAndStatus */
    TG_CHECK_CONSUMABLE_CAPACITY = 1U << 5,
    TG_CHECK_LIST_ATTRIBUTES = 1U << 6,
    TG_CHECK_FRACTIONAL_CAPACITY = 1U << 7,
    /* No feature: slices with devices and counters, which a server of 1.34 has kept, are what they
     * were there, whatever the release. */
    TG_CHECK_COUNTERS_BESIDE_DEVICES = 1U << 8,
};
#define TG_CHECK_ALL_FEATURES (~0U)
#define TG_CHECK_NEWEST_MINOR 37U
/* The bit of "AdminAccess", "DeviceBindingAndStatus" and so on; 0 for a name that is not known. */
unsigned tg_check_feature_named(const char *name);

/* A device that an allocation holds. share_id: NULL for the whole device. */
struct tg_check_held {
    const char *driver, *pool, *device, *share_id;
};
/* Capacity that allocations consume of a shared device: their sum or one entry each. */
struct tg_check_consumed {
    const char *driver, *pool, *device;
    const char *capacity, *quantity;
};

/* An allocation to be judged. allocation is that of the claim if it is NULL here. */
struct tg_check_claim {
    const struct tg_resource_claim *claim;
    const struct tg_allocation *allocation;
};

struct tg_check_input {
    const struct tg_node *node;
    const struct tg_device_class *const *classes;
    size_t n_classes;
    const struct tg_resource_slice *const *slices; /* of the whole cluster */
    size_t n_slices;
    const struct tg_device_taint_rule *const *taint_rules;
    size_t n_taint_rules;
    /* By other claims, on any node; without adminAccess. */
    const struct tg_check_held *held;
    size_t n_held;
    const struct tg_check_consumed *consumed;
    size_t n_consumed;
    unsigned features;                   /* of enum tg_check_feature */
    unsigned minor;                      /* Kubernetes 1.minor: 34 to 37 */
    const struct tg_cel_zones *zones;    /* that selectors may name; NULL: UTC only */
    const struct tg_check_claim *claims; /* together on this node */
    size_t n_claims;
    /* The allocation is not written yet: only which devices it has is judged, not what it says of
     * them, of the node and of config. */
    bool devices_only;
};

/*
 * 0: all claims have what they ask for, and nobody else has it. TG_FAILED_PRECONDITION: they have
 * not; the message names claim, request, device and what is wrong, err->reason the rule:
 * Structure (results, names, limit of 32), Count, All, FirstAvailable, Feature, Unknown (class,
 * device, pool), Pool (incomplete, superseded, contradictory), Node (out of reach), Selector,
 * InUse, Taint, BindingConditions, Capacity, Share, Counters, MatchAttribute, DistinctAttribute,
 * AdminAccess, Tolerations, Config, NodeSelector. TG_INVALID_ARGUMENT: the input has no node or a
 * claim without spec. TG_RESOURCE_EXHAUSTED: the arena, which takes all memory.
 */
int tg_check_allocation(const struct tg_check_input *input, struct tg_arena *arena,
                        struct tg_error *err);

#endif
