/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of a test's own below the temporary folder, gone afterwards. */
#ifndef TG_TESTS_UNIT_DRIVER_SANDBOX_H
#define TG_TESTS_UNIT_DRIVER_SANDBOX_H

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

struct sandbox {
    char *folder;
};

static inline struct sandbox *sandbox_new(void)
{
    struct sandbox *sandbox = tg_xcalloc(1, sizeof(*sandbox));
    sandbox->folder = tg_xasprintf("%s/tangram-test-XXXXXX", tg_or(getenv("TMPDIR"), "/tmp"));
    if (mkdtemp(sandbox->folder) == NULL)
        abort();
    return sandbox;
}

static inline int sandbox_remove_one(const char *path, const struct stat *status, int flag,
                                     struct FTW *ftw)
{
    (void)status;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* Empties a folder and removes it. */
static inline void sandbox_remove(const char *folder)
{
    (void)nftw(folder, sandbox_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void sandbox_free(struct sandbox *sandbox)
{
    sandbox_remove(sandbox->folder);
    free(sandbox->folder);
    free(sandbox);
}

/* From here on no file of this process grows beyond `bytes`: stands for a full disk, and a write
 * that reaches it is cut there. RLIM_INFINITY ends it. */
static inline void sandbox_limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
}

#endif
