/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a fleet, for controller/core only: rows of nodes, devices, classes and holders,
 * each sorted by name so that the order of the input leaves no trace. Rows refer to each other by
 * index.
 */
#ifndef TG_CORE_MODEL_VIEW_H
#define TG_CORE_MODEL_VIEW_H

#include "controller/core/cel/selector.h"
#include "controller/core/model/demand.h"
#include "controller/core/model/fleet.h"

#define TG_NO_INDEX ((size_t)-1)

struct tg_fleet_room { /* one resource of a node */
    const char *name;
    int64_t allocatable, used; /* in the unit of struct tg_amount */
};

struct tg_fleet_node {
    const struct tg_node *object;
    const char *name;
    const char
        *broken; /* why the node cannot be judged (a quantity that does not parse), or NULL */
    struct tg_fleet_room *rooms; /* sorted by name */
    size_t n_rooms;
    const size_t *devices; /* indexes of fleet->devices, in order of driver, pool, name */
    size_t n_devices;
    const size_t *pools; /* indexes of fleet->pools: those with a slice for this node alone */
    size_t n_pools;
};

/* All slices of one driver and pool name, the newest generation first, then by name. */
struct tg_fleet_pool {
    const char *driver, *name;
    const struct tg_resource_slice *const *slices;
    size_t n_slices;
};

struct tg_fleet_device {
    const struct tg_device *object;
    const char *driver, *pool, *name;
    size_t node;             /* TG_NO_INDEX: of no node that we know */
    const char *unsupported; /* why this version never allocates it, or NULL */
    const char *contested;   /* the class by which others can have it (contest.h), or NULL */
    const char *holder;      /* who holds it, or NULL */
    const struct tg_taint *const
        *taints; /* NoSchedule and NoExecute only, those of rules and of bad health included */
    size_t n_taints;
};

/* A pool that nothing is allocated from, and why. */
struct tg_fleet_bad_pool {
    const char *driver, *pool, *why;
};

struct tg_fleet_class {
    const struct tg_device_class *object;
    const char *name;
    enum tg_class_kind kind;
    struct tg_selector **selectors; /* managed classes only */
    size_t n_selectors;
    int compile_code;          /* 0, or the negative code with which a selector was refused */
    const char *compile_error; /* its text */
    size_t contests;           /* devices that it contests (contest.h) */
    size_t contests_first;     /* the first of them; only with contests > 0 */
};

/* One share or the whole of a device. */
struct tg_fleet_holder {
    const char *driver, *pool, *device;
    const char *holder;
    bool allocated; /* by a claim's allocation, else only said to be busy */
    const char *share;
    const struct tg_string_pair *consumed; /* of the share: capacity and quantity */
    size_t n_consumed;
};

struct tg_fleet {
    struct tg_fleet_node *nodes; /* by name */
    size_t n_nodes;
    struct tg_fleet_device *devices; /* by driver, pool, name */
    size_t n_devices;
    struct tg_fleet_bad_pool *bad_pools; /* by driver, pool */
    size_t n_bad_pools;
    struct tg_fleet_class *classes; /* by name */
    size_t n_classes;
    struct tg_fleet_holder *holders; /* by driver, pool, device; the whole of it before shares */
    size_t n_holders;
    struct tg_fleet_pool *pools; /* by driver, name */
    size_t n_pools;
    const size_t *wide_pools; /* indexes of pools with a slice for more than one node */
    size_t n_wide_pools;
    const struct tg_device_taint_rule **taint_rules; /* by name */
    size_t n_taint_rules;
    const char *instance;
    const struct tg_selector_options *selectors;
};

/* The four parts of tg_fleet_new, one file each: pool.c, holder.c, room.c, class.c. They run in
 * this order after the nodes are there. */
int tg_fleet_add_devices(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err);
int tg_fleet_add_holders(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err);
int tg_fleet_add_pods(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                      struct tg_arena *arena, struct tg_error *err);
int tg_fleet_add_classes(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err);
/* Which pools reach which nodes; after the pools are there. */
int tg_fleet_link_pools(struct tg_fleet *fleet, struct tg_arena *arena, struct tg_error *err);
/* node->status.allocatable to rooms; sets broken when a quantity does not parse. */
int tg_fleet_open_rooms(struct tg_fleet_node *node, struct tg_arena *arena, struct tg_error *err);

/* TG_NO_INDEX if there is none. */
size_t tg_fleet_find_node(const struct tg_fleet *fleet, const char *name);
size_t tg_fleet_find_device(const struct tg_fleet *fleet, const char *driver, const char *pool,
                            const char *device);
const struct tg_fleet_class *tg_fleet_find_class(const struct tg_fleet *fleet, const char *name);
const struct tg_fleet_bad_pool *tg_fleet_find_bad_pool(const struct tg_fleet *fleet,
                                                       const char *driver, const char *pool);
/* The holders of a device, the strongest first: *ret_n of them, 0 if nobody holds it. */
const struct tg_fleet_holder *tg_fleet_find_holders(const struct tg_fleet *fleet,
                                                    const char *driver, const char *pool,
                                                    const char *device, size_t *ret_n);
/* Is the device, or a share of it, anybody's? */
bool tg_fleet_is_held(const struct tg_fleet *fleet, const char *driver, const char *pool,
                      const char *device);
/* What is left of a resource on a node: 0 if the node does not offer it; below 0 if it is
 * overcommitted. */
int64_t tg_fleet_room_left(const struct tg_fleet_node *node, const char *resource);
/* strcmp by three keys. */
int tg_fleet_compare_id(const char *a_driver, const char *a_pool, const char *a_device,
                        const char *b_driver, const char *b_pool, const char *b_device);

#endif
