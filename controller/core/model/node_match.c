/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_match.h"

#include "api/kubernetes/values/labels.h"
#include "api/runtime/base/str.h"

struct subject { /* the callback's data is not const */
    const struct tg_node *node;
};

static const char *label(void *data, const char *key)
{
    return tg_meta_label(((const struct subject *)data)->node->metadata, key);
}

/* The only field there is; others are empty. */
static const char *field(void *data, const char *key)
{
    return tg_streq(key, "metadata.name") ? ((const struct subject *)data)->node->metadata->name
                                          : "";
}

static bool all_match(const struct tg_node *node,
                      const struct tg_selector_requirement *requirements, size_t n,
                      tg_label_get get)
{
    struct subject subject = {.node = node};

    for (size_t i = 0; i < n; i++) {
        const struct tg_requirement r = {.key = requirements[i].key,
                                         .operator= requirements[i].operator_,
                                         .values = requirements[i].values.items,
                                         .n_values = requirements[i].values.n};

        if (r.key == NULL || r.operator== NULL || !tg_requirement_matches(&r, get, &subject))
            return false;
    }
    return true;
}

/* Of fields there is In and NotIn, with one value. */
static bool is_field_requirement(const struct tg_selector_requirement *r)
{
    return r->values.n == 1 && (tg_streq(r->operator_, "In") || tg_streq(r->operator_, "NotIn"));
}

static bool term_matches(const struct tg_node *node, const struct tg_selector_term *term)
{
    if (term->match_expressions.n == 0 && term->match_fields.n == 0)
        return false;
    for (size_t i = 0; i < term->match_fields.n; i++) {
        if (!is_field_requirement(&term->match_fields.items[i]))
            return false;
    }
    return all_match(node, term->match_expressions.items, term->match_expressions.n, label) &&
           all_match(node, term->match_fields.items, term->match_fields.n, field);
}

bool tg_node_selector_matches(const struct tg_node_selector *selector, const struct tg_node *node)
{
    for (size_t i = 0; i < selector->terms.n; i++) {
        if (term_matches(node, &selector->terms.items[i]))
            return true;
    }
    return false;
}

static bool term_reads(const struct tg_selector_term *term, const char *key)
{
    if (key == NULL)
        return term->match_fields.n > 0;
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        if (tg_streq(term->match_expressions.items[i].key, key))
            return true;
    }
    return false;
}

bool tg_node_selector_reads(const struct tg_node_selector *selector, const char *key)
{
    for (size_t i = 0; i < selector->terms.n; i++) {
        if (term_reads(&selector->terms.items[i], key))
            return true;
    }
    return false;
}

bool tg_node_matches(const struct tg_node *node, const char *node_name, bool all_nodes,
                     const struct tg_node_selector *selector)
{
    if (node_name != NULL && node_name[0] != '\0')
        return tg_streq(node->metadata->name, node_name);
    return all_nodes || (selector != NULL && tg_node_selector_matches(selector, node));
}
