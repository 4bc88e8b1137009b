/* SPDX-License-Identifier: Apache-2.0 */
/* What bench_packing can play: one file a scenario. */
#ifndef TG_BENCH_PACKING_SCENARIOS_H
#define TG_BENCH_PACKING_SCENARIOS_H

#include "tests/bench/openb.h"
#include "tests/bench/packing_baselines.h"

struct settings {
    const char *nodes, *pods, *policy;
    const char *card, *distribution; /* of mig */
    const char *mix;                 /* of gangs */
    double load;                     /* of churn: what arrives, in parts of the capacity */
    unsigned first_seed, last_seed;
    bool learned, trace, moves;
    bool racks; /* of gangs: a gang must fit into one */
};

/* Of the product or a baseline; NULL if there is none of the name. */
const struct tg_pack_policy *find_policy(const char *name);
/* A packer with the trace's nodes; it knows the mix unless the settings want it learned. */
struct tg_packer *new_packer(const struct openb *trace, const struct settings *settings,
                             const struct tg_mix *mix);
/* The mix of the trace's pods. */
void read_mix(const struct openb *trace, struct tg_mix *ret);

/* Exit statuses. */
int scenario_openb(const struct settings *settings);
int scenario_churn(const struct settings *settings);
int scenario_mig(const struct settings *settings);
int scenario_gangs(const struct settings *settings);

#endif
