/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/hash.h"
#include "api/runtime/base/mem.h"

enum { FIRST_BUCKETS = 64 };

struct entry {
    uint32_t next; /* of the same bucket, or of the free numbers; 0: the last */
    uint32_t hash;
    uint32_t references;
    uint32_t n;
    unsigned char bytes[];
};

struct tg_pool {
    struct entry **entries; /* by number - 1; NULL: free */
    uint32_t *free_numbers; /* a stack */
    size_t n, capacity, n_free, free_capacity;
    uint32_t *buckets; /* first number of each */
    size_t n_buckets;  /* a power of two */
};

struct tg_pool *tg_pool_new(void)
{
    struct tg_pool *pool = tg_xcalloc(1, sizeof(*pool));

    pool->n_buckets = FIRST_BUCKETS;
    pool->buckets = tg_xcalloc(pool->n_buckets, sizeof(*pool->buckets));
    return pool;
}

void tg_pool_free(struct tg_pool *pool)
{
    if (pool == NULL)
        return;
    for (size_t i = 0; i < pool->n; i++)
        free(pool->entries[i]);
    free(pool->entries);
    free(pool->free_numbers);
    free(pool->buckets);
    free(pool);
}

size_t tg_pool_count(const struct tg_pool *pool)
{
    return pool->n - pool->n_free;
}

static uint32_t *bucket_of(const struct tg_pool *pool, uint32_t hash)
{
    return &pool->buckets[hash & (pool->n_buckets - 1)];
}

static void grow_buckets(struct tg_pool *pool)
{
    free(pool->buckets);
    pool->n_buckets *= 2;
    pool->buckets = tg_xcalloc(pool->n_buckets, sizeof(*pool->buckets));
    for (size_t i = 0; i < pool->n; i++) {
        if (pool->entries[i] == NULL)
            continue;
        uint32_t *bucket = bucket_of(pool, pool->entries[i]->hash);
        pool->entries[i]->next = *bucket;
        *bucket = (uint32_t)i + 1;
    }
}

static uint32_t new_number(struct tg_pool *pool)
{
    if (pool->n_free > 0)
        return pool->free_numbers[--pool->n_free];
    if (pool->n == pool->capacity) {
        pool->capacity = pool->capacity == 0 ? FIRST_BUCKETS : pool->capacity + pool->capacity / 4;
        pool->entries = tg_xrealloc(pool->entries, pool->capacity * sizeof(*pool->entries));
    }
    assert(pool->n < UINT32_MAX);
    return (uint32_t)++pool->n;
}

uint32_t tg_pool_take(struct tg_pool *pool, const void *bytes, size_t n)
{
    uint32_t hash;
    uint32_t number;
    struct entry *entry;

    if (n == 0)
        return 0;
    hash = tg_hash_secret(bytes, n);
    for (number = *bucket_of(pool, hash); number != 0; number = entry->next) {
        entry = pool->entries[number - 1];
        if (entry->hash == hash && entry->n == n && memcmp(entry->bytes, bytes, n) == 0) {
            entry->references++;
            return number;
        }
    }
    if (tg_pool_count(pool) >= pool->n_buckets)
        grow_buckets(pool);
    number = new_number(pool);
    entry = tg_xmalloc(sizeof(*entry) + n);
    *entry = (struct entry){
        .next = *bucket_of(pool, hash), .hash = hash, .references = 1, .n = (uint32_t)n};
    memcpy(entry->bytes, bytes, n);
    pool->entries[number - 1] = entry;
    *bucket_of(pool, hash) = number;
    return number;
}

void tg_pool_release(struct tg_pool *pool, uint32_t number)
{
    struct entry *entry;
    uint32_t *link;

    if (number == 0)
        return;
    entry = pool->entries[number - 1];
    if (--entry->references > 0)
        return;
    for (link = bucket_of(pool, entry->hash); *link != number;)
        link = &pool->entries[*link - 1]->next;
    *link = entry->next;
    pool->entries[number - 1] = NULL;
    free(entry);
    if (pool->n_free == pool->free_capacity) {
        pool->free_capacity = pool->free_capacity == 0 ? FIRST_BUCKETS : 2 * pool->free_capacity;
        pool->free_numbers =
            tg_xrealloc(pool->free_numbers, pool->free_capacity * sizeof(*pool->free_numbers));
    }
    pool->free_numbers[pool->n_free++] = number;
}

const void *tg_pool_get(const struct tg_pool *pool, uint32_t number, size_t *ret_n)
{
    if (number == 0) {
        *ret_n = 0;
        return "";
    }
    *ret_n = pool->entries[number - 1]->n;
    return pool->entries[number - 1]->bytes;
}
