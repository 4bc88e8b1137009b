/* SPDX-License-Identifier: Apache-2.0 */
/* Cards and what is on them -> devices of a set (attributes and rules: nvml.h). */
#ifndef TG_DRIVER_PROVIDER_NVML_DEVICES_H
#define TG_DRIVER_PROVIDER_NVML_DEVICES_H

#include "api/runtime/base/vec.h"
#include "driver/provider/nvml/instances.h"
#include "driver/provider/provider.h"

/* A set that grows. Lists move while it does; nothing of it may be kept before _finish. */
struct tg_nvml_devices {
    struct tg_arena *arena;
    const char *driver_version, *cuda_version; /* semver, NULL if unknown */
    TG_VEC(struct tg_provider_device) devices;
    TG_VEC(struct tg_counter_set) counter_sets;
    TG_VEC(struct tg_standing) standing;
    TG_VEC(const char *) problems;
};
void tg_nvml_devices_done(struct tg_nvml_devices *devices);

/* A card of that device name has been added: what is told of this one is not to be trusted. */
bool tg_nvml_devices_has_card(const struct tg_nvml_devices *devices,
                              const struct tg_nvml_card *card);
/* A card as a whole. */
void tg_nvml_devices_add_card(struct tg_nvml_devices *devices, const struct tg_nvml_card *card);
/* The instances on it; one that cannot be given away is a problem. */
void tg_nvml_devices_add_static(struct tg_nvml_devices *devices, const struct tg_nvml_card *card,
                                const struct tg_nvml_instances *instances);
/*
 * Every place of every plain profile: of several profiles of one size the first, which is the one
 * without extra engines (order of NVML_GPU_INSTANCE_PROFILE_*). In the order in which a
 * first-fit allocator should take them: small profiles first, and of one profile the place first
 * that closes the least. Instances that are there are listed as standing.
 */
void tg_nvml_devices_add_dynamic(struct tg_nvml_devices *devices, const struct tg_nvml_card *card,
                                 const struct tg_nvml_instances *instances);
void tg_nvml_devices_add_problem(struct tg_nvml_devices *devices, const char *text);
/* Copies the lists into the arena, which *ret takes over. TG_RESOURCE_EXHAUSTED. */
int tg_nvml_devices_finish(struct tg_nvml_devices *devices, struct tg_device_set *ret,
                           struct tg_error *err);

#endif
