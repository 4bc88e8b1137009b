/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a search with an error, as it ends the built-in allocator's: the input is at fault, not
 * the fleet. The names are those of the allocator cases. */
#ifndef TG_CORE_FIT_FAULT_H
#define TG_CORE_FIT_FAULT_H

#include "api/runtime/base/arena.h"

enum tg_fit_fault {
    TG_FAULT_NONE,
    TG_FAULT_CLAIM_LIMIT, /* more than 32 devices whatever is chosen */
    TG_FAULT_UNKNOWN_CLASS,
    TG_FAULT_MISSING_CLASS,    /* no class name */
    TG_FAULT_FEATURE_DISABLED, /* a field of a gate that is off */
    TG_FAULT_CEL_COMPILE,
    TG_FAULT_CEL_RUNTIME,
    TG_FAULT_UNSUPPORTED_SELECTOR, /* not CEL */
    TG_FAULT_UNSUPPORTED_MODE,
    TG_FAULT_UNSUPPORTED_CONSTRAINT,
    TG_FAULT_UNSUPPORTED_ATTRIBUTE_VALUE, /* a device's attribute has no value that is known */
    TG_FAULT_POOL_INCOMPLETE_ALL,         /* All, while a pool is being updated */
    TG_FAULT_CONSTRAINT_ALL,              /* All, and a constraint forbids one of the devices */
    TG_FAULT_INVALID_POOLS,
    TG_FAULT_UNREADABLE_CAPACITY, /* a request that is no quantity */
};

struct tg_fit_problem {
    enum tg_fit_fault fault;
    unsigned feature;    /* TG_FAULT_FEATURE_DISABLED: of enum tg_feature */
    const char *message; /* for people; of the arena or static */
};

/* Sets *problem and returns true, so that it can be returned. A message that does not fit into the
 * arena is replaced by the fault's name. */
bool tg_fit_fail(struct tg_fit_problem *problem, struct tg_arena *arena, enum tg_fit_fault fault,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "claimLimit", ...; "featureDisabled" without its gate. "" for none. */
const char *tg_fit_fault_name(enum tg_fit_fault fault);

#endif
