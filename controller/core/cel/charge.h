/* SPDX-License-Identifier: Apache-2.0 */
/* What a call costs at run time. */
#ifndef TG_CORE_CEL_CHARGE_H
#define TG_CORE_CEL_CHARGE_H

#include "controller/core/cel/function.h"
#include "controller/core/cel/run.h"

/* overload: the one that was chosen; resolved: when the text was compiled. result: NULL where the
 * call failed. */
uint64_t tg_cel_charge(const struct tg_cel_run *run, const struct tg_cel_overload *overload,
                       bool resolved, const struct tg_cel_value *args, size_t n,
                       const struct tg_cel_value *result);
uint64_t tg_cel_charge_equality(const struct tg_cel_value *a, const struct tg_cel_value *b);

#endif
