/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "api/runtime/base/mem.h"

/* Growth aborts with a message as every other small allocation does; uthash would exit silently. */
#define uthash_malloc(size) tg_xmalloc(size)
#define uthash_fatal(message) abort()
#include <uthash.h>

struct tg_map_entry {
    UT_hash_handle hh;
    void *value;
    char key[];
};

struct tg_map {
    struct tg_map_entry *entries;
    void (*free_value)(void *value);
    uint64_t seed[2];
};

/*
 * Keys are often chosen by users of the cluster, so the hash is SipHash-1-3 under a secret of the
 * process: nobody can prepare keys that all collide. The iteration order does not depend on it.
 */
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

static unsigned int hash_key(const struct tg_map *map, const char *key, size_t n)
{
    uint64_t v[4] = {
        map->seed[0] ^ UINT64_C(0x736f6d6570736575), map->seed[1] ^ UINT64_C(0x646f72616e646f6d),
        map->seed[0] ^ UINT64_C(0x6c7967656e657261), map->seed[1] ^ UINT64_C(0x7465646279746573)};
    uint64_t word;
    size_t i;

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
    return (unsigned int)(word ^ word >> 32);
}

struct tg_map *tg_map_new(void (*free_value)(void *value))
{
    struct tg_map *map = tg_xcalloc(1, sizeof(*map));
    /* 16 random bytes that the kernel left us. */
    const void *secret = (const void *)getauxval(AT_RANDOM);

    map->free_value = free_value;
    if (secret != NULL)
        memcpy(map->seed, secret, sizeof(map->seed));
    return map;
}

void tg_map_free(struct tg_map *map)
{
    if (map == NULL)
        return;
    tg_map_clear(map);
    free(map);
}

size_t tg_map_count(const struct tg_map *map)
{
    return HASH_COUNT(map->entries);
}

static struct tg_map_entry *find(const struct tg_map *map, const char *key)
{
    struct tg_map_entry *entry = NULL;
    size_t n = strlen(key);

    HASH_FIND_BYHASHVALUE(hh, map->entries, key, n, hash_key(map, key, n), entry);
    return entry;
}

void *tg_map_get(const struct tg_map *map, const char *key)
{
    struct tg_map_entry *entry = find(map, key);

    return entry == NULL ? NULL : entry->value;
}

bool tg_map_has(const struct tg_map *map, const char *key)
{
    return find(map, key) != NULL;
}

static void drop_value(const struct tg_map *map, void *value)
{
    if (map->free_value != NULL && value != NULL)
        map->free_value(value);
}

void tg_map_set(struct tg_map *map, const char *key, void *value)
{
    struct tg_map_entry *entry = find(map, key);
    size_t n = strlen(key);

    if (entry != NULL) {
        void *old = entry->value;

        entry->value = value;
        if (old != value)
            drop_value(map, old);
        return;
    }
    entry = tg_xcalloc(1, sizeof(*entry) + n + 1);
    entry->value = value;
    memcpy(entry->key, key, n + 1);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, map->entries, entry->key, n, hash_key(map, key, n), entry);
}

/* Unlinks and frees the entry; the value is the caller's. */
static void *unlink_entry(struct tg_map *map, struct tg_map_entry *entry)
{
    void *value = entry->value;

    HASH_DEL(map->entries, entry);
    free(entry);
    return value;
}

bool tg_map_remove(struct tg_map *map, const char *key)
{
    struct tg_map_entry *entry = find(map, key);

    if (entry == NULL)
        return false;
    drop_value(map, unlink_entry(map, entry));
    return true;
}

void *tg_map_take(struct tg_map *map, const char *key)
{
    struct tg_map_entry *entry = find(map, key);

    return entry == NULL ? NULL : unlink_entry(map, entry);
}

void tg_map_clear(struct tg_map *map)
{
    while (map->entries != NULL)
        drop_value(map, unlink_entry(map, map->entries));
}

struct tg_map_entry *tg_map_first(const struct tg_map *map)
{
    return map->entries;
}

struct tg_map_entry *tg_map_next(const struct tg_map_entry *entry)
{
    return entry->hh.next;
}

const char *tg_map_key(const struct tg_map_entry *entry)
{
    return entry->key;
}

void *tg_map_value(const struct tg_map_entry *entry)
{
    return entry->value;
}
