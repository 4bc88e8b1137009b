/* SPDX-License-Identifier: Apache-2.0 */
/* openb: arrivals without departures. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/packing_references.h"
#include "tests/bench/packing_scenarios.h"

struct outcome {
    double at[131];            /* allocated % when so many % of the capacity have arrived */
    double fragmentation[131]; /* % of what is idle */
    double refused;            /* allocated % at the first refusal of a pod with cards */
};

/* % of the idle milli-cards that are fragments. */
static double fragmentation(const struct tg_packer *packer, const struct tg_fragment *fragment)
{
    int64_t idle = 0;
    double sum = 0;

    for (uint32_t i = 0; i < tg_packer_nodes(packer); i++) {
        const struct tg_pack_node *node = tg_packer_node(packer, i);

        sum += (double)tg_fragment_of(fragment, node);
        idle += tg_pack_node_free(node);
    }
    return idle == 0 ? 0 : 100 * sum / (double)fragment->total / (double)idle;
}

static void play(const struct openb *trace, const struct settings *settings,
                 const struct tg_mix *mix, const struct tg_fragment *fragment, unsigned seed,
                 struct outcome *ret)
{
    struct tg_packer *packer = new_packer(trace, settings, mix);
    struct tg_pack_request *pods;
    size_t n = openb_arrivals(trace, seed, &pods);
    int64_t arrived = 0, used = 0;
    unsigned reached = 0;

    *ret = (struct outcome){.refused = -1};
    for (size_t i = 0; i < n; i++) {
        unsigned type = tg_packer_type(packer, &pods[i]);
        struct tg_pack_choice choice;

        arrived += tg_pack_request_size(&pods[i]);
        tg_packer_arrive(packer, type);
        if (tg_packer_choose(packer, type, &choice)) {
            tg_packer_put(packer, type, &choice);
            used += tg_pack_request_size(&pods[i]);
            if (settings->trace)
                (void)fprintf(stderr, "%zu %" PRIu32 " %x\n", i, choice.node, choice.cards);
        } else if (ret->refused < 0 && pods[i].cards > 0) {
            ret->refused = 100.0 * (double)used / (double)trace->capacity;
        }
        for (; reached < 130 && arrived * 100 >= trace->capacity * (reached + 1); reached++) {
            ret->at[reached + 1] = 100.0 * (double)used / (double)trace->capacity;
            ret->fragmentation[reached + 1] = fragmentation(packer, fragment);
        }
    }
    ret->at[130] = 100.0 * (double)used / (double)trace->capacity;
    free(pods);
    tg_packer_free(packer);
}

int scenario_openb(const struct settings *settings)
{
    static struct tg_mix mix;
    static struct tg_fragment fragment;
    struct openb trace;

    if (openb_read(&trace, settings->nodes, settings->pods) != 0)
        return 2;
    read_mix(&trace, &mix);
    tg_fragment_set(&fragment, &mix);
    references_print(settings->pods, trace.name);
    for (unsigned seed = settings->first_seed; seed <= settings->last_seed; seed++) {
        struct outcome outcome;
        struct openb run = trace;

        if (baseline_renames(settings->policy))
            run.nodes = openb_renamed(&trace, seed);
        play(&run, settings, &mix, &fragment, seed, &outcome);
        if (run.nodes != trace.nodes)
            free(run.nodes);
        printf("{\"bench\":\"openb\",\"pods\":\"%s\",\"policy\":\"%s\",\"learned\":%s,\"seed\":%u,"
               "\"alloc100\":%.2f,\"alloc130\":%.2f,\"refused\":%.2f,\"fragrate80\":%.2f,"
               "\"fragrate90\":%.2f}\n",
               trace.name, settings->policy, settings->learned ? "true" : "false", seed,
               outcome.at[100], outcome.at[130], outcome.refused, outcome.fragmentation[80],
               outcome.fragmentation[90]);
        (void)fflush(stdout);
    }
    openb_done(&trace);
    return 0;
}
