/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the driver that programs in containers need. */
#ifndef TG_DRIVER_PROVIDER_NVML_FILES_H
#define TG_DRIVER_PROVIDER_NVML_FILES_H

#include "driver/provider/provider.h"

/* Where the driver is installed. */
struct tg_nvml_root {
    const char *here; /* "" is / */
    const char
        *host; /* the same folder as the container runtime sees it: "" is /, as here if NULL */
};

/*
 * Adds to the mounts: the driver's libraries by the loader cache below `root`, those
 * whose file is of exactly that version; its firmware; its tools; the hook of the vendor's toolkit
 * that updates a loader cache, if it is installed there. A library is mounted at the path
 * of its soname, in a folder that the loader of the container searches, so that nothing has to be
 * linked or cached there. Where no library of the version is: none are added, for a root that is /
 * (something else may bring them, a container runtime of the vendor); TG_FAILED_PRECONDITION
 * (retry) for one that somebody has named.
 */
int tg_nvml_files_add(const struct tg_nvml_root *root, const char *version, struct tg_arena *arena,
                      struct tg_edits *edits, struct tg_error *err);

/* The file of a library that is named as the loader would name it, by the loader cache of a root
 * that is not /: in the arena. NULL: there is none; a name with a slash is a path already. */
const char *tg_nvml_files_find(const char *root, const char *name, struct tg_arena *arena);

#endif
