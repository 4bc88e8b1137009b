/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How tightly policies pack.
 *
 *   bench_packing openb --nodes F --pods F --policy P --seeds A-B [--learned] [--trace]
 *   bench_packing churn --nodes F --pods F --policy P --seeds A-B --load L [--learned]
 *   bench_packing mig --card C --dist D --load L --seeds A-B [--policy P] [--moves]
 *   bench_packing gangs --mix M --load L --seeds A-B [--policy P] [--racks] [--moves] [--learned]
 *
 * openb: the production trace of the FGD paper, arrivals without departures. One JSON object a
 * seed; first one of what others reached. churn: its pods come and go, what does not fit is lost.
 * mig: instances of partitioned cards come and go (policies default, firstfit, bestfit); --moves:
 * one running instance may be moved for a refused one.
 * gangs: jobs of one or more members with whole cards come and go (policy bound: whatever free
 * cards could hold if all could be moved); --racks: a gang must fit into one rack; --moves: nodes
 * may be emptied for a refused one.
 * --learned: the mix of requests is not known in advance. --trace prints every placement (pod,
 * node, cards) on stderr.
 */
#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/packing_scenarios.h"

static const struct scenario {
    const char *name;
    bool reads_trace;
    int (*run)(const struct settings *settings);
} scenarios[] = {{"openb", true, scenario_openb},
                 {"churn", true, scenario_churn},
                 {"mig", false, scenario_mig},
                 {"gangs", false, scenario_gangs}};

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: bench_packing openb|churn --nodes FILE --pods FILE [--policy NAME] "
                  "[--seeds A-B] [--load L] [--learned] [--trace]\n"
                  "       bench_packing mig --card CARD --dist NAME [--policy NAME] [--seeds A-B] "
                  "[--load L] [--moves]\n"
                  "       bench_packing gangs --mix M0|M1|M2 [--policy NAME] [--seeds A-B] "
                  "[--load L] [--racks] [--moves] [--learned]\npolicies:");
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++)
        (void)fprintf(stderr, " %s", *name);
    for (const char *const *name = baseline_names; *name != NULL; name++)
        (void)fprintf(stderr, " %s", *name);
    (void)fprintf(stderr, "\n");
    return 2;
}

const struct tg_pack_policy *find_policy(const char *name)
{
    const struct tg_pack_policy *policy = tg_pack_policy(name);

    return policy != NULL ? policy : baseline_policy(name);
}

struct tg_packer *new_packer(const struct openb *trace, const struct settings *settings,
                             const struct tg_mix *mix)
{
    struct tg_packer *packer = tg_packer_new(find_policy(settings->policy));

    for (size_t i = 0; i < trace->n_nodes; i++)
        (void)tg_packer_add_node(packer, &trace->nodes[i]);
    for (size_t i = 0; i < mix->n && !settings->learned; i++)
        tg_packer_expect(packer, tg_packer_type(packer, &mix->types[i].request),
                         mix->types[i].arrived);
    return packer;
}

void read_mix(const struct openb *trace, struct tg_mix *ret)
{
    *ret = (struct tg_mix){.n = 0};
    for (size_t i = 0; i < trace->n_pods; i++)
        tg_mix_arrive(ret, tg_mix_type(ret, &trace->pods[i]), 1);
}

static bool parse_seeds(const char *text, struct settings *settings)
{
    char *end;

    settings->first_seed = (unsigned)strtoul(text, &end, 10);
    settings->last_seed = settings->first_seed;
    if (*end == '-')
        settings->last_seed = (unsigned)strtoul(end + 1, &end, 10);
    return *text != '\0' && *end == '\0' && settings->last_seed >= settings->first_seed;
}

static bool parse_load(const char *text, struct settings *settings)
{
    settings->load = strtod(text, NULL);
    return settings->load > 0 && settings->load <= 10;
}

/* Each writes a text, raises a flag, or is parsed. */
static const struct option_kind {
    const char *name;
    size_t text, flag; /* offsets in struct settings; NONE */
    bool (*parse)(const char *text, struct settings *settings);
} kinds[] = {
#define NONE SIZE_MAX
#define TEXT(name, member)                                                                         \
    {                                                                                              \
        name, offsetof(struct settings, member), NONE, NULL                                        \
    }
#define FLAG(name, member)                                                                         \
    {                                                                                              \
        name, NONE, offsetof(struct settings, member), NULL                                        \
    }
    TEXT("nodes", nodes),
    TEXT("pods", pods),
    TEXT("policy", policy),
    TEXT("card", card),
    TEXT("dist", distribution),
    TEXT("mix", mix),
    FLAG("learned", learned),
    FLAG("trace", trace),
    FLAG("moves", moves),
    FLAG("racks", racks),
    {"seeds", NONE, NONE, parse_seeds},
    {"load", NONE, NONE, parse_load},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool apply(const struct option_kind *kind, const char *text, struct settings *settings)
{
    if (kind->parse != NULL)
        return kind->parse(text, settings);
    if (kind->flag != NONE)
        *(bool *)((char *)settings + kind->flag) = true;
    else
        *(const char **)(void *)((char *)settings + kind->text) = text;
    return true;
}

static bool parse(int argc, char **argv, struct settings *settings)
{
    struct option options[KINDS + 1] = {{.name = NULL}};
    int index = 0;

    for (size_t i = 0; i < KINDS; i++)
        options[i] = (struct option){
            .name = kinds[i].name,
            .has_arg = kinds[i].flag != NONE ? no_argument : required_argument,
            .val = 1,
        };
    for (int c; (c = getopt_long(argc, argv, "", options, &index)) != -1;) {
        if (c != 1 || !apply(&kinds[index], optarg, settings))
            return false;
    }
    return optind == argc - 1;
}

static int run(const struct scenario *scenario, const struct settings *settings)
{
    if (scenario->reads_trace && (settings->nodes == NULL || settings->pods == NULL ||
                                  find_policy(settings->policy) == NULL))
        return usage();
    return scenario->run(settings);
}

int main(int argc, char **argv)
{
    struct settings settings = {.policy = "default",
                                .card = "a100-80gb",
                                .distribution = "uniform",
                                .mix = "M0",
                                .load = 0.95,
                                .first_seed = 42,
                                .last_seed = 51};

    if (!parse(argc, argv, &settings))
        return usage();
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(scenarios[i].name, argv[optind]) == 0)
            return run(&scenarios[i], &settings);
    }
    return usage();
}
