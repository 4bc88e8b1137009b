/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet that a view shows, made at once: for those who look at a cluster one time only. The
 * controller tells its fleet object by object instead. */
#ifndef TG_CONTROLLER_GATHER_FLEET_H
#define TG_CONTROLLER_GATHER_FLEET_H

#include "controller/core/model/fleet.h"
#include "controller/gather/view.h"

/* Everything must be in the view's lists. The fleet and what it needs are the arena's. Errors:
 * those of tg_fleet_new. */
int tg_view_fleet(const struct tg_view *view, const char *instance, struct tg_arena *arena,
                  struct tg_fleet **ret, struct tg_error *err);

#endif
