/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/runtime/base/cleanup.h"

#define MESSAGE_MAX 512

static const char *const names[] = {
    [TG_FAULT_NONE] = "",
    [TG_FAULT_CLAIM_LIMIT] = "claimLimit",
    [TG_FAULT_UNKNOWN_CLASS] = "unknownClass",
    [TG_FAULT_MISSING_CLASS] = "missingClass",
    [TG_FAULT_FEATURE_DISABLED] = "featureDisabled",
    [TG_FAULT_CEL_COMPILE] = "celCompile",
    [TG_FAULT_CEL_RUNTIME] = "celRuntime",
    [TG_FAULT_UNSUPPORTED_SELECTOR] = "unsupportedSelector",
    [TG_FAULT_UNSUPPORTED_MODE] = "unsupportedMode",
    [TG_FAULT_UNSUPPORTED_CONSTRAINT] = "unsupportedConstraint",
    [TG_FAULT_UNSUPPORTED_ATTRIBUTE_VALUE] = "unsupportedAttributeValue",
    [TG_FAULT_POOL_INCOMPLETE_ALL] = "poolIncompleteAll",
    [TG_FAULT_CONSTRAINT_ALL] = "constraintAll",
    [TG_FAULT_INVALID_POOLS] = "invalidPools",
    [TG_FAULT_UNREADABLE_CAPACITY] = "unreadableCapacity",
};

const char *tg_fit_fault_name(enum tg_fit_fault fault)
{
    return (size_t)fault < TG_ARRAY_SIZE(names) ? names[fault] : "";
}

bool tg_fit_fail(struct tg_fit_problem *problem, struct tg_arena *arena, enum tg_fit_fault fault,
                 const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *problem = (struct tg_fit_problem){.fault = fault, .message = tg_arena_strdup(arena, text)};
    if (problem->message == NULL)
        problem->message = tg_fit_fault_name(fault);
    return true;
}
