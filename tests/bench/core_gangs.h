/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decision about a gang costs: 16 members of 8 cards in one rack of 32 nodes, 64 in one
 * block of 256, 512 over racks, as few as can be; `easy` where nothing is taken, `tight` where
 * exactly one domain has exactly the room (for 512: the whole fleet), `infeasible` with one node
 * less.
 */
#ifndef TG_TESTS_BENCH_CORE_GANGS_H
#define TG_TESTS_BENCH_CORE_GANGS_H

#include <stddef.h>

#include "api/runtime/base/error.h"

/* Prints a line for each gang that so many nodes could hold, and each case. */
int bench_gangs(size_t nodes, struct tg_error *err);

#endif
