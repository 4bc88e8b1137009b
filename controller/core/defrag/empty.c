/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/defrag/empty.h"

#include <string.h>

#define NONE UINT32_MAX
#define DEPTH 3           /* who moves, who makes room for it, and who makes room for that one */
#define STEPS_MAX 400000  /* nodes looked at in one plan, unless the want says otherwise */
#define CANDIDATES_MAX 16 /* nodes tried for one place, those with the fewest moves */

struct work {
    const struct tg_empty_fleet *fleet;
    const struct tg_empty_want *want;
    uint16_t *left;
    uint32_t *node;         /* of each resident */
    uint32_t *first, *next; /* residents of each node */
    bool *moved;
    bool *closed; /* nodes that nobody may move to: they are being emptied */
    struct tg_empty_move *moves;
    uint32_t n_moves, cards_moved, steps, max_steps;
};

/* Residents whose departure frees enough of a node. */
struct bundle {
    uint32_t node, n;
    uint32_t cards;
    uint32_t residents[TG_EMPTY_CARDS_MAX];
};

static void unlink_resident(struct work *work, uint32_t resident)
{
    uint32_t *at = &work->first[work->node[resident]];

    while (*at != resident)
        at = &work->next[*at];
    *at = work->next[resident];
}

/* Lists stay in the order of the numbers, so that undoing restores them. */
static void link_resident(struct work *work, uint32_t resident, uint32_t node)
{
    uint32_t *at = &work->first[node];

    while (*at != NONE && *at < resident)
        at = &work->next[*at];
    work->next[resident] = *at;
    *at = resident;
    work->node[resident] = node;
}

static void carry(struct work *work, uint32_t resident, uint32_t to)
{
    uint16_t cards = work->fleet->residents[resident].cards;

    work->left[work->node[resident]] = (uint16_t)(work->left[work->node[resident]] + cards);
    unlink_resident(work, resident);
    link_resident(work, resident, to);
    work->left[to] = (uint16_t)(work->left[to] - cards);
}

static void move(struct work *work, uint32_t resident, uint32_t to)
{
    work->moves[work->n_moves++] = (struct tg_empty_move){.resident = resident, .to = to};
    work->cards_moved += work->fleet->residents[resident].cards;
    work->moved[resident] = true;
    carry(work, resident, to);
}

static void undo_to(struct work *work, uint32_t n_moves)
{
    while (work->n_moves > n_moves) {
        uint32_t resident = work->moves[--work->n_moves].resident;

        work->moved[resident] = false;
        work->cards_moved -= work->fleet->residents[resident].cards;
        carry(work, resident, work->fleet->residents[resident].node);
    }
}

static bool is_target(const struct work *work, uint32_t node)
{
    return work->fleet->target == NULL || work->fleet->target[node];
}

static uint32_t count_places(const struct work *work)
{
    uint32_t places = 0;

    for (uint32_t i = 0; i < work->fleet->n_nodes; i++)
        places += is_target(work, i) ? work->left[i] / work->want->cards : 0U;
    return places;
}

/* May so many cards of the node be used without a member losing its place? */
static bool spares(const struct work *work, uint32_t node, uint32_t cards)
{
    uint16_t left = work->left[node];

    if (work->closed[node] || left < cards)
        return false;
    return !is_target(work, node) || (left - cards) / work->want->cards == left / work->want->cards;
}

/* May the resident live on the node, whatever room there is? */
static bool may_live(const struct work *work, uint32_t resident, uint32_t node)
{
    const struct tg_empty_fleet *fleet = work->fleet;

    return !fleet->residents[resident].stays || fleet->domain == NULL ||
           fleet->domain[node] == fleet->domain[fleet->residents[resident].node];
}

/* The tightest node that can take the resident; NONE. */
static uint32_t find_home(struct work *work, uint32_t resident)
{
    uint32_t best = NONE, cards = work->fleet->residents[resident].cards;

    work->steps += work->fleet->n_nodes;
    for (uint32_t i = 0; i < work->fleet->n_nodes; i++) {
        if (spares(work, i, cards) && may_live(work, resident, i) &&
            (best == NONE || work->left[i] < work->left[best]))
            best = i;
    }
    return best;
}

/* Sums of cards, up to the most that one resident can go beyond what is wanted. */
#define SUMS (2 * TG_EMPTY_CARDS_MAX + 1)

/* With one more resident: of each sum the bundle of the fewest residents, or of the most. */
static void extend(struct bundle *best, uint32_t resident, uint32_t cards, bool many)
{
    for (uint32_t sum = SUMS - 1; sum >= cards; sum--) {
        const struct bundle *before = &best[sum - cards];
        struct bundle *now = &best[sum];

        if (before->n >= TG_EMPTY_CARDS_MAX ||
            (now->n != NONE && (many ? before->n < now->n : before->n + 1 >= now->n)))
            continue;
        memcpy(now->residents, before->residents, before->n * sizeof(uint32_t));
        now->residents[before->n] = resident;
        now->n = before->n + 1;
    }
}

/* Movable residents of the node with `cards` or more in all: as few as possible, or as many (small
 * ones find a home more easily); then those with fewest cards. */
static bool find_bundle(const struct work *work, uint32_t node, uint32_t cards, bool many,
                        struct bundle *ret)
{
    struct bundle best[SUMS];
    bool found = false;

    if (cards > TG_EMPTY_CARDS_MAX)
        return false;
    for (uint32_t sum = 0; sum < SUMS; sum++)
        best[sum].n = sum == 0 ? 0 : NONE;
    for (uint32_t r = work->first[node]; r != NONE; r = work->next[r]) {
        const struct tg_empty_resident *resident = &work->fleet->residents[r];

        if (resident->movable && !work->moved[r])
            extend(best, r, resident->cards, many);
    }
    for (uint32_t sum = cards; sum < SUMS; sum++) {
        if (best[sum].n == NONE || (found && (many || best[sum].n >= ret->n)))
            continue;
        *ret = best[sum];
        ret->node = node;
        ret->cards = sum;
        found = true;
    }
    return found;
}

static bool better(const struct bundle *a, const struct bundle *b)
{
    return a->n != b->n ? a->n < b->n : a->cards < b->cards;
}

/* Nodes that can be brought to have so many cards free, for one more member (resident NONE) or for
 * a resident that has no home: the cheapest first; equal ones by number. */
static uint32_t find_candidates(struct work *work, uint32_t cards, uint32_t resident, bool many,
                                struct bundle *candidates)
{
    uint32_t n = 0;

    work->steps += work->fleet->n_nodes;
    for (uint32_t i = 0; i < work->fleet->n_nodes; i++) {
        bool allowed = resident == NONE ? is_target(work, i) : may_live(work, resident, i);
        uint32_t left = resident == NONE ? work->left[i] % cards : work->left[i], at;
        struct bundle bundle;

        if (work->closed[i] || !allowed || left >= cards ||
            !find_bundle(work, i, cards - left, many, &bundle))
            continue;
        if (n == CANDIDATES_MAX && !better(&bundle, &candidates[n - 1]))
            continue;
        for (at = n < CANDIDATES_MAX ? n++ : n - 1; at > 0 && better(&bundle, &candidates[at - 1]);
             at--)
            candidates[at] = candidates[at - 1];
        candidates[at] = bundle;
    }
    return n;
}

static bool rehome(struct work *work, uint32_t resident, unsigned depth);

/* Moves all of the bundle away, the largest first. Nothing has changed if that fails. */
static bool move_bundle(struct work *work, const struct bundle *bundle, unsigned depth)
{
    bool gone[TG_EMPTY_CARDS_MAX] = {false}, closed = work->closed[bundle->node];
    uint32_t before = work->n_moves;
    bool ok = true;

    work->closed[bundle->node] = true;
    for (uint32_t k = 0; k < bundle->n && ok; k++) {
        uint32_t largest = NONE;

        for (uint32_t i = 0; i < bundle->n; i++) {
            if (!gone[i] &&
                (largest == NONE || work->fleet->residents[bundle->residents[i]].cards >
                                        work->fleet->residents[bundle->residents[largest]].cards))
                largest = i;
        }
        gone[largest] = true;
        ok = rehome(work, bundle->residents[largest], depth);
    }
    work->closed[bundle->node] = closed;
    if (!ok)
        undo_to(work, before);
    return ok;
}

/* One of the candidates is emptied for the resident, which moves there. */
static bool displace(struct work *work, uint32_t resident, bool many, unsigned depth)
{
    struct bundle candidates[CANDIDATES_MAX];
    uint32_t cards = work->fleet->residents[resident].cards;
    uint32_t n = find_candidates(work, cards, resident, many, candidates);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = work->n_moves;

        if (!move_bundle(work, &candidates[i], depth - 1))
            continue;
        if (work->n_moves < work->want->max_moves && spares(work, candidates[i].node, cards)) {
            move(work, resident, candidates[i].node);
            return true;
        }
        undo_to(work, before);
    }
    return false;
}

/* To where there is room, or where others can make it. */
static bool rehome(struct work *work, uint32_t resident, unsigned depth)
{
    uint32_t home;

    if (work->n_moves >= work->want->max_moves)
        return false;
    home = find_home(work, resident);
    if (home != NONE) {
        move(work, resident, home);
        return true;
    }
    return depth > 0 && work->steps <= work->max_steps &&
           (displace(work, resident, false, depth) || displace(work, resident, true, depth));
}

static bool win_by(struct work *work, bool many, unsigned depth)
{
    struct bundle candidates[CANDIDATES_MAX];
    uint32_t n = find_candidates(work, work->want->cards, NONE, many, candidates);

    for (uint32_t i = 0; i < n && work->steps <= work->max_steps; i++) {
        uint32_t places = count_places(work), before = work->n_moves;

        if (!move_bundle(work, &candidates[i], depth))
            continue;
        if (count_places(work) > places)
            return true;
        undo_to(work, before);
    }
    return false;
}

/* One more member gets a place: first by what moves without anybody making room for it. */
static bool win_place(struct work *work)
{
    for (unsigned depth = 0; depth < DEPTH; depth++) {
        if (win_by(work, false, depth) || win_by(work, true, depth))
            return true;
    }
    return false;
}

static int open_work(struct work *work, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_empty_fleet *fleet = work->fleet;
    size_t nodes = fleet->n_nodes, residents = fleet->n_residents;

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
        work->first[i] = NONE;
        work->closed[i] = false;
    }
    for (uint32_t i = fleet->n_residents; i > 0; i--) {
        link_resident(work, i - 1, fleet->residents[i - 1].node);
        work->moved[i - 1] = false;
    }
    return 0;
}

int tg_empty_plan(const struct tg_empty_fleet *fleet, const struct tg_empty_want *want,
                  struct tg_arena *arena, bool *ret_found, struct tg_empty_plan *ret,
                  struct tg_error *err)
{
    struct work work = {.fleet = fleet,
                        .want = want,
                        .max_steps = want->max_steps == 0 ? STEPS_MAX : want->max_steps};
    int rc = open_work(&work, arena, err);
    uint32_t places, now;

    *ret_found = false;
    *ret = (struct tg_empty_plan){.n_moves = 0};
    if (rc < 0)
        return rc;
    places = now = count_places(&work);
    while (now < want->members && win_place(&work))
        now = count_places(&work);
    *ret_found = now >= want->members;
    if (*ret_found)
        *ret = (struct tg_empty_plan){.moves = work.moves,
                                      .n_moves = work.n_moves,
                                      .cards_moved = work.cards_moved,
                                      .places_won = now - places};
    return 0;
}
