/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/features.h"

#include <stddef.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"

/* since: the release in which the gate is on by default. */
static const struct {
    enum tg_feature feature;
    const char *name;
    unsigned since;
} gates[] = {
    {TG_FEATURE_ADMIN_ACCESS, "AdminAccess", 34},
    {TG_FEATURE_PRIORITIZED_LIST, "PrioritizedList", 34},
    {TG_FEATURE_PARTITIONABLE_DEVICES, "PartitionableDevices", 36},
    {TG_FEATURE_DEVICE_TAINTS, "DeviceTaints", 36},
    {TG_FEATURE_DEVICE_BINDING_AND_STATUS, "DeviceBindingAndStatus", 36},
    {TG_FEATURE_CONSUMABLE_CAPACITY, "ConsumableCapacity", 36},
    {TG_FEATURE_LIST_TYPE_ATTRIBUTES, "ListTypeAttributes", TG_RELEASE_NEWEST + 1},
    {TG_FEATURE_FRACTIONAL_CAPACITY_RANGE, "FractionalCapacityRange", 37},
};

struct tg_rules tg_rules_of_objects(void)
{
    return (struct tg_rules){.features = TG_QUIRK_ALL_SKIPS_USED - 1, .release = TG_RELEASE_NEWEST};
}

struct tg_rules tg_rules_of_release(unsigned minor)
{
    struct tg_rules rules = {.release = minor};

    if (minor < TG_RELEASE_OLDEST)
        rules.release = TG_RELEASE_OLDEST;
    if (minor > TG_RELEASE_NEWEST)
        rules.release = TG_RELEASE_NEWEST;
    if (rules.release < 37)
        rules.features |= TG_QUIRK_ALL_SKIPS_USED;
    for (size_t i = 0; i < TG_ARRAY_SIZE(gates); i++) {
        if (rules.release >= gates[i].since)
            rules.features |= gates[i].feature;
    }
    return rules;
}

unsigned tg_feature_parse(const char *name)
{
    if (strncmp(name, "DRA", 3) == 0)
        name += 3;
    for (size_t i = 0; i < TG_ARRAY_SIZE(gates); i++) {
        if (strcmp(gates[i].name, name) == 0)
            return gates[i].feature;
    }
    return 0;
}

const char *tg_feature_name(unsigned feature)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(gates); i++) {
        if (gates[i].feature == feature)
            return gates[i].name;
    }
    return NULL;
}
