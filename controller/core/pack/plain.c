/* SPDX-License-Identifier: Apache-2.0 */
/* `binpack`: the node with the least left; `spread`: the one with the most; `mig`: the one with the
 * card that has least to spare. */
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

/* A part of a card goes to the card that it fills most, whole cards to the node with fewest of
 * them. */
static void fullest_card(struct tg_packer *packer, const struct tg_pack_class *klass,
                         const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    uint16_t cards = tg_pack_node_cards(&klass->node, request);

    (void)packer;
    for (unsigned i = 0; i < klass->node.cards; i++) {
        if (tg_pack_request_shares(request) ? (cards >> i & 1) != 0
                                            : klass->node.free[i] == TG_PACK_CARD)
            ret->value -= klass->node.free[i];
    }
    ret->tie = -tg_pack_node_free(&klass->node);
}

const struct tg_pack_policy tg_pack_mig = {.name = "mig", .score = fullest_card};
const struct tg_pack_policy tg_pack_binpack = {.name = "binpack", .score = tightest};
const struct tg_pack_policy tg_pack_spread = {
    .name = "spread", .domains = TG_PACK_EMPTIEST, .score = emptiest};
