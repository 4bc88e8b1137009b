/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static const struct {
    const char *name;
    enum tg_check_feature bit;
} features[] = {
    {"AdminAccess", TG_CHECK_ADMIN_ACCESS},
    {"PrioritizedList", TG_CHECK_PRIORITIZED_LIST},
    {"PartitionableDevices", TG_CHECK_PARTITIONABLE_DEVICES},
    {"DeviceTaints", TG_CHECK_DEVICE_TAINTS},
    {"DeviceBindingAndStatus", TG_CHECK_BINDING_CONDITIONS},
    {"ConsumableCapacity", TG_CHECK_CONSUMABLE_CAPACITY},
    {"ListTypeAttributes", TG_CHECK_LIST_ATTRIBUTES},
    {"FractionalCapacityRange", TG_CHECK_FRACTIONAL_CAPACITY},
};

unsigned tg_check_feature_named(const char *name)
{
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        if (tg_streq(features[i].name, name))
            return features[i].bit;
    }
    return 0;
}

int tg_check_broken(const struct tg_check_view *view, const char *rule, size_t claim,
                    const struct tg_check_ask *ask, const struct tg_check_pick *pick,
                    const char *format, ...)
{
    const struct tg_object_meta *meta = view->in->claims[claim].claim->metadata;
    char what[300];
    va_list args;
    int rc;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    rc = tg_error_set(view->err, TG_FAILED_PRECONDITION, "%s", what);
    if (pick != NULL)
        tg_error_wrap(view->err, "device %s/%s/%s", pick->result->driver, pick->result->pool,
                      pick->result->device);
    if (ask != NULL)
        tg_error_wrap(view->err, "request %s", ask->name);
    tg_error_wrap(view->err, "claim %s", meta == NULL ? "" : tg_or(meta->name, ""));
    if (view->err != NULL)
        snprintf(view->err->reason, sizeof(view->err->reason), "%s", rule);
    return rc;
}

int tg_check_no_memory(const struct tg_check_view *view)
{
    return tg_error_set(view->err, TG_RESOURCE_EXHAUSTED,
                        "the memory for checking an allocation is used up");
}

const struct tg_allocation *tg_check_allocation_of(const struct tg_check_claim *claim)
{
    if (claim->allocation != NULL)
        return claim->allocation;
    return claim->claim->status == NULL ? NULL : claim->claim->status->allocation;
}

static int check_input(const struct tg_check_input *in, struct tg_error *err)
{
    if (in->node == NULL || in->node->metadata == NULL || in->node->metadata->name == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "an allocation is checked for a node");
    for (size_t i = 0; i < in->n_claims; i++) {
        const struct tg_resource_claim *claim = in->claims[i].claim;

        if (claim == NULL || claim->spec == NULL || claim->spec->devices == NULL)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "claim %zu has no spec.devices", i);
    }
    return 0;
}

/* In the order in which they need each other. */
static const struct {
    int (*judge)(struct tg_check_view *view);
    bool of_text; /* what the allocation says, not what it gives away */
} rules[] = {
    {tg_check_requests, false},      {tg_check_devices, false},     {tg_check_copies, true},
    {tg_check_capacities, false},    {tg_check_shares, true},       {tg_check_all_devices, false},
    {tg_check_counters, false},      {tg_check_constraints, false}, {tg_check_configs, true},
    {tg_check_node_selectors, true},
};

static int check_rules(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (!view->in->devices_only || !rules[i].of_text)
            rc = rules[i].judge(view);
    }
    return rc;
}

int tg_check_allocation(const struct tg_check_input *input, struct tg_arena *arena,
                        struct tg_error *err)
{
    struct tg_check_view view = {.in = input, .arena = arena, .err = err};
    int rc = check_input(input, err);

    if (rc == 0)
        rc = tg_check_pools(&view);
    if (rc < 0)
        return rc;
    do {
        rc = check_rules(&view);
    } while (rc == -TG_FAILED_PRECONDITION && ++view.namesake < view.n_namesakes);
    return rc;
}
