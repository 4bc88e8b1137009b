/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How cards are set for a claim: which settings its configuration asks for, and when they are
 * applied and taken back. What a card was before is in the intent, so that it is known whenever a
 * crash came; taken back are settings when no other claim has a share of the card.
 */
#ifndef TG_DRIVER_PREPARE_SETTINGS_H
#define TG_DRIVER_PREPARE_SETTINGS_H

#include "driver/prepare/record.h"
#include "driver/provider/provider.h"

/*
 * Fills in the settings of the record's devices (in the arena) from the entries of an allocation:
 * those of `driver`, of the class before those of the claim, and of several for one device the last
 * as a whole. An entry without requests is for all devices of its kind. With a request, one that
 * the device cannot have is TG_INVALID_ARGUMENT. Who looks on (adminAccess) sets nothing. Errors
 * name the entry.
 */
int tg_settings_fill(struct tg_claim_record *record, const char *driver,
                     const struct tg_device_config *configs, size_t n,
                     const struct tg_device_set *set, struct tg_arena *arena, struct tg_error *err);
/* Asks how the cards are set now. TG_UNIMPLEMENTED if the provider cannot set any. */
int tg_settings_look(struct tg_claim_record *record, struct tg_provider *provider,
                     struct tg_error *err);
/* Sets the cards. After a failure some may be set. */
int tg_settings_apply(const struct tg_claim_record *record, struct tg_provider *provider,
                      struct tg_error *err);
/* The device's card as it was. */
int tg_settings_undo(const struct tg_claim_device *device, struct tg_provider *provider,
                     struct tg_error *err);

#endif
