/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/fragment.h"

enum { TYPICAL_PERCENT = 95 };

static size_t find(const struct tg_fragment *fragment, const struct tg_pack_request *request)
{
    for (size_t i = 0; i < fragment->n; i++) {
        const struct tg_pack_request *other = &fragment->typical[i];

        if (other->cpu == request->cpu && other->cards == request->cards &&
            other->share == request->share && other->kinds == request->kinds)
            return i;
    }
    return fragment->n;
}

static void keep_most_frequent(struct tg_fragment *fragment, int64_t arrivals)
{
    const struct tg_fragment all = *fragment;
    unsigned order[TG_MIX_TYPES_MAX];

    for (unsigned i = 0; i < all.n; i++)
        order[i] = i;
    tg_mix_sort(order, all.n, all.weight);
    fragment->n = 0;
    fragment->total = 0;
    while (fragment->n < all.n && fragment->total * 100 < arrivals * TYPICAL_PERCENT) {
        unsigned from = order[fragment->n];

        fragment->typical[fragment->n] = all.typical[from];
        fragment->weight[fragment->n++] = all.weight[from];
        fragment->total += all.weight[from];
    }
}

void tg_fragment_set(struct tg_fragment *fragment, const struct tg_mix *mix)
{
    fragment->n = 0;
    for (size_t i = 0; i < mix->n; i++) {
        size_t at = find(fragment, &mix->types[i].request);

        if (mix->types[i].arrived == 0)
            continue;
        if (at == fragment->n) {
            fragment->typical[fragment->n] = mix->types[i].request;
            fragment->typical[fragment->n].memory = 0;
            fragment->weight[fragment->n++] = 0;
        }
        fragment->weight[at] += mix->types[i].arrived;
    }
    keep_most_frequent(fragment, mix->arrivals);
}

static int64_t unusable(const struct tg_pack_node *node, const struct tg_pack_request *request)
{
    int64_t small = 0, all = 0;
    unsigned enough = 0;

    for (unsigned i = 0; i < node->cards; i++) {
        bool usable = node->free[i] >= request->share && tg_pack_node_accepts(node, i, request);

        enough += usable;
        small += usable ? 0 : node->free[i];
        all += node->free[i];
    }
    if (request->cards == 0 || enough < request->cards || node->cpu < request->cpu)
        return all;
    return small;
}

int64_t tg_fragment_of(const struct tg_fragment *fragment, const struct tg_pack_node *node)
{
    int64_t sum = 0;

    for (size_t i = 0; i < fragment->n; i++)
        sum += fragment->weight[i] * unusable(node, &fragment->typical[i]);
    return sum;
}
