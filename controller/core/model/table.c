/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

#define LEAST_CAPACITY 16

/* The last steps of splitmix64: each bit of the number moves all bits of the hash. */
uint64_t tg_hash_mix(uint64_t hash, uint64_t number)
{
    uint64_t z = hash ^ (number + TG_HASH_SEED + (hash << 6) + (hash >> 2));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t word = 0;

    hash = tg_hash_mix(hash, n);
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = tg_hash_mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, n);
    return tg_hash_mix(hash, word);
}

uint64_t tg_hash_text(uint64_t hash, const char *s)
{
    return s == NULL ? tg_hash_mix(hash, 0) : hash_bytes(hash, s, strlen(s));
}

static size_t home(const struct tg_table *table, uint64_t hash)
{
    return (size_t)hash & (table->capacity - 1);
}

struct tg_record *tg_table_find(const struct tg_table *table, uint64_t hash, tg_record_is *is,
                                const void *key)
{
    if (table->capacity == 0)
        return NULL;
    for (size_t at = home(table, hash); table->slots[at] != NULL;
         at = (at + 1) & (table->capacity - 1)) {
        struct tg_record *record = table->slots[at];

        if (record->hash == (uint32_t)hash && is(record, key))
            return record;
    }
    return NULL;
}

static void put(struct tg_table *table, struct tg_record *record)
{
    size_t at = home(table, record->hash);

    while (table->slots[at] != NULL)
        at = (at + 1) & (table->capacity - 1);
    table->slots[at] = record;
}

static void resize(struct tg_table *table, size_t capacity)
{
    struct tg_table old = *table;

    table->capacity = capacity;
    table->slots = tg_xcalloc(capacity, sizeof(struct tg_record *));
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i] != NULL)
            put(table, old.slots[i]);
    }
    free(old.slots);
}

void tg_table_add(struct tg_table *table, struct tg_record *record)
{
    if (table->capacity == 0)
        resize(table, LEAST_CAPACITY);
    else if (4 * (table->n + 1) > 3 * table->capacity)
        resize(table, 2 * table->capacity);
    put(table, record);
    table->n++;
}

void tg_table_remove(struct tg_table *table, const struct tg_record *record)
{
    size_t mask = table->capacity - 1, hole = home(table, record->hash), at;

    while (table->slots[hole] != record) {
        assert(table->slots[hole] != NULL);
        hole = (hole + 1) & mask;
    }
    /* What follows moves up, unless it would come before its home. */
    for (at = (hole + 1) & mask; table->slots[at] != NULL; at = (at + 1) & mask) {
        if (((at - home(table, table->slots[at]->hash)) & mask) >= ((at - hole) & mask)) {
            table->slots[hole] = table->slots[at];
            hole = at;
        }
    }
    table->slots[hole] = NULL;
    table->n--;
    if (table->capacity > LEAST_CAPACITY && 8 * table->n < table->capacity)
        resize(table, table->capacity / 2);
}

struct tg_record *tg_table_next(const struct tg_table *table, size_t *at)
{
    while (*at < table->capacity && table->slots[*at] == NULL)
        (*at)++;
    return *at < table->capacity ? table->slots[(*at)++] : NULL;
}

void tg_table_done(struct tg_table *table)
{
    free(table->slots);
    *table = (struct tg_table){.n = 0};
}

static size_t home_of_blob(const struct tg_blobs *blobs, uint32_t hash)
{
    return hash & (blobs->n_slots - 1);
}

static size_t next_slot(const struct tg_blobs *blobs, size_t at)
{
    return (at + 1) & (blobs->n_slots - 1);
}

static struct tg_blob *blob_at(const struct tg_blobs *blobs, size_t at)
{
    return blobs->slots[at] == 0 ? NULL : blobs->items[blobs->slots[at] - 1];
}

static struct tg_blob *find_blob(const struct tg_blobs *blobs, const void *bytes, size_t n,
                                 uint32_t *ret_hash)
{
    struct tg_blob *blob;

    *ret_hash = (uint32_t)hash_bytes(TG_HASH_SEED, bytes, n);
    if (blobs->n_slots == 0)
        return NULL;
    for (size_t at = home_of_blob(blobs, *ret_hash); (blob = blob_at(blobs, at)) != NULL;
         at = next_slot(blobs, at)) {
        if (blob->hash == *ret_hash && blob->n == n && memcmp(blob->bytes, bytes, n) == 0)
            return blob;
    }
    return NULL;
}

uint32_t tg_blobs_find(const struct tg_blobs *blobs, const void *bytes, size_t n)
{
    uint32_t hash;
    const struct tg_blob *blob = find_blob(blobs, bytes, n, &hash);

    return blob == NULL ? 0 : blob->number;
}

static void put_blob(struct tg_blobs *blobs, const struct tg_blob *blob)
{
    size_t at = home_of_blob(blobs, blob->hash);

    while (blobs->slots[at] != 0)
        at = next_slot(blobs, at);
    blobs->slots[at] = blob->number;
}

static void resize_blobs(struct tg_blobs *blobs, size_t n_slots)
{
    free(blobs->slots);
    blobs->n_slots = n_slots;
    blobs->slots = tg_xcalloc(n_slots, sizeof(*blobs->slots));
    for (size_t i = 0; i < blobs->n_items; i++) {
        if (blobs->items[i] != NULL)
            put_blob(blobs, blobs->items[i]);
    }
}

/* As tg_table_remove. */
static void take_blob(struct tg_blobs *blobs, const struct tg_blob *blob)
{
    size_t mask = blobs->n_slots - 1, hole = home_of_blob(blobs, blob->hash);
    const struct tg_blob *other;

    while (blobs->slots[hole] != blob->number) {
        assert(blobs->slots[hole] != 0);
        hole = next_slot(blobs, hole);
    }
    for (size_t at = next_slot(blobs, hole); (other = blob_at(blobs, at)) != NULL;
         at = next_slot(blobs, at)) {
        if (((at - home_of_blob(blobs, other->hash)) & mask) >= ((at - hole) & mask)) {
            blobs->slots[hole] = blobs->slots[at];
            hole = at;
        }
    }
    blobs->slots[hole] = 0;
}

static uint32_t new_number(struct tg_blobs *blobs)
{
    if (blobs->n_spare > 0)
        return blobs->spare[--blobs->n_spare];
    if (blobs->n_items == blobs->capacity) {
        blobs->capacity = blobs->capacity == 0 ? LEAST_CAPACITY : 2 * blobs->capacity;
        blobs->items = tg_xreallocarray(blobs->items, blobs->capacity, sizeof(struct tg_blob *));
    }
    return (uint32_t)++blobs->n_items;
}

static struct tg_blob *new_blob(struct tg_blobs *blobs, const void *bytes, size_t n, uint32_t hash)
{
    struct tg_blob *blob = tg_xmalloc(sizeof(*blob) + n);

    *blob = (struct tg_blob){.hash = hash, .number = new_number(blobs), .n = (uint32_t)n};
    memcpy(blob->bytes, bytes, n);
    blobs->items[blob->number - 1] = blob;
    if (4 * ++blobs->n > 3 * blobs->n_slots)
        resize_blobs(blobs, blobs->n_slots == 0 ? LEAST_CAPACITY : 2 * blobs->n_slots);
    else
        put_blob(blobs, blob);
    return blob;
}

uint32_t tg_blobs_use(struct tg_blobs *blobs, const void *bytes, size_t n)
{
    uint32_t hash;
    struct tg_blob *blob = find_blob(blobs, bytes, n, &hash);

    if (blob == NULL)
        blob = new_blob(blobs, bytes, n, hash);
    blob->uses++;
    return blob->number;
}

void tg_blobs_drop(struct tg_blobs *blobs, uint32_t number,
                   void (*dying)(void *data, const unsigned char *bytes), void *data)
{
    struct tg_blob *blob = blobs->items[number - 1];

    if (--blob->uses > 0)
        return;
    if (dying != NULL)
        dying(data, blob->bytes);
    take_blob(blobs, blob);
    blobs->items[number - 1] = NULL;
    if (blobs->n_spare == blobs->spare_capacity) {
        blobs->spare_capacity =
            blobs->spare_capacity == 0 ? LEAST_CAPACITY : 2 * blobs->spare_capacity;
        blobs->spare = tg_xreallocarray(blobs->spare, blobs->spare_capacity, sizeof(uint32_t));
    }
    blobs->spare[blobs->n_spare++] = number;
    free(blob);
    blobs->n--;
    if (blobs->n_slots > LEAST_CAPACITY && 8 * blobs->n < blobs->n_slots)
        resize_blobs(blobs, blobs->n_slots / 2);
}

void tg_blobs_done(struct tg_blobs *blobs)
{
    for (size_t i = 0; i < blobs->n_items; i++)
        free(blobs->items[i]);
    free(blobs->items);
    free(blobs->spare);
    free(blobs->slots);
    *blobs = (struct tg_blobs){.n_items = 0};
}
