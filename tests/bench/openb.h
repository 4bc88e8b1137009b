/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the openb traces (see ../shared/traces) and plays them in a seed's order. */
#ifndef TG_BENCH_OPENB_H
#define TG_BENCH_OPENB_H

#include <stddef.h>
#include <stdint.h>

#include "controller/core/pack/node.h"

struct openb {
    struct tg_pack_node *nodes; /* in the order of the file, which is that of names */
    size_t n_nodes;
    struct tg_pack_request *pods;
    size_t n_pods;
    char models[TG_PACK_KINDS_MAX][32];
    unsigned n_models;
    int64_t capacity; /* milli-cards */
    char name[64];    /* "default" of ".../openb_pod_list_default.csv" */
};

/* 0, or -1 with a message on stderr that names file and line. */
int openb_read(struct openb *trace, const char *nodes_path, const char *pods_path);
void openb_done(struct openb *trace);

/* xorshift64 as the reference replays use it. */
struct openb_random {
    uint64_t state;
};
void openb_seed(struct openb_random *random, unsigned seed);
uint32_t openb_next(struct openb_random *random);
unsigned openb_below(struct openb_random *random, size_t n);

/* The arrivals of a seed: the pods shuffled, then thinned out or cloned until they ask for 1.3
 * times the capacity. *ret is the caller's to free. */
size_t openb_arrivals(const struct openb *trace, unsigned seed, struct tg_pack_request **ret);

/* The nodes in an order that the seed draws: what stands first is first by name. The caller frees.
 */
struct tg_pack_node *openb_renamed(const struct openb *trace, unsigned seed);

#endif
