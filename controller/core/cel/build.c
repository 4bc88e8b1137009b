/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/build.h"

#include <string.h>

struct tg_cel_node *tg_cel_build(const struct tg_cel_builder *b, enum tg_cel_node_kind kind,
                                 const char *name, size_t n_args)
{
    struct tg_cel_node *node = tg_arena_alloc(b->arena, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->kind = (uint8_t)kind;
    node->name = name;
    node->offset = (uint32_t)b->offset;
    node->n_args = (uint32_t)n_args;
    if (n_args > 0) {
        node->args = tg_arena_alloc_array(b->arena, n_args, sizeof(struct tg_cel_node *));
        if (node->args == NULL)
            return NULL;
    }
    return node;
}

struct tg_cel_node *tg_cel_build_literal(const struct tg_cel_builder *b, struct tg_cel_value value)
{
    struct tg_cel_node *node = tg_cel_build(b, TG_CEL_LITERAL, NULL, 0);

    if (node != NULL)
        node->literal = value;
    return node;
}

struct tg_cel_node *tg_cel_build_ident(const struct tg_cel_builder *b, const char *name)
{
    return tg_cel_build(b, TG_CEL_IDENT, name, 0);
}

struct tg_cel_node *tg_cel_build_call(const struct tg_cel_builder *b, const char *function,
                                      bool member, struct tg_cel_node *const *args, size_t n)
{
    struct tg_cel_node *node = tg_cel_build(b, TG_CEL_CALL, function, n);

    if (node == NULL)
        return NULL;
    node->member = member;
    for (size_t i = 0; i < n; i++) {
        if (args[i] == NULL)
            return NULL;
        node->args[i] = args[i];
        if (args[i]->depth > node->depth)
            node->depth = args[i]->depth;
    }
    return node;
}

struct tg_cel_node *tg_cel_build_1(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x)
{
    return tg_cel_build_call(b, function, false, &x, 1);
}

struct tg_cel_node *tg_cel_build_2(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x, struct tg_cel_node *y)
{
    struct tg_cel_node *args[] = {x, y};

    return tg_cel_build_call(b, function, false, args, 2);
}

struct tg_cel_node *tg_cel_build_3(const struct tg_cel_builder *b, const char *function,
                                   struct tg_cel_node *x, struct tg_cel_node *y,
                                   struct tg_cel_node *z)
{
    struct tg_cel_node *args[] = {x, y, z};

    return tg_cel_build_call(b, function, false, args, 3);
}

struct tg_cel_node *tg_cel_build_list(const struct tg_cel_builder *b, struct tg_cel_node *only)
{
    struct tg_cel_node *node = tg_cel_build(b, TG_CEL_CREATE_LIST, NULL, only == NULL ? 0 : 1);

    if (node != NULL && only != NULL) {
        node->args[0] = only;
        node->depth = only->depth;
    }
    return node;
}

struct tg_cel_node *tg_cel_build_fold(const struct tg_cel_builder *b,
                                      const struct tg_cel_fold *fold)
{
    struct tg_cel_node *const parts[] = {fold->range, fold->init, fold->condition, fold->step,
                                         fold->result};
    struct tg_cel_node *node = tg_cel_build(b, TG_CEL_FOLD, NULL, 0);

    if (node == NULL)
        return NULL;
    node->fold = tg_arena_alloc(b->arena, sizeof(*node->fold));
    if (node->fold == NULL)
        return NULL;
    *node->fold = *fold;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] == NULL)
            return NULL;
        if (parts[i]->depth > node->depth)
            node->depth = parts[i]->depth;
    }
    return node;
}
