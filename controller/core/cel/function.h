/* SPDX-License-Identifier: Apache-2.0 */
/* What can be called: names, their overloads with types, the library each belongs to, what a call
 * costs, and the C function behind it. All is data, in overloads_*.c. */
#ifndef TG_CORE_CEL_FUNCTION_H
#define TG_CORE_CEL_FUNCTION_H

#include "controller/core/cel/environment.h"
#include "controller/core/cel/node.h"

#define TG_CEL_MAX_ARGS 4

/* Rules of cost; each has a static side (cost.c) and one at run time (charge.c). Where the
 * Kubernetes rule goes by the function's name it holds for calls that are resolved at run time too;
 * the language's own go by overload, and such a call costs 1. */
enum tg_cel_cost {
    TG_CEL_COST_ONE,
    TG_CEL_COST_EQUALITY,
    TG_CEL_COST_ORDER, /* of strings and bytes */
    TG_CEL_COST_AFFIX, /* startsWith, endsWith */
    TG_CEL_COST_IN_LIST,
    TG_CEL_COST_MATCHES,
    TG_CEL_COST_CONTAINS,
    TG_CEL_COST_LOGIC,
    TG_CEL_COST_CONDITIONAL,
    TG_CEL_COST_JOIN_TEXT, /* + of strings and bytes */
    TG_CEL_COST_JOIN_LISTS,
    TG_CEL_COST_FORMAT,
    TG_CEL_COST_TO_BYTES,
    TG_CEL_COST_FROM_BYTES,
    TG_CEL_COST_QUOTE,
    TG_CEL_COST_SETS,       /* n * m */
    TG_CEL_COST_SETS_TWICE, /* 2 * n * m */
    TG_CEL_COST_SLICE,
    TG_CEL_COST_FLATTEN,
    TG_CEL_COST_RANGE,
    TG_CEL_COST_REVERSE,
    TG_CEL_COST_DISTINCT,
    TG_CEL_COST_SORT,
    TG_CEL_COST_SORT_BY,
    TG_CEL_COST_BY_NAME, /* from here on, rules that go by name */
    TG_CEL_COST_UNIT = TG_CEL_COST_BY_NAME,
    TG_CEL_COST_SCAN,     /* one look at all elements */
    TG_CEL_COST_TRAVERSE, /* of a string whose result is about as long */
    TG_CEL_COST_REPLACE,
    TG_CEL_COST_SPLIT,
    TG_CEL_COST_JOIN,
    TG_CEL_COST_FIND,
    TG_CEL_COST_PARSE,       /* of a string into a value */
    TG_CEL_COST_PARSE_TWICE, /* ip.isCanonical */
    TG_CEL_COST_CONTAINS_IP,
    TG_CEL_COST_CONTAINS_IP_TEXT,
    TG_CEL_COST_CONTAINS_CIDR,
    TG_CEL_COST_CONTAINS_CIDR_TEXT,
    TG_CEL_COST_VALIDATE,
    TG_CEL_COST_AUTHORIZE,    /* two checks an expression, and no third */
    TG_CEL_COST_REQUIREMENTS, /* of the text of a field or label selector */
};

struct tg_cel_run;
/* args: the target first. Returns 0, or -1 after tg_cel_fail(). */
typedef int tg_cel_call(struct tg_cel_run *run, const struct tg_cel_node *call,
                        const struct tg_cel_value *args, struct tg_cel_value *ret);

struct tg_cel_overload {
    const char *id;
    bool member;
    uint8_t n_args;
    uint8_t library; /* enum tg_cel_library */
    uint8_t cost;    /* enum tg_cel_cost */
    const struct tg_cel_type *result;
    const struct tg_cel_type *args[TG_CEL_MAX_ARGS];
    tg_cel_call *call;
};

struct tg_cel_function {
    const char *name;
    enum tg_cel_op op;
    const struct tg_cel_overload *overloads;
    size_t n;
};

struct tg_cel_functions { /* sorted by name */
    const struct tg_cel_function *items;
    size_t n;
};

extern const struct tg_cel_functions tg_cel_operators, tg_cel_standard_functions,
    tg_cel_extension_functions, tg_cel_kubernetes_functions, tg_cel_authorizer_functions;

#define TG_CEL_AUTHORIZE_COST 350000U

/* NULL: no environment has it. */
const struct tg_cel_function *tg_cel_function_find(const char *name);
/* At least one overload is in the environment. */
bool tg_cel_function_in(const struct tg_cel_function *function,
                        const struct tg_cel_environment *env);
/* The known name that is nearest to it in spelling, or NULL. */
const char *tg_cel_function_like(const char *name, const struct tg_cel_environment *env);

#endif
