/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated driver is like: the file that FAKE_NVML_SCENARIO names. Format: README.md. */
#ifndef TG_TESTS_SUPPORT_FAKE_NVML_SCENARIO_H
#define TG_TESTS_SUPPORT_FAKE_NVML_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "api/mig/card.h"
#include "driver/provider/nvml/abi.h"

#define FAKE_CARDS 16
#define FAKE_FAULTS 64
#define FAKE_PROFILES 24
#define FAKE_TEXT 96

enum fake_symbol {
#define SYMBOL(required, name, arguments) FAKE_##name,
    NVML_FUNCTIONS(SYMBOL)
#undef SYMBOL
        FAKE_SYMBOLS,
    FAKE_ANY = FAKE_SYMBOLS,
    FAKE_LOADING, /* no function: the library is loaded, or unloaded */
    FAKE_UNLOADING,
};
/* The names, in that order. */
extern const char *const fake_symbols[FAKE_SYMBOLS];

struct fake_card {
    struct tg_card card; /* of the tables, or made of the scenario's lines */
    struct tg_card_profile profiles[FAKE_PROFILES];
    char name[FAKE_TEXT], uuid[FAKE_TEXT], bus_id[32], root[16], clique[64];
    char profile_names[FAKE_PROFILES][32];
    unsigned device_id, minor;
    unsigned long long memory;
    int numa;
    bool mig;
    unsigned rank; /* of enumeration */
};

struct fake_fault {
    int symbol; /* FAKE_ANY: all */
    int card;   /* -1: all */
    unsigned call, from;
    int error, delay_ms;
    bool hang, garbage, kill_before, kill_after;
};

struct fake_scenario {
    bool loaded; /* the kernel driver is there */
    char driver[FAKE_TEXT];
    int cuda;
    struct fake_card cards[FAKE_CARDS];
    size_t n_cards;
    struct fake_fault faults[FAKE_FAULTS];
    size_t n_faults;
    bool missing[FAKE_SYMBOLS];
};

/* false: the file cannot be read or has a wrong line; `why` says which. */
bool fake_scenario_read(const char *path, struct fake_scenario *ret, char *why, size_t size);

#endif
