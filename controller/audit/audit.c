/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/audit/audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/audit/parts.h"
#include "controller/gather/grant.h"

#define TEXT_MAX 1024

static const struct {
    const char *reason, *invariant;
    bool passes;
} codes[TG_FOUND_CODES] = {
    [TG_FOUND_DEVICE_HELD_TWICE] = {"DeviceHeldTwice", "I1", false},
    [TG_FOUND_COUNTERS_EXCEEDED] = {"CountersExceeded", "I1", true},
    [TG_FOUND_CAPACITY_EXCEEDED] = {"CapacityExceeded", "I1", true},
    [TG_FOUND_STARTED_WITHOUT_CLAIM] = {"StartedWithoutClaim", "I2", true},
    [TG_FOUND_STARTED_ELSEWHERE] = {"StartedElsewhere", "I2", true},
    [TG_FOUND_PARTLY_ALLOCATED] = {"PartlyAllocated", "I3", true},
    [TG_FOUND_UNMANAGED_CLASS] = {"UnmanagedClass", "I4", true},
    [TG_FOUND_CONTESTED_DEVICE] = {"ContestedDevice", "I4", true},
    [TG_FOUND_INVALID_ALLOCATION] = {"InvalidAllocation", "", true},
    [TG_FOUND_PLAN_WITHOUT_CLAIM] = {"PlanWithoutClaim", "", true},
    [TG_FOUND_MARKER_WITHOUT_PLAN] = {"MarkerWithoutPlan", "", true},
    [TG_FOUND_RESERVATION_WITHOUT_POD] = {"ReservationWithoutPod", "", true},
    [TG_FOUND_NEVER_RESERVED] = {"NeverReserved", "", true},
    [TG_FOUND_ORPHANED_FINALIZER] = {"OrphanedFinalizer", "", true},
};

const char *tg_finding_reason(enum tg_finding_code code)
{
    return codes[code].reason;
}

const char *tg_finding_invariant(enum tg_finding_code code)
{
    return codes[code].invariant;
}

bool tg_finding_passes(enum tg_finding_code code)
{
    return codes[code].passes;
}

int tg_audit_out_of_memory(struct tg_auditing *a)
{
    return tg_error_set(a->err, TG_RESOURCE_EXHAUSTED, "the memory budget of an audit is used up");
}

int tg_audit_found(struct tg_auditing *a, enum tg_finding_code code, const struct tg_kind *kind,
                   const struct tg_object_meta *about, const char *format, ...)
{
    struct tg_finding *finding;
    char text[TEXT_MAX];
    va_list args;

    a->out->total++;
    if (a->out->n == TG_FINDINGS_MAX)
        return 0;
    finding = &a->out->items[a->out->n++];
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *finding = (struct tg_finding){
        .code = code, .kind = kind, .about = about, .text = tg_arena_strdup(a->arena, text)};
    return finding->text == NULL ? tg_audit_out_of_memory(a) : 0;
}

bool tg_audit_is_ours(const struct tg_auditing *a, const struct tg_resource_claim *claim)
{
    struct tg_plan_marker marker;

    return tg_audit_class(a, claim, TG_CLASS_MANAGED) != NULL ||
           (tg_claim_marker(claim, a->arena, &marker) &&
            tg_streq(tg_or(marker.instance, TG_INSTANCE_DEFAULT), a->instance));
}

static const char *class_of(const struct tg_auditing *a, const struct tg_exact_request *request,
                            enum tg_class_kind kind)
{
    const struct tg_device_class *klass =
        tg_view_get(a->view, TG_VIEW_CLASS, NULL, request->device_class_name);

    return klass != NULL && tg_class_kind(klass, a->instance) == kind ? klass->metadata->name
                                                                      : NULL;
}

const char *tg_audit_class(const struct tg_auditing *a, const struct tg_resource_claim *claim,
                           enum tg_class_kind kind)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    const char *name = NULL;

    for (size_t i = 0; devices != NULL && name == NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (request->exactly != NULL)
            name = class_of(a, request->exactly, kind);
        for (size_t j = 0; name == NULL && j < request->first_available.n; j++)
            name = class_of(a, &request->first_available.items[j], kind);
    }
    return name;
}

const struct tg_pod *tg_audit_pod(const struct tg_auditing *a, const char *namespace_,
                                  const char *name, const char *uid)
{
    const struct tg_pod *pod = name == NULL ? NULL : tg_view_pod(a->view, namespace_, name);

    return pod != NULL && tg_streq(pod->metadata->uid, uid) ? pod : NULL;
}

bool tg_audit_reserved_for(const struct tg_resource_claim *claim, const char *uid)
{
    for (size_t i = 0; claim->status != NULL && i < claim->status->reserved_for.n; i++)
        if (tg_streq(claim->status->reserved_for.items[i].uid, uid))
            return true;
    return false;
}

static int compare(const void *pa, const void *pb)
{
    const struct tg_finding *a = pa, *b = pb;
    int order = (int)a->code - (int)b->code;

    if (order == 0)
        order = tg_strcmp(a->about->namespace_, b->about->namespace_);
    if (order == 0)
        order = tg_strcmp(a->about->name, b->about->name);
    return order != 0 ? order : tg_strcmp(a->text, b->text);
}

int tg_audit(const struct tg_view *view, const char *instance, struct tg_arena *arena,
             struct tg_findings *ret, struct tg_error *err)
{
    static int (*const checks[])(struct tg_auditing *) = {
        tg_audit_devices, tg_audit_pools, tg_audit_pods, tg_audit_gangs, tg_audit_claims};
    struct tg_auditing a = {
        .view = view, .instance = instance, .arena = arena, .out = ret, .err = err};

    ret->n = ret->total = 0;
    for (size_t i = 0; i < TG_ARRAY_SIZE(checks); i++) {
        int r = checks[i](&a);

        if (r < 0)
            return r;
    }
    qsort(ret->items, ret->n, sizeof(ret->items[0]), compare);
    return 0;
}
