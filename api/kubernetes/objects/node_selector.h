/* SPDX-License-Identifier: Apache-2.0 */
/* core/v1 NodeSelector: terms are ORed, requirements of a term are ANDed; shared by pods, slices
 * and allocations. */
#ifndef TG_KUBERNETES_OBJECTS_NODE_SELECTOR_H
#define TG_KUBERNETES_OBJECTS_NODE_SELECTOR_H

#include "api/runtime/json/field.h"

struct tg_selector_requirement {
    const char *key, *operator_;
    TG_LIST_OF(const char *) values;
};
struct tg_selector_term {
    TG_LIST_OF(struct tg_selector_requirement) match_expressions;
    TG_LIST_OF(struct tg_selector_requirement) match_fields; /* only metadata.name exists */
};
struct tg_node_selector {
    TG_LIST_OF(struct tg_selector_term) terms;
};
extern const struct tg_type tg_node_selector_type;
/* A term as storage classes have it: matchLabelExpressions, whose operator is not said and is In.
 */
extern const struct tg_type tg_topology_term_type;

#endif
