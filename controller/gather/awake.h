/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods a pass has to look at. Most of a cluster is at rest: pods that have no claims and are
 * in no gang, that have ended, and those that are on their node with their claims and in no gang.
 * Nothing is decided about them before they change. A pass looks at the others, and finds these by
 * name where something refers to them. Told every change of a pod and of a claim; keeps names only.
 */
#ifndef TG_CONTROLLER_GATHER_AWAKE_H
#define TG_CONTROLLER_GATHER_AWAKE_H

#include "api/runtime/base/arena.h"
#include "controller/gather/view.h"

struct tg_awake;

struct tg_awake *tg_awake_new(void);
void tg_awake_free(struct tg_awake *awake); /* NULL is allowed */
/* An object has changed; before or after may be NULL (it is new, it is gone). */
void tg_awake_pod_changed(struct tg_awake *awake, const struct tg_pod *before,
                          const struct tg_pod *after);
void tg_awake_claim_changed(struct tg_awake *awake, const struct tg_resource_claim *before,
                            const struct tg_resource_claim *after);
/* Adds the pods to the view that a pass has to look at. Those that have come to rest since the last
 * time are forgotten. Nothing of the view's source may be in use. */
void tg_awake_fill(struct tg_awake *awake, struct tg_view *view);
size_t tg_awake_count(const struct tg_awake *awake);

/* Claims whose marker may name the gang or pod of that UID, by name; of a view that does not know
 * them by marker: all. Memory is the arena's; -TG_RESOURCE_EXHAUSTED. */
int tg_awake_marked(const struct tg_view *view, const char *uid, struct tg_arena *arena,
                    struct tg_view_list *ret);

#endif
