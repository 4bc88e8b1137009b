/* SPDX-License-Identifier: Apache-2.0 */
/* A node of eight H100 whose cards are partitioned on demand: every legal place of every profile is
 * a device, over the counters of its card. */
#ifndef TG_TESTS_BENCH_CORE_MIG_H
#define TG_TESTS_BENCH_CORE_MIG_H

#include "controller/core/model/fleet.h"

#define MIG_CARDS 8
#define MIG_DEVICES 152 /* of a node: the cards themselves included */

/* Tells the fleet the slices of the node, which is named as that of core_scene.h. */
int mig_tell_node(struct tg_fleet *fleet, size_t node, struct tg_error *err);
/* The name of the smallest partition of that card, at its first place. */
void mig_name_device(size_t node, size_t card, char *ret, size_t size);

#endif
