/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search for devices sees of ONE node: the pools that reach it, their devices in the order
 * in which the built-in allocator tries them, and what is left of each. Plain data of the arena it
 * was built in; it is never written by who reads it. Pool rules are applied by the builder:
 * relevant slices, newest generation among them, completeness, duplicates, unknown counter sets,
 * gates (dynamic-resource-allocation structured/internal). Amounts are in billionths
 * (nanos.h): what is left of an overcommitted counter is below 0.
 */
#ifndef TG_CORE_MODEL_NODE_VIEW_H
#define TG_CORE_MODEL_NODE_VIEW_H

#include "controller/core/model/features.h"
#include "controller/core/model/fleet.h"
#include "controller/core/model/nanos.h"

enum tg_view_pool_state {
    TG_POOL_USABLE,
    /* Too few slices of its newest generation. Nothing is allocated from it and it has no devices
     * here, but from release 34, which still gave out what was there (All: an error in each). */
    TG_POOL_INCOMPLETE,
    /* A name twice, an unknown counter set or counter. No devices here. All: an error; otherwise an
     * error only if nothing is found elsewhere, and in release 34 in any case. */
    TG_POOL_INVALID,
};

/* A pool of which at least one slice is relevant for the node (nodeName, nodeSelector, allNodes,
 * per-device selection, or shared counters from 35 on), unless a newer generation elsewhere makes
 * what is here obsolete: such a pool is left out entirely. */
struct tg_view_pool {
    const char *driver, *name;
    enum tg_view_pool_state state;
    const char *why;         /* not TG_POOL_USABLE: static text or of the arena, for people */
    bool has_binding;        /* a device here has binding conditions: sorted to the end */
    size_t first, n_devices; /* its devices: view->devices[first ...] */
};

/* One counter of one counter set of a usable pool. */
struct tg_view_counter {
    const char *set, *name;
    __int128 left; /* the set's value less what all allocated devices of the pool consume, wherever
                      they are; taken and shared devices count once each, admin access never */
};

/* What a device consumes of view->counters[counter]. */
struct tg_view_consumes {
    size_t counter;
    __int128 amount;
};

enum tg_view_policy {
    TG_POLICY_NONE,   /* no requestPolicy, or one without range and values */
    TG_POLICY_RANGE,  /* validRange */
    TG_POLICY_VALUES, /* validValues */
};

/* One entry of device.capacity, and how much of it live shares consume. */
struct tg_view_capacity {
    const char *name; /* as published: requests and consumedCapacity use the same text */
    __int128 value;
    __int128 used; /* sum of status.allocation results' consumedCapacity of all claims, non-admin */
    bool has_policy; /* a requestPolicy is there at all: a NONE with it has a default only */
    enum tg_view_policy policy;
    bool has_default, has_max, has_step;
    __int128 default_, min, max, step; /* min is 0 if absent */
    const __int128 *values;            /* TG_POLICY_VALUES, in the order of the API, n_values */
    size_t n_values;
};

/* Why a device can be allocated on this node: which node selector its allocation needs. */
enum tg_view_reach {
    TG_REACH_NODE,     /* nodeName, of the slice or of the device */
    TG_REACH_SELECTOR, /* nodeSelector, of the slice or of the device */
    TG_REACH_ALL,      /* allNodes */
    /* perDeviceNodeSelection says no. Such a device is here because the built-in allocator
     * evaluates the selectors first, and a failing one ends the whole call. */
    TG_REACH_NONE,
};

struct tg_view_device {
    const struct tg_device *object;
    const char *driver, *pool_name, *name;
    size_t pool; /* of view->pools */
    /* Devices with one shape have the same driver, attributes, capacity (values and policies),
     * allowMultipleAllocations, blocking taints, counters (the same ones, the same amounts), reach
     * and node selector, binding conditions and bindsToNode. What is used of them plays no part:
     * the reader compares taken, shares and used himself. 0 to n_shapes - 1. */
    size_t shape;

    bool taken; /* wholly: by an allocation without share id, a plan, a hold, a write on its way */
    const char *holder; /* who, for people; NULL if nobody or if only shares are out */
    size_t shares;      /* live ones (results with shareID) */
    /* Why this controller never gives it to anybody (contested, unreadable, a refused attribute),
     * or NULL. To a search it is like taken, for admin access too. */
    const char *barred;

    enum tg_view_reach reach;
    const struct tg_node_selector *selector; /* TG_REACH_SELECTOR */
    bool bindings; /* it has binding conditions (gate off: the reader must not use it) */

    struct tg_view_capacity *capacity; /* in the order of the object */
    size_t n_capacity;
    /* By counter; empty without counters. Those that the controller makes up for partitions on
     * servers that keep none (node_partitions.h) are among them, whatever the gates. */
    const struct tg_view_consumes *consumes;
    size_t n_consumes;
    bool wants_counters; /* consumesCounters is not empty (gate off: unusable, consumes is empty) */
    /* The counters that must all be >= 0 for it, its own or not: those of its pool, in release 34
     * of its slice. view->counters[first_counter ... + n_counters). */
    size_t first_counter, n_counters;

    /* Those that keep new work away: NoSchedule and NoExecute (release 34: any effect), of slices,
     * rules and bad health. Gate off: none but those of bad health. */
    const struct tg_taint *const *taints;
    size_t n_taints;
};

struct tg_view {
    const struct tg_node *node;
    const char *node_name;
    struct tg_rules rules;
    /* By driver, then name; those with binding conditions come last (36 on,
     * DeviceBindingAndStatus). Devices: in order of pools, in a pool by name of the slice, in a
     * slice as published. */
    const struct tg_view_pool *pools;
    size_t n_pools;
    struct tg_view_device *devices;
    size_t n_devices, n_shapes;
    const struct tg_view_counter *counters; /* of usable pools, pool after pool */
    size_t n_counters;
};

/* The view of the node, for these rules. TG_NOT_FOUND: no such node; TG_RESOURCE_EXHAUSTED. A
 * quantity that does not parse bars the device that it belongs to; one of a counter set makes the
 * pool invalid. */
int tg_fleet_view(const struct tg_fleet *fleet, const char *node, const struct tg_rules *rules,
                  struct tg_arena *arena, struct tg_view *ret, struct tg_error *err);

#endif
