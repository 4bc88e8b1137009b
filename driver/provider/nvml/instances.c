/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/instances.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

#define HANDLES_MAX 64 /* of an answer: a card has eight slices, so more is no answer */
#define MIG_UUID_LENGTH 40
#define ID_MAX 0xff /* of instances; the largest that a driver gives is 14 */

static int failed(const struct tg_nvml_card *card, int rc, const char *call, struct tg_error *err)
{
    char about[48];
    snprintf(about, sizeof(about), "card %s", card->bus_id);
    return tg_nvml_failed(rc, call, about, err);
}

static int strange(const struct tg_nvml_card *card, const char *call, struct tg_error *err)
{
    return tg_error_set(err, TG_DATA_LOSS, "card %s: %s: the answer makes no sense", card->bus_id,
                        call);
}

/* ---- reading ---- */

static bool makes_sense(const struct nvml_ci_profile *profile)
{
    return profile->slice_count > 0 && profile->slice_count <= TG_NVML_SLICES_MAX;
}

/* The compute profile that has as many slices as the instance: all of it. */
static int whole_profile(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                         void *instance, unsigned slices, struct nvml_ci_profile *ret,
                         struct tg_error *err)
{
    const char *call = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
    for (unsigned i = 0; i < NVML_CI_PROFILES; i++) {
        int rc = TG_NVML_CALL(nvml, nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, i,
                              NVML_CI_ENGINE_SHARED, ret);
        if (rc == NVML_NOT_SUPPORTED || rc == NVML_INVALID_ARGUMENT)
            continue;
        if (rc != NVML_OK)
            return failed(card, rc, call, err);
        if (!makes_sense(ret))
            return strange(card, call, err);
        if (ret->slice_count == slices)
            return 0;
    }
    return tg_error_set(err, TG_INTERNAL,
                        "card %s: %s: there is no compute profile of %u slices for an instance of "
                        "that size",
                        card->bus_id, call, slices);
}

static int read_compute(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                        struct tg_nvml_instance *instance, struct tg_error *err)
{
    const char *call = "nvmlGpuInstanceGetComputeInstances";
    const struct tg_nvml_profile *profile = tg_nvml_card_profile(card, instance->profile_id);
    for (unsigned i = 0; i < NVML_CI_PROFILES; i++) {
        struct nvml_ci_profile kind = {0};
        void *handles[HANDLES_MAX] = {0};
        unsigned n = 0;
        int rc = TG_NVML_CALL(nvml, nvmlGpuInstanceGetComputeInstanceProfileInfo, instance->handle,
                              i, NVML_CI_ENGINE_SHARED, &kind);
        if (rc == NVML_NOT_SUPPORTED || rc == NVML_INVALID_ARGUMENT)
            continue;
        if (rc != NVML_OK)
            return failed(card, rc, "nvmlGpuInstanceGetComputeInstanceProfileInfo", err);
        if (!makes_sense(&kind))
            return strange(card, "nvmlGpuInstanceGetComputeInstanceProfileInfo", err);
        rc = TG_NVML_CALL(nvml, nvmlGpuInstanceGetComputeInstances, instance->handle, kind.id,
                          handles, &n);
        if (rc != NVML_OK)
            return failed(card, rc, call, err);
        if (n > TG_NVML_SLICES_MAX - instance->n_compute)
            return strange(card, call, err);
        for (unsigned k = 0; k < n; k++)
            instance->compute[instance->n_compute++] = handles[k];
        instance->whole =
            instance->whole || (n == 1 && kind.slice_count == profile->compute_slices);
    }
    instance->whole = instance->whole && instance->n_compute == 1;
    if (!instance->whole)
        return 0;
    struct nvml_ci_info info = {0};
    int rc = TG_NVML_CALL(nvml, nvmlComputeInstanceGetInfo_v2, instance->compute[0], &info);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlComputeInstanceGetInfo_v2", err);
    if (info.id > ID_MAX)
        return strange(card, "nvmlComputeInstanceGetInfo_v2", err);
    instance->ci = info.id;
    return 0;
}

static bool fits(const struct tg_nvml_card *card, const struct nvml_gi_info *info)
{
    return info->id <= ID_MAX && info->placement.size > 0 && info->placement.size <= card->slices &&
           info->placement.start <= card->slices - info->placement.size;
}

static int read_instance(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                         const struct tg_nvml_profile *profile, void *handle,
                         struct tg_nvml_instances *ret, struct tg_error *err)
{
    struct tg_nvml_instance *instance = &ret->items[ret->n];
    struct nvml_gi_info info = {0};
    int rc = TG_NVML_CALL(nvml, nvmlGpuInstanceGetInfo, handle, &info);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlGpuInstanceGetInfo", err);
    if (ret->n == TG_NVML_SLICES_MAX || !fits(card, &info) ||
        tg_nvml_instances_over(ret, info.placement.start, info.placement.size) != NULL)
        return strange(card, "nvmlGpuInstanceGetInfo", err);
    *instance = (struct tg_nvml_instance){.handle = handle,
                                          .profile_id = profile->id,
                                          .start = info.placement.start,
                                          .size = info.placement.size,
                                          .gi = info.id};
    rc = read_compute(nvml, card, instance, err);
    if (rc == 0)
        ret->n++;
    return rc;
}

/* ---- UUIDs: only MIG devices have them ---- */

static bool is_mig_uuid(const char *s)
{
    bool fits = tg_has_prefix(s, "MIG-") && strnlen(s, MIG_UUID_LENGTH + 1) == MIG_UUID_LENGTH;
    for (size_t i = 4; fits && i < MIG_UUID_LENGTH; i++)
        fits = isxdigit((unsigned char)s[i]) || s[i] == '-';
    return fits;
}

static struct tg_nvml_instance *find(struct tg_nvml_instances *instances, unsigned gi, unsigned ci)
{
    for (size_t i = 0; i < instances->n; i++) {
        struct tg_nvml_instance *one = &instances->items[i];
        if (one->whole && one->gi == gi && one->ci == ci)
            return one;
    }
    return NULL;
}

static int read_uuid(const struct tg_nvml *nvml, const struct tg_nvml_card *card, void *mig,
                     struct tg_nvml_instances *instances, struct tg_error *err)
{
    char text[NVML_UUID_BYTES] = "";
    unsigned gi = 0, ci = 0;
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetGpuInstanceId, mig, &gi);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetGpuInstanceId", err);
    if (gi > ID_MAX)
        return strange(card, "nvmlDeviceGetGpuInstanceId", err);
    rc = TG_NVML_CALL(nvml, nvmlDeviceGetComputeInstanceId, mig, &ci);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetComputeInstanceId", err);
    if (ci > ID_MAX)
        return strange(card, "nvmlDeviceGetComputeInstanceId", err);
    struct tg_nvml_instance *instance = find(instances, gi, ci);
    if (instance == NULL)
        return 0;
    rc = TG_NVML_CALL(nvml, nvmlDeviceGetUUID, mig, text, sizeof(text));
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetUUID of a MIG device", err);
    if (!is_mig_uuid(text))
        return strange(card, "nvmlDeviceGetUUID of a MIG device", err);
    memcpy(instance->uuid, text, MIG_UUID_LENGTH + 1);
    return 0;
}

static int read_uuids(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                      struct tg_nvml_instances *instances, struct tg_error *err)
{
    unsigned n = 0;
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetMaxMigDeviceCount, card->handle, &n);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetMaxMigDeviceCount", err);
    for (unsigned i = 0; i < n && i < HANDLES_MAX; i++) {
        void *mig = NULL;
        rc = TG_NVML_CALL(nvml, nvmlDeviceGetMigDeviceHandleByIndex, card->handle, i, &mig);
        if (rc == NVML_NOT_FOUND || rc == NVML_INVALID_ARGUMENT)
            continue; /* indexes have gaps */
        if (rc != NVML_OK)
            return failed(card, rc, "nvmlDeviceGetMigDeviceHandleByIndex", err);
        rc = read_uuid(nvml, card, mig, instances, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct tg_nvml_instance *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

int tg_nvml_instances_read(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                           struct tg_nvml_instances *ret, struct tg_error *err)
{
    *ret = (struct tg_nvml_instances){0};
    for (size_t i = 0; i < card->n_profiles; i++) {
        void *handles[HANDLES_MAX] = {0};
        unsigned n = 0;
        int rc = TG_NVML_CALL(nvml, nvmlDeviceGetGpuInstances, card->handle, card->profiles[i].id,
                              handles, &n);
        if (rc != NVML_OK)
            return failed(card, rc, "nvmlDeviceGetGpuInstances", err);
        if (n > TG_NVML_SLICES_MAX)
            return strange(card, "nvmlDeviceGetGpuInstances", err);
        for (unsigned k = 0; k < n; k++) {
            rc = read_instance(nvml, card, &card->profiles[i], handles[k], ret, err);
            if (rc < 0)
                return rc;
        }
    }
    qsort(ret->items, ret->n, sizeof(ret->items[0]), compare_places);
    return ret->n == 0 ? 0 : read_uuids(nvml, card, ret, err);
}

const struct tg_nvml_instance *tg_nvml_instances_at(const struct tg_nvml_instances *instances,
                                                    const struct tg_partition *partition)
{
    for (size_t i = 0; i < instances->n; i++) {
        const struct tg_nvml_instance *one = &instances->items[i];
        if (one->profile_id == partition->profile_id && one->start == partition->start &&
            one->size == partition->size)
            return one;
    }
    return NULL;
}

const struct tg_nvml_instance *tg_nvml_instances_over(const struct tg_nvml_instances *instances,
                                                      unsigned start, unsigned size)
{
    for (size_t i = 0; i < instances->n; i++) {
        const struct tg_nvml_instance *one = &instances->items[i];
        if (one->start < start + size && start < one->start + one->size)
            return one;
    }
    return NULL;
}

/* ---- changing ---- */

static int make_instance(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                         const struct tg_partition *partition, void **ret, struct tg_error *err)
{
    const char *call = "nvmlDeviceCreateGpuInstanceWithPlacement";
    const struct nvml_placement place = {partition->start, partition->size};
    int rc = TG_NVML_CALL(nvml, nvmlDeviceCreateGpuInstanceWithPlacement, card->handle,
                          partition->profile_id, &place, ret);
    if (rc == NVML_INSUFFICIENT_RESOURCES)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "card %s: %s: no room for profile %u at memory slice %u: its place is "
                            "taken, or its engines are (NVML %d)",
                            card->bus_id, call, partition->profile_id, partition->start, rc);
    return rc == NVML_OK ? 0 : failed(card, rc, call, err);
}

static int make_compute(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                        const struct tg_partition *partition, void *instance, struct tg_error *err)
{
    const struct tg_nvml_profile *profile = tg_nvml_card_profile(card, partition->profile_id);
    struct nvml_ci_profile whole = {0};
    void *compute = NULL;
    int rc = whole_profile(nvml, card, instance, profile->compute_slices, &whole, err);
    if (rc < 0)
        return rc;
    rc = TG_NVML_CALL(nvml, nvmlGpuInstanceCreateComputeInstance, instance, whole.id, &compute);
    return rc == NVML_OK ? 0 : failed(card, rc, "nvmlGpuInstanceCreateComputeInstance", err);
}

/* What was made can be given away: read back, with its UUID. */
static int read_back(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                     const struct tg_partition *partition, struct tg_nvml_instance *ret,
                     struct tg_error *err)
{
    struct tg_nvml_instances all;
    int rc = tg_nvml_instances_read(nvml, card, &all, err);
    if (rc < 0)
        return rc;
    const struct tg_nvml_instance *found = tg_nvml_instances_at(&all, partition);
    if (found == NULL || !found->whole || found->uuid[0] == '\0')
        return tg_error_set(err, TG_UNAVAILABLE,
                            "card %s: the instance of profile %u at memory slice %u was made and "
                            "is not to be found",
                            card->bus_id, partition->profile_id, partition->start);
    *ret = *found;
    return 0;
}

static int take_back(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                     const struct tg_partition *partition, struct tg_error *err)
{
    struct tg_nvml_instances all;
    struct tg_error why = TG_ERROR_INIT;
    int rc = tg_nvml_instances_read(nvml, card, &all, &why);
    const struct tg_nvml_instance *found = rc == 0 ? tg_nvml_instances_at(&all, partition) : NULL;
    if (found != NULL)
        rc = tg_nvml_instance_destroy(nvml, card, found, &why);
    if (rc < 0 && err != NULL)
        (void)tg_error_wrap(err, "(and it is left behind: %.150s)", why.message);
    return rc;
}

int tg_nvml_instance_create(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                            const struct tg_partition *partition, struct tg_nvml_instance *ret,
                            struct tg_error *err)
{
    struct tg_nvml_instances before;
    void *handle = NULL;
    int rc = tg_nvml_instances_read(nvml, card, &before, err);
    if (rc < 0)
        return rc;
    const struct tg_nvml_instance *there = tg_nvml_instances_at(&before, partition);
    if (there == NULL)
        rc = make_instance(nvml, card, partition, &handle, err);
    else
        handle = there->handle;
    if (rc < 0)
        return rc; /* nothing was made */
    if (there == NULL || there->n_compute == 0)
        rc = make_compute(nvml, card, partition, handle, err);
    if (rc == 0)
        rc = read_back(nvml, card, partition, ret, err);
    if (rc < 0)
        (void)take_back(nvml, card, partition, err);
    return rc;
}

int tg_nvml_instance_destroy(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                             const struct tg_nvml_instance *instance, struct tg_error *err)
{
    for (unsigned i = 0; i < instance->n_compute; i++) {
        int rc = TG_NVML_CALL(nvml, nvmlComputeInstanceDestroy, instance->compute[i]);
        if (rc != NVML_OK && rc != NVML_NOT_FOUND)
            return failed(card, rc, "nvmlComputeInstanceDestroy", err);
    }
    int rc = TG_NVML_CALL(nvml, nvmlGpuInstanceDestroy, instance->handle);
    return rc == NVML_OK || rc == NVML_NOT_FOUND ? 0
                                                 : failed(card, rc, "nvmlGpuInstanceDestroy", err);
}
