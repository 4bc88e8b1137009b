/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/provider.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "driver/provider/nvml/guard.h"
#include "driver/provider/sim.h"

static const struct {
    const char *kind;
    int (*create)(const struct tg_provider_options *options, struct tg_provider **ret,
                  struct tg_error *err);
} providers[] = {
    {"sim", tg_sim_new},
    {"nvml", tg_nvml_guard_new},
};

int tg_provider_new(const char *kind, const struct tg_provider_options *options,
                    struct tg_provider **ret, struct tg_error *err)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(providers); i++) {
        if (tg_streq(providers[i].kind, kind))
            return providers[i].create(options, ret, err);
    }
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "there is no device provider \"%.40s\"; known: sim, nvml", tg_or(kind, ""));
}

bool tg_provider_left_behind(void)
{
    return tg_nvml_guard_left_behind();
}

void tg_provider_free(struct tg_provider *provider)
{
    if (provider != NULL)
        provider->ops->free(provider);
}
