/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device is to a packing policy: a card of some kind, or a window of memory slices of one.
 * Kinds are told apart by driver and product name (attribute productName of the driver's own
 * domain), without one by driver and capacities. Found out once for each content. Private to
 * controller/core.
 */
#ifndef TG_CORE_MODEL_MAKE_H
#define TG_CORE_MODEL_MAKE_H

#include "controller/core/model/view.h"

/* Kinds that are told apart at most: whatever comes after them is one more kind. */
#define TG_MAKE_KINDS 1024

struct tg_make {
    uint16_t kind;
    /* Of a window (attributes parentUUID, memorySliceStart, memorySliceSize); size 0: the device is
     * the whole card. */
    uint8_t start, size;
    uint32_t card; /* the same for all devices that are the same card, in one pool; 0: no UUID */
};

/* Of the device of that row. */
struct tg_make tg_make_of(const struct tg_fleet *fleet, size_t device);
/* Driver and product, for an order that does not depend on who was met first. */
const char *tg_make_kind_name(const struct tg_fleet *fleet, uint16_t kind);
/* Of a device with shares: the smallest part of a capacity that is left, in thousandths; 0 if it is
 * held wholly. */
unsigned tg_make_left(const struct tg_fleet *fleet, size_t device);
/* What part of the device a request asks for that says so (capacity of an exact request, JSON), in
 * thousandths of the capacity of which it asks most; 1000 without any, or when the device is not
 * shared. */
unsigned tg_make_part(const struct tg_fleet *fleet, size_t device, const char *capacity);

#endif
