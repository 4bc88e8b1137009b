/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of compiling: types without variables, constants evaluated, patterns compiled. */
#ifndef TG_CORE_CEL_FINISH_H
#define TG_CORE_CEL_FINISH_H

#include "controller/core/cel/environment.h"
#include "controller/core/cel/node.h"
#include "controller/core/cel/report.h"
#include "controller/core/cel/unify.h"

/* Replaces type variables in all nodes by what they stand for. */
void tg_cel_resolve_types(struct tg_cel_unifier *u, struct tg_cel_node *root);
/* Evaluates constant conversions, lists and maps, compiles constant patterns. In Kubernetes one
 * that fails is refused: TG_INVALID_ARGUMENT. In the language profile it fails when it is
 * evaluated. */
int tg_cel_finish(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                  struct tg_arena *arena, struct tg_cel_node *root, struct tg_error *err);

#endif
