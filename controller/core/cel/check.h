/* SPDX-License-Identifier: Apache-2.0 */
/* Names and types of a tree: every node gets its type, every call its overloads, every identifier
 * its place. */
#ifndef TG_CORE_CEL_CHECK_H
#define TG_CORE_CEL_CHECK_H

#include "controller/core/cel/environment.h"
#include "controller/core/cel/node.h"
#include "controller/core/cel/report.h"
#include "controller/core/cel/unify.h"

/* *ret_slots: how many variables of folds are alive at once. Types still hold variables, which u
 * resolves. TG_INVALID_ARGUMENT with the place, and a hint where a known name is near. */
int tg_cel_check(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                 struct tg_cel_unifier *u, struct tg_cel_node *root, unsigned *ret_slots,
                 struct tg_error *err);

#endif
