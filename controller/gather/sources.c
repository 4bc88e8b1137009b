/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/source.h"

#include "api/runtime/base/cleanup.h"

static const struct tg_source *const sources[] = {
    &tg_source_claim_config,
};

int tg_membership_of(const struct tg_pod *pod, const struct tg_resource_claim *const *claims,
                     size_t n, struct tg_arena *arena, struct tg_membership *ret,
                     struct tg_error *err)
{
    *ret = (struct tg_membership){0};
    for (size_t i = 0; i < TG_ARRAY_SIZE(sources); i++) {
        int r = sources[i]->look(pod, claims, n, arena, ret, err);

        if (r < 0 || ret->gang != NULL || ret->problem.reason != NULL)
            return r;
    }
    return 0;
}
