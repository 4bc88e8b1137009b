/* SPDX-License-Identifier: Apache-2.0 */
/* has(), all(), map() and their like: calls that become other trees while they are parsed. */
#ifndef TG_CORE_CEL_MACRO_H
#define TG_CORE_CEL_MACRO_H

#include "controller/core/cel/build.h"
#include "controller/core/cel/environment.h"
#include "controller/core/cel/report.h"

/* Names of variables that no text can name. */
#define TG_CEL_ACCUMULATOR "@result"
#define TG_CEL_UNUSED "#unused"

/* call: as parsed. *ret is what it stands for, or call itself where it is no macro.
 * TG_INVALID_ARGUMENT: a macro with arguments that it cannot take; TG_RESOURCE_EXHAUSTED. */
int tg_cel_macro_expand(const struct tg_cel_builder *b, const struct tg_cel_environment *env,
                        const struct tg_cel_source *source, struct tg_cel_node *call,
                        struct tg_cel_node **ret, struct tg_error *err);

#endif
