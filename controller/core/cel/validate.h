/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes refuses in an expression whose types are right: lists and maps of mixed types,
 * and constant formats of string.format() that do not fit their arguments. */
#ifndef TG_CORE_CEL_VALIDATE_H
#define TG_CORE_CEL_VALIDATE_H

#include "controller/core/cel/node.h"
#include "controller/core/cel/report.h"

/* Of a checked tree whose types are resolved. TG_INVALID_ARGUMENT with the place. */
int tg_cel_validate(const struct tg_cel_source *source, struct tg_cel_node *root,
                    struct tg_error *err);

#endif
