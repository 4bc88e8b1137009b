/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the nodes of a tree, and the static cost rules of calls. For cost.c. */
#ifndef TG_CORE_CEL_ESTIMATE_H
#define TG_CORE_CEL_ESTIMATE_H

#include "controller/core/cel/cost_range.h"
#include "controller/core/cel/environment.h"
#include "controller/core/cel/function.h"
#include "controller/core/cel/node.h"

/* What the environment declares about a thing that is reached from `device`. */
struct tg_cel_size_decl {
    uint64_t max; /* characters, elements or entries */
    const struct tg_cel_size_decl *key, *value;
};

struct tg_cel_entry_size { /* of the keys (or indexes) and values in a list or map */
    enum tg_cel_kind kind; /* LIST, MAP; DYN: nothing is known */
    struct tg_cel_cost_range key, value;
};

struct tg_cel_estimate { /* of a node */
    struct tg_cel_cost_range cost, size;
    bool has_size;
    struct tg_cel_entry_size entry;
    const struct tg_cel_size_decl *decl;
};

struct tg_cel_cost_variable { /* of a fold */
    unsigned slot;
    bool has_size;
    struct tg_cel_cost_range size;
    struct tg_cel_entry_size entry;
    const struct tg_cel_size_decl *decl;
};

struct tg_cel_coster {
    const struct tg_cel_environment *env;
    struct tg_arena *arena;
    struct tg_cel_cost_variable *variables;
    size_t n_variables, capacity;
    bool no_memory;
};

void tg_cel_coster_declare(struct tg_cel_coster *c, const struct tg_cel_cost_variable *variable);
/* NULL: the identifier is no variable of a fold. */
const struct tg_cel_cost_variable *tg_cel_coster_variable(const struct tg_cel_coster *c,
                                                          const struct tg_cel_node *ident);
const struct tg_cel_size_decl *tg_cel_estimate_decl(const struct tg_cel_coster *c,
                                                    const struct tg_cel_node *node);
struct tg_cel_entry_size tg_cel_entry_of(const struct tg_cel_coster *c,
                                         const struct tg_cel_node *node);
/* false: nothing is known. */
bool tg_cel_size_of(const struct tg_cel_coster *c, const struct tg_cel_node *node,
                    struct tg_cel_cost_range *ret);
bool tg_cel_size_of_estimate(const struct tg_cel_coster *c, const struct tg_cel_node *node,
                             const struct tg_cel_estimate *e, struct tg_cel_cost_range *ret);
struct tg_cel_cost_range tg_cel_size_or_unknown(const struct tg_cel_coster *c,
                                                const struct tg_cel_node *node);

struct tg_cel_call_estimate {
    struct tg_cel_cost_range cost; /* arguments included, a member's target not */
    bool has_size;                 /* of the result */
    struct tg_cel_cost_range size;
};
/* costs: of node's arguments, the target first. own: the node's estimate, whose entry sizes the
 * rules of ?: and + set. */
void tg_cel_estimate_call(struct tg_cel_coster *c, const struct tg_cel_node *node,
                          const struct tg_cel_overload *overload,
                          const struct tg_cel_cost_range *costs, struct tg_cel_estimate *own,
                          struct tg_cel_call_estimate *ret);

#endif
