/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/node_selector.h"

static const struct tg_field requirement_fields[] = {
    TG_FIELD_STR(struct tg_selector_requirement, key, "key"),
    TG_FIELD_STR(struct tg_selector_requirement, operator_, "operator"),
    TG_FIELD_STR_LIST(struct tg_selector_requirement, values, "values"),
};
static const struct tg_type requirement_type =
    TG_TYPE(struct tg_selector_requirement, requirement_fields);

static const struct tg_field term_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_selector_term, match_expressions, "matchExpressions",
                      &requirement_type),
    TG_FIELD_OBJ_LIST(struct tg_selector_term, match_fields, "matchFields", &requirement_type),
};
static const struct tg_type term_type = TG_TYPE(struct tg_selector_term, term_fields);

static const struct tg_field topology_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_selector_term, match_expressions, "matchLabelExpressions",
                      &requirement_type),
};
const struct tg_type tg_topology_term_type = TG_TYPE(struct tg_selector_term, topology_fields);

static const struct tg_field selector_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_node_selector, terms, "nodeSelectorTerms", &term_type),
};
const struct tg_type tg_node_selector_type = TG_TYPE(struct tg_node_selector, selector_fields);
