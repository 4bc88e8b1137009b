/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tree. Recursive descent, at most TG_CEL_MAX_DEPTH deep. */
#ifndef TG_CORE_CEL_PARSER_H
#define TG_CORE_CEL_PARSER_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "controller/core/cel/node.h"

/* TG_INVALID_ARGUMENT: not CEL; TG_UNIMPLEMENTED: CEL outside the subset, quoted with its column.
 * Types are not checked yet. */
int tg_cel_parse(const char *source, struct tg_arena *arena, struct tg_cel_node **ret,
                 struct tg_error *err);

#endif
