/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes to keep free for a request that has no place now, so that small ones that come later
 * do not take for ever what it waits for: in one domain of its required level as many nodes as its
 * members need once others have left there, those first for which least has to be waited for. A
 * pure function of fleet and request; what becomes of it is the caller's (controller/drain.h).
 */
#ifndef TG_CORE_GANG_DRAIN_H
#define TG_CORE_GANG_DRAIN_H

#include "controller/core/gang/place.h"

struct tg_drain {
    const char **nodes; /* names, in their order; the arena's */
    size_t n;
    size_t missing; /* devices of them that others have and that the members will need */
};

/* before: the nodes that are kept for it already; as long as they will do they stay. *ret has no
 * nodes if waiting is of no use: no domain is ever large enough, or rules beside pack (spread,
 * topologies of roles, deviceConstraints) decide where its members may go together. Errors: of
 * classes and selectors; TG_RESOURCE_EXHAUSTED. */
int tg_drain_choose(const struct tg_fleet *fleet, const struct tg_place_request *request,
                    const char *const *before, size_t n_before, struct tg_arena *arena,
                    struct tg_drain *ret, struct tg_error *err);
/* What is free on the node: for nobody but `holder` from now on. *ret is the arena's. */
int tg_drain_hold(const struct tg_fleet *fleet, const char *node, const char *holder,
                  struct tg_arena *arena, struct tg_fleet_busy **ret, size_t *ret_n,
                  struct tg_error *err);

#endif
