/* SPDX-License-Identifier: Apache-2.0 */
/* Static types, as CEL's checker finds them: what can never be evaluated is refused before a device
 * is seen. */
#ifndef TG_CORE_CEL_CHECK_H
#define TG_CORE_CEL_CHECK_H

#include "api/runtime/base/error.h"
#include "controller/core/cel/node.h"

/* Sets the types of the tree. TG_INVALID_ARGUMENT: no matching overload, or the whole is neither
 * bool nor an attribute. */
int tg_cel_check(struct tg_cel_node *root, struct tg_error *err);

#endif
