/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Gang object (tangram.dev/v1alpha1), as structs and field tables. All memory of a decoded Gang
 * lies in the arena it was decoded into; absent is NULL, n == 0 or !set (api/runtime/json/field.h).
 * Durations are text as Go prints them ("10m"); tg_gang_* functions turn them into nanoseconds.
 */
#ifndef TG_TANGRAM_GANG_H
#define TG_TANGRAM_GANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/objects/meta.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"
#include "api/tangram/plan.h"
#include "api/tangram/schema.h"

#define TG_GANG_MAX_ROLES 32 /* members: TG_GANG_MAX_MEMBERS, plan.h */
/* Names double as label values of pods. */
#define TG_GANG_NAME_MAX 63

/* -- spec ------------------------------------------------------------------------------------ */

struct tg_topology_pack {
    const char *required;  /* level name or raw label key: all members in one domain of it */
    const char *preferred; /* as few domains of it as possible */
};

struct tg_topology_spread {
    const char *level;
    struct tg_opt_int max_per_domain;
    const char *mode; /* Required | Preferred */
};

struct tg_topology {
    struct tg_topology_pack *pack;
    TG_LIST_OF(struct tg_topology_spread) spread;
};

struct tg_gang_role {
    const char *name;
    struct tg_opt_int size;
    struct tg_opt_int min_size; /* default: size */
    TG_LIST_OF(const char *) start_after;
    struct tg_topology *topology;
};

struct tg_gang_device_constraint {
    const char *match_attribute;    /* fully qualified: "domain/name" */
    TG_LIST_OF(const char *) roles; /* empty: all */
};

struct tg_gang_disruption {
    struct tg_opt_bool movable;
};

struct tg_gang_spec {
    struct tg_opt_int size; /* shorthand of one nameless role; excludes roles */
    TG_LIST_OF(struct tg_gang_role) roles;
    struct tg_topology *topology;
    TG_LIST_OF(struct tg_gang_device_constraint) device_constraints;
    const char *queue;
    const char *schedule_timeout;
    const char *bind_timeout;
    const char *on_member_loss; /* Hold | Recreate | Release */
    const char *hold_for;
    struct tg_gang_disruption *disruption;
};

/* -- status ------------------------------------------------------------------------------------ */

/* One device of the place of a lost member, or a node that is kept for a gang that waits. */
struct tg_gang_hold {
    const char *pod;    /* the member that was lost; NULL: none was, the gang has no plan yet */
    const char *node;   /* where its place is */
    const char *device; /* "driver/pool/device"; NULL: nothing is known but the node */
    const char *until;  /* RFC 3339 */
    const char *why;
};
/* What does not fit into the list is not held. */
#define TG_GANG_MAX_HOLDS 1024

struct tg_gang_shortage {
    const char *role;             /* NULL: the nameless role */
    struct tg_opt_int members;    /* how many lack a place */
    struct tg_opt_int per_member; /* devices each of them needs */
    TG_LIST_OF(const char *) classes;
};

/* Phases; clients accept unknown ones. */
#define TG_PHASE_GATHERING "Gathering"
#define TG_PHASE_WAITING "Waiting"
#define TG_PHASE_COMMITTING "Committing"
#define TG_PHASE_ALLOCATED "Allocated"
#define TG_PHASE_RUNNING "Running"
#define TG_PHASE_DEGRADED "Degraded"
#define TG_PHASE_RELEASING "Releasing"
#define TG_PHASE_COMPLETED "Completed"
#define TG_PHASE_FAILED "Failed"

/* Condition types. */
#define TG_CONDITION_ACCEPTED                                                                      \
    "Accepted" /* False: the spec or a member contradicts; reason and message say how */
#define TG_CONDITION_ALLOCATED "Allocated" /* True: every claim is allocated per the plan */
#define TG_CONDITION_RUNNING "Running"     /* True: every member is bound */

struct tg_gang_status {
    struct tg_opt_int observed_generation;
    struct tg_opt_int epoch; /* of the leader that wrote the status last */
    const char *instance;    /* of the controller, which alone writes the status; NULL: open */
    const char *phase;
    struct tg_plan *plan;
    TG_LIST_OF(struct tg_gang_hold) holds;
    TG_LIST_OF(struct tg_gang_shortage) shortage;
    const char *explanation;
    TG_LIST_OF(struct tg_condition) conditions;
};

struct tg_gang {
    struct tg_object_meta *metadata; /* first, as in struct tg_object */
    const char *api_version;
    const char *kind;
    struct tg_gang_spec *spec;
    struct tg_gang_status *status;
};

/* Not strict: a newer API server may hold more than we know. */
extern const struct tg_type tg_gang_type;
extern const struct tg_type tg_gang_spec_type;
extern const struct tg_type tg_gang_status_type;
/* The CRD made of them. */
extern const struct tg_crd tg_gang_crd;

/* The rules of the schema again, for objects that were stored before the schema had them: exactly
 * one of size and roles, sizes 1..TG_GANG_MAX_MEMBERS (also their sum), unique role names, minSize
 * <= size, durations that parse. TG_INVALID_ARGUMENT names the field. */
int tg_gang_validate(const struct tg_gang *gang, struct tg_error *err);

/* TG_UNIMPLEMENTED, naming the first field whose machinery this version does not have and what to
 * do: queue, roles[].startAfter, roles[].topology, spread, deviceConstraints,
 * disruption.movable: true. Fields are refused, never ignored. */
int tg_gang_unsupported(const struct tg_gang *gang, struct tg_error *err);

/* Members of all roles together; 0 if the spec has none (not validated). */
size_t tg_gang_total(const struct tg_gang *gang);
/* Members of the role; NULL is the nameless role of `size`. 0 if there is no such role. */
size_t tg_gang_role_size(const struct tg_gang *gang, const char *role);
/* The gang's pack level or NULL. */
const char *tg_gang_pack_required(const struct tg_gang *gang);
const char *tg_gang_pack_preferred(const struct tg_gang *gang);
/* Members of the role without which the gang cannot start: minSize, by default the size. */
size_t tg_gang_role_min(const struct tg_gang *gang, const char *role);
/* The same of all roles together. */
size_t tg_gang_min_total(const struct tg_gang *gang);
/* spec.onMemberLoss; Hold by default. */
enum tg_on_loss { TG_LOSS_HOLD, TG_LOSS_RECREATE, TG_LOSS_RELEASE };
enum tg_on_loss tg_gang_on_loss(const struct tg_gang *gang);
/* spec.holdFor in nanoseconds, or fallback when absent. */
int64_t tg_gang_hold_for(const struct tg_gang *gang, int64_t fallback);
/* spec.scheduleTimeout in nanoseconds, 0 when absent: the gang waits for ever. */
int64_t tg_gang_schedule_timeout(const struct tg_gang *gang);
/* spec.bindTimeout in nanoseconds, or fallback when absent. */
int64_t tg_gang_bind_timeout(const struct tg_gang *gang, int64_t fallback);

#endif
