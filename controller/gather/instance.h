/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a claim, a pod or a Gang is when several instances of the controller share a cluster: a
 * DeviceClass names the instance that serves it (label tangram.dev/controller), and everything else
 * follows from the classes that claims ask for. Each object belongs to one instance at most, and
 * only that one writes to it.
 */
#ifndef TG_CONTROLLER_GATHER_INSTANCE_H
#define TG_CONTROLLER_GATHER_INSTANCE_H

#include "api/runtime/base/arena.h"
#include "controller/gather/view.h"

/* The instance that the classes of a claim name; NULL: none of them is labelled, or there. Of
 * several the one that goes first. */
const char *tg_instance_of_classes(const struct tg_view *view,
                                   const struct tg_resource_claim *claim);
/* The instance that has allocated the claim, or else that its classes name; NULL: nobody's. A class
 * may change hands: what was allocated before stays with whoever did. Memory is the arena's. */
const char *tg_instance_of_claim(const struct tg_view *view, const struct tg_resource_claim *claim,
                                 struct tg_arena *arena);
/* Of the instances of a pod's claims the one that goes first; NULL: none of them has one. */
const char *tg_instance_of_pod(const struct tg_view *view, const struct tg_pod *pod,
                               struct tg_arena *arena);
/* The instance to which the Gang object says it belongs: that which wrote its status first, else
 * that of its label tangram.dev/controller. NULL: it says nothing, and its members decide. */
const char *tg_instance_of_gang(const struct tg_gang *gang);
/* Of two instances (NULL: none) the one that serves what names both: "default", else the first by
 * name. */
const char *tg_instance_first(const char *a, const char *b);

#endif
