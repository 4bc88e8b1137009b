/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig: a fleet of partitioned cards as a loss system. Instances of the profiles arrive at random in
 * the mix of a distribution, live for a random time of mean 1, and are lost when no card has room.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/defrag/slice.h"
#include "tests/bench/packing_random.h"
#include "tests/bench/packing_scenarios.h"

enum { CARDS = 100 };
static const double warm_up = 15, horizon = 60;

/* Weights of the profiles, the smallest first, for cards of six and of three profiles. */
static const struct distribution {
    const char *name;
    double six[6], three[3];
} distributions[] = {
    {"uniform", {1, 1, 1, 1, 1, 1}, {1, 1, 1}},
    {"small", {.30, .25, .20, .10, .10, .05}, {.60, .30, .10}},
    {"big", {.05, .10, .10, .20, .25, .30}, {.10, .30, .60}},
    {"bimodal", {.30, .15, .05, .05, .15, .30}, {.45, .10, .45}},
};

struct fleet {
    const struct tg_partition *partition;
    const double *weights;
    double total_weight, mean_slices;
    uint8_t masks[CARDS];
    /* Instances and when they end, the first one first. */
    struct tg_partition_instance instances[CARDS * 8];
    double ends[CARDS * 8];
    unsigned n;
    unsigned used; /* memory slices */
    double used_time, asked, accepted, moves;
};

static void swap(struct fleet *fleet, unsigned i, unsigned j)
{
    struct tg_partition_instance instance = fleet->instances[i];
    double end = fleet->ends[i];

    fleet->instances[i] = fleet->instances[j];
    fleet->ends[i] = fleet->ends[j];
    fleet->instances[j] = instance;
    fleet->ends[j] = end;
}

static void set_window(struct fleet *fleet, const struct tg_partition_instance *instance, bool on)
{
    uint8_t window = tg_partition_window(fleet->partition, instance->profile, instance->start);

    if (on)
        fleet->masks[instance->card] |= window;
    else
        fleet->masks[instance->card] &= (uint8_t)~window;
}

static void end_first(struct fleet *fleet)
{
    set_window(fleet, &fleet->instances[0], false);
    fleet->used -= fleet->partition->profiles[fleet->instances[0].profile]->memory_slices;
    swap(fleet, 0, --fleet->n);
    for (unsigned at = 0, child; (child = 2 * at + 1) < fleet->n; at = child) {
        if (child + 1 < fleet->n && fleet->ends[child + 1] < fleet->ends[child])
            child++;
        if (fleet->ends[child] >= fleet->ends[at])
            break;
        swap(fleet, at, child);
    }
}

static void begin(struct fleet *fleet, struct tg_partition_instance instance, double end)
{
    unsigned at = fleet->n++;

    set_window(fleet, &instance, true);
    fleet->used += fleet->partition->profiles[instance.profile]->memory_slices;
    fleet->instances[at] = instance;
    fleet->ends[at] = end;
    for (; at > 0 && fleet->ends[(at - 1) / 2] > fleet->ends[at]; at = (at - 1) / 2)
        swap(fleet, at, (at - 1) / 2);
}

/* Where a baseline puts it: the first card (`firstfit`) or the one with most in use. */
static bool place_plain(const struct fleet *fleet, const char *policy, unsigned profile,
                        struct tg_partition_instance *ret)
{
    int most = -1;

    for (unsigned i = 0; i < CARDS; i++) {
        int used = __builtin_popcount(fleet->masks[i]);

        if (used <= most)
            continue;
        for (uint8_t start = 0; start < 8; start++) {
            if ((fleet->partition->profiles[profile]->starts >> start & 1) == 0 ||
                (fleet->masks[i] & tg_partition_window(fleet->partition, profile, start)) != 0)
                continue;
            *ret = (struct tg_partition_instance){
                .card = i, .profile = (uint8_t)profile, .start = start};
            most = used;
            break;
        }
        if (most >= 0 && strcmp(policy, "firstfit") == 0)
            break;
    }
    return most >= 0;
}

static bool place(struct fleet *fleet, const struct settings *settings, unsigned profile,
                  bool counted, struct tg_partition_instance *ret)
{
    struct tg_slice_move move;

    *ret = (struct tg_partition_instance){.profile = (uint8_t)profile};
    if (strcmp(settings->policy, "firstfit") == 0 || strcmp(settings->policy, "bestfit") == 0)
        return place_plain(fleet, settings->policy, profile, ret);
    if (tg_partition_place(fleet->partition, fleet->masks, CARDS, profile, &ret->card, &ret->start))
        return true;
    if (!settings->moves || !tg_slice_plan(fleet->partition, fleet->masks, CARDS, fleet->instances,
                                           fleet->n, profile, &move))
        return false;
    set_window(fleet, &fleet->instances[move.instance], false);
    fleet->instances[move.instance].card = move.to_card;
    fleet->instances[move.instance].start = move.to_start;
    set_window(fleet, &fleet->instances[move.instance], true);
    fleet->moves += counted;
    ret->card = move.card;
    ret->start = move.start;
    return true;
}

static void play(struct fleet *fleet, const struct settings *settings, unsigned seed)
{
    double slices = (double)CARDS * fleet->partition->card->memory_slices;
    double rate = settings->load * slices / fleet->mean_slices, now = 0, next;
    struct packing_random random;

    packing_seed(&random, seed);
    next = -log(1 - packing_uniform(&random)) / rate;
    while (now < horizon) {
        double until = fleet->n > 0 && fleet->ends[0] < next ? fleet->ends[0] : next;
        struct tg_partition_instance instance;
        unsigned profile = 0;
        double drawn, life;

        if (now > warm_up)
            fleet->used_time += fleet->used * ((until < horizon ? until : horizon) - now);
        now = until;
        if (now < next) {
            end_first(fleet);
            continue;
        }
        drawn = packing_uniform(&random) * fleet->total_weight;
        for (; profile + 1 < fleet->partition->n && drawn >= fleet->weights[profile]; profile++)
            drawn -= fleet->weights[profile];
        life = -log(1 - packing_uniform(&random));
        next = now - log(1 - packing_uniform(&random)) / rate;
        fleet->asked += now > warm_up;
        if (place(fleet, settings, profile, now > warm_up, &instance)) {
            begin(fleet, instance, now + life);
            fleet->accepted += now > warm_up;
        }
    }
    printf("{\"bench\":\"mig\",\"card\":\"%s\",\"dist\":\"%s\",\"policy\":\"%s\",\"load\":%.2f,"
           "\"seed\":%u,\"used\":%.2f,\"accepted\":%.2f,\"moves_per_accept\":%.4f}\n",
           settings->card, settings->distribution, settings->policy, settings->load, seed,
           100 * fleet->used_time / (horizon - warm_up) / slices,
           100 * fleet->accepted / fleet->asked, fleet->moves / fleet->accepted);
    (void)fflush(stdout);
}

static const struct tg_card *find_card(const char *id)
{
    for (size_t i = 0; i < tg_cards_n; i++) {
        if (strcmp(tg_cards[i].id, id) == 0)
            return &tg_cards[i];
    }
    (void)fprintf(stderr, "bench_packing: no card %s; those that can be partitioned:", id);
    for (size_t i = 0; i < tg_cards_n; i++) {
        if (tg_cards[i].memory_slices > 0)
            (void)fprintf(stderr, " %s", tg_cards[i].id);
    }
    (void)fprintf(stderr, "\n");
    return NULL;
}

static const struct distribution *find_distribution(const char *name)
{
    for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++) {
        if (strcmp(distributions[i].name, name) == 0)
            return &distributions[i];
    }
    (void)fprintf(stderr, "bench_packing: --dist is one of uniform, small, big, bimodal\n");
    return NULL;
}

int scenario_mig(const struct settings *settings)
{
    const struct tg_card *card = find_card(settings->card);
    const struct distribution *distribution = find_distribution(settings->distribution);
    struct tg_partition partition;

    if (card == NULL || distribution == NULL)
        return 2;
    if (tg_partition_init(&partition, card) != 0 || (partition.n != 6 && partition.n != 3)) {
        (void)fprintf(stderr, "bench_packing: %s has no six or three plain profiles\n", card->id);
        return 2;
    }
    for (unsigned seed = settings->first_seed; seed <= settings->last_seed; seed++) {
        struct fleet *fleet = tg_xcalloc(1, sizeof(*fleet));

        fleet->partition = &partition;
        fleet->weights = partition.n == 6 ? distribution->six : distribution->three;
        for (unsigned i = 0; i < partition.n; i++) {
            fleet->total_weight += fleet->weights[i];
            fleet->mean_slices += fleet->weights[i] * partition.profiles[i]->memory_slices;
        }
        fleet->mean_slices /= fleet->total_weight;
        play(fleet, settings, seed);
        free(fleet);
    }
    return 0;
}
