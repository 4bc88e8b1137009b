/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "api/tangram/gpu_config.h"

static int out_of_range(struct tg_opt_int value, int64_t max)
{
    return value.set && (value.value < 0 || value.value > max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(65536);
    struct tg_gpu_config config;

    /* Accepted: settings that a card knows, none of which is of a partition. */
    if (tg_gpu_config_decode((const char *)data, n, arena, &config, NULL) == 0 &&
        (out_of_range(config.settings.time_slice, TG_TIME_SLICE_MAX) ||
         out_of_range(config.settings.compute_mode, TG_COMPUTE_MODE_MAX) ||
         (config.mig && (config.settings.time_slice.set || config.settings.compute_mode.set))))
        abort();
    return 0;
}
