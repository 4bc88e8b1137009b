/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/mix.h"

unsigned tg_mix_type(struct tg_mix *mix, const struct tg_pack_request *request)
{
    for (unsigned i = 0; i < mix->n; i++) {
        if (tg_pack_request_equal(&mix->types[i].request, request))
            return i;
    }
    if (mix->n == TG_MIX_TYPES_MAX)
        return TG_MIX_NO_TYPE;
    mix->types[mix->n] = (struct tg_mix_type){.request = *request};
    return (unsigned)mix->n++;
}

void tg_mix_arrive(struct tg_mix *mix, unsigned type, int64_t times)
{
    mix->types[type].arrived += times;
    mix->arrivals += times;
}

int64_t tg_mix_demand(const struct tg_mix *mix)
{
    int64_t demand = 0;

    for (size_t i = 0; i < mix->n; i++)
        demand += mix->types[i].arrived * tg_pack_request_size(&mix->types[i].request);
    return demand;
}

void tg_mix_sort(unsigned *types, size_t n, const int64_t *weight)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (weight[types[j]] > weight[types[i]]) {
                unsigned t = types[i];

                types[i] = types[j];
                types[j] = t;
            }
        }
    }
}
