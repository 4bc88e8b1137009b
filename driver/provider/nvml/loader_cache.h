/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of the dynamic loader, /etc/ld.so.cache in the format of glibc 2.2 and newer
 * ("glibc-ld.so.cache1.1"): where libraries are, whatever the distribution. Pure. */
#ifndef TG_DRIVER_PROVIDER_NVML_LOADER_CACHE_H
#define TG_DRIVER_PROVIDER_NVML_LOADER_CACHE_H

#include <stddef.h>

#include "api/runtime/base/error.h"

/* Calls `found` for each library of this machine's architecture, in the order of the cache: its
 * soname and its path. A negative return stops. TG_DATA_LOSS for what is no such cache. */
int tg_loader_cache_each(const char *data, size_t n,
                         int (*found)(void *data, const char *name, const char *path,
                                      struct tg_error *err),
                         void *found_data, struct tg_error *err);

#endif
