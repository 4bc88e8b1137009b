/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which slices become a pool, as one node sees it. Private to the model. */
#ifndef TG_CORE_MODEL_NODE_POOL_H
#define TG_CORE_MODEL_NODE_POOL_H

#include "controller/core/model/model.h"
#include "controller/core/model/node_view.h"

struct tg_seen_slice {
    const struct tg_fleet_slice *slice;
    const struct tg_device *devices; /* slice->n_slots, NULL: nobody needs them */
};

struct tg_node_pool {
    const struct tg_fleet_pool *pool;
    enum tg_view_pool_state state;
    const char *why;
    bool has_binding;
    /* Slices of the generation that counts, by name: all of them, which counters need, and which of
     * them have devices for this node (and others, where each device says so itself). */
    struct tg_seen_slice *all;
    size_t n_all;
    size_t *own; /* indexes of all */
    size_t n_own;
};

/* *ret_seen is false if no slice of the pool is for the node, or what is here is obsolete.
 * TG_RESOURCE_EXHAUSTED. */
int tg_node_pool_judge(const struct tg_model *model, const struct tg_fleet_pool *pool,
                       const struct tg_node *node, const struct tg_rules *rules,
                       struct tg_arena *arena, struct tg_node_pool *ret, bool *ret_seen,
                       struct tg_error *err);
/* The slice has devices and counters, which are each other's only, and the rules allow for that. */
bool tg_fleet_slice_is_mixed(const struct tg_fleet_slice *slice, const struct tg_rules *rules);
/* Makes the devices of a slice in the arena, if they are not there yet. */
int tg_seen_open(const struct tg_model *model, struct tg_seen_slice *seen, struct tg_arena *arena,
                 struct tg_error *err);

#endif
