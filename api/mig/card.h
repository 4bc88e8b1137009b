/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What GPU cards are: sizes, names, and for those that can be partitioned (MIG) the profiles and
 * where they may sit. Constant tables, generated from geometry.json (sources are named there).
 * Pure: nothing here touches hardware.
 */
#ifndef TG_MIG_CARD_H
#define TG_MIG_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_CARD_UNKNOWN (-1) /* nobody has read the number: never guess, ask the driver */

enum tg_card_engine {
    TG_CARD_COPY,
    TG_CARD_DECODER,
    TG_CARD_ENCODER,
    TG_CARD_JPEG,
    TG_CARD_OFA,
    TG_CARD_ENGINES, /* how many kinds there are */
};

/* Media engines of a profile: its share, more ("+me"), all of the card ("+me.all"), none ("-me").
 */
enum tg_card_media {
    TG_CARD_MEDIA_SHARE,
    TG_CARD_MEDIA_EXTRA,
    TG_CARD_MEDIA_ALL,
    TG_CARD_MEDIA_NONE
};

struct tg_card_profile {
    const char
        *name; /* "3g.40gb"; drifts from driver to driver: match on gi_profile_id, print the name */
    int16_t gi_profile_id; /* nvmlGpuInstanceProfileInfo.id, or TG_CARD_UNKNOWN */
    int16_t nvml_profile;  /* NVML_GPU_INSTANCE_PROFILE_*, or TG_CARD_UNKNOWN */
    uint8_t compute_slices;
    uint8_t memory_slices; /* length of the window */
    uint8_t starts;        /* bit i: may start at memory slice i */
    uint8_t max_instances;
    int32_t memory_mib;      /* or TG_CARD_UNKNOWN */
    int16_t multiprocessors; /* or TG_CARD_UNKNOWN */
    int8_t engines[TG_CARD_ENGINES];
    enum tg_card_media media;
    bool graphics; /* "+gfx" */
    bool seen;     /* read from a driver or its manual, not only derived */
};

struct tg_card {
    const char *id;                   /* ours, "h100-80gb" */
    const char *const *product_names; /* as the driver prints them; unique over all cards */
    size_t n_product_names;
    const uint16_t *pci_device_ids; /* only those that belong to one card; vendor 10de */
    size_t n_pci_device_ids;
    const char *architecture;       /* "Hopper" */
    const char *brand;              /* "Nvidia", "NvidiaRTX", "GeForce", "Tesla", "QuadroRTX" */
    const char *compute_capability; /* CUDA, "9.0" */
    uint32_t memory_gib;            /* nominal; drivers report a little less */
    int16_t multiprocessors;        /* or TG_CARD_UNKNOWN */
    uint8_t memory_slices;          /* 0: cannot be partitioned */
    uint8_t max_instances;
    const struct tg_card_profile *profiles;
    size_t n_profiles;
};

/* The table itself, in the order of geometry.json. */
extern const struct tg_card tg_cards[];
extern const size_t tg_cards_n;

/* The card of that product name (exact, as the driver prints it), or NULL. */
const struct tg_card *tg_card_find(const char *product_name);
/* The card of that PCI device id (vendor 10de), or NULL if unknown or shared by different cards. */
const struct tg_card *tg_card_find_pci(uint16_t device_id);
/* Profile by name or by GPU instance profile id, or NULL. */
const struct tg_card_profile *tg_card_profile(const struct tg_card *card, const char *name);
const struct tg_card_profile *tg_card_profile_by_id(const struct tg_card *card, int gi_profile_id);

/*
 * Known product names that a person may have meant by `text`, the likeliest first: names that
 * contain it, or nearly do, whatever the case. Fills at most `max` pointers to static strings and
 * returns how many. Text that is like no name gives 0.
 */
size_t tg_card_suggest(const char *text, const char **ret, size_t max);

#endif
