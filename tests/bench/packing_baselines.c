/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/packing_baselines.h"

#include <math.h>
#include <string.h>

/* The scales of the artifact: its largest node. */
#define CPU_SCALE 128000.0
#define CARD_SCALE 8000.0

static unsigned whole_cards(const struct tg_pack_node *node)
{
    unsigned n = 0;

    for (unsigned i = 0; i < node->cards; i++)
        n += node->free[i] == TG_PACK_CARD;
    return n;
}

static void score_firstfit(struct tg_packer *packer, const struct tg_pack_class *klass,
                           const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    (void)packer;
    (void)klass;
    (void)request;
    ret->value = 0; /* the first node by name */
}

static void score_bestfit(struct tg_packer *packer, const struct tg_pack_class *klass,
                          const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    double cpu = (double)(klass->node.cpu - request->cpu) / CPU_SCALE;
    double cards =
        (double)(tg_pack_node_free(&klass->node) - tg_pack_request_size(request)) / CARD_SCALE;

    (void)packer;
    ret->value = (int64_t)floor(100 * (1 - (cpu * .5 + cards * .5)));
}

static void score_dotprod(struct tg_packer *packer, const struct tg_pack_class *klass,
                          const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    double cpu = (double)klass->node.cpu / CPU_SCALE * (double)request->cpu / CPU_SCALE;
    double cards = (double)tg_pack_node_free(&klass->node) / CARD_SCALE *
                   (double)tg_pack_request_size(request) / CARD_SCALE;

    (void)packer;
    ret->value = (int64_t)floor(100 * (1 - (cpu + cards) / 2));
}

/* What the least sufficient cards have left, in hundredths of a card; how many of them are whole.
 */
static int64_t left_on_chosen(const struct tg_pack_node *sorted,
                              const struct tg_pack_request *request, int64_t *ret_whole)
{
    int64_t left = 0;
    unsigned wanted = request->cards;

    *ret_whole = 0;
    for (unsigned i = 0; i < sorted->cards && wanted > 0; i++) {
        if (sorted->free[i] < request->share)
            continue;
        wanted--;
        left += sorted->free[i] * 100 / TG_PACK_CARD;
        *ret_whole += sorted->free[i] == TG_PACK_CARD;
    }
    return left;
}

static void score_packing(struct tg_packer *packer, const struct tg_pack_class *klass,
                          const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    int64_t whole = whole_cards(&klass->node), fresh = 0, left;

    (void)packer;
    if (request->cards == 0)
        return;
    if (whole == klass->node.cards) { /* an empty node */
        ret->value = 33 - whole > whole ? 33 - whole : whole;
        return;
    }
    left = left_on_chosen(&klass->node, request, &fresh);
    if (fresh > 0)
        ret->value = 50 - fresh > 33 ? 50 - fresh : 33;
    else
        ret->value = 100 - left / 10 > 50 ? 100 - left / 10 : 50;
}

/* The five groups of requests that clustering keeps apart, as bits of the node's mark. */
static uint64_t group(const struct tg_pack_request *request)
{
    if (tg_pack_request_shares(request))
        return 1;
    return request->cards == 1 ? 2 : request->cards == 2 ? 4 : request->cards == 4 ? 8 : 16;
}

static uint64_t mark_group(uint64_t mark, const struct tg_pack_request *request)
{
    return request->cards == 0 ? mark : mark | group(request);
}

static void score_clustering(struct tg_packer *packer, const struct tg_pack_class *klass,
                             const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    int64_t used = 25 * (8 * TG_PACK_CARD - tg_pack_node_free(&klass->node)) / (8 * TG_PACK_CARD);

    (void)packer;
    if (request->cards == 0)
        return;
    if ((klass->node.mark & group(request)) != 0)
        ret->value = used + (klass->node.mark == group(request) ? 75 : 50);
    else
        ret->value = used + (klass->node.mark == 0 ? 25 : 0);
}

/* KAI: a card that is already shared first, then the node with the fewest free cards. */
static void score_kai(struct tg_packer *packer, const struct tg_pack_class *klass,
                      const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    (void)packer;
    if (tg_pack_request_shares(request)) {
        for (unsigned i = 0; i < klass->node.cards; i++)
            ret->value |= klass->node.free[i] < TG_PACK_CARD &&
                          klass->node.free[i] >= request->share &&
                          tg_pack_node_accepts(&klass->node, i, request);
    }
    ret->tie = -tg_pack_node_free(&klass->node);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 20;
}

/* One of the cards that have room for the share. */
static uint16_t random_card(const struct tg_pack_node *node, const struct tg_pack_request *request,
                            uint64_t *state)
{
    uint64_t seen = 0;
    uint16_t card = 0;

    for (unsigned i = 0; i < node->cards; i++) {
        if (node->free[i] >= request->share && tg_pack_node_accepts(node, i, request) &&
            next(state) % ++seen == 0)
            card = (uint16_t)(1U << i);
    }
    return card;
}

/* Uniform over the nodes that fit, and over their cards; drawn anew for each choice. */
static bool choose_random(struct tg_packer *packer, const struct tg_pack_request *request,
                          struct tg_pack_choice *ret)
{
    uint64_t state = 88172645463325252U + 0x9E3779B97F4A7C15U * (uint64_t)packer->choices;
    uint64_t seen = 0;

    for (uint32_t i = 0; i < tg_packer_nodes(packer); i++) {
        const struct tg_pack_node *node = tg_packer_node(packer, i);

        if ((packer->domain == TG_PACK_ANY_DOMAIN || node->domain == packer->domain) &&
            tg_pack_node_fits(node, request) && next(&state) % ++seen == 0)
            ret->node = i;
    }
    if (seen == 0)
        return false;
    ret->cards = tg_pack_request_shares(request)
                     ? random_card(tg_packer_node(packer, ret->node), request, &state)
                     : tg_pack_node_cards(tg_packer_node(packer, ret->node), request);
    return true;
}

static const struct tg_pack_policy baselines[] = {
    {.name = "random", .choose = choose_random, .domains = TG_PACK_FIRST},
    {.name = "dotprod", .score = score_dotprod},
    {.name = "clustering", .score = score_clustering, .mark = mark_group},
    {.name = "packing", .score = score_packing},
    {.name = "bestfit", .score = score_bestfit},
    {.name = "firstfit", .score = score_firstfit, .domains = TG_PACK_FIRST},
    {.name = "kai", .score = score_kai, .domains = TG_PACK_FEWEST_CARDS},
};
const char *const baseline_names[] = {"random",   "dotprod",   "clustering", "packing", "bestfit",
                                      "firstfit", "fgd-paper", "kai",        NULL};

const struct tg_pack_policy *baseline_policy(const char *name)
{
    if (strcmp(name, "fgd-paper") == 0)
        return &tg_pack_fgd;
    for (size_t i = 0; i < sizeof(baselines) / sizeof(baselines[0]); i++) {
        if (strcmp(baselines[i].name, name) == 0)
            return &baselines[i];
    }
    return NULL;
}

bool baseline_renames(const char *name)
{
    static const char *const renamed[] = {"random",  "dotprod", "clustering",
                                          "packing", "bestfit", "fgd-paper"};

    for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
        if (strcmp(name, renamed[i]) == 0)
            return true;
    }
    return false;
}
