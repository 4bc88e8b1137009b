/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as the parser made it (before the checker) back to text: macros recognised, parentheses
 * where precedence wants them. */
#ifndef TG_TESTS_DIFFERENTIAL_UNPARSE_H
#define TG_TESTS_DIFFERENTIAL_UNPARSE_H

#include "api/runtime/base/buf.h"
#include "controller/core/cel/node.h"

struct unparse_options {
    bool turn_maps;      /* entries of map literals with distinct constant keys, last first */
    bool hide_constants; /* each literal behind something that no constant folding sees through */
};

/* false: messages, infinite numbers, or more text than out takes. */
bool unparse(const struct tg_cel_node *node, const struct unparse_options *options,
             struct tg_buf *out);
/* The same tree, wherever its parts stand in the text. */
bool unparse_same(const struct tg_cel_node *a, const struct tg_cel_node *b);
/* The height of the tree. */
unsigned unparse_height(const struct tg_cel_node *node);

#endif
