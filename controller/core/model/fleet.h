/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet as a decision sees it: nodes with what is left of cpu, memory and pods, devices with
 * who holds them. It lives as long as the controller and is told every event; in whatever order
 * they come, it ends up the same. It keeps copies of what it needs, strings once however often they
 * are used: no object has to outlive the call that brings it. What an event costs depends on its
 * object and what that touches, not on the size of the fleet; only classes and taint rules concern
 * all of it.
 */
#ifndef TG_CORE_MODEL_FLEET_H
#define TG_CORE_MODEL_FLEET_H

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/kubernetes/objects/storage.h"
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
    const struct tg_persistent_volume *const *volumes;
    size_t n_volumes;
    const struct tg_persistent_volume_claim *const *volume_claims;
    size_t n_volume_claims;
    const struct tg_storage_class *const *storage_classes;
    size_t n_storage_classes;
    const struct tg_fleet_busy *busy;
    size_t n_busy;
    const struct tg_fleet_assumed *assumed;
    size_t n_assumed;
    const char *instance; /* classes labelled tangram.dev/controller=<instance> are ours */
    const struct tg_selector_options *selectors; /* what the cluster is; NULL: of the newest kind */
};

struct tg_fleet;

/* An empty fleet; never NULL. instance is copied. */
struct tg_fleet *tg_fleet_open(const char *instance);
void tg_fleet_close(struct tg_fleet *fleet); /* NULL is allowed */

/* What selectors are compiled for; NULL: the newest release. Classes are compiled anew if it is
 * another than before. The zones outlive the fleet. */
void tg_fleet_select_for(struct tg_fleet *fleet, const struct tg_selector_options *options);

/* Kinds of objects that a fleet is made of. */
enum tg_fleet_kind {
    TG_FLEET_NODE,
    TG_FLEET_SLICE,
    TG_FLEET_CLASS,
    TG_FLEET_CLAIM,
    TG_FLEET_POD,
    TG_FLEET_TAINT_RULE,
    TG_FLEET_VOLUME, /* PersistentVolume */
    TG_FLEET_VOLUME_CLAIM,
    TG_FLEET_STORAGE_CLASS,
    TG_FLEET_KINDS, /* how many there are */
};
/* err->reason of a decision about pods that can run nowhere before something happens to the volumes
 * that they claim. */
#define TG_VOLUME_NOT_READY "VolumeNotReady"

/* The object is there, or is now like this: struct tg_node and so on. One without a name is passed
 * over; one that contradicts itself (a quantity that does not parse) makes itself unusable, not the
 * fleet. */
void tg_fleet_put(struct tg_fleet *fleet, enum tg_fleet_kind kind, const void *object);
/* It is gone; nothing happens if it was not there. namespace_ NULL for cluster scope. */
void tg_fleet_drop(struct tg_fleet *fleet, enum tg_fleet_kind kind, const char *namespace_,
                   const char *name);
/* Devices that count as busy for an owner without an allocation, until the next call for the same
 * owner: those of the last call, none for n 0. For how long and why is the caller's business (Gang
 * status.holds). */
void tg_fleet_hold(struct tg_fleet *fleet, const char *owner, const struct tg_fleet_busy *busy,
                   size_t n);

/* What a decision has just given away, or a plan is about to: devices get their holder, pods take
 * their room, where they do not count already. */
void tg_fleet_assume(struct tg_fleet *fleet, const struct tg_fleet_busy *busy, size_t n_busy,
                     const struct tg_fleet_assumed *assumed, size_t n_assumed);
/* Where the assumptions stand now, and back to there: what was assumed since is forgotten, in
 * whatever order events came meanwhile. */
size_t tg_fleet_mark(const struct tg_fleet *fleet);
void tg_fleet_undo(struct tg_fleet *fleet, size_t mark);

/* To be called after events and before the fleet is looked at or decided about. */
void tg_fleet_settle(struct tg_fleet *fleet);
/* Everything that a decision can see, as one number: two fleets that were told the same, in any
 * order, have the same. Costs a walk over all of it: for tests and audits. */
uint64_t tg_fleet_hash(struct tg_fleet *fleet);

/* A fleet that is told all of the input, settled, and closed when the arena is reset or freed.
 * TG_RESOURCE_EXHAUSTED: the arena does not remember it. */
int tg_fleet_new(const struct tg_fleet_input *input, struct tg_arena *arena, struct tg_fleet **ret,
                 struct tg_error *err);

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
/* Of what the device of the node shares with others, as things stand: the counter or capacity of
 * which more is given away than there is, in words of the arena; NULL: none, or the device is not
 * there. */
const char *tg_fleet_overdrawn(const struct tg_fleet *fleet, const char *node, const char *driver,
                               const char *pool, const char *device, struct tg_arena *arena);
/* The device, made in the arena, or NULL (for bindingConditions and so on that an allocation
 * copies): not there, or the arena is exhausted. */
const struct tg_device *tg_fleet_device(const struct tg_fleet *fleet, const char *driver,
                                        const char *pool, const char *device,
                                        struct tg_arena *arena);

/* State of a node for a plan that names it. */
enum tg_node_state { TG_NODE_OK, TG_NODE_GONE, TG_NODE_NOT_READY /* or cordoned */ };
enum tg_node_state tg_fleet_node_state(const struct tg_fleet *fleet, const char *node);

/* How much room the node has left beside everything that counts as placed: the smallest share of
 * any of its resources, in parts of TG_SLACK_WHOLE. TG_SLACK_WHOLE for a node that is not known. */
#define TG_SLACK_WHOLE INT64_C(1000000)
int64_t tg_fleet_node_slack(const struct tg_fleet *fleet, const char *node);

/* Calls visit with the name of each slice that names the node; node NULL: that names none. */
void tg_fleet_slices_of(const struct tg_fleet *fleet, const char *node,
                        void (*visit)(void *data, const char *slice), void *data);

#endif
