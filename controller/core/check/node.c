/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes can reach a device, and what an allocation says about it. */
#include <string.h>

#include "api/kubernetes/values/labels.h"
#include "api/runtime/base/str.h"
#include "controller/core/check/view.h"

static const char *label_of(void *data, const char *key)
{
    const struct tg_node *node = data;

    return tg_meta_label(node->metadata, key);
}

static const char *field_of(void *data, const char *key)
{
    const struct tg_node *node = data;

    return tg_streq(key, "metadata.name") ? node->metadata->name : NULL;
}

static bool term_matches(const struct tg_node *node, const struct tg_selector_term *term)
{
    if (term->match_expressions.n == 0 && term->match_fields.n == 0)
        return false;
    for (size_t i = 0; i < term->match_expressions.n + term->match_fields.n; i++) {
        bool field = i >= term->match_expressions.n;
        const struct tg_selector_requirement *r =
            field ? &term->match_fields.items[i - term->match_expressions.n]
                  : &term->match_expressions.items[i];
        const struct tg_requirement q = {.key = r->key,
                                         .operator= r->operator_,
                                         .values = r->values.items,
                                         .n_values = r->values.n};

        if (tg_requirement_check(&q, NULL) < 0 ||
            !tg_requirement_matches(&q, field ? field_of : label_of, (void *)node))
            return false;
    }
    return true;
}

bool tg_check_node_matches(const struct tg_node *node, const struct tg_node_selector *selector)
{
    for (size_t i = 0; i < selector->terms.n; i++) {
        if (term_matches(node, &selector->terms.items[i]))
            return true;
    }
    return false;
}

static bool reaches(const struct tg_node *node, const char *name, struct tg_opt_bool all,
                    const struct tg_node_selector *selector)
{
    if (name != NULL && *name != '\0')
        return tg_streq(node->metadata->name, name);
    if (all.set && all.value)
        return true;
    return selector != NULL && tg_check_node_matches(node, selector);
}

static bool by_device(const struct tg_resource_slice_spec *spec)
{
    return spec->per_device_node_selection.set && spec->per_device_node_selection.value;
}

bool tg_check_device_on_node(const struct tg_node *node, const struct tg_resource_slice *slice,
                             const struct tg_device *device)
{
    const struct tg_resource_slice_spec *spec = slice->spec;

    if (by_device(spec))
        return reaches(node, device->node_name, device->all_nodes, device->node_selector);
    return reaches(node, spec->node_name, spec->all_nodes, spec->node_selector);
}

/* The requirements that the devices of a claim put on a node. */
struct demands {
    const struct tg_selector_requirement **items;
    bool *field;
    size_t n;
    bool pinned; /* this node and no other */
};

static bool has_all(const struct tg_selector_requirement *a,
                    const struct tg_selector_requirement *b)
{
    for (size_t i = 0; i < a->values.n; i++) {
        bool found = false;

        for (size_t j = 0; j < b->values.n && !found; j++)
            found = tg_streq(a->values.items[i], b->values.items[j]);
        if (!found)
            return false;
    }
    return true;
}

static bool same_requirement(const struct tg_selector_requirement *a,
                             const struct tg_selector_requirement *b)
{
    return tg_streq(a->key, b->key) && tg_streq(a->operator_, b->operator_) && has_all(a, b) &&
           has_all(b, a);
}

static bool demands_have(const struct demands *d, const struct tg_selector_requirement *r,
                         bool field)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->field[i] == field && same_requirement(d->items[i], r))
            return true;
    }
    return false;
}

static void demand(struct demands *d, const struct tg_node_selector *selector)
{
    const struct tg_selector_term *term = selector->terms.items;

    if (selector->terms.n != 1)
        return; /* no server takes a slice with more */
    for (size_t i = 0; i < term->match_fields.n + term->match_expressions.n; i++) {
        bool field = i < term->match_fields.n;
        const struct tg_selector_requirement *r =
            field ? &term->match_fields.items[i]
                  : &term->match_expressions.items[i - term->match_fields.n];

        if (demands_have(d, r, field))
            continue;
        d->items[d->n] = r;
        d->field[d->n++] = field;
    }
}

static size_t requirements_of(const struct tg_check_pick *pick)
{
    const struct tg_node_selector *s = by_device(pick->slice->spec)
                                           ? pick->device->node_selector
                                           : pick->slice->spec->node_selector;

    if (s == NULL || s->terms.n != 1)
        return 0;
    return s->terms.items[0].match_expressions.n + s->terms.items[0].match_fields.n;
}

static int collect(const struct tg_check_view *view, size_t claim, struct demands *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < view->n_picks; i++)
        n += view->picks[i].ask->claim == claim ? requirements_of(&view->picks[i]) : 0;
    *ret = (struct demands){
        .items = tg_arena_alloc_array(view->arena, n, sizeof(*ret->items)),
        .field = tg_arena_alloc_array(view->arena, n, sizeof(*ret->field)),
    };
    if (ret->items == NULL || ret->field == NULL)
        return tg_check_no_memory(view);
    for (size_t i = 0; i < view->n_picks; i++) {
        const struct tg_check_pick *pick = &view->picks[i];
        const struct tg_resource_slice_spec *spec = pick->slice->spec;
        const char *name = by_device(spec) ? pick->device->node_name : spec->node_name;
        const struct tg_node_selector *s =
            by_device(spec) ? pick->device->node_selector : spec->node_selector;

        if (pick->ask->claim != claim)
            continue;
        if (name != NULL || (pick->device->binds_to_node.set && pick->device->binds_to_node.value))
            ret->pinned = true;
        if (s != NULL)
            demand(ret, s);
    }
    return 0;
}

static bool pins_node(const struct tg_node_selector *s, const char *name)
{
    const struct tg_selector_term *term = s->terms.items;
    const struct tg_selector_requirement *r;

    if (s->terms.n != 1 || term->match_fields.n != 1 || term->match_expressions.n != 0)
        return false;
    r = term->match_fields.items;
    return tg_streq(r->key, "metadata.name") && tg_streq(r->operator_, "In") && r->values.n == 1 &&
           tg_streq(r->values.items[0], name);
}

/* One term with exactly the demands, in any order. */
static bool says(const struct tg_node_selector *s, const struct demands *d)
{
    const struct tg_selector_term *term = s->terms.items;

    if (s->terms.n != 1 || term->match_fields.n + term->match_expressions.n != d->n)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        bool field = i < term->match_fields.n;

        if (!demands_have(d,
                          field ? &term->match_fields.items[i]
                                : &term->match_expressions.items[i - term->match_fields.n],
                          field))
            return false;
    }
    return true;
}

int tg_check_node_selectors(struct tg_check_view *view)
{
    for (size_t c = 0; c < view->in->n_claims; c++) {
        const struct tg_allocation *a = tg_check_allocation_of(&view->in->claims[c]);
        const struct tg_node_selector *s = a->node_selector;
        struct demands d;
        int rc = collect(view, c, &d);

        if (rc < 0)
            return rc;
        /* To name the node itself is always right: narrower than it has to be. */
        if (s != NULL && pins_node(s, view->in->node->metadata->name))
            continue;
        if (d.pinned)
            return tg_check_broken(view, "NodeSelector", c, NULL, NULL,
                                   "a device is there on node %s only, and the node selector "
                                   "does not name it",
                                   view->in->node->metadata->name);
        if (s == NULL ? d.n > 0 : !says(s, &d))
            return tg_check_broken(view, "NodeSelector", c, NULL, NULL,
                                   "the node selector is not that of the devices (%zu "
                                   "requirements)",
                                   d.n);
    }
    return 0;
}
