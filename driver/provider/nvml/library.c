/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static const struct {
    int number;
    enum tg_code code;
    const char *text;
} answers[] = {
    {NVML_UNINITIALIZED, TG_UNAVAILABLE, "the session has ended"},
    {NVML_INVALID_ARGUMENT, TG_INVALID_ARGUMENT, "invalid argument"},
    {NVML_NOT_SUPPORTED, TG_UNIMPLEMENTED, "not supported by this card or driver"},
    {NVML_NO_PERMISSION, TG_PERMISSION_DENIED, "no permission: the plugin must run as root"},
    {NVML_NOT_FOUND, TG_NOT_FOUND, "not found"},
    {NVML_INSUFFICIENT_SIZE, TG_INTERNAL, "the answer is longer than the room for it"},
    {NVML_DRIVER_NOT_LOADED, TG_UNAVAILABLE, "the kernel driver is not loaded"},
    {NVML_TIMEOUT, TG_DEADLINE_EXCEEDED, "timed out"},
    {NVML_FUNCTION_NOT_FOUND, TG_UNIMPLEMENTED, "this driver has no such function"},
    {NVML_GPU_IS_LOST, TG_UNAVAILABLE, "the card has fallen off the bus"},
    {NVML_RESET_REQUIRED, TG_UNAVAILABLE, "the card needs a reset"},
    {NVML_LIB_RM_VERSION_MISMATCH, TG_UNAVAILABLE,
     "library and kernel driver are of different versions: the driver is being replaced, or the "
     "node must be rebooted"},
    {NVML_IN_USE, TG_FAILED_PRECONDITION, "in use by a process"},
    {NVML_MEMORY, TG_RESOURCE_EXHAUSTED, "out of memory"},
    {NVML_INSUFFICIENT_RESOURCES, TG_RESOURCE_EXHAUSTED, "insufficient resources"},
    {NVML_ARGUMENT_VERSION_MISMATCH, TG_UNIMPLEMENTED, "this driver knows another structure"},
    {NVML_NOT_READY, TG_UNAVAILABLE, "not ready"},
};

int tg_nvml_failed(int rc, const char *call, const char *about, struct tg_error *err)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(answers); i++) {
        if (answers[i].number != rc)
            continue;
        (void)tg_error_set(err, answers[i].code, "%s: %s: %s (NVML %d)", about, call,
                           answers[i].text, rc);
        if (err != NULL && rc == NVML_IN_USE)
            err->retry = true;
        return -(int)answers[i].code;
    }
    return tg_error_set(err, TG_UNAVAILABLE, "%s: %s: unknown error (NVML %d)", about, call, rc);
}

bool tg_nvml_session_lost(int rc)
{
    return rc == NVML_UNINITIALIZED || rc == NVML_DRIVER_NOT_LOADED ||
           rc == NVML_LIB_RM_VERSION_MISMATCH;
}

struct symbol {
    const char *name;
    size_t offset;
    bool required;
};
static const struct symbol symbols[] = {
#define SYMBOL(required, name, arguments) {#name, offsetof(struct tg_nvml, name), required},
    NVML_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* Code of the library runs in both, and may hang as in any call of it. */
static void *begin_loading(const char *path, struct tg_nvml_watch *watch)
{
    void *handle = NULL;
    if (tg_nvml_watch_enter(watch, TG_NVML_LOADING))
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    (void)tg_nvml_watch_leave(watch, 0);
    return handle;
}

static void unload(const struct tg_nvml *nvml)
{
    /* Whoever waits: what was opened is closed. */
    (void)tg_nvml_watch_enter(nvml->watch, TG_NVML_UNLOADING);
    (void)tg_nvml_watch_leave(nvml->watch, dlclose(nvml->handle));
}

static int load(const char *path, struct tg_nvml *ret, struct tg_error *err)
{
    ret->handle = begin_loading(path, ret->watch);
    if (ret->handle == NULL)
        return tg_error_set(err, TG_UNAVAILABLE, "there is no NVIDIA driver: %.300s",
                            tg_or(dlerror(), path));
    for (size_t i = 0; i < TG_ARRAY_SIZE(symbols); i++) {
        void *function = dlsym(ret->handle, symbols[i].name);
        if (function == NULL && symbols[i].required)
            return tg_error_set(err, TG_UNAVAILABLE,
                                "%s has no function %s: the driver is too old, or this is not its "
                                "library",
                                path, symbols[i].name);
        memcpy((char *)ret + symbols[i].offset, &function, sizeof(function));
    }
    return 0;
}

int tg_nvml_open(const char *path, struct tg_nvml_watch *watch, struct tg_nvml *ret,
                 struct tg_error *err)
{
    *ret = (struct tg_nvml){.watch = watch};
    int rc = load(path, ret, err);
    if (rc == 0) {
        int answer = TG_NVML_CALL(ret, nvmlInit_v2);
        if (answer == NVML_OK)
            return 0;
        rc = tg_nvml_failed(answer, "nvmlInit_v2", path, err);
    }
    if (ret->handle != NULL)
        unload(ret);
    *ret = (struct tg_nvml){0};
    return rc;
}

void tg_nvml_close(struct tg_nvml *nvml)
{
    if (!tg_nvml_is_open(nvml))
        return;
    /* Whoever waits: what was opened is closed. */
    (void)tg_nvml_watch_enter(nvml->watch, "nvmlShutdown");
    (void)tg_nvml_watch_leave(nvml->watch, nvml->nvmlShutdown());
    unload(nvml);
    *nvml = (struct tg_nvml){0};
}
