/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with simulated NVIDIA cards, in a folder of a test's own: the library of
 * tests/support/fake-nvml, pointed at a scenario by the environment of this process. */
#ifndef TG_TESTS_SUPPORT_FAKE_NVML_H
#define TG_TESTS_SUPPORT_FAKE_NVML_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"

struct fake_nvml {
    char *library, *scenario, *state, *root, *log, *hangs;
};

/* Takes effect at the next call of the library. */
static inline void fake_nvml_play(const struct fake_nvml *fake, const char *scenario)
{
    if (tg_file_write_atomic(fake->scenario, scenario, strlen(scenario), 0644, NULL) != 0)
        abort();
}

/* `build` is the folder of programs (TEST_BIN_DIR). */
static inline void fake_nvml_init(struct fake_nvml *fake, const char *build, const char *folder,
                                  const char *scenario)
{
    fake->library = tg_xasprintf("%s/../tests/fake-nvml/libnvidia-ml.so.1", build);
    fake->scenario = tg_xasprintf("%s/scenario", folder);
    fake->state = tg_xasprintf("%s/cards", folder);
    fake->root = tg_xasprintf("%s/root", folder);
    fake->log = tg_xasprintf("%s/calls", folder);
    fake->hangs = tg_xasprintf("%s/hangs", folder);
    fake_nvml_play(fake, scenario);
    (void)setenv("FAKE_NVML_HANGS", fake->hangs, 1);
    (void)setenv("FAKE_NVML_SCENARIO", fake->scenario, 1);
    (void)setenv("FAKE_NVML_STATE", fake->state, 1);
    (void)setenv("FAKE_NVML_ROOT", fake->root, 1);
    (void)setenv("FAKE_NVML_LOG", fake->log, 1);
}

/* Nothing survives on the cards. */
static inline void fake_nvml_reboot(const struct fake_nvml *fake)
{
    (void)unlink(fake->state);
}

static inline void fake_nvml_done(struct fake_nvml *fake)
{
    (void)unsetenv("FAKE_NVML_SCENARIO");
    (void)unsetenv("FAKE_NVML_STATE");
    (void)unsetenv("FAKE_NVML_ROOT");
    (void)unsetenv("FAKE_NVML_LOG");
    (void)unsetenv("FAKE_NVML_HANGS");
    free(fake->hangs);
    free(fake->library);
    free(fake->scenario);
    free(fake->state);
    free(fake->root);
    free(fake->log);
}

#endif
