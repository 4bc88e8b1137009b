/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card as its driver tells it. Nothing that the driver answers is trusted: strings are cut and
 * checked, counts bounded. What an older driver cannot tell is left open (0, "", TG_CARD_UNKNOWN),
 * and what it tells wrongly is an error of that card only.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_CARD_H
#define TG_DRIVER_PROVIDER_NVML_CARD_H

#include <stdint.h>

#include "api/mig/card.h"
#include "driver/provider/nvml/library.h"

#define TG_NVML_CARDS_MAX 64
#define TG_NVML_SLICES_MAX 8 /* memory slices of a card */

struct tg_nvml_profile {
    unsigned id;
    char name[32]; /* "1g.10gb" */
    unsigned compute_slices, instances;
    uint64_t memory_mib;
    unsigned multiprocessors, engines[TG_CARD_ENGINES]; /* 0: the driver does not say */
    unsigned size;                                      /* memory slices */
    unsigned starts[TG_NVML_SLICES_MAX];
    size_t n_starts;
};

struct tg_nvml_card {
    void *handle;
    unsigned index, minor;
    char uuid[48];         /* "GPU-..." */
    char device_name[17];  /* "gpu-<12 hex digits>" */
    char product_name[65]; /* */
    char bus_id[13];       /* "0000:41:00.0" */
    char pcie_root[16];    /* "pci0000:40", "" if unknown */
    char fabric_clique[49];
    const char *architecture, *brand; /* static, NULL if unknown */
    int compute_major, compute_minor; /* 0 if unknown */
    int numa_node;                    /* -1 if unknown */
    uint64_t memory;                  /* bytes */
    bool mig;                         /* MIG mode is on */
    unsigned slices;                  /* memory slices; 0 without MIG */
    struct tg_nvml_profile profiles[NVML_GI_PROFILES];
    size_t n_profiles;
};

/* Reads card `index`. `root` is where proc and sys are ("" is /). */
int tg_nvml_card_read(const struct tg_nvml *nvml, unsigned index, const char *root,
                      struct tg_nvml_card *ret, struct tg_error *err);
/* True if the card that was read before is still behind its handle, in the same MIG mode. Asks for
 * little, where reading it again asks for each profile. */
bool tg_nvml_card_stands(const struct tg_nvml *nvml, const struct tg_nvml_card *card);
/* The profile of that id, or NULL. */
const struct tg_nvml_profile *tg_nvml_card_profile(const struct tg_nvml_card *card, unsigned id);

#endif
