/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which optional parts of the DRA API are in force, and which release's built-in allocator is the
 * yardstick. A gate that is off is not "the field is ignored" everywhere: a device that consumes
 * counters or has binding conditions becomes unusable, a request that asks for capacity an error;
 * each user of the set says what it does (dra-api: gates by version, validity rules).
 */
#ifndef TG_CORE_MODEL_FEATURES_H
#define TG_CORE_MODEL_FEATURES_H

#include <stdbool.h>

enum tg_feature {
    TG_FEATURE_ADMIN_ACCESS = 1U << 0,          /* DRAAdminAccess */
    TG_FEATURE_PRIORITIZED_LIST = 1U << 1,      /* DRAPrioritizedList */
    TG_FEATURE_PARTITIONABLE_DEVICES = 1U << 2, /* DRAPartitionableDevices */
    TG_FEATURE_DEVICE_TAINTS = 1U << 3,         /* DRADeviceTaints */
    /* DRADeviceBindingConditions, which needs DRAResourceClaimDeviceStatus */
    TG_FEATURE_DEVICE_BINDING_AND_STATUS = 1U << 4,
    TG_FEATURE_CONSUMABLE_CAPACITY = 1U << 5,       /* DRAConsumableCapacity */
    TG_FEATURE_LIST_TYPE_ATTRIBUTES = 1U << 6,      /* DRAListTypeAttributes */
    TG_FEATURE_FRACTIONAL_CAPACITY_RANGE = 1U << 7, /* DRAFractionalCapacityRange */
    /* No gate: a slice with devices and counters is one that a server of 1.34 has kept, and its
     * counters are those of its devices; newer ones keep no such slice, and their allocator looks
     * for no devices in it. */
    TG_QUIRK_COUNTERS_BESIDE_DEVICES = 1U << 8,
    /* No gate: before 1.37.0, All leaves out a shared device of which too little is left; later
     * such a device makes the request fail (kubernetes#140769). */
    TG_QUIRK_ALL_SKIPS_USED = 1U << 16,
};

/* Kubernetes 1.`minor` as the yardstick: where releases differ in what they do with the same gates.
 * 37 stands for the head of development as well. */
#define TG_RELEASE_OLDEST 34U
#define TG_RELEASE_NEWEST 37U

struct tg_rules {
    unsigned features; /* of enum tg_feature */
    unsigned release;  /* TG_RELEASE_OLDEST to TG_RELEASE_NEWEST */
};

/* All gates on, by the rules of the newest release. For what a server has kept: it keeps the fields
 * of a gate only while that is on, so what is there counts. */
struct tg_rules tg_rules_of_objects(void);
/* The gates that are on by default in a release; an older or newer one counts as the nearest that
 * we know. */
struct tg_rules tg_rules_of_release(unsigned minor);
static inline bool tg_rules_have(const struct tg_rules *rules, enum tg_feature feature)
{
    return (rules->features & feature) != 0;
}

/* The name that Kubernetes' allocator uses ("PrioritizedList"), and with a "DRA" before it. 0: not
 * a gate that we know. */
unsigned tg_feature_parse(const char *name);
/* Of one bit; NULL if there is none. */
const char *tg_feature_name(unsigned feature);

#endif
