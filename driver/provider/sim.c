/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/provider/maker.h"
#include "driver/provider/sim_inventory.h"

/* What a node of these days reports; attributes of the inventory replace it. */
#define DRIVER_VERSION "580.105.8"
#define CUDA_DRIVER_VERSION "13.0.0"

#define CARDS_A_ROOT 4
#define ROOTS_A_DOMAIN 28 /* buses 0x10 to 0xf0, eight a root */
#define BUSES_A_ROOT 8
#define FIRST_BUS 0x10
#define OWN_ATTRIBUTES 12
#define CAPACITIES 2
#define NAME_DIGITS 12
#define ARENA_BYTES ((size_t)16 << 20) /* 1,024 cards of 32 attributes need half of it */

struct sim {
    struct tg_provider provider;
    char *node_name;
    char *file;
    struct tg_arena *arena;
    struct tg_sim_inventory inventory;
    int64_t calls[TG_SIM_CALLS]; /* since the start */
};

static void sim_free(struct tg_provider *provider)
{
    struct sim *sim = TG_CONTAINER_OF(provider, struct sim, provider);
    tg_arena_free(sim->arena);
    free(sim->node_name);
    free(sim->file);
    free(sim);
}

/* ---- identity ---- */

/* Spreads the bits of a hash over all of them: neighbouring positions should not look alike. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct identity {
    size_t position;
    char uuid[41]; /* GPU-xxxxxxxx-xxxx-8xxx-yxxx-xxxxxxxxxxxx */
    char name[4 + NAME_DIGITS + 1];
    char bus_id[17], root[11];
};

static void make_identity(const char *node_name, size_t position, struct identity *ret)
{
    TG_AUTOFREE char *seed = tg_xasprintf("%s/%zu", node_name, position);
    uint64_t high = mix(tg_hash64(seed, strlen(seed)));
    uint64_t low = mix(high ^ UINT64_C(0x9e3779b97f4a7c15));
    size_t root = position / CARDS_A_ROOT;
    unsigned domain = (unsigned)(root / ROOTS_A_DOMAIN);
    unsigned bus = FIRST_BUS + (unsigned)(root % ROOTS_A_DOMAIN) * BUSES_A_ROOT;
    ret->position = position;
    /* Version 8 (RFC 9562): a form for values of one's own making. */
    snprintf(ret->uuid, sizeof(ret->uuid),
             "GPU-%08" PRIx64 "-%04" PRIx64 "-8%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32,
             (high >> 16) & 0xffff, high & 0xfff, (low >> 48 & 0x3fff) | 0x8000,
             low & UINT64_C(0xffffffffffff));
    snprintf(ret->name, sizeof(ret->name), "gpu-%012" PRIx64, high >> 16);
    snprintf(ret->bus_id, sizeof(ret->bus_id), "%04x:%02x:00.0", domain & 0xffff,
             (bus + 1 + (unsigned)(position % CARDS_A_ROOT)) & 0xff);
    snprintf(ret->root, sizeof(ret->root), "pci%04x:%02x", domain & 0xffff, bus & 0xff);
}

/* ---- faults ---- */

/* As a call of a library that takes so long; -1: for ever. */
static void block(int milliseconds)
{
    (void)poll(NULL, 0, milliseconds);
}

static int suffer(const struct sim *sim, const struct tg_sim_fault *fault, struct tg_error *err)
{
    if (fault->kill)
        (void)raise(SIGKILL);
    while (fault->hang)
        block(-1);
    if (fault->delay > 0)
        block((int)(fault->delay / TG_MILLISECOND));
    return fault->error == NULL
               ? 0
               : tg_error_set(err, TG_UNAVAILABLE, "%s: %s", sim->file, fault->error);
}

/* Counts the call and lets go wrong what the inventory says. device NULL: it is about all. */
static int begin(struct sim *sim, enum tg_sim_call call, const char *device, struct tg_error *err)
{
    int64_t n = ++sim->calls[call];
    for (size_t i = 0; i < sim->inventory.faults.n; i++) {
        const struct tg_sim_fault *fault = &sim->inventory.faults.items[i];
        if (fault->call != call || n < fault->from || (fault->to != 0 && n > fault->to) ||
            (fault->device != NULL &&
             !tg_device_pattern_fits(fault->device, strlen(fault->device), device)))
            continue;
        int rc = suffer(sim, fault, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- devices ---- */

static void add_card(struct tg_device_maker *m, const struct tg_card *card)
{
    TG_AUTOFREE char *capability = tg_xasprintf("%s.0", card->compute_capability);
    tg_device_maker_string(m, "architecture", card->architecture);
    tg_device_maker_string(m, "brand", card->brand);
    /* "8.9" is no semantic version yet. */
    tg_device_maker_version(m, "cudaComputeCapability", capability);
}

static void make_attributes(struct tg_device_maker *m, const struct tg_sim_card *card,
                            const struct identity *identity)
{
    tg_device_maker_string(m, "type", "gpu");
    tg_device_maker_string(m, "uuid", identity->uuid);
    tg_device_maker_string(m, "productName", card->product_name);
    tg_device_maker_int(m, "index", (int64_t)identity->position);
    tg_device_maker_int(m, "minor", (int64_t)identity->position);
    tg_device_maker_string(m, "resource.kubernetes.io/pciBusID", identity->bus_id);
    tg_device_maker_string(m, "resource.kubernetes.io/pcieRoot", identity->root);
    tg_device_maker_version(m, "driverVersion", DRIVER_VERSION);
    tg_device_maker_version(m, "cudaDriverVersion", CUDA_DRIVER_VERSION);
    if (card->card != NULL)
        add_card(m, card->card);
    for (size_t i = 0; i < card->attributes.n; i++)
        tg_device_maker_replace(m, &card->attributes.items[i]);
}

static void make_device(struct tg_arena *arena, const struct tg_sim_card *card,
                        const struct identity *identity, struct tg_provider_device *ret)
{
    struct tg_device_maker m;
    const char **env = tg_arena_alloc_array(arena, 1, sizeof(*env));
    tg_device_maker_init(&m, arena, identity->name, OWN_ATTRIBUTES + card->attributes.n, CAPACITIES,
                         ret);
    ret->uuid = tg_arena_strdup(arena, identity->uuid);
    make_attributes(&m, card, identity);
    tg_device_maker_quantity(&m, "memory", card->memory);
    if (card->card != NULL && card->card->multiprocessors != TG_CARD_UNKNOWN)
        tg_device_maker_count(&m, "multiprocessors", (uint64_t)card->card->multiprocessors);
    tg_device_maker_finish(&m);
    if (env == NULL)
        return;
    env[0] = tg_device_variable(arena, identity->name, identity->uuid);
    ret->env.items = env;
    ret->env.n = 1;
}

static int sim_list(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err)
{
    struct sim *sim = TG_CONTAINER_OF(provider, struct sim, provider);
    struct tg_device_set set = {0};
    size_t total = 0;
    int rc = begin(sim, TG_SIM_LIST, NULL, err);
    if (rc < 0)
        return rc;
    set.arena = tg_arena_new(ARENA_BYTES);
    for (size_t i = 0; i < sim->inventory.cards.n; i++)
        total += sim->inventory.cards.items[i].count;
    set.devices.items = tg_arena_alloc_array(set.arena, total, sizeof(*set.devices.items));
    for (size_t i = 0; i < sim->inventory.cards.n && set.devices.items != NULL; i++) {
        const struct tg_sim_card *card = &sim->inventory.cards.items[i];
        for (size_t k = 0; k < card->count; k++) {
            struct identity identity;
            make_identity(sim->node_name, sim->inventory.first_index + set.devices.n, &identity);
            make_device(set.arena, card, &identity, &set.devices.items[set.devices.n++]);
        }
    }
    rc = tg_arena_exhausted(set.arena)
             ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: the devices need too much memory",
                            sim->file)
             : tg_device_set_validate(&set, err);
    if (rc < 0) {
        tg_device_set_done(&set);
        return rc;
    }
    *ret = set;
    return 0;
}

/* Cards on paper can be set in any way. */
static int sim_settings(struct tg_provider *provider, const char *card_uuid,
                        struct tg_gpu_settings *ret, struct tg_error *err)
{
    (void)provider;
    (void)card_uuid;
    (void)err;
    *ret = (struct tg_gpu_settings){0};
    return 0;
}

static int sim_set(struct tg_provider *provider, const char *card_uuid,
                   const struct tg_gpu_settings *wanted, struct tg_error *err)
{
    struct sim *sim = TG_CONTAINER_OF(provider, struct sim, provider);
    char name[4 + NAME_DIGITS + 1] = "gpu-";
    size_t n = 4;
    /* The device's name is made of its UUID. */
    for (const char *p = card_uuid + 4; *p != '\0' && n < sizeof(name) - 1; p++) {
        if (*p != '-')
            name[n++] = *p;
    }
    (void)wanted;
    return begin(sim, TG_SIM_SET, name, err);
}

static int sim_edit(struct tg_provider *provider, const struct tg_provider_device *device,
                    const struct tg_instance *instance, struct tg_arena *arena,
                    struct tg_edits *ret, struct tg_error *err)
{
    struct sim *sim = TG_CONTAINER_OF(provider, struct sim, provider);
    (void)instance;
    (void)arena;
    ret->env.items = device->env.items;
    ret->env.n = device->env.n;
    return begin(sim, TG_SIM_EDIT, device->device.name, err);
}

static const struct tg_provider_ops sim_ops = {
    .name = "sim",
    .list = sim_list,
    .free = sim_free,
    .settings = sim_settings,
    .edit = sim_edit,
    .set = sim_set,
};

/* A device has room for 32 attributes and capacities: told here, with the line, and not when they
 * are listed. */
static int check_room(const struct sim *sim, struct tg_error *err)
{
    struct tg_device_set set = {0};
    int rc = 0;
    for (size_t i = 0; i < sim->inventory.cards.n && rc == 0; i++) {
        const struct tg_sim_card *card = &sim->inventory.cards.items[i];
        struct identity identity;
        struct tg_provider_device device = {0};
        set.arena = tg_arena_new(ARENA_BYTES);
        make_identity(sim->node_name, i, &identity);
        make_device(set.arena, card, &identity, &device);
        rc = tg_arena_exhausted(set.arena)
                 ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "too much memory")
                 : tg_device_validate(&device.device, err);
        if (rc < 0 && err != NULL)
            rc = tg_error_wrap(err, "%s:%d: cards[%zu]", sim->file, card->line, i);
        tg_device_set_done(&set);
    }
    return rc;
}

int tg_sim_new(const struct tg_provider_options *options, struct tg_provider **ret,
               struct tg_error *err)
{
    if (tg_or(options->inventory, "")[0] == '\0')
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the sim provider needs an inventory file");
    if (tg_or(options->node_name, "")[0] == '\0')
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the sim provider needs the node's name");
    struct sim *sim = tg_xcalloc(1, sizeof(*sim));
    sim->provider.ops = &sim_ops;
    sim->node_name = tg_xstrdup(options->node_name);
    sim->file = tg_xstrdup(options->inventory);
    sim->arena = tg_arena_new(ARENA_BYTES);
    int rc = tg_sim_inventory_load(sim->file, sim->arena, &sim->inventory, err);
    if (rc == 0)
        rc = check_room(sim, err);
    if (rc < 0) {
        sim_free(&sim->provider);
        return rc;
    }
    *ret = &sim->provider;
    return 0;
}
