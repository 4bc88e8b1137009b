/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device selectors, as Kubernetes means them: the thin face of this folder for model, fit and gang.
 * What the API server would refuse in a new object of any release up to ours is refused when it is
 * compiled (length, types, estimated cost); what the scheduler stops at run time we stop.
 * Evaluation works on the stack; only large ones take memory of their own, up to
 * TG_CEL_EVALUATION_MEMORY.
 */
#ifndef TG_CORE_CEL_SELECTOR_H
#define TG_CORE_CEL_SELECTOR_H

#include <stdbool.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "controller/core/cel/zone.h"

struct tg_selector;
struct tg_cel_reads;

/* What the cluster is. All zero: of the newest release, without time zones but UTC. */
struct tg_selector_options {
    unsigned minor; /* Kubernetes 1.minor, 34 to 37; others count as the nearest, 0 as the newest */
    const struct tg_cel_zones *zones; /* outlive the selector */
};

/* With all feature gates on: the API server of the cluster has judged the expression by its own
 * already. options: NULL for all zero. TG_INVALID_ARGUMENT: a syntax or type error, with its place,
 * a library that the release does not have, or too costly; TG_RESOURCE_EXHAUSTED: the arena. */
int tg_selector_compile_with(const char *expression, const struct tg_selector_options *options,
                             struct tg_arena *arena, struct tg_selector **ret,
                             struct tg_error *err);
int tg_selector_compile(const char *expression, struct tg_arena *arena, struct tg_selector **ret,
                        struct tg_error *err);
int tg_selector_compile_for(const char *expression, unsigned minor, struct tg_arena *arena,
                            struct tg_selector **ret, struct tg_error *err);
/* The device with the virtual attribute tangram.dev/granted overlaid. A run-time error (no such
 * key, wrong type, cost limit) is TG_FAILED_PRECONDITION. */
int tg_selector_matches(const struct tg_selector *selector, const char *driver,
                        const struct tg_device *device, bool *ret, struct tg_error *err);
/* The device as its slice publishes it: what the built-in allocator sees. Errors as above. */
int tg_selector_matches_published(const struct tg_selector *selector, const char *driver,
                                  const struct tg_device *device, bool *ret, struct tg_error *err);
/* What the result depends on: devices that agree in it give the same. */
const struct tg_cel_reads *tg_selector_reads(const struct tg_selector *selector);

#endif
