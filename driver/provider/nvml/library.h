/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnvidia-ml.so.1, loaded at run time: a node whose driver is not there yet, or is being
 * replaced, is an ordinary state. Calls block as long as the driver does; make them on a worker
 * thread.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_LIBRARY_H
#define TG_DRIVER_PROVIDER_NVML_LIBRARY_H

#include <stdbool.h>

#include "api/runtime/base/error.h"
#include "driver/provider/nvml/abi.h"
#include "driver/provider/nvml/watch.h"

/* Functions that an older library lacks are NULL. They are called through TG_NVML_CALL. */
struct tg_nvml {
    struct tg_nvml_watch *watch; /* of its calls; NULL: none */
    void *handle;
#define MEMBER(required, name, arguments) int(*name) arguments;
    NVML_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* The answer of that function; NVML_TIMEOUT without asking when nobody waits for it any more. */
#define TG_NVML_CALL(nvml, function, ...)                                                          \
    (tg_nvml_watch_enter((nvml)->watch, #function)                                                 \
         ? tg_nvml_watch_leave((nvml)->watch, (nvml)->function(__VA_ARGS__))                       \
         : NVML_TIMEOUT)

/* Loads the library from `path` (a file, or a name that the loader looks for) and begins a session,
 * whose calls `watch` (may be NULL) is told of. TG_UNAVAILABLE: there is none, it lacks what we
 * cannot do without, or there is no kernel driver. */
int tg_nvml_open(const char *path, struct tg_nvml_watch *watch, struct tg_nvml *ret,
                 struct tg_error *err);
/* Ends the session. A closed or all-zero one is allowed. */
void tg_nvml_close(struct tg_nvml *nvml);
static inline bool tg_nvml_is_open(const struct tg_nvml *nvml)
{
    return nvml->handle != NULL;
}

/* The error of a call that answered `rc` (not NVML_OK): names the card (or what else was asked),
 * the call and the cause. Retry is set unless the answer cannot change. */
int tg_nvml_failed(int rc, const char *call, const char *about, struct tg_error *err);
/* True when the whole session is of no use any more: the driver went, or was replaced. */
bool tg_nvml_session_lost(int rc);

#endif
