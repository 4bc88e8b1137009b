/* SPDX-License-Identifier: Apache-2.0 */
/* Any text becomes a tree of bounded depth or an error, under a small budget too. */
#include <stdint.h>
#include <stdlib.h>

#include "controller/core/cel/parser.h"
#include "controller/core/cel/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct tg_cel_environment env = {.profile = TG_CEL_PLAIN};
    struct tg_cel_source source = {.text = (const char *)data, .n = n};
    struct tg_cel_node *root = NULL;
    struct tg_error err = TG_ERROR_INIT;

    if (n > 10240 || !tg_cel_text_valid(source.text, n))
        return 0;
    for (size_t budget = 2048; budget <= (size_t)8 * 1024 * 1024; budget *= 64) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(budget);

        if (tg_cel_parse(&source, &env, arena, &root, &err) == 0 && root->depth > TG_CEL_MAX_DEPTH)
            abort();
    }
    return 0;
}
