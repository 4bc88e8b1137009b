/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/defrag/work.h"

#include <string.h>

#define STEPS_MAX 400000 /* nodes looked at in one plan, unless the want says otherwise */

static void unlink_resident(struct tg_empty_work *work, uint32_t resident)
{
    uint32_t *at = &work->first[work->node[resident]];

    while (*at != resident)
        at = &work->next[*at];
    *at = work->next[resident];
}

/* Lists stay in the order of the numbers, so that undoing restores them. */
static void link_resident(struct tg_empty_work *work, uint32_t resident, uint32_t node)
{
    uint32_t *at = &work->first[node];

    while (*at != TG_EMPTY_NONE && *at < resident)
        at = &work->next[*at];
    work->next[resident] = *at;
    *at = resident;
    work->node[resident] = node;
}

int tg_empty_work_open(struct tg_empty_work *work, const struct tg_empty_fleet *fleet,
                       const struct tg_empty_want *want, struct tg_arena *arena,
                       struct tg_error *err)
{
    size_t nodes = fleet->n_nodes, residents = fleet->n_residents;

    *work =
        (struct tg_empty_work){.fleet = fleet,
                               .want = want,
                               .max_moves = want->max_moves,
                               .max_steps = want->max_steps == 0 ? STEPS_MAX : want->max_steps,
                               .max_trials = want->max_trials == 0 ? UINT32_MAX : want->max_trials};
    work->left = tg_arena_alloc_array(arena, nodes + 1, sizeof(*work->left));
    work->first = tg_arena_alloc_array(arena, nodes + 1, sizeof(*work->first));
    work->closed = tg_arena_alloc_array(arena, nodes + 1, sizeof(*work->closed));
    work->node = tg_arena_alloc_array(arena, residents + 1, sizeof(*work->node));
    work->next = tg_arena_alloc_array(arena, residents + 1, sizeof(*work->next));
    work->moved = tg_arena_alloc_array(arena, residents + 1, sizeof(*work->moved));
    work->moves = tg_arena_alloc_array(arena, residents + 1, sizeof(*work->moves));
    if (work->left == NULL || work->first == NULL || work->closed == NULL || work->node == NULL ||
        work->next == NULL || work->moved == NULL || work->moves == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "a plan for %zu nodes and %zu residents exceeds the memory budget",
                            nodes, residents);
    for (size_t i = 0; i < nodes; i++) {
        work->left[i] = fleet->left[i];
        work->first[i] = TG_EMPTY_NONE;
        work->closed[i] = false;
    }
    for (uint32_t i = fleet->n_residents; i > 0; i--) {
        link_resident(work, i - 1, fleet->residents[i - 1].node);
        work->moved[i - 1] = false;
    }
    return 0;
}

static void carry(struct tg_empty_work *work, uint32_t resident, uint32_t to)
{
    uint16_t cards = work->fleet->residents[resident].cards;

    work->left[work->node[resident]] = (uint16_t)(work->left[work->node[resident]] + cards);
    unlink_resident(work, resident);
    link_resident(work, resident, to);
    work->left[to] = (uint16_t)(work->left[to] - cards);
}

void tg_empty_move(struct tg_empty_work *work, uint32_t resident, uint32_t to)
{
    work->moves[work->n_moves++] = (struct tg_empty_move){.resident = resident, .to = to};
    work->cards_moved += work->fleet->residents[resident].cards;
    work->moved[resident] = true;
    carry(work, resident, to);
}

void tg_empty_undo_to(struct tg_empty_work *work, uint32_t n_moves)
{
    while (work->n_moves > n_moves) {
        uint32_t resident = work->moves[--work->n_moves].resident;

        work->moved[resident] = false;
        work->cards_moved -= work->fleet->residents[resident].cards;
        carry(work, resident, work->fleet->residents[resident].node);
    }
}

bool tg_empty_is_target(const struct tg_empty_work *work, uint32_t node)
{
    return work->fleet->target == NULL || work->fleet->target[node];
}

uint32_t tg_empty_count_places(const struct tg_empty_work *work)
{
    uint32_t places = 0;

    for (uint32_t i = 0; i < work->fleet->n_nodes; i++)
        places += tg_empty_is_target(work, i) ? work->left[i] / work->want->cards : 0U;
    return places;
}

bool tg_empty_spares(const struct tg_empty_work *work, uint32_t node, uint32_t cards)
{
    uint16_t left = work->left[node];

    if (work->closed[node] || left < cards)
        return false;
    return !tg_empty_is_target(work, node) ||
           (left - cards) / work->want->cards == left / work->want->cards;
}

/* May the resident live on the node, whatever room there is? */
static bool may_live(const struct tg_empty_work *work, uint32_t resident, uint32_t node)
{
    const struct tg_empty_fleet *fleet = work->fleet;

    return !fleet->residents[resident].stays || fleet->domain == NULL ||
           fleet->domain[node] == fleet->domain[fleet->residents[resident].node];
}

bool tg_empty_may_move(const struct tg_empty_work *work, uint32_t resident, uint32_t node)
{
    return work->fleet->residents[resident].movable && !work->moved[resident] &&
           (node == TG_EMPTY_NONE || may_live(work, resident, node));
}

/* With one more resident: of each sum the bundle of the fewest residents, or of the most. */
static void extend(struct tg_empty_bundle *best, uint32_t resident, uint32_t cards, bool many)
{
    for (uint32_t sum = TG_EMPTY_SUMS - 1; sum >= cards; sum--) {
        const struct tg_empty_bundle *before = &best[sum - cards];
        struct tg_empty_bundle *now = &best[sum];

        if (before->n >= TG_EMPTY_CARDS_MAX ||
            (now->n != TG_EMPTY_NONE && (many ? before->n < now->n : before->n + 1 >= now->n)))
            continue;
        memcpy(now->residents, before->residents, before->n * sizeof(uint32_t));
        now->residents[before->n] = resident;
        now->n = before->n + 1;
    }
}

void tg_empty_list_bundles(const struct tg_empty_work *work, uint32_t node, uint32_t to, bool many,
                           struct tg_empty_bundle *ret)
{
    for (uint32_t sum = 0; sum < TG_EMPTY_SUMS; sum++)
        ret[sum].n = sum == 0 ? 0 : TG_EMPTY_NONE;
    for (uint32_t r = work->first[node]; r != TG_EMPTY_NONE; r = work->next[r]) {
        if (tg_empty_may_move(work, r, to))
            extend(ret, r, work->fleet->residents[r].cards, many);
    }
}

/* Residents of the node with `cards` or more in all: as few as possible, or as many (small ones
 * find a home more easily); then those with fewest cards. */
static bool find_bundle(const struct tg_empty_work *work, uint32_t node, uint32_t cards, bool many,
                        struct tg_empty_bundle *ret)
{
    struct tg_empty_bundle best[TG_EMPTY_SUMS];
    bool found = false;

    if (cards > TG_EMPTY_CARDS_MAX)
        return false;
    tg_empty_list_bundles(work, node, TG_EMPTY_NONE, many, best);
    for (uint32_t sum = cards; sum < TG_EMPTY_SUMS; sum++) {
        if (best[sum].n == TG_EMPTY_NONE || (found && (many || best[sum].n >= ret->n)))
            continue;
        *ret = best[sum];
        ret->node = node;
        ret->cards = sum;
        found = true;
    }
    return found;
}

static bool better(const struct tg_empty_bundle *a, const struct tg_empty_bundle *b)
{
    return a->n != b->n ? a->n < b->n : a->cards < b->cards;
}

uint32_t tg_empty_find_candidates(struct tg_empty_work *work, uint32_t cards, uint32_t resident,
                                  bool many, struct tg_empty_bundle *candidates)
{
    uint32_t n = 0;

    work->steps += work->fleet->n_nodes;
    for (uint32_t i = 0; i < work->fleet->n_nodes; i++) {
        bool allowed =
            resident == TG_EMPTY_NONE ? tg_empty_is_target(work, i) : may_live(work, resident, i);
        uint32_t left = resident == TG_EMPTY_NONE ? work->left[i] % cards : work->left[i], at;
        struct tg_empty_bundle bundle;

        if (work->closed[i] || !allowed || left >= cards ||
            !find_bundle(work, i, cards - left, many, &bundle))
            continue;
        if (n == TG_EMPTY_CANDIDATES_MAX && !better(&bundle, &candidates[n - 1]))
            continue;
        for (at = n < TG_EMPTY_CANDIDATES_MAX ? n++ : n - 1;
             at > 0 && better(&bundle, &candidates[at - 1]); at--)
            candidates[at] = candidates[at - 1];
        candidates[at] = bundle;
    }
    return n;
}
