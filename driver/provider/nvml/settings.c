/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "driver/provider/nvml/tool.h"

#define TOOL "/usr/bin/nvidia-smi"
#define TOOL_TIME (10 * TG_SECOND) /* it takes a second or two on a node with eight cards */

static int failed(const struct tg_nvml_card *card, int rc, const char *call, struct tg_error *err)
{
    char about[48];
    snprintf(about, sizeof(about), "card %s", card->bus_id);
    return tg_nvml_failed(rc, call, about, err);
}

static int read_mode(const struct tg_nvml *nvml, const struct tg_nvml_card *card, unsigned *ret,
                     struct tg_error *err)
{
    if (nvml->nvmlDeviceGetComputeMode == NULL || nvml->nvmlDeviceSetComputeMode == NULL)
        return tg_error_set(err, TG_UNIMPLEMENTED, "card %s: this driver has no function %s",
                            card->bus_id,
                            nvml->nvmlDeviceGetComputeMode == NULL ? "nvmlDeviceGetComputeMode"
                                                                   : "nvmlDeviceSetComputeMode");
    int rc = TG_NVML_CALL(nvml, nvmlDeviceGetComputeMode, card->handle, ret);
    if (rc != NVML_OK)
        return failed(card, rc, "nvmlDeviceGetComputeMode", err);
    if (*ret > TG_COMPUTE_MODE_MAX)
        return tg_error_set(
            err, TG_DATA_LOSS,
            "card %s: nvmlDeviceGetComputeMode: the answer makes no sense: there is "
            "no mode %u",
            card->bus_id, *ret);
    return 0;
}

int tg_nvml_settings_read(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                          struct tg_gpu_settings *ret, struct tg_error *err)
{
    unsigned mode = 0;
    *ret = (struct tg_gpu_settings){0};
    int rc = read_mode(nvml, card, &mode, err);
    if (rc == -TG_UNIMPLEMENTED) /* nor can it be set then, which is told by who tries */
        return 0;
    ret->compute_mode = (struct tg_opt_int){.set = rc == 0, .value = mode};
    return rc;
}

static int set_mode(const struct tg_nvml *nvml, const struct tg_nvml_card *card, unsigned wanted,
                    struct tg_error *err)
{
    unsigned mode = 0;
    int rc = read_mode(nvml, card, &mode, err);
    if (rc < 0 || mode == wanted)
        return rc;
    rc = TG_NVML_CALL(nvml, nvmlDeviceSetComputeMode, card->handle, wanted);
    return rc == NVML_OK ? 0 : failed(card, rc, "nvmlDeviceSetComputeMode", err);
}

/* Where the library is, for a tool that is not run in its own root. */
static char *library_path(const char *driver_root, const char *library)
{
    const char *slash = strrchr(library, '/');
    if (driver_root[0] == '\0' || slash == NULL)
        return NULL;
    return tg_xasprintf("LD_LIBRARY_PATH=%.*s", (int)(slash - library), library);
}

static int set_slice(const struct tg_nvml_card *card, const char *driver_root, const char *library,
                     unsigned wanted, struct tg_error *err)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s" TOOL, driver_root);
    TG_AUTOFREE char *slice = tg_xasprintf("--set-timeslice=%u", wanted);
    TG_AUTOFREE char *where = library_path(driver_root, library);
    const char *const argv[] = {path, "compute-policy", "-i", card->uuid, slice, NULL};
    const char *const env[] = {"LC_ALL=C", where, NULL};
    bool there = access(path, X_OK) == 0;
    /* Without the tool nobody has set anything, or the driver went, and its settings with it: what
     * cannot be taken back must not hold the card for ever. */
    if (!there && wanted == TG_TIME_SLICE_DEFAULT)
        return 0;
    if (!there) {
        int rc = tg_error_set(err, TG_FAILED_PRECONDITION,
                              "card %s: timeSlicing needs the driver's tool, and there is no %s: "
                              "install it, or name the driver's folder with --driver-root",
                              card->bus_id, path);
        if (err != NULL)
            err->retry = true;
        return rc;
    }
    int rc = tg_nvml_tool_run(argv, env, TOOL_TIME, err);
    return rc < 0 && err != NULL ? tg_error_wrap(err, "card %s", card->bus_id) : rc;
}

int tg_nvml_settings_write(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                           const char *driver_root, const char *library,
                           const struct tg_gpu_settings *wanted, struct tg_error *err)
{
    int rc = wanted->compute_mode.set
                 ? set_mode(nvml, card, (unsigned)wanted->compute_mode.value, err)
                 : 0;
    if (rc == 0 && wanted->time_slice.set)
        rc = set_slice(card, driver_root, library, (unsigned)wanted->time_slice.value, err);
    return rc;
}
