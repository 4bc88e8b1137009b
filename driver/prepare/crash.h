/* SPDX-License-Identifier: Apache-2.0 */
/* Test seam: stands for kill -9. Durable steps (a journal write, a CDI document written or removed)
 * are counted; after the chosen one nothing happens any more. NULL, as in programs, never stops. */
#ifndef TG_DRIVER_PREPARE_CRASH_H
#define TG_DRIVER_PREPARE_CRASH_H

#include <stdbool.h>

#include "api/runtime/base/error.h"

struct tg_prepare_crash {
    unsigned after; /* stop when `steps` has reached this; 0 = never */
    unsigned steps; /* done so far */
    bool crashed;   /* from here on every call fails with TG_UNAVAILABLE and touches nothing */
};

/* Before a step: refuses if the crash has been. */
static inline int tg_prepare_crash_check(const struct tg_prepare_crash *crash, struct tg_error *err)
{
    if (crash != NULL && crash->crashed)
        return tg_error_set(err, TG_UNAVAILABLE, "crashed on purpose");
    return 0;
}

/* After a step. */
static inline int tg_prepare_crash_step(struct tg_prepare_crash *crash, struct tg_error *err)
{
    if (crash == NULL)
        return 0;
    crash->steps++;
    if (crash->steps == crash->after)
        crash->crashed = true;
    return tg_prepare_crash_check(crash, err);
}

#endif
