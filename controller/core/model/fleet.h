/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet as a decision sees it: nodes with what is left of cpu, memory and pods, devices with
 * who holds them. Built from API objects, whatever their order, to the same result (sorted by
 * name). The objects must outlive the fleet: strings are not copied. This version is built anew for
 * each pass.
 */
#ifndef TG_CORE_MODEL_FLEET_H
#define TG_CORE_MODEL_FLEET_H

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/tangram/configuration.h"

/* A device that counts as busy without (or before) an allocation: of a plan, or of a write on its
 * way. */
struct tg_fleet_busy {
    const char *driver, *pool, *device;
    const char *holder; /* "gang ns/name" or "claim ns/name", for explanations */
    const char *share;  /* id of a share of the device, or NULL: the whole of it */
    const struct tg_string_pair *consumed; /* what the share takes: capacity and quantity */
    size_t n_consumed;
};
/* A pod that counts as placed on a node though it is not bound: of a plan, or pinned and un-gated.
 */
struct tg_fleet_assumed {
    const struct tg_pod *pod;
    const char *node;
};

struct tg_selector_options;

struct tg_fleet_input {
    const struct tg_node *const *nodes;
    size_t n_nodes;
    const struct tg_resource_slice *const *slices;
    size_t n_slices;
    const struct tg_device_class *const *classes; /* all of them */
    size_t n_classes;
    const struct tg_resource_claim *const *claims; /* all: allocations make devices busy */
    size_t n_claims;
    const struct tg_pod *const
        *pods; /* all that are not finished; bound ones (spec.nodeName) take room */
    size_t n_pods;
    const struct tg_device_taint_rule *const *taint_rules;
    size_t n_taint_rules;
    const struct tg_fleet_busy *busy;
    size_t n_busy;
    const struct tg_fleet_assumed *assumed;
    size_t n_assumed;
    const char *instance; /* classes labelled tangram.dev/controller=<instance> are ours */
    const struct tg_selector_options *selectors; /* what the cluster is; NULL: of the newest kind */
};

struct tg_fleet;

/* All memory comes from the arena; TG_RESOURCE_EXHAUSTED when its budget is. Objects that
 * contradict themselves (a quantity that does not parse) make that object unusable, not the fleet.
 */
int tg_fleet_new(const struct tg_fleet_input *input, struct tg_arena *arena, struct tg_fleet **ret,
                 struct tg_error *err);

/* What a decision has just given away: devices get their holder, pods (which did not stand anywhere
 * before) take their room. The fleet then equals one that is built anew with these added to its
 * input. Strings must outlive the fleet. */
int tg_fleet_assume(struct tg_fleet *fleet, const struct tg_fleet_busy *busy, size_t n_busy,
                    const struct tg_fleet_assumed *assumed, size_t n_assumed,
                    struct tg_arena *arena, struct tg_error *err);

/* Is the class managed by this instance (label), and does it carry the guard as an entry of its
 * own? */
enum tg_class_kind {
    TG_CLASS_UNMANAGED,
    TG_CLASS_MANAGED,
    TG_CLASS_UNGUARDED,
    TG_CLASS_OTHER_INSTANCE
};
enum tg_class_kind tg_class_kind(const struct tg_device_class *klass, const char *instance);

/* A class of others that reaches devices which our classes reach too: those are given to nobody. */
struct tg_fleet_contest {
    const struct tg_device_class *klass;
    size_t devices;                     /* how many */
    const char *driver, *pool, *device; /* the first of them */
};
/* The i-th of them in the order of names; false beyond the last. */
bool tg_fleet_contest(const struct tg_fleet *fleet, size_t i, struct tg_fleet_contest *ret);

/* Does the device of a plan still stand: in the newest complete pool, not tainted
 * NoSchedule/NoExecute beyond the given tolerations, not healthy=false? TG_DEVICE_ABSENT: pool or
 * device is not there or the pool is incomplete. */
enum tg_device_state { TG_DEVICE_OK, TG_DEVICE_ABSENT, TG_DEVICE_TAINTED };
enum tg_device_state tg_fleet_device_state(const struct tg_fleet *fleet, const char *driver,
                                           const char *pool, const char *device,
                                           const struct tg_toleration *tolerations, size_t n);
/* NULL if nobody holds it; else "claim ns/name" or the holder given in the input. */
const char *tg_fleet_device_holder(const struct tg_fleet *fleet, const char *driver,
                                   const char *pool, const char *device);
/* The device object, or NULL (for bindingConditions and so on that an allocation copies). */
const struct tg_device *tg_fleet_device(const struct tg_fleet *fleet, const char *driver,
                                        const char *pool, const char *device);

/* State of a node for a plan that names it. */
enum tg_node_state { TG_NODE_OK, TG_NODE_GONE, TG_NODE_NOT_READY /* or cordoned */ };
enum tg_node_state tg_fleet_node_state(const struct tg_fleet *fleet, const char *node);

/* How much room the node has left beside everything that counts as placed: the smallest share of
 * any of its resources, in parts of TG_SLACK_WHOLE. TG_SLACK_WHOLE for a node that is not known. */
#define TG_SLACK_WHOLE INT64_C(1000000)
int64_t tg_fleet_node_slack(const struct tg_fleet *fleet, const char *node);

#endif
