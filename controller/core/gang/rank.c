/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/rank.h"

#include <string.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/vec.h"
#include "controller/core/gang/ledger.h"
#include "controller/core/gang/memory.h"
#include "controller/core/model/news.h"
#include "controller/core/pack/residents.h"

#define DEFAULT_POLICY "default"

struct put { /* a node before something was put there for the time being */
    size_t row;
    uint32_t klass;
    struct tg_pack_node node;
    uint64_t residents;
};

struct tg_rank {
    const struct tg_fleet *fleet;
    const struct tg_pack_policy *policy;
    struct tg_packer *packer; /* its nodes are the rows of the fleet */
    struct tg_news_reader reader;
    uint64_t version;        /* of the classes */
    uint64_t kinds_version;  /* of the numbering that its nodes have */
    uint64_t ledger_version; /* of the mix */
    /* What runs, as the nodes tell it: residents of each number of whole cards, and milli-cards of
     * those cards that are given away in part. */
    int64_t residents[TG_PACK_CARDS_MAX + 1], parts;
    bool changed; /* since the packer was told */
    TG_VEC(struct put) puts;
};

static void free_rank(void *data)
{
    struct tg_rank *rank = data;

    tg_packer_free(rank->packer);
    TG_VEC_DONE(&rank->puts);
    free(rank);
}

static void free_ranks(void *data)
{
    tg_map_free(data);
}

/* --- up to date ------------------------------------------------------------------------------- */

static void count(struct tg_rank *rank, size_t row, int by)
{
    const struct tg_pack_node *node = tg_packer_node(rank->packer, (uint32_t)row);
    uint64_t residents = tg_packer_residents(rank->packer, (uint32_t)row);

    for (unsigned i = 1; residents != 0 && i <= TG_PACK_CARDS_MAX; i++)
        rank->residents[i] += by * (int64_t)tg_residents_count(residents, i);
    for (unsigned i = 0; i < node->cards; i++)
        rank->parts += by * (node->free[i] == 0 ? 0 : TG_PACK_CARD - node->free[i]);
}

static void refresh(struct tg_rank *rank, const struct tg_kinds *kinds, size_t row)
{
    struct tg_pack_node node;
    uint64_t residents;

    tg_kinds_node(kinds, row, &node, &residents);
    count(rank, row, -1);
    tg_packer_set_node(rank->packer, (uint32_t)row, &node, residents);
    count(rank, row, 1);
    rank->changed = true;
}

/* Rows that the packer does not know. */
static void make_room(struct tg_rank *rank, const struct tg_kinds *kinds)
{
    for (size_t i = tg_packer_nodes(rank->packer); i < rank->fleet->n_nodes; i++) {
        struct tg_pack_node empty;

        tg_kinds_empty(kinds, i, &empty);
        (void)tg_packer_add_node(rank->packer, &empty);
        refresh(rank, kinds, i);
    }
}

static void rebuild(struct tg_rank *rank, const struct tg_kinds *kinds)
{
    tg_packer_free(rank->packer);
    rank->packer = tg_packer_new(rank->policy);
    tg_packer_be_patient(rank->packer);
    memset(rank->residents, 0, sizeof(rank->residents));
    rank->parts = 0;
    make_room(rank, kinds);
    rank->version++;
    rank->ledger_version = UINT64_MAX;
}

static void read_mix(struct tg_rank *rank)
{
    struct tg_mix *mix = tg_xcalloc(1, sizeof(*mix));
    bool given = tg_ledger_mix(rank->fleet, mix);

    tg_packer_set_mix(rank->packer, mix, given);
    free(mix);
}

/* Nodes tell how many have so many cards, not who of those that ask for so many: they share by how
 * often they come. Of parts only the sum is known. */
static void tell_running(struct tg_rank *rank)
{
    const struct tg_mix *mix = tg_packer_mix(rank->packer);
    int64_t whole[TG_PACK_CARDS_MAX + 1] = {0}, part = 0;

    for (unsigned i = 0; i < mix->n; i++) {
        const struct tg_mix_type *type = &mix->types[i];

        if (tg_pack_request_shares(&type->request))
            part += type->arrived * type->request.share;
        else
            whole[type->request.cards] += type->arrived;
    }
    for (unsigned i = 0; i < mix->n; i++) {
        const struct tg_mix_type *type = &mix->types[i];
        bool shares = tg_pack_request_shares(&type->request);
        int64_t all = shares ? part : whole[type->request.cards];
        int64_t run = shares ? rank->parts : rank->residents[type->request.cards];

        tg_packer_set_running(rank->packer, i,
                              all == 0 || type->request.cards == 0
                                  ? 0
                                  : (int64_t)((__int128)run * type->arrived / all));
    }
    rank->changed = false;
}

static void bring_up_to_date(struct tg_rank *rank)
{
    uint64_t kinds_version, version;
    const struct tg_kinds *kinds = tg_ledger_kinds(rank->fleet, &kinds_version);
    bool known = tg_news_open(rank->fleet, &rank->reader) && rank->packer != NULL &&
                 kinds_version == rank->kinds_version;
    size_t row;

    rank->kinds_version = kinds_version;
    if (known)
        make_room(rank, kinds);
    while ((row = tg_news_next(rank->fleet, &rank->reader)) != TG_NO_INDEX) {
        if (known)
            refresh(rank, kinds, row);
    }
    if (!known)
        rebuild(rank, kinds);
    version = tg_ledger_version(rank->fleet);
    if (version != rank->ledger_version)
        read_mix(rank);
    if (version != rank->ledger_version || rank->changed)
        tell_running(rank);
    rank->ledger_version = version;
}

struct tg_rank *tg_rank_get(const struct tg_fleet *fleet, const char *policy)
{
    void **kept = tg_memory_of(fleet, TG_MEMORY_RANKS, free_ranks);
    const struct tg_pack_policy *known;
    struct tg_rank *rank;

    if (policy == NULL)
        policy = DEFAULT_POLICY;
    if (*kept == NULL)
        *kept = tg_map_new(free_rank);
    known = tg_pack_policy(policy);
    if (known == NULL)
        known = tg_pack_policy(policy = DEFAULT_POLICY);
    rank = tg_map_get(*kept, policy);
    if (rank == NULL) {
        rank = tg_xcalloc(1, sizeof(*rank));
        rank->fleet = fleet;
        rank->policy = known;
        tg_map_set(*kept, policy, rank);
    }
    bring_up_to_date(rank);
    tg_packer_begin(rank->packer);
    return rank;
}

/* --- questions -------------------------------------------------------------------------------- */

uint64_t tg_rank_version(const struct tg_rank *rank)
{
    return rank->version;
}

uint32_t tg_rank_class(const struct tg_rank *rank, size_t row)
{
    return tg_packer_class(rank->packer, (uint32_t)row);
}

unsigned tg_rank_type(struct tg_rank *rank, const struct tg_pack_request *request)
{
    return tg_packer_type(rank->packer, request);
}

void tg_rank_rate(struct tg_rank *rank, unsigned type, uint32_t klass, struct tg_pack_rating *ret)
{
    (void)tg_packer_rate(rank->packer, type, klass, ret);
}

const struct tg_mix *tg_rank_mix(const struct tg_rank *rank)
{
    return tg_packer_mix(rank->packer);
}

bool tg_rank_spreads(const struct tg_rank *rank)
{
    return tg_packer_spreads(rank->packer);
}

/* --- for the time being ----------------------------------------------------------------------- */

static int64_t less(int64_t all, int64_t part)
{
    return all > part ? all - part : 0;
}

void tg_rank_put(struct tg_rank *rank, size_t row, unsigned type)
{
    struct tg_pack_node node = *tg_packer_node(rank->packer, (uint32_t)row);
    uint64_t residents = tg_packer_residents(rank->packer, (uint32_t)row);
    const struct tg_pack_request *request;

    if (type == TG_MIX_NO_TYPE)
        return;
    request = &tg_packer_mix(rank->packer)->types[type].request;
    *TG_VEC_PUSH(&rank->puts) = (struct put){
        .row = row, .klass = tg_rank_class(rank, row), .node = node, .residents = residents};
    tg_packer_pin(rank->packer, tg_rank_class(rank, row));
    if (tg_pack_node_fits(&node, request)) {
        tg_pack_node_put(&node, request, tg_pack_node_cards(&node, request));
        residents = tg_residents_add(residents, request, 1);
    } else {
        node.cpu = less(node.cpu, request->cpu);
        node.memory = less(node.memory, request->memory);
    }
    tg_packer_set_node(rank->packer, (uint32_t)row, &node, residents);
}

void tg_rank_take_all(struct tg_rank *rank)
{
    while (rank->puts.n > 0) {
        const struct put *put = &rank->puts.items[--rank->puts.n];

        tg_packer_set_node(rank->packer, (uint32_t)put->row, &put->node, put->residents);
        tg_packer_unpin(rank->packer, put->klass);
    }
}
