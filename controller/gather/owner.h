/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why members are missing, as the objects tell that create them. Some never create all pods of a
 * gang while the first ones wait (design 4.2): StatefulSet OrderedReady, LeaderWorkerSet
 * LeaderReady, JobSet InOrder, a Job whose parallelism is below the size, rolling updates. Pure:
 * what the objects say goes in, a sentence that names the setting comes out.
 */
#ifndef TG_CONTROLLER_GATHER_OWNER_H
#define TG_CONTROLLER_GATHER_OWNER_H

#include "api/kubernetes/objects/meta.h"
#include "api/runtime/base/arena.h"

/* The few fields that decide how pods are created, of all kinds together; those that a kind does
 * not have are absent. Field names: apps/v1, batch/v1, leaderworkerset.x-k8s.io/v1 and
 * jobset.x-k8s.io/v1alpha2. */
struct tg_owner_strategy {
    const char *type; /* RollingUpdate | Recreate (Deployment) | OnDelete (StatefulSet) */
};
struct tg_owner_startup {
    const char *order; /* JobSet: AnyOrder | InOrder */
};
struct tg_owner_dependency {
    const char *name;
};
struct tg_owner_replicated_job {
    const char *name;
    TG_LIST_OF(struct tg_owner_dependency) depends_on;
};
struct tg_owner_spec {
    struct tg_opt_int replicas;
    struct tg_opt_int parallelism, completions;
    struct tg_opt_bool suspend;
    const char *pod_management_policy;  /* StatefulSet: OrderedReady | Parallel */
    const char *startup_policy;         /* LeaderWorkerSet: LeaderCreated | LeaderReady */
    struct tg_owner_startup *startup;   /* JobSet */
    struct tg_owner_strategy *strategy; /* Deployment strategy, StatefulSet updateStrategy */
    TG_LIST_OF(struct tg_owner_replicated_job) replicated_jobs;
};
struct tg_owner_status {
    const char *current_revision, *update_revision; /* StatefulSet; differ during an update */
};
struct tg_owner {
    struct tg_object_meta *metadata; /* first, as in struct tg_object */
    struct tg_owner_spec *spec;
    struct tg_owner_status *status;
};

/* A kind whose objects are read. The version is what the reference says. */
struct tg_owner_kind {
    const char *kind, *group, *resource;
    const struct tg_type *type; /* of struct tg_owner */
};

/* NULL: not a kind that we know anything about. What is found is safe in a URL: references are
 * written by users. */
const struct tg_owner_kind *tg_owner_kind_find(const struct tg_owner_reference *reference);

/* From a pod outwards: its controller, the controller of that, and so on. */
#define TG_OWNER_CHAIN_MAX 4
struct tg_owner_chain {
    struct {
        const struct tg_owner_kind *kind;
        const struct tg_owner *object;
    } links[TG_OWNER_CHAIN_MAX];
    size_t n;
    size_t members; /* of the gang, that the first of them has made */
};

/* What keeps these owners from creating all of `wanted` members, as a sentence that names the
 * setting and what to do; NULL if nothing is known to. alone: no other owner has members in the
 * gang, so that the sizes of this one count. Also NULL when the arena is exhausted: it is an
 * explanation, nothing depends on it. */
const char *tg_owner_explain(const struct tg_owner_chain *chain, size_t wanted, bool alone,
                             struct tg_arena *arena);

#endif
