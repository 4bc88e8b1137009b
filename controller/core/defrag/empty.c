/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>

#include "controller/core/defrag/trade.h"

#define DEPTH 2            /* who moves, and who makes room for it */
#define BY_TRADES UINT_MAX /* instead of a depth: room is made by trades */

/* The tightest node that can take the resident; TG_EMPTY_NONE. */
static uint32_t find_home(struct tg_empty_work *work, uint32_t resident)
{
    uint32_t best = TG_EMPTY_NONE, cards = work->fleet->residents[resident].cards;

    work->steps += work->fleet->n_nodes;
    for (uint32_t i = 0; i < work->fleet->n_nodes; i++) {
        if (tg_empty_spares(work, i, cards) && tg_empty_may_move(work, resident, i) &&
            (best == TG_EMPTY_NONE || work->left[i] < work->left[best]))
            best = i;
    }
    return best;
}

static bool rehome(struct tg_empty_work *work, uint32_t resident, unsigned depth);

/* Moves all of the bundle away, the largest first. Nothing has changed if that fails. */
static bool move_bundle(struct tg_empty_work *work, const struct tg_empty_bundle *bundle,
                        unsigned depth)
{
    bool gone[TG_EMPTY_CARDS_MAX] = {false}, closed = work->closed[bundle->node];
    uint32_t before = work->n_moves;
    bool ok = true;

    work->closed[bundle->node] = true;
    for (uint32_t k = 0; k < bundle->n && ok; k++) {
        uint32_t largest = TG_EMPTY_NONE;

        for (uint32_t i = 0; i < bundle->n; i++) {
            if (!gone[i] && (largest == TG_EMPTY_NONE ||
                             work->fleet->residents[bundle->residents[i]].cards >
                                 work->fleet->residents[bundle->residents[largest]].cards))
                largest = i;
        }
        gone[largest] = true;
        ok = rehome(work, bundle->residents[largest], depth);
    }
    work->closed[bundle->node] = closed;
    if (!ok)
        tg_empty_undo_to(work, before);
    return ok;
}

/* One of the candidates is emptied for the resident, which moves there. */
static bool displace(struct tg_empty_work *work, uint32_t resident, bool many, unsigned depth)
{
    struct tg_empty_bundle candidates[TG_EMPTY_CANDIDATES_MAX];
    uint32_t cards = work->fleet->residents[resident].cards;
    uint32_t n = tg_empty_find_candidates(work, cards, resident, many, candidates);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = work->n_moves;

        if (!move_bundle(work, &candidates[i], depth - 1))
            continue;
        if (work->n_moves < work->max_moves && tg_empty_spares(work, candidates[i].node, cards)) {
            tg_empty_move(work, resident, candidates[i].node);
            return true;
        }
        tg_empty_undo_to(work, before);
    }
    return false;
}

/* To the node, of the candidates, where trades make room with the fewest moves. */
static bool trade_home(struct tg_empty_work *work, uint32_t resident)
{
    struct tg_empty_bundle candidates[TG_EMPTY_CANDIDATES_MAX];
    uint32_t cards = work->fleet->residents[resident].cards, before = work->n_moves;
    uint32_t best = TG_EMPTY_NONE, max = work->max_moves;
    uint32_t n = tg_empty_find_candidates(work, cards, resident, false, candidates);
    bool found;

    work->max_moves--; /* its own is the last */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = candidates[i].node;

        if (tg_empty_trade_for(work, node, cards) && tg_empty_spares(work, node, cards)) {
            best = node;
            work->max_moves = work->n_moves - 1; /* another one has to do with fewer */
        }
        tg_empty_undo_to(work, before);
    }
    work->max_moves++;
    found = best != TG_EMPTY_NONE && tg_empty_trade_for(work, best, cards);
    work->max_moves = max;
    if (found)
        tg_empty_move(work, resident, best);
    return found;
}

/* To where there is room, or where others can make it. */
static bool rehome(struct tg_empty_work *work, uint32_t resident, unsigned depth)
{
    uint32_t home;

    if (work->n_moves >= work->max_moves)
        return false;
    home = find_home(work, resident);
    if (home != TG_EMPTY_NONE) {
        tg_empty_move(work, resident, home);
        return true;
    }
    if (depth == BY_TRADES)
        return trade_home(work, resident);
    return depth > 0 && work->steps <= work->max_steps &&
           (displace(work, resident, false, depth) || displace(work, resident, true, depth));
}

static bool win_by(struct tg_empty_work *work, bool many, unsigned depth)
{
    struct tg_empty_bundle candidates[TG_EMPTY_CANDIDATES_MAX];
    uint32_t n = tg_empty_find_candidates(work, work->want->cards, TG_EMPTY_NONE, many, candidates);

    for (uint32_t i = 0; i < n && work->steps <= work->max_steps; i++) {
        uint32_t places = tg_empty_count_places(work), before = work->n_moves;

        if (!move_bundle(work, &candidates[i], depth))
            continue;
        if (tg_empty_count_places(work) > places)
            return true;
        tg_empty_undo_to(work, before);
    }
    return false;
}

/* The node gets room for one more member: by trades of its own, or all of the bundle goes where
 * trades make room. */
static bool win_node(struct tg_empty_work *work, const struct tg_empty_bundle *bundle)
{
    uint32_t cards = work->want->cards, node = bundle->node, before = work->n_moves;
    uint32_t places = tg_empty_count_places(work);

    if (!tg_empty_trade_for(work, node, (work->left[node] / cards + 1) * cards) &&
        !move_bundle(work, bundle, BY_TRADES))
        return false;
    if (tg_empty_count_places(work) > places)
        return true;
    tg_empty_undo_to(work, before);
    return false;
}

/* Of the candidates the one with the fewest moves. */
static bool win_by_trades(struct tg_empty_work *work)
{
    struct tg_empty_bundle candidates[TG_EMPTY_CANDIDATES_MAX];
    uint32_t before = work->n_moves, best = TG_EMPTY_NONE, max = work->max_moves;
    uint32_t steps = work->max_steps, trials = work->max_trials;
    uint32_t n =
        tg_empty_find_candidates(work, work->want->cards, TG_EMPTY_NONE, false, candidates);
    bool found;

    for (uint32_t i = 0; i < n && work->steps <= work->max_steps; i++) {
        if (win_node(work, &candidates[i])) {
            best = i;
            work->max_moves = work->n_moves - 1; /* another one has to do with fewer */
        }
        tg_empty_undo_to(work, before);
    }
    if (best == TG_EMPTY_NONE)
        return false;
    /* What was found is done, however little of the limits is left. */
    work->max_moves++;
    work->max_steps = work->max_trials = UINT32_MAX;
    found = win_node(work, &candidates[best]);
    work->max_moves = max;
    work->max_steps = steps;
    work->max_trials = trials;
    return found;
}

/* One more member gets a place: first by what moves without anybody making room for it, at last by
 * trades. */
static bool win_place(struct tg_empty_work *work)
{
    for (unsigned depth = 0; depth < DEPTH; depth++) {
        if (win_by(work, false, depth) || win_by(work, true, depth))
            return true;
    }
    return win_by_trades(work);
}

int tg_empty_plan(const struct tg_empty_fleet *fleet, const struct tg_empty_want *want,
                  struct tg_arena *arena, bool *ret_found, struct tg_empty_plan *ret,
                  struct tg_error *err)
{
    struct tg_empty_work work;
    int rc = tg_empty_work_open(&work, fleet, want, arena, err);
    uint32_t places, now;

    *ret_found = false;
    *ret = (struct tg_empty_plan){.n_moves = 0};
    if (rc < 0)
        return rc;
    places = now = tg_empty_count_places(&work);
    while (now < want->members && win_place(&work))
        now = tg_empty_count_places(&work);
    *ret_found = now >= want->members;
    if (*ret_found)
        *ret = (struct tg_empty_plan){.moves = work.moves,
                                      .n_moves = work.n_moves,
                                      .cards_moved = work.cards_moved,
                                      .places_won = now - places};
    return 0;
}
