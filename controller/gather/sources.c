/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/source.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static const struct tg_source *const sources[] = {
    &tg_source_claim_config,
    &tg_source_pod_labels,
};

int tg_membership_of(const struct tg_pod *pod, const struct tg_resource_claim *const *claims,
                     size_t n, struct tg_arena *arena, struct tg_membership *ret,
                     struct tg_error *err)
{
    *ret = (struct tg_membership){0};
    for (size_t i = 0; i < TG_ARRAY_SIZE(sources) && ret->problem.reason == NULL; i++) {
        struct tg_membership found = {0};
        int r = sources[i]->look(pod, claims, n, arena, &found, err);

        if (r < 0)
            return r;
        if (ret->gang == NULL)
            *ret = found;
        else if (found.gang != NULL && !tg_streq(found.gang, ret->gang))
            ret->problem = (struct tg_unit_problem){
                .reason = "ContradictingGangMember",
                .text = "the claims and the labels of this pod name different gangs"};
    }
    return 0;
}
