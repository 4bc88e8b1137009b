/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `mig`: where on a partitioned card an instance goes. The occupancy of a card is a mask of memory
 * slices. Its value is the sum over the card's profiles of (memory slices of the profile) x (places
 * where it could still start); an instance goes where most of the value is left. Tables of 256
 * entries a card type, so that a placement is a few lookups. Profiles with media extensions,
 * without media or with graphics are left out: they differ in engines, not in the windows.
 */
#ifndef TG_CORE_PACK_PARTITION_H
#define TG_CORE_PACK_PARTITION_H

#include "api/mig/card.h"

#define TG_PARTITION_PROFILES_MAX 8
#define TG_PARTITION_MASKS 256

struct tg_partition {
    const struct tg_card *card;
    /* Plain profiles, the smallest first. */
    const struct tg_card_profile *profiles[TG_PARTITION_PROFILES_MAX];
    unsigned n;
    uint16_t value[TG_PARTITION_MASKS];
};

/* An instance that exists. */
struct tg_partition_instance {
    unsigned card;
    uint8_t profile; /* index in tg_partition.profiles */
    uint8_t start;
    bool pinned; /* must not be moved */
};

/* TG_INVALID_ARGUMENT for a card that cannot be partitioned. */
int tg_partition_init(struct tg_partition *partition, const struct tg_card *card);
/* Index of a plain profile of that gi_profile_id, or TG_PARTITION_PROFILES_MAX. */
unsigned tg_partition_profile(const struct tg_partition *partition, int gi_profile_id);
/* The memory slices of an instance. */
uint8_t tg_partition_window(const struct tg_partition *partition, unsigned profile, uint8_t start);

/* May an instance start there on a card so occupied? */
bool tg_partition_open(const struct tg_partition *partition, uint8_t mask, unsigned profile,
                       uint8_t start);

/* The start that leaves most of the value, the lowest of equal ones; *ret_loss is what the value
 * loses. false: no room. */
bool tg_partition_start(const struct tg_partition *partition, uint8_t mask, unsigned profile,
                        uint8_t *ret_start, int *ret_loss);
/* Card and start for an instance on one of the cards: least loss, then the first card. */
bool tg_partition_place(const struct tg_partition *partition, const uint8_t *masks, unsigned cards,
                        unsigned profile, unsigned *ret_card, uint8_t *ret_start);
/* Could `cards` empty cards hold counts[i] instances of each profile, wherever they go? Exact, by
 * closed form: cards whose profiles halve from one to the next are filled from the largest down;
 * those of eight memory slices and seven compute slices by halves and pairs. TG_UNIMPLEMENTED for a
 * card of any other kind. */
int tg_partition_holds(const struct tg_partition *partition, const int64_t *counts, int64_t cards,
                       bool *ret);

#endif
