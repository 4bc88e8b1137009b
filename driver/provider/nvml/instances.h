/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU instances of a card with MIG mode on, and the compute instances inside them. They are found
 * by walking the instances, not the MIG devices: one without a compute instance is no device, and
 * takes its memory slices all the same.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_INSTANCES_H
#define TG_DRIVER_PROVIDER_NVML_INSTANCES_H

#include "driver/provider/nvml/card.h"
#include "driver/provider/provider.h"

struct tg_nvml_instance {
    void *handle;
    unsigned profile_id, start, size; /* memory slices */
    unsigned gi, ci;
    unsigned n_compute; /* compute instances in it */
    void *compute[TG_NVML_SLICES_MAX];
    bool whole;    /* one compute instance, which has all of it: a device that can be given away */
    char uuid[48]; /* "MIG-..." of that one, "" otherwise */
};

struct tg_nvml_instances {
    struct tg_nvml_instance items[TG_NVML_SLICES_MAX];
    size_t n;
};

/* All that are on the card, by place. */
int tg_nvml_instances_read(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                           struct tg_nvml_instances *ret, struct tg_error *err);
/* The one at exactly that place and of that profile, or NULL. */
const struct tg_nvml_instance *tg_nvml_instances_at(const struct tg_nvml_instances *instances,
                                                    const struct tg_partition *partition);
/* One that reaches into that place, or NULL. */
const struct tg_nvml_instance *tg_nvml_instances_over(const struct tg_nvml_instances *instances,
                                                      unsigned start, unsigned size);

/* Makes the instance, with one compute instance that has all of it; completes one that lacks the
 * latter. What was made is taken back when the rest fails. */
int tg_nvml_instance_create(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                            const struct tg_partition *partition, struct tg_nvml_instance *ret,
                            struct tg_error *err);
/* Removes compute instances, then the instance. */
int tg_nvml_instance_destroy(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                             const struct tg_nvml_instance *instance, struct tg_error *err);

#endif
