/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/reads.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"

/* cel.bind(a, device.attributes["x"], ...): a stands for the path. */
struct alias {
    uint32_t slot;
    const char *keys[2];
    const struct alias *outer;
};

struct finder {
    const struct alias *aliases;
    struct tg_arena *arena;
    struct tg_cel_reads *reads;
    size_t capacity;
    bool no_memory;
};

/* The constant key of a selection or index, copied; NULL: it is computed. */
static const char *key_of(struct finder *f, const struct tg_cel_node *node)
{
    const struct tg_cel_node *key;
    char *copy;

    if (node->kind == TG_CEL_SELECT)
        return node->name;
    key = node->args[1];
    if (key->kind != TG_CEL_LITERAL || key->literal.tag != TG_CEL_V_STRING ||
        memchr(key->literal.text, '\0', key->literal.length) != NULL)
        return NULL;
    copy = tg_arena_strndup(f->arena, key->literal.text, key->literal.length);
    f->no_memory = f->no_memory || copy == NULL;
    return copy;
}

static bool is_step(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_SELECT ||
           (node->kind == TG_CEL_CALL && node->op >= TG_CEL_OP_INDEX &&
            node->op <= TG_CEL_OP_OPTIONAL_SELECT);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void add(struct finder *f, struct tg_cel_read read)
{
    struct tg_cel_reads *r = f->reads;

    for (size_t i = 0; i < r->n; i++) {
        if (r->items[i].capacity == read.capacity && same(r->items[i].domain, read.domain) &&
            same(r->items[i].name, read.name))
            return;
    }
    if (r->n == f->capacity) {
        size_t capacity = f->capacity == 0 ? 8 : f->capacity * 2;
        struct tg_cel_read *grown = tg_arena_alloc_array(f->arena, capacity, sizeof(*grown));

        if (grown == NULL) {
            f->no_memory = true;
            return;
        }
        if (r->n > 0)
            memcpy(grown, r->items, r->n * sizeof(*grown));
        r->items = grown;
        f->capacity = capacity;
    }
    r->items[r->n++] = read;
}

/* keys: the constant steps from `device` on, the first being its field. */
static void add_path(struct finder *f, const char *const *keys, size_t n)
{
    struct tg_cel_read read = {.domain = n > 1 ? keys[1] : NULL, .name = n > 2 ? keys[2] : NULL};

    if (n == 0) {
        f->reads->all = true;
    } else if (strcmp(keys[0], "driver") == 0) {
        f->reads->driver = true;
    } else if (strcmp(keys[0], "allowMultipleAllocations") == 0) {
        f->reads->allow_multiple_allocations = true;
    } else if (n == 1) {
        f->reads->all = true; /* device.attributes as a whole */
    } else {
        read.capacity = strcmp(keys[0], "capacity") == 0;
        add(f, read);
    }
}

static void walk(struct finder *f, struct tg_cel_node *node);

static bool is_device(const struct tg_cel_node *node)
{
    return node->kind == TG_CEL_IDENT && node->place == TG_CEL_DEVICE;
}

/* The path that a variable stands for, or NULL. */
static const struct alias *alias_of(const struct finder *f, const struct tg_cel_node *node)
{
    const struct alias *alias = f->aliases;

    if (node->kind != TG_CEL_IDENT || node->place != TG_CEL_SLOT)
        return NULL;
    while (alias != NULL && alias->slot != node->slot)
        alias = alias->outer;
    return alias;
}

/* A chain of steps from `device`, or from what stands for a part of it: its constant beginning is
 * what is read. */
static bool walk_path(struct finder *f, struct tg_cel_node *node)
{
    struct tg_cel_node *steps[512], *root = node;
    const struct alias *alias;
    const char *keys[3];
    size_t n = 0, n_keys = 0;

    while (is_step(root) && n < TG_ARRAY_SIZE(steps)) {
        root->finished = true; /* so that unmark() finds what is marked below */
        steps[n++] = root;
        root = root->args[0];
    }
    alias = alias_of(f, root);
    if (!is_device(root) && alias == NULL)
        return false;
    for (; alias != NULL && n_keys < 2; n_keys++)
        keys[n_keys] = alias->keys[n_keys];
    while (n > 0 && n_keys < 3) {
        const char *key = key_of(f, steps[n - 1]);

        if (key == NULL)
            break;
        keys[n_keys++] = key;
        n--;
    }
    add_path(f, keys, n_keys);
    for (size_t i = 0; i < n; i++) {
        if (steps[i]->kind == TG_CEL_CALL)
            walk(f, steps[i]->args[1]);
    }
    return true;
}

/* Is the node device.attributes["x"] or device.capacity["x"]? */
static bool is_domain(struct finder *f, const struct tg_cel_node *node, struct alias *ret)
{
    const struct tg_cel_node *field = is_step(node) ? node->args[0] : NULL;

    if (field == NULL || !is_step(field) || !is_device(field->args[0]))
        return false;
    ret->keys[0] = key_of(f, field);
    ret->keys[1] = key_of(f, node);
    return ret->keys[0] != NULL && ret->keys[1] != NULL;
}

static void walk_fold(struct finder *f, struct tg_cel_fold *fold)
{
    struct alias alias = {.slot = fold->slot + 2, .outer = f->aliases};

    if (fold->bind && is_domain(f, fold->init, &alias)) {
        f->aliases = &alias; /* what is read of it, its uses tell */
        walk(f, fold->result);
        f->aliases = alias.outer;
        return;
    }
    walk(f, fold->range);
    walk(f, fold->init);
    walk(f, fold->condition);
    walk(f, fold->step);
    walk(f, fold->result);
}

/* Recursion follows the tree, whose depth the parser bounds. Macros that use a node twice do so
 * only where it is cheap: what is found twice is added once. */
static void walk(struct finder *f, struct tg_cel_node *node)
{
    if (node->finished)
        return;
    node->finished = true;
    if ((is_step(node) || node->kind == TG_CEL_IDENT) && walk_path(f, node))
        return;
    for (size_t i = 0; i < node->n_args; i++)
        walk(f, node->args[i]);
    if (node->kind == TG_CEL_FOLD)
        walk_fold(f, node->fold);
}

static void unmark(struct tg_cel_node *node)
{
    if (!node->finished)
        return;
    node->finished = false;
    for (size_t i = 0; i < node->n_args; i++)
        unmark(node->args[i]);
    if (node->kind == TG_CEL_FOLD) {
        unmark(node->fold->range);
        unmark(node->fold->init);
        unmark(node->fold->condition);
        unmark(node->fold->step);
        unmark(node->fold->result);
    }
}

static void mark_first(struct tg_cel_reads *r, const char *key)
{
    unsigned char c = (unsigned char)key[0];

    r->first[c / 64] |= UINT64_C(1) << c % 64;
}

/* A key is spelled "domain/name", or "name" in the domain of the driver. */
static void mark_firsts(struct tg_cel_reads *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_cel_read *read = &r->items[i];

        if (read->domain == NULL || read->name == NULL) {
            memset(r->first, 0xff, sizeof(r->first));
            return;
        }
        mark_first(r, read->name);
        mark_first(r, read->domain[0] == '\0' ? "/" : read->domain);
    }
}

bool tg_cel_find_reads(struct tg_arena *arena, struct tg_cel_node *root, struct tg_cel_reads *ret)
{
    struct finder f = {.arena = arena, .reads = ret};

    walk(&f, root);
    unmark(root);
    mark_firsts(ret);
    return !f.no_memory;
}
