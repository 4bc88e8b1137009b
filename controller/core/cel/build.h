/* SPDX-License-Identifier: Apache-2.0 */
/* Makes nodes. All return NULL when the arena is exhausted, and take NULL operands then. */
#ifndef TG_CORE_CEL_BUILD_H
#define TG_CORE_CEL_BUILD_H

#include "controller/core/cel/node.h"

struct tg_cel_builder {
    struct tg_arena *arena;
    size_t offset; /* of the nodes made */
};

struct tg_cel_node *tg_cel_build(const struct tg_cel_builder *b, enum tg_cel_node_kind kind,
                                 const char *name, size_t n_args);
struct tg_cel_node *tg_cel_build_literal(const struct tg_cel_builder *b, struct tg_cel_value value);
struct tg_cel_node *tg_cel_build_ident(const struct tg_cel_builder *b, const char *name);
struct tg_cel_node *tg_cel_build_call(const struct tg_cel_builder *b, const char *function,
                                      bool member, struct tg_cel_node *const *args, size_t n);
/* Calls with one, two and three operands. */
struct tg_cel_node *tg_cel_build_1(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x);
struct tg_cel_node *tg_cel_build_2(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x, struct tg_cel_node *y);
struct tg_cel_node *tg_cel_build_3(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x, struct tg_cel_node *y,
                                   struct tg_cel_node *z);
struct tg_cel_node *tg_cel_build_list(const struct tg_cel_builder *b, struct tg_cel_node *only);
struct tg_cel_node *tg_cel_build_fold(const struct tg_cel_builder *b,
                                      const struct tg_cel_fold *fold);

#endif
