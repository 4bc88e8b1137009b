/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an expression: made by the parser (macros expanded), annotated by the checker. */
#ifndef TG_CORE_CEL_NODE_H
#define TG_CORE_CEL_NODE_H

#include "controller/core/cel/value.h"

enum tg_cel_node_kind {
    TG_CEL_LITERAL,
    TG_CEL_IDENT,
    TG_CEL_SELECT, /* args: the operand */
    TG_CEL_CALL,   /* args: the target of a member call first */
    TG_CEL_CREATE_LIST,
    TG_CEL_CREATE_MAP,    /* args: key, value, key, value */
    TG_CEL_CREATE_STRUCT, /* parsed, and refused by the checker: there are no messages */
    TG_CEL_FOLD,
};

struct tg_cel_node;
struct tg_cel_overload;
struct tg_cel_regex;

/* accu = init; for each element (or key, or index and element) of range: stop unless condition;
 * accu = step; then result. cel.bind is a fold over nothing whose init is evaluated on first use.
 */
struct tg_cel_fold {
    const char *iter, *iter2, *accu; /* iter2: NULL in the one-variable form */
    struct tg_cel_node *range, *init, *condition, *step, *result;
    unsigned slot; /* of iter; iter2 and accu follow */
    bool bind;     /* cel.bind and what works alike */
    bool sticky;   /* an error in step is the result, whatever follows */
};

/* What the evaluator does not hand to a table function. */
enum tg_cel_op {
    TG_CEL_OP_NONE,
    TG_CEL_OP_AND,
    TG_CEL_OP_OR,
    TG_CEL_OP_CONDITIONAL,
    TG_CEL_OP_EQUAL,
    TG_CEL_OP_NOT_EQUAL,
    TG_CEL_OP_INDEX,
    TG_CEL_OP_OPTIONAL_INDEX,
    TG_CEL_OP_OPTIONAL_SELECT,
    TG_CEL_OP_NOT_STRICTLY_FALSE,
    TG_CEL_OP_OR_OPTIONAL,  /* a.or(b) */
    TG_CEL_OP_OR_VALUE,     /* a.orValue(b) */
    TG_CEL_OP_IN_CONSTANTS, /* in a constant list of simple values */
};

/* Where an identifier's value is. */
enum tg_cel_place {
    TG_CEL_UNRESOLVED,
    TG_CEL_SLOT, /* of a fold */
    TG_CEL_DEVICE,
    TG_CEL_VARIABLE, /* of the environment, by number */
    TG_CEL_TYPE_NAME,
};

struct tg_cel_node {
    uint8_t kind;       /* enum tg_cel_node_kind */
    uint8_t op;         /* CALL: enum tg_cel_op, by the checker */
    uint8_t place;      /* IDENT: enum tg_cel_place, by the checker */
    bool member : 1;    /* CALL: with a target */
    bool test : 1;      /* SELECT: has() */
    bool checked : 1;   /* a node that a macro uses twice is checked once */
    bool relative : 1;  /* SELECT, index: its root is no identifier */
    bool folded : 1;    /* the value of a constant list or map is in literal */
    bool exact : 1;     /* CALL: no argument can be of another type than the overload takes */
    bool costed : 1;    /* cost.c has been here */
    bool validated : 1; /* validate.c has been here */
    bool domain : 1;    /* index: device.attributes["x"] or device.capacity["x"] */
    bool rooted : 1;    /* a path that costs 1 where it begins */
    bool finished : 1;  /* finish.c has been here */
    uint16_t depth;     /* nesting of operators in the text below, 0 for a leaf */
    uint32_t offset;    /* bytes of the source */
    uint32_t n_args;
    uint32_t n_overloads;
    uint32_t slot;    /* IDENT; SELECT: length of name; folded CALL: its cost */
    const char *name; /* IDENT, SELECT: field, CALL: function, CREATE_STRUCT */
    struct tg_cel_node **args;
    bool *optional; /* CREATE_LIST: per element, CREATE_MAP: per entry; NULL = none is */
    struct tg_cel_fold *fold;
    struct tg_cel_value literal;
    const struct tg_cel_type *type;
    const struct tg_cel_overload **overloads; /* that can apply, in the order of the tables */
    struct tg_cel_regex *regex;               /* a constant pattern */
    void *estimate;                           /* cost.c */
};

#endif
