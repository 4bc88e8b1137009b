/* SPDX-License-Identifier: Apache-2.0 */
/* A checked tree and a device to a value. */
#ifndef TG_CORE_CEL_EVAL_H
#define TG_CORE_CEL_EVAL_H

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"
#include "controller/core/cel/node.h"

/* TG_FAILED_PRECONDITION: a run-time error of CEL (no such key, no such overload). */
int tg_cel_eval(const struct tg_cel_node *node, const char *driver, const struct tg_device *device,
                struct tg_cel_value *ret, struct tg_error *err);
/* -1, 0, 1 of two numbers of any of the three kinds, as CEL's cross-type comparison; *ret_unordered
 * with NaN. */
int tg_cel_compare_numbers(const struct tg_cel_value *a, const struct tg_cel_value *b,
                           bool *ret_unordered);

#endif
