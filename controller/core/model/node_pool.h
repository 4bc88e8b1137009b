/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which slices become a pool, as one node sees it. Private to the model. */
#ifndef TG_CORE_MODEL_NODE_POOL_H
#define TG_CORE_MODEL_NODE_POOL_H

#include "controller/core/model/node_view.h"
#include "controller/core/model/view.h"

struct tg_node_pool {
    const struct tg_fleet_pool *pool;
    enum tg_view_pool_state state;
    const char *why;
    bool has_binding;
    /* Slices of the generation that counts, by name: those with devices for this node (and others,
     * where each device says so itself), and all of them, which counters need. */
    const struct tg_resource_slice **own, **all;
    size_t n_own, n_all;
};

/* *ret_seen is false if no slice of the pool is for the node, or what is here is obsolete.
 * TG_RESOURCE_EXHAUSTED. */
int tg_node_pool_judge(const struct tg_fleet_pool *pool, const struct tg_node *node,
                       const struct tg_rules *rules, struct tg_arena *arena,
                       struct tg_node_pool *ret, bool *ret_seen, struct tg_error *err);
int64_t tg_slice_generation(const struct tg_resource_slice *slice);

#endif
