/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gangs: 128 nodes of 8 cards as a loss system. Jobs of one or more members, each with some whole
 * cards, arrive at random in a mix, live for a random time of mean 1, and are lost when not all
 * members have room; with racks, when no rack of 16 nodes has room for all.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/defrag/empty.h"
#include "tests/bench/packing_random.h"
#include "tests/bench/packing_scenarios.h"

enum {
    MOVES_MAX = 32,
    PLAN_BYTES = 1 << 20,
    NODES = 128,
    CARDS = 8,
    RACK = 16,
    MEMBERS = 8,
    ALL = NODES * CARDS
};
static const double warm_up = 15, horizon = 60;

struct kind {
    uint32_t members;
    uint16_t cards;
    double weight;
};

static const struct mix {
    const char *name;
    struct kind kinds[16];
} mixes[] = {
    {"M0",
     {{1, 1, .60}, {1, 2, .10}, {1, 4, .10}, {1, 8, .10}, {2, 8, .05}, {4, 8, .03}, {8, 8, .02}}},
    {"M1",
     {{1, 1, .20}, {1, 2, .15}, {1, 4, .20}, {1, 8, .20}, {2, 8, .10}, {4, 8, .10}, {8, 8, .05}}},
    {"M2",
     {{1, 1, .15},
      {1, 2, .12},
      {1, 3, .10},
      {1, 4, .12},
      {1, 5, .06},
      {1, 6, .08},
      {1, 7, .04},
      {1, 8, .13},
      {2, 8, .06},
      {3, 8, .04},
      {4, 4, .05},
      {8, 2, .03},
      {4, 8, .02}}},
};

struct job {
    double end;
    const struct kind *kind;
    struct tg_pack_choice at[MEMBERS];
};

struct fleet {
    const struct settings *settings;
    const struct mix *mix;
    struct tg_packer *packer;
    unsigned types[16];   /* of the packer, one a kind */
    struct job jobs[ALL]; /* the first to end first */
    unsigned n;
    uint32_t used;
    /* Since the warm-up. */
    double used_time, whole_time;
    double asked, accepted, blocked, moves;
};

static struct tg_pack_request request_of(const struct kind *kind)
{
    return (struct tg_pack_request){
        .kinds = TG_PACK_ANY_KIND, .cards = kind->cards, .share = TG_PACK_CARD};
}

static struct tg_packer *new_fleet(const struct settings *settings)
{
    struct tg_packer *packer = tg_packer_new(find_policy(settings->policy));

    for (uint32_t i = 0; i < NODES; i++) {
        struct tg_pack_node node = {.cards = CARDS, .domain = settings->racks ? i / RACK : 0};

        for (unsigned k = 0; k < CARDS; k++)
            node.free[k] = TG_PACK_CARD;
        (void)tg_packer_add_node(packer, &node);
    }
    return packer;
}

static double weight_of(const struct mix *mix)
{
    double sum = 0;

    for (const struct kind *kind = mix->kinds; kind->members > 0; kind++)
        sum += kind->weight;
    return sum;
}

static double mean_cards(const struct mix *mix)
{
    double sum = 0;

    for (const struct kind *kind = mix->kinds; kind->members > 0; kind++)
        sum += kind->weight * kind->members * kind->cards;
    return sum / weight_of(mix);
}

static void swap(struct fleet *fleet, unsigned i, unsigned j)
{
    struct job job = fleet->jobs[i];

    fleet->jobs[i] = fleet->jobs[j];
    fleet->jobs[j] = job;
}

static void begin(struct fleet *fleet, const struct job *job)
{
    unsigned at = fleet->n++;

    fleet->used += job->kind->members * job->kind->cards;
    fleet->jobs[at] = *job;
    for (; at > 0 && fleet->jobs[(at - 1) / 2].end > fleet->jobs[at].end; at = (at - 1) / 2)
        swap(fleet, at, (at - 1) / 2);
}

static void end_first(struct fleet *fleet)
{
    const struct job *job = &fleet->jobs[0];

    fleet->used -= job->kind->members * job->kind->cards;
    for (uint32_t i = 0; fleet->packer != NULL && i < job->kind->members; i++)
        tg_packer_take(fleet->packer, fleet->types[job->kind - fleet->mix->kinds], &job->at[i]);
    swap(fleet, 0, --fleet->n);
    for (unsigned at = 0, child; (child = 2 * at + 1) < fleet->n; at = child) {
        if (child + 1 < fleet->n && fleet->jobs[child + 1].end < fleet->jobs[child].end)
            child++;
        if (fleet->jobs[child].end >= fleet->jobs[at].end)
            break;
        swap(fleet, at, child);
    }
}

static unsigned type_of(const struct fleet *fleet, const struct job *job)
{
    return fleet->types[job->kind - fleet->mix->kinds];
}

static bool in_one_rack(const struct fleet *fleet, const struct job *job)
{
    return fleet->settings->racks && job->kind->members > 1;
}

/* What a plan is made for: the fleet in its numbers. */
struct scene {
    uint16_t left[NODES];
    bool target[NODES];
    uint32_t domain[NODES];
    struct tg_empty_resident residents[ALL];
    struct tg_pack_choice *at[ALL]; /* of each resident */
    unsigned types[ALL];
    uint32_t n_residents;
};

static void see(struct fleet *fleet, struct scene *scene)
{
    for (uint32_t i = 0; i < NODES; i++) {
        const struct tg_pack_node *node = tg_packer_node(fleet->packer, i);

        scene->left[i] = (uint16_t)(tg_pack_node_free(node) / TG_PACK_CARD);
        scene->domain[i] = node->domain;
        scene->target[i] = true;
    }
    scene->n_residents = 0;
    for (unsigned i = 0; i < fleet->n; i++) {
        struct job *job = &fleet->jobs[i];

        for (uint32_t k = 0; k < job->kind->members; k++) {
            uint32_t r = scene->n_residents++;

            scene->at[r] = &job->at[k];
            scene->types[r] = type_of(fleet, job);
            scene->residents[r] = (struct tg_empty_resident){.node = job->at[k].node,
                                                             .cards = job->kind->cards,
                                                             .movable = true,
                                                             .stays = in_one_rack(fleet, job)};
        }
    }
}

/* The cheapest plan: anywhere, or in one of the racks. false: there is none. */
static bool plan(struct scene *scene, bool racks, const struct kind *kind, struct tg_arena *arena,
                 struct tg_empty_plan *ret)
{
    struct tg_empty_fleet fleet = {.left = scene->left,
                                   .target = scene->target,
                                   .domain = scene->domain,
                                   .n_nodes = NODES,
                                   .residents = scene->residents,
                                   .n_residents = scene->n_residents};
    struct tg_empty_want want = {
        .members = kind->members, .cards = kind->cards, .max_moves = MOVES_MAX};
    bool found = false;

    for (uint32_t rack = 0; rack < (racks ? NODES / RACK : 1); rack++) {
        struct tg_empty_plan plan;
        struct tg_error err = TG_ERROR_INIT;
        bool there = false;

        for (uint32_t i = 0; racks && i < NODES; i++)
            scene->target[i] = i / RACK == rack;
        if (tg_empty_plan(&fleet, &want, arena, &there, &plan, &err) < 0) {
            (void)fprintf(stderr, "bench_packing: %s\n", err.message);
            exit(2);
        }
        if (there && (!found || plan.n_moves < ret->n_moves ||
                      (plan.n_moves == ret->n_moves && plan.cards_moved < ret->cards_moved)))
            *ret = plan;
        found = found || there;
    }
    return found;
}

/* Moves others for the job. false: no moves help. */
static bool make_room(struct fleet *fleet, const struct job *job, bool counted)
{
    struct tg_arena *arena = tg_arena_new(PLAN_BYTES);
    struct scene scene;
    struct tg_empty_plan found = {.n_moves = 0};
    bool ok;

    see(fleet, &scene);
    ok = plan(&scene, in_one_rack(fleet, job), job->kind, arena, &found);
    for (uint32_t i = 0; ok && i < found.n_moves; i++) {
        struct tg_pack_choice *at = scene.at[found.moves[i].resident];
        unsigned type = scene.types[found.moves[i].resident];
        struct tg_pack_request request = {.kinds = TG_PACK_ANY_KIND,
                                          .cards = scene.residents[found.moves[i].resident].cards,
                                          .share = TG_PACK_CARD};

        tg_packer_take(fleet->packer, type, at);
        at->node = found.moves[i].to;
        at->cards = tg_pack_node_cards(tg_packer_node(fleet->packer, at->node), &request);
        tg_packer_put(fleet->packer, type, at);
    }
    if (ok && counted)
        fleet->moves += found.n_moves;
    tg_arena_free(arena);
    return ok;
}

static bool place(struct fleet *fleet, struct job *job, bool counted)
{
    unsigned type;
    struct tg_pack_gang gang;

    if (fleet->packer == NULL) /* the bound: all could be moved */
        return fleet->used + job->kind->members * job->kind->cards <= ALL;
    type = type_of(fleet, job);
    gang = (struct tg_pack_gang){
        .type = type, .members = job->kind->members, .together = in_one_rack(fleet, job)};
    tg_packer_arrive(fleet->packer, type);
    if (tg_packer_put_gang(fleet->packer, &gang, job->at))
        return true;
    return fleet->settings->moves && fleet->used + job->kind->members * job->kind->cards <= ALL &&
           make_room(fleet, job, counted) && tg_packer_put_gang(fleet->packer, &gang, job->at);
}

static void count_time(struct fleet *fleet, double from, double to)
{
    unsigned whole = 0;

    if (from <= warm_up)
        return;
    to = to < horizon ? to : horizon;
    for (uint32_t i = 0; fleet->packer != NULL && i < NODES; i++)
        whole += tg_pack_node_free(tg_packer_node(fleet->packer, i)) == CARDS * TG_PACK_CARD;
    fleet->used_time += fleet->used * (to - from);
    fleet->whole_time += whole * (to - from);
}

static const struct kind *draw(const struct mix *mix, double at)
{
    const struct kind *kind = mix->kinds;

    for (; kind[1].members > 0 && at >= kind->weight; kind++)
        at -= kind->weight;
    return kind;
}

static void arrive(struct fleet *fleet, struct job *job, bool counted)
{
    uint32_t cards = job->kind->members * job->kind->cards;
    bool room = fleet->used + cards <= ALL;
    bool placed = place(fleet, job, counted);

    if (placed)
        begin(fleet, job);
    fleet->asked += counted;
    fleet->accepted += counted && placed;
    fleet->blocked += counted && !placed && room;
}

static void play(struct fleet *fleet, unsigned seed)
{
    double weight = weight_of(fleet->mix), now = 0, next;
    double rate = fleet->settings->load * ALL / mean_cards(fleet->mix);
    struct packing_random random;

    packing_seed(&random, seed);
    next = -log(1 - packing_uniform(&random)) / rate;
    while (now < horizon) {
        bool ends = fleet->n > 0 && fleet->jobs[0].end <= next;
        double until = ends ? fleet->jobs[0].end : next;
        struct job job;

        count_time(fleet, now, until);
        now = until;
        if (ends) {
            end_first(fleet);
            continue;
        }
        job.kind = draw(fleet->mix, packing_uniform(&random) * weight);
        job.end = now - log(1 - packing_uniform(&random));
        next = now - log(1 - packing_uniform(&random)) / rate;
        arrive(fleet, &job, now > warm_up);
    }
    printf("{\"bench\":\"gangs\",\"mix\":\"%s\",\"racks\":%s,\"policy\":\"%s\",\"moves\":%s,"
           "\"load\":%.2f,\"seed\":%u,\"alloc\":%.2f,\"accepted\":%.2f,\"blocked\":%.2f,"
           "\"whole_nodes\":%.2f,\"moves_per_accept\":%.4f}\n",
           fleet->mix->name, fleet->settings->racks ? "true" : "false", fleet->settings->policy,
           fleet->settings->moves ? "true" : "false", fleet->settings->load, seed,
           100 * fleet->used_time / (horizon - warm_up) / ALL, 100 * fleet->accepted / fleet->asked,
           100 * fleet->blocked / fleet->asked, fleet->whole_time / (horizon - warm_up),
           fleet->moves / fleet->accepted);
    (void)fflush(stdout);
}

static const struct mix *find_mix(const char *name)
{
    for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
        if (strcmp(mixes[i].name, name) == 0)
            return &mixes[i];
    }
    (void)fprintf(stderr, "bench_packing: --mix is one of M0, M1, M2\n");
    return NULL;
}

static void expect(struct fleet *fleet)
{
    for (unsigned i = 0; fleet->mix->kinds[i].members > 0; i++) {
        const struct kind *kind = &fleet->mix->kinds[i];
        struct tg_pack_request request = request_of(kind);

        fleet->types[i] = tg_packer_type(fleet->packer, &request);
        if (!fleet->settings->learned)
            tg_packer_expect(fleet->packer, fleet->types[i],
                             lround(kind->weight * 100) * kind->members);
    }
}

int scenario_gangs(const struct settings *settings)
{
    const struct mix *mix = find_mix(settings->mix);
    bool bound = strcmp(settings->policy, "bound") == 0;

    if (mix == NULL)
        return 2;
    if (!bound && find_policy(settings->policy) == NULL) {
        (void)fprintf(stderr, "bench_packing: no policy %s\n", settings->policy);
        return 2;
    }
    for (unsigned seed = settings->first_seed; seed <= settings->last_seed; seed++) {
        struct fleet *fleet = tg_xcalloc(1, sizeof(*fleet));

        fleet->settings = settings;
        fleet->mix = mix;
        if (!bound) {
            fleet->packer = new_fleet(settings);
            expect(fleet);
        }
        play(fleet, seed);
        tg_packer_free(fleet->packer);
        free(fleet);
    }
    return 0;
}
