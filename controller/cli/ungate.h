/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that wait for a controller are let go without one. */
#ifndef TG_CONTROLLER_CLI_UNGATE_H
#define TG_CONTROLLER_CLI_UNGATE_H

#include "api/kubernetes/objects/core.h"
#include "controller/cli/link.h"

/* Who leads the instance, by its lease in the namespace `system`, at the time now (ns since the
 * epoch). NULL: nobody is known to. A string of the arena's. */
const char *tg_leader(struct tg_link *link, const char *system, const char *instance, int64_t now,
                      struct tg_arena *arena);
/* Takes one element off a list of an object, if it is the same object and element still: item
 * `index` of `folder`.`list`, whose `leaf` (NULL: itself) is `text`. Errors: those of tg_link_call.
 */
struct tg_taken_off {
    const char *folder, *list, *leaf, *text;
    size_t index;
};
int tg_take_off(struct tg_link *link, const struct tg_kind *kind, const struct tg_object_meta *meta,
                const struct tg_taken_off *what, struct tg_error *err);
/* Takes the gate tangram.dev/gang, which the pod has, off it, if it is the same pod still. Errors:
 * those of tg_link_call. */
int tg_ungate(struct tg_link *link, const struct tg_pod *pod, struct tg_error *err);

#endif
