/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How tightly policies pack.
 *
 *   bench_packing openb --nodes F --pods F --policy P --seeds A-B [--learned] [--trace]
 *   bench_packing churn --nodes F --pods F --policy P --seeds A-B --load L [--learned]
 *
 * openb: the production trace of the FGD paper, arrivals without departures. One JSON object a
 * seed; first one of what others reached. churn: its pods come and go, what does not fit is lost.
 * --learned: the mix of requests is not known in advance. --trace prints every placement (pod,
 * node, cards) on stderr.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/packing_scenarios.h"

static const struct scenario {
    const char *name;
    int (*run)(const struct settings *settings);
} scenarios[] = {{"openb", scenario_openb}, {"churn", scenario_churn}};

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: bench_packing openb|churn --nodes FILE --pods FILE [--policy NAME] "
                  "[--seeds A-B] [--load L] [--learned] [--trace]\npolicies:");
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

static bool parse(int argc, char **argv, struct settings *settings)
{
    static const struct option options[] = {
        {"nodes", required_argument, NULL, 'n'},  {"pods", required_argument, NULL, 'p'},
        {"policy", required_argument, NULL, 'P'}, {"seeds", required_argument, NULL, 's'},
        {"load", required_argument, NULL, 'L'},   {"learned", no_argument, NULL, 'l'},
        {"trace", no_argument, NULL, 't'},        {NULL, 0, NULL, 0}};
    bool good = true;

    for (int c; good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'n':
            settings->nodes = optarg;
            break;
        case 'p':
            settings->pods = optarg;
            break;
        case 'P':
            settings->policy = optarg;
            break;
        case 's':
            good = parse_seeds(optarg, settings);
            break;
        case 'L':
            settings->load = strtod(optarg, NULL);
            good = settings->load > 0 && settings->load <= 10;
            break;
        case 'l':
            settings->learned = true;
            break;
        case 't':
            settings->trace = true;
            break;
        default:
            good = false;
        }
    }
    return good && optind == argc - 1 && settings->nodes != NULL && settings->pods != NULL &&
           find_policy(settings->policy) != NULL;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .policy = "default", .load = 0.95, .first_seed = 42, .last_seed = 51};

    if (!parse(argc, argv, &settings))
        return usage();
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(scenarios[i].name, argv[optind]) == 0)
            return scenarios[i].run(&settings);
    }
    return usage();
}
