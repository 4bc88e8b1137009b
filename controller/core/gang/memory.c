/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/memory.h"

#include <stdlib.h>

#include "api/runtime/base/mem.h"

struct memory {
    struct {
        void *kept;
        void (*free)(void *kept);
    } parts[TG_MEMORY_PARTS];
};

static void free_memory(void *data)
{
    struct memory *memory = data;

    for (size_t i = 0; i < TG_MEMORY_PARTS; i++) {
        if (memory->parts[i].kept != NULL)
            memory->parts[i].free(memory->parts[i].kept);
    }
    free(memory);
}

void **tg_memory_of(const struct tg_fleet *fleet, enum tg_memory_part part,
                    void (*free)(void *kept))
{
    void **attic = tg_fleet_attic(fleet, free_memory);
    struct memory *memory = *attic;

    if (memory == NULL)
        memory = *attic = tg_xcalloc(1, sizeof(*memory));
    memory->parts[part].free = free;
    return &memory->parts[part].kept;
}
