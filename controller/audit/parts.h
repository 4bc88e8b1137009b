/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks share; not for use outside controller/audit. */
#ifndef TG_CONTROLLER_AUDIT_PARTS_H
#define TG_CONTROLLER_AUDIT_PARTS_H

#include "api/tangram/plan_marker.h"
#include "controller/audit/audit.h"
#include "controller/core/model/fleet.h"

/* A device that an allocation holds (adminAccess holds nothing). */
struct tg_audit_hold {
    const struct tg_allocation_device *result;
    const struct tg_resource_claim *claim;
};

/* The slices of the newest generation of one pool, complete. */
struct tg_audit_pool {
    const struct tg_resource_slice **slices;
    size_t n;
    /* What holds devices of it, sorted by device. */
    const struct tg_audit_hold *holds;
    size_t n_holds;
};

struct tg_auditing {
    const struct tg_view *view;
    const char *instance;
    struct tg_arena *arena;
    struct tg_findings *out;
    struct tg_error *err;
    /* Set by tg_audit_devices: sorted by driver, pool, device. */
    struct tg_audit_hold *holds;
    size_t n_holds;
};

/* Adds a finding (printf). */
int tg_audit_found(struct tg_auditing *a, enum tg_finding_code code, const struct tg_kind *kind,
                   const struct tg_object_meta *about, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
int tg_audit_out_of_memory(struct tg_auditing *a);

/* The name of a class of that kind which the claim asks for, or NULL. */
const char *tg_audit_class(const struct tg_auditing *a, const struct tg_resource_claim *claim,
                           enum tg_class_kind kind);
/* It asks for a managed class, or its allocation carries our marker. */
bool tg_audit_is_ours(const struct tg_auditing *a, const struct tg_resource_claim *claim);
/* The pod of that name, if it is the one with this UID; else NULL. */
const struct tg_pod *tg_audit_pod(const struct tg_auditing *a, const char *namespace_,
                                  const char *name, const char *uid);
bool tg_audit_reserved_for(const struct tg_resource_claim *claim, const char *uid);

/* The checks, one file each; in the order in which their findings come. */
int tg_audit_devices(struct tg_auditing *a);                                   /* I1: devices.c */
int tg_audit_pools(struct tg_auditing *a);                                     /* I1: pools.c */
int tg_audit_shares(struct tg_auditing *a, const struct tg_audit_pool *pool);  /* shares.c */
int tg_audit_windows(struct tg_auditing *a, const struct tg_audit_pool *pool); /* shares.c */
int tg_audit_pods(struct tg_auditing *a);                                      /* I2: pods.c */
int tg_audit_gangs(struct tg_auditing *a);  /* I2, I3, plans: gangs.c */
int tg_audit_claims(struct tg_auditing *a); /* I4, markers, what is left over: claims.c */

#endif
