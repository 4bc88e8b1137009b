/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/defrag/trade.h"

#include <string.h>

#define NEVER UINT8_MAX
#define TRIAL_STEPS 10 /* what trades with one node cost to compare, in nodes looked at */

struct trade {
    uint32_t node;    /* the other one */
    uint32_t out, in; /* cards that go there and that come from there */
    uint32_t moves;
};

/* Of each sum of cards: how many have to move from one node to the other, NEVER if it cannot be. */
struct fewest {
    uint8_t moves[TG_EMPTY_SUMS];
};

static struct fewest count_moves(const struct tg_empty_work *work, uint32_t from, uint32_t to)
{
    struct fewest fewest;

    memset(&fewest, NEVER, sizeof(fewest));
    fewest.moves[0] = 0;
    for (uint32_t r = work->first[from]; r != TG_EMPTY_NONE; r = work->next[r]) {
        uint32_t cards = work->fleet->residents[r].cards;

        if (!tg_empty_may_move(work, r, to))
            continue;
        for (uint32_t sum = TG_EMPTY_SUMS - 1; sum >= cards; sum--) {
            uint8_t before = fewest.moves[sum - cards];

            if (before < TG_EMPTY_CARDS_MAX && before + 1 < fewest.moves[sum])
                fewest.moves[sum] = (uint8_t)(before + 1);
        }
    }
    return fewest;
}

/* Cards of the node that can be used without a member losing its place. */
static uint32_t spare(const struct tg_empty_work *work, uint32_t node)
{
    uint32_t left = work->left[node];

    if (work->closed[node])
        return 0;
    return tg_empty_is_target(work, node) ? left % work->want->cards : left;
}

/* Fewest moves for a card, then most cards, then the smallest residents. */
static bool is_cheaper(const struct trade *a, const struct trade *b)
{
    uint32_t gain_a = a->out - a->in, gain_b = b->out - b->in;

    if (a->moves * gain_b != b->moves * gain_a)
        return a->moves * gain_b < b->moves * gain_a;
    return gain_a != gain_b ? gain_a > gain_b : a->out < b->out;
}

/* Those who come can only be first where there is room for them, and those who go likewise. */
static bool has_order(const struct tg_empty_work *work, uint32_t node, const struct trade *trade)
{
    return work->left[node] >= trade->in || work->left[trade->node] >= trade->out;
}

/* The cheapest trade with one node that wins `need` cards at most; *best has no moves before the
 * first that was found. */
static void try_node(struct tg_empty_work *work, uint32_t node, uint32_t other, uint32_t need,
                     uint32_t most_in, struct trade *best)
{
    uint32_t most = spare(work, other) < need ? spare(work, other) : need;
    struct fewest out, in;

    if (most == 0)
        return;
    work->steps += TRIAL_STEPS;
    work->trials++;
    out = count_moves(work, node, other);
    in = count_moves(work, other, node);
    for (uint32_t comes = 0; comes <= most_in; comes++) {
        for (uint32_t goes = comes + 1; goes <= comes + most && goes < TG_EMPTY_SUMS; goes++) {
            struct trade trade = {.node = other, .out = goes, .in = comes};

            if (in.moves[comes] == NEVER || out.moves[goes] == NEVER)
                continue;
            trade.moves = (uint32_t)in.moves[comes] + out.moves[goes];
            if (has_order(work, node, &trade) && (best->moves == 0 || is_cheaper(&trade, best)))
                *best = trade;
        }
    }
}

/* Cards of those who may still move away. */
static uint32_t count_movable(const struct tg_empty_work *work, uint32_t node)
{
    uint32_t cards = 0;

    for (uint32_t r = work->first[node]; r != TG_EMPTY_NONE; r = work->next[r]) {
        if (tg_empty_may_move(work, r, TG_EMPTY_NONE))
            cards += work->fleet->residents[r].cards;
    }
    return cards;
}

/* false: no trade. Who comes does not go again, so that at most that many cards may come that what
 * is needed can still be won. */
static bool find_trade(struct tg_empty_work *work, uint32_t node, uint32_t need, struct trade *ret)
{
    uint32_t movable = count_movable(work, node);

    *ret = (struct trade){.moves = 0};
    if (movable < need || work->steps > work->max_steps || work->trials >= work->max_trials)
        return false;
    work->steps += work->fleet->n_nodes;
    for (uint32_t other = 0; other < work->fleet->n_nodes; other++) {
        if (other != node)
            try_node(work, node, other, need, movable - need, ret);
    }
    return ret->moves > 0;
}

static void move_all(struct tg_empty_work *work, const struct tg_empty_bundle *bundle, uint32_t to)
{
    for (uint32_t i = 0; i < bundle->n; i++)
        tg_empty_move(work, bundle->residents[i], to);
}

static void carry_out(struct tg_empty_work *work, uint32_t node, const struct trade *trade)
{
    struct tg_empty_bundle out[TG_EMPTY_SUMS], in[TG_EMPTY_SUMS];
    bool in_first = work->left[node] >= trade->in;

    tg_empty_list_bundles(work, node, trade->node, false, out);
    tg_empty_list_bundles(work, trade->node, node, false, in);
    if (in_first)
        move_all(work, &in[trade->in], node);
    move_all(work, &out[trade->out], trade->node);
    if (!in_first)
        move_all(work, &in[trade->in], node);
}

bool tg_empty_trade_for(struct tg_empty_work *work, uint32_t node, uint32_t cards)
{
    bool closed = work->closed[node], ok = true;
    uint32_t before = work->n_moves;

    work->closed[node] = true;
    while (ok && work->left[node] < cards) {
        struct trade trade;

        ok = work->steps <= work->max_steps &&
             find_trade(work, node, cards - work->left[node], &trade) &&
             work->n_moves + trade.moves <= work->max_moves;
        if (ok)
            carry_out(work, node, &trade);
    }
    work->closed[node] = closed;
    if (!ok)
        tg_empty_undo_to(work, before);
    return ok;
}
