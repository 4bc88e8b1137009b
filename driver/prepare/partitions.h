/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of cards that a claim has: found out before the intent is written, made after it, removed
 * when the claim goes. That nothing stood at a place is known before the intent that names the
 * place, so what stands there afterwards was made by us, whenever a crash came.
 */
#ifndef TG_DRIVER_PREPARE_PARTITIONS_H
#define TG_DRIVER_PREPARE_PARTITIONS_H

#include "driver/prepare/record.h"
#include "driver/provider/provider.h"

/* Fills in the partitions of the record's devices (in the arena), from the devices of that name.
 * Touches no hardware. TG_NOT_FOUND (retry) if a device is not there. */
int tg_partitions_fill(struct tg_claim_record *record, const struct tg_device_set *set,
                       struct tg_arena *arena, struct tg_error *err);
/* Looks whether each place is free, which makes it ours to fill, or has exactly what is wanted,
 * which then is somebody else's. TG_FAILED_PRECONDITION (retry) if anything else is in the way, or
 * if what must be there is not. */
int tg_partitions_look(const struct tg_claim_record *record, struct tg_provider *provider,
                       struct tg_error *err);
/* Makes those of ours that are not there, and fills in what stands (strings in the arena). After a
 * failure some may have been made. */
int tg_partitions_make(struct tg_claim_record *record, struct tg_provider *provider,
                       struct tg_arena *arena, struct tg_error *err);
/* Removes those of ours. All are tried; the first error is told. */
int tg_partitions_remove(const struct tg_claim_record *record, struct tg_provider *provider,
                         struct tg_error *err);

#endif
