/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/core_mig.h"

#include <inttypes.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "tests/bench/core_scene.h"

/* Devices that consume counters: as many fit into a slice. */
#define SLICE_MAX 64
#define SLICES 4 /* one of them holds the counters */

/* An H100 80GB: places of a profile by their first memory slice. The whole card comes first. */
static const struct profile {
    const char *name, *memory;
    unsigned size, multiprocessors, engines, n;
    unsigned starts[7];
} profiles[] = {
    {"gpu", "80Gi", 8, 132, 7, 1, {0}},
    {"1g.10gb", "9856Mi", 1, 16, 1, 7, {0, 1, 2, 3, 4, 5, 6}},
    {"1g.20gb", "20096Mi", 2, 26, 1, 4, {0, 2, 4, 6}},
    {"2g.20gb", "20096Mi", 2, 32, 2, 3, {0, 2, 4}},
    {"3g.40gb", "40448Mi", 4, 60, 3, 2, {0, 4}},
    {"4g.40gb", "40448Mi", 4, 64, 4, 1, {0}},
    {"7g.80gb", "81153Mi", 8, 132, 7, 1, {0}},
};

static const char *const engines[] = {"copyEngines", "decoders", "jpegEngines"};

struct card {
    char name[32], uuid[64];
    size_t index;
};

static void name_card(size_t node, size_t index, struct card *ret)
{
    size_t number = node * MIG_CARDS + index;
    uint64_t random = tg_hash64(&number, sizeof(number));

    snprintf(ret->name, sizeof(ret->name), "gpu-%012" PRIx64, random & 0xffffffffffff);
    snprintf(ret->uuid, sizeof(ret->uuid), "GPU-%08" PRIx64 "-%04zx-4000-8000-%012zx",
             random & 0xffffffff, index, node);
    ret->index = index;
}

static void write_counters(struct tg_buf *out, const struct card *card)
{
    tg_buf_printf(out, "%s{\"name\":\"%s\",\"counters\":{", card->index == 0 ? "" : ",",
                  card->name);
    for (unsigned i = 0; i < 8; i++)
        tg_buf_printf(out, "\"memory-slice-%u\":{\"value\":\"1\"},", i);
    for (size_t i = 0; i < TG_ARRAY_SIZE(engines); i++)
        tg_buf_printf(out, "%s\"%s\":{\"value\":\"7\"}", i == 0 ? "" : ",", engines[i]);
    tg_buf_printf(out, "}}");
}

static void write_consumed(struct tg_buf *out, const struct card *card, const struct profile *p,
                           unsigned start)
{
    tg_buf_printf(out, "\"consumesCounters\":[{\"counterSet\":\"%s\",\"counters\":{", card->name);
    for (unsigned i = start; i < start + p->size; i++)
        tg_buf_printf(out, "\"memory-slice-%u\":{\"value\":\"1\"},", i);
    for (size_t i = 0; i < TG_ARRAY_SIZE(engines); i++)
        tg_buf_printf(out, "%s\"%s\":{\"value\":\"%u\"}", i == 0 ? "" : ",", engines[i],
                      p->engines);
    tg_buf_printf(out, "}}]");
}

static void write_device(struct tg_buf *out, const struct card *card, size_t profile,
                         unsigned start)
{
    const struct profile *p = &profiles[profile];

    if (profile == 0)
        tg_buf_printf(out,
                      "{\"name\":\"%s\",\"attributes\":{\"type\":{\"string\":\"gpu\"},\"uuid\":{"
                      "\"string\":\"%s\"},\"index\":{\"int\":%zu},\"minor\":{\"int\":%zu},",
                      card->name, card->uuid, card->index, card->index);
    else
        tg_buf_printf(out,
                      "{\"name\":\"%s-%zu-%u\",\"attributes\":{\"type\":{\"string\":\"mig\"},"
                      "\"profile\":{\"string\":\"%s\"},\"parentUUID\":{\"string\":\"%s\"},"
                      "\"parentIndex\":{\"int\":%zu},\"parentMinor\":{\"int\":%zu},"
                      "\"memorySliceStart\":{\"int\":%u},\"memorySliceSize\":{\"int\":%u},",
                      card->name, profile, start, p->name, card->uuid, card->index, card->index,
                      start, p->size);
    tg_buf_printf(out,
                  "\"architecture\":{\"string\":\"Hopper\"},\"brand\":{\"string\":\"Nvidia\"},"
                  "\"cudaComputeCapability\":{\"version\":\"9.0.0\"},\"cudaDriverVersion\":{"
                  "\"version\":\"13.0.0\"},\"driverVersion\":{\"version\":\"580.105.8\"},"
                  "\"productName\":{\"string\":\"NVIDIA H100 80GB HBM3\"},"
                  "\"resource.kubernetes.io/pciBusID\":{\"string\":\"0000:%02zx:00.0\"},"
                  "\"resource.kubernetes.io/pcieRoot\":{\"string\":\"pci0000:10\"}},"
                  "\"capacity\":{\"memory\":{\"value\":\"%s\"},\"multiprocessors\":{\"value\":"
                  "\"%u\"},\"copyEngines\":{\"value\":\"%u\"},\"decoders\":{\"value\":\"%u\"},"
                  "\"jpegEngines\":{\"value\":\"%u\"}},",
                  card->index + 16, p->memory, p->multiprocessors, p->engines, p->engines,
                  p->engines);
    write_consumed(out, card, p, start);
    tg_buf_printf(out, "}");
}

static void begin(struct tg_buf *out, const char *node, unsigned number)
{
    tg_buf_printf(out,
                  "{\"metadata\":{\"name\":\"%s-%u\"},\"spec\":{\"driver\":\"" SCENE_DRIVER
                  "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                  "\"resourceSliceCount\":%u},",
                  node, number, node, node, SLICES);
}

static int tell(struct tg_fleet *fleet, struct tg_buf *json, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)16 << 20);
    void *slice = NULL;
    int rc = tg_json_decode_new(&tg_resource_slice_type, tg_buf_str(json), json->len, arena, &slice,
                                err);

    if (rc == 0)
        tg_fleet_put(fleet, TG_FLEET_SLICE, slice);
    tg_buf_clear(json);
    return rc;
}

struct pages { /* devices, slice after slice */
    struct tg_fleet *fleet;
    struct tg_buf *json;
    const char *node;
    size_t n;
};

static int add_device(struct pages *p, const struct card *card, size_t profile, unsigned start,
                      struct tg_error *err)
{
    int rc = 0;

    if (p->n % SLICE_MAX == 0) {
        begin(p->json, p->node, (unsigned)(1 + p->n / SLICE_MAX));
        tg_buf_printf(p->json, "\"devices\":[");
    } else {
        tg_buf_printf(p->json, ",");
    }
    write_device(p->json, card, profile, start);
    if (++p->n % SLICE_MAX == 0 || p->n == MIG_DEVICES) {
        tg_buf_printf(p->json, "]}}");
        rc = tell(p->fleet, p->json, err);
    }
    return rc;
}

void mig_name_device(size_t node, size_t card, char *ret, size_t size)
{
    struct card names;

    name_card(node, card, &names);
    snprintf(ret, size, "%s-1-0", names.name);
}

int mig_tell_node(struct tg_fleet *fleet, size_t node, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf json = TG_BUF_INIT((size_t)1 << 20);
    char name[32];
    struct pages pages = {.fleet = fleet, .json = &json, .node = name};
    struct card cards[MIG_CARDS];
    int rc = 0;

    snprintf(name, sizeof(name), "node-%06zu", node);
    begin(&json, name, 0);
    tg_buf_printf(&json, "\"sharedCounters\":[");
    for (size_t i = 0; i < MIG_CARDS; i++) {
        name_card(node, i, &cards[i]);
        write_counters(&json, &cards[i]);
    }
    tg_buf_printf(&json, "]}}");
    rc = tell(fleet, &json, err);
    for (size_t c = 0; c < MIG_CARDS; c++)
        for (size_t p = 0; p < TG_ARRAY_SIZE(profiles); p++)
            for (size_t k = 0; rc == 0 && k < profiles[p].n; k++)
                rc = add_device(&pages, &cards[c], p, profiles[p].starts[k], err);
    return rc;
}
