/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/node.h"

static unsigned untouched(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    unsigned n = 0;

    for (unsigned i = 0; i < node->cards; i++)
        n += node->free[i] == TG_PACK_CARD && tg_pack_node_accepts(node, i, request);
    return n;
}

bool tg_pack_node_fits(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    if (node->cpu < request->cpu || node->memory < request->memory)
        return false;
    if (!tg_pack_request_shares(request))
        return untouched(node, request) >= request->cards;
    for (unsigned i = 0; i < node->cards; i++) {
        if (tg_pack_node_has_room(node, i, request))
            return true;
    }
    return false;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t tg_pack_node_count(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    int64_t n = request->cards == 0 ? INT64_MAX : 0;

    if (tg_pack_request_shares(request)) {
        for (unsigned i = 0; i < node->cards; i++)
            n += tg_pack_node_has_room(node, i, request) ? node->free[i] / request->share : 0;
    } else if (request->cards > 0) {
        n = untouched(node, request) / request->cards;
    }
    if (n > 0 && request->cpu > 0)
        n = least(n, node->cpu / request->cpu);
    if (n > 0 && request->memory > 0)
        n = least(n, node->memory / request->memory);
    return n;
}

int64_t tg_pack_node_free(const struct tg_pack_node *node)
{
    int64_t n = 0;

    for (unsigned i = 0; i < node->cards; i++)
        n += node->free[i];
    return n;
}

static uint16_t least_sufficient(const struct tg_pack_node *node,
                                 const struct tg_pack_request *request)
{
    unsigned best = TG_PACK_CARDS_MAX;

    for (unsigned i = 0; i < node->cards; i++) {
        if (tg_pack_node_has_room(node, i, request) &&
            (best == TG_PACK_CARDS_MAX || node->free[i] < node->free[best]))
            best = i;
    }
    return best == TG_PACK_CARDS_MAX ? 0 : (uint16_t)(1U << best);
}

uint16_t tg_pack_node_cards(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    uint16_t cards = 0;
    unsigned left = request->cards;

    if (tg_pack_request_shares(request))
        return least_sufficient(node, request);
    for (unsigned i = 0; i < node->cards && left > 0; i++) {
        if (node->free[i] == TG_PACK_CARD && tg_pack_node_accepts(node, i, request)) {
            cards = (uint16_t)(cards | 1U << i);
            left--;
        }
    }
    return cards;
}

/* sign -1: put, +1: take away */
static void change(struct tg_pack_node *node, const struct tg_pack_request *request, uint16_t cards,
                   int sign)
{
    node->cpu += sign * request->cpu;
    node->memory += sign * request->memory;
    for (unsigned i = 0; i < node->cards; i++) {
        if ((cards >> i & 1) != 0)
            node->free[i] = (uint16_t)(node->free[i] + sign * request->share);
    }
}

/* Of the sizes of partitions that a card had places for those remain that what is left of it is
 * enough for: at least those. */
static void close_places(struct tg_pack_node *node, unsigned card)
{
    for (unsigned place = 0; place < TG_PACK_PLACES; place++) {
        if (node->free[card] < (TG_PACK_CARD >> (TG_PACK_PLACES - 1)) << place)
            node->open &= ~(UINT64_C(1) << (TG_PACK_PLACES * card + place));
    }
}

void tg_pack_node_put(struct tg_pack_node *node, const struct tg_pack_request *request,
                      uint16_t cards)
{
    change(node, request, cards, -1);
    for (unsigned i = 0; node->open != 0 && i < node->cards; i++) {
        if ((cards >> i & 1) != 0)
            close_places(node, i);
    }
}

void tg_pack_node_take(struct tg_pack_node *node, const struct tg_pack_request *request,
                       uint16_t cards)
{
    change(node, request, cards, 1);
}

#define OPEN ((UINT64_C(1) << TG_PACK_PLACES) - 1)

static unsigned open_of(const struct tg_pack_node *node, unsigned card)
{
    return (unsigned)(node->open >> (TG_PACK_PLACES * card) & OPEN);
}

static void set_open(struct tg_pack_node *node, unsigned card, unsigned open)
{
    node->open &= ~(OPEN << (TG_PACK_PLACES * card));
    node->open |= (uint64_t)open << (TG_PACK_PLACES * card);
}

/* Is the card behind one like this? */
static bool is_after(const struct tg_pack_node *node, unsigned card, uint8_t kind, uint16_t milli,
                     unsigned open)
{
    if (node->kind[card] != kind)
        return node->kind[card] > kind;
    return node->free[card] != milli ? node->free[card] > milli : open_of(node, card) > open;
}

struct tg_pack_node tg_pack_node_sorted(const struct tg_pack_node *node)
{
    struct tg_pack_node out = *node;

    for (unsigned i = 1; i < out.cards; i++) {
        uint16_t milli = out.free[i];
        uint8_t kind = out.kind[i];
        unsigned open = open_of(&out, i), j = i;

        for (; j > 0 && is_after(&out, j - 1, kind, milli, open); j--) {
            out.free[j] = out.free[j - 1];
            out.kind[j] = out.kind[j - 1];
            set_open(&out, j, open_of(&out, j - 1));
        }
        out.free[j] = milli;
        out.kind[j] = kind;
        set_open(&out, j, open);
    }
    return out;
}

bool tg_pack_node_equal(const struct tg_pack_node *a, const struct tg_pack_node *b)
{
    if (a->cpu != b->cpu || a->memory != b->memory || a->mark != b->mark ||
        a->domain != b->domain || a->cards != b->cards || a->open != b->open)
        return false;
    for (unsigned i = 0; i < a->cards; i++) {
        if (a->free[i] != b->free[i] || a->kind[i] != b->kind[i])
            return false;
    }
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9E3779B97F4A7C15U + (hash << 6) + (hash >> 2);
    hash *= 0xBF58476D1CE4E5B9U;
    return hash ^ hash >> 29;
}

uint64_t tg_pack_node_hash(const struct tg_pack_node *node)
{
    uint64_t hash = mix(node->cards, (uint64_t)node->cpu);

    hash = mix(hash, (uint64_t)node->memory);
    hash = mix(hash, node->mark);
    hash = mix(hash, node->domain);
    if (node->open != 0)
        hash = mix(hash, node->open);
    for (unsigned i = 0; i < node->cards; i++)
        hash = mix(hash, (uint64_t)node->kind[i] << 16 | node->free[i]);
    return hash;
}
