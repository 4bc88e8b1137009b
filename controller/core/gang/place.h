/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a gang goes. A pure function of fleet and request: same input in any order, same plan.
 * Bounded by steps, never by time. Placement is all or none.
 */
#ifndef TG_CORE_GANG_PLACE_H
#define TG_CORE_GANG_PLACE_H

#include "controller/core/model/fleet.h"

/* Pods that must share a node because they share claims; usually one pod. Of the claims those
 * already allocated are left out by the caller, who then fixes the node instead. */
struct tg_fit_volumes;

struct tg_piece {
    const struct tg_pod *const *pods;
    size_t n_pods;
    const struct tg_resource_claim *const *claims;
    size_t n_claims;
    const char *fixed_node; /* NULL: free choice */
    size_t role;            /* for rules: those of one role are told apart from others */
    /* What the volumes of its pods ask of a node; NULL: nothing, or not read yet (tg_place reads).
     */
    const struct tg_fit_volumes *volumes;
};

/* Beside pack: some members together in one domain of the level, or at most so many in each. Nodes
 * that are in no domain of it take none of them. */
struct tg_place_rule {
    const struct tg_level *level;
    const bool *roles; /* by role: whom it binds; NULL: all */
    size_t most;       /* in one domain; 0: all in the same one */
    bool required;     /* else it is kept only if a place is found with all of these */
    const char *field; /* what asks for it, for texts: "topology.spread[0]"; NULL: not known */
};

struct tg_place_request {
    const char *name; /* "gang ns/name" or "pod ns/name", for texts */
    const struct tg_piece *pieces;
    size_t n_pieces;
    const struct tg_level *pack_required; /* NULL: none */
    const struct tg_level *pack_preferred;
    const struct tg_place_rule *rules;
    size_t n_rules;
    const struct tg_policies *policies; /* NULL: the default for all */
    size_t max_steps;                   /* 0: 1,000,000 */
};

struct tg_placed_device {
    const struct tg_resource_claim *claim;
    const char *request; /* "req" or "req/sub" */
    const char *driver, *pool, *device;
    bool admin;           /* by admin access: whoever else has it, and it stays free for others */
    const char *consumed; /* of a device that is shared: consumedCapacity of the result as JSON, {}
                             for a device without capacity; NULL: the device is had wholly */
    const struct tg_device *bindings; /* the device, if it has binding conditions; else NULL */
};
struct tg_placed_piece {
    const char *node;
    const struct tg_placed_device *devices; /* order: claims, requests, device names */
    size_t n_devices;
};
struct tg_placement {
    const struct tg_placed_piece *pieces; /* as in the request */
    size_t n_pieces;
};

/* The policy for a piece: that of the class of its first request. */
const char *tg_place_policy(const struct tg_policies *policies, const struct tg_piece *piece);

/* Stable reason codes; each is documented in controller/core/README.md. CamelCase: they are event
 * reasons as well. */
struct tg_no_place {
    const char *reason; /* "InsufficientDevices", "FragmentedDevices", "NoDomain",
                           "InsufficientNodeResources", "NoMatchingDevice", "NodesUnavailable",
                           "GaveUp"... */
    const char *text; /* one or two sentences for a user: what is short, where it comes closest, who
                         holds it */
    size_t members_short;      /* pieces without a place in the best attempt */
    size_t devices_per_member; /* of the first of them */
};

/* What of a claim this version cannot serve: TG_UNIMPLEMENTED with claim, field and what to do
 * instead (what a newer API may add), TG_NOT_FOUND for an unknown class,
 * TG_FAILED_PRECONDITION for an unguarded class, TG_INVALID_ARGUMENT for one that mixes managed and
 * unmanaged classes or asks for > 32 devices. *ret_managed, set on success and on failure: does any
 * request use a class of ours, or is its class unknown and the claim says that it is a gang's?
 * false comes with 0: not our business. options: what selectors are compiled for. */
int tg_claim_check(const struct tg_device_class *const *classes, size_t n_classes,
                   const char *instance, const struct tg_selector_options *options,
                   const struct tg_resource_claim *claim, bool *ret_managed, struct tg_error *err);
/* What of a pod placement cannot model (required inter-pod affinity, DoNotSchedule spread
 * constraints, foreign schedulerName): TG_UNIMPLEMENTED, named. A pinned pod cannot come
 * back, so nothing is guessed. */
int tg_pod_check(const struct tg_pod *pod, struct tg_error *err);

/* 0 and *ret: placed. TG_UNAVAILABLE and *ret_why (err has the text too): cannot be placed now.
 * Anything else is an error of the input (err): what tg_claim_check refuses;
 * TG_FAILED_PRECONDITION, a selector that fails on a device, which
 * ends the placement as it does in the built-in allocator, or, with the reason TG_VOLUME_NOT_READY,
 * a volume that is not there yet; TG_UNIMPLEMENTED, one that is not modelled;
 * TG_RESOURCE_EXHAUSTED, the arena's budget. Memory of results and scratch is the arena's. */
int tg_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
             struct tg_arena *arena, struct tg_placement *ret, struct tg_no_place *ret_why,
             struct tg_error *err);

#endif
