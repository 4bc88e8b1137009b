/* SPDX-License-Identifier: Apache-2.0 */
/* From "which member on which node" to "which device for which request": lowest names first. */
#ifndef TG_CORE_GANG_ASSIGN_H
#define TG_CORE_GANG_ASSIGN_H

#include "controller/core/gang/board.h"

struct tg_assigned { /* one device of a member */
    size_t device;   /* in the fleet */
    const struct tg_resource_claim *claim;
    const char *request;  /* as results have it */
    const char *consumed; /* of a device that is shared: tg_exact_consumed; else NULL */
    bool admin;
};
struct tg_assignment { /* of one member: claim after claim, request after request */
    const struct tg_assigned *items;
    size_t n;
};

/* For every placed member its devices; ret has board->n_members entries, those of members without a
 * node stay empty. */
int tg_assign_devices(struct tg_board *board, struct tg_assignment *ret, struct tg_error *err);

/* The same as a placement says it, in the arena. TG_RESOURCE_EXHAUSTED only. */
int tg_assigned_write(const struct tg_fleet *fleet, const struct tg_assignment *assigned,
                      struct tg_arena *arena, struct tg_placed_device **ret, struct tg_error *err);

#endif
