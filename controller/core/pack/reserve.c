/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "controller/core/pack/reserve.h"

#define ONE ((int64_t)1 << TG_RESERVE_FRACTION)

/* In thousandths. */
enum {
    BETA = 500,
    COST_FROM = 500, /* w0 */
    COST_TO = 1200,  /* w1 */
    PRESSURE_FROM = 300,
    PRESSURE_TO = 700,
};

enum { SCARCE_FACTOR = 4 }; /* f at full pressure */
enum { SPECIAL_PART = 20 }; /* one part of the demand */

static bool names_kinds(const struct tg_pack_request *request)
{
    return request->kinds != TG_PACK_ANY_KIND;
}

static bool is_special(const struct tg_mix_type *type)
{
    return type->arrived > 0 && type->request.cards > 0 &&
           (type->request.cards >= 2 || names_kinds(&type->request));
}

bool tg_reserve_fights(const struct tg_mix *mix)
{
    int64_t special = 0, demand = tg_mix_demand(mix);

    for (size_t i = 0; i < mix->n; i++) {
        if (is_special(&mix->types[i]))
            special += mix->types[i].arrived * tg_pack_request_size(&mix->types[i].request);
    }
    return special * SPECIAL_PART < demand;
}

static void add_priors(struct tg_reserve *reserve, const struct tg_reserve_fleet *fleet,
                       int64_t permille)
{
    for (size_t i = 0; i < fleet->n_shapes; i++) {
        const struct tg_reserve_shape *shape = &fleet->shapes[i];

        if (shape->node.cards < 2)
            continue;
        reserve->special[reserve->n++] = (struct tg_reserve_special){
            .request = {.cpu = shape->node.cpu * 9 / 10,
                        .memory = shape->node.memory * 9 / 10,
                        .kinds = TG_PACK_ANY_KIND,
                        .cards = shape->node.cards,
                        .share = TG_PACK_CARD},
            .type = TG_MIX_NO_TYPE,
            .scarcity = ONE,
            .expected = shape->nodes * permille * ONE / 1000,
        };
    }
}

void tg_reserve_count(const struct tg_reserve *reserve, const struct tg_pack_node *node,
                      uint16_t *counts)
{
    for (unsigned i = 0; i < reserve->n; i++)
        counts[i] = (uint16_t)tg_pack_node_count(node, &reserve->special[i].request);
}

void tg_reserve_add(struct tg_reserve *reserve, const uint16_t *counts, int64_t nodes)
{
    for (unsigned i = 0; i < reserve->n; i++)
        reserve->special[i].places += counts[i] * nodes;
}

/* floor(sqrt(value)) */
static uint64_t square_root(unsigned __int128 value)
{
    unsigned __int128 root = 0, bit = (unsigned __int128)1 << 126;

    while (bit > value)
        bit >>= 2;
    for (; bit != 0; bit >>= 2) {
        if (value >= root + bit) {
            value -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint64_t)root;
}

/* Milli-cards of the nodes of these kinds. */
static int64_t capacity_of(const struct tg_reserve_fleet *fleet, uint64_t kinds)
{
    int64_t sum = 0;

    if (kinds == TG_PACK_ANY_KIND)
        return fleet->total;
    for (unsigned i = 0; i < TG_PACK_KINDS_MAX; i++)
        sum += (kinds >> i & 1) != 0 ? fleet->capacity[i] : 0;
    return sum;
}

/* The type's part of the demand, of the whole capacity, in milli-cards with fraction. */
static __int128 expected_size(const struct tg_mix_type *type, int64_t demand, int64_t capacity)
{
    return ((__int128)type->arrived * tg_pack_request_size(&type->request) * capacity
            << TG_RESERVE_FRACTION) /
           demand;
}

/* f with fraction: how much the kinds that the type names are asked for by name. */
static int64_t scarcity(const struct tg_reserve *reserve, const struct tg_mix *mix,
                        const struct tg_reserve_fleet *fleet, const struct tg_pack_request *request)
{
    int64_t own = capacity_of(fleet, request->kinds), demand = tg_mix_demand(mix);
    __int128 asked = 0;
    __int128 pressure;

    if (own == 0 || demand == 0 || request->cards > 1)
        return ONE;
    for (unsigned i = 0; i < reserve->n; i++) {
        const struct tg_reserve_special *other = &reserve->special[i];
        int64_t of = capacity_of(fleet, other->request.kinds);
        int64_t common = capacity_of(fleet, other->request.kinds & request->kinds);

        if (other->type == TG_MIX_NO_TYPE || !names_kinds(&other->request) ||
            other->request.cards > 1 || common == 0)
            continue;
        asked += expected_size(&mix->types[other->type], demand, fleet->total) * common / of;
    }
    pressure = asked / own; /* with fraction */
    if (pressure * 1000 <= PRESSURE_FROM * ONE)
        return ONE;
    if (pressure * 1000 >= PRESSURE_TO * ONE)
        return SCARCE_FACTOR * ONE;
    return ONE + (int64_t)((SCARCE_FACTOR - 1) * (pressure * 1000 - PRESSURE_FROM * ONE) /
                           (PRESSURE_TO - PRESSURE_FROM));
}

void tg_reserve_choose(struct tg_reserve *reserve, const struct tg_mix *mix,
                       const struct tg_reserve_fleet *fleet, int64_t prior_permille)
{
    unsigned order[TG_MIX_TYPES_MAX];
    int64_t demand[TG_MIX_TYPES_MAX] = {0};
    size_t n = 0;

    for (unsigned i = 0; i < mix->n; i++) {
        demand[i] = mix->types[i].arrived * tg_pack_request_size(&mix->types[i].request);
        if (is_special(&mix->types[i]) ||
            (reserve->all && mix->types[i].arrived > 0 && mix->types[i].request.cards > 0))
            order[n++] = i;
    }
    tg_mix_sort(order, n, demand);
    reserve->n = 0;
    for (size_t i = 0; i < n && i < TG_RESERVE_TYPES; i++)
        reserve->special[reserve->n++] =
            (struct tg_reserve_special){.request = mix->types[order[i]].request, .type = order[i]};
    for (unsigned i = 0; i < reserve->n; i++)
        reserve->special[i].scarcity = scarcity(reserve, mix, fleet, &reserve->special[i].request);
    if (prior_permille > 0)
        add_priors(reserve, fleet, prior_permille);
}

static int64_t need_of(const struct tg_reserve_special *special, const struct tg_mix *mix,
                       const struct tg_reserve_fleet *fleet, int64_t demand)
{
    const struct tg_mix_type *type;
    int64_t expected, need;

    if (special->type == TG_MIX_NO_TYPE)
        return special->expected;
    if (demand == 0)
        return 0;
    type = &mix->types[special->type];
    expected =
        (int64_t)(expected_size(type, demand, fleet->total) / tg_pack_request_size(&type->request));
    need = expected - type->running * ONE;
    if (type->request.cards > 1)
        need += (int64_t)square_root((unsigned __int128)expected << TG_RESERVE_FRACTION);
    return need > 0 ? need : 0;
}

void tg_reserve_price(struct tg_reserve *reserve, const struct tg_mix *mix,
                      const struct tg_reserve_fleet *fleet)
{
    int64_t demand = tg_mix_demand(mix);

    for (unsigned i = 0; i < reserve->n; i++) {
        struct tg_reserve_special *special = &reserve->special[i];
        __int128 need = (__int128)need_of(special, mix, fleet, demand) * special->scarcity / ONE;

        special->price = (int64_t)(need / (special->places > 0 ? special->places : 1));
    }
}

int64_t tg_reserve_cost(const struct tg_reserve *reserve, int64_t size,
                        const struct tg_reserve_loss *losses, size_t n_losses)
{
    __int128 destroyed = 0, cost;
    int64_t most = size;

    for (size_t i = 0; i < n_losses; i++) {
        const struct tg_reserve_special *special = &reserve->special[losses[i].special];
        int64_t lost = losses[i].places * tg_pack_request_size(&special->request);

        destroyed += (__int128)special->price * lost;
        most = lost > most ? lost : most;
    }
    if (destroyed == 0)
        return 0;
    cost = (destroyed * 1000 - (__int128)most * COST_FROM * ONE) / (COST_TO - COST_FROM);
    if (cost < 0)
        cost = 0;
    if (cost > (__int128)most * ONE)
        cost = (__int128)most * ONE;
    return (int64_t)(cost * BETA / 1000);
}
