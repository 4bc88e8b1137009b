/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/hash.h"

#include <string.h>
#include <sys/auxv.h>

static void sip_round(uint64_t v[4])
{
#define ROTATE(x, b) ((x) << (b) | (x) >> (64 - (b)))
    v[0] += v[1];
    v[2] += v[3];
    v[1] = ROTATE(v[1], 13) ^ v[0];
    v[3] = ROTATE(v[3], 16) ^ v[2];
    v[0] = ROTATE(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = ROTATE(v[1], 17) ^ v[2];
    v[3] = ROTATE(v[3], 21) ^ v[0];
    v[2] = ROTATE(v[2], 32);
#undef ROTATE
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint32_t tg_hash_secret(const void *data, size_t n)
{
    const char *key = data;
    const void *secret = (const void *)getauxval(AT_RANDOM);
    uint64_t seed[2] = {0};
    uint64_t v[4];
    uint64_t word;
    size_t i;

    if (secret != NULL)
        memcpy(seed, secret, sizeof(seed));
    v[0] = seed[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = seed[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = seed[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = seed[1] ^ UINT64_C(0x7465646279746573);
    for (i = 0; i + 8 <= n; i += 8) {
        memcpy(&word, key + i, 8);
        sip_word(v, word);
    }
    word = 0;
    memcpy(&word, key + i, n - i);
    sip_word(v, word | (uint64_t)n << 56);
    v[2] ^= 0xff;
    for (int round = 0; round < 3; round++)
        sip_round(v);
    word = v[0] ^ v[1] ^ v[2] ^ v[3];
    return (uint32_t)(word ^ word >> 32);
}
