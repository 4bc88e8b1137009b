/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
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

/* ---- devices ---- */

/* Filling a device: once the arena is exhausted, which is checked at the end, the rest is skipped.
 */
struct making {
    struct tg_arena *arena;
    struct tg_device *device;
};

static struct tg_device_attribute *add(struct making *m, const char *key)
{
    struct tg_keyed_attribute *item = &m->device->attributes.items[m->device->attributes.n++];
    item->key = key;
    return &item->value;
}

static void add_string(struct making *m, const char *key, const char *value)
{
    add(m, key)->string = tg_arena_strdup(m->arena, value);
}

static void add_int(struct making *m, const char *key, int64_t value)
{
    add(m, key)->int_ = (struct tg_opt_int){.set = true, .value = value};
}

static void add_card(struct making *m, const struct tg_card *card)
{
    add_string(m, "architecture", card->architecture);
    add_string(m, "brand", card->brand);
    /* "8.9" is no semantic version yet. */
    add(m, "cudaComputeCapability")->version =
        tg_arena_printf(m->arena, "%s.0", card->compute_capability);
}

static const char *copied(struct making *m, const char *s)
{
    return s == NULL ? NULL : tg_arena_strdup(m->arena, s);
}

/* Attributes of the inventory are added, or replace the card's own. The set outlives the inventory.
 */
static void add_given(struct making *m, const struct tg_sim_card *card)
{
    for (size_t i = 0; i < card->attributes.n; i++) {
        const struct tg_keyed_attribute *given = &card->attributes.items[i];
        struct tg_device_attribute value = given->value;
        size_t at = 0;
        value.string = copied(m, value.string);
        value.version = copied(m, value.version);
        while (at < m->device->attributes.n &&
               !tg_streq(m->device->attributes.items[at].key, given->key))
            at++;
        if (at < m->device->attributes.n)
            m->device->attributes.items[at].value = value;
        else
            *add(m, copied(m, given->key)) = value;
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct tg_keyed_attribute *)a)->key,
                  ((const struct tg_keyed_attribute *)b)->key);
}

static void make_attributes(struct making *m, const struct tg_sim_card *card,
                            const struct identity *identity)
{
    m->device->attributes.items = tg_arena_alloc_array(
        m->arena, OWN_ATTRIBUTES + card->attributes.n, sizeof(*m->device->attributes.items));
    if (m->device->attributes.items == NULL)
        return;
    add_string(m, "type", "gpu");
    add_string(m, "uuid", identity->uuid);
    add_string(m, "productName", card->product_name);
    add_int(m, "index", (int64_t)identity->position);
    add_int(m, "minor", (int64_t)identity->position);
    add_string(m, "resource.kubernetes.io/pciBusID", identity->bus_id);
    add_string(m, "resource.kubernetes.io/pcieRoot", identity->root);
    add(m, "driverVersion")->version = DRIVER_VERSION;
    add(m, "cudaDriverVersion")->version = CUDA_DRIVER_VERSION;
    if (card->card != NULL)
        add_card(m, card->card);
    add_given(m, card);
    if (tg_arena_exhausted(m->arena))
        return; /* keys may be missing */
    qsort(m->device->attributes.items, m->device->attributes.n,
          sizeof(*m->device->attributes.items), compare_keys);
}

static void make_capacity(struct making *m, const struct tg_sim_card *card)
{
    struct tg_keyed_capacity *items = tg_arena_alloc_array(m->arena, CAPACITIES, sizeof(*items));
    if (items == NULL)
        return;
    m->device->capacity.items = items;
    items[m->device->capacity.n++] = (struct tg_keyed_capacity){
        .key = "memory", .value = {.value = tg_arena_strdup(m->arena, card->memory)}};
    if (card->card == NULL || card->card->multiprocessors == TG_CARD_UNKNOWN)
        return;
    items[m->device->capacity.n++] = (struct tg_keyed_capacity){
        .key = "multiprocessors",
        .value = {.value = tg_arena_printf(m->arena, "%d", card->card->multiprocessors)}};
}

/* TANGRAM_DEVICE_GPU_0123456789AB=GPU-... */
static void make_env(struct tg_arena *arena, const struct identity *identity,
                     struct tg_provider_device *ret)
{
    const char **items = tg_arena_alloc_array(arena, 1, sizeof(*items));
    char *line = tg_arena_printf(arena, "TANGRAM_DEVICE_%s=%s", identity->name, identity->uuid);
    if (items == NULL || line == NULL)
        return;
    for (char *p = line; *p != '='; p++) {
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
        else if (*p == '-')
            *p = '_';
    }
    items[0] = line;
    ret->env.items = items;
    ret->env.n = 1;
}

static void make_device(struct tg_arena *arena, const struct tg_sim_card *card,
                        const struct identity *identity, struct tg_provider_device *ret)
{
    struct making m = {.arena = arena, .device = &ret->device};
    ret->device.name = tg_arena_strdup(arena, identity->name);
    ret->uuid = tg_arena_strdup(arena, identity->uuid);
    make_attributes(&m, card, identity);
    make_capacity(&m, card);
    make_env(arena, identity, ret);
}

static int sim_list(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err)
{
    struct sim *sim = TG_CONTAINER_OF(provider, struct sim, provider);
    struct tg_device_set set = {.arena = tg_arena_new(ARENA_BYTES)};
    size_t total = 0;
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
    int rc = tg_arena_exhausted(set.arena)
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

static const struct tg_provider_ops sim_ops = {.name = "sim", .list = sim_list, .free = sim_free};

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
