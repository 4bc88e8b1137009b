/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/settings.h"

#include <string.h>

#include "api/runtime/base/str.h"

#define DECODE_BYTES ((size_t)64 << 10)

/* ---- which ---- */

/* "gpus" of an entry stands for each alternative "gpus/a" of it, too. */
static bool is_for(const struct tg_device_config *config, const struct tg_claim_device *device)
{
    for (size_t i = 0; i < config->requests.n; i++) {
        if (tg_streq(config->requests.items[i], device->request) ||
            tg_streq(config->requests.items[i], device->asked))
            return true;
    }
    return config->requests.n == 0;
}

static int wrong_kind(const struct tg_claim_device *device, const struct tg_gpu_config *config,
                      struct tg_error *err)
{
    return tg_error_set(
        err, TG_INVALID_ARGUMENT, "%s is for request %s, which got %s, %s: that takes a %s",
        config->mig ? "a MigConfig" : "a GpuConfig", device->request, device->device,
        config->mig ? "a whole card" : "a partition", config->mig ? "GpuConfig" : "MigConfig");
}

static int put(struct tg_claim_device *device, const struct tg_gpu_config *config,
               const struct tg_device_set *set, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_provider_device *card = tg_device_set_find(set, device->device);
    device->settings = NULL;
    if (card == NULL || (!config->settings.time_slice.set && !config->settings.compute_mode.set))
        return 0;
    device->settings = tg_arena_alloc(arena, sizeof(*device->settings));
    if (device->settings == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the claim needs too much memory");
    *device->settings =
        (struct tg_claim_settings){.card_uuid = card->uuid, .wanted = config->settings};
    return 0;
}

static int put_all(struct tg_claim_record *record, const struct tg_device_config *entry,
                   const struct tg_gpu_config *config, const struct tg_device_set *set,
                   struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        struct tg_claim_device *device = &record->devices.items[i];
        bool fits = (device->partition != NULL) == config->mig;
        int rc = 0;
        if (device->admin_access.value || !is_for(entry, device))
            continue;
        if (!fits && entry->requests.n > 0)
            rc = wrong_kind(device, config, err);
        else if (fits)
            rc = put(device, config, set, arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_entry(struct tg_claim_record *record, const struct tg_device_config *entry,
                      const struct tg_device_set *set, struct tg_arena *arena, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *scratch = tg_arena_new(DECODE_BYTES);
    const char *text = tg_or(entry->opaque->parameters, "");
    struct tg_gpu_config config;
    int rc = tg_gpu_config_decode(text, strlen(text), scratch, &config, err);
    return rc < 0 ? rc : put_all(record, entry, &config, set, arena, err);
}

static int read_source(struct tg_claim_record *record, const char *driver, bool of_class,
                       const struct tg_device_config *configs, size_t n,
                       const struct tg_device_set *set, struct tg_arena *arena,
                       struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_device_config *entry = &configs[i];
        if (entry->opaque == NULL || !tg_streq(entry->opaque->driver, driver) ||
            tg_streq(entry->source, "FromClass") != of_class)
            continue;
        int rc = read_entry(record, entry, set, arena, err);
        if (rc < 0)
            return err == NULL ? rc
                               : tg_error_wrap(err, "status.allocation.devices.config[%zu] (%s)", i,
                                               of_class ? "of the class" : "of the claim");
    }
    return 0;
}

int tg_settings_fill(struct tg_claim_record *record, const char *driver,
                     const struct tg_device_config *configs, size_t n,
                     const struct tg_device_set *set, struct tg_arena *arena, struct tg_error *err)
{
    int rc = read_source(record, driver, true, configs, n, set, arena, err);
    return rc < 0 ? rc : read_source(record, driver, false, configs, n, set, arena, err);
}

/* ---- when ---- */

static int wrap(const struct tg_claim_device *device, int rc, struct tg_error *err)
{
    return rc < 0 && err != NULL ? tg_error_wrap(err, "device %s", device->device) : rc;
}

int tg_settings_look(struct tg_claim_record *record, struct tg_provider *provider,
                     struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        const struct tg_claim_device *device = &record->devices.items[i];
        if (device->settings == NULL)
            continue;
        int rc = provider == NULL || provider->ops->set == NULL
                     ? tg_error_set(err, TG_UNIMPLEMENTED,
                                    "its configuration cannot be applied: these devices have "
                                    "nothing to set")
                     : provider->ops->settings(provider, device->settings->card_uuid,
                                               &device->settings->before, err);
        if (rc < 0)
            return wrap(device, rc, err);
    }
    return 0;
}

int tg_settings_apply(const struct tg_claim_record *record, struct tg_provider *provider,
                      struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        const struct tg_claim_device *device = &record->devices.items[i];
        if (device->settings == NULL || provider == NULL || provider->ops->set == NULL)
            continue;
        int rc = provider->ops->set(provider, device->settings->card_uuid,
                                    &device->settings->wanted, err);
        if (rc < 0)
            return wrap(device, rc, err);
    }
    return 0;
}

/* A time slice cannot be asked for: what it was is taken to be the driver's own. */
int tg_settings_undo(const struct tg_claim_device *device, struct tg_provider *provider,
                     struct tg_error *err)
{
    const struct tg_claim_settings *settings = device->settings;
    struct tg_gpu_settings back = {0};
    if (settings == NULL || provider == NULL || provider->ops->set == NULL)
        return 0;
    if (settings->wanted.time_slice.set)
        back.time_slice = (struct tg_opt_int){.set = true, .value = TG_TIME_SLICE_DEFAULT};
    /* What could not be read could not be set either, and must not hold up the end of a pod. */
    if (settings->wanted.compute_mode.set)
        back.compute_mode = settings->before.compute_mode;
    return wrap(device, provider->ops->set(provider, settings->card_uuid, &back, err), err);
}
