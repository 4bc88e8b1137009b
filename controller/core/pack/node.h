/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a packing policy sees of a node, and what may be put on it: cpu, memory and cards whose
 * capacity is counted in milli-cards. Kinds of cards are small numbers; a request accepts a set of
 * them. Pure arithmetic; nothing here knows of API objects.
 */
#ifndef TG_CORE_PACK_NODE_H
#define TG_CORE_PACK_NODE_H

#include <stdbool.h>
#include <stdint.h>

#define TG_PACK_CARDS_MAX 16
#define TG_PACK_CARD 1000 /* milli: a whole card */
#define TG_PACK_KINDS_MAX 64
#define TG_PACK_ANY_KIND UINT64_MAX
#define TG_PACK_DOMAINS_MAX 4096
#define TG_PACK_ANY_DOMAIN UINT32_MAX

struct tg_pack_request {
    int64_t cpu;    /* milli */
    int64_t memory; /* MiB */
    uint64_t kinds; /* a bit for each kind of card that will do */
    uint16_t cards; /* 0: a pod without devices */
    uint16_t share; /* milli of each card; several cards are always whole ones */
    /* Of a partition: it needs an open place of this size, tg_pack_node.open; 0: none. */
    uint8_t place;
};

struct tg_pack_node {
    int64_t cpu, memory; /* what is left */
    /* Room for a policy's own mark; nodes of different marks are never taken for alike. */
    uint64_t mark;
    uint32_t domain; /* of the topology level that gangs are kept together in; below
                        TG_PACK_DOMAINS_MAX */
    uint16_t free[TG_PACK_CARDS_MAX]; /* milli left of each card */
    uint8_t kind[TG_PACK_CARDS_MAX];
    uint8_t cards;
    /* TG_PACK_PLACES bits a card: sizes of partitions that still have a place on it. */
    uint64_t open;
};

#define TG_PACK_PLACES 4 /* of 1, 2, 4 and 8 memory slices: the places 1 to 4 of a request */

static inline bool tg_pack_request_equal(const struct tg_pack_request *a,
                                         const struct tg_pack_request *b)
{
    return a->cpu == b->cpu && a->memory == b->memory && a->kinds == b->kinds &&
           a->cards == b->cards && a->share == b->share && a->place == b->place;
}

/* Does the request want a part of one card? */
static inline bool tg_pack_request_shares(const struct tg_pack_request *request)
{
    return request->cards == 1 && request->share < TG_PACK_CARD;
}

/* Milli-cards that the request uses. */
static inline int64_t tg_pack_request_size(const struct tg_pack_request *request)
{
    return (int64_t)request->cards * request->share;
}

static inline bool tg_pack_node_accepts(const struct tg_pack_node *node, unsigned card,
                                        const struct tg_pack_request *request)
{
    return (request->kinds >> node->kind[card] & 1) != 0;
}

/* Is there room on that card for the request, which wants a part of one? */
static inline bool tg_pack_node_has_room(const struct tg_pack_node *node, unsigned card,
                                         const struct tg_pack_request *request)
{
    return node->free[card] >= request->share && tg_pack_node_accepts(node, card, request) &&
           (request->place == 0 ||
            (node->open >> (TG_PACK_PLACES * card + request->place - 1U) & 1) != 0);
}

/* Does the request fit on what is left? */
bool tg_pack_node_fits(const struct tg_pack_node *node, const struct tg_pack_request *request);

/* How many of the request fit at once, one beside the other. */
int64_t tg_pack_node_count(const struct tg_pack_node *node, const struct tg_pack_request *request);

/* Milli-cards left on the node. */
int64_t tg_pack_node_free(const struct tg_pack_node *node);

/* The cards that the request gets, as a set of indexes: of a share the least sufficient one, of
 * whole cards the first untouched ones. The request must fit. */
uint16_t tg_pack_node_cards(const struct tg_pack_node *node, const struct tg_pack_request *request);

/* Puts the request on these cards, and takes it away again. */
void tg_pack_node_put(struct tg_pack_node *node, const struct tg_pack_request *request,
                      uint16_t cards);
void tg_pack_node_take(struct tg_pack_node *node, const struct tg_pack_request *request,
                       uint16_t cards);

/* The same node with its cards in one order, by kind, then by what is left: nodes that differ only
 * in the order of their cards are alike. */
struct tg_pack_node tg_pack_node_sorted(const struct tg_pack_node *node);
bool tg_pack_node_equal(const struct tg_pack_node *a, const struct tg_pack_node *b);
/* Of a sorted node. */
uint64_t tg_pack_node_hash(const struct tg_pack_node *node);

#endif
