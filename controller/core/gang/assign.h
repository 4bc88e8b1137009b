/* SPDX-License-Identifier: Apache-2.0 */
/* From "which member on which node" to "which device for which request": lowest names first. */
#ifndef TG_CORE_GANG_ASSIGN_H
#define TG_CORE_GANG_ASSIGN_H

#include "controller/core/gang/board.h"

/* For every placed member: devices[member] is the list of its devices (indexes in the fleet), slot
 * after slot, in a slot by name. devices has board->n_members entries; those of members without a
 * node stay NULL. */
int tg_assign_devices(struct tg_board *board, size_t **devices, struct tg_error *err);

#endif
