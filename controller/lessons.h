/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What packing policies learn of the pods that come (core/gang/learn.h). After a restart what is
 * allocated counts as having come just now, which is all that is known.
 */
#ifndef TG_CONTROLLER_LESSONS_H
#define TG_CONTROLLER_LESSONS_H

#include "api/tangram/configuration.h"
#include "controller/core/gang/learn.h"
#include "controller/gather/unit.h"

/* What was told so far. */
struct tg_lessons {
    bool recalled;   /* what was allocated when the process began */
    size_t expected; /* entries of placement.expect; the next one's class may not be there yet */
};

/* Before the units of a pass: what is known without them. */
void tg_lessons_begin(struct tg_lessons *lessons, struct tg_fleet *fleet,
                      const struct tg_view *view, const struct tg_configuration *configuration,
                      struct tg_arena *scratch);
/* Members from *learned on, oldest first, up to one that is not complete, have arrived, if they are
 * not allocated: then they were there before. A request that cannot be read teaches nothing. */
void tg_lessons_learn(struct tg_fleet *fleet, const struct tg_unit *unit, size_t *learned,
                      struct tg_arena *scratch);

#endif
