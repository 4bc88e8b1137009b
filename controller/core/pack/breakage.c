/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/breakage.h"

static bool has_broken_card(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    for (unsigned i = 0; i < node->cards; i++) {
        if (node->free[i] < TG_PACK_CARD && tg_pack_node_has_room(node, i, request))
            return true;
    }
    return false;
}

unsigned tg_breakage_of(const struct tg_mix *mix, const struct tg_pack_node *node,
                        const struct tg_pack_request *request)
{
    struct tg_pack_node after = *node;
    unsigned most = 1;

    if (request->place == 0 || has_broken_card(node, request))
        return 0;
    tg_pack_node_put(&after, request, tg_pack_node_cards(node, request));
    if (tg_pack_node_free(node) == (int64_t)node->cards * TG_PACK_CARD)
        most = node->cards;
    for (size_t i = 0; i < mix->n; i++) {
        const struct tg_mix_type *type = &mix->types[i];

        if (type->arrived > 0 && type->request.cards > most &&
            tg_pack_node_count(&after, &type->request) < tg_pack_node_count(node, &type->request))
            most = type->request.cards;
    }
    return most;
}
