/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: the decided node and devices of every claim of a gang. It stands in Gang.status.plan (the
 * commit point) or, for the implicit gang of a pod with several claims, as compact JSON in the
 * pod's annotation tangram.dev/plan. When all gates are gone it shrinks to member -> node.
 */
#ifndef TG_TANGRAM_PLAN_H
#define TG_TANGRAM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"

/* A whole plan must fit into one etcd object (1.5 MiB): about 600 bytes a member with 8 devices. */
#define TG_GANG_MAX_MEMBERS 2048

/* The devices of one request. Device i of the list is result i of that request; the order of
 * requests and devices is the order of the results that are written. */
struct tg_plan_result {
    const char *request; /* "req" or "req/sub" */
    TG_LIST_OF(const char *) devices;
    const char *driver; /* NULL: tg_plan.driver */
    const char *pool; /* NULL: the member's node (pools of node-local devices are named after it) */
    struct tg_opt_bool admin_access; /* true: the devices stay free for others */
    /* Of devices that are shared: what each of them gives, JSON object (consumedCapacity of the
     * results); {} for one without capacity. NULL: they are had wholly. */
    const char *consumed;
    /* As the devices had them when the plan was made. */
    TG_LIST_OF(const char *) binding_conditions;
    TG_LIST_OF(const char *) binding_failure_conditions;
};

struct tg_plan_claim {
    const char *name;
    const char *uid;
    TG_LIST_OF(struct tg_plan_result) results;
};

struct tg_plan_member {
    const char *pod;
    const char *uid;
    const char *role; /* NULL: the nameless role */
    const char *node;
    /* Empty: no claims, or the plan has shrunk. A claim that several members share is listed with
     * the first of them. */
    TG_LIST_OF(struct tg_plan_claim) claims;
};

/* Class configuration as it was when the plan was made. An allocation copies it and is immutable,
 * classes are not: replay must not depend on what the class says by then. */
struct tg_plan_class {
    const char *name;
    const char *config; /* JSON array, spec.config of the DeviceClass */
};

/* Everything that the writes of steps 2 and 3 of the commit need and that the claims do not say.
 * The same shape is the value of the annotation tangram.dev/plan on the pod of an implicit gang. */
struct tg_plan {
    struct tg_opt_int epoch;                  /* of the leader that decided it */
    const char *allocation_timestamp;         /* RFC 3339, whole seconds, UTC */
    const char *driver;                       /* plan-wide default of results[].driver */
    TG_LIST_OF(struct tg_plan_class) classes; /* only those with a configuration */
    TG_LIST_OF(struct tg_plan_member) members;
};

extern const struct tg_type tg_plan_type;

/* The driver and pool of a result, defaults applied. */
const char *tg_plan_result_driver(const struct tg_plan *plan, const struct tg_plan_result *result);
const char *tg_plan_result_pool(const struct tg_plan_member *member,
                                const struct tg_plan_result *result);

/* How many results the claim has. */
size_t tg_plan_claim_results(const struct tg_plan_claim *claim);
/* The share id of result `index` of the claim (of all its results, in order): a UUID made of the
 * plan's epoch and time, the claim and the index, so that every replay writes the same one. */
#define TG_PLAN_SHARE_ID 37
void tg_plan_share_id(const struct tg_plan *plan, const struct tg_plan_claim *claim, size_t index,
                      char ret[TG_PLAN_SHARE_ID]);

/* A decoded plan can be replayed: epoch >= 0, allocationTimestamp when a member has claims, at
 * least one member, and nothing that tg_plan_* or a writer would dereference is missing. Plans are
 * written by us alone, but an annotation can be edited by anyone who may write the pod.
 * TG_DATA_LOSS names the field. */
int tg_plan_validate(const struct tg_plan *plan, struct tg_error *err);

#endif
