/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever the driver's library answers (names, UUIDs, sizes, counts, placements, errors): what
 * becomes a device can be published. A byte of the input decides what is wrong with an answer,
 * mostly nothing, so that the course goes on; after it come the bytes of a wrong one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "driver/provider/nvml/devices.h"

#define CARDS_MAX 3

static struct {
    const uint8_t *at;
    size_t left;
} input;

static uint8_t take(void)
{
    if (input.left == 0)
        return 0;
    input.left--;
    return *input.at++;
}

enum { SOUND = 200, WRONG = 240 }; /* below: as it should be; below: wrong bytes; else: an error */

static int answer(void *to, const void *sound, size_t n)
{
    uint8_t choice = take();
    if (choice >= WRONG)
        return choice == 255 ? NVML_UNKNOWN : choice - WRONG + 1;
    memcpy(to, sound, n);
    if (choice < SOUND)
        return NVML_OK;
    /* Some of its bytes. */
    size_t at = n == 0 ? 0 : take() % n, count = 1 + take() % 16U;
    for (size_t i = 0; i < count && at + i < n; i++)
        ((uint8_t *)to)[at + i] = take();
    return NVML_OK;
}

static int answer_text(char *to, unsigned n, const char *sound)
{
    char text[NVML_NAME_BYTES] = "";
    snprintf(text, sizeof(text), "%s", sound);
    return answer(to, text, n < sizeof(text) ? n : sizeof(text));
}

static int answer_number(unsigned *to, unsigned sound)
{
    return answer(to, &sound, sizeof(sound));
}

/* Handles: a card is 1 and more, an instance 100 and more. */
static void *handle(unsigned number)
{
    return (void *)(uintptr_t)number;
}

static int get_handle(unsigned index, void **device)
{
    *device = handle(index + 1);
    return answer(&(char){0}, &(char){0}, 1);
}

static int get_uuid(void *device, char *uuid, unsigned n)
{
    char text[NVML_UUID_BYTES];
    unsigned number = (unsigned)(uintptr_t)device;
    snprintf(text, sizeof(text), "%s-%08x-1111-2222-3333-444444444444",
             number < 100 ? "GPU" : "MIG", take() == 1 ? 1U : number);
    return answer_text(uuid, n, text);
}

static int get_name(void *device, char *name, unsigned n)
{
    (void)device;
    return answer_text(name, n, "NVIDIA H100 80GB HBM3");
}

static int get_pci(void *device, struct nvml_pci *pci)
{
    const struct nvml_pci sound = {.bus = (unsigned)(uintptr_t)device};
    return answer(pci, &sound, sizeof(sound));
}

static int get_minor(void *device, unsigned *minor)
{
    return answer_number(minor, (unsigned)(uintptr_t)device);
}

static int get_memory(void *device, struct nvml_memory *memory)
{
    const struct nvml_memory sound = {.total = UINT64_C(80) << 30};
    (void)device;
    return answer(memory, &sound, sizeof(sound));
}

static int get_kind(void *device, unsigned *kind)
{
    (void)device;
    return answer_number(kind, 9);
}

static int get_capability(void *device, int *major, int *minor)
{
    const int sound[] = {9, 0};
    (void)device;
    *minor = 0;
    return answer(major, sound, sizeof(*major));
}

static int get_fabric(void *device, struct nvml_fabric *fabric)
{
    const struct nvml_fabric sound = {.cluster_uuid = {1}, .state = NVML_FABRIC_COMPLETED};
    (void)device;
    return answer(fabric, &sound, sizeof(sound));
}

static int get_mig_mode(void *device, unsigned *current, unsigned *pending)
{
    (void)device;
    *pending = 0;
    return answer_number(current, take() % 2U);
}

static int get_max_mig(void *device, unsigned *n)
{
    (void)device;
    return answer_number(n, 7);
}

static int get_mig(void *device, unsigned index, void **mig)
{
    (void)device;
    *mig = handle(100 + index);
    return answer(&(char){0}, &(char){0}, 1);
}

static int get_id(void *mig, unsigned *id)
{
    return answer_number(id, (unsigned)(uintptr_t)mig - 100);
}

static int get_compute_id(void *mig, unsigned *id)
{
    (void)mig;
    return answer_number(id, 0);
}

static int get_gi_profile(void *device, unsigned profile, struct nvml_gi_profile *info)
{
    const struct nvml_gi_profile sound = {.id = profile,
                                          .slice_count = 1U << profile % 3,
                                          .instance_count = 7,
                                          .multiprocessor_count = 16,
                                          .memory_mib = 9984,
                                          .name = "MIG 1g.10gb"};
    (void)device;
    return profile > 2 ? NVML_NOT_SUPPORTED : answer(info, &sound, sizeof(sound));
}

static int get_placements(void *device, unsigned profile, struct nvml_placement *placements,
                          unsigned *n)
{
    unsigned room = *n, size = 1U << profile % 3;
    struct nvml_placement sound[TG_NVML_SLICES_MAX];
    (void)device;
    for (unsigned i = 0; i < TG_NVML_SLICES_MAX; i++)
        sound[i] = (struct nvml_placement){i / size * size, size};
    int rc = answer_number(n, TG_NVML_SLICES_MAX / size);
    *n = *n > room ? room : *n; /* the library keeps to its room */
    return rc != NVML_OK ? rc : answer(placements, sound, sizeof(sound));
}

static int get_instances(void *device, unsigned profile, void **instances, unsigned *n)
{
    (void)device;
    unsigned there = profile == 0 ? take() % 3U : 0;
    for (unsigned i = 0; i < there; i++)
        instances[i] = handle(100 + i);
    return answer_number(n, there);
}

static int get_gi_info(void *instance, struct nvml_gi_info *info)
{
    unsigned number = (unsigned)(uintptr_t)instance - 100;
    const struct nvml_gi_info sound = {.id = number, .placement = {number, 1}};
    return answer(info, &sound, sizeof(sound));
}

static int get_ci_profile(void *instance, unsigned profile, unsigned engines,
                          struct nvml_ci_profile *info)
{
    const struct nvml_ci_profile sound = {.id = profile, .slice_count = 1};
    (void)instance;
    (void)engines;
    return profile > 0 ? NVML_NOT_SUPPORTED : answer(info, &sound, sizeof(sound));
}

static int get_compute(void *instance, unsigned profile, void **instances, unsigned *n)
{
    (void)profile;
    instances[0] = instance;
    return answer_number(n, 1);
}

static int get_ci_info(void *instance, struct nvml_ci_info *info)
{
    const struct nvml_ci_info sound = {.id = 0};
    (void)instance;
    return answer(info, &sound, sizeof(sound));
}

static const struct tg_nvml library = {
    .handle = &input,
    .nvmlDeviceGetHandleByIndex_v2 = get_handle,
    .nvmlDeviceGetUUID = get_uuid,
    .nvmlDeviceGetName = get_name,
    .nvmlDeviceGetPciInfo_v3 = get_pci,
    .nvmlDeviceGetMinorNumber = get_minor,
    .nvmlDeviceGetMemoryInfo = get_memory,
    .nvmlDeviceGetArchitecture = get_kind,
    .nvmlDeviceGetBrand = get_kind,
    .nvmlDeviceGetCudaComputeCapability = get_capability,
    .nvmlDeviceGetNumaNodeId = get_minor,
    .nvmlDeviceGetGpuFabricInfoV = get_fabric,
    .nvmlDeviceGetMigMode = get_mig_mode,
    .nvmlDeviceGetMaxMigDeviceCount = get_max_mig,
    .nvmlDeviceGetMigDeviceHandleByIndex = get_mig,
    .nvmlDeviceGetGpuInstanceId = get_id,
    .nvmlDeviceGetComputeInstanceId = get_compute_id,
    .nvmlDeviceGetGpuInstanceProfileInfoV = get_gi_profile,
    .nvmlDeviceGetGpuInstancePossiblePlacements_v2 = get_placements,
    .nvmlDeviceGetGpuInstances = get_instances,
    .nvmlGpuInstanceGetInfo = get_gi_info,
    .nvmlGpuInstanceGetComputeInstanceProfileInfo = get_ci_profile,
    .nvmlGpuInstanceGetComputeInstances = get_compute,
    .nvmlComputeInstanceGetInfo_v2 = get_ci_info,
};

static void add_card(struct tg_nvml_devices *devices, unsigned index, bool dynamic)
{
    struct tg_nvml_instances instances;
    struct tg_nvml_card card;
    struct tg_error err = TG_ERROR_INIT;
    int rc = tg_nvml_card_read(&library, index, "/nonexistent", &card, &err);
    if (rc == 0 && tg_nvml_devices_has_card(devices, &card))
        return;
    if (rc == 0 && card.mig)
        rc = tg_nvml_instances_read(&library, &card, &instances, &err);
    if (rc < 0 && (err.code == TG_OK || err.message[0] == '\0'))
        abort();
    if (rc < 0)
        return;
    if (!card.mig)
        tg_nvml_devices_add_card(devices, &card);
    else if (dynamic)
        tg_nvml_devices_add_dynamic(devices, &card, &instances);
    else
        tg_nvml_devices_add_static(devices, &card, &instances);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tg_nvml_devices devices = {.arena = tg_arena_new((size_t)16 << 20)};
    struct tg_device_set set = {0};
    struct tg_error err = TG_ERROR_INIT;

    input.at = data;
    input.left = n;
    for (unsigned i = 0; i < CARDS_MAX; i++)
        add_card(&devices, i, take() % 2 == 1);
    if (tg_nvml_devices_finish(&devices, &set, &err) == 0 &&
        tg_device_set_validate(&set, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    tg_device_set_done(&set);
    tg_nvml_devices_done(&devices);
    return 0;
}
