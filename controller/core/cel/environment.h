/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an expression is compiled for: the language alone, or the environment in which a Kubernetes
 * release compiles device selectors (apiserver pkg/cel/environment, dynamic-resource-allocation
 * cel/compile.go). A release takes new expressions with the libraries of the release before it, so
 * that it can be rolled back; stored ones may use everything and ignore the feature gates.
 */
#ifndef TG_CORE_CEL_ENVIRONMENT_H
#define TG_CORE_CEL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/core/cel/type.h"

enum tg_cel_profile {
    TG_CEL_DRA,   /* Kubernetes 1.`minor`: one variable, device */
    TG_CEL_PLAIN, /* the language with its own extension libraries: for the conformance cases */
};

#define TG_CEL_OLDEST_MINOR 34U
#define TG_CEL_NEWEST_MINOR 37U

/* CELSelectorExpressionMaxLength and CELSelectorExpressionMaxCost of the resource API. */
#define TG_CEL_MAX_BYTES ((size_t)10 * 1024)
#define TG_CEL_MAX_COST UINT64_C(1000000)

struct tg_cel_variable {
    const char *name;
    const struct tg_cel_type *type;
};

struct tg_cel_zones;

struct tg_cel_environment {
    enum tg_cel_profile profile;
    unsigned minor;           /* DRA: 34 to 37 */
    bool new_expression;      /* DRA: as the API server takes it in a new object */
    bool consumable_capacity; /* feature gates; of new expressions, and of 1.36 for lists */
    bool list_type_attributes;
    bool any_result; /* DRA: of every type, not only what selects: for the language cases */
    bool unchecked;  /* PLAIN: without type check, as parsed */
    const struct tg_cel_zones *zones; /* NULL: no zones but UTC; outlive the program */
    const char *container;            /* PLAIN: namespace in which names are looked up, or NULL */
    const struct tg_cel_variable *variables; /* PLAIN */
    size_t n_variables;
};

/* Libraries, each from some release on. */
enum tg_cel_library {
    TG_CEL_LIB_STANDARD,
    TG_CEL_LIB_CROSS_TYPE, /* comparisons between int, uint and double */
    TG_CEL_LIB_OPTIONAL,
    TG_CEL_LIB_STRINGS,
    TG_CEL_LIB_STRINGS_3, /* reverse() of strings: in no Kubernetes release */
    TG_CEL_LIB_SETS,
    TG_CEL_LIB_TWO_VARIABLES,
    TG_CEL_LIB_LISTS, /* slice, flatten, sort, ... */
    TG_CEL_LIB_BINDINGS,
    TG_CEL_LIB_URL,
    TG_CEL_LIB_REGEX,
    TG_CEL_LIB_KUBE_LISTS, /* isSorted, sum, min, max, indexOf */
    TG_CEL_LIB_INCLUDES,
    TG_CEL_LIB_QUANTITY,
    TG_CEL_LIB_IP,
    TG_CEL_LIB_CIDR,
    TG_CEL_LIB_FORMAT,
    TG_CEL_LIB_SEMVER,
    TG_CEL_LIB_AUTHORIZER,
    TG_CEL_LIBRARIES,
};

bool tg_cel_has_library(const struct tg_cel_environment *env, enum tg_cel_library library);
/* The oldest minor release whose stored expressions know it. */
unsigned tg_cel_library_since(enum tg_cel_library library);
/* Names in backticks. */
bool tg_cel_has_escaped_names(const struct tg_cel_environment *env);
/* device.attributes[d].name is dyn (which can be a list) and not any. */
bool tg_cel_has_list_attributes(const struct tg_cel_environment *env);
bool tg_cel_has_multiple_allocations(const struct tg_cel_environment *env);

#endif
