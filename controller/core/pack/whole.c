/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `whole`: for fleets whose cards are given away whole. A node is worth the places that are open on
 * it, now and when some of those who are there have left:
 *   V(node) = sum over types t of (t's part of the demand) * size(t) * (k_t(now) + E k_t(later))
 * k_t(now) is how many of t fit; later, each resident has left with probability LEFT, so that a
 * node with one large resident is likelier to be whole soon than one with many small ones. What
 * residents had of cpu and memory is not known: later, only cards count. A request goes where
 *   V(after) - V(before)
 * is largest, but first of all where it uses up what is left; of equal ones to the tightest node,
 * then to the domain (rack) that has least room together.
 * Integers with FRACTION binary places.
 */
#include "controller/core/pack/policy.h"
#include "controller/core/pack/residents.h"

enum {
    FRACTION = 20,
    LEFT = 410, /* of 1024 */
};
#define ONE ((int64_t)1 << FRACTION)
/* More than V of any node can lose: nothing is left there to lose it from. */
#define EXACT (2 * TG_PACK_CARDS_MAX * TG_PACK_CARD * ONE)

/* Of each number of cards: how likely so many are free later. */
static void look_ahead(const struct tg_pack_node *node, uint64_t residents, int64_t *chance)
{
    unsigned now = 0;

    for (unsigned i = 0; i < node->cards; i++)
        now += node->free[i] == TG_PACK_CARD;
    chance[now] = ONE;
    for (unsigned cards = 1; cards <= node->cards; cards++) {
        for (unsigned n = tg_residents_count(residents, cards); n > 0; n--) {
            for (unsigned x = node->cards; x + 1 > 0; x--) {
                int64_t leaves = chance[x] * LEFT / 1024;

                chance[x] -= leaves;
                if (x + cards <= node->cards)
                    chance[x + cards] += leaves;
            }
        }
    }
}

static int64_t places_later(const struct tg_pack_node *node, const int64_t *chance,
                            const struct tg_pack_request *request)
{
    int64_t sum = 0;

    if (request->cards > node->cards || !tg_pack_node_accepts(node, 0, request))
        return 0;
    for (unsigned x = request->cards; x <= node->cards; x++)
        sum += chance[x] * (x / request->cards);
    return sum;
}

/* In milli-cards, with FRACTION. */
static int64_t value_of(const struct tg_packer *packer, const struct tg_pack_node *node,
                        uint64_t residents, int64_t demand)
{
    int64_t chance[TG_PACK_CARDS_MAX + 1] = {0}, sum = 0;

    look_ahead(node, residents, chance);
    for (size_t i = 0; i < packer->mix.n; i++) {
        const struct tg_mix_type *type = &packer->mix.types[i];
        int64_t size = tg_pack_request_size(&type->request), places;

        if (size == 0 || type->arrived == 0)
            continue;
        places = tg_pack_node_count(node, &type->request) * ONE +
                 places_later(node, chance, &type->request);
        sum += (int64_t)((__int128)type->arrived * size * size * places / demand);
    }
    return sum;
}

static void score(struct tg_packer *packer, const struct tg_pack_class *klass,
                  const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    struct tg_pack_node after = klass->node;
    int64_t demand = tg_mix_demand(&packer->mix), left = tg_pack_node_free(&klass->node);

    tg_pack_node_put(&after, request, tg_pack_node_cards(&klass->node, request));
    if (demand > 0)
        ret->value =
            value_of(packer, &after, tg_residents_add(klass->node.mark, request, 1), demand) -
            value_of(packer, &klass->node, klass->node.mark, demand);
    if (left == tg_pack_request_size(request))
        ret->value += EXACT;
    ret->tie = -left;
}

const struct tg_pack_policy tg_pack_whole = {
    .name = "whole", .sees_residents = true, .sees_domains = true, .score = score};
