/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of the design, checked on the server's objects; a breach fails the test. */
#ifndef TG_TESTS_UNIT_CONTROLLER_INVARIANTS_H
#define TG_TESTS_UNIT_CONTROLLER_INVARIANTS_H

#include "tests/unit/controller/bench.h"

/* I1: no device in two allocations. I4: no allocation of ours on a claim of another class than
 * `klass` (NULL: somebody else's change). */
void invariants_claim(struct bench *bench, const char *klass, const struct tg_snapshot *before,
                      const struct tg_snapshot *after);
/* A Gang whose status names an instance is written by no other one, and names it for ever. */
void invariants_instance(struct bench *bench, const char *writer, const struct tg_snapshot *before,
                         const struct tg_snapshot *after);
/* I2: a gate of this pod was removed: every claim of every live member of its gang is allocated,
 * ours, on the member's node, per the plan, and reserved for the pods that use it. */
/* bench->racing: in the cache. */
void invariants_gate(struct bench *bench, const struct tg_snapshot *pod);
/* I2 for a suspended leader, whose write was decided long ago: nothing of the pod's gang (the pods
 * whose names differ in what follows the last "-") has been taken back meanwhile. */
void invariants_late_gate(struct bench *bench, const struct tg_snapshot *pod);
/* I3, for a cluster at rest: whoever is not bound holds nothing. */
void invariants_rest(struct bench *bench);

#endif
