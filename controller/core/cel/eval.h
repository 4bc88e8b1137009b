/* SPDX-License-Identifier: Apache-2.0 */
/* A checked tree to a value. */
#ifndef TG_CORE_CEL_EVAL_H
#define TG_CORE_CEL_EVAL_H

#include "controller/core/cel/run.h"

/* 0, or -1 with run->fault set. */
int tg_cel_eval(struct tg_cel_run *run, const struct tg_cel_node *node, struct tg_cel_value *ret);
/* May a value stand where the overload declares a type? Of lists and maps the first element tells,
 * as in the Go implementation. */
bool tg_cel_value_is(const struct tg_cel_value *v, const struct tg_cel_type *type);

#endif
