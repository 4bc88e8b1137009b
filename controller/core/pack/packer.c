/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/pack/breakage.h"
#include "controller/core/pack/policy.h"
#include "controller/core/pack/residents.h"

static const struct tg_pack_policy *const policies[] = {
    &tg_pack_fill, &tg_pack_whole, &tg_pack_mig, &tg_pack_fgd, &tg_pack_binpack, &tg_pack_spread};
const char *const tg_pack_policy_names[] = {"default", "fill",    "whole",  "mig",
                                            "fgd",     "binpack", "spread", NULL};

const struct tg_pack_policy *tg_pack_policy(const char *name)
{
    if (strcmp(name, "default") == 0)
        return &tg_pack_fill;
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    }
    return NULL;
}

struct tg_packer *tg_packer_new(const struct tg_pack_policy *policy)
{
    struct tg_packer *packer = tg_xcalloc(1, sizeof(*packer));

    packer->policy = packer->acting = policy;
    packer->learns = true;
    packer->stale = true;
    packer->next_refresh = 1;
    packer->domain = TG_PACK_ANY_DOMAIN;
    packer->future = tg_future_new();
    tg_pack_classes_init(&packer->classes);
    return packer;
}

void tg_packer_free(struct tg_packer *packer)
{
    if (packer == NULL)
        return;
    for (size_t i = 0; i < TG_MIX_TYPES_MAX; i++)
        free(packer->scores[i]);
    tg_pack_classes_done(&packer->classes);
    tg_future_free(packer->future);
    free(packer->nodes);
    free(packer->residents);
    free(packer->together);
    free(packer->places);
    free(packer->losses);
    free(packer);
}

static void note_shape(struct tg_reserve_fleet *fleet, const struct tg_pack_node *node)
{
    struct tg_pack_node sorted = tg_pack_node_sorted(node);

    for (size_t i = 0; i < fleet->n_shapes; i++) {
        if (tg_pack_node_equal(&fleet->shapes[i].node, &sorted)) {
            fleet->shapes[i].nodes++;
            return;
        }
    }
    if (fleet->n_shapes < TG_RESERVE_PRIORS)
        fleet->shapes[fleet->n_shapes++] = (struct tg_reserve_shape){.node = sorted, .nodes = 1};
}

/* The node counts in its domain (by 1), or no more (-1). */
static void count_together(struct tg_packer *packer, const struct tg_pack_node *node, int by)
{
    int64_t left = tg_pack_node_free(node);

    if (node->domain >= packer->n_domains) {
        packer->together =
            tg_xreallocarray(packer->together, node->domain + 1U, sizeof(*packer->together));
        memset(packer->together + packer->n_domains, 0,
               (node->domain + 1U - packer->n_domains) * sizeof(*packer->together));
        packer->n_domains = node->domain + 1;
    }
    packer->together[node->domain] += by * left * left;
}

uint32_t tg_packer_add_node(struct tg_packer *packer, const struct tg_pack_node *node)
{
    uint32_t number = packer->classes.n_nodes;

    if (number == packer->nodes_size) {
        packer->nodes_size = packer->nodes_size == 0 ? 256 : packer->nodes_size * 2;
        packer->nodes = tg_xreallocarray(packer->nodes, packer->nodes_size, sizeof(*node));
        packer->residents =
            tg_xreallocarray(packer->residents, packer->nodes_size, sizeof(uint64_t));
    }
    packer->nodes[number] = *node;
    packer->residents[number] = 0;
    tg_pack_classes_add(&packer->classes, node);
    for (unsigned i = 0; i < node->cards; i++) {
        packer->fleet.capacity[node->kind[i]] += TG_PACK_CARD;
        packer->fleet.total += TG_PACK_CARD;
    }
    note_shape(&packer->fleet, node);
    count_together(packer, node, 1);
    packer->stale = true;
    return number;
}

const struct tg_pack_node *tg_packer_node(const struct tg_packer *packer, uint32_t number)
{
    return &packer->nodes[number];
}

uint32_t tg_packer_nodes(const struct tg_packer *packer)
{
    return packer->classes.n_nodes;
}

unsigned tg_packer_type(struct tg_packer *packer, const struct tg_pack_request *request)
{
    return tg_mix_type(&packer->mix, request);
}

void tg_packer_expect(struct tg_packer *packer, unsigned type, int64_t count)
{
    tg_mix_arrive(&packer->mix, type, count);
    packer->learns = false;
    packer->stale = true;
}

void tg_packer_arrive(struct tg_packer *packer, unsigned type)
{
    if (!packer->learns)
        return;
    tg_mix_arrive(&packer->mix, type, 1);
    if (packer->mix.arrivals < packer->next_refresh)
        return;
    packer->next_refresh = packer->mix.arrivals + packer->mix.arrivals / 4 + 1;
    packer->stale = true;
}

/* The policy or its deputy; nodes are told apart by what it sees. */
static void appoint(struct tg_packer *packer)
{
    const struct tg_pack_policy *acting =
        packer->policy->deputy != NULL ? packer->policy->deputy(packer) : packer->policy;
    bool sees = acting->sees_residents, changes = sees != packer->acting->sees_residents;

    packer->acting = acting;
    packer->n_places = 0; /* of special requests: counted anew by who needs them */
    for (uint32_t i = 0; changes && !packer->patient && i < packer->classes.n_nodes; i++) {
        packer->nodes[i].mark = sees ? packer->residents[i] : 0;
        (void)tg_pack_classes_move(&packer->classes, i, &packer->nodes[i]);
    }
}

/* Everything that was valued before is forgotten; by a patient packer as it comes to it, unless
 * another policy acts now. */
static void refresh(struct tg_packer *packer)
{
    const struct tg_pack_policy *before = packer->acting;

    appoint(packer);
    if (packer->patient)
        packer->generation++;
    for (uint32_t i = 0;
         (!packer->patient || packer->acting != before) && i < packer->classes.n_live; i++)
        packer->classes.items[packer->classes.live[i]].stamp =
            tg_pack_classes_stamp(&packer->classes);
    if (packer->acting->refresh != NULL)
        packer->acting->refresh(packer);
    packer->stale = false;
}

uint16_t tg_pack_policy_cards(const struct tg_pack_node *node, const struct tg_pack_class *klass,
                              const struct tg_pack_request *request, uint16_t levels)
{
    if (!tg_pack_request_shares(request) || levels == 0)
        return tg_pack_node_cards(node, request);
    for (unsigned i = 0; i < node->cards; i++) {
        for (unsigned j = 0; j < klass->node.cards; j++) {
            if ((levels >> j & 1) != 0 && klass->node.free[j] == node->free[i] &&
                klass->node.kind[j] == node->kind[i])
                return (uint16_t)(1U << i);
        }
    }
    return 0;
}

void tg_pack_policy_try(const struct tg_pack_node *sorted, const struct tg_pack_request *request,
                        void (*visit)(void *context, unsigned card,
                                      const struct tg_pack_node *after),
                        void *context)
{
    struct tg_pack_node after;

    if (!tg_pack_request_shares(request)) {
        after = *sorted;
        tg_pack_node_put(&after, request, tg_pack_node_cards(sorted, request));
        after = tg_pack_node_sorted(&after);
        visit(context, 0, &after);
        return;
    }
    for (unsigned i = 0; i < sorted->cards; i++) {
        if (!tg_pack_node_has_room(sorted, i, request) ||
            (i > 0 && tg_pack_node_has_room(sorted, i - 1, request) &&
             sorted->free[i - 1] == sorted->free[i] && sorted->kind[i - 1] == sorted->kind[i]))
            continue;
        after = *sorted;
        tg_pack_node_put(&after, request, (uint16_t)(1U << i));
        after = tg_pack_node_sorted(&after);
        visit(context, i, &after);
    }
}

/* Does a value by the mix before have to do for now? */
static bool rests(struct tg_packer *packer)
{
    if (packer->work == 0)
        return true;
    packer->work--;
    return false;
}

const struct tg_pack_score *tg_packer_score(struct tg_packer *packer, unsigned type, uint32_t klass)
{
    const struct tg_pack_request *request = &packer->mix.types[type].request;
    const struct tg_pack_class *item = &packer->classes.items[klass];
    struct tg_pack_score *score;

    if (packer->n_scores[type] < packer->classes.capacity) {
        uint32_t old = packer->n_scores[type];

        packer->n_scores[type] = packer->classes.capacity;
        packer->scores[type] = tg_xreallocarray(packer->scores[type], packer->classes.capacity,
                                                sizeof(struct tg_pack_score));
        memset(packer->scores[type] + old, 0,
               (packer->n_scores[type] - old) * sizeof(struct tg_pack_score));
    }
    score = &packer->scores[type][klass];
    if (score->stamp == item->stamp && (score->generation == packer->generation || rests(packer)))
        return score;
    *score = (struct tg_pack_score){.stamp = item->stamp, .generation = packer->generation};
    score->fits = tg_pack_node_fits(&item->node, request);
    if (!score->fits)
        return score;
    packer->acting->score(packer, item, request, score);
    /* Whoever wants the emptiest node wants untouched cards. */
    if (packer->policy->domains != TG_PACK_EMPTIEST)
        score->breaks = (uint8_t)tg_breakage_of(&packer->mix, &item->node, request);
    return score;
}

struct tg_pack_rating tg_packer_rating(const struct tg_packer *packer, uint32_t klass,
                                       const struct tg_pack_score *score, int64_t value)
{
    const struct tg_pack_node *node = &packer->classes.items[klass].node;

    return (struct tg_pack_rating){
        .whole = -(int64_t)score->breaks,
        .value = value,
        .tie = score->tie,
        .domain = packer->acting->sees_domains ? -packer->together[node->domain] : 0,
        .last = score->last};
}

struct contest {
    const struct tg_pack_score *score; /* NULL: nothing fits so far */
    struct tg_pack_rating rating;
    uint32_t klass, node;
};

/* Is the class better than the best so far? Its first node is looked up only when it decides. */
static bool better(struct tg_packer *packer, const struct contest *best,
                   const struct tg_pack_rating *rating, uint32_t klass)
{
    if (best->score == NULL || tg_pack_rating_better(rating, &best->rating))
        return true;
    return !tg_pack_rating_better(&best->rating, rating) &&
           tg_pack_classes_first(&packer->classes, klass) < best->node;
}

void tg_packer_prepare(struct tg_packer *packer)
{
    if (packer->stale || packer->n_losses > TG_PACKER_LOSSES_MAX)
        refresh(packer);
    else if (packer->acting->reprice != NULL &&
             (packer->patient || packer->choices % TG_PACKER_REPRICE == 0))
        packer->acting->reprice(packer);
    packer->choices++;
}

bool tg_packer_choose(struct tg_packer *packer, unsigned type, struct tg_pack_choice *ret)
{
    const struct tg_pack_request *request = &packer->mix.types[type].request;
    struct contest best = {.score = NULL};

    tg_packer_prepare(packer);
    if (packer->acting->choose != NULL)
        return packer->acting->choose(packer, request, ret);
    for (uint32_t i = 0; i < packer->classes.n_live; i++) {
        uint32_t klass = packer->classes.live[i];
        const struct tg_pack_score *score;
        struct tg_pack_rating rating;

        if (packer->domain != TG_PACK_ANY_DOMAIN &&
            packer->classes.items[klass].node.domain != packer->domain)
            continue;
        score = tg_packer_score(packer, type, klass);
        if (!score->fits)
            continue;
        rating = tg_packer_rating(packer, klass, score,
                                  packer->acting->value == NULL
                                      ? score->value
                                      : packer->acting->value(packer, request, score));
        if (better(packer, &best, &rating, klass))
            best = (struct contest){.score = score,
                                    .rating = rating,
                                    .klass = klass,
                                    .node = tg_pack_classes_first(&packer->classes, klass)};
    }
    if (best.score == NULL)
        return false;
    ret->node = best.node;
    ret->cards = tg_pack_policy_cards(&packer->nodes[best.node], &packer->classes.items[best.klass],
                                      request, best.score->levels);
    return true;
}

void tg_packer_move(struct tg_packer *packer, uint32_t number)
{
    struct tg_pack_classes *classes = &packer->classes;
    uint32_t old = classes->of_node[number];
    uint32_t stamps = classes->stamps;
    uint32_t klass;

    if (packer->n_places > 0)
        tg_reserve_add(&packer->reserve, packer->places[old], -1);
    count_together(packer, &classes->items[old].node, -1);
    count_together(packer, &packer->nodes[number], 1);
    klass = tg_pack_classes_move(classes, number, &packer->nodes[number]);
    if (packer->n_places == 0)
        return;
    if (packer->n_places < classes->capacity) {
        packer->n_places = classes->capacity;
        packer->places =
            tg_xreallocarray(packer->places, packer->n_places, sizeof(*packer->places));
    }
    if (classes->stamps != stamps) /* a class that was not there */
        tg_reserve_count(&packer->reserve, &classes->items[klass].node, packer->places[klass]);
    tg_reserve_add(&packer->reserve, packer->places[klass], 1);
}

/* The request has been put on the node or taken from it. */
static void settle(struct tg_packer *packer, uint32_t number, const struct tg_pack_request *request,
                   int by)
{
    packer->residents[number] = tg_residents_add(packer->residents[number], request, by);
    if (packer->acting->sees_residents)
        packer->nodes[number].mark = packer->residents[number];
    tg_packer_move(packer, number);
}

void tg_packer_put(struct tg_packer *packer, unsigned type, const struct tg_pack_choice *choice)
{
    struct tg_pack_node *node = &packer->nodes[choice->node];
    struct tg_mix_type *of = &packer->mix.types[type];

    tg_pack_node_put(node, &of->request, choice->cards);
    if (packer->acting->mark != NULL)
        node->mark = packer->acting->mark(node->mark, &of->request);
    of->running++;
    packer->n_put++;
    settle(packer, choice->node, &of->request, 1);
}

void tg_packer_take(struct tg_packer *packer, unsigned type, const struct tg_pack_choice *choice)
{
    struct tg_mix_type *of = &packer->mix.types[type];

    tg_pack_node_take(&packer->nodes[choice->node], &of->request, choice->cards);
    of->running--;
    if (!packer->turnover && ++packer->n_taken * TG_PACKER_TURNOVER >= packer->n_put)
        packer->turnover = packer->stale = true;
    settle(packer, choice->node, &of->request, -1);
}
