/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of the loss systems (Blackman and Vigna's xoshiro256**, seeded by splitmix64). */
#ifndef TG_BENCH_PACKING_RANDOM_H
#define TG_BENCH_PACKING_RANDOM_H

#include <stdint.h>

struct packing_random {
    uint64_t state[4];
};

static inline void packing_seed(struct packing_random *random, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9E3779B97F4A7C15U;

        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
        z = (z ^ z >> 27) * 0x94D049BB133111EBU;
        random->state[i] = z ^ z >> 31;
    }
}

static inline uint64_t packing_rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t packing_next(struct packing_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = packing_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = packing_rotate(s[3], 45);
    return result;
}

/* In [0, 1). */
static inline double packing_uniform(struct packing_random *random)
{
    return (double)(packing_next(random) >> 11) * (1.0 / 9007199254740992.0);
}

#endif
