/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/values/labels.h"
#include "api/runtime/base/str.h"
#include "controller/core/fit/rule.h"

static const char *label(void *data, const char *key)
{
    const struct tg_fleet_node *node = data;

    return tg_meta_label(node->object->metadata, key);
}

/* The only field there is. */
static const char *field(void *data, const char *key)
{
    const struct tg_fleet_node *node = data;

    return tg_streq(key, "metadata.name") ? node->name : NULL;
}

static bool all_match(const struct tg_fleet_node *node,
                      const struct tg_selector_requirement *requirements, size_t n,
                      tg_label_get get)
{
    struct tg_fleet_node copy = *node; /* the callback's data is not const */

    for (size_t i = 0; i < n; i++) {
        const struct tg_requirement r = {.key = requirements[i].key,
                                         .operator= requirements[i].operator_,
                                         .values = requirements[i].values.items,
                                         .n_values = requirements[i].values.n};

        if (r.key == NULL || r.operator== NULL || !tg_requirement_matches(&r, get, &copy))
            return false;
    }
    return true;
}

/* An empty term matches nothing. A field that does not exist matches nothing either, NotIn
 * included. */
static bool term_matches(const struct tg_fleet_node *node, const struct tg_selector_term *term)
{
    if (term->match_expressions.n == 0 && term->match_fields.n == 0)
        return false;
    for (size_t i = 0; i < term->match_fields.n; i++) {
        if (!tg_streq(term->match_fields.items[i].key, "metadata.name"))
            return false;
    }
    return all_match(node, term->match_expressions.items, term->match_expressions.n, label) &&
           all_match(node, term->match_fields.items, term->match_fields.n, field);
}

bool tg_fit_node_affinity(const struct tg_fleet_node *node, const struct tg_pod *pod)
{
    const struct tg_affinity *affinity = pod->spec == NULL ? NULL : pod->spec->affinity;
    const struct tg_node_selector *required = NULL;

    if (affinity != NULL && affinity->node_affinity != NULL)
        required = affinity->node_affinity->required;
    if (required == NULL)
        return true;
    for (size_t i = 0; i < required->terms.n; i++) {
        if (term_matches(node, &required->terms.items[i]))
            return true;
    }
    return false;
}
