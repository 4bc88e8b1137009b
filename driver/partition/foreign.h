/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances on a card that is partitioned on demand, and were not made by us: by a person, by
 * another program, or by us in a life that nothing remembers. They are never removed. One that is
 * exactly a device is that device, and stays when its claim goes; places into which it reaches
 * otherwise cannot be had, and are taken out of the set.
 */
#ifndef TG_DRIVER_PARTITION_FOREIGN_H
#define TG_DRIVER_PARTITION_FOREIGN_H

#include "driver/provider/provider.h"

/* Changes the set accordingly, and adds a problem for each instance for which `ours` says no.
 * TG_RESOURCE_EXHAUSTED when the arena of the set is. */
int tg_foreign_instances(struct tg_device_set *set,
                         bool (*ours)(void *data, const struct tg_partition *place), void *data,
                         struct tg_error *err);

#endif
