/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/tree.h"

#include <assert.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"

void tg_json_tree_init(struct tg_json_tree *tree, struct tg_arena *arena)
{
    *tree = (struct tg_json_tree){.arena = arena};
}

void tg_json_tree_done(struct tg_json_tree *tree)
{
    free(tree->children);
    *tree = (struct tg_json_tree){0};
}

int tg_json_tree_key(struct tg_json_tree *tree, const char *key, size_t n)
{
    tree->key = tg_arena_strndup(tree->arena, key, n);
    return tree->key == NULL ? -1 : 0;
}

static void add_child(struct tg_json_tree *tree, struct tg_json *value)
{
    if (tree->n == tree->capacity) {
        tree->capacity = tree->capacity == 0 ? 64 : tree->capacity * 2;
        tree->children = tg_xreallocarray(tree->children, tree->capacity, sizeof(*tree->children));
    }
    tree->children[tree->n++] = (struct tg_json_tree_child){.key = tree->key, .value = value};
    tree->key = NULL;
}

struct tg_json *tg_json_tree_add(struct tg_json_tree *tree, enum tg_json_kind kind)
{
    struct tg_json *value = tg_arena_alloc(tree->arena, sizeof(*value));

    if (value == NULL)
        return NULL;
    value->kind = kind;
    if (tree->depth == 0)
        tree->root = value;
    else
        add_child(tree, value);
    if (kind == TG_JSON_ARRAY || kind == TG_JSON_OBJECT) {
        assert(tree->depth < TG_ARRAY_SIZE(tree->open));
        tree->bases[tree->depth] = tree->n;
        tree->open[tree->depth++] = value;
    }
    return value;
}

int tg_json_tree_end(struct tg_json_tree *tree)
{
    struct tg_json *value = tree->open[--tree->depth];
    const struct tg_json_tree_child *children;
    size_t n = tree->n - tree->bases[tree->depth];

    tree->n -= n;
    if (n == 0)
        return 0;
    children = tree->children + tree->n;
    value->n = n;
    value->items = tg_arena_alloc_array(tree->arena, n, sizeof(struct tg_json *));
    if (value->kind == TG_JSON_OBJECT)
        value->keys = tg_arena_alloc_array(tree->arena, n, sizeof(const char *));
    if (value->items == NULL || (value->kind == TG_JSON_OBJECT && value->keys == NULL))
        return -1;
    for (size_t i = 0; i < n; i++) {
        value->items[i] = children[i].value;
        if (value->keys != NULL)
            value->keys[i] = children[i].key;
    }
    return 0;
}
