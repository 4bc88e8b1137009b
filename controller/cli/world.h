/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster on paper: what the documents say, in the form in which the controller sees a cluster
 * (gather/view.h). Objects that other controllers would make are made here: pods of Jobs and sets,
 * claims of templates. Nothing is decided.
 */
#ifndef TG_CONTROLLER_CLI_WORLD_H
#define TG_CONTROLLER_CLI_WORLD_H

#include "api/tangram/configuration.h"
#include "controller/cli/documents.h"
#include "controller/core/cel/selector.h"
#include "controller/gather/owner.h"
#include "controller/gather/view.h"

/* Pods that documents may stand for, all together. */
#define TG_WORLD_PODS_MAX 100000

/* What makes pods, for tg_owner_explain. */
struct tg_world_owner {
    const struct tg_owner_kind *kind;
    const struct tg_owner *object;
    const char *uid;
};

struct tg_world {
    struct tg_arena *arena;
    struct tg_problems *problems;
    struct tg_view view;
    struct tg_configuration *configuration; /* never NULL after tg_world_finish */
    struct tg_map *templates;               /* "ns/name" -> struct tg_resource_claim_template */
    struct tg_map *priorities;              /* PriorityClass -> struct tg_json of its value */
    struct tg_map *ignored;                 /* "Kind" -> count: kinds that mean nothing here */
    struct tg_map *owners;                  /* uid of an owner -> struct tg_world_owner */
    TG_VEC(struct tg_document) makers;      /* of pods, until tg_world_finish */
    TG_VEC(const char *) levels; /* of short fleets, in the order of first use, and their sizes */
    TG_VEC(size_t) level_sizes;
    struct tg_zoneinfo *zoneinfo; /* what selectors are compiled for: the newest release */
    struct tg_cel_zones zones;
    struct tg_selector_options selectors;
    const char *created;      /* creationTimestamp of what is made */
    int64_t cards;            /* of short fleets */
    bool short_form;          /* a Fleet document was there */
    bool unreadable_template; /* a ResourceClaimTemplate has a problem, which is told */
    size_t made;              /* objects made, for UIDs */
    size_t gates_added;       /* pods that got the gate */
    struct tg_map *fresh;     /* UIDs of pods that no cluster has seen yet */
};

/* created: RFC 3339, for objects without a time; outlives the world. */
void tg_world_init(struct tg_world *world, struct tg_arena *arena, struct tg_problems *problems,
                   const char *created);
void tg_world_done(struct tg_world *world);

/* What the documents say; problems are added, and the rest is used. */
void tg_world_add(struct tg_world *world, const struct tg_documents *documents);
/* After all documents: makes pods and claims, and chooses what was not said. */
void tg_world_finish(struct tg_world *world);

/* --- for the parts of the world --- */

const char *tg_world_uid(struct tg_world *world);
/* Adds an object; a second one of its name is a problem at document (may be NULL). */
void tg_world_put(struct tg_world *world, enum tg_view_kind kind, const void *object,
                  const struct tg_document *document);

/* Names that a cluster would take; false: a problem was added. */
bool tg_world_check_names(struct tg_world *world, const struct tg_document *document,
                          const struct tg_object_meta *meta);

/* fleet_form.c: the short form (design 11). */
void tg_fleet_form_add(struct tg_world *world, const struct tg_document *document);
/* workload.c: pods of what makes pods. */
bool tg_workload_known(const struct tg_document *document);
void tg_workload_add(struct tg_world *world, const struct tg_document *document);
/* claims.c: the pod. fresh: no cluster has seen it yet; it gets the claims of its templates and the
 * gate. */
void tg_world_add_pod(struct tg_world *world, struct tg_pod *pod, bool fresh,
                      const struct tg_document *document);

#endif
