/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/packing_references.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper bounds of allocated cards in % of all, when 100 % and 130 % have arrived: a linear program
 * over fill patterns, which may choose what it refuses. And the largest arrival without which no
 * perfect packing could place everything. */
static const struct bound {
    const char *name;
    double at100, at130, no_refusal;
} bounds[] = {
    {"default", 96.90, 99.89, 96.3},     {"cpu050", 96.90, 99.89, 96.3},
    {"cpu200", 96.90, 99.59, 96.3},      {"gpushare40", 95.65, 99.23, 94.9},
    {"gpushare100", 89.16, 90.66, 88.2}, {"gpuspec10", 96.85, 99.88, 95.5},
    {"gpuspec20", 96.90, 99.89, 96.3},   {"multigpu20", 97.34, 100.00, 96.8},
    {"multigpu40", 98.00, 100.00, 97.6},
};

enum { POLICIES = 6, COLUMNS = 140 };
static const char *const published[POLICIES] = {"01-Random",     "02-DotProd", "03-GpuClustering",
                                                "04-GpuPacking", "05-BestFit", "06-FGD"};

struct sums {
    double at100[POLICIES], at130[POLICIES];
    unsigned n[POLICIES];
};

/* A line is workload,policy,tune,seed,total_gpus,0,1,...,130. */
static void add_line(char *line, const char *workload, struct sums *sums)
{
    char *column[COLUMNS];
    unsigned n = 0;

    for (char *at = line; at != NULL && n < COLUMNS; n++) {
        column[n] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    if (n < 5 + 131 || strcmp(column[0], workload) != 0)
        return;
    for (unsigned i = 0; i < POLICIES; i++) {
        if (strcmp(column[1], published[i]) != 0)
            continue;
        sums->at100[i] += strtod(column[5 + 100], NULL);
        sums->at130[i] += strtod(column[5 + 130], NULL);
        sums->n[i]++;
    }
}

static bool read_published(const char *pods_path, const char *name, struct sums *sums)
{
    const char *base = strrchr(pods_path, '/');
    char path[4096], workload[96], line[8192];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.*s/../expected_results/analysis_allo_discrete.csv",
                   (int)(base == NULL ? 1 : base - pods_path), base == NULL ? "." : pods_path);
    (void)snprintf(workload, sizeof(workload), "openb_pod_list_%s", name);
    file = fopen(path, "re");
    if (file == NULL) {
        (void)fprintf(stderr, "bench_packing: no published results at %s\n", path);
        return false;
    }
    while (fgets(line, sizeof(line), file) != NULL)
        add_line(line, workload, sums);
    (void)fclose(file);
    return true;
}

void references_print(const char *pods_path, const char *name)
{
    struct sums sums = {.n = {0}};
    const char *separator = "";

    printf("{\"bench\":\"openb-references\",\"pods\":\"%s\"", name);
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (strcmp(bounds[i].name, name) == 0)
            printf(",\"bound100\":%.2f,\"bound130\":%.2f,\"no_refusal\":%.1f", bounds[i].at100,
                   bounds[i].at130, bounds[i].no_refusal);
    }
    if (read_published(pods_path, name, &sums)) {
        printf(",\"published\":{");
        for (unsigned i = 0; i < POLICIES; i++) {
            if (sums.n[i] == 0)
                continue;
            printf("%s\"%s\":{\"alloc100\":%.2f,\"alloc130\":%.2f}", separator, published[i],
                   sums.at100[i] / sums.n[i], sums.at130[i] / sums.n[i]);
            separator = ",";
        }
        printf("}");
    }
    printf("}\n");
}
