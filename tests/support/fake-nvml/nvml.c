/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libnvidia-ml.so.1. Each is found through a resolver, so that one which the
 * scenario calls missing is not there at all, as in an older driver.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "tests/support/fake-nvml/machine.h"

static bool is_missing(enum fake_symbol symbol)
{
    const struct fake_machine *machine = fake_machine_enter();
    bool missing = machine != NULL && machine->scenario.missing[symbol];
    if (machine != NULL)
        fake_machine_leave();
    return missing;
}

#define EXPORT(required, name, arguments)                                                          \
    static int impl_##name arguments;                                                              \
    __attribute__((used)) static __typeof__(impl_##name) *resolve_##name(void)                     \
    {                                                                                              \
        return is_missing(FAKE_##name) ? NULL : impl_##name;                                       \
    }                                                                                              \
    __attribute__((visibility("default"), ifunc("resolve_" #name))) extern int name arguments;
NVML_FUNCTIONS(EXPORT)
#undef EXPORT

/* ---- handles ---- */

enum kind { DEVICE = 1, INSTANCE, COMPUTE, PARTITION };
struct handle {
    enum kind kind;
    unsigned card, gi, ci;
};

static void *encode(enum kind kind, unsigned card, unsigned gi, unsigned ci)
{
    return (void *)((uintptr_t)kind << 24 | (uintptr_t)card << 16 | (uintptr_t)gi << 8 | ci);
}

static struct handle decode(const void *handle)
{
    uintptr_t bits = (uintptr_t)handle;
    return (struct handle){
        .kind = (enum kind)(bits >> 24 & 0xff), bits >> 16 & 0xff, bits >> 8 & 0xff, bits & 0xff};
}

/* ---- calls ---- */

struct call {
    struct fake_machine *machine; /* locked */
    struct fake_fault fault;
    struct handle handle;
};

static void log_call(enum fake_symbol symbol, const struct handle *handle)
{
    const char *path = getenv("FAKE_NVML_LOG");
    TG_AUTOFCLOSE FILE *file = path == NULL ? NULL : fopen(path, "ae");
    if (file != NULL)
        fprintf(file, "%s card=%u gi=%u ci=%u\n", fake_symbols[symbol], handle->card, handle->gi,
                handle->ci);
}

static bool applies(const struct fake_fault *fault, const struct fake_machine *machine,
                    enum fake_symbol symbol, const struct handle *handle)
{
    if (fault->symbol != FAKE_ANY && fault->symbol != (int)symbol)
        return false;
    if (fault->card >= 0 && (handle->kind == 0 || handle->card != (unsigned)fault->card))
        return false;
    uint32_t count = machine->state->calls[fault->symbol];
    return (fault->call == 0 || count == fault->call) && count >= fault->from;
}

/* Counts the call and finds out what is to go wrong with it. */
static struct fake_fault count_call(struct fake_machine *machine, enum fake_symbol symbol,
                                    const struct handle *handle)
{
    machine->state->calls[symbol]++;
    machine->state->calls[FAKE_ANY]++;
    for (size_t i = 0; i < machine->scenario.n_faults; i++) {
        if (applies(&machine->scenario.faults[i], machine, symbol, handle))
            return machine->scenario.faults[i];
    }
    return (struct fake_fault){0};
}

static void wait_ms(int milliseconds)
{
    (void)poll(NULL, 0, milliseconds);
}

/* Tells of it in FAKE_NVML_HANGS, one byte each. */
static void note_hang(void)
{
    const char *path = getenv("FAKE_NVML_HANGS");
    TG_AUTOFCLOSE FILE *file = path == NULL ? NULL : fopen(path, "ae");
    if (file != NULL)
        (void)fputc('.', file);
}

static bool stands_for(const struct fake_fault *fault, enum fake_symbol symbol)
{
    return fault->symbol == (int)symbol || (fault->symbol == FAKE_ANY && symbol < FAKE_SYMBOLS);
}

/* As long as the scenario lets calls of that kind hang, the first one or a later one. */
static bool hangs_on(enum fake_symbol symbol, const struct handle *handle)
{
    const struct fake_machine *machine = fake_machine_enter();
    bool on = false;
    for (size_t i = 0; machine != NULL && i < machine->scenario.n_faults; i++) {
        const struct fake_fault *fault = &machine->scenario.faults[i];
        on = on || (fault->hang && stands_for(fault, symbol) &&
                    (fault->card < 0 || fault->card == (int)handle->card));
    }
    if (machine != NULL)
        fake_machine_leave();
    return on;
}

static void hang(enum fake_symbol symbol, const struct handle *handle)
{
    note_hang();
    while (hangs_on(symbol, handle))
        wait_ms(1);
}

/* The loader runs these: who loads or unloads the library waits for them. */
static void hang_outside_of_calls(enum fake_symbol symbol)
{
    const struct handle none = {0};
    if (hangs_on(symbol, &none))
        hang(symbol, &none);
}

__attribute__((constructor)) static void load(void)
{
    hang_outside_of_calls(FAKE_LOADING);
}

__attribute__((destructor)) static void unload(void)
{
    hang_outside_of_calls(FAKE_UNLOADING);
    fake_machine_close();
}

static bool exists(const struct call *call, enum kind kind)
{
    const struct handle *h = &call->handle;
    const struct fake_instance *instance;
    if (kind == 0)
        return true;
    if (h->kind != kind || h->card >= call->machine->scenario.n_cards)
        return false;
    if (kind == DEVICE)
        return true;
    if (h->gi >= FAKE_INSTANCES || h->ci >= FAKE_COMPUTE)
        return false;
    instance = &call->machine->state->instances[h->card][h->gi];
    return instance->used && (kind == INSTANCE || instance->compute[h->ci].used);
}

/* Begins a call on a handle of that kind (0: none). Anything but NVML_OK is its answer, and the
 * machine is not locked. */
static int begin(struct call *call, enum fake_symbol symbol, enum kind kind, const void *handle)
{
    call->handle = decode(handle);
    call->machine = fake_machine_enter();
    if (call->machine == NULL)
        return NVML_UNKNOWN;
    log_call(symbol, &call->handle);
    call->fault = count_call(call->machine, symbol, &call->handle);
    if (call->fault.kill_before)
        (void)raise(SIGKILL);
    if (call->fault.hang || call->fault.delay_ms > 0) {
        fake_machine_leave();
        if (call->fault.hang)
            hang(symbol, &call->handle);
        else
            wait_ms(call->fault.delay_ms);
        call->machine = fake_machine_enter();
        if (call->machine == NULL)
            return NVML_UNKNOWN;
    }
    int rc = call->fault.error;
    if (rc == NVML_OK && !call->machine->scenario.loaded)
        rc = symbol == FAKE_nvmlInit_v2 ? NVML_DRIVER_NOT_LOADED : NVML_UNINITIALIZED;
    if (rc == NVML_OK && !exists(call, kind))
        rc = kind == DEVICE ? NVML_INVALID_ARGUMENT : NVML_NOT_FOUND;
    if (rc != NVML_OK)
        fake_machine_leave();
    return rc;
}

static int end(const struct call *call, int rc)
{
    if (call->fault.kill_after)
        (void)raise(SIGKILL);
    fake_machine_leave();
    return rc;
}

/* An answer of `n` bytes. */
static int answer(const struct call *call, void *to, const void *from, size_t n)
{
    if (call->fault.garbage)
        memset(to, 0xff, n);
    else
        memcpy(to, from, n);
    return end(call, NVML_OK);
}

static int answer_text(const struct call *call, char *to, unsigned n, const char *text)
{
    if (call->fault.garbage) {
        memset(to, 0xff, n);
        return end(call, NVML_OK);
    }
    if (strlen(text) >= n)
        return end(call, NVML_INSUFFICIENT_SIZE);
    memcpy(to, text, strlen(text) + 1);
    return end(call, NVML_OK);
}

#define BEGIN(symbol, kind, handle)                                                                \
    struct call call;                                                                              \
    int rc = begin(&call, FAKE_##symbol, kind, handle);                                            \
    if (rc != NVML_OK)                                                                             \
    return rc

static const struct fake_card *card_of(const struct call *call)
{
    return &call->machine->scenario.cards[call->handle.card];
}

static const struct fake_instance *instance_of(const struct call *call)
{
    return &call->machine->state->instances[call->handle.card][call->handle.gi];
}

/* ---- system ---- */

static int impl_nvmlInit_v2(void)
{
    BEGIN(nvmlInit_v2, 0, NULL);
    return end(&call, NVML_OK);
}

static int impl_nvmlShutdown(void)
{
    BEGIN(nvmlShutdown, 0, NULL);
    return end(&call, NVML_OK);
}

static int impl_nvmlSystemGetDriverVersion(char *version, unsigned n)
{
    BEGIN(nvmlSystemGetDriverVersion, 0, NULL);
    return answer_text(&call, version, n, call.machine->scenario.driver);
}

static int impl_nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    BEGIN(nvmlSystemGetCudaDriverVersion_v2, 0, NULL);
    return answer(&call, version, &call.machine->scenario.cuda, sizeof(*version));
}

/* ---- cards ---- */

static int impl_nvmlDeviceGetCount_v2(unsigned *n)
{
    BEGIN(nvmlDeviceGetCount_v2, 0, NULL);
    unsigned count = (unsigned)call.machine->scenario.n_cards;
    return answer(&call, n, &count, sizeof(count));
}

/* Cards are enumerated by rank, which a scenario can shuffle. */
static int impl_nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    const struct fake_machine *machine = fake_machine_enter();
    unsigned card = 0;
    size_t n = machine == NULL ? 0 : machine->scenario.n_cards;
    while (card < n && machine->scenario.cards[card].rank != index)
        card++;
    if (machine != NULL)
        fake_machine_leave();
    BEGIN(nvmlDeviceGetHandleByIndex_v2, DEVICE, encode(DEVICE, card, 0, 0));
    *device = encode(DEVICE, card, 0, 0);
    return end(&call, NVML_OK);
}

static int partition_uuid(void *device, char *uuid, unsigned n)
{
    char text[FAKE_TEXT], seed[FAKE_TEXT * 2];
    BEGIN(nvmlDeviceGetUUID, PARTITION, device);
    snprintf(seed, sizeof(seed), "%s/%u/%u", card_of(&call)->uuid, instance_of(&call)->serial,
             instance_of(&call)->compute[call.handle.ci].serial);
    uint64_t hash = tg_hash64(seed, strlen(seed)) * UINT64_C(0x9e3779b97f4a7c15);
    snprintf(text, sizeof(text), "MIG-%08x-%04x-5000-8000-%012llx", (unsigned)(hash >> 32),
             (unsigned)(hash >> 16 & 0xffff), (unsigned long long)(hash & 0xffffffffffff));
    return answer_text(&call, uuid, n, text);
}

static int impl_nvmlDeviceGetUUID(void *device, char *uuid, unsigned n)
{
    if (decode(device).kind == PARTITION)
        return partition_uuid(device, uuid, n);
    BEGIN(nvmlDeviceGetUUID, DEVICE, device);
    return answer_text(&call, uuid, n, card_of(&call)->uuid);
}

static int impl_nvmlDeviceGetName(void *device, char *name, unsigned n)
{
    BEGIN(nvmlDeviceGetName, DEVICE, device);
    return answer_text(&call, name, n, card_of(&call)->name);
}

static int impl_nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci)
{
    struct nvml_pci info = {0};
    BEGIN(nvmlDeviceGetPciInfo_v3, DEVICE, device);
    const struct fake_card *card = card_of(&call);
    if (sscanf(card->bus_id, "%x:%x:%x", &info.domain, &info.bus, &info.device) != 3)
        return end(&call, NVML_UNKNOWN);
    info.pci_device_id = card->device_id << 16 | 0x10deU;
    snprintf(info.bus_id, sizeof(info.bus_id), "%08X:%02X:%02X.0", info.domain, info.bus,
             info.device);
    snprintf(info.bus_id_legacy, sizeof(info.bus_id_legacy), "%04X:%02X:%02X.0",
             info.domain & 0xffff, info.bus & 0xff, info.device & 0xff);
    return answer(&call, pci, &info, sizeof(info));
}

static int impl_nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
    BEGIN(nvmlDeviceGetMinorNumber, DEVICE, device);
    return answer(&call, minor, &card_of(&call)->minor, sizeof(*minor));
}

static int impl_nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory)
{
    BEGIN(nvmlDeviceGetMemoryInfo, DEVICE, device);
    const struct nvml_memory info = {.total = card_of(&call)->memory,
                                     .free = card_of(&call)->memory};
    return answer(&call, memory, &info, sizeof(info));
}

static unsigned position(const char *const *names, size_t n, const char *name, unsigned fallback)
{
    for (unsigned i = 0; i < n; i++) {
        if (tg_streq(names[i], name))
            return i;
    }
    return fallback;
}

static int impl_nvmlDeviceGetArchitecture(void *device, unsigned *architecture)
{
    static const char *const names[] = {"",         "",       "Kepler", "Maxwell",      "Pascal",
                                        "Volta",    "Turing", "Ampere", "Ada Lovelace", "Hopper",
                                        "Blackwell"};
    BEGIN(nvmlDeviceGetArchitecture, DEVICE, device);
    /* The numbers begin with Kepler, 2. */
    unsigned number =
        position(names, TG_ARRAY_SIZE(names), card_of(&call)->card.architecture, 0xffffffff);
    return answer(&call, architecture, &number, sizeof(number));
}

static int impl_nvmlDeviceGetBrand(void *device, unsigned *brand)
{
    static const char *const names[] = {"Unknown", "Quadro",  "Tesla",     "NVS",       "GRID",
                                        "GeForce", "Titan",   "vApps",     "vPC",       "vCS",
                                        "vWS",     "vGaming", "QuadroRTX", "NvidiaRTX", "Nvidia"};
    BEGIN(nvmlDeviceGetBrand, DEVICE, device);
    unsigned number = position(names, TG_ARRAY_SIZE(names), card_of(&call)->card.brand, 0);
    return answer(&call, brand, &number, sizeof(number));
}

static int impl_nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    int numbers[2] = {0};
    BEGIN(nvmlDeviceGetCudaComputeCapability, DEVICE, device);
    if (sscanf(card_of(&call)->card.compute_capability, "%d.%d", &numbers[0], &numbers[1]) != 2)
        return end(&call, NVML_UNKNOWN);
    *minor = numbers[1];
    return answer(&call, major, &numbers[0], sizeof(*major));
}

static int impl_nvmlDeviceGetNumaNodeId(void *device, unsigned *node)
{
    BEGIN(nvmlDeviceGetNumaNodeId, DEVICE, device);
    if (card_of(&call)->numa < 0)
        return end(&call, NVML_NOT_SUPPORTED);
    return answer(&call, node, &card_of(&call)->numa, sizeof(*node));
}

/* The scenario gives a clique as "<32 hex digits>.<number>". */
static int impl_nvmlDeviceGetGpuFabricInfoV(void *device, struct nvml_fabric *fabric)
{
    struct nvml_fabric info = {.version = fabric->version};
    BEGIN(nvmlDeviceGetGpuFabricInfoV, DEVICE, device);
    const char *clique = card_of(&call)->clique;
    if (fabric->version != NVML_VERSION(struct nvml_fabric, 2))
        return end(&call, NVML_ARGUMENT_VERSION_MISMATCH);
    for (unsigned i = 0; i < 16 && strlen(clique) > 33; i++) {
        unsigned byte = 0;
        if (sscanf(clique + 2 * (size_t)i, "%2x", &byte) == 1)
            info.cluster_uuid[i] = (unsigned char)byte;
    }
    if (strlen(clique) > 33) {
        info.clique_id = (unsigned)strtoul(clique + 33, NULL, 10);
        info.state = NVML_FABRIC_COMPLETED;
    }
    return answer(&call, fabric, &info, sizeof(info));
}

static int impl_nvmlDeviceGetComputeMode(void *device, unsigned *mode)
{
    BEGIN(nvmlDeviceGetComputeMode, DEVICE, device);
    unsigned found = call.machine->state->compute_mode[call.handle.card];
    return answer(&call, mode, &found, sizeof(found));
}

/* Of a card in MIG mode it is always the default. */
static int impl_nvmlDeviceSetComputeMode(void *device, unsigned mode)
{
    BEGIN(nvmlDeviceSetComputeMode, DEVICE, device);
    if (card_of(&call)->mig)
        return end(&call, NVML_NOT_SUPPORTED);
    if (mode > 3)
        return end(&call, NVML_INVALID_ARGUMENT);
    call.machine->state->compute_mode[call.handle.card] = (uint8_t)mode;
    return end(&call, NVML_OK);
}

/* ---- MIG: what there could be ---- */

static int impl_nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    BEGIN(nvmlDeviceGetMigMode, DEVICE, device);
    if (card_of(&call)->card.memory_slices == 0)
        return end(&call, NVML_NOT_SUPPORTED);
    unsigned mode = card_of(&call)->mig;
    *pending = mode;
    return answer(&call, current, &mode, sizeof(mode));
}

static int impl_nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n)
{
    BEGIN(nvmlDeviceGetMaxMigDeviceCount, DEVICE, device);
    unsigned most = card_of(&call)->card.max_instances;
    most = most == 0 ? card_of(&call)->card.memory_slices : most;
    return answer(&call, n, &most, sizeof(most));
}

static int impl_nvmlDeviceGetGpuInstanceProfileInfoV(void *device, unsigned number,
                                                     struct nvml_gi_profile *info)
{
    BEGIN(nvmlDeviceGetGpuInstanceProfileInfoV, DEVICE, device);
    const struct tg_card *card = &card_of(&call)->card;
    if (info->version != NVML_VERSION(struct nvml_gi_profile, 2))
        return end(&call, NVML_ARGUMENT_VERSION_MISMATCH);
    for (size_t i = 0; i < card->n_profiles; i++) {
        const struct tg_card_profile *p = &card->profiles[i];
        struct nvml_gi_profile found = {.version = info->version};
        if (p->nvml_profile != (int)number || p->gi_profile_id < 0)
            continue;
        found.id = (unsigned)p->gi_profile_id;
        found.slice_count = p->compute_slices;
        found.instance_count = p->max_instances;
        found.multiprocessor_count = p->multiprocessors < 0 ? 0U : (unsigned)p->multiprocessors;
        found.copy_engines = (unsigned)p->engines[TG_CARD_COPY];
        found.decoders = (unsigned)p->engines[TG_CARD_DECODER];
        found.encoders = (unsigned)p->engines[TG_CARD_ENCODER];
        found.jpeg_engines = (unsigned)p->engines[TG_CARD_JPEG];
        found.ofa_engines = (unsigned)p->engines[TG_CARD_OFA];
        found.memory_mib = p->memory_mib < 0 ? 0U : (unsigned long long)p->memory_mib;
        snprintf(found.name, sizeof(found.name), "MIG %s", p->name);
        return answer(&call, info, &found, sizeof(found));
    }
    return end(&call, NVML_NOT_SUPPORTED);
}

static int impl_nvmlDeviceGetGpuInstancePossiblePlacements_v2(void *device, unsigned profile_id,
                                                              struct nvml_placement *placements,
                                                              unsigned *n)
{
    BEGIN(nvmlDeviceGetGpuInstancePossiblePlacements_v2, DEVICE, device);
    const struct tg_card_profile *profile = fake_profile(card_of(&call), (int)profile_id);
    unsigned found = 0;
    if (profile == NULL || !card_of(&call)->mig)
        return end(&call, NVML_NOT_SUPPORTED);
    for (unsigned start = 0; start < 8; start++) {
        if ((profile->starts & 1U << start) == 0)
            continue;
        if (placements != NULL && found >= *n)
            return end(&call, NVML_INSUFFICIENT_SIZE);
        if (placements != NULL)
            placements[found] = (struct nvml_placement){start, profile->memory_slices};
        found++;
    }
    return answer(&call, n, &found, sizeof(found));
}

/* ---- MIG: what there is ---- */

static int impl_nvmlDeviceGetGpuInstances(void *device, unsigned profile_id, void **instances,
                                          unsigned *n)
{
    BEGIN(nvmlDeviceGetGpuInstances, DEVICE, device);
    unsigned found = 0;
    if (!card_of(&call)->mig || fake_profile(card_of(&call), (int)profile_id) == NULL)
        return end(&call, NVML_NOT_SUPPORTED);
    for (unsigned gi = 0; gi < FAKE_INSTANCES; gi++) {
        const struct fake_instance *one = &call.machine->state->instances[call.handle.card][gi];
        if (one->used && one->profile_id == (int)profile_id)
            instances[found++] = encode(INSTANCE, call.handle.card, gi, 0);
    }
    return answer(&call, n, &found, sizeof(found));
}

static int impl_nvmlGpuInstanceGetInfo(void *instance, struct nvml_gi_info *info)
{
    BEGIN(nvmlGpuInstanceGetInfo, INSTANCE, instance);
    const struct fake_instance *one = instance_of(&call);
    const struct nvml_gi_info found = {
        .device = encode(DEVICE, call.handle.card, 0, 0),
        .id = call.handle.gi,
        .profile_id = (unsigned)one->profile_id,
        .placement = {one->start, fake_profile(card_of(&call), one->profile_id)->memory_slices}};
    return answer(&call, info, &found, sizeof(found));
}

/* Sizes of compute instances by the number of their profile, which is its id, too. */
static const unsigned compute_slices[NVML_CI_PROFILES] = {1, 2, 3, 4, 7, 8, 6, 0};

static int impl_nvmlGpuInstanceGetComputeInstanceProfileInfo(void *instance, unsigned number,
                                                             unsigned engines,
                                                             struct nvml_ci_profile *info)
{
    BEGIN(nvmlGpuInstanceGetComputeInstanceProfileInfo, INSTANCE, instance);
    const struct tg_card_profile *profile =
        fake_profile(card_of(&call), instance_of(&call)->profile_id);
    unsigned slices = number < NVML_CI_PROFILES ? compute_slices[number] : 0;
    if (engines != NVML_CI_ENGINE_SHARED || slices == 0 || slices > profile->compute_slices)
        return end(&call, NVML_NOT_SUPPORTED);
    const struct nvml_ci_profile found = {
        .id = number, .slice_count = slices, .instance_count = profile->compute_slices / slices};
    return answer(&call, info, &found, sizeof(found));
}

static int impl_nvmlGpuInstanceGetComputeInstances(void *instance, unsigned profile_id,
                                                   void **instances, unsigned *n)
{
    BEGIN(nvmlGpuInstanceGetComputeInstances, INSTANCE, instance);
    unsigned found = 0;
    for (unsigned ci = 0; ci < FAKE_COMPUTE && profile_id < NVML_CI_PROFILES; ci++) {
        const struct fake_compute *one = &instance_of(&call)->compute[ci];
        if (one->used && one->slices == compute_slices[profile_id])
            instances[found++] = encode(COMPUTE, call.handle.card, call.handle.gi, ci);
    }
    return answer(&call, n, &found, sizeof(found));
}

static int impl_nvmlComputeInstanceGetInfo_v2(void *compute, struct nvml_ci_info *info)
{
    BEGIN(nvmlComputeInstanceGetInfo_v2, COMPUTE, compute);
    const struct fake_compute *one = &instance_of(&call)->compute[call.handle.ci];
    struct nvml_ci_info found = {.device = encode(DEVICE, call.handle.card, 0, 0),
                                 .gpu_instance =
                                     encode(INSTANCE, call.handle.card, call.handle.gi, 0),
                                 .id = call.handle.ci,
                                 .placement = {one->start, one->slices}};
    while (compute_slices[found.profile_id] != one->slices)
        found.profile_id++;
    return answer(&call, info, &found, sizeof(found));
}

/* Partitions that programs can use: those with a compute instance, in the order of their ids. */
static int impl_nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **mig)
{
    BEGIN(nvmlDeviceGetMigDeviceHandleByIndex, DEVICE, device);
    for (unsigned gi = 0; gi < FAKE_INSTANCES; gi++) {
        const struct fake_instance *one = &call.machine->state->instances[call.handle.card][gi];
        for (unsigned ci = 0; one->used && ci < FAKE_COMPUTE; ci++) {
            if (!one->compute[ci].used || index-- != 0)
                continue;
            *mig = encode(PARTITION, call.handle.card, gi, ci);
            return end(&call, NVML_OK);
        }
    }
    return end(&call, NVML_NOT_FOUND);
}

static int impl_nvmlDeviceGetGpuInstanceId(void *mig, unsigned *id)
{
    BEGIN(nvmlDeviceGetGpuInstanceId, PARTITION, mig);
    return answer(&call, id, &call.handle.gi, sizeof(*id));
}

static int impl_nvmlDeviceGetComputeInstanceId(void *mig, unsigned *id)
{
    BEGIN(nvmlDeviceGetComputeInstanceId, PARTITION, mig);
    return answer(&call, id, &call.handle.ci, sizeof(*id));
}

/* ---- MIG: changes ---- */

static int impl_nvmlDeviceCreateGpuInstanceWithPlacement(void *device, unsigned profile_id,
                                                         const struct nvml_placement *placement,
                                                         void **instance)
{
    unsigned gi = 0;
    BEGIN(nvmlDeviceCreateGpuInstanceWithPlacement, DEVICE, device);
    rc = fake_instance_create(call.machine, call.handle.card, profile_id, placement, &gi);
    *instance = rc == NVML_OK ? encode(INSTANCE, call.handle.card, gi, 0) : NULL;
    return end(&call, rc);
}

static int impl_nvmlGpuInstanceDestroy(void *instance)
{
    BEGIN(nvmlGpuInstanceDestroy, INSTANCE, instance);
    return end(&call, fake_instance_destroy(call.machine, call.handle.card, call.handle.gi));
}

static int impl_nvmlGpuInstanceCreateComputeInstance(void *instance, unsigned profile_id,
                                                     void **compute)
{
    unsigned ci = 0;
    BEGIN(nvmlGpuInstanceCreateComputeInstance, INSTANCE, instance);
    rc = profile_id < NVML_CI_PROFILES && compute_slices[profile_id] > 0
             ? fake_compute_create(call.machine, call.handle.card, call.handle.gi,
                                   compute_slices[profile_id], &ci)
             : NVML_INVALID_ARGUMENT;
    *compute = rc == NVML_OK ? encode(COMPUTE, call.handle.card, call.handle.gi, ci) : NULL;
    return end(&call, rc);
}

static int impl_nvmlComputeInstanceDestroy(void *compute)
{
    BEGIN(nvmlComputeInstanceDestroy, COMPUTE, compute);
    return end(&call, fake_compute_destroy(call.machine, call.handle.card, call.handle.gi,
                                           call.handle.ci));
}
