/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the driver that programs in containers need. */
#ifndef TG_DRIVER_PROVIDER_NVML_FILES_H
#define TG_DRIVER_PROVIDER_NVML_FILES_H

#include "driver/provider/provider.h"

/*
 * Adds to the mounts: the driver's libraries by the loader cache below `root` ("" is /), those
 * whose file is of exactly that version; its firmware; its tools. A library is mounted at the path
 * of its soname, in a folder that the loader of the container searches, so that nothing has to be
 * linked or cached there. Where no library of the version is: none are added, for a root that is /
 * (something else may bring them, a container runtime of the vendor); TG_FAILED_PRECONDITION
 * (retry) for one that somebody has named.
 */
int tg_nvml_files_add(const char *root, const char *version, struct tg_arena *arena,
                      struct tg_edits *edits, struct tg_error *err);

#endif
