/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of MIG instances on one card: which may exist together. The rule (MIG manager of the open
 * GPU kernel modules): windows of memory slices do not overlap, each starts where its profile may,
 * no profile is there more often than its maximum, and no more engines are used than the full-size
 * profile has. Engines that nobody has read count as none.
 */
#ifndef TG_MIG_LAYOUT_H
#define TG_MIG_LAYOUT_H

#include "api/mig/card.h"
#include "api/runtime/base/error.h"

#define TG_LAYOUT_MAX 8 /* more instances fit on no card: there are at most 8 memory slices */

struct tg_layout_instance {
    const struct tg_card_profile *profile; /* of the card */
    uint8_t start;                         /* memory slice */
};

/* The memory slices that an instance covers, bit i for slice i. */
static inline uint8_t tg_layout_window(const struct tg_card_profile *profile, uint8_t start)
{
    return (uint8_t)(((1u << profile->memory_slices) - 1) << start);
}

/* 0 if the instances may exist together on the card (in any order; none is legal too).
 * TG_INVALID_ARGUMENT for an instance that can never exist there, TG_FAILED_PRECONDITION for a
 * conflict; the text names the instances. */
int tg_layout_check(const struct tg_card *card, const struct tg_layout_instance *instances,
                    size_t n, struct tg_error *err);

#endif
