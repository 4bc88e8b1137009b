/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that the controller makes up for partitions of cards on servers that keep none: a device
 * that says derived: true is a window of memorySliceSize memory slices of the card parentUUID from
 * memorySliceStart on (attributes of its driver's own domain). Each memory slice of the card is a
 * counter of 1, of which a window takes those that it covers, and the card itself, where it is a
 * device too, all. They depend on no gate: no field of the API carries them. Private to the model.
 */
#ifndef TG_CORE_MODEL_NODE_PARTITIONS_H
#define TG_CORE_MODEL_NODE_PARTITIONS_H

#include "controller/core/model/node_counters.h"

/* More memory slices than any card has. */
#define TG_MEMORY_SLICES_MAX 64

struct tg_node_card {
    const char *uuid;
    size_t first, n; /* its memory slices in the pile */
};
struct tg_node_partitions {
    struct tg_counter_pile *pile;
    struct tg_node_card *cards; /* by UUID */
    size_t n_cards;
    size_t first, n; /* all of them in the pile */
};

/* Adds the counters of the pool to the pile, with everything that is allocated taken off. */
int tg_node_partitions_init(struct tg_node_partitions *ret, const struct tg_model *model,
                            const struct tg_node_pool *pool, struct tg_counter_pile *pile,
                            struct tg_arena *arena, struct tg_error *err);
/* What a device of the pool takes of them: as tg_node_counters_of. A derived one that does not say
 * of what, or that consumes counters of the API besides, is barred. */
int tg_node_partitions_of(const struct tg_node_partitions *partitions, struct tg_view_device *row,
                          struct tg_arena *arena, struct tg_error *err);

#endif
