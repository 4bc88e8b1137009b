/* SPDX-License-Identifier: Apache-2.0 */
/* What parses as YAML can be written as JSON, and parses again as the same value. */
#include <stdint.h>
#include <stdlib.h>

#include "api/runtime/yaml/yaml.h"

#define BUDGET (4 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BUDGET);
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(BUDGET);
    struct tg_json *value, *again;

    if (tg_yaml_parse((const char *)data, n, arena, &value, NULL) < 0 ||
        tg_json_write(value, &out) < 0)
        return 0;
    if (tg_json_parse(tg_buf_str(&out), out.len, arena, &again, NULL) < 0) {
        if (!tg_arena_exhausted(arena))
            abort();
        return 0;
    }
    if (!tg_json_equal(value, again))
        abort();
    return 0;
}
