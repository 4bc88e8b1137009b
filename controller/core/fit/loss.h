/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others lose when a part of a card is given away. The value of a card is the sum over the
 * places that are open on it (devices that its counters still have enough for) of their memory
 * slices; a place is worth what is left of that value when it is taken. So a part goes where it
 * spoils least: into what is broken already, beside what is there, and whole cards are opened last.
 * Measured in tests/bench/packing.md (POW1 of the reference figures).
 */
#ifndef TG_CORE_FIT_LOSS_H
#define TG_CORE_FIT_LOSS_H

#include "controller/core/fit/table.h"

/* Brings the devices (indexes of the view) into the order of what others lose, the least first;
 * those that consume no counters cost nothing, and equal ones stay as they are. Only devices that
 * some want of the book may have are judged. Memory is the table's arena. */
int tg_fit_loss_sort(struct tg_fit_table *table, size_t *devices, size_t n, struct tg_error *err);

#endif
