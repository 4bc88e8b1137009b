/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a packing policy is: a table of functions. A policy values a class of alike nodes for a type
 * of request; the value is remembered for as long as class and mix stand. Baselines of the
 * benchmarks are policies as well.
 */
#ifndef TG_CORE_PACK_POLICY_H
#define TG_CORE_PACK_POLICY_H

#include "controller/core/pack/classes.h"
#include "controller/core/pack/fragment.h"
#include "controller/core/pack/future.h"
#include "controller/core/pack/mix.h"
#include "controller/core/pack/packer.h"
#include "controller/core/pack/reserve.h"

/* Higher is better, in this order; equal ones: the node of the lowest number. */
struct tg_pack_score {
    int64_t value, tie, last;
    /* Which cards of the sorted node are equally good for a share; 0: the least sufficient one. */
    uint16_t levels;
    bool fits;
    uint8_t breaks; /* breakage.h */
    /* Of `fill`: where its losses stand in tg_packer.losses. */
    uint16_t n_losses;
    uint32_t losses;
    uint32_t stamp;      /* of the class that was valued */
    uint32_t generation; /* of the mix by which it was valued */
    int64_t shown;       /* its value when it was last asked for */
};

/* Which domain a gang is tried in first, of those that hold it. */
enum tg_pack_order {
    TG_PACK_TIGHTEST, /* fewest places for its members, then fewest cards left */
    TG_PACK_EMPTIEST,
    TG_PACK_FEWEST_CARDS, /* left */
    TG_PACK_FIRST,
};

struct tg_pack_policy {
    const char *name;
    enum tg_pack_order domains;
    /* The mix has changed, or nodes were added. May be NULL. */
    void (*refresh)(struct tg_packer *packer);
    /* Every so often, between refreshes, before a choice. May be NULL. */
    void (*reprice)(struct tg_packer *packer);
    /* Values the class for a request that fits. `ret` is zeroed. */
    void (*score)(struct tg_packer *packer, const struct tg_pack_class *klass,
                  const struct tg_pack_request *request, struct tg_pack_score *ret);
    /* The value at the time of a choice, when it is not score.value. May be NULL. */
    int64_t (*value)(const struct tg_packer *packer, const struct tg_pack_request *request,
                     const struct tg_pack_score *score);
    /* Another policy that acts for this one as long as the mix is as it is; asked when the mix has
     * changed. May be NULL. */
    const struct tg_pack_policy *(*deputy)(const struct tg_packer *packer);
    /* Values depend on who is on a node (tg_pack_node.mark, residents.h). */
    bool sees_residents;
    /* Of nodes that are equal by value and tie, the one whose domain has least room together
     * (tg_packer.together) comes first, so that domains with much of it keep it for gangs. */
    bool sees_domains;
    /* The mark of a node on which the request has been put. May be NULL: marks stay. */
    uint64_t (*mark)(uint64_t mark, const struct tg_pack_request *request);
    /* Chooses among the nodes of packer->domain without valuing classes. May be NULL. */
    bool (*choose)(struct tg_packer *packer, const struct tg_pack_request *request,
                   struct tg_pack_choice *ret);
};

/* Turnover: of so many that were put one has been taken away. */
#define TG_PACKER_TURNOVER 1000
/* Choices between two calls of reprice. */
#define TG_PACKER_REPRICE 16
/* Losses that are remembered before all are forgotten. */
#define TG_PACKER_LOSSES_MAX (4U << 20)

struct tg_packer {
    const struct tg_pack_policy *policy;
    const struct tg_pack_policy *acting; /* the same or its deputy */
    struct tg_mix mix;
    bool learns;          /* until the mix is given */
    bool stale;           /* refresh before the next choice */
    int64_t next_refresh; /* at this number of arrivals */
    int64_t choices;
    int64_t n_put, n_taken;
    bool turnover; /* enough have left that nodes are not only filled (TG_PACKER_TURNOVER) */
    struct tg_pack_node *nodes;
    uint64_t *residents; /* of each node, residents.h */
    uint32_t nodes_size;
    uint32_t domain; /* nodes of this one only; TG_PACK_ANY_DOMAIN */
    uint32_t n_domains;
    int64_t *together;   /* of each domain: the sum of the squares of what each node has left */
    bool patient;        /* live.c */
    uint32_t generation; /* of the mix; only of a patient one it changes */
    unsigned work;       /* values that the choice under way may compute anew */
    struct tg_pack_classes classes;
    struct tg_pack_score *scores[TG_MIX_TYPES_MAX]; /* of each type: one a class */
    uint32_t n_scores[TG_MIX_TYPES_MAX];
    /* Of `fill` and `fgd`. */
    struct tg_reserve_fleet fleet;
    struct tg_reserve reserve;
    struct tg_future *future;
    struct tg_fragment fragment;
    uint16_t (*places)[TG_RESERVE_MAX]; /* of each class: k of each special type */
    uint32_t n_places;
    struct tg_reserve_loss *losses;
    uint32_t n_losses, losses_size;
};

extern const struct tg_pack_policy tg_pack_fill, tg_pack_whole, tg_pack_mig, tg_pack_fgd,
    tg_pack_binpack, tg_pack_spread;

/* Before a choice: a new mix, new prices. */
void tg_packer_prepare(struct tg_packer *packer);
/* What a node of the class is worth to a request of the type. */
const struct tg_pack_score *tg_packer_score(struct tg_packer *packer, unsigned type,
                                            uint32_t klass);
/* The same as a rating, with the value that counts at the time of the choice. */
struct tg_pack_rating tg_packer_rating(const struct tg_packer *packer, uint32_t klass,
                                       const struct tg_pack_score *score, int64_t value);
/* The node has changed: its class changes, and with it the places for special requests. */
void tg_packer_move(struct tg_packer *packer, uint32_t number);

/* Cards of `node`, which is as it stands, for a choice by this score of its sorted class. */
uint16_t tg_pack_policy_cards(const struct tg_pack_node *node, const struct tg_pack_class *klass,
                              const struct tg_pack_request *request, uint16_t levels);
/* Tries the request on a sorted node: a share on each distinct card (cards that are alike are tried
 * once), anything else in its one way. Calls visit with the card (0 when there is no choice) and
 * the node after it, sorted. */
void tg_pack_policy_try(const struct tg_pack_node *sorted, const struct tg_pack_request *request,
                        void (*visit)(void *context, unsigned card,
                                      const struct tg_pack_node *after),
                        void *context);

#endif
