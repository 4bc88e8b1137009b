/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/key.h"

#include <string.h>

#include "controller/core/fit/storage.h"
#include "controller/core/model/sort.h"

struct text {
    char *data;
    size_t n, capacity;
    struct tg_arena *arena;
    struct tg_error *err;
    int rc; /* the first failure; nothing is appended after it */
};

static void append(struct text *t, const char *s, size_t n)
{
    if (t->rc < 0)
        return;
    if (t->n + n + 1 > t->capacity) {
        size_t capacity = (t->n + n + 1) * 2;
        char *grown;

        t->rc = tg_core_alloc(t->arena, capacity, 1, &grown, t->err);
        if (t->rc < 0)
            return;
        if (t->n > 0)
            memcpy(grown, t->data, t->n);
        t->data = grown;
        t->capacity = capacity;
    }
    memcpy(t->data + t->n, s, n);
    t->n += n;
    t->data[t->n] = '\0';
}

/* The tag, the number in hexadecimal, as many digits as it needs, and a semicolon. */
static void put_number(struct text *t, char tag, int64_t value)
{
    char number[20];
    size_t at = sizeof(number);
    uint64_t rest = (uint64_t)value;

    number[--at] = ';';
    do {
        number[--at] = "0123456789abcdef"[rest & 15];
        rest >>= 4;
    } while (rest > 0);
    number[--at] = tag;
    append(t, number + at, sizeof(number) - at);
}

/* Length and content; a missing string is told from an empty one. */
static void put(struct text *t, const char *s)
{
    if (s == NULL) {
        append(t, "-", 1);
        return;
    }
    put_number(t, 's', (int64_t)strlen(s));
    append(t, s, strlen(s));
}

static void put_tolerations(struct text *t, const struct tg_toleration *items, size_t n)
{
    put_number(t, 't', (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        put(t, items[i].key);
        put(t, items[i].operator_);
        put(t, items[i].value);
        put(t, items[i].effect);
    }
}

static void put_requirements(struct text *t, const struct tg_selector_requirement *items, size_t n)
{
    put_number(t, 'r', (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        put(t, items[i].key);
        put(t, items[i].operator_);
        put_number(t, 'v', (int64_t)items[i].values.n);
        for (size_t k = 0; k < items[i].values.n; k++)
            put(t, items[i].values.items[k]);
    }
}

static void put_selector(struct text *t, const struct tg_node_selector *selector)
{
    put_number(t, 'a', selector == NULL ? -1 : (int64_t)selector->terms.n);
    for (size_t i = 0; selector != NULL && i < selector->terms.n; i++) {
        const struct tg_selector_term *term = &selector->terms.items[i];

        put_requirements(t, term->match_expressions.items, term->match_expressions.n);
        put_requirements(t, term->match_fields.items, term->match_fields.n);
    }
}

static void put_affinity(struct text *t, const struct tg_affinity *affinity)
{
    put_selector(t, affinity == NULL || affinity->node_affinity == NULL
                        ? NULL
                        : affinity->node_affinity->required);
}

static void put_volumes(struct text *t, const struct tg_fit_volumes *volumes)
{
    put_number(t, 'u', volumes == NULL ? 0 : (int64_t)volumes->n);
    for (size_t i = 0; volumes != NULL && i < volumes->n; i++)
        put_selector(t, volumes->selectors[i]);
}

static void put_pod(struct text *t, const struct tg_pod *pod)
{
    const struct tg_pod_spec *spec = pod->spec;

    put_number(t, 'p', (int64_t)spec->node_selector.n);
    for (size_t i = 0; i < spec->node_selector.n; i++) {
        put(t, spec->node_selector.items[i].key);
        put(t, spec->node_selector.items[i].value);
    }
    put_tolerations(t, spec->tolerations.items, spec->tolerations.n);
    put_affinity(t, spec->affinity);
}

static void put_exact(struct text *t, const struct tg_exact_request *request)
{
    put(t, request->device_class_name);
    put(t, request->allocation_mode);
    put(t, request->capacity);
    put_number(t, 'w', request->admin_access.set && request->admin_access.value);
    put_number(t, 'c', request->count.set ? request->count.value : 1);
    put_number(t, 'e', (int64_t)request->selectors.n);
    for (size_t i = 0; i < request->selectors.n; i++)
        put(t, request->selectors.items[i].cel == NULL
                   ? NULL
                   : request->selectors.items[i].cel->expression);
    put_tolerations(t, request->tolerations.items, request->tolerations.n);
}

/* Constraints speak of requests by name, so names count where there are constraints. */
static void put_claim(struct text *t, const struct tg_device_claim *claim)
{
    put_number(t, 'q', claim == NULL ? 0 : (int64_t)claim->requests.n);
    for (size_t k = 0; claim != NULL && k < claim->requests.n; k++) {
        const struct tg_device_request *request = &claim->requests.items[k];

        put(t, claim->constraints.n > 0 ? request->name : NULL);
        put_number(t, 'f', (int64_t)request->first_available.n);
        if (request->first_available.n == 0)
            put_exact(t, request->exactly);
        for (size_t i = 0; i < request->first_available.n; i++) {
            put(t, claim->constraints.n > 0 ? request->first_available.items[i].name : NULL);
            put_exact(t, &request->first_available.items[i]);
        }
    }
    put_number(t, 'k', claim == NULL ? 0 : (int64_t)claim->constraints.n);
    for (size_t k = 0; claim != NULL && k < claim->constraints.n; k++) {
        const struct tg_device_constraint *constraint = &claim->constraints.items[k];

        put(t, constraint->match_attribute);
        put(t, constraint->distinct_attribute);
        put_number(t, 'n', (int64_t)constraint->requests.n);
        for (size_t i = 0; i < constraint->requests.n; i++)
            put(t, constraint->requests.items[i]);
    }
}

int tg_piece_key(const struct tg_piece *piece, const struct tg_demand *demand,
                 struct tg_arena *arena, const char **ret, struct tg_error *err)
{
    struct text t = {.arena = arena, .err = err};

    put(&t, piece->fixed_node);
    for (size_t i = 0; i < piece->n_pods; i++)
        put_pod(&t, piece->pods[i]);
    put_volumes(&t, piece->volumes);
    for (size_t i = 0; i < demand->n; i++) {
        put(&t, demand->items[i].name);
        put_number(&t, 'd', demand->items[i].value);
    }
    for (size_t i = 0; i < piece->n_claims; i++)
        put_claim(&t, piece->claims[i]->spec == NULL ? NULL : piece->claims[i]->spec->devices);
    *ret = t.data;
    return t.rc;
}
