/* SPDX-License-Identifier: Apache-2.0 */
/* Type variables and what they stand for: the language definition's unification, where dyn goes
 * with everything and the more general of two types wins. */
#ifndef TG_CORE_CEL_UNIFY_H
#define TG_CORE_CEL_UNIFY_H

#include "controller/core/cel/type.h"

struct tg_cel_change {
    unsigned variable;
    const struct tg_cel_type *old;
};

struct tg_cel_unifier {
    struct tg_arena *arena;
    const struct tg_cel_type **bound; /* by variable - 1; NULL = free */
    unsigned n, capacity;
    struct tg_cel_change *trail; /* to take back what a failed attempt has bound */
    size_t n_trail, trail_capacity;
    bool no_memory; /* stays */
};

void tg_cel_unifier_init(struct tg_cel_unifier *u, struct tg_arena *arena);
/* A new free variable; never NULL (dyn when the arena is exhausted). */
const struct tg_cel_type *tg_cel_unifier_variable(struct tg_cel_unifier *u);
/* Can a value of type a be given where b is wanted? What it binds is kept only if so. */
bool tg_cel_assignable(struct tg_cel_unifier *u, const struct tg_cel_type *a,
                       const struct tg_cel_type *b);
bool tg_cel_assignable_all(struct tg_cel_unifier *u, const struct tg_cel_type *const *a,
                           const struct tg_cel_type *const *b, size_t n);
/* t with all variables replaced by what they stand for; free ones by dyn if to_dyn. */
const struct tg_cel_type *tg_cel_substitute(struct tg_cel_unifier *u, const struct tg_cel_type *t,
                                            bool to_dyn);
const struct tg_cel_type *tg_cel_most_general(const struct tg_cel_type *a,
                                              const struct tg_cel_type *b);
/* The types of an overload with fresh variables for its A, B. */
struct tg_cel_instance {
    const char *names[4];
    const struct tg_cel_type *types[4];
    size_t n;
};
const struct tg_cel_type *tg_cel_instantiate(struct tg_cel_unifier *u,
                                             struct tg_cel_instance *instance,
                                             const struct tg_cel_type *t);

#endif
