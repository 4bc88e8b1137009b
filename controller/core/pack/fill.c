/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fill`: the placement after which most of what usually arrives can still be placed on the node
 * (future.h), less the price of what only special requests could have used (reserve.h). In steps of
 * Q, so that small differences do not spoil a tight packing: among equal steps the tightest node.
 */
#include <stdlib.h>

#include "api/runtime/base/mem.h"
#include "controller/core/pack/policy.h"

enum {
    QUANTUM = 50,        /* milli-cards: Q */
    PRIOR_PERMILLE = 80, /* of the nodes of a shape, before anything was learned */
};

static void count_places(struct tg_packer *packer)
{
    struct tg_pack_classes *classes = &packer->classes;

    if (packer->n_places < classes->capacity) {
        packer->n_places = classes->capacity;
        packer->places =
            tg_xreallocarray(packer->places, packer->n_places, sizeof(*packer->places));
    }
    for (uint32_t i = 0; i < classes->n_live; i++) {
        uint32_t klass = classes->live[i];

        tg_reserve_count(&packer->reserve, &classes->items[klass].node, packer->places[klass]);
        tg_reserve_add(&packer->reserve, packer->places[klass], classes->items[klass].nodes);
    }
}

static void reprice(struct tg_packer *packer)
{
    tg_reserve_price(&packer->reserve, &packer->mix, &packer->fleet);
}

/* Requests for whole nodes that nobody has made yet may still come, the less likely the more has
 * been seen; requests for as much as the fleet has say what is asked for. */
static int64_t prior(const struct tg_packer *packer)
{
    int64_t total = packer->fleet.total, seen = tg_mix_demand(&packer->mix);

    if (!packer->learns || seen >= total)
        return 0;
    return (int64_t)((__int128)PRIOR_PERMILLE * (total - seen) / total);
}

static void refresh(struct tg_packer *packer)
{
    packer->reserve.all = packer->turnover && tg_reserve_fights(&packer->mix);
    tg_future_set_turnover(packer->future, packer->reserve.all);
    tg_reserve_choose(&packer->reserve, &packer->mix, &packer->fleet, prior(packer));
    count_places(packer);
    tg_future_draw(packer->future, &packer->mix);
    packer->n_losses = 0;
    reprice(packer);
}

struct trial {
    struct tg_packer *packer;
    int64_t constant; /* what the request uses, less the fill of the node before */
    struct tg_pack_node best_after;
    struct tg_pack_score *best;
};

static void visit(void *context, unsigned card, const struct tg_pack_node *after)
{
    struct trial *trial = context;
    int64_t gain = trial->constant + tg_future_value(trial->packer->future, after);

    if (trial->best->levels != 0 && gain < trial->best->last)
        return;
    if (trial->best->levels == 0 || gain > trial->best->last) {
        trial->best->levels = 0;
        trial->best_after = *after;
    }
    trial->best->last = gain;
    trial->best->levels = (uint16_t)(trial->best->levels | 1U << card);
}

/* Remembers which special requests the placement takes places from. */
static void note_losses(struct tg_packer *packer, const uint16_t *before,
                        const struct tg_pack_node *after, struct tg_pack_score *score)
{
    score->losses = packer->n_losses;
    for (unsigned i = 0; i < packer->reserve.n; i++) {
        int64_t left;

        if (before[i] == 0)
            continue;
        left = tg_pack_node_count(after, &packer->reserve.special[i].request);
        if (left == before[i])
            continue;
        if (packer->n_losses == packer->losses_size) {
            packer->losses_size = packer->losses_size == 0 ? 1024 : packer->losses_size * 2;
            packer->losses = tg_xreallocarray(packer->losses, packer->losses_size,
                                              sizeof(struct tg_reserve_loss));
        }
        packer->losses[packer->n_losses++] = (struct tg_reserve_loss){
            .special = (uint16_t)i, .places = (uint16_t)(before[i] - left)};
        score->n_losses++;
    }
}

static void score(struct tg_packer *packer, const struct tg_pack_class *klass,
                  const struct tg_pack_request *request, struct tg_pack_score *ret)
{
    struct trial trial = {
        .packer = packer,
        .constant = tg_pack_request_size(request) * TG_FUTURE_SEQUENCES -
                    tg_future_value(packer->future, &klass->node),
        .best = ret,
    };

    tg_pack_policy_try(&klass->node, request, visit, &trial);
    ret->tie = -tg_pack_node_free(&klass->node);
    note_losses(packer, packer->places[klass - packer->classes.items], &trial.best_after, ret);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t value(const struct tg_packer *packer, const struct tg_pack_request *request,
                     const struct tg_pack_score *score)
{
    int64_t gain = score->last * (((int64_t)1 << TG_RESERVE_FRACTION) / TG_FUTURE_SEQUENCES);
    int64_t cost = tg_reserve_cost(&packer->reserve, tg_pack_request_size(request),
                                   score->n_losses > 0 ? packer->losses + score->losses : NULL,
                                   score->n_losses);

    return floor_divide(gain - cost, (int64_t)QUANTUM << TG_RESERVE_FRACTION);
}

/* Where nobody asks for a part of a card or for certain cards, what is left of a node is whole
 * places and nothing is scarce but room; `whole` also sees who is likely to leave. */
static const struct tg_pack_policy *deputy(const struct tg_packer *packer)
{
    for (size_t i = 0; i < packer->mix.n; i++) {
        const struct tg_mix_type *type = &packer->mix.types[i];

        if (type->arrived > 0 && type->request.cards > 0 &&
            (tg_pack_request_shares(&type->request) || type->request.kinds != TG_PACK_ANY_KIND))
            return &tg_pack_fill;
    }
    return &tg_pack_whole;
}

const struct tg_pack_policy tg_pack_fill = {.name = "fill",
                                            .deputy = deputy,
                                            .refresh = refresh,
                                            .reprice = reprice,
                                            .score = score,
                                            .value = value};
