/* SPDX-License-Identifier: Apache-2.0 */
/* Time as a seam: programs use the system's, tests one that they move by hand. */
#ifndef TG_RUNTIME_BASE_CLOCK_H
#define TG_RUNTIME_BASE_CLOCK_H

#include <stdint.h>

#define TG_SECOND INT64_C(1000000000) /* durations and times are nanoseconds in int64_t */
#define TG_MILLISECOND INT64_C(1000000)

struct tg_clock {
    /* CLOCK_BOOTTIME: monotonic, counts suspension (leases need that). */
    int64_t (*monotonic)(const struct tg_clock *clock);
    /* CLOCK_REALTIME, since the epoch. */
    int64_t (*wall)(const struct tg_clock *clock);
};

/* The system's clock; static. */
const struct tg_clock *tg_clock_system(void);

struct tg_fake_clock {
    struct tg_clock clock;
    int64_t monotonic_now;
    int64_t wall_now;
};
void tg_fake_clock_init(struct tg_fake_clock *fake, int64_t wall_now);
void tg_fake_clock_advance(struct tg_fake_clock *fake, int64_t by);

static inline int64_t tg_now_monotonic(const struct tg_clock *clock)
{
    return clock->monotonic(clock);
}
static inline int64_t tg_now_wall(const struct tg_clock *clock)
{
    return clock->wall(clock);
}

#endif
