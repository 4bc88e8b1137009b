/* SPDX-License-Identifier: Apache-2.0 */
/* Builds struct tg_json trees from tokens; the reader of JSON and the one of YAML use it. Children
 * gather in heap memory and are copied into the arena when their parent closes. */
#ifndef TG_RUNTIME_JSON_TREE_H
#define TG_RUNTIME_JSON_TREE_H

#include "api/runtime/json/value.h"

struct tg_json_tree_child {
    const char *key; /* NULL in an array */
    struct tg_json *value;
};

struct tg_json_tree {
    struct tg_arena *arena;
    struct tg_json *root; /* NULL before the first value */
    unsigned depth;
    struct tg_json *open[64];
    size_t bases[64]; /* where the children of each begin */
    const char *key;  /* of the next value */
    struct tg_json_tree_child *children;
    size_t n, capacity;
};

void tg_json_tree_init(struct tg_json_tree *tree, struct tg_arena *arena);
void tg_json_tree_done(struct tg_json_tree *tree);
/* Each returns 0, or -1 when the arena is exhausted. Nesting deeper than 64 is the caller's to
 * refuse. */
int tg_json_tree_key(struct tg_json_tree *tree, const char *key, size_t n);
/* The new value, to be filled in (its place is set); NULL when the arena is exhausted. Arrays and
 * objects stay open. */
struct tg_json *tg_json_tree_add(struct tg_json_tree *tree, enum tg_json_kind kind);
int tg_json_tree_end(struct tg_json_tree *tree);

#endif
