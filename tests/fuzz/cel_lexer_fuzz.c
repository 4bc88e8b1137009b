/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens cover the text in order; any text ends in the end or in an error. */
#include <stdint.h>
#include <stdlib.h>

#include "controller/core/cel/lexer.h"
#include "controller/core/cel/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tg_cel_source source = {.text = (const char *)data, .n = n};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)8 * 1024 * 1024);
    struct tg_cel_lexer lexer = {.source = &source, .arena = arena};
    struct tg_cel_token token = {.kind = TG_CEL_TOKEN_IDENT};
    struct tg_error err = TG_ERROR_INIT;
    size_t at = 0;

    if (n > 10240 || !tg_cel_text_valid(source.text, n))
        return 0;
    while (token.kind != TG_CEL_TOKEN_END) {
        if (tg_cel_lexer_next(&lexer, &token, &err) < 0)
            return 0;
        if (token.offset < at || token.offset + token.length > n)
            abort();
        at = token.offset + token.length;
    }
    return 0;
}
