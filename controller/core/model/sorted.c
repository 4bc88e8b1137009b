/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

#define RUN 128
/* Numbers of neighbours are that far apart when there is room, and never closer after a
 * renumbering.
 */
#define STEP (UINT64_C(1) << 40)
#define LEAST_STEP (UINT64_C(1) << 16)
#define FIRST (UINT64_C(1) << 63)

struct tg_sorted_run {
    size_t n;
    void *items[RUN];
};

/* --- places in the list --- */

/* The run in which the item is or belongs: the last one whose first item is not behind it. */
static size_t run_of(const struct tg_sorted *sorted, const void *item)
{
    size_t low = 0, high = sorted->n_runs;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (sorted->compare(sorted->runs[middle]->items[0], item) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How many items of the run come before it. */
static size_t place_in(const struct tg_sorted *sorted, const struct tg_sorted_run *run,
                       const void *item)
{
    size_t low = 0, high = run->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sorted->compare(run->items[middle], item) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool step_back(const struct tg_sorted *sorted, struct tg_sorted_at *at)
{
    if (at->i > 0) {
        at->i--;
        return true;
    }
    if (at->run == 0)
        return false;
    at->run--;
    at->i = sorted->runs[at->run]->n - 1;
    return true;
}

static bool step_on(const struct tg_sorted *sorted, struct tg_sorted_at *at)
{
    if (at->i + 1 < sorted->runs[at->run]->n) {
        at->i++;
        return true;
    }
    if (at->run + 1 == sorted->n_runs)
        return false;
    at->run++;
    at->i = 0;
    return true;
}

static void *item_at(const struct tg_sorted *sorted, struct tg_sorted_at at)
{
    return sorted->runs[at.run]->items[at.i];
}

/* --- numbers --- */

static uint64_t number_at(const struct tg_sorted *sorted, struct tg_sorted_at at)
{
    return *sorted->number(sorted->context, item_at(sorted, at));
}

/* Numbers between those of the neighbours, or beyond the last one by a step. *ret_low is below all
 * of them, *ret_high above. */
static void bounds(const struct tg_sorted *sorted, struct tg_sorted_at first,
                   struct tg_sorted_at last, size_t n, uint64_t *ret_low, uint64_t *ret_high)
{
    bool before = step_back(sorted, &first), after = step_on(sorted, &last);

    *ret_low = before ? number_at(sorted, first) : 0;
    *ret_high = after ? number_at(sorted, last) : UINT64_MAX;
    if (before && !after && UINT64_MAX - *ret_low > (n + 1) * STEP)
        *ret_high = *ret_low + (n + 1) * STEP;
    if (after && !before && *ret_high > (n + 1) * STEP)
        *ret_low = *ret_high - (n + 1) * STEP;
}

/* Where there is no number left between two neighbours more and more of the items around get new
 * ones: few of them as a rule, and then there is room for many. */
static void renumber(const struct tg_sorted *sorted, struct tg_sorted_at at)
{
    struct tg_sorted_at first = at, last = at;
    uint64_t low = 0, high = 0, step = 0;
    size_t n = 1;
    bool more = true;

    for (size_t width = RUN / 2; more && step < LEAST_STEP; width *= 4) {
        more = false;
        for (size_t i = 0; i < width && step_back(sorted, &first); i++, n++)
            more = true;
        for (size_t i = 0; i < width && step_on(sorted, &last); i++, n++)
            more = true;
        bounds(sorted, first, last, n, &low, &high);
        step = (high - low) / (n + 1);
    }
    for (size_t i = 0; i < n; i++, step_on(sorted, &first))
        *sorted->number(sorted->context, item_at(sorted, first)) = low + (i + 1) * step;
}

static void number_item(const struct tg_sorted *sorted, struct tg_sorted_at at)
{
    uint64_t low = 0, high = 0;

    if (sorted->number == NULL)
        return;
    if (sorted->n == 1) {
        *sorted->number(sorted->context, item_at(sorted, at)) = FIRST;
        return;
    }
    bounds(sorted, at, at, 1, &low, &high);
    if (high - low < 2)
        renumber(sorted, at);
    else
        *sorted->number(sorted->context, item_at(sorted, at)) = low + (high - low) / 2;
}

/* --- items --- */

static void add_run(struct tg_sorted *sorted, size_t at)
{
    if (sorted->n_runs == sorted->capacity) {
        sorted->capacity = sorted->capacity == 0 ? 8 : 2 * sorted->capacity;
        sorted->runs = tg_xreallocarray(sorted->runs, sorted->capacity, sizeof(sorted->runs[0]));
    }
    memmove(sorted->runs + at + 1, sorted->runs + at,
            (sorted->n_runs - at) * sizeof(sorted->runs[0]));
    sorted->runs[at] = tg_xcalloc(1, sizeof(*sorted->runs[at]));
    sorted->n_runs++;
}

static void remove_run(struct tg_sorted *sorted, size_t at)
{
    free(sorted->runs[at]);
    sorted->n_runs--;
    memmove(sorted->runs + at, sorted->runs + at + 1,
            (sorted->n_runs - at) * sizeof(sorted->runs[0]));
}

/* A full run becomes two; one that is filled from its end stays whole. */
static void split(struct tg_sorted *sorted, size_t at, size_t keep)
{
    struct tg_sorted_run *run = sorted->runs[at], *next;

    add_run(sorted, at + 1);
    next = sorted->runs[at + 1];
    next->n = run->n - keep;
    memcpy(next->items, run->items + keep, next->n * sizeof(run->items[0]));
    run->n = keep;
}

void tg_sorted_add(struct tg_sorted *sorted, void *item)
{
    struct tg_sorted_at at = {.run = 0};
    struct tg_sorted_run *run;

    if (sorted->n_runs == 0)
        add_run(sorted, 0);
    at.run = run_of(sorted, item);
    at.i = place_in(sorted, sorted->runs[at.run], item);
    if (sorted->runs[at.run]->n == RUN) {
        size_t keep = at.i == RUN && at.run + 1 == sorted->n_runs ? RUN : RUN / 2;

        split(sorted, at.run, keep);
        if (at.i > keep || keep == RUN) {
            at.run++;
            at.i -= keep;
        }
    }
    run = sorted->runs[at.run];
    memmove(run->items + at.i + 1, run->items + at.i, (run->n - at.i) * sizeof(run->items[0]));
    run->items[at.i] = item;
    run->n++;
    sorted->n++;
    number_item(sorted, at);
}

void tg_sorted_remove(struct tg_sorted *sorted, const void *item)
{
    size_t at = run_of(sorted, item);
    struct tg_sorted_run *run = sorted->runs[at];
    size_t i = place_in(sorted, run, item);

    run->n--;
    memmove(run->items + i, run->items + i + 1, (run->n - i) * sizeof(run->items[0]));
    sorted->n--;
    if (run->n == 0) {
        remove_run(sorted, at);
    } else if (at + 1 < sorted->n_runs && run->n + sorted->runs[at + 1]->n <= RUN / 2) {
        struct tg_sorted_run *next = sorted->runs[at + 1];

        memcpy(run->items + run->n, next->items, next->n * sizeof(run->items[0]));
        run->n += next->n;
        remove_run(sorted, at + 1);
    }
}

void *tg_sorted_next(const struct tg_sorted *sorted, struct tg_sorted_at *at)
{
    while (at->run < sorted->n_runs && at->i == sorted->runs[at->run]->n) {
        at->run++;
        at->i = 0;
    }
    return at->run < sorted->n_runs ? sorted->runs[at->run]->items[at->i++] : NULL;
}

void tg_sorted_done(struct tg_sorted *sorted)
{
    for (size_t i = 0; i < sorted->n_runs; i++)
        free(sorted->runs[i]);
    free(sorted->runs);
    sorted->runs = NULL;
    sorted->n = sorted->n_runs = sorted->capacity = 0;
}
