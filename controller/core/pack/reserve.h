/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reserve price: what a placement costs because it destroys room that only special requests
 * can use (those that need several whole cards, or name the kinds of card they accept). For each
 * special type t:
 *   k   how many of t fit a node alone; K their sum over the fleet
 *   m   how many of t run in a full cluster = t's part of the demand * capacity / t's size
 *   need = max(0, m + z sqrt(m) - running), z = 1 for several cards, 0 for one
 *   rho = f need / max(1, K): how many requests wait for each place; f rises from 1 to 4 with the
 *         pressure on the kinds that t names
 * A placement that takes d places of t destroys A = sum rho d size(t); it costs
 *   beta B clamp((A/B - w0) / (w1 - w0), 0, 1), B = the largest of the placement's own size and of
 *   d size(t), beta = 0.5, w0 = 0.5, w1 = 1.2.
 * Whole numbers only, with 32 binary places, so that every machine decides alike.
 */
#ifndef TG_CORE_PACK_RESERVE_H
#define TG_CORE_PACK_RESERVE_H

#include "controller/core/pack/mix.h"

#define TG_RESERVE_TYPES 176 /* special types, those of the largest demand */
#define TG_RESERVE_PRIORS 16 /* pseudo types of whole nodes */
#define TG_RESERVE_MAX (TG_RESERVE_TYPES + TG_RESERVE_PRIORS)
#define TG_RESERVE_FRACTION 32 /* binary places of prices */

/* A kind of node as it came, for the priors. */
struct tg_reserve_shape {
    struct tg_pack_node node; /* empty */
    int64_t nodes;
};

/* What the fleet has: fixed between two calls of tg_reserve_choose. */
struct tg_reserve_fleet {
    int64_t capacity[TG_PACK_KINDS_MAX]; /* milli-cards of each kind */
    int64_t total;
    struct tg_reserve_shape shapes[TG_RESERVE_PRIORS];
    size_t n_shapes;
};

struct tg_reserve_special {
    struct tg_pack_request request;
    unsigned type;    /* of the mix; TG_MIX_NO_TYPE: a prior */
    int64_t scarcity; /* f, with TG_RESERVE_FRACTION places */
    int64_t expected; /* of a prior: its need, with TG_RESERVE_FRACTION places */
    int64_t places;   /* K */
    int64_t price;    /* rho, with TG_RESERVE_FRACTION places */
};

struct tg_reserve {
    bool all; /* every request for cards is special; set before tg_reserve_choose */
    struct tg_reserve_special special[TG_RESERVE_MAX];
    unsigned n;
};

/* d of one special type. */
struct tg_reserve_loss {
    uint16_t special;
    uint16_t places;
};

/* Do requests for one card of any kind have the fleet to themselves, but for a twentieth of the
 * demand? Then large parts of cards are what finds no room once requests leave as well as arrive:
 * what becomes free goes to small ones first. */
bool tg_reserve_fights(const struct tg_mix *mix);
/* Chooses the special types from the mix. prior_permille: this part of the nodes of each shape
 * with two cards or more is kept whole as long as nothing else is known; 0: none. All places are 0
 * afterwards: add those of every node. */
void tg_reserve_choose(struct tg_reserve *reserve, const struct tg_mix *mix,
                       const struct tg_reserve_fleet *fleet, int64_t prior_permille);
/* k of each special type on the node; counts has room for TG_RESERVE_MAX. */
void tg_reserve_count(const struct tg_reserve *reserve, const struct tg_pack_node *node,
                      uint16_t *counts);
/* `nodes` more (or fewer) nodes with these counts. */
void tg_reserve_add(struct tg_reserve *reserve, const uint16_t *counts, int64_t nodes);
/* Computes the prices anew from what has arrived and what runs. */
void tg_reserve_price(struct tg_reserve *reserve, const struct tg_mix *mix,
                      const struct tg_reserve_fleet *fleet);
/* What a placement of `size` milli-cards costs that takes these places: milli-cards with
 * TG_RESERVE_FRACTION places. */
int64_t tg_reserve_cost(const struct tg_reserve *reserve, int64_t size,
                        const struct tg_reserve_loss *losses, size_t n_losses);

#endif
