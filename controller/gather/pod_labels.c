/* SPDX-License-Identifier: Apache-2.0 */
/* Membership by the labels of the pod (design 4.2): for members without claims, a CPU leader, say.
 */
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/gather/source.h"

static int look(const struct tg_pod *pod, const struct tg_resource_claim *const *claims, size_t n,
                struct tg_arena *arena, struct tg_membership *ret, struct tg_error *err)
{
    (void)claims;
    (void)n;
    (void)arena;
    (void)err;
    ret->gang = tg_meta_label(pod->metadata, TG_LABEL_GANG);
    if (ret->gang == NULL)
        return 0;
    ret->role = tg_meta_label(pod->metadata, TG_LABEL_ROLE);
    if (tg_meta_label(pod->metadata, TG_LABEL_QUEUE) != NULL)
        ret->problem = (struct tg_unit_problem){
            .reason = "Unsupported",
            .text = "the label " TG_LABEL_QUEUE " is not supported in this version: remove it"};
    return 0;
}

const struct tg_source tg_source_pod_labels = {.name = "pod labels", .look = look};
