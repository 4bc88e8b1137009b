/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fleet has to offer to pieces of one kind (gang/key.h), node by node: the node rule that
 * fails, the free devices that would do, how many pieces it takes; the node that a piece would go
 * to; and the same summed up by the values of a node label. Kept with the fleet from one decision
 * to the next and brought up to date by what has changed since (model/news.h): what that costs
 * depends on the changes, not on how many nodes there are. Counted anew when classes, taint rules
 * or rows as a whole have changed, and when a kind is first met.
 */
#ifndef TG_CORE_GANG_OFFER_H
#define TG_CORE_GANG_OFFER_H

#include "controller/core/gang/match.h"
#include "controller/core/gang/place.h"
#include "controller/core/gang/rank.h"
#include "controller/core/gang/tally.h"
#include "controller/core/model/demand.h"
#include "controller/core/model/view.h"

struct tg_offer;

struct tg_offer_node {
    /* Pieces that the node takes, nothing else being placed. Where only the exact search can tell:
     * 1 if room and numbers do not forbid it and no search has said otherwise. */
    uint32_t copies;
    uint32_t free;        /* usable devices that some request accepts */
    uint32_t any;         /* usable devices of any kind */
    unsigned char failed; /* index of the failed rule, tg_fit_rules_count: none */
    bool exact;           /* a device that some request accepts is exact (model/view.h) */
    bool shared;          /* a device can be given more than once */
    bool erred;           /* a selector fails on a device here: copies is 0 */
};

struct tg_offer_slot { /* one request of one claim, or one of its alternatives, in their order */
    size_t ask, count;
};

/* A decision begins: of kinds that were not used of late only some are kept. What tg_offer_get
 * gives stays until then. */
void tg_offers_tick(const struct tg_fleet *fleet);
size_t tg_offers_kept(const struct tg_fleet *fleet); /* how many kinds, for tests */
/* The offer to pieces like this one by the policy (NULL: the default), wherever it may be fixed; up
 * to date. What is wrong with its classes and selectors is an error, and the arena (scratch only)
 * may be exhausted. */
int tg_offer_get(const struct tg_fleet *fleet, const struct tg_piece *piece, const char *policy,
                 struct tg_arena *arena, struct tg_offer **ret, struct tg_error *err);
/* By row of the fleet's nodes; rows that are no node have failed a rule that does not exist. */
const struct tg_offer_node *tg_offer_nodes(const struct tg_offer *offer);
/* Does a selector fail on a device that is free, on any node (TG_NO_INDEX) or on that one? The
 * error of the first node by name, or 0. */
int tg_offer_fault(struct tg_offer *offer, size_t node, struct tg_error *err);
/* The same summed up by the values of a node label (NULL: of all nodes, one sum), with at most
 * `cap` pieces of each node. It stands until the decision ends or something is ruled out. */
const struct tg_tally *tg_offer_tally(struct tg_offer *offer, const char *label, size_t cap);
/* Where a piece goes: of the nodes that take one the best by the policy, of equally good ones the
 * first by name. TG_NO_INDEX: nowhere. */
size_t tg_offer_best(struct tg_offer *offer);
/* Among the nodes listed are the n that come first so, in whatever order; few more than n, or all
 * that take one. *ret is the arena's. */
int tg_offer_list(struct tg_offer *offer, size_t n, struct tg_arena *arena, size_t **ret,
                  size_t *ret_n, struct tg_error *err);
/* By what the policy values nodes for such a piece. */
struct tg_rank *tg_offer_rank(const struct tg_offer *offer, unsigned *ret_type);
/* The search for devices has found none for a piece there: the node takes none until something
 * changes on it. */
void tg_offer_rule_out(struct tg_offer *offer, size_t node);
/* Everything is to be counted anew the next time: what was ruled out was not certain. */
void tg_offer_recount(struct tg_offer *offer);
/* Is it for the exact search to tell whether a piece has its devices on the node? */
bool tg_offer_needs_search(const struct tg_offer *offer, size_t node);
/* Is it known that too few devices of the node have what they consume left of their counters
 * (leeway.h)? Then a search there would be in vain. */
bool tg_offer_lacks_counters(const struct tg_offer *offer, size_t node);
/* Requests and their alternatives: as many slots at most. */
size_t tg_offer_count_slots(const struct tg_piece *piece);
const struct tg_offer_slot *tg_offer_slots(const struct tg_offer *offer, size_t *ret_n);
/* For the devices of one piece on the node: as tg_match_lowest. */
int tg_offer_match(struct tg_offer *offer, size_t node, const struct tg_need *needs, size_t n,
                   size_t *devices, struct tg_error *err);

#endif
