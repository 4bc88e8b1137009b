/* SPDX-License-Identifier: Apache-2.0 */
/* The most that an expression can cost: the estimate by which the API server admits selectors
 * (cel-go checker/cost.go, pkg/cel/library/cost.go, the sizes of dynamic-resource-allocation). */
#ifndef TG_CORE_CEL_COST_H
#define TG_CORE_CEL_COST_H

#include "controller/core/cel/environment.h"
#include "controller/core/cel/node.h"

/* Of a checked tree whose types are resolved. UINT64_MAX: no bound. false: the arena is exhausted.
 */
bool tg_cel_cost(const struct tg_cel_environment *env, struct tg_arena *arena,
                 struct tg_cel_node *root, uint64_t *ret);

#endif
