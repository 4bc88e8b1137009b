/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/function.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"

static const struct tg_cel_functions *const tables[] = {
    &tg_cel_operators,           &tg_cel_authorizer_functions, &tg_cel_standard_functions,
    &tg_cel_extension_functions, &tg_cel_kubernetes_functions,
};

/* Nobody who mistyped a name meant one of the tables before. */
#define FIRST_OF_USE 2

const struct tg_cel_function *tg_cel_function_find(const char *name)
{
    for (size_t t = 0; t < TG_ARRAY_SIZE(tables); t++) {
        size_t low = 0, high = tables[t]->n;

        while (low < high) {
            size_t middle = (low + high) / 2;
            int order = strcmp(name, tables[t]->items[middle].name);

            if (order == 0)
                return &tables[t]->items[middle];
            if (order < 0)
                high = middle;
            else
                low = middle + 1;
        }
    }
    return NULL;
}

bool tg_cel_function_in(const struct tg_cel_function *function,
                        const struct tg_cel_environment *env)
{
    for (size_t i = 0; i < function->n; i++) {
        if (tg_cel_has_library(env, function->overloads[i].library))
            return true;
    }
    return false;
}

#define LIKE_MAX 24

/* Insertions, deletions and replacements between two short words. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LIKE_MAX + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > LIKE_MAX || m > LIKE_MAX)
        return LIKE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);

            diagonal = row[j];
            row[j] = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            if (replaced < row[j])
                row[j] = replaced;
        }
    }
    return row[m];
}

const char *tg_cel_function_like(const char *name, const struct tg_cel_environment *env)
{
    const char *best = NULL;
    unsigned least = strlen(name) < 5 ? 2 : 3;

    for (size_t t = FIRST_OF_USE; t < TG_ARRAY_SIZE(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct tg_cel_function *f = &tables[t]->items[i];
            unsigned d = distance(name, f->name);

            if (d < least && f->name[0] != '@' && tg_cel_function_in(f, env)) {
                least = d;
                best = f->name;
            }
        }
    }
    return best;
}
