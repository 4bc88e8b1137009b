/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/sort.h"

#include <string.h>

static int hand_over(void *p, void *ret, struct tg_error *err)
{
    memcpy(ret, &p, sizeof(p));
    if (p == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the decision needs more memory than its budget");
    return 0;
}

int tg_core_alloc(struct tg_arena *arena, size_t n, size_t size, void *ret, struct tg_error *err)
{
    return hand_over(tg_arena_alloc_array(arena, n, size), ret, err);
}

int tg_core_alloc_unset(struct tg_arena *arena, size_t n, size_t size, void *ret,
                        struct tg_error *err)
{
    size_t total;

    return hand_over(__builtin_mul_overflow(n, size, &total) ? NULL
                                                             : tg_arena_alloc_unset(arena, total),
                     ret, err);
}

/* Merges [from, middle) and [middle, to) of `in` into `out`. */
static void merge(const void **in, const void **out, size_t from, size_t middle, size_t to,
                  tg_core_compare *compare, const void *context)
{
    size_t a = from, b = middle;

    for (size_t k = from; k < to; k++) {
        if (a < middle && (b == to || compare(in[a], in[b], context) <= 0))
            out[k] = in[a++];
        else
            out[k] = in[b++];
    }
}

void tg_core_sort_in(const void **items, const void **scratch, size_t n, tg_core_compare *compare,
                     const void *context)
{
    const void **in = items, **out = scratch;

    for (size_t width = 1; width < n; width *= 2) {
        const void **other = in;

        for (size_t from = 0; from < n; from += 2 * width) {
            size_t middle = from + width < n ? from + width : n;
            size_t to = from + 2 * width < n ? from + 2 * width : n;

            merge(in, out, from, middle, to, compare, context);
        }
        in = out;
        out = other;
    }
    if (in != items)
        memcpy(items, in, n * sizeof(*items));
}

int tg_core_sort(const void **items, size_t n, tg_core_compare *compare, const void *context,
                 struct tg_arena *arena, struct tg_error *err)
{
    const void **scratch = NULL;
    int rc = 0;

    if (n < 2)
        return 0;
    rc = tg_core_alloc(arena, n, sizeof(*scratch), &scratch, err);
    if (rc == 0)
        tg_core_sort_in(items, scratch, n, compare, context);
    return rc;
}
