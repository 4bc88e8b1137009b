/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that wait for a controller are let go without one. */
#ifndef TG_CONTROLLER_CLI_UNGATE_H
#define TG_CONTROLLER_CLI_UNGATE_H

#include <stddef.h>

#include "api/kubernetes/objects/core.h"
#include "api/runtime/base/options.h"
#include "api/tangram/names.h"
#include "controller/cli/link.h"

/* Whose lease: the controller's instance, and the namespace that its lease is in. */
struct tg_led {
    const char *instance, *system;
};
/* The rows of a table of options for `member`, a struct tg_led of `owner`. */
#define TG_OPTIONS_LED(owner, member)                                                              \
    {.name = "instance",                                                                           \
     .kind = TG_OPTION_STRING,                                                                     \
     .offset = offsetof(owner, member.instance),                                                   \
     .fallback = TG_INSTANCE_DEFAULT,                                                              \
     .argument = "NAME",                                                                           \
     .help = "The controller's instance, whose lease is looked at."},                              \
    {                                                                                              \
        .name = "controller-namespace", .kind = TG_OPTION_STRING,                                  \
        .offset = offsetof(owner, member.system), .fallback = TG_NAMESPACE_SYSTEM,                 \
        .argument = "NAME", .help = "Where that lease is."                                         \
    }

/* Who leads, by the lease, at the time now (ns since the epoch): a string of the arena's; NULL when
 * there is no lease, or it has lapsed or been given back. Errors: those of tg_link_call (but not
 * TG_NOT_FOUND); TG_INVALID_ARGUMENT: a lease that cannot be read. */
int tg_leader(struct tg_link *link, const struct tg_led *led, int64_t now, struct tg_arena *arena,
              const char **ret_holder, struct tg_error *err);
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
