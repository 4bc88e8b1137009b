/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where devices come from. A provider is a table of functions; what it lists is plain data: the
 * device as a ResourceSlice shows it, its UUID, and what a container needs in order to use it.
 *
 *   sim   a scripted inventory (sim.h)
 */
#ifndef TG_DRIVER_PROVIDER_PROVIDER_H
#define TG_DRIVER_PROVIDER_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

/* One device. Everything lives in the arena of its set. */
struct tg_provider_device {
    /* As published. `name` is a DNS label that never changes while the hardware stands; attribute
     * and capacity keys are without a domain (the driver's own) unless standardised, and sorted by
     * key. */
    struct tg_device device;
    const char *uuid; /* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
    /* NAME=VALUE for a container that gets the device. Containers may get several devices and the
     * last value of a name wins, so each name must be one device's own. */
    TG_LIST_OF(const char *) env;
};

/* What a provider found at one moment, in a stable order (position on the node). */
struct tg_device_set {
    struct tg_arena *arena;
    TG_LIST_OF(struct tg_provider_device) devices;
};

/* Frees what the set holds (not the struct); an all-zero set is allowed. */
void tg_device_set_done(struct tg_device_set *set);
/* The device of that name, or NULL. */
const struct tg_provider_device *tg_device_set_find(const struct tg_device_set *set,
                                                    const char *name);
/*
 * Checks everything that the API server would refuse, and what Tangram refuses itself: device names
 * (DNS label, unique), at most 32 attributes and capacities a device, keys (C identifier <= 32
 * bytes, optional DNS domain <= 63), no key of domain tangram.dev (the controller's guard relies on
 * it), exactly one value an attribute, strings <= 64 bytes, versions semver, capacities quantities.
 * A set that passes can be published as it is. TG_INVALID_ARGUMENT names device and key.
 */
int tg_device_set_validate(const struct tg_device_set *set, struct tg_error *err);
/* The same for one device. */
int tg_device_validate(const struct tg_device *device, struct tg_error *err);
/* TG_INVALID_ARGUMENT says what is wrong with the key (rules above); the text does not repeat the
 * key. */
int tg_device_key_validate(const char *key, struct tg_error *err);

struct tg_provider;

/* The functions of a provider. Calls may block (hardware): programs make them off their loop. */
struct tg_provider_ops {
    const char *name;
    /* Fills *ret (zeroed by the caller), which the caller frees with tg_device_set_done. */
    int (*list)(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err);
    void (*free)(struct tg_provider *provider);
};

/* First member of every implementation. */
struct tg_provider {
    const struct tg_provider_ops *ops;
};

struct tg_provider_options {
    const char *node_name; /* identity of simulated hardware */
    const char *inventory; /* sim: path of a SimInventory document */
};

/*
 * A provider of that kind ("sim"). Reads and checks its inputs, so that a wrong inventory is told
 * here. TG_INVALID_ARGUMENT for an unknown kind (the known ones are listed) and for wrong inputs
 * ("FILE:LINE: ...").
 */
int tg_provider_new(const char *kind, const struct tg_provider_options *options,
                    struct tg_provider **ret, struct tg_error *err);
/* NULL is allowed. */
void tg_provider_free(struct tg_provider *provider);
static inline int tg_provider_list(struct tg_provider *provider, struct tg_device_set *ret,
                                   struct tg_error *err)
{
    return provider->ops->list(provider, ret, err);
}

#endif
