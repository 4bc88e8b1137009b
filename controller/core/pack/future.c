/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/pack/future.h"

#define HORIZON 2       /* times what is left of the node, with turnover */
#define MEMO_SIZE 65536 /* a power of two; one place a hash, the newest value stays */

struct memo {
    struct tg_pack_node node;
    int64_t value;
    uint64_t draw; /* of which drawing; 0: empty */
};

struct tg_future {
    struct tg_pack_request sequence[TG_FUTURE_SEQUENCES][TG_FUTURE_LENGTH];
    bool any, turnover;
    uint64_t draw;
    struct memo memo[MEMO_SIZE];
};

struct tg_future *tg_future_new(void)
{
    return tg_xcalloc(1, sizeof(struct tg_future));
}

void tg_future_free(struct tg_future *future)
{
    free(future);
}

/* Marsaglia's xorshift64. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The first type whose share of the arrivals, counted from the first type on, exceeds the drawn
 * 53-bit fraction of them all. */
static unsigned draw_type(const struct tg_mix *mix, int64_t total, uint64_t *state)
{
    unsigned __int128 wanted = (unsigned __int128)(next(state) >> 11) * (uint64_t)total;
    int64_t seen = 0;
    unsigned last = 0;

    for (unsigned i = 0; i < mix->n; i++) {
        if (mix->types[i].request.cards == 0 || mix->types[i].arrived == 0)
            continue;
        last = i;
        seen += mix->types[i].arrived;
        if (((unsigned __int128)(uint64_t)seen << 53) > wanted)
            return i;
    }
    return last;
}

void tg_future_set_turnover(struct tg_future *future, bool turnover)
{
    future->turnover = turnover;
}

void tg_future_draw(struct tg_future *future, const struct tg_mix *mix)
{
    uint64_t state = 88172645463325252U;
    int64_t total = 0;

    for (size_t i = 0; i < mix->n; i++)
        total += mix->types[i].request.cards > 0 ? mix->types[i].arrived : 0;
    future->draw++;
    future->any = total > 0;
    for (unsigned r = 0; future->any && r < TG_FUTURE_SEQUENCES; r++) {
        for (unsigned l = 0; l < TG_FUTURE_LENGTH; l++)
            future->sequence[r][l] = mix->types[draw_type(mix, total, &state)].request;
    }
}

/* most: when so many milli-cards have been asked for, the sequence ends. */
static int64_t play(const struct tg_pack_request *sequence, struct tg_pack_node node, int64_t free,
                    int64_t most)
{
    int64_t left = free, asked = 0;

    for (unsigned i = 0; i < TG_FUTURE_LENGTH && left > 0 && asked < most; i++) {
        const struct tg_pack_request *request = &sequence[i];
        uint16_t cards;

        asked += tg_pack_request_size(request);
        if (request->cpu > node.cpu || request->memory > node.memory)
            continue;
        if (!tg_pack_node_fits(&node, request))
            continue;
        cards = tg_pack_node_cards(&node, request);
        tg_pack_node_put(&node, request, cards);
        left -= tg_pack_request_size(request);
    }
    return free - left;
}

int64_t tg_future_value(struct tg_future *future, const struct tg_pack_node *node)
{
    struct memo *memo = &future->memo[tg_pack_node_hash(node) & (MEMO_SIZE - 1)];
    int64_t free = tg_pack_node_free(node);
    int64_t most = future->turnover ? HORIZON * free : INT64_MAX;
    int64_t sum = 0;

    if (!future->any || free == 0)
        return 0;
    if (memo->draw == future->draw && tg_pack_node_equal(&memo->node, node))
        return memo->value;
    for (unsigned r = 0; r < TG_FUTURE_SEQUENCES; r++)
        sum += play(future->sequence[r], *node, free, most);
    *memo = (struct memo){.node = *node, .value = sum, .draw = future->draw};
    return sum;
}
