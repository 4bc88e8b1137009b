/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How parts of cards are published. It depends on what the API server keeps (dra-api: counters are
 * a feature that may be off, and a server that has it off drops the fields without a word, after
 * which the same memory would be given away several times), so the caller finds that out first.
 */
#ifndef TG_DRIVER_INVENTORY_LAYOUT_H
#define TG_DRIVER_INVENTORY_LAYOUT_H

#include "driver/provider/provider.h"

enum tg_slice_layout {
    TG_SLICES_PLAIN,    /* only what stands: a place that has to be made first is left out */
    TG_SLICES_DERIVED,  /* places, too, with derived: true; the controller keeps the counters */
    TG_SLICES_COUNTERS, /* places, too, and counter sets in slices of their own (1.35 and newer) */
    TG_SLICES_TOGETHER, /* places, too, and each counter set beside the devices that consume
                           it: 1.34 with its alpha feature, which looks no further than a slice */
};

static inline bool tg_slice_layout_keeps_counters(enum tg_slice_layout layout)
{
    return layout == TG_SLICES_COUNTERS || layout == TG_SLICES_TOGETHER;
}

/* By what the server keeps (plain, counters or together), and whether there is a controller that
 * derives counters where it keeps none. */
static inline enum tg_slice_layout tg_slice_layout_choose(enum tg_slice_layout kept, bool derives)
{
    return kept == TG_SLICES_PLAIN && derives ? TG_SLICES_DERIVED : kept;
}

/* True if the set has what layouts treat differently. */
static inline bool tg_slice_layout_matters(const struct tg_device_set *set)
{
    return set->counter_sets.n > 0;
}

struct tg_published {
    struct tg_device *items;
    size_t n;
    bool counters; /* some consume counters: fewer fit into a slice */
};

/* The devices of the set as that layout publishes them, in the order of the set; data is borrowed
 * from the set or in the arena. */
int tg_slice_layout_apply(enum tg_slice_layout layout, const struct tg_device_set *set,
                          struct tg_arena *arena, struct tg_published *ret, struct tg_error *err);

#endif
