/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of sizes and costs; what would overflow stays at UINT64_MAX. */
#ifndef TG_CORE_CEL_COST_RANGE_H
#define TG_CORE_CEL_COST_RANGE_H

#include <math.h>
#include <stdint.h>

struct tg_cel_cost_range {
    uint64_t min, max;
};

static inline struct tg_cel_cost_range tg_cel_fixed(uint64_t n)
{
    return (struct tg_cel_cost_range){n, n};
}

static inline uint64_t tg_cel_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t tg_cel_times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static inline struct tg_cel_cost_range tg_cel_sum(struct tg_cel_cost_range a,
                                                  struct tg_cel_cost_range b)
{
    return (struct tg_cel_cost_range){tg_cel_plus(a.min, b.min), tg_cel_plus(a.max, b.max)};
}

static inline struct tg_cel_cost_range tg_cel_product(struct tg_cel_cost_range a,
                                                      struct tg_cel_cost_range b)
{
    return (struct tg_cel_cost_range){tg_cel_times(a.min, b.min), tg_cel_times(a.max, b.max)};
}

static inline struct tg_cel_cost_range tg_cel_union(struct tg_cel_cost_range a,
                                                    struct tg_cel_cost_range b)
{
    return (struct tg_cel_cost_range){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static inline uint64_t tg_cel_scale_one(uint64_t n, double factor)
{
    double scaled = ceil((double)n * factor);

    return scaled >= 0x1p64 ? UINT64_MAX : (uint64_t)scaled;
}

/* Rounded up. */
static inline struct tg_cel_cost_range tg_cel_scale(struct tg_cel_cost_range a, double factor)
{
    return (struct tg_cel_cost_range){tg_cel_scale_one(a.min, factor),
                                      tg_cel_scale_one(a.max, factor)};
}

#endif
