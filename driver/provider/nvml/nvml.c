/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/nvml.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "driver/provider/nvml/devices.h"
#include "driver/provider/nvml/files.h"
#include "driver/provider/nvml/nodes.h"
#include "driver/provider/nvml/settings.h"

#define ARENA_BYTES ((size_t)16 << 20)
#define NUMBER_MAX 32

struct nvml {
    struct tg_provider provider;
    char *library, *system_root, *driver_root, *host_root, *dynamic_mig;
    char version[NVML_VERSION_BYTES]; /* of the driver, as it writes it; "" before it is known */
    struct tg_nvml session;
    TG_VEC(struct tg_nvml_card) cards; /* of the last listing in this session */
    struct tg_nvml_watch *watch;
    TG_VEC(struct tg_nvml_left_out) left_out;
};

/* Handles end with it. */
static void end_session(struct nvml *nvml)
{
    TG_VEC_CLEAR(&nvml->cards);
    tg_nvml_close(&nvml->session);
}

/* A driver whose root is not ours is found there, whenever it has been installed. */
static int open_session(struct nvml *nvml, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const char *found = tg_nvml_files_find(nvml->driver_root, nvml->library, arena);
    if (found == NULL && nvml->driver_root[0] != '\0' && strchr(nvml->library, '/') == NULL)
        return tg_error_set(err, TG_UNAVAILABLE, "there is no NVIDIA driver: no %s below %s",
                            nvml->library, nvml->driver_root);
    return tg_nvml_open(tg_or(found, nvml->library), nvml->watch, &nvml->session, err);
}

static void nvml_free(struct tg_provider *provider)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    end_session(nvml);
    TG_VEC_DONE(&nvml->cards);
    TG_VEC_DONE(&nvml->left_out);
    free(nvml->library);
    free(nvml->system_root);
    free(nvml->driver_root);
    free(nvml->host_root);
    free(nvml->dynamic_mig);
    free(nvml);
}

/* ---- cards on the bus, whatever the driver says ---- */

static bool file_begins(const char *folder, const char *card, const char *file, const char *text)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s/%s", folder, card, file);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT(NUMBER_MAX);
    return tg_file_read(path, &content, NULL) == 0 && tg_has_prefix(tg_buf_str(&content), text);
}

/* NVIDIA's (0x10de) display controllers: class 0x0300 with an output, 0x0302 without. */
static unsigned count_on_bus(const struct nvml *nvml)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/sys/bus/pci/devices", nvml->system_root);
    DIR *folder = opendir(path);
    unsigned n = 0;
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL;
         entry = readdir(folder))
        n += file_begins(path, entry->d_name, "vendor", "0x10de") &&
             (file_begins(path, entry->d_name, "class", "0x0300") ||
              file_begins(path, entry->d_name, "class", "0x0302"));
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* ---- versions ---- */

/* "580.105.08" -> "580.105.8", "550.54" -> "550.54.0"; NULL for what cannot be made a semantic
 * version. */
static const char *semver_of(const char *text, struct tg_arena *arena)
{
    unsigned parts[3] = {0};
    char rest = '\0';
    int n = sscanf(text, "%6u.%6u.%6u%c", &parts[0], &parts[1], &parts[2], &rest);
    return n == 2 || n == 3 ? tg_arena_printf(arena, "%u.%u.%u", parts[0], parts[1], parts[2])
                            : NULL;
}

static void read_versions(struct nvml *nvml, struct tg_nvml_devices *to)
{
    char text[NVML_VERSION_BYTES + 1] = "";
    int number = 0;
    if (TG_NVML_CALL(&nvml->session, nvmlSystemGetDriverVersion, text, NVML_VERSION_BYTES) !=
        NVML_OK)
        text[0] = '\0';
    text[strspn(text, "0123456789.")] = '\0';
    snprintf(nvml->version, sizeof(nvml->version), "%.80s", text);
    to->driver_version = semver_of(text, to->arena);
    if (nvml->session.nvmlSystemGetCudaDriverVersion_v2 != NULL &&
        TG_NVML_CALL(&nvml->session, nvmlSystemGetCudaDriverVersion_v2, &number) == NVML_OK &&
        number > 0 && number < 1000000)
        to->cuda_version = tg_arena_printf(to->arena, "%d.%d.0", number / 1000, number % 1000 / 10);
}

/* ---- listing ---- */

static bool is_dynamic(const struct nvml *nvml, const struct tg_nvml_card *card)
{
    for (const char *at = nvml->dynamic_mig; *at != '\0';) {
        at += strspn(at, ", ");
        size_t n = strcspn(at, ",");
        if (n > 0 && (tg_device_pattern_fits(at, n, card->uuid) ||
                      tg_device_pattern_fits(at, n, card->bus_id) ||
                      tg_device_pattern_fits(at, n, card->product_name)))
            return true;
        at += n;
    }
    return false;
}

static int add_card(struct nvml *nvml, unsigned index, struct tg_nvml_devices *to,
                    struct tg_error *err)
{
    struct tg_nvml_instances instances;
    struct tg_nvml_card card;
    char problem[256];
    int rc = tg_nvml_card_read(&nvml->session, index, nvml->system_root, &card, err);
    if (rc < 0)
        return rc;
    if (tg_nvml_devices_has_card(to, &card))
        return tg_error_set(err, TG_DATA_LOSS,
                            "card %u: nvmlDeviceGetUUID: the answer makes no sense: another card "
                            "begins with %.17s, too",
                            index, card.uuid);
    *TG_VEC_PUSH(&nvml->cards) = card;
    bool dynamic = is_dynamic(nvml, &card);
    if (!card.mig) {
        tg_nvml_devices_add_card(to, &card);
        if (!dynamic)
            return 0;
        snprintf(
            problem, sizeof(problem),
            "card %s is to be partitioned on demand, and its MIG mode is off: it is offered as "
            "a whole; turn the mode on (nvidia-smi -i %s -mig 1) while nobody uses it",
            card.bus_id, card.bus_id);
        tg_nvml_devices_add_problem(to, problem);
        return 0;
    }
    rc = tg_nvml_instances_read(&nvml->session, &card, &instances, err);
    if (rc < 0)
        return rc;
    if (dynamic)
        tg_nvml_devices_add_dynamic(to, &card, &instances);
    else
        tg_nvml_devices_add_static(to, &card, &instances);
    return 0;
}

/* Why the card is not to be touched; NULL: it may be. */
static const char *why_left_out(const struct nvml *nvml, unsigned index)
{
    for (size_t i = 0; i < nvml->left_out.n; i++) {
        if (nvml->left_out.items[i].index == index)
            return nvml->left_out.items[i].why;
    }
    return NULL;
}

/* One card that cannot be read must not hide the others. */
static void add_cards(struct nvml *nvml, unsigned n, struct tg_nvml_devices *to)
{
    TG_VEC_CLEAR(&nvml->cards);
    for (unsigned i = 0; i < n; i++) {
        struct tg_error why = TG_ERROR_INIT;
        const char *left_out = why_left_out(nvml, i);
        if (left_out == NULL && add_card(nvml, i, to, &why) < 0)
            left_out = why.message;
        if (left_out != NULL)
            tg_nvml_devices_add_problem(to, left_out);
    }
    tg_nvml_watch_card(nvml->watch, NULL);
}

/* The session ends with the driver: then what was read is half a truth. */
static int check_session(struct nvml *nvml, struct tg_error *err)
{
    char text[NVML_VERSION_BYTES];
    int rc = TG_NVML_CALL(&nvml->session, nvmlSystemGetDriverVersion, text, sizeof(text));
    if (!tg_nvml_session_lost(rc))
        return 0;
    rc = tg_nvml_failed(rc, "nvmlSystemGetDriverVersion", nvml->library, err);
    end_session(nvml);
    return rc;
}

static int count_cards(struct nvml *nvml, unsigned *ret, struct tg_error *err)
{
    int rc = TG_NVML_CALL(&nvml->session, nvmlDeviceGetCount_v2, ret);
    if (rc != NVML_OK) {
        rc = tg_nvml_failed(rc, "nvmlDeviceGetCount_v2", nvml->library, err);
        end_session(nvml);
        return rc;
    }
    if (*ret > TG_NVML_CARDS_MAX)
        return tg_error_set(err, TG_DATA_LOSS,
                            "%s: nvmlDeviceGetCount_v2: the answer makes no sense: %u cards",
                            nvml->library, *ret);
    return 0;
}

static void tell_missing(unsigned found, unsigned on_bus, struct tg_nvml_devices *to)
{
    char problem[128];
    if (found >= on_bus)
        return;
    snprintf(problem, sizeof(problem), "%u NVIDIA cards are on the PCI bus, the driver knows %u",
             on_bus, found);
    tg_nvml_devices_add_problem(to, problem);
}

static int list_with_driver(struct nvml *nvml, unsigned on_bus, struct tg_nvml_devices *to,
                            struct tg_error *err)
{
    unsigned n = 0;
    int rc = count_cards(nvml, &n, err);
    if (rc < 0)
        return rc;
    if (n == 0 && on_bus > 0)
        return tg_error_set(err, TG_UNAVAILABLE,
                            "%u NVIDIA cards are on the PCI bus, and the driver knows none yet",
                            on_bus);
    read_versions(nvml, to);
    add_cards(nvml, n, to);
    tell_missing(n, on_bus, to);
    return to->problems.n == 0 ? 0 : check_session(nvml, err);
}

static int list_into(struct nvml *nvml, struct tg_nvml_devices *to, struct tg_error *err)
{
    struct tg_error why = TG_ERROR_INIT;
    unsigned on_bus = count_on_bus(nvml);
    int rc = tg_nvml_is_open(&nvml->session) ? 0 : open_session(nvml, &why);
    if (rc == 0)
        return list_with_driver(nvml, on_bus, to, err);
    /* A node without cards needs no driver; one with cards has nothing to offer before it. */
    if (on_bus == 0) {
        tg_nvml_devices_add_problem(to, why.message);
        return 0;
    }
    if (err != NULL)
        *err = why;
    return rc;
}

static int nvml_list(struct tg_provider *provider, struct tg_device_set *ret, struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    TG_CLEANUP(tg_nvml_devices_done)
    struct tg_nvml_devices devices = {.arena = tg_arena_new(ARENA_BYTES)};
    int rc = list_into(nvml, &devices, err);
    return rc < 0 ? rc : tg_nvml_devices_finish(&devices, ret, err);
}

/* ---- partitions ---- */

static const struct tg_nvml_card *known_card(const struct nvml *nvml, const char *uuid)
{
    for (size_t i = 0; i < nvml->cards.n; i++) {
        if (!tg_streq(nvml->cards.items[i].uuid, uuid))
            continue;
        tg_nvml_watch_card(nvml->watch, &nvml->cards.items[i]);
        return tg_nvml_card_stands(&nvml->session, &nvml->cards.items[i]) ? &nvml->cards.items[i]
                                                                          : NULL;
    }
    return NULL;
}

static int find_card(struct nvml *nvml, const char *uuid, struct tg_nvml_card *ret,
                     struct tg_error *err)
{
    const struct tg_nvml_card *known = known_card(nvml, uuid);
    unsigned n = 0;
    int rc = 0;
    if (known != NULL) {
        *ret = *known;
        return 0;
    }
    tg_nvml_watch_card(nvml->watch, NULL);
    if (!tg_nvml_is_open(&nvml->session))
        rc = open_session(nvml, err);
    if (rc == 0)
        rc = count_cards(nvml, &n, err);
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        struct tg_error why = TG_ERROR_INIT;
        if (why_left_out(nvml, i) != NULL)
            continue;
        int read = tg_nvml_card_read(&nvml->session, i, nvml->system_root, ret, &why);
        if (!tg_streq(ret->uuid, uuid))
            continue;
        if (read < 0 && err != NULL)
            *err = why;
        return read;
    }
    if (rc < 0)
        return rc;
    return nvml->left_out.n == 0
               ? tg_error_set(err, TG_UNAVAILABLE, "card %s is not to be found", uuid)
               : tg_error_set(err, TG_UNAVAILABLE, "card %s is not to be found, and %.300s", uuid,
                              nvml->left_out.items[0].why);
}

static int check_mig(const struct tg_nvml_card *card, const struct tg_partition *partition,
                     struct tg_error *err)
{
    if (card->mig && tg_nvml_card_profile(card, partition->profile_id) != NULL)
        return 0;
    int rc = tg_error_set(err, TG_FAILED_PRECONDITION,
                          card->mig ? "card %s has no profile %u any more"
                                    : "MIG mode of card %s is off: profile %u cannot be there",
                          card->bus_id, partition->profile_id);
    if (err != NULL)
        err->retry = true;
    return rc;
}

static int fill(const struct tg_nvml_instance *instance, struct tg_arena *arena,
                struct tg_instance *ret, struct tg_error *err)
{
    *ret = (struct tg_instance){
        .gi = instance->gi, .ci = instance->ci, .uuid = tg_arena_strdup(arena, instance->uuid)};
    return ret->uuid == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory") : 0;
}

static int nvml_look(struct tg_provider *provider, const struct tg_partition *partition,
                     struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    struct tg_nvml_instances instances;
    struct tg_nvml_card card;
    int rc = find_card(nvml, partition->card_uuid, &card, err);
    if (rc == 0 && !card.mig)
        return tg_error_set(err, TG_NOT_FOUND, "MIG mode of card %s is off", card.bus_id);
    if (rc == 0)
        rc = tg_nvml_instances_read(&nvml->session, &card, &instances, err);
    if (rc < 0)
        return rc;
    const struct tg_nvml_instance *there = tg_nvml_instances_at(&instances, partition);
    if (there != NULL && there->whole && there->uuid[0] != '\0')
        return fill(there, arena, ret, err);
    const struct tg_nvml_instance *over =
        tg_nvml_instances_over(&instances, partition->start, partition->size);
    if (over == NULL)
        return tg_error_set(err, TG_NOT_FOUND, "nothing is at memory slice %u of card %s",
                            partition->start, card.bus_id);
    rc = tg_error_set(err, TG_FAILED_PRECONDITION,
                      "GPU instance %u (profile %u at memory slice %u, %u compute instances) on "
                      "card %s is in the way, and none of ours: remove it, or let it be used",
                      over->gi, over->profile_id, over->start, over->n_compute, card.bus_id);
    if (err != NULL)
        err->retry = true;
    return rc;
}

/* Nothing is made that cannot be removed. */
static int check_functions(const struct nvml *nvml, const struct tg_nvml_card *card,
                           struct tg_error *err)
{
    const struct tg_nvml *session = &nvml->session;
    const char *missing = session->nvmlDeviceCreateGpuInstanceWithPlacement == NULL
                              ? "nvmlDeviceCreateGpuInstanceWithPlacement"
                          : session->nvmlGpuInstanceCreateComputeInstance == NULL
                              ? "nvmlGpuInstanceCreateComputeInstance"
                          : session->nvmlComputeInstanceDestroy == NULL
                              ? "nvmlComputeInstanceDestroy"
                          : session->nvmlGpuInstanceDestroy == NULL ? "nvmlGpuInstanceDestroy"
                                                                    : NULL;
    return missing == NULL ? 0
                           : tg_error_set(err, TG_UNIMPLEMENTED,
                                          "card %s: this driver cannot make and remove partitions "
                                          "at given places: it has no function %s",
                                          card->bus_id, missing);
}

static int nvml_create(struct tg_provider *provider, const struct tg_partition *partition,
                       struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    struct tg_nvml_instance made;
    struct tg_nvml_card card;
    int rc = find_card(nvml, partition->card_uuid, &card, err);
    if (rc == 0)
        rc = check_mig(&card, partition, err);
    if (rc == 0)
        rc = check_functions(nvml, &card, err);
    if (rc == 0)
        rc = tg_nvml_instance_create(&nvml->session, &card, partition, &made, err);
    return rc < 0 ? rc : fill(&made, arena, ret, err);
}

static int nvml_destroy(struct tg_provider *provider, const struct tg_partition *partition,
                        struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    struct tg_nvml_instances instances;
    struct tg_nvml_card card;
    int rc = find_card(nvml, partition->card_uuid, &card, err);
    if (rc < 0 || !card.mig)
        return rc;
    rc = check_mig(&card, partition, err); /* of a profile that is not told nothing is found */
    if (rc == 0)
        rc = tg_nvml_instances_read(&nvml->session, &card, &instances, err);
    if (rc < 0)
        return rc;
    const struct tg_nvml_instance *there = tg_nvml_instances_at(&instances, partition);
    if (there == NULL)
        return 0;
    rc = check_functions(nvml, &card, err);
    return rc < 0 ? rc : tg_nvml_instance_destroy(&nvml->session, &card, there, err);
}

/* ---- settings ---- */

static int nvml_settings(struct tg_provider *provider, const char *card_uuid,
                         struct tg_gpu_settings *ret, struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    struct tg_nvml_card card;
    int rc = find_card(nvml, card_uuid, &card, err);
    return rc < 0 ? rc : tg_nvml_settings_read(&nvml->session, &card, ret, err);
}

static int nvml_set(struct tg_provider *provider, const char *card_uuid,
                    const struct tg_gpu_settings *wanted, struct tg_error *err)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    struct tg_nvml_card card;
    int rc = find_card(nvml, card_uuid, &card, err);
    return rc < 0 ? rc
                  : tg_nvml_settings_write(&nvml->session, &card, nvml->driver_root, nvml->library,
                                           wanted, err);
}

/* ---- containers ---- */

static int nvml_edit(struct tg_provider *provider, const struct tg_provider_device *device,
                     const struct tg_instance *instance, struct tg_arena *arena,
                     struct tg_edits *ret, struct tg_error *err)
{
    const struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    return tg_nvml_nodes_of_device(nvml->system_root, device, instance, arena, ret, err);
}

static int nvml_edit_common(struct tg_provider *provider, struct tg_arena *arena,
                            struct tg_edits *ret, struct tg_error *err)
{
    const struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    int rc = tg_nvml_nodes_common(nvml->system_root, arena, ret, err);
    return rc < 0 ? rc
                  : tg_nvml_files_add(
                        &(struct tg_nvml_root){.here = nvml->driver_root, .host = nvml->host_root},
                        nvml->version, arena, ret, err);
}

static const struct tg_provider_ops nvml_ops = {
    .name = "nvml",
    .list = nvml_list,
    .free = nvml_free,
    .look = nvml_look,
    .create = nvml_create,
    .destroy = nvml_destroy,
    .settings = nvml_settings,
    .set = nvml_set,
    .edit = nvml_edit,
    .edit_common = nvml_edit_common,
};

int tg_nvml_provider_new(const struct tg_provider_options *options, struct tg_nvml_watch *watch,
                         struct tg_provider **ret, struct tg_error *err)
{
    if (tg_or(options->library, "")[0] == '\0')
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "the nvml provider needs the name of the driver's library");
    struct nvml *nvml = tg_xcalloc(1, sizeof(*nvml));
    nvml->provider.ops = &nvml_ops;
    nvml->watch = watch;
    nvml->library = tg_xstrdup(options->library);
    nvml->system_root = tg_xstrdup(tg_or(options->system_root, ""));
    nvml->driver_root = tg_xstrdup(tg_or(options->driver_root, ""));
    nvml->host_root = tg_xstrdup(tg_or(options->host_root, ""));
    nvml->dynamic_mig = tg_xstrdup(tg_or(options->dynamic_mig, ""));
    *ret = &nvml->provider;
    return 0;
}

void tg_nvml_provider_leave_out(struct tg_provider *provider, const struct tg_nvml_left_out *cards,
                                size_t n)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    TG_VEC_CLEAR(&nvml->left_out);
    for (size_t i = 0; i < n; i++)
        *TG_VEC_PUSH(&nvml->left_out) = cards[i];
}

const char *tg_nvml_provider_version(const struct tg_provider *provider)
{
    return TG_CONTAINER_OF(provider, const struct nvml, provider)->version;
}

void tg_nvml_provider_set_version(struct tg_provider *provider, const char *version)
{
    struct nvml *nvml = TG_CONTAINER_OF(provider, struct nvml, provider);
    snprintf(nvml->version, sizeof(nvml->version), "%s", version);
}
