/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses a node, and the cards on it, for one request after the other by a packing policy. The
 * state that a policy needs (classes of alike nodes, the mix of requests, expected fills, prices)
 * is kept from decision to decision and changes with what is put and taken only: same calls, same
 * choices, on every machine. A request that fits somewhere is never refused.
 *
 *   packer = tg_packer_new(tg_pack_policy("fill"));
 *   for each node, in the order of their names: tg_packer_add_node(packer, &node);
 *   tg_packer_expect(packer, type, count) for a mix that is known, or tg_packer_arrive as it comes
 *   if (tg_packer_choose(packer, type, &choice)) tg_packer_put(packer, type, &choice);
 */
#ifndef TG_CORE_PACK_PACKER_H
#define TG_CORE_PACK_PACKER_H

#include "controller/core/pack/mix.h"

struct tg_packer;
struct tg_pack_policy;

struct tg_pack_choice {
    uint32_t node;  /* its number: how many were added before it */
    uint16_t cards; /* set of indexes of its cards */
};

/* "fill", "whole", "mig", "fgd", "binpack", "spread"; "default" is what a user gets without
 * choosing. NULL if there is none of the name. */
const struct tg_pack_policy *tg_pack_policy(const char *name);
/* The names of all, ended by NULL. */
extern const char *const tg_pack_policy_names[];

struct tg_packer *tg_packer_new(const struct tg_pack_policy *policy); /* heap */
void tg_packer_free(struct tg_packer *packer);                        /* NULL is allowed */

/* Nodes are added in the order of their names, with everything free that will ever be. Returns the
 * node's number. Not after the first choice. */
uint32_t tg_packer_add_node(struct tg_packer *packer, const struct tg_pack_node *node);
const struct tg_pack_node *tg_packer_node(const struct tg_packer *packer, uint32_t number);
uint32_t tg_packer_nodes(const struct tg_packer *packer);

/* The number of the request's type; TG_MIX_NO_TYPE when there are TG_MIX_TYPES_MAX others. */
unsigned tg_packer_type(struct tg_packer *packer, const struct tg_pack_request *request);
/* The mix is known: `count` of this type in some period of time. Nothing is learned afterwards. */
void tg_packer_expect(struct tg_packer *packer, unsigned type, int64_t count);
/* A request has arrived, whether it will be placed or not; call it before the choice. */
void tg_packer_arrive(struct tg_packer *packer, unsigned type);

/* false: it fits nowhere. */
bool tg_packer_choose(struct tg_packer *packer, unsigned type, struct tg_pack_choice *ret);
void tg_packer_put(struct tg_packer *packer, unsigned type, const struct tg_pack_choice *choice);
void tg_packer_take(struct tg_packer *packer, unsigned type, const struct tg_pack_choice *choice);

/* A gang: members alike, all or none. */
struct tg_pack_gang {
    unsigned type; /* of each member */
    uint32_t members;
    bool together; /* in one domain; anywhere otherwise */
};

/* Puts the members one after another where the policy wants them, in the first domain, in the
 * policy's order, that holds all. false: nothing is put. `choices` has room for the members. */
bool tg_packer_put_gang(struct tg_packer *packer, const struct tg_pack_gang *gang,
                        struct tg_pack_choice *choices);

/* --- a fleet that changes by itself (live.c) --- */

/* What the policy thinks of a node; better ones are higher. */
struct tg_pack_rating {
    int64_t whole; /* what stays unbroken, whatever the policy (breakage.h) */
    int64_t value, tie;
    int64_t domain; /* of what is equal so far: the less room its domain has together, the better */
    int64_t last;
};

/* The mix changes while the packer is in use: from now on values by the mix before are computed
 * anew a few a choice, so that none takes long. Such a fleet lives: requests leave as well as come.
 * Before the first node. */
void tg_packer_be_patient(struct tg_packer *packer);
/* The mix is now this; of types that it had before the values are kept. The numbers of types are
 * those of the new mix. given: it is known, not learned. */
void tg_packer_set_mix(struct tg_packer *packer, const struct tg_mix *mix, bool given);
const struct tg_mix *tg_packer_mix(const struct tg_packer *packer);
/* So many of the type run now. */
void tg_packer_set_running(struct tg_packer *packer, unsigned type, int64_t running);
/* The node is now like this. residents: who is there (residents.h). */
void tg_packer_set_node(struct tg_packer *packer, uint32_t number, const struct tg_pack_node *node,
                        uint64_t residents);
uint64_t tg_packer_residents(const struct tg_packer *packer, uint32_t number);
/* Nodes of one class are alike. */
uint32_t tg_packer_class(const struct tg_packer *packer, uint32_t number);
/* The class keeps its number, with or without nodes, until it is let go. */
void tg_packer_pin(struct tg_packer *packer, uint32_t klass);
void tg_packer_unpin(struct tg_packer *packer, uint32_t klass);
/* A choice begins. */
void tg_packer_begin(struct tg_packer *packer);
/* false: by the numbers a request of the type does not fit there, and the rating is that of the
 * node as it is: the tightest is best. */
bool tg_packer_rate(struct tg_packer *packer, unsigned type, uint32_t klass,
                    struct tg_pack_rating *ret);
/* a is better than b. */
static inline bool tg_pack_rating_better(const struct tg_pack_rating *a,
                                         const struct tg_pack_rating *b)
{
    if (a->whole != b->whole)
        return a->whole > b->whole;
    if (a->value != b->value)
        return a->value > b->value;
    if (a->tie != b->tie)
        return a->tie > b->tie;
    return a->domain != b->domain ? a->domain > b->domain : a->last > b->last;
}
/* Is the emptiest domain the best one for a gang? */
bool tg_packer_spreads(const struct tg_packer *packer);

#endif
