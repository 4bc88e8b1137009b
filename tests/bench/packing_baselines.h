/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published policies and those of other schedulers, to compare with: random, dotprod, clustering,
 * packing, bestfit and fgd-paper (Weng et al., USENIX ATC '23, and its artifact), firstfit (the
 * built-in allocator's order), kai (KAI-Scheduler's binpack, ties by name).
 */
#ifndef TG_BENCH_PACKING_BASELINES_H
#define TG_BENCH_PACKING_BASELINES_H

#include "controller/core/pack/policy.h"

/* NULL if there is none of the name. */
const struct tg_pack_policy *baseline_policy(const char *name);
extern const char *const baseline_names[]; /* ended by NULL */
/* Whether its published figures come from runs that gave the nodes names in a random order, anew
 * for each seed (the artifact's simulator does): ties, which go to the first name, then depend on
 * it. */
bool baseline_renames(const char *name);

#endif
