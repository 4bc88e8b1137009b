/* SPDX-License-Identifier: Apache-2.0 */
/* Opaque parameters and annotations that we write and anyone may edit: a plan that passes is
 * written as text that is the same plan; a marker likewise. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/plan.h"
#include "api/tangram/plan_marker.h"

#define BUDGET ((size_t)4 << 20)

static int read_plan(const char *json, size_t n, struct tg_arena *arena, struct tg_plan **ret)
{
    int rc = tg_json_decode_new(&tg_plan_type, json, n, arena, (void **)ret, NULL);

    return rc < 0 ? rc : tg_plan_validate(*ret, NULL);
}

static void check_plan(const char *json, size_t n, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf first = TG_BUF_INIT(BUDGET);
    TG_AUTOBUF struct tg_buf second = TG_BUF_INIT(BUDGET);
    struct tg_plan *plan;

    if (read_plan(json, n, arena, &plan) < 0)
        return;
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        for (size_t c = 0; c < member->claims.n; c++) {
            const struct tg_plan_claim *claim = &member->claims.items[c];

            for (size_t r = 0; r < claim->results.n; r++) {
                if (tg_plan_result_driver(plan, &claim->results.items[r]) == NULL ||
                    tg_plan_result_pool(member, &claim->results.items[r]) == NULL)
                    abort();
            }
        }
    }
    if (tg_json_encode(&tg_plan_type, plan, &first, NULL) < 0)
        return;
    if (read_plan(tg_buf_str(&first), first.len, arena, &plan) < 0) {
        if (!tg_arena_exhausted(arena))
            abort();
        return;
    }
    if (tg_json_encode(&tg_plan_type, plan, &second, NULL) < 0 || first.len != second.len ||
        memcmp(first.data, second.data, first.len) != 0)
        abort();
}

static void check_marker(const char *json, size_t n, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(BUDGET);
    struct tg_plan_marker marker, again;

    if (tg_plan_marker_decode(json, n, arena, &marker, NULL) < 0)
        return;
    if (marker.epoch < 0 || tg_plan_marker_encode(&marker, &out, NULL) < 0)
        abort();
    if (tg_plan_marker_decode(tg_buf_str(&out), out.len, arena, &again, NULL) < 0 ||
        again.epoch != marker.epoch || strcmp(again.gang_uid, marker.gang_uid) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(BUDGET);

    check_marker((const char *)data, n, arena);
    tg_arena_reset(arena);
    check_plan((const char *)data, n, arena);
    return 0;
}
