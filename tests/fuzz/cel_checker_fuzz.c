/* SPDX-License-Identifier: Apache-2.0 */
/* What compiles for a release compiles for the next one, or names what was taken away: nothing was.
 */
#include <stdint.h>
#include <stdlib.h>

#include "controller/core/cel/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tg_error err = TG_ERROR_INIT;

    for (unsigned minor = TG_CEL_OLDEST_MINOR; minor <= TG_CEL_NEWEST_MINOR; minor++) {
        struct tg_cel_environment env = {
            .profile = TG_CEL_DRA,
            .minor = minor,
            .consumable_capacity = true,
            .list_type_attributes = true,
        };
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)16 * 1024 * 1024);
        struct tg_cel_program *program = NULL;

        if (tg_cel_compile((const char *)data, n, &env, arena, &program, &err) == 0 &&
            tg_cel_program_reads(program) == NULL)
            abort();
    }
    return 0;
}
