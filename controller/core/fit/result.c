/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/result.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/fit/blobs.h"
#include "controller/core/fit/capacity.h"
#include "controller/core/model/sort.h"

/* What the results of one claim are made from. */
struct maker {
    const struct tg_fit_book *book;
    const struct tg_view *view;
    const struct tg_fit_claim *claim;
    const struct tg_fit_take *takes; /* those of the claim */
    size_t n_takes;
    struct tg_arena *arena;
    struct tg_error *err;
};

static void put_text(struct tg_fit_bytes *out, const char *text)
{
    tg_fit_bytes_put(out, text, strlen(text));
}

/* A JSON string. */
static void put_string(struct tg_fit_bytes *out, const char *text)
{
    char escaped[8];

    put_text(out, "\"");
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20)
            snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)(unsigned char)*text);
        else if (*text == '"' || *text == '\\')
            snprintf(escaped, sizeof(escaped), "\\%c", *text);
        else
            snprintf(escaped, sizeof(escaped), "%c", *text);
        put_text(out, escaped);
    }
    put_text(out, "\"");
}

/* An amount in the form in which the device publishes it. */
static void put_amount(struct tg_fit_bytes *out, __int128 nanos, const char *like)
{
    struct tg_quantity published = {.mantissa = 0}, quantity;
    char text[TG_QUANTITY_TEXT];

    if (like != NULL)
        tg_quantity_parse(like, &published, NULL);
    quantity = tg_nanos_quantity(nanos, published.format);
    if (tg_quantity_format(&quantity, text, sizeof(text)) == 0)
        put_string(out, text);
    else
        put_string(out, "0");
}

int tg_fit_consumed(const struct tg_fit_book *book, const struct tg_view *view,
                    const struct tg_fit_take *take, struct tg_arena *arena, const char **ret,
                    struct tg_error *err)
{
    const struct tg_view_device *d = &view->devices[take->device];
    const struct tg_fit_want *want = &book->wants[take->choice->want];
    bool fractional = tg_rules_have(&view->rules, TG_FEATURE_FRACTIONAL_CAPACITY_RANGE);
    struct tg_fit_bytes out = {.arena = arena, .err = err};

    *ret = NULL;
    if (d->n_capacity == 0)
        return 0;
    for (size_t i = 0; i < d->n_capacity; i++) {
        const struct tg_view_capacity *c = &d->capacity[i];

        put_text(&out, i == 0 ? "{" : ",");
        put_string(&out, c->name);
        put_text(&out, ":");
        put_amount(&out,
                   tg_fit_capacity_amount(c, tg_fit_capacity_asked(want, c->name), fractional),
                   i < d->object->capacity.n ? d->object->capacity.items[i].value.value : NULL);
    }
    tg_fit_bytes_put(&out, "}", sizeof("}"));
    *ret = (const char *)out.data;
    return out.rc;
}

static int write_device(const struct maker *m, const struct tg_fit_take *take,
                        struct tg_allocation_device *out)
{
    const struct tg_view_device *d = &m->view->devices[take->device];
    const struct tg_exact_request *request = take->choice->request;

    *out = (struct tg_allocation_device){.request = take->choice->name,
                                         .driver = d->driver,
                                         .pool = d->pool_name,
                                         .device = d->name};
    if (m->book->wants[take->choice->want].admin)
        out->admin_access = (struct tg_opt_bool){.set = true, .value = true};
    out->tolerations.items = request->tolerations.items;
    out->tolerations.n = request->tolerations.n;
    if (tg_rules_have(&m->view->rules, TG_FEATURE_DEVICE_BINDING_AND_STATUS)) {
        out->binding_conditions.items = d->object->binding_conditions.items;
        out->binding_conditions.n = d->object->binding_conditions.n;
        out->binding_failure_conditions.items = d->object->binding_failure_conditions.items;
        out->binding_failure_conditions.n = d->object->binding_failure_conditions.n;
    }
    if (!tg_fit_shareable(m->view, take->device))
        return 0;
    out->share_id = TG_FIT_SHARE_ID;
    return tg_fit_consumed(m->book, m->view, take, m->arena, &out->consumed_capacity, m->err);
}

static int write_devices(const struct maker *m, struct tg_allocation_devices *out)
{
    int rc = tg_core_alloc(m->arena, m->n_takes, sizeof(*out->results.items), &out->results.items,
                           m->err);

    out->results.n = m->n_takes;
    for (size_t i = 0; rc == 0 && i < m->n_takes; i++)
        rc = write_device(m, &m->takes[i], &out->results.items[i]);
    return rc;
}

/* The choice that was taken for the request. */
static const struct tg_fit_choice *choice_of(const struct maker *m, size_t request)
{
    const struct tg_fit_request *r = &m->claim->requests[request];

    for (size_t i = 0; i < m->n_takes; i++) {
        const struct tg_fit_choice *choice = m->takes[i].choice;

        if (choice >= r->choices && choice < r->choices + r->n_choices)
            return choice;
    }
    return r->choices;
}

static const struct tg_device_class *class_of(const struct maker *m, size_t request)
{
    return m->book->wants[choice_of(m, request)->want].klass;
}

/* One entry for each of a class's, naming the requests that use the class; only at its first use.
 */
static int write_class_config(const struct maker *m, size_t request,
                              struct tg_allocation_devices *out)
{
    const struct tg_device_class *klass = class_of(m, request);
    const char **names;
    size_t n = 0;
    int rc = 0;

    for (size_t r = 0; r < request; r++) {
        if (class_of(m, r) == klass)
            return 0;
    }
    if (klass->spec == NULL || klass->spec->config.n == 0)
        return 0;
    rc = tg_core_alloc(m->arena, m->claim->n_requests, sizeof(*names), &names, m->err);
    for (size_t r = request; rc == 0 && r < m->claim->n_requests; r++) {
        if (class_of(m, r) == klass)
            names[n++] = choice_of(m, r)->name;
    }
    for (size_t i = 0; rc == 0 && i < klass->spec->config.n; i++) {
        struct tg_device_config *config = &out->config.items[out->config.n++];

        *config = (struct tg_device_config){.source = "FromClass",
                                            .opaque = klass->spec->config.items[i].opaque};
        config->requests.items = names;
        config->requests.n = n;
    }
    return rc;
}

static bool names_request(const struct tg_device_config *config, const char *name)
{
    for (size_t i = 0; i < config->requests.n; i++) {
        if (tg_streq(config->requests.items[i], name))
            return true;
    }
    return false;
}

static bool concerns(const struct maker *m, const struct tg_device_config *config, size_t request)
{
    return names_request(config, m->claim->requests[request].name) ||
           names_request(config, choice_of(m, request)->name);
}

/* How often an entry of the claim is copied: up to 36 once for every request that it names. */
static size_t copies_of(const struct maker *m, const struct tg_device_config *config)
{
    size_t n = 0;

    if (config->requests.n == 0)
        return 1;
    for (size_t r = 0; r < m->claim->n_requests; r++)
        n += concerns(m, config, r);
    return m->view->rules.release >= 37 && n > 1 ? 1 : n;
}

static bool concerns_all(const struct maker *m, const struct tg_device_config *config)
{
    for (size_t r = 0; r < m->claim->n_requests; r++) {
        if (!concerns(m, config, r))
            return false;
    }
    return true;
}

static int write_config(const struct maker *m, struct tg_allocation_devices *out)
{
    const struct tg_device_claim *spec = m->claim->object->spec->devices;
    size_t n = spec->config.n * (m->claim->n_requests + 1);
    int rc = 0;

    for (size_t r = 0; r < m->claim->n_requests; r++) {
        const struct tg_device_class *klass = class_of(m, r);

        n += klass->spec == NULL ? 0 : klass->spec->config.n;
    }
    rc = tg_core_alloc(m->arena, n, sizeof(*out->config.items), &out->config.items, m->err);
    for (size_t r = 0; rc == 0 && r < m->claim->n_requests; r++)
        rc = write_class_config(m, r, out);
    for (size_t i = 0; rc == 0 && i < spec->config.n; i++) {
        for (size_t k = copies_of(m, &spec->config.items[i]); k > 0; k--) {
            struct tg_device_config *config = &out->config.items[out->config.n++];

            *config = spec->config.items[i];
            config->source = "FromClaim";
        }
    }
    for (size_t i = 0; rc == 0 && m->view->rules.release >= 37 && i < out->config.n; i++) {
        if (concerns_all(m, &out->config.items[i]))
            out->config.items[i].requests.n = 0;
    }
    return rc;
}

static bool has_value(const struct tg_selector_requirement *requirement, const char *value)
{
    for (size_t i = 0; i < requirement->values.n; i++) {
        if (tg_streq(requirement->values.items[i], value))
            return true;
    }
    return false;
}

static bool same_requirement(const struct tg_selector_requirement *a,
                             const struct tg_selector_requirement *b)
{
    if (!tg_streq(a->key, b->key) || !tg_streq(a->operator_, b->operator_))
        return false;
    for (size_t i = 0; i < a->values.n; i++) {
        if (!has_value(b, a->values.items[i]))
            return false;
    }
    for (size_t i = 0; i < b->values.n; i++) {
        if (!has_value(a, b->values.items[i]))
            return false;
    }
    return true;
}

/* Adds what is not there yet; there is room. */
static void merge(const struct tg_selector_requirement *from, size_t n,
                  struct tg_selector_requirement *to, size_t *n_to)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < *n_to && !same_requirement(&from[i], &to[k]))
            k++;
        if (k == *n_to)
            to[(*n_to)++] = from[i];
    }
}

static int pin_to_node(const struct maker *m, struct tg_selector_term *term)
{
    const char **values;
    struct tg_selector_requirement *field;
    int rc = tg_core_alloc(m->arena, 1, sizeof(*field), &field, m->err);

    if (rc == 0)
        rc = tg_core_alloc(m->arena, 1, sizeof(*values), &values, m->err);
    if (rc < 0)
        return rc;
    values[0] = m->view->node_name;
    *field = (struct tg_selector_requirement){.key = "metadata.name", .operator_ = "In"};
    field->values.items = values;
    field->values.n = 1;
    *term = (struct tg_selector_term){.match_fields = {.items = field, .n = 1}};
    return 0;
}

/* Is an allocation with this device for this node only? A selector of several terms cannot be
 * merged with others, and the API takes none from slices: then the node is named, which is always
 * right. */
static bool is_local(const struct tg_view_device *d)
{
    return d->reach == TG_REACH_NODE ||
           (d->object->binds_to_node.set && d->object->binds_to_node.value) ||
           (d->reach == TG_REACH_SELECTOR && d->selector != NULL && d->selector->terms.n > 1);
}

static const struct tg_selector_term *term_of(const struct tg_view_device *d)
{
    return d->reach == TG_REACH_SELECTOR && d->selector != NULL && d->selector->terms.n == 1
               ? &d->selector->terms.items[0]
               : NULL;
}

static int merge_selectors(const struct maker *m, struct tg_selector_term *term)
{
    size_t n_fields = 0, n_expressions = 0;
    int rc = 0;

    for (size_t i = 0; i < m->n_takes; i++) {
        const struct tg_selector_term *from = term_of(&m->view->devices[m->takes[i].device]);

        n_fields += from == NULL ? 0 : from->match_fields.n;
        n_expressions += from == NULL ? 0 : from->match_expressions.n;
    }
    rc = tg_core_alloc(m->arena, n_fields, sizeof(*term->match_fields.items),
                       &term->match_fields.items, m->err);
    if (rc == 0)
        rc = tg_core_alloc(m->arena, n_expressions, sizeof(*term->match_expressions.items),
                           &term->match_expressions.items, m->err);
    for (size_t i = 0; rc == 0 && i < m->n_takes; i++) {
        const struct tg_selector_term *from = term_of(&m->view->devices[m->takes[i].device]);

        if (from == NULL)
            continue;
        merge(from->match_fields.items, from->match_fields.n, term->match_fields.items,
              &term->match_fields.n);
        merge(from->match_expressions.items, from->match_expressions.n,
              term->match_expressions.items, &term->match_expressions.n);
    }
    return rc;
}

static int write_selector(const struct maker *m, struct tg_allocation *out)
{
    struct tg_selector_term *term;
    struct tg_node_selector *selector;
    bool local = false;
    int rc = tg_core_alloc(m->arena, 1, sizeof(*term), &term, m->err);

    for (size_t i = 0; i < m->n_takes; i++)
        local = local || is_local(&m->view->devices[m->takes[i].device]);
    if (rc == 0)
        rc = local ? pin_to_node(m, term) : merge_selectors(m, term);
    if (rc < 0 || (term->match_fields.n == 0 && term->match_expressions.n == 0))
        return rc;
    rc = tg_core_alloc(m->arena, 1, sizeof(*selector), &selector, m->err);
    if (rc < 0)
        return rc;
    selector->terms.items = term;
    selector->terms.n = 1;
    out->node_selector = selector;
    return 0;
}

int tg_fit_result(const struct tg_fit_book *book, const struct tg_view *view,
                  const struct tg_fit_claim *claims, size_t n_claims,
                  const struct tg_fit_answer *answer, struct tg_arena *arena,
                  struct tg_allocation **ret, struct tg_error *err)
{
    struct maker m = {.book = book, .view = view, .arena = arena, .err = err};
    struct tg_allocation *out;
    size_t at = 0;
    int rc = tg_core_alloc(arena, n_claims, sizeof(*out), &out, err);

    for (size_t c = 0; rc == 0 && c < n_claims; c++) {
        m.claim = &claims[c];
        m.takes = answer->takes + at;
        m.n_takes = 0;
        while (at < answer->n_takes && answer->takes[at].claim == c) {
            m.n_takes++;
            at++;
        }
        rc = tg_core_alloc(arena, 1, sizeof(*out[c].devices), &out[c].devices, err);
        if (rc == 0)
            rc = write_devices(&m, out[c].devices);
        if (rc == 0 && m.claim->n_requests > 0)
            rc = write_config(&m, out[c].devices);
        if (rc == 0)
            rc = write_selector(&m, &out[c]);
    }
    if (rc == 0)
        *ret = out;
    return rc;
}
