/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run-time auditor: reads what the API server says and tells where it breaks the invariants of
 * the design (5.2, I1 to I4) or where something is left over that nobody will clear. It shares no
 * code with what decides and writes, and never repairs: an alarm that cleans up after itself is
 * one that nobody looks into.
 */
#ifndef TG_CONTROLLER_AUDIT_AUDIT_H
#define TG_CONTROLLER_AUDIT_AUDIT_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "controller/gather/view.h"

/* What can be found; the reasons (tg_finding_reason) and their meaning are in README.md. */
enum tg_finding_code {
    TG_FOUND_DEVICE_HELD_TWICE,
    TG_FOUND_COUNTERS_EXCEEDED,
    TG_FOUND_CAPACITY_EXCEEDED,
    TG_FOUND_STARTED_WITHOUT_CLAIM,
    TG_FOUND_STARTED_ELSEWHERE,
    TG_FOUND_PARTLY_ALLOCATED,
    TG_FOUND_UNMANAGED_CLASS,
    TG_FOUND_CONTESTED_DEVICE,   /* grants.h */
    TG_FOUND_INVALID_ALLOCATION, /* grants.h */
    TG_FOUND_PLAN_WITHOUT_CLAIM,
    TG_FOUND_MARKER_WITHOUT_PLAN,
    TG_FOUND_RESERVATION_WITHOUT_POD,
    TG_FOUND_NEVER_RESERVED,
    TG_FOUND_ORPHANED_FINALIZER,
    TG_FOUND_CODES, /* how many there are */
};

struct tg_finding {
    enum tg_finding_code code;
    const struct tg_kind *kind;
    const struct tg_object_meta *about;
    const char *text;
};

/* CamelCase, for events and metrics. */
const char *tg_finding_reason(enum tg_finding_code code);
/* The invariant that is broken: "I1" to "I4", or "" for what is merely left over. */
const char *tg_finding_invariant(enum tg_finding_code code);
/* Also to be seen for a moment where all is well: between two writes, or because the lists of
 * different kinds are not of the same instant. Only what lasts is one then. */
bool tg_finding_passes(enum tg_finding_code code);

#define TG_FINDINGS_MAX 256 /* that are listed; the rest is counted */

struct tg_findings {
    struct tg_finding items[TG_FINDINGS_MAX];
    size_t n;
    size_t total; /* with those that are not listed */
};

/* Everything that is wrong in the view. ret is the caller's; texts are the arena's, objects the
 * view's. Classes of `instance` are ours. The same view gives the same findings in the same order,
 * whatever the order of its lists. TG_RESOURCE_EXHAUSTED: the arena. */
int tg_audit(const struct tg_view *view, const char *instance, struct tg_arena *arena,
             struct tg_findings *ret, struct tg_error *err);

#endif
