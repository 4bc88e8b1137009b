/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time of decisions, and which of them are slow. */
#ifndef TG_TESTS_BENCH_CORE_TIMES_H
#define TG_TESTS_BENCH_CORE_TIMES_H

#include <stdlib.h>
#include <time.h>

static inline double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#define TIMES_MAX 2000

struct times {
    double items[TIMES_MAX];
    size_t n;
};

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static inline void sort_times(struct times *t)
{
    qsort(t->items, t->n, sizeof(*t->items), compare_doubles);
}

/* Of sorted ones: the smallest that p of them do not exceed. */
static inline double percentile(const struct times *t, double p)
{
    return t->items[(size_t)(p * (double)(t->n - 1))];
}

#endif
