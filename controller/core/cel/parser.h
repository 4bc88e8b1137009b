/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an expression to its tree, macros expanded. */
#ifndef TG_CORE_CEL_PARSER_H
#define TG_CORE_CEL_PARSER_H

#include "controller/core/cel/environment.h"
#include "controller/core/cel/node.h"
#include "controller/core/cel/report.h"

/* How deep rules of the grammar, and operators, may nest: the parser's limit in Kubernetes. */
#define TG_CEL_MAX_DEPTH 250U

struct tg_cel_nodes {
    const struct tg_cel_source *source;
    const struct tg_cel_environment *env;
    struct tg_arena *arena;
};

/* TG_INVALID_ARGUMENT with the place; TG_RESOURCE_EXHAUSTED. */
int tg_cel_parse(const struct tg_cel_source *source, const struct tg_cel_environment *env,
                 struct tg_arena *arena, struct tg_cel_node **ret, struct tg_error *err);

#endif
