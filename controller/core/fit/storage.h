/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the volumes of pods let them run, as the scheduler's volume plugins would say: of a bound
 * claim the node affinity and the zone labels of its volume, of one that waits for its first
 * consumer the topologies of its class and the node that was chosen for it. Not judged: how many
 * volumes a node may have, what a storage system has left, and disks that a pod names itself.
 */
#ifndef TG_CORE_FIT_STORAGE_H
#define TG_CORE_FIT_STORAGE_H

#include "controller/core/model/view.h"

struct tg_fit_volumes { /* a node must match each of the selectors */
    const struct tg_node_selector **selectors;
    size_t n;
};

/* Does the pod have volumes that are claimed, by name or made for it? */
bool tg_fit_claims_volumes(const struct tg_pod *pod);
/* Of all the pods, which go to one node; *ret NULL: they may go anywhere. All of it is the arena's.
 * TG_FAILED_PRECONDITION: a claim or volume is not there or not bound yet, with the reason
 * TG_VOLUME_NOT_READY; TG_UNIMPLEMENTED: what is asked for is not modelled; TG_RESOURCE_EXHAUSTED.
 */
int tg_fit_read_volumes(const struct tg_fleet *fleet, const struct tg_pod *const *pods, size_t n,
                        struct tg_arena *arena, const struct tg_fit_volumes **ret,
                        struct tg_error *err);

#endif
