/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a pool as one node sees it: those that its slices share, with everything that is
 * allocated of the pool taken off, on whatever node. Scope is the pool; in release 34, and for a
 * slice that has devices as well (TG_QUIRK_COUNTERS_BESIDE_DEVICES), the slice.
 * Private to the model.
 */
#ifndef TG_CORE_MODEL_NODE_COUNTERS_H
#define TG_CORE_MODEL_NODE_COUNTERS_H

#include "controller/core/model/node_pool.h"

struct tg_counter_pile { /* the counters of a view while it is built */
    struct tg_view_counter *items;
    size_t n, capacity;
};
struct tg_counter_block {
    const struct tg_fleet_slice *slice; /* whose devices it is for; NULL: of the pool */
    size_t first, n;                    /* in the pile, sorted by set and name */
};
struct tg_node_counters {
    struct tg_counter_pile *pile;
    struct tg_counter_block *blocks;
    size_t n_blocks;
};

int tg_counter_pile_add(struct tg_counter_pile *pile, const struct tg_view_counter *counter,
                        struct tg_arena *arena, struct tg_error *err);
/* Adds the counters of the pool to the pile. May find the pool to be invalid: a set twice, an
 * unknown set or counter, in slices for other nodes too, a quantity that is none. With the gate off
 * there are none, and nothing is judged. */
int tg_node_counters_init(struct tg_node_counters *ret, const struct tg_model *model,
                          struct tg_node_pool *pool, const struct tg_rules *rules,
                          struct tg_counter_pile *pile, struct tg_arena *arena,
                          struct tg_error *err);
/* What a device of the pool takes, and which counters must not be below 0 for it: consumes,
 * n_consumes, first_counter and n_counters of the row; barred if a quantity is none. */
int tg_node_counters_of(const struct tg_node_counters *counters, const struct tg_fleet_slice *slice,
                        struct tg_view_device *row, struct tg_arena *arena, struct tg_error *err);

#endif
