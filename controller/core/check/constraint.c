/* SPDX-License-Identifier: Apache-2.0 */
/* matchAttribute and distinctAttribute over the devices of a claim. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/value.h"
#include "controller/core/check/view.h"

/* The values of an attribute as texts of one kind; a scalar is a list of one. */
struct values {
    const char *kind;
    const char **items;
    size_t n;
};

static bool concerns(const struct tg_device_constraint *constraint, const struct tg_check_ask *ask)
{
    if (constraint->requests.n == 0)
        return true;
    for (size_t i = 0; i < constraint->requests.n; i++) {
        if (tg_streq(constraint->requests.items[i], ask->name) ||
            tg_streq(constraint->requests.items[i], ask->request->name))
            return true;
    }
    return false;
}

/* By its whole name, or by the bare one in the domain of the driver. */
static const struct tg_device_attribute *attribute_of(const struct tg_check_pick *pick,
                                                      const char *name)
{
    const struct tg_device_attribute *bare = NULL;
    const char *slash = strchr(name, '/'), *driver = pick->result->driver;
    bool own = slash != NULL && strlen(driver) == (size_t)(slash - name) &&
               memcmp(driver, name, strlen(driver)) == 0;

    for (size_t i = 0; i < pick->device->attributes.n; i++) {
        const struct tg_keyed_attribute *a = &pick->device->attributes.items[i];

        if (tg_streq(a->key, name))
            return &a->value;
        if (own && tg_streq(a->key, slash + 1))
            bare = &a->value;
    }
    return bare;
}

/* Raw JSON lists, of integers or booleans. */
static int raw_values(const struct tg_check_view *view, const char *text, struct values *ret)
{
    struct tg_json *list = NULL;

    if (tg_json_parse(text, strlen(text), view->arena, &list, NULL) < 0 ||
        list->kind != TG_JSON_ARRAY)
        return 0;
    ret->items = tg_arena_alloc_array(view->arena, list->n, sizeof(*ret->items));
    if (ret->items == NULL)
        return tg_check_no_memory(view);
    for (size_t i = 0; i < list->n; i++) {
        const struct tg_json *v = list->items[i];

        ret->items[ret->n++] =
            v->kind == TG_JSON_BOOL ? (v->boolean ? "true" : "false") : tg_or(v->text, "");
    }
    return 0;
}

static int one_value(const struct tg_check_view *view, const char *kind, const char *text,
                     struct values *ret)
{
    *ret = (struct values){.kind = kind, .items = tg_arena_alloc(view->arena, sizeof(*ret->items))};
    if (ret->items == NULL || text == NULL)
        return tg_check_no_memory(view);
    ret->items[0] = text;
    ret->n = 1;
    return 0;
}

static int list_values(const struct tg_check_view *view, const struct tg_device_attribute *a,
                       struct values *ret)
{
    if (a->ints != NULL) {
        ret->kind = "int";
        return raw_values(view, a->ints, ret);
    }
    if (a->bools != NULL) {
        ret->kind = "bool";
        return raw_values(view, a->bools, ret);
    }
    ret->kind = a->strings.n > 0 ? "string" : "version";
    ret->items = a->strings.n > 0 ? a->strings.items : a->versions.items;
    ret->n = a->strings.n > 0 ? a->strings.n : a->versions.n;
    return 0;
}

/* ret->n is 0 for what is no attribute to us. */
static int values_of(const struct tg_check_view *view, const struct tg_device_attribute *a,
                     struct values *ret)
{
    bool list = a->ints != NULL || a->bools != NULL || a->strings.n > 0 || a->versions.n > 0;

    *ret = (struct values){0};
    if (list && !tg_check_has(view, TG_CHECK_LIST_ATTRIBUTES))
        return 0;
    if (list)
        return list_values(view, a, ret);
    if (a->int_.set)
        return one_value(view, "int",
                         tg_arena_printf(view->arena, "%lld", (long long)a->int_.value), ret);
    if (a->bool_.set)
        return one_value(view, "bool", a->bool_.value ? "true" : "false", ret);
    if (a->string != NULL)
        return one_value(view, "string", a->string, ret);
    return a->version != NULL ? one_value(view, "version", a->version, ret) : 0;
}

/* What both have, into ret (which has room for all of a). */
static void common(const struct values *a, const struct values *b, struct values *ret)
{
    size_t n = 0;

    for (size_t i = 0; tg_streq(a->kind, b->kind) && i < a->n; i++) {
        bool found = false;

        for (size_t j = 0; j < b->n && !found; j++)
            found = strcmp(a->items[i], b->items[j]) == 0;
        if (found)
            ret->items[n++] = a->items[i];
    }
    ret->n = n;
}

/* The values of every pick of the constraint; others have n = 0. Lists are no values where they are
 * not switched on: then a device has nobody to agree or disagree with only if it is alone. */
static int gather(const struct tg_check_view *view, size_t claim,
                  const struct tg_device_constraint *constraint, const char *rule, const char *name,
                  struct values *all)
{
    const struct tg_check_pick *odd = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < view->n_picks; i++) {
        const struct tg_check_pick *pick = &view->picks[i];
        const struct tg_device_attribute *a;

        if (pick->ask->claim != claim || !concerns(constraint, pick->ask))
            continue;
        n++;
        a = attribute_of(pick, name);
        if (a != NULL)
            rc = values_of(view, a, &all[i]);
        if (rc == 0 && all[i].n == 0 && (a == NULL || tg_check_has(view, TG_CHECK_LIST_ATTRIBUTES)))
            return tg_check_broken(view, rule, claim, pick->ask, pick,
                                   "it has no attribute %s that could be compared", name);
        odd = all[i].n == 0 ? pick : odd;
    }
    if (rc == 0 && odd != NULL && n > 1)
        return tg_check_broken(view, rule, claim, odd->ask, odd,
                               "its attribute %s is a list, which is not switched on", name);
    return rc;
}

static int check_match(const struct tg_check_view *view, size_t claim, const char *name,
                       const struct values *all)
{
    const struct values *first = NULL;
    struct values left = {0};

    for (size_t i = 0; i < view->n_picks; i++) {
        if (all[i].n == 0)
            continue;
        if (first == NULL) {
            first = &all[i];
            left = *first;
            left.items = tg_arena_alloc_array(view->arena, first->n, sizeof(*left.items));
            if (left.items == NULL)
                return tg_check_no_memory(view);
            memcpy(left.items, first->items, first->n * sizeof(*left.items));
            continue;
        }
        common(&left, &all[i], &left);
        if (left.n == 0)
            return tg_check_broken(view, "MatchAttribute", claim, view->picks[i].ask,
                                   &view->picks[i], "its %s is not that of the others", name);
    }
    return 0;
}

static int check_distinct(const struct tg_check_view *view, size_t claim, const char *name,
                          const struct values *all)
{
    for (size_t i = 0; i < view->n_picks; i++) {
        struct values both = {.items =
                                  tg_arena_alloc_array(view->arena, all[i].n, sizeof(*both.items))};

        if (both.items == NULL)
            return tg_check_no_memory(view);
        for (size_t j = 0; j < i; j++) {
            common(&all[i], &all[j], &both);
            if (both.n > 0)
                return tg_check_broken(view, "DistinctAttribute", claim, view->picks[i].ask,
                                       &view->picks[i], "its %s is that of another, %s", name,
                                       view->picks[j].result->device);
        }
    }
    return 0;
}

static int check_constraint(const struct tg_check_view *view, size_t claim,
                            const struct tg_device_constraint *c)
{
    struct values *all = tg_arena_alloc_array(view->arena, view->n_picks, sizeof(*all));
    bool match = c->match_attribute != NULL;
    const char *name = match ? c->match_attribute : c->distinct_attribute;
    int rc;

    if (all == NULL)
        return tg_check_no_memory(view);
    if (name == NULL)
        return tg_check_broken(view, "Structure", claim, NULL, NULL,
                               "a constraint of a kind that is not known");
    rc = gather(view, claim, c, match ? "MatchAttribute" : "DistinctAttribute", name, all);
    if (rc < 0)
        return rc;
    return match ? check_match(view, claim, name, all) : check_distinct(view, claim, name, all);
}

int tg_check_constraints(struct tg_check_view *view)
{
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < view->in->n_claims; c++) {
        const struct tg_device_claim *spec = view->in->claims[c].claim->spec->devices;

        for (size_t i = 0; rc == 0 && i < spec->constraints.n; i++)
            rc = check_constraint(view, c, &spec->constraints.items[i]);
    }
    return rc;
}
