/* SPDX-License-Identifier: Apache-2.0 */
/* What is accepted names a server, and at most one kind of token. */
#include <stdint.h>
#include <stdlib.h>

#include "api/kubernetes/client/config.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)8 << 20);
    struct tg_kube_config config = {0};
    struct memory_file file;

    memory_file_init(&file, data, n);
    if (tg_kube_config_load(file.path, arena, &config, NULL) == 0 &&
        (config.server == NULL || config.server[0] == '\0' || config.namespace_ == NULL ||
         (config.token != NULL && config.token_file != NULL)))
        abort();
    memory_file_done(&file);
    return 0;
}
