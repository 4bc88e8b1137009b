/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices have owners, classes have not (design 4.1): a device is reachable by our managed classes
 * only, or by others only. One that a managed class and another one reach is contested: somebody
 * else could allocate it at any moment, so it is not given away here.
 */
#ifndef TG_CORE_MODEL_CONTEST_H
#define TG_CORE_MODEL_CONTEST_H

#include "controller/core/model/view.h"

/* Which classes reach which devices. Others are: unmanaged classes and those that lack the guard,
 * both as the built-in allocator sees devices; and those of other instances, with the guard. */
struct tg_contest;

/* For the classes of the fleet. */
int tg_contest_new(const struct tg_fleet *fleet, struct tg_arena *arena, struct tg_contest **ret,
                   struct tg_error *err);
/* The row of the first other class that reaches a device which a managed class reaches too; NULL:
 * nobody contests it. A selector that this version does not understand counts as one that matches:
 * the scheduler may understand it. One that fails on the device matches nothing, as there. */
struct tg_fleet_class *tg_contest_by(struct tg_contest *contest, const char *driver,
                                     const struct tg_device *device);

#endif
