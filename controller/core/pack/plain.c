/* SPDX-License-Identifier: Apache-2.0 */
/* `binpack`: the node with the least left; `spread`: the one with the most. */
#include "controller/core/pack/policy.h"

static void tightest(struct tg_packer *packer, const struct tg_pack_class *klass,
                     const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    (void)packer;
    (void)request;
    ret->value = -tg_pack_node_free(&klass->node);
}

static void emptiest(struct tg_packer *packer, const struct tg_pack_class *klass,
                     const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    (void)packer;
    (void)request;
    ret->value = tg_pack_node_free(&klass->node);
}

const struct tg_pack_policy tg_pack_binpack = {.name = "binpack", .score = tightest};
const struct tg_pack_policy tg_pack_spread = {
    .name = "spread", .domains = TG_PACK_EMPTIEST, .score = emptiest};
