/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a compiled selector: folders-private to cel. AND and OR hold any number of operands,
 * so that the depth of the tree is the depth of the text's parentheses and never the length of a
 * chain.
 */
#ifndef TG_CORE_CEL_NODE_H
#define TG_CORE_CEL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/values/quantity.h"
#include "api/kubernetes/values/semver.h"

/* CELSelectorExpressionMaxLength of the resource API. */
#define TG_CEL_MAX_BYTES ((size_t)10 * 1024)
#define TG_CEL_MAX_DEPTH 64U

/* TG_CEL_DYN is a static type only: an attribute, whose type is known when a device is there. */
enum tg_cel_type {
    TG_CEL_BOOL,
    TG_CEL_INT,
    TG_CEL_UINT,
    TG_CEL_DOUBLE,
    TG_CEL_STRING,
    TG_CEL_QUANTITY,
    TG_CEL_SEMVER,
    TG_CEL_DYN,
};

struct tg_cel_value {
    enum tg_cel_type type;
    union {
        bool boolean;
        int64_t integer;
        uint64_t uinteger;
        double real;
        const char *string;
        struct tg_quantity quantity;
        struct tg_semver semver;
    };
};

enum tg_cel_op {
    TG_CEL_LITERAL,
    TG_CEL_DRIVER,        /* device.driver */
    TG_CEL_ATTRIBUTE,     /* device.attributes[domain].name */
    TG_CEL_CAPACITY,      /* device.capacity[domain].name */
    TG_CEL_HAS_ATTRIBUTE, /* name in device.attributes[domain], has(device.attributes[domain].name)
                           */
    TG_CEL_HAS_CAPACITY,  /* the same of device.capacity */
    TG_CEL_HAS_ATTRIBUTE_DOMAIN, /* domain in device.attributes */
    TG_CEL_HAS_CAPACITY_DOMAIN,  /* domain in device.capacity */
    TG_CEL_NOT,
    TG_CEL_AND,
    TG_CEL_OR,
    TG_CEL_EQUAL,
    TG_CEL_NOT_EQUAL,
    TG_CEL_LESS,
    TG_CEL_LESS_EQUAL,
    TG_CEL_GREATER,
    TG_CEL_GREATER_EQUAL,
    TG_CEL_IS_GREATER_THAN, /* a.isGreaterThan(b) */
    TG_CEL_IS_LESS_THAN,
    TG_CEL_COMPARE_TO,
};

struct tg_cel_node {
    enum tg_cel_op op;
    enum tg_cel_type type; /* static; set by tg_cel_check */
    unsigned depth;        /* 1 = leaf */
    size_t column;         /* where it begins, in characters from 1 */
    struct tg_cel_value value;
    const char *domain, *name;
    struct tg_cel_node *first; /* operands, linked by next */
    struct tg_cel_node *next;
};

/* "int", "string" and so on, as CEL calls them. */
const char *tg_cel_type_name(enum tg_cel_type type);
/* "==" and so on. */
const char *tg_cel_op_name(enum tg_cel_op op);

#endif
