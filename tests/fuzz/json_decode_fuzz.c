/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the API, decoded and encoded: what was decoded encodes to JSON that decodes again. */
#include <stdint.h>
#include <stdlib.h>

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"

#define BUDGET (4 * 1024 * 1024)

static void round_trip(const struct tg_type *type, const char *text, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BUDGET);
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(BUDGET);
    void *object;

    if (tg_json_decode_new(type, text, n, arena, &object, NULL) < 0 ||
        tg_json_encode(type, object, &out, NULL) < 0)
        return;
    if (tg_json_decode_new(type, tg_buf_str(&out), out.len, arena, &object, NULL) < 0 &&
        !tg_arena_exhausted(arena))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct tg_type *const types[] = {&tg_pod_type,
                                           &tg_node_type,
                                           &tg_resource_slice_type,
                                           &tg_resource_claim_type,
                                           &tg_device_class_type,
                                           tg_pod_salvage[0],
                                           tg_resource_claim_salvage[0],
                                           tg_resource_claim_salvage[1]};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        round_trip(types[i], (const char *)data, n);
    return 0;
}
