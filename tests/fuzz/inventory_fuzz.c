/* SPDX-License-Identifier: Apache-2.0 */
/* An inventory that is accepted can be published: the provider makes a set of devices of it that
 * passes every check of the API server. */
#include <stdint.h>
#include <stdlib.h>

#include "driver/provider/provider.h"
#include "driver/provider/sim_inventory.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)8 << 20);
    struct tg_device_set set = {0};
    struct tg_sim_inventory inventory = {0};
    struct tg_provider_options options = {.node_name = "node"};
    struct tg_provider *provider = NULL;
    struct memory_file file;

    if (tg_sim_inventory_decode("input", (const char *)data, n, arena, &inventory, NULL) < 0)
        return 0;
    if (inventory.faults.n > 0) /* they would happen: a hang, a kill */
        return 0;
    memory_file_init(&file, data, n);
    options.inventory = file.path;
    if (tg_provider_new("sim", &options, &provider, NULL) < 0)
        abort();
    if (tg_provider_list(provider, &set, NULL) == 0 && tg_device_set_validate(&set, NULL) < 0)
        abort();
    tg_device_set_done(&set);
    tg_provider_free(provider);
    memory_file_done(&file);
    return 0;
}
