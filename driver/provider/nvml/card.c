/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/card.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define UUID_LENGTH 40 /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
#define PLACEMENTS_MAX 64
#define NUMBER_MAX 32

/* nvmlDeviceArchitecture_t */
static const char *const architectures[] = {
    [2] = "Kepler", [3] = "Maxwell",      [4] = "Pascal", [5] = "Volta",      [6] = "Turing",
    [7] = "Ampere", [8] = "Ada Lovelace", [9] = "Hopper", [10] = "Blackwell", [13] = "Rubin",
};
/* nvmlBrandType_t */
static const char *const brands[] = {
    [1] = "Quadro", [2] = "Tesla",      [3] = "NVS",        [5] = "GeForce",
    [6] = "Titan",  [12] = "QuadroRTX", [13] = "NvidiaRTX", [14] = "Nvidia",
};

static int strange(const struct tg_nvml_card *card, const char *call, struct tg_error *err)
{
    return tg_error_set(err, TG_DATA_LOSS, "card %u: %s: the answer makes no sense", card->index,
                        call);
}

static int failed(const struct tg_nvml_card *card, int rc, const char *call, struct tg_error *err)
{
    char about[32];
    snprintf(about, sizeof(about), "card %u", card->index);
    return tg_nvml_failed(rc, call, about, err);
}

/* ---- identity ---- */

static bool is_uuid(const char *s)
{
    if (strnlen(s, UUID_LENGTH + 1) != UUID_LENGTH || !tg_has_prefix(s, "GPU-"))
        return false;
    for (size_t i = 4; i < UUID_LENGTH; i++) {
        bool dash = i == 12 || i == 17 || i == 22 || i == 27;
        if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
            return false;
    }
    return true;
}

/* gpu-<first 12 hex digits of the UUID>: the card's for ever, whatever it is counted as. */
static void name_device(struct tg_nvml_card *card)
{
    char *out = card->device_name + snprintf(card->device_name, sizeof(card->device_name), "gpu-");
    for (const char *in = card->uuid + 4; out < card->device_name + sizeof(card->device_name) - 1;
         in++) {
        if (*in != '-')
            *out++ = (char)tolower((unsigned char)*in);
    }
    *out = '\0';
}

static int read_uuid(const struct tg_nvml *nvml, struct tg_nvml_card *card, struct tg_error *err)
{
    char text[NVML_UUID_BYTES] = "";
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetUUID, card->handle, text, sizeof(text));
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetUUID", err);
    if (!is_uuid(text))
        return strange(card, "nvmlDeviceGetUUID", err);
    memcpy(card->uuid, text, UUID_LENGTH + 1);
    name_device(card);
    return 0;
}

static int read_product_name(const struct tg_nvml *nvml, struct tg_nvml_card *card,
                             struct tg_error *err)
{
    char text[NVML_NAME_BYTES] = "";
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetName, card->handle, text, sizeof(text));
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetName", err);
    size_t n = strnlen(text, sizeof(text));
    if (n == 0 || n >= sizeof(card->product_name) || !tg_utf8_valid(text, n))
        return strange(card, "nvmlDeviceGetName", err);
    memcpy(card->product_name, text, n + 1);
    return 0;
}

static int read_pci(const struct tg_nvml *nvml, struct tg_nvml_card *card, struct tg_error *err)
{
    struct nvml_pci pci = {0};
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, card->handle, &pci);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetPciInfo_v3", err);
    if (pci.domain > 0xffff || pci.bus > 0xff || pci.device > 0x1f)
        return strange(card, "nvmlDeviceGetPciInfo_v3", err);
    snprintf(card->bus_id, sizeof(card->bus_id), "%04x:%02x:%02x.0", pci.domain & 0xffff,
             pci.bus & 0xff, pci.device & 0x1f);
    return 0;
}

static int read_numbers(const struct tg_nvml *nvml, struct tg_nvml_card *card, struct tg_error *err)
{
    struct nvml_memory memory = {0};
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetMinorNumber, card->handle, &card->minor);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetMinorNumber", err);
    if (card->minor > INT16_MAX)
        return strange(card, "nvmlDeviceGetMinorNumber", err);
    rc = TG_NVML_CALL(nvml, nvmlDeviceGetMemoryInfo, card->handle, &memory);
    /* Cards that share the memory of the host have none of their own to tell of. */
    if (rc != NVML_OK && rc != NVML_NOT_SUPPORTED)
        return failed(card, rc, "nvmlDeviceGetMemoryInfo", err);
    if (memory.total > INT64_MAX)
        return strange(card, "nvmlDeviceGetMemoryInfo", err);
    card->memory = memory.total;
    return 0;
}

/* ---- what is nice to know ---- */

static const char *named(const char *const *names, size_t n, unsigned number)
{
    return number < n ? names[number] : NULL;
}

static void read_kind(const struct tg_nvml *nvml, struct tg_nvml_card *card)
{
    unsigned number = 0;
    int major = 0, minor = 0;
    if (nvml->nvmlDeviceGetArchitecture != NULL &&
        TG_NVML_CALL(nvml, nvmlDeviceGetArchitecture, card->handle, &number) == NVML_OK)
        card->architecture = named(architectures, TG_ARRAY_SIZE(architectures), number);
    if (nvml->nvmlDeviceGetBrand != NULL &&
        TG_NVML_CALL(nvml, nvmlDeviceGetBrand, card->handle, &number) == NVML_OK)
        card->brand = named(brands, TG_ARRAY_SIZE(brands), number);
    if (nvml->nvmlDeviceGetCudaComputeCapability != NULL &&
        TG_NVML_CALL(nvml, nvmlDeviceGetCudaComputeCapability, card->handle, &major, &minor) ==
            NVML_OK &&
        major > 0 && major < 100 && minor >= 0 && minor < 100) {
        card->compute_major = major;
        card->compute_minor = minor;
    }
}

/* The kernel knows it where the driver's function is missing; -1 stands for "no such thing". */
static void read_numa(const struct tg_nvml *nvml, struct tg_nvml_card *card, const char *root)
{
    TG_AUTOFREE char *path =
        tg_xasprintf("%s/sys/bus/pci/devices/%s/numa_node", root, card->bus_id);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(NUMBER_MAX);
    unsigned node = 0;
    int64_t number = -1;
    card->numa_node = -1;
    if (nvml->nvmlDeviceGetNumaNodeId != NULL &&
        TG_NVML_CALL(nvml, nvmlDeviceGetNumaNodeId, card->handle, &node) == NVML_OK &&
        node <= INT16_MAX) {
        card->numa_node = (int)node;
        return;
    }
    if (tg_file_read(path, &content, NULL) == 0 &&
        tg_parse_i64(tg_buf_str(&content), strcspn(tg_buf_str(&content), "\n"), &number) == 0 &&
        number >= 0 && number <= INT16_MAX)
        card->numa_node = (int)number;
}

/* The first component like pci0000:40 of where the card's link points to. */
static void read_root(struct tg_nvml_card *card, const char *root)
{
    TG_AUTOFREE char *link = tg_xasprintf("%s/sys/bus/pci/devices/%s", root, card->bus_id);
    TG_AUTOFREE char *path = realpath(link, NULL);
    const char *at = path == NULL ? NULL : strstr(path, "/pci");
    if (at == NULL)
        return;
    size_t n = strcspn(at + 1, "/");
    if (n < sizeof(card->pcie_root))
        snprintf(card->pcie_root, sizeof(card->pcie_root), "%.*s", (int)n, at + 1);
}

/* Cards of one NVLink domain that spans nodes: "<cluster uuid>.<clique>". */
static void read_fabric(const struct tg_nvml *nvml, struct tg_nvml_card *card)
{
    struct nvml_fabric fabric = {.version = NVML_VERSION(struct nvml_fabric, 2)};
    char digits[33];
    bool any = false;
    if (nvml->nvmlDeviceGetGpuFabricInfoV == NULL ||
        TG_NVML_CALL(nvml, nvmlDeviceGetGpuFabricInfoV, card->handle, &fabric) != NVML_OK ||
        fabric.state != NVML_FABRIC_COMPLETED || fabric.status != NVML_OK)
        return;
    for (size_t i = 0; i < sizeof(fabric.cluster_uuid); i++) {
        any = any || fabric.cluster_uuid[i] != 0;
        snprintf(digits + 2 * i, 3, "%02x", fabric.cluster_uuid[i]);
    }
    if (any) /* all zero: a single node */
        snprintf(card->fabric_clique, sizeof(card->fabric_clique), "%.8s-%.4s-%.4s-%.4s-%.12s.%u",
                 digits, digits + 8, digits + 12, digits + 16, digits + 20, fabric.clique_id);
}

/* ---- MIG ---- */

/* As the driver prints it, "MIG 1g.10gb"; where it cannot, by the rule of its tools: eighths of the
 * memory, rounded up. */
static void name_profile(const struct tg_nvml_card *card, const struct nvml_gi_profile *info,
                         struct tg_nvml_profile *ret)
{
    char name[NVML_NAME_BYTES + 1];
    snprintf(name, sizeof(name), "%.*s", (int)sizeof(info->name), info->name);
    const char *text = tg_has_prefix(name, "MIG ") ? name + 4 : name;
    size_t n = strlen(text);
    if (n > 0 && n < sizeof(ret->name) && tg_utf8_valid(text, n)) {
        memcpy(ret->name, text, n + 1);
        return;
    }
    double part = ceil(8.0 * (double)(ret->memory_mib << 20) / (double)card->memory) / 8.0;
    double total = ceil((double)card->memory / (double)(1ULL << 30));
    snprintf(ret->name, sizeof(ret->name), "%ug.%.0fgb", ret->compute_slices, round(part * total));
}

static bool bounded(const struct nvml_gi_profile *info)
{
    return info->id < 0x1000 && info->slice_count > 0 && info->slice_count <= TG_NVML_SLICES_MAX &&
           info->instance_count > 0 && info->instance_count <= TG_NVML_SLICES_MAX &&
           info->multiprocessor_count < 0x10000 && info->memory_mib < (1ULL << 40);
}

static bool has_start(const struct tg_nvml_profile *profile, unsigned start)
{
    size_t i = 0;
    while (i < profile->n_starts && profile->starts[i] != start)
        i++;
    return i < profile->n_starts;
}

static int read_placements(const struct tg_nvml *nvml, struct tg_nvml_card *card,
                           struct tg_nvml_profile *profile, struct tg_error *err)
{
    const char *call = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
    struct nvml_placement placements[PLACEMENTS_MAX];
    unsigned n = PLACEMENTS_MAX;
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetGpuInstancePossiblePlacements_v2, card->handle,
                          profile->id, placements, &n);
    if (rc != NVML_OK)
        return failed(card, rc, call, err);
    for (unsigned i = 0; i < n; i++) {
        const struct nvml_placement *one = &placements[i];
        if (n > TG_NVML_SLICES_MAX || one->size == 0 || one->size > TG_NVML_SLICES_MAX ||
            one->start > TG_NVML_SLICES_MAX - one->size || one->size != placements[0].size ||
            has_start(profile, one->start))
            return strange(card, call, err);
        profile->size = one->size;
        profile->starts[profile->n_starts++] = one->start;
        if (one->start + one->size > card->slices)
            card->slices = one->start + one->size;
    }
    return 0;
}

static int read_profile(const struct tg_nvml *nvml, struct tg_nvml_card *card, unsigned number,
                        struct tg_error *err)
{
    struct nvml_gi_profile info = {.version = NVML_VERSION(struct nvml_gi_profile, 2)};
    struct tg_nvml_profile *profile = &card->profiles[card->n_profiles];
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetGpuInstanceProfileInfoV, card->handle, number, &info);
    if (rc == NVML_NOT_SUPPORTED || rc == NVML_INVALID_ARGUMENT)
        return 0; /* this card has no such profile; an older driver does not know the number */
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetGpuInstanceProfileInfoV", err);
    if (!bounded(&info) || tg_nvml_card_profile(card, info.id) != NULL)
        return strange(card, "nvmlDeviceGetGpuInstanceProfileInfoV", err);
    *profile = (struct tg_nvml_profile){
        .id = info.id,
        .compute_slices = info.slice_count,
        .instances = info.instance_count,
        .memory_mib = info.memory_mib,
        .multiprocessors = info.multiprocessor_count,
        .engines = {info.copy_engines, info.decoders, info.encoders, info.jpeg_engines,
                    info.ofa_engines},
    };
    for (size_t i = 0; i < TG_CARD_ENGINES; i++) {
        if (profile->engines[i] > 0xff)
            return strange(card, "nvmlDeviceGetGpuInstanceProfileInfoV", err);
    }
    name_profile(card, &info, profile);
    rc = read_placements(nvml, card, profile, err);
    if (rc == 0 && profile->n_starts > 0)
        card->n_profiles++;
    return rc;
}

/* What a card in MIG mode cannot be understood without: the first that the driver lacks, or NULL.
 */
static const char *missing_of_mig(const struct tg_nvml *nvml)
{
#define FUNCTION(name)                                                                             \
    {                                                                                              \
#name, nvml->name != NULL                                                                  \
    }
    const struct {
        const char *name;
        bool there;
    } functions[] = {FUNCTION(nvmlDeviceGetMaxMigDeviceCount),
                     FUNCTION(nvmlDeviceGetMigDeviceHandleByIndex),
                     FUNCTION(nvmlDeviceGetGpuInstanceId),
                     FUNCTION(nvmlDeviceGetComputeInstanceId),
                     FUNCTION(nvmlDeviceGetGpuInstanceProfileInfoV),
                     FUNCTION(nvmlDeviceGetGpuInstancePossiblePlacements_v2),
                     FUNCTION(nvmlDeviceGetGpuInstances),
                     FUNCTION(nvmlGpuInstanceGetInfo),
                     FUNCTION(nvmlGpuInstanceGetComputeInstanceProfileInfo),
                     FUNCTION(nvmlGpuInstanceGetComputeInstances),
                     FUNCTION(nvmlComputeInstanceGetInfo_v2)};
#undef FUNCTION
    size_t i = 0;
    while (i < TG_ARRAY_SIZE(functions) && functions[i].there)
        i++;
    return i == TG_ARRAY_SIZE(functions) ? NULL : functions[i].name;
}

static int read_mig(const struct tg_nvml *nvml, struct tg_nvml_card *card, struct tg_error *err)
{
    unsigned current = 0, pending = 0;
    if (nvml->nvmlDeviceGetMigMode == NULL)
        return 0;
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetMigMode, card->handle, &current, &pending);
    if (rc == NVML_NOT_SUPPORTED || (rc == NVML_OK && current == 0))
        return 0;
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetMigMode", err);
    if (current != 1)
        return strange(card, "nvmlDeviceGetMigMode", err);
    card->mig = true;
    const char *missing = missing_of_mig(nvml);
    if (missing != NULL)
        return tg_error_set(err, TG_UNIMPLEMENTED,
                            "card %u: MIG mode is on, and this driver is too old to tell its "
                            "partitions (it has no function %s): use 525 or newer",
                            card->index, missing);
    for (unsigned i = 0; i < NVML_GI_PROFILES; i++) {
        rc = read_profile(nvml, card, i, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int tg_nvml_card_read(const struct tg_nvml *nvml, unsigned index, const char *root,
                      struct tg_nvml_card *ret, struct tg_error *err)
{
    *ret = (struct tg_nvml_card){.index = index};
    tg_nvml_watch_card(nvml->watch, ret);
    int answer = TG_NVML_CALL(nvml, nvmlDeviceGetHandleByIndex_v2, index, &ret->handle);
    if (answer != NVML_OK)
        return failed(ret, answer, "nvmlDeviceGetHandleByIndex_v2", err);
    int rc = read_uuid(nvml, ret, err);
    if (rc == 0)
        rc = read_product_name(nvml, ret, err);
    if (rc == 0)
        rc = read_pci(nvml, ret, err);
    tg_nvml_watch_card(nvml->watch, ret);
    if (rc == 0)
        rc = read_numbers(nvml, ret, err);
    if (rc < 0)
        return rc;
    read_kind(nvml, ret);
    read_numa(nvml, ret, root);
    read_root(ret, root);
    read_fabric(nvml, ret);
    return read_mig(nvml, ret, err);
}

bool tg_nvml_card_stands(const struct tg_nvml *nvml, const struct tg_nvml_card *card)
{
    char uuid[NVML_UUID_BYTES] = "";
    unsigned current = 0, pending = 0;
    if (TG_NVML_CALL(nvml, nvmlDeviceGetUUID, card->handle, uuid, sizeof(uuid)) != NVML_OK ||
        memcmp(uuid, card->uuid, UUID_LENGTH + 1) != 0)
        return false;
    if (nvml->nvmlDeviceGetMigMode == NULL ||
        TG_NVML_CALL(nvml, nvmlDeviceGetMigMode, card->handle, &current, &pending) != NVML_OK)
        current = 0;
    return (current == 1) == card->mig;
}

const struct tg_nvml_profile *tg_nvml_card_profile(const struct tg_nvml_card *card, unsigned id)
{
    for (size_t i = 0; i < card->n_profiles; i++) {
        if (card->profiles[i].id == id)
            return &card->profiles[i];
    }
    return NULL;
}
