/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/clock.h"

#include <time.h>

#include "api/runtime/base/cleanup.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0};

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * TG_SECOND + now.tv_nsec;
}

static int64_t system_monotonic(const struct tg_clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_BOOTTIME);
}

static int64_t system_wall(const struct tg_clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_REALTIME);
}

const struct tg_clock *tg_clock_system(void)
{
    static const struct tg_clock system_clock = {system_monotonic, system_wall};

    return &system_clock;
}

static int64_t fake_monotonic(const struct tg_clock *clock)
{
    return TG_CONTAINER_OF(clock, const struct tg_fake_clock, clock)->monotonic_now;
}

static int64_t fake_wall(const struct tg_clock *clock)
{
    return TG_CONTAINER_OF(clock, const struct tg_fake_clock, clock)->wall_now;
}

void tg_fake_clock_init(struct tg_fake_clock *fake, int64_t wall_now)
{
    *fake = (struct tg_fake_clock){.clock = {fake_monotonic, fake_wall}, .wall_now = wall_now};
}

void tg_fake_clock_advance(struct tg_fake_clock *fake, int64_t by)
{
    fake->monotonic_now += by;
    fake->wall_now += by;
}
