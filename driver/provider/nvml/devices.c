/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "driver/provider/maker.h"

#define ATTRIBUTES 20
#define CAPACITIES 8
#define PLACES_MAX ((size_t)NVML_GI_PROFILES * TG_NVML_SLICES_MAX)

void tg_nvml_devices_done(struct tg_nvml_devices *devices)
{
    TG_VEC_DONE(&devices->devices);
    TG_VEC_DONE(&devices->counter_sets);
    TG_VEC_DONE(&devices->standing);
    TG_VEC_DONE(&devices->problems);
    tg_arena_free(devices->arena);
    devices->arena = NULL;
}

void tg_nvml_devices_add_problem(struct tg_nvml_devices *devices, const char *text)
{
    const char *copy = tg_arena_strdup(devices->arena, text);
    if (copy != NULL)
        *TG_VEC_PUSH(&devices->problems) = copy;
}

/* ---- what all devices of a card say ---- */

static void add_common(struct tg_device_maker *m, const struct tg_nvml_devices *devices,
                       const struct tg_nvml_card *card)
{
    char text[32];
    tg_device_maker_string(m, "productName", card->product_name);
    tg_device_maker_string(m, "architecture", card->architecture);
    tg_device_maker_string(m, "brand", card->brand);
    if (card->compute_major > 0) {
        snprintf(text, sizeof(text), "%d.%d.0", card->compute_major, card->compute_minor);
        tg_device_maker_version(m, "cudaComputeCapability", text);
    }
    tg_device_maker_version(m, "driverVersion", devices->driver_version);
    tg_device_maker_version(m, "cudaDriverVersion", devices->cuda_version);
    if (card->numa_node >= 0)
        tg_device_maker_int(m, "numaNode", card->numa_node);
    tg_device_maker_string(m, "fabricClique", card->fabric_clique);
    tg_device_maker_string(m, "resource.kubernetes.io/pciBusID", card->bus_id);
    tg_device_maker_string(m, "resource.kubernetes.io/pcieRoot", card->pcie_root);
}

static void add_memory(struct tg_device_maker *m, uint64_t mib)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64 "Mi", mib);
    if (mib > 0) /* never a false 0: a selector would believe it */
        tg_device_maker_quantity(m, "memory", text);
}

bool tg_nvml_devices_has_card(const struct tg_nvml_devices *devices,
                              const struct tg_nvml_card *card)
{
    for (size_t i = 0; i < devices->devices.n; i++) {
        const struct tg_provider_device *one = &devices->devices.items[i];
        if (tg_streq(one->partition == NULL ? one->device.name : one->partition->card,
                     card->device_name))
            return true;
    }
    return false;
}

void tg_nvml_devices_add_card(struct tg_nvml_devices *devices, const struct tg_nvml_card *card)
{
    struct tg_provider_device *to = TG_VEC_PUSH(&devices->devices);
    struct tg_device_maker m;
    tg_device_maker_init(&m, devices->arena, card->device_name, ATTRIBUTES, CAPACITIES, to);
    to->uuid = tg_arena_strdup(devices->arena, card->uuid);
    to->minor = card->minor;
    tg_device_maker_string(&m, "type", "gpu");
    tg_device_maker_string(&m, "uuid", card->uuid);
    tg_device_maker_int(&m, "index", card->index);
    tg_device_maker_int(&m, "minor", card->minor);
    add_common(&m, devices, card);
    add_memory(&m, card->memory >> 20);
    tg_device_maker_finish(&m);
}

/* ---- partitions ---- */

struct place {
    const struct tg_nvml_profile *profile;
    unsigned start;
    unsigned cost; /* memory slices of the places that it closes */
};

static void add_capacities(struct tg_device_maker *m, const struct tg_nvml_profile *profile)
{
    static const char *const names[TG_CARD_ENGINES] = {
        [TG_CARD_COPY] = "copyEngines", [TG_CARD_DECODER] = "decoders",
        [TG_CARD_ENCODER] = "encoders", [TG_CARD_JPEG] = "jpegEngines",
        [TG_CARD_OFA] = "ofaEngines",
    };
    add_memory(m, profile->memory_mib);
    if (profile->multiprocessors > 0)
        tg_device_maker_count(m, "multiprocessors", profile->multiprocessors);
    for (size_t i = 0; i < TG_CARD_ENGINES; i++)
        tg_device_maker_count(m, names[i], profile->engines[i]);
}

static struct tg_partition place_of(struct tg_arena *arena, const struct tg_nvml_card *card,
                                    const struct place *place, bool dynamic)
{
    return (struct tg_partition){.card = tg_arena_strdup(arena, card->device_name),
                                 .card_uuid = tg_arena_strdup(arena, card->uuid),
                                 .profile_id = place->profile->id,
                                 .start = place->start,
                                 .size = place->profile->size,
                                 .dynamic = dynamic};
}

static struct tg_provider_device *add_partition(struct tg_nvml_devices *devices,
                                                const struct tg_nvml_card *card,
                                                const struct place *place, const char *uuid,
                                                bool dynamic)
{
    struct tg_provider_device *to = TG_VEC_PUSH(&devices->devices);
    struct tg_device_maker m;
    char name[64];
    snprintf(name, sizeof(name), "%s-%u-%u", card->device_name, place->profile->id, place->start);
    tg_device_maker_init(&m, devices->arena, name, ATTRIBUTES, CAPACITIES, to);
    to->minor = card->minor;
    struct tg_partition *partition = tg_arena_alloc(devices->arena, sizeof(*partition));
    if (partition != NULL)
        *partition = place_of(devices->arena, card, place, dynamic);
    to->partition = partition;
    to->uuid = uuid[0] == '\0' ? NULL : tg_arena_strdup(devices->arena, uuid);
    tg_device_maker_string(&m, "type", "mig");
    /* That of a partition made on demand is another one each time. */
    if (!dynamic)
        tg_device_maker_string(&m, "uuid", uuid);
    tg_device_maker_string(&m, "profile", place->profile->name);
    tg_device_maker_string(&m, "parentUUID", card->uuid);
    tg_device_maker_int(&m, "parentIndex", card->index);
    tg_device_maker_int(&m, "parentMinor", card->minor);
    tg_device_maker_int(&m, "memorySliceStart", place->start);
    tg_device_maker_int(&m, "memorySliceSize", place->profile->size);
    add_common(&m, devices, card);
    add_capacities(&m, place->profile);
    tg_device_maker_finish(&m);
    return to;
}

void tg_nvml_devices_add_static(struct tg_nvml_devices *devices, const struct tg_nvml_card *card,
                                const struct tg_nvml_instances *instances)
{
    for (size_t i = 0; i < instances->n; i++) {
        const struct tg_nvml_instance *one = &instances->items[i];
        const struct place place = {.profile = tg_nvml_card_profile(card, one->profile_id),
                                    .start = one->start};
        char problem[256];
        if (one->whole && one->uuid[0] != '\0') {
            (void)add_partition(devices, card, &place, one->uuid, false);
            continue;
        }
        snprintf(problem, sizeof(problem),
                 "card %s: GPU instance %u (%s at memory slice %u) has %u compute instances; it is "
                 "offered when it has exactly one with all its slices",
                 card->bus_id, one->gi, place.profile->name, one->start, one->n_compute);
        tg_nvml_devices_add_problem(devices, problem);
    }
}

/* ---- every legal place ---- */

static bool is_plain(const struct tg_nvml_card *card, size_t index)
{
    const struct tg_nvml_profile *profile = &card->profiles[index];
    for (size_t i = 0; i < index; i++) {
        if (card->profiles[i].compute_slices == profile->compute_slices &&
            card->profiles[i].size == profile->size)
            return false;
    }
    return true;
}

static unsigned cost_of(const struct place *places, size_t n, const struct place *of)
{
    unsigned cost = 0;
    for (size_t i = 0; i < n; i++) {
        const struct place *other = &places[i];
        if (other->start < of->start + of->profile->size &&
            of->start < other->start + other->profile->size)
            cost += other->profile->size;
    }
    return cost;
}

static int compare_unsigned(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    int order = compare_unsigned(left->profile->compute_slices, right->profile->compute_slices);
    if (order == 0)
        order = compare_unsigned(left->profile->size, right->profile->size);
    if (order == 0)
        order = compare_unsigned(left->cost, right->cost);
    return order != 0 ? order : compare_unsigned(left->start, right->start);
}

static size_t list_places(const struct tg_nvml_card *card, struct place *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < card->n_profiles; i++) {
        const struct tg_nvml_profile *profile = &card->profiles[i];
        for (size_t k = 0; k < profile->n_starts && is_plain(card, i); k++)
            ret[n++] = (struct place){.profile = profile, .start = profile->starts[k]};
    }
    for (size_t i = 0; i < n; i++)
        ret[i].cost = cost_of(ret, n, &ret[i]);
    qsort(ret, n, sizeof(*ret), compare_places);
    return n;
}

static const char *const slice_names[TG_NVML_SLICES_MAX] = {
    "memory-slice-0", "memory-slice-1", "memory-slice-2", "memory-slice-3",
    "memory-slice-4", "memory-slice-5", "memory-slice-6", "memory-slice-7",
};

/* One of each of the slices `first` to `first + n - 1`. */
static void fill_counters(struct tg_arena *arena, const char *name, unsigned first, unsigned n,
                          struct tg_counter_set *ret)
{
    ret->name = tg_arena_strdup(arena, name);
    ret->counters.items = tg_arena_alloc_array(arena, n, sizeof(*ret->counters.items));
    for (unsigned i = 0; ret->counters.items != NULL && i < n; i++)
        ret->counters.items[ret->counters.n++] =
            (struct tg_keyed_counter){.key = slice_names[first + i], .value = {.value = "1"}};
}

static void add_consumption(struct tg_nvml_devices *devices, const struct tg_nvml_card *card,
                            const struct place *place, struct tg_provider_device *to)
{
    struct tg_counter_set *set = tg_arena_alloc(devices->arena, sizeof(*set));
    if (set == NULL)
        return;
    fill_counters(devices->arena, card->device_name, place->start, place->profile->size, set);
    to->device.consumes_counters.items = set;
    to->device.consumes_counters.n = 1;
}

void tg_nvml_devices_add_dynamic(struct tg_nvml_devices *devices, const struct tg_nvml_card *card,
                                 const struct tg_nvml_instances *instances)
{
    struct place places[PLACES_MAX];
    size_t n = list_places(card, places);
    fill_counters(devices->arena, card->device_name, 0, card->slices,
                  TG_VEC_PUSH(&devices->counter_sets));
    for (size_t i = 0; i < n; i++)
        add_consumption(devices, card, &places[i],
                        add_partition(devices, card, &places[i], "", true));
    for (size_t i = 0; i < instances->n; i++) {
        const struct tg_nvml_instance *one = &instances->items[i];
        const struct place place = {.profile = tg_nvml_card_profile(card, one->profile_id),
                                    .start = one->start};
        *TG_VEC_PUSH(&devices->standing) =
            (struct tg_standing){.place = place_of(devices->arena, card, &place, true),
                                 .profile = tg_arena_strdup(devices->arena, place.profile->name),
                                 .whole = one->whole && one->uuid[0] != '\0'};
    }
}

/* ---- the set ---- */

static void *copy_list(struct tg_arena *arena, const void *items, size_t n, size_t size)
{
    void *copy = tg_arena_alloc_array(arena, n, size);
    if (copy != NULL && n > 0)
        memcpy(copy, items, n * size);
    return copy;
}

int tg_nvml_devices_finish(struct tg_nvml_devices *devices, struct tg_device_set *ret,
                           struct tg_error *err)
{
    struct tg_device_set set = {.arena = devices->arena};
    set.devices.items = copy_list(set.arena, devices->devices.items, devices->devices.n,
                                  sizeof(*set.devices.items));
    set.counter_sets.items = copy_list(set.arena, devices->counter_sets.items,
                                       devices->counter_sets.n, sizeof(*set.counter_sets.items));
    set.standing.items = copy_list(set.arena, devices->standing.items, devices->standing.n,
                                   sizeof(*set.standing.items));
    set.problems.items = copy_list(set.arena, devices->problems.items, devices->problems.n,
                                   sizeof(*set.problems.items));
    if (tg_arena_exhausted(set.arena))
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the devices need too much memory");
    set.devices.n = devices->devices.n;
    set.counter_sets.n = devices->counter_sets.n;
    set.standing.n = devices->standing.n;
    set.problems.n = devices->problems.n;
    *ret = set;
    devices->arena = NULL;
    return 0;
}
