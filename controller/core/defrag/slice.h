/* SPDX-License-Identifier: Apache-2.0 */
/* Partitioned cards: the one instance to move so that a refused one fits. A pure plan. */
#ifndef TG_CORE_DEFRAG_SLICE_H
#define TG_CORE_DEFRAG_SLICE_H

#include "controller/core/pack/partition.h"

struct tg_slice_move {
    unsigned instance; /* its number in the caller's list */
    unsigned to_card;
    uint8_t to_start;
    unsigned card; /* where the new instance then goes */
    uint8_t start;
    int gain; /* of the value of all cards (partition.h), by move and new instance; mostly < 0 */
};

/* The move after which most of the value is left, of those that are not pinned; of equal ones that
 * which stays on its card, then that of the first instance. Leaves `masks` as they are. false: no
 * single move helps. */
bool tg_slice_plan(const struct tg_partition *partition, uint8_t *masks, unsigned cards,
                   const struct tg_partition_instance *instances, unsigned n_instances,
                   unsigned profile, struct tg_slice_move *ret);

#endif
