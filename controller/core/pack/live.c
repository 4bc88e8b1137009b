/* SPDX-License-Identifier: Apache-2.0 */
/* Packers whose nodes and mix are told from outside, and whose choices are made outside. */
#include <stdlib.h>
#include <string.h>

#include "controller/core/pack/policy.h"
#include "controller/core/pack/residents.h"

/* Values that a choice computes anew at most because the mix has changed: a millisecond's work. */
#define WORK 48

void tg_packer_be_patient(struct tg_packer *packer)
{
    packer->patient = packer->turnover = true;
}

/* The type's number in the mix, or TG_MIX_NO_TYPE. */
static unsigned find(const struct tg_mix *mix, const struct tg_pack_request *request)
{
    for (unsigned i = 0; i < mix->n; i++) {
        if (tg_pack_request_equal(&mix->types[i].request, request))
            return i;
    }
    return TG_MIX_NO_TYPE;
}

void tg_packer_set_mix(struct tg_packer *packer, const struct tg_mix *mix, bool given)
{
    struct tg_pack_score *scores[TG_MIX_TYPES_MAX] = {NULL};
    uint32_t n_scores[TG_MIX_TYPES_MAX] = {0};

    for (unsigned i = 0; i < mix->n; i++) {
        unsigned old = find(&packer->mix, &mix->types[i].request);

        if (old == TG_MIX_NO_TYPE)
            continue;
        scores[i] = packer->scores[old];
        n_scores[i] = packer->n_scores[old];
        packer->scores[old] = NULL;
    }
    for (unsigned i = 0; i < TG_MIX_TYPES_MAX; i++)
        free(packer->scores[i]);
    memcpy(packer->scores, scores, sizeof(scores));
    memcpy(packer->n_scores, n_scores, sizeof(n_scores));
    packer->mix = *mix;
    packer->learns = !given;
    packer->stale = true;
}

const struct tg_mix *tg_packer_mix(const struct tg_packer *packer)
{
    return &packer->mix;
}

void tg_packer_set_running(struct tg_packer *packer, unsigned type, int64_t running)
{
    packer->mix.types[type].running = running;
}

static bool may_see_residents(const struct tg_pack_policy *policy)
{
    return policy->sees_residents || policy->deputy != NULL;
}

static bool may_see_domains(const struct tg_pack_policy *policy)
{
    return policy->sees_domains || policy->deputy != NULL;
}

/* Cards that came or went with the node. */
static void count_cards(struct tg_packer *packer, const struct tg_pack_node *node, int by)
{
    for (unsigned i = 0; i < node->cards; i++) {
        packer->fleet.capacity[node->kind[i]] += by * TG_PACK_CARD;
        packer->fleet.total += by * TG_PACK_CARD;
    }
}

void tg_packer_set_node(struct tg_packer *packer, uint32_t number, const struct tg_pack_node *node,
                        uint64_t residents)
{
    struct tg_pack_node *own = &packer->nodes[number];
    struct tg_pack_node next = *node;

    next.mark = may_see_residents(packer->policy) ? residents : 0;
    next.domain = may_see_domains(packer->policy) ? node->domain : 0;
    packer->residents[number] = residents;
    if (tg_pack_node_equal(own, &next))
        return;
    count_cards(packer, own, -1);
    count_cards(packer, &next, 1);
    *own = next;
    tg_packer_move(packer, number);
}

uint64_t tg_packer_residents(const struct tg_packer *packer, uint32_t number)
{
    return packer->residents[number];
}

uint32_t tg_packer_class(const struct tg_packer *packer, uint32_t number)
{
    return packer->classes.of_node[number];
}

void tg_packer_pin(struct tg_packer *packer, uint32_t klass)
{
    tg_pack_classes_pin(&packer->classes, klass);
}

void tg_packer_unpin(struct tg_packer *packer, uint32_t klass)
{
    tg_pack_classes_unpin(&packer->classes, klass);
}

void tg_packer_begin(struct tg_packer *packer)
{
    packer->work = WORK;
    tg_packer_prepare(packer);
}

bool tg_packer_rate(struct tg_packer *packer, unsigned type, uint32_t klass,
                    struct tg_pack_rating *ret)
{
    const struct tg_pack_score *score;
    struct tg_pack_score *own;

    if (type == TG_MIX_NO_TYPE || !(score = tg_packer_score(packer, type, klass))->fits) {
        *ret = (struct tg_pack_rating){
            .whole = INT64_MIN, .tie = -tg_pack_node_free(&packer->classes.items[klass].node)};
        return false;
    }
    own = &packer->scores[type][klass];
    /* What an old value was made of is no more. */
    if (score->generation == packer->generation)
        own->shown = packer->acting->value == NULL
                         ? score->value
                         : packer->acting->value(packer, &packer->mix.types[type].request, score);
    *ret = tg_packer_rating(packer, klass, own, own->shown);
    return true;
}

bool tg_packer_spreads(const struct tg_packer *packer)
{
    return packer->policy->domains == TG_PACK_EMPTIEST;
}
