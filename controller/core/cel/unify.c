/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion follows types, whose depth the parser's limits bound. */
#include "controller/core/cel/unify.h"

#include <string.h>

void tg_cel_unifier_init(struct tg_cel_unifier *u, struct tg_arena *arena)
{
    *u = (struct tg_cel_unifier){.arena = arena};
}

static bool reserve(struct tg_cel_unifier *u, void *items, size_t n, size_t size, size_t *capacity)
{
    size_t grown = *capacity == 0 ? 16 : *capacity * 2;
    void *old, *new;

    if (n < *capacity)
        return true;
    memcpy(&old, items, sizeof(old));
    new = tg_arena_alloc_array(u->arena, grown, size);
    if (new == NULL) {
        u->no_memory = true;
        return false;
    }
    if (n > 0)
        memcpy(new, old, n * size);
    memcpy(items, &new, sizeof(new));
    *capacity = grown;
    return true;
}

const struct tg_cel_type *tg_cel_unifier_variable(struct tg_cel_unifier *u)
{
    struct tg_cel_type *t = tg_arena_alloc(u->arena, sizeof(*t));
    size_t capacity = u->capacity;

    if (t == NULL)
        u->no_memory = true;
    if (t == NULL || !reserve(u, &u->bound, u->n, sizeof(struct tg_cel_type *), &capacity))
        return &tg_cel_type_dyn;
    u->capacity = (unsigned)capacity;
    u->bound[u->n++] = NULL;
    *t = (struct tg_cel_type){.kind = TG_CEL_PARAM, .name = "_", .variable = u->n};
    return t;
}

static const struct tg_cel_type *find(const struct tg_cel_unifier *u, const struct tg_cel_type *t)
{
    return t->kind == TG_CEL_PARAM && t->variable > 0 ? u->bound[t->variable - 1] : NULL;
}

static void bind(struct tg_cel_unifier *u, const struct tg_cel_type *variable,
                 const struct tg_cel_type *to)
{
    if (variable->variable == 0 || /* memory was short where it should have been made */
        !reserve(u, &u->trail, u->n_trail, sizeof(struct tg_cel_change), &u->trail_capacity))
        return;
    u->trail[u->n_trail++] =
        (struct tg_cel_change){variable->variable, u->bound[variable->variable - 1]};
    u->bound[variable->variable - 1] = to;
}

static void rollback(struct tg_cel_unifier *u, size_t mark)
{
    while (u->n_trail > mark) {
        u->n_trail--;
        u->bound[u->trail[u->n_trail].variable - 1] = u->trail[u->n_trail].old;
    }
}

/* Is a equal to b, or less specific? */
static bool at_most_as_specific(const struct tg_cel_type *a, const struct tg_cel_type *b)
{
    if (tg_cel_type_is_dyn(a) || a->kind == TG_CEL_PARAM)
        return true;
    if (tg_cel_type_is_dyn(b) || b->kind == TG_CEL_PARAM || a->kind != b->kind)
        return false;
    if (a->kind == TG_CEL_TYPE)
        return true;
    if (a->n_params != b->n_params || strcmp(a->name, b->name) != 0)
        return false;
    for (unsigned i = 0; i < a->n_params; i++) {
        if (!at_most_as_specific(a->params[i], b->params[i]))
            return false;
    }
    return true;
}

const struct tg_cel_type *tg_cel_most_general(const struct tg_cel_type *a,
                                              const struct tg_cel_type *b)
{
    return at_most_as_specific(a, b) ? a : b;
}

/* Does t not occur in `within`? */
static bool not_in(const struct tg_cel_unifier *u, const struct tg_cel_type *t,
                   const struct tg_cel_type *within)
{
    const struct tg_cel_type *found;

    if (tg_cel_type_same(t, within))
        return false;
    if (within->kind == TG_CEL_PARAM) {
        found = find(u, within);
        return found == NULL || not_in(u, t, found);
    }
    for (unsigned i = 0; i < within->n_params; i++) {
        if (!not_in(u, t, within->params[i]))
            return false;
    }
    return true;
}

static bool assign(struct tg_cel_unifier *u, const struct tg_cel_type *a,
                   const struct tg_cel_type *b);

/* Can the variable stand for t? *has: it stands for something already. */
static bool substitutes(struct tg_cel_unifier *u, const struct tg_cel_type *t,
                        const struct tg_cel_type *variable, bool *has)
{
    const struct tg_cel_type *found = find(u, variable);

    *has = true;
    if (tg_cel_type_same(t, variable))
        return true;
    if (found != NULL) {
        const struct tg_cel_type *general;

        if (tg_cel_type_same(t, found))
            return true;
        if (!assign(u, t, found))
            return false;
        general = tg_cel_most_general(t, found);
        if (not_in(u, variable, general))
            bind(u, variable, general);
        return true;
    }
    *has = false;
    if (!not_in(u, variable, t))
        return false;
    bind(u, variable, t);
    return true;
}

static bool nullable(const struct tg_cel_type *t)
{
    switch ((int)t->kind) {
    case TG_CEL_OPTIONAL:
    case TG_CEL_OPAQUE:
    case TG_CEL_OBJECT:
    case TG_CEL_ANY:
    case TG_CEL_DURATION:
    case TG_CEL_TIMESTAMP:
    case TG_CEL_NULL:
        return true;
    default:
        return false;
    }
}

static bool wild(const struct tg_cel_type *t)
{
    return tg_cel_type_is_dyn(t) || t->kind == TG_CEL_ERROR;
}

static bool assign(struct tg_cel_unifier *u, const struct tg_cel_type *a,
                   const struct tg_cel_type *b)
{
    bool has = false;

    if (b->kind == TG_CEL_PARAM) {
        if (substitutes(u, a, b, &has))
            return true;
        if (has)
            return false;
    }
    if (a->kind == TG_CEL_PARAM)
        return substitutes(u, b, a, &has);
    if (wild(a) || wild(b))
        return true;
    if (a->kind == TG_CEL_NULL)
        return nullable(b);
    if (b->kind == TG_CEL_NULL)
        return nullable(a);
    if (a->kind != b->kind)
        return false;
    if (a->kind == TG_CEL_TYPE)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->n_params != b->n_params)
        return false;
    for (unsigned i = 0; i < a->n_params; i++) {
        if (!assign(u, a->params[i], b->params[i]))
            return false;
    }
    return true;
}

bool tg_cel_assignable_all(struct tg_cel_unifier *u, const struct tg_cel_type *const *a,
                           const struct tg_cel_type *const *b, size_t n)
{
    size_t mark = u->n_trail;

    for (size_t i = 0; i < n; i++) {
        if (!assign(u, a[i], b[i])) {
            rollback(u, mark);
            return false;
        }
    }
    u->n_trail = mark; /* kept for good */
    return true;
}

bool tg_cel_assignable(struct tg_cel_unifier *u, const struct tg_cel_type *a,
                       const struct tg_cel_type *b)
{
    return tg_cel_assignable_all(u, &a, &b, 1);
}

static const struct tg_cel_type *with_params(struct tg_cel_unifier *u, const struct tg_cel_type *t,
                                             const struct tg_cel_type *const *params)
{
    struct tg_cel_type *copy;

    if (params[0] == t->params[0] && (t->n_params < 2 || params[1] == t->params[1]))
        return t;
    copy = tg_arena_alloc(u->arena, sizeof(*copy));
    if (copy == NULL) {
        u->no_memory = true;
        return t;
    }
    *copy = *t;
    for (unsigned i = 0; i < t->n_params; i++)
        copy->params[i] = params[i];
    return copy;
}

const struct tg_cel_type *tg_cel_substitute(struct tg_cel_unifier *u, const struct tg_cel_type *t,
                                            bool to_dyn)
{
    const struct tg_cel_type *found, *params[2] = {NULL, NULL};

    while ((found = find(u, t)) != NULL)
        t = found;
    if (t->kind == TG_CEL_PARAM)
        return to_dyn ? &tg_cel_type_dyn : t;
    if (t->n_params == 0)
        return t;
    for (unsigned i = 0; i < t->n_params; i++)
        params[i] = tg_cel_substitute(u, t->params[i], to_dyn);
    return with_params(u, t, params);
}

const struct tg_cel_type *tg_cel_instantiate(struct tg_cel_unifier *u,
                                             struct tg_cel_instance *instance,
                                             const struct tg_cel_type *t)
{
    const struct tg_cel_type *params[2] = {NULL, NULL};

    if (t->kind == TG_CEL_PARAM) {
        for (size_t i = 0; i < instance->n; i++) {
            if (strcmp(instance->names[i], t->name) == 0)
                return instance->types[i];
        }
        instance->names[instance->n] = t->name;
        instance->types[instance->n] = tg_cel_unifier_variable(u);
        return instance->types[instance->n++];
    }
    if (t->n_params == 0)
        return t;
    for (unsigned i = 0; i < t->n_params; i++)
        params[i] = tg_cel_instantiate(u, instance, t->params[i]);
    return with_params(u, t, params);
}
