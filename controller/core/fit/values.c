/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "controller/core/model/sort.h"

/* One value of one device, before it has a number. */
struct item {
    char type; /* 'i', 'b', 's', 'v' */
    const char *text;
    size_t *id; /* where its number goes */
};

/* Values found so far, in one growing list. */
struct gatherer {
    struct tg_arena *arena;
    struct item *items;
    size_t n, capacity;
    struct tg_error *err;
    int rc;
};

static void put(struct gatherer *g, char type, const char *text)
{
    struct item *grown;

    if (g->rc < 0)
        return;
    if (g->n == g->capacity) {
        g->capacity = g->capacity == 0 ? 64 : 2 * g->capacity;
        g->rc = tg_core_alloc(g->arena, g->capacity, sizeof(*grown), &grown, g->err);
        if (g->rc < 0)
            return;
        if (g->n > 0)
            memcpy(grown, g->items, g->n * sizeof(*grown));
        g->items = grown;
    }
    g->items[g->n++] = (struct item){.type = type, .text = text};
}

static void put_copy(struct gatherer *g, char type, const char *text, size_t n)
{
    char *copy = tg_arena_strndup(g->arena, text, n);

    if (copy == NULL && g->rc == 0)
        g->rc = tg_error_set(g->err, TG_RESOURCE_EXHAUSTED,
                             "the decision needs more memory than its budget");
    put(g, type, copy);
}

static void put_int(struct gatherer *g, int64_t value)
{
    char text[32];

    put_copy(g, 'i', text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value));
}

/* A list of numbers or bools, kept as JSON: what stands between brackets and
 * commas. */
static void put_raw(struct gatherer *g, char type, const char *json)
{
    static const char between[] = "[], \t\r\n";

    while (json != NULL && *(json += strspn(json, between)) != '\0') {
        size_t n = strcspn(json, between);

        put_copy(g, type, json, n);
        json += n;
    }
}

static void put_lists(struct gatherer *g, const struct tg_device_attribute *a)
{
    put_raw(g, 'i', a->ints);
    put_raw(g, 'b', a->bools);
    for (size_t i = 0; i < a->strings.n; i++)
        put(g, 's', a->strings.items[i]);
    for (size_t i = 0; i < a->versions.n; i++)
        put(g, 'v', a->versions.items[i]);
}

static void put_attribute(struct gatherer *g, const struct tg_device_attribute *a, bool lists)
{
    size_t before = g->n;

    if (lists)
        put_lists(g, a);
    if (g->n > before)
        return;
    if (a->string != NULL)
        put(g, 's', a->string);
    else if (a->int_.set)
        put_int(g, a->int_.value);
    else if (a->bool_.set)
        put(g, 'b', a->bool_.value ? "true" : "false");
    else if (a->version != NULL)
        put(g, 'v', a->version);
}

static const struct tg_device_attribute *find(const struct tg_device *device, const char *key)
{
    for (size_t i = 0; i < device->attributes.n; i++) {
        if (strcmp(device->attributes.items[i].key, key) == 0)
            return &device->attributes.items[i].value;
    }
    return NULL;
}

static const struct tg_device_attribute *look_up(const struct tg_view_device *d,
                                                 const char *attribute)
{
    const struct tg_device_attribute *found = find(d->object, attribute);
    const char *slash = strchr(attribute, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - attribute);

    if (found != NULL || slash == NULL || strlen(d->driver) != n ||
        strncmp(d->driver, attribute, n) != 0)
        return found;
    return find(d->object, slash + 1);
}

static int compare_items(const void *a, const void *b, const void *context)
{
    const struct item *x = a, *y = b;

    (void)context;
    return x->type != y->type ? x->type - y->type : strcmp(x->text, y->text);
}

/* Numbers for the values, in their order, so that the order of devices plays no
 * part. */
static int number_items(struct gatherer *g, size_t *ret_n)
{
    const void **sorted;
    size_t id = 0;
    int rc = tg_core_alloc(g->arena, g->n, sizeof(*sorted), &sorted, g->err);

    for (size_t i = 0; rc == 0 && i < g->n; i++)
        sorted[i] = &g->items[i];
    if (rc == 0)
        rc = tg_core_sort(sorted, g->n, compare_items, NULL, g->arena, g->err);
    for (size_t i = 0; rc == 0 && i < g->n; i++) {
        const struct item *item = sorted[i];

        if (i > 0 && compare_items(sorted[i - 1], item, NULL) != 0)
            id++;
        *item->id = id;
    }
    *ret_n = g->n == 0 ? 0 : id + 1;
    return rc;
}

/* Ascending, each once. Sets are short. */
static size_t sort_ids(size_t *ids, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        size_t id = ids[i], k = kept;

        while (k > 0 && ids[k - 1] > id)
            k--;
        if (k > 0 && ids[k - 1] == id)
            continue;
        memmove(&ids[k + 1], &ids[k], (kept - k) * sizeof(*ids));
        ids[k] = id;
        kept++;
    }
    return kept;
}

int tg_fit_domain_read(const struct tg_view *view, const char *attribute, struct tg_arena *arena,
                       struct tg_fit_domain *ret, struct tg_error *err)
{
    bool lists = tg_rules_have(&view->rules, TG_FEATURE_LIST_TYPE_ATTRIBUTES);
    struct gatherer g = {.arena = arena, .err = err};
    size_t *ids = NULL, *first;
    int rc = tg_core_alloc(arena, view->n_devices, sizeof(*ret->devices), &ret->devices, err);

    ret->attribute = attribute;
    ret->longest = 0;
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_devices + 1, sizeof(*first), &first, err);
    for (size_t i = 0; rc == 0 && i < view->n_devices; i++) {
        const struct tg_device_attribute *a = look_up(&view->devices[i], attribute);

        first[i] = g.n;
        ret->devices[i].has = a != NULL;
        if (a != NULL)
            put_attribute(&g, a, lists);
        first[i + 1] = g.n;
        rc = g.rc;
    }
    if (rc == 0)
        rc = tg_core_alloc(arena, g.n, sizeof(*ids), &ids, err);
    for (size_t i = 0; rc == 0 && i < g.n; i++)
        g.items[i].id = &ids[i];
    if (rc == 0)
        rc = number_items(&g, &ret->n_values);
    for (size_t i = 0; rc == 0 && i < view->n_devices; i++) {
        struct tg_fit_values *values = &ret->devices[i];

        values->ids = ids + first[i];
        values->n = sort_ids(ids + first[i], first[i + 1] - first[i]);
        if (values->n > ret->longest)
            ret->longest = values->n;
    }
    return rc;
}

size_t tg_fit_values_intersect(const size_t *a, size_t n_a, const size_t *b, size_t n_b,
                               size_t *ret)
{
    size_t i = 0, k = 0, n = 0;

    while (i < n_a && k < n_b) {
        if (a[i] < b[k]) {
            i++;
        } else if (a[i] > b[k]) {
            k++;
        } else {
            if (ret != NULL)
                ret[n] = a[i];
            n++;
            i++;
            k++;
        }
    }
    return n;
}

bool tg_fit_values_meet(const size_t *a, size_t n_a, const size_t *b, size_t n_b)
{
    return tg_fit_values_intersect(a, n_a, b, n_b, NULL) > 0;
}
