/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>

#include "api/kubernetes/client/internal.h"

int64_t tg_backoff_spread(int64_t low, int64_t high)
{
    uint64_t x = 0;

    if (high <= low || getrandom(&x, sizeof(x), GRND_NONBLOCK) != (ssize_t)sizeof(x))
        return low;
    return low + (int64_t)(x % (uint64_t)(high - low + 1));
}

int64_t tg_backoff_next(struct tg_backoff *backoff)
{
    int64_t delay = backoff->first;

    for (unsigned i = 0; i < backoff->failures && delay < backoff->most; i++)
        delay *= 2;
    if (delay > backoff->most)
        delay = backoff->most;
    if (backoff->failures < 32)
        backoff->failures++;
    return tg_backoff_spread(delay, 2 * delay);
}

void tg_backoff_reset(struct tg_backoff *backoff)
{
    backoff->failures = 0;
}
