/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a file of attributes says: the devices can be published as they could before, what the
 * provider told of them stands, and the guard's domain is not among it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "driver/provider/dropins.h"

static struct tg_keyed_attribute told[] = {
    {.key = "productName", .value = {.string = "NVIDIA L4"}},
    {.key = "uuid", .value = {.string = "GPU-11111111-1111-1111-1111-111111111111"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)8 << 20);
    struct tg_provider_device device = {
        .device = {.name = "gpu-111111111111", .attributes = {.items = told, .n = 2}}};
    struct tg_device_set set = {.arena = tg_arena_new((size_t)4 << 20),
                                .devices = {.items = &device, .n = 1}};
    const struct tg_dropin *dropin = NULL;
    size_t own = 0;

    if (tg_dropin_decode("input", (const char *)data, n, arena, &dropin, NULL) == 0 &&
        tg_dropin_add(dropin, "node-1", "gpu.tangram.dev", &set, NULL) == 0) {
        if (tg_device_set_validate(&set, NULL) < 0)
            abort();
        for (size_t i = 0; i < device.device.attributes.n; i++)
            own += tg_streq(device.device.attributes.items[i].value.string, told[0].value.string) ||
                   tg_streq(device.device.attributes.items[i].key, "uuid");
        if (own < 2)
            abort();
    }
    tg_device_set_done(&set);
    return 0;
}
