/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/cards.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define ATTRIBUTES_MAX 20
#define CAPACITIES_MAX 8
#define CARDS_A_ROOT 4
#define SLICES_MAX 8 /* memory slices of a card */
#define PLACES_MAX 128
/* What a node of these days reports. */
#define DRIVER_VERSION "580.105.8"
#define CUDA_DRIVER_VERSION "13.0.0"

struct maker {
    const struct tg_cards *cards;
    struct tg_arena *arena;
    struct tg_device *devices;
    size_t n;
    struct tg_counter_set *sets;
    size_t n_sets;
    bool failed;
};

static const char *printed(struct maker *m, const char *text)
{
    m->failed = m->failed || text == NULL;
    return tg_or(text, "");
}

const char *tg_cards_device(size_t index, struct tg_arena *arena)
{
    return tg_arena_printf(arena, "gpu-%zu", index);
}

/* --- attributes and capacities --------------------------------------------------------------- */

static struct tg_device_attribute *add(struct tg_device *device, const char *key)
{
    struct tg_keyed_attribute *one = &device->attributes.items[device->attributes.n++];

    one->key = key;
    return &one->value;
}

static void add_int(struct tg_device *device, const char *key, int64_t value)
{
    add(device, key)->int_ = (struct tg_opt_int){.set = true, .value = value};
}

static void add_capacity(struct tg_device *device, const char *key, const char *value)
{
    device->capacity.items[device->capacity.n++] =
        (struct tg_keyed_capacity){.key = key, .value = {.value = value}};
}

static void add_count(struct maker *m, struct tg_device *device, const char *key, int64_t value)
{
    if (value > 0)
        add_capacity(device, key, printed(m, tg_arena_printf(m->arena, "%" PRId64, value)));
}

static const char *uuid_of(struct maker *m, size_t index)
{
    char seed[300];
    uint64_t hash;

    snprintf(seed, sizeof(seed), "%.250s/%zu", m->cards->node, index);
    hash = tg_hash64(seed, strlen(seed));
    return printed(m, tg_arena_printf(m->arena, "GPU-%08" PRIx64 "-%04" PRIx64 "-8000-8000-%012zx",
                                      hash >> 32, hash >> 16 & 0xffff, index));
}

static void add_common(struct maker *m, struct tg_device *device, size_t index)
{
    const struct tg_card *card = m->cards->card;

    add(device, "productName")->string = m->cards->product;
    add(device, "driverVersion")->version = DRIVER_VERSION;
    add(device, "cudaDriverVersion")->version = CUDA_DRIVER_VERSION;
    add(device, "resource.kubernetes.io/pcieRoot")->string =
        printed(m, tg_arena_printf(m->arena, "pci0000:%02zx", 16 + index / CARDS_A_ROOT * 8));
    if (card == NULL)
        return;
    add(device, "architecture")->string = card->architecture;
    add(device, "brand")->string = card->brand;
    add(device, "cudaComputeCapability")->version =
        printed(m, tg_arena_printf(m->arena, "%s.0", card->compute_capability));
}

static struct tg_device *new_device(struct maker *m, const char *name, const char *type)
{
    struct tg_device *device = &m->devices[m->n];

    device->attributes.items =
        tg_arena_alloc_array(m->arena, ATTRIBUTES_MAX, sizeof(*device->attributes.items));
    device->capacity.items =
        tg_arena_alloc_array(m->arena, CAPACITIES_MAX, sizeof(*device->capacity.items));
    if (device->attributes.items == NULL || device->capacity.items == NULL || name == NULL) {
        m->failed = true;
        return NULL;
    }
    m->n++;
    device->name = name;
    add(device, "type")->string = type;
    return device;
}

static void add_card(struct maker *m, size_t index)
{
    const struct tg_card *card = m->cards->card;
    struct tg_device *device = new_device(m, tg_cards_device(index, m->arena), "gpu");

    if (device == NULL)
        return;
    add(device, "uuid")->string = uuid_of(m, index);
    add_int(device, "index", (int64_t)index);
    add_int(device, "minor", (int64_t)index);
    add_common(m, device, index);
    add_capacity(device, "memory",
                 card == NULL
                     ? m->cards->memory
                     : printed(m, tg_arena_printf(m->arena, "%" PRIu32 "Gi", card->memory_gib)));
    if (card != NULL)
        add_count(m, device, "multiprocessors", card->multiprocessors);
}

/* --- partitions ------------------------------------------------------------------------------ */

struct place {
    const struct tg_card_profile *profile;
    unsigned start, cost; /* cost: memory slices of the places that it closes */
};

/* Of profiles of one size the first: the others have extra engines. */
static bool is_plain(const struct tg_card *card, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (card->profiles[i].compute_slices == card->profiles[index].compute_slices &&
            card->profiles[i].memory_slices == card->profiles[index].memory_slices)
            return false;
    return true;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int by[] = {x->profile->compute_slices - y->profile->compute_slices,
                      x->profile->memory_slices - y->profile->memory_slices,
                      (int)x->cost - (int)y->cost, (int)x->start - (int)y->start};

    for (size_t i = 0; i < TG_ARRAY_SIZE(by); i++)
        if (by[i] != 0)
            return by[i];
    return 0;
}

static size_t list_places(const struct tg_card *card, struct place *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < card->n_profiles; i++)
        for (unsigned start = 0; start < SLICES_MAX && is_plain(card, i); start++)
            if ((card->profiles[i].starts >> start & 1) != 0 && n < PLACES_MAX)
                ret[n++] = (struct place){.profile = &card->profiles[i], .start = start};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (ret[k].start < ret[i].start + ret[i].profile->memory_slices &&
                ret[i].start < ret[k].start + ret[k].profile->memory_slices)
                ret[i].cost += ret[k].profile->memory_slices;
    qsort(ret, n, sizeof(*ret), compare_places);
    return n;
}

static void fill_set(struct maker *m, const char *name, unsigned first, unsigned n,
                     struct tg_counter_set *ret)
{
    static const char *const keys[SLICES_MAX] = {
        "memory-slice-0", "memory-slice-1", "memory-slice-2", "memory-slice-3",
        "memory-slice-4", "memory-slice-5", "memory-slice-6", "memory-slice-7"};

    ret->name = name;
    ret->counters.items = tg_arena_alloc_array(m->arena, n, sizeof(*ret->counters.items));
    m->failed = m->failed || ret->counters.items == NULL;
    for (unsigned i = 0; !m->failed && i < n && first + i < SLICES_MAX; i++)
        ret->counters.items[ret->counters.n++] =
            (struct tg_keyed_counter){.key = keys[first + i], .value = {.value = "1"}};
}

/* Names of devices hold no dots and signs. */
static const char *place_name(struct maker *m, const char *card, const struct place *place)
{
    char *name = tg_arena_printf(m->arena, "%s-%s-%u", card, place->profile->name, place->start);

    for (char *c = name; c != NULL && *c != '\0'; c++)
        if (*c == '.' || *c == '+')
            *c = '-';
    return name;
}

static void add_place(struct maker *m, size_t index, const char *card, const char *uuid,
                      const struct place *place)
{
    static const char *const engines[TG_CARD_ENGINES] = {[TG_CARD_COPY] = "copyEngines",
                                                         [TG_CARD_DECODER] = "decoders",
                                                         [TG_CARD_ENCODER] = "encoders",
                                                         [TG_CARD_JPEG] = "jpegEngines",
                                                         [TG_CARD_OFA] = "ofaEngines"};
    const struct tg_card_profile *profile = place->profile;
    struct tg_device *device = new_device(m, place_name(m, card, place), "mig");
    struct tg_counter_set *set = tg_arena_alloc(m->arena, sizeof(*set));

    m->failed = m->failed || set == NULL;
    if (m->failed || device == NULL)
        return;
    add(device, "profile")->string = profile->name;
    add(device, "parentUUID")->string = uuid;
    add_int(device, "parentIndex", (int64_t)index);
    add_int(device, "parentMinor", (int64_t)index);
    add_int(device, "memorySliceStart", place->start);
    add_int(device, "memorySliceSize", profile->memory_slices);
    add_common(m, device, index);
    if (profile->memory_mib > 0)
        add_capacity(device, "memory",
                     printed(m, tg_arena_printf(m->arena, "%" PRId32 "Mi", profile->memory_mib)));
    add_count(m, device, "multiprocessors", profile->multiprocessors);
    for (size_t i = 0; i < TG_CARD_ENGINES; i++)
        add_count(m, device, engines[i], profile->engines[i]);
    fill_set(m, card, place->start, profile->memory_slices, set);
    device->consumes_counters.items = set;
    device->consumes_counters.n = 1;
}

static void add_partitioned(struct maker *m, size_t index)
{
    struct place places[PLACES_MAX];
    size_t n = list_places(m->cards->card, places);
    const char *card = printed(m, tg_cards_device(index, m->arena)), *uuid = uuid_of(m, index);

    fill_set(m, card, 0, m->cards->card->memory_slices, &m->sets[m->n_sets++]);
    for (size_t i = 0; i < n && !m->failed; i++)
        add_place(m, index, card, uuid, &places[i]);
}

/* --- slices ---------------------------------------------------------------------------------- */

static struct tg_resource_slice *add_slice(struct maker *m, struct tg_resource_slice *slices,
                                           size_t *n)
{
    struct {
        struct tg_object_meta meta;
        struct tg_resource_slice_spec spec;
        struct tg_resource_pool pool;
    } *made = tg_arena_alloc(m->arena, sizeof(*made));

    if (made == NULL) {
        m->failed = true;
        return NULL;
    }
    made->meta.name =
        printed(m, tg_arena_printf(m->arena, "%05zx-%s-%s", *n, m->cards->driver, m->cards->node));
    made->meta.uid = made->meta.name;
    made->pool.name = m->cards->node;
    made->pool.generation = (struct tg_opt_int){.set = true, .value = 1};
    made->pool.resource_slice_count.set = true;
    made->spec.driver = m->cards->driver;
    made->spec.node_name = m->cards->node;
    made->spec.pool = &made->pool;
    slices[*n].metadata = &made->meta;
    slices[*n].spec = &made->spec;
    return &slices[(*n)++];
}

static void cut(struct maker *m, struct tg_resource_slice *slices, size_t *n)
{
    size_t most = m->n_sets > 0 ? TG_SLICE_DEVICES_MAX_ADVANCED : TG_SLICE_DEVICES_MAX;
    struct tg_resource_slice *slice;

    for (size_t i = 0; i < m->n_sets; i += TG_SLICE_COUNTER_SETS_MAX) {
        size_t left = m->n_sets - i;

        slice = add_slice(m, slices, n);
        if (slice == NULL)
            return;
        slice->spec->shared_counters.items = m->sets + i;
        slice->spec->shared_counters.n =
            left < TG_SLICE_COUNTER_SETS_MAX ? left : TG_SLICE_COUNTER_SETS_MAX;
    }
    for (size_t i = 0; i < m->n || i == 0; i += most) {
        slice = add_slice(m, slices, n);
        if (slice == NULL)
            return;
        slice->spec->devices.items = m->devices + i;
        slice->spec->devices.n = m->n - i < most ? m->n - i : most;
    }
    for (size_t i = 0; i < *n; i++)
        slices[i].spec->pool->resource_slice_count.value = (int64_t)*n;
}

const struct tg_resource_slice *tg_cards_slices(const struct tg_cards *cards,
                                                struct tg_arena *arena, size_t *ret_n)
{
    bool dynamic = cards->mig == TG_CARDS_DYNAMIC;
    struct place places[PLACES_MAX];
    size_t devices = cards->n * (dynamic ? list_places(cards->card, places) : 1);
    struct maker m = {.cards = cards, .arena = arena};
    struct tg_resource_slice *slices;

    m.devices = tg_arena_alloc_array(arena, devices, sizeof(*m.devices));
    m.sets = tg_arena_alloc_array(arena, cards->n, sizeof(*m.sets));
    slices = tg_arena_alloc_array(
        arena, 2 + devices / TG_SLICE_DEVICES_MAX_ADVANCED + cards->n / TG_SLICE_COUNTER_SETS_MAX,
        sizeof(*slices));
    if (m.devices == NULL || m.sets == NULL || slices == NULL)
        return NULL;
    for (size_t i = 0; i < cards->n && !m.failed; i++)
        if (dynamic)
            add_partitioned(&m, i);
        else
            add_card(&m, i);
    *ret_n = 0;
    cut(&m, slices, ret_n);
    return m.failed ? NULL : slices;
}
