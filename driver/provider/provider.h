/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where devices come from. A provider is a table of functions; what it lists is plain data: the
 * device as a ResourceSlice shows it, its UUID, and what a container needs in order to use it.
 *
 *   sim   a scripted inventory (sim.h)
 *   nvml  NVIDIA cards through their driver's library (nvml/nvml.h)
 */
#ifndef TG_DRIVER_PROVIDER_PROVIDER_H
#define TG_DRIVER_PROVIDER_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/error.h"
#include "api/tangram/gpu_config.h"

/* A part of a card with memory and engines of its own (MIG): where it is, or would be. */
struct tg_partition {
    const char *card;      /* device name of the card, whether or not it is a device as well */
    const char *card_uuid; /* "GPU-..." */
    unsigned profile_id;   /* nvmlGpuInstanceProfileInfo.id: names drift between drivers */
    unsigned start, size;  /* memory slices */
    bool dynamic;          /* made when a claim is prepared, and removed when it is unprepared */
};

/* What stands at the place of a partition. */
struct tg_instance {
    unsigned gi, ci;  /* GPU instance, compute instance */
    const char *uuid; /* "MIG-..." */
};

/* An instance that was found on a card which is partitioned on demand. */
struct tg_standing {
    struct tg_partition place;
    const char *profile; /* name, for people */
    bool whole;          /* can be given away as it is */
};

/* What a container gets. */
struct tg_edit_node { /* a character device */
    const char *path;
    bool numbered; /* with its numbers, so that the node need not exist on the host */
    unsigned major, minor;
};
struct tg_edit_mount { /* read-only */
    const char *host_path, *container_path;
};
struct tg_edit_hook {
    const char *path;
    TG_LIST_OF(const char *) args;
};
struct tg_edits {
    TG_LIST_OF(const char *) env;
    TG_LIST_OF(struct tg_edit_node) nodes;
    TG_LIST_OF(struct tg_edit_mount) mounts;
    TG_LIST_OF(struct tg_edit_hook) hooks; /* createContainer */
};

/* One device. Everything lives in the arena of its set. */
struct tg_provider_device {
    /* As published. `name` is a DNS label that never changes while the hardware stands; attribute
     * and capacity keys are without a domain (the driver's own) unless standardised, and sorted by
     * key. */
    struct tg_device device;
    const char *uuid; /* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"; NULL: a partition that has
                       * none before it is made */
    unsigned minor;   /* nvml: of the card's device node */
    const struct tg_partition *partition; /* NULL: a whole card */
    /* NAME=VALUE for a container that gets the device. Containers may get several devices and the
     * last value of a name wins, so each name must be one device's own. */
    TG_LIST_OF(const char *) env;
};

/* What a provider found at one moment, in a stable order (position on the node). */
struct tg_device_set {
    struct tg_arena *arena;
    TG_LIST_OF(struct tg_provider_device) devices;
    /* Of which devices consume (device.consumes_counters). */
    TG_LIST_OF(struct tg_counter_set) counter_sets;
    /* On cards that are partitioned on demand: whose they are is for the caller to say
     * (driver/partition). */
    TG_LIST_OF(struct tg_standing) standing;
    /* What is there and cannot be offered, for people: "card 0000:41:00.0: ...". */
    TG_LIST_OF(const char *) problems;
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

/* True if the text is the pattern of `n` bytes, whose last may be '*' for any rest. */
bool tg_device_pattern_fits(const char *pattern, size_t n, const char *text);

struct tg_provider;

/* The functions of a provider. Calls may block (hardware): programs make them off their loop. */
struct tg_provider_ops {
    const char *name;
    /* Fills *ret (zeroed by the caller), which the caller frees with tg_device_set_done. */
    int (*list)(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err);
    void (*free)(struct tg_provider *provider);
    /* The rest is NULL where devices are neither partitioned nor more than variables. */

    /* What stands at the partition's place now: 0 and *ret if exactly that does, TG_NOT_FOUND if
     * nothing, TG_FAILED_PRECONDITION (retry) if something else reaches into it, which the text
     * names. TG_UNAVAILABLE if the hardware cannot be asked. */
    int (*look)(struct tg_provider *provider, const struct tg_partition *partition,
                struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err);
    /* Makes it, at exactly that place; after a failure nothing is left of it, unless the text says
     * otherwise. One of which only a part is there is completed. */
    int (*create)(struct tg_provider *provider, const struct tg_partition *partition,
                  struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err);
    /* Removes what stands exactly there; nothing is success. */
    int (*destroy)(struct tg_provider *provider, const struct tg_partition *partition,
                   struct tg_error *err);
    /* How the card of that UUID is set now: what can be asked of it. TG_UNAVAILABLE as above. */
    int (*settings)(struct tg_provider *provider, const char *card_uuid,
                    struct tg_gpu_settings *ret, struct tg_error *err);
    /* Sets what is set in `wanted`, and leaves the rest. NULL: cards cannot be set. */
    int (*set)(struct tg_provider *provider, const char *card_uuid,
               const struct tg_gpu_settings *wanted, struct tg_error *err);
    /* What a container needs for the device; `instance` of a partition. In the arena. */
    int (*edit)(struct tg_provider *provider, const struct tg_provider_device *device,
                const struct tg_instance *instance, struct tg_arena *arena, struct tg_edits *ret,
                struct tg_error *err);
    /* What it needs besides, whatever the device. */
    int (*edit_common)(struct tg_provider *provider, struct tg_arena *arena, struct tg_edits *ret,
                       struct tg_error *err);
};

/* First member of every implementation. */
struct tg_provider {
    const struct tg_provider_ops *ops;
};

struct tg_provider_options {
    const char *node_name; /* identity of simulated hardware */
    const char *inventory; /* sim: path of a SimInventory document */
    /* nvml */
    const char *library;     /* of the driver: a path, or a name for the loader */
    const char *system_root; /* where proc, sys and dev are; "" or NULL: / */
    const char *driver_root; /* where the driver's libraries are for containers; "": / */
    const char *host_root;   /* what driver_root is called on the host, whose paths the edits name;
                              * "" or NULL: the same */
    const char *dynamic_mig; /* cards that are partitioned on demand: comma-separated UUIDs, PCI
                              * addresses and product names, of which the last may end in '*' */
    int64_t call_timeout;    /* ns for one call of the library, after which its card is left alone
                              * until it returns; 0: 15 s */
    const struct tg_clock *clock; /* of that; NULL: the system's */
};

/*
 * A provider of that kind ("sim", "nvml"). Reads and checks its inputs, so that a wrong inventory
 * is told here. TG_INVALID_ARGUMENT for an unknown kind (the known ones are listed) and for wrong
 * inputs
 * ("FILE:LINE: ...").
 */
int tg_provider_new(const char *kind, const struct tg_provider_options *options,
                    struct tg_provider **ret, struct tg_error *err);
/* NULL is allowed. */
void tg_provider_free(struct tg_provider *provider);
/* A provider was freed while a call hung, and its thread let go of. The call may hold what exit()
 * waits for (the loader's lock, while a library is loaded): such a process ends with _exit(). */
bool tg_provider_left_behind(void);
static inline int tg_provider_list(struct tg_provider *provider, struct tg_device_set *ret,
                                   struct tg_error *err)
{
    return provider->ops->list(provider, ret, err);
}

#endif
