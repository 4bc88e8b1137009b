/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim holds, and whether it came from us. */
#ifndef TG_CONTROLLER_GATHER_GRANT_H
#define TG_CONTROLLER_GATHER_GRANT_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/tangram/plan_marker.h"

bool tg_claim_allocated(const struct tg_resource_claim *claim);
/* Whose allocation it is: fills the marker (memory of the arena); false if there is no allocation
 * or it is not ours. */
bool tg_claim_marker(const struct tg_resource_claim *claim, struct tg_arena *arena,
                     struct tg_plan_marker *ret);
/* The one node of an allocation's nodeSelector, or NULL. */
const char *tg_claim_node(const struct tg_resource_claim *claim);

#endif
