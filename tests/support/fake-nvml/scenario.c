/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake-nvml/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define WORDS 40
#define LINE 1024
#define PCI_CARDS_A_ROOT 4

const char *const fake_symbols[FAKE_SYMBOLS] = {
#define SYMBOL(required, name, arguments) #name,
    NVML_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"UNINITIALIZED", NVML_UNINITIALIZED},
    {"INVALID_ARGUMENT", NVML_INVALID_ARGUMENT},
    {"NOT_SUPPORTED", NVML_NOT_SUPPORTED},
    {"NO_PERMISSION", NVML_NO_PERMISSION},
    {"NOT_FOUND", NVML_NOT_FOUND},
    {"INSUFFICIENT_SIZE", NVML_INSUFFICIENT_SIZE},
    {"DRIVER_NOT_LOADED", NVML_DRIVER_NOT_LOADED},
    {"TIMEOUT", NVML_TIMEOUT},
    {"GPU_IS_LOST", NVML_GPU_IS_LOST},
    {"RESET_REQUIRED", NVML_RESET_REQUIRED},
    {"LIB_RM_VERSION_MISMATCH", NVML_LIB_RM_VERSION_MISMATCH},
    {"IN_USE", NVML_IN_USE},
    {"MEMORY", NVML_MEMORY},
    {"INSUFFICIENT_RESOURCES", NVML_INSUFFICIENT_RESOURCES},
    {"NOT_READY", NVML_NOT_READY},
    {"UNKNOWN", NVML_UNKNOWN},
};

struct word {
    char *key, *value; /* value NULL: a bare word */
};

/* Cuts a line into words, KEY, KEY=VALUE or KEY="VALUE WITH BLANKS". */
static size_t split(char *line, struct word *words)
{
    size_t n = 0;
    for (char *p = line; n < WORDS;) {
        p += strspn(p, " \t\r\n");
        if (*p == '\0' || *p == '#')
            break;
        struct word *word = &words[n++];
        *word = (struct word){.key = p};
        p += strcspn(p, " \t\r\n=");
        if (*p == '=') {
            *p++ = '\0';
            bool quoted = *p == '"';
            word->value = quoted ? ++p : p;
            p += strcspn(p, quoted ? "\"\n" : " \t\r\n");
        }
        if (*p != '\0')
            *p++ = '\0';
    }
    return n;
}

static const char *get(const struct word *words, size_t n, const char *key)
{
    for (size_t i = 1; i < n; i++) {
        if (tg_streq(words[i].key, key))
            return tg_or(words[i].value, "");
    }
    return NULL;
}

static long long number(const struct word *words, size_t n, const char *key, long long fallback)
{
    const char *text = get(words, n, key);
    return text == NULL ? fallback : strtoll(text, NULL, 0);
}

static void text(const struct word *words, size_t n, const char *key, char *ret, size_t size)
{
    const char *value = get(words, n, key);
    if (value != NULL)
        snprintf(ret, size, "%s", value);
}

/* ---- cards ---- */

static const struct tg_card *find_card(const char *id)
{
    for (size_t i = 0; i < tg_cards_n; i++) {
        if (tg_streq(tg_cards[i].id, id))
            return &tg_cards[i];
    }
    return NULL;
}

/* Identity follows from the position, and can be given. */
static void identify(struct fake_card *card, size_t position)
{
    char seed[FAKE_TEXT * 2];
    snprintf(seed, sizeof(seed), "%s/%zu", card->name, position);
    uint64_t hash = tg_hash64(seed, strlen(seed)) * UINT64_C(0x9e3779b97f4a7c15);
    unsigned bus = 0x10 + (unsigned)(position / PCI_CARDS_A_ROOT) * 0x10;
    snprintf(card->uuid, sizeof(card->uuid), "GPU-%08x-%04x-4000-8000-%012" PRIx64,
             (unsigned)(hash >> 32), (unsigned)(hash >> 16 & 0xffff), hash & 0xffffffffffff);
    snprintf(card->root, sizeof(card->root), "pci0000:%02x", bus);
    snprintf(card->bus_id, sizeof(card->bus_id), "0000:%02x:00.0",
             bus + 1 + (unsigned)(position % PCI_CARDS_A_ROOT));
    card->minor = card->rank = (unsigned)position;
    card->numa = (int)(position / PCI_CARDS_A_ROOT);
}

static const char *add_card(struct fake_scenario *s, const struct word *words, size_t n)
{
    const struct tg_card *known = n > 1 ? find_card(words[1].key) : NULL;
    bool custom = n > 1 && tg_streq(words[1].key, "custom");
    long long count = number(words, n, "count", 1);
    if (known == NULL && !custom)
        return "card: neither an id of geometry.json nor \"custom\"";
    for (long long i = 0; i < count; i++) {
        if (s->n_cards == FAKE_CARDS)
            return "card: too many";
        struct fake_card *card = &s->cards[s->n_cards];
        *card = (struct fake_card){0};
        if (known != NULL) {
            card->card = *known;
            card->memory = (unsigned long long)known->memory_gib << 30;
            snprintf(card->name, sizeof(card->name), "%s", known->product_names[0]);
            card->device_id = known->n_pci_device_ids > 0 ? known->pci_device_ids[0] : 0;
        }
        text(words, n, "name", card->name, sizeof(card->name));
        identify(card, s->n_cards++);
        text(words, n, "uuid", card->uuid, sizeof(card->uuid));
        text(words, n, "pci", card->bus_id, sizeof(card->bus_id));
        text(words, n, "clique", card->clique, sizeof(card->clique));
        card->card.architecture = tg_or(card->card.architecture, "Hopper");
        card->card.brand = tg_or(card->card.brand, "Nvidia");
        card->card.compute_capability = tg_or(card->card.compute_capability, "9.0");
        card->card.memory_slices = (uint8_t)number(words, n, "slices", card->card.memory_slices);
        card->memory = (unsigned long long)number(words, n, "memory", (long long)card->memory);
        card->minor = (unsigned)number(words, n, "minor", card->minor);
        card->rank = (unsigned)number(words, n, "rank", card->rank);
        card->numa = (int)number(words, n, "numa", card->numa);
        card->mig = tg_streq(get(words, n, "mig"), "on");
    }
    return NULL;
}

/* A profile of the card before. */
static const char *add_profile(struct fake_scenario *s, const struct word *words, size_t n)
{
    struct fake_card *card = s->n_cards == 0 ? NULL : &s->cards[s->n_cards - 1];
    if (card == NULL || card->card.n_profiles == FAKE_PROFILES)
        return "profile: without a card, or too many";
    size_t at = card->card.profiles == card->profiles ? card->card.n_profiles : 0;
    struct tg_card_profile *profile = &card->profiles[at];
    *profile = (struct tg_card_profile){
        .name = card->profile_names[at],
        .gi_profile_id = (int16_t)number(words, n, "id", 0),
        .nvml_profile = (int16_t)number(words, n, "nvml", 0),
        .compute_slices = (uint8_t)number(words, n, "compute", 1),
        .memory_slices = (uint8_t)number(words, n, "slices", 1),
        .max_instances = (uint8_t)number(words, n, "max", 8),
        .memory_mib = (int32_t)number(words, n, "memory", 0),
        .multiprocessors = (int16_t)number(words, n, "sm", 0),
        .seen = true,
    };
    text(words, n, "name", card->profile_names[at], sizeof(card->profile_names[at]));
    for (const char *p = tg_or(get(words, n, "starts"), "0"); *p != '\0'; p++) {
        if (*p >= '0' && *p <= '7')
            profile->starts |= (uint8_t)(1U << (*p - '0'));
    }
    card->card.profiles = card->profiles;
    card->card.n_profiles = at + 1;
    return NULL;
}

/* ---- faults ---- */

static int symbol_of(const char *name)
{
    for (int i = 0; i < FAKE_SYMBOLS; i++) {
        if (tg_streq(fake_symbols[i], name))
            return i;
    }
    return tg_streq(name, "*")         ? FAKE_ANY
           : tg_streq(name, "dlopen")  ? FAKE_LOADING
           : tg_streq(name, "dlclose") ? FAKE_UNLOADING
                                       : -1;
}

static int error_of(const char *name)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(errors); i++) {
        if (tg_streq(errors[i].name, name))
            return errors[i].number;
    }
    return (int)strtol(name, NULL, 10);
}

static const char *add_fault(struct fake_scenario *s, const struct word *words, size_t n)
{
    int symbol = n > 1 ? symbol_of(words[1].key) : -1;
    if (symbol < 0 || s->n_faults == FAKE_FAULTS)
        return "fault: no such function, or too many faults";
    const char *kill = tg_or(get(words, n, "kill"), "");
    const char *error = get(words, n, "error");
    s->faults[s->n_faults++] = (struct fake_fault){
        .symbol = symbol,
        .card = (int)number(words, n, "on", -1),
        .call = (unsigned)number(words, n, "call", 0),
        .from = (unsigned)number(words, n, "from", 0),
        .error = error == NULL ? 0 : error_of(error),
        .delay_ms = (int)number(words, n, "delay", 0),
        .hang = get(words, n, "hang") != NULL,
        .garbage = get(words, n, "garbage") != NULL,
        .kill_before = tg_streq(kill, "before"),
        .kill_after = tg_streq(kill, "after"),
    };
    return NULL;
}

static const char *add_missing(struct fake_scenario *s, const struct word *words, size_t n)
{
    int symbol = n > 1 ? symbol_of(words[1].key) : -1;
    if (symbol < 0 || symbol >= FAKE_SYMBOLS)
        return "missing: no such function";
    s->missing[symbol] = true;
    return NULL;
}

static const char *set_driver(struct fake_scenario *s, const struct word *words, size_t n)
{
    if (n < 2)
        return "driver: the version (or none) is missing";
    s->loaded = !tg_streq(words[1].key, "none");
    snprintf(s->driver, sizeof(s->driver), "%s", words[1].key);
    return NULL;
}

static const char *set_cuda(struct fake_scenario *s, const struct word *words, size_t n)
{
    s->cuda = n > 1 ? (int)strtol(words[1].key, NULL, 10) : 0;
    return s->cuda > 0 ? NULL : "cuda: a number such as 13000 is missing";
}

static const struct {
    const char *name;
    const char *(*apply)(struct fake_scenario *s, const struct word *words, size_t n);
} lines[] = {
    {"driver", set_driver},   {"cuda", set_cuda},   {"card", add_card},
    {"profile", add_profile}, {"fault", add_fault}, {"missing", add_missing},
};

static const char *apply(struct fake_scenario *s, char *line)
{
    struct word words[WORDS];
    size_t n = split(line, words);
    if (n == 0)
        return NULL;
    for (size_t i = 0; i < TG_ARRAY_SIZE(lines); i++) {
        if (tg_streq(lines[i].name, words[0].key))
            return lines[i].apply(s, words, n);
    }
    return "unknown word at the beginning of the line";
}

bool fake_scenario_read(const char *path, struct fake_scenario *ret, char *why, size_t size)
{
    TG_AUTOFCLOSE FILE *file = fopen(path, "re");
    char line[LINE];
    *ret = (struct fake_scenario){.loaded = true, .driver = "580.105.08", .cuda = 13000};
    if (file == NULL) {
        snprintf(why, size, "cannot open %s", path);
        return false;
    }
    for (int i = 1; fgets(line, sizeof(line), file) != NULL; i++) {
        const char *problem = apply(ret, line);
        if (problem != NULL) {
            snprintf(why, size, "%s:%d: %s", path, i, problem);
            return false;
        }
    }
    return true;
}
