/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables of records that the model owns: open addressing, one pointer a record, and bytes that
 * are kept once however often they are used. Private to the model. */
#ifndef TG_CORE_MODEL_TABLE_H
#define TG_CORE_MODEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First member of whatever is in a table. */
struct tg_record {
    _Alignas(uint64_t) uint32_t hash; /* of it: what tells records apart is their keys */
    uint32_t own;                     /* for the record itself, so that nothing is padding */
};
typedef bool tg_record_is(const struct tg_record *record, const void *key);

struct tg_table {
    struct tg_record **slots; /* a power of two of them */
    size_t n, capacity;
};

struct tg_record *tg_table_find(const struct tg_table *table, uint64_t hash, tg_record_is *is,
                                const void *key);
/* There is none like it yet. */
void tg_table_add(struct tg_table *table, struct tg_record *record);
/* It is there. */
void tg_table_remove(struct tg_table *table, const struct tg_record *record);
/* Records one after another, in no order: *at is 0 at first. NULL at the end. */
struct tg_record *tg_table_next(const struct tg_table *table, size_t *at);
/* Frees the table, not the records. */
void tg_table_done(struct tg_table *table);

/* Mixes a number into a hash. */
uint64_t tg_hash_mix(uint64_t hash, uint64_t number);
uint64_t tg_hash_text(uint64_t hash, const char *s);
#define TG_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Bytes kept once: numbers above 0, with a count of uses. Half of what a fleet weighs is in these,
 * so they are told apart by 32 bits of their hash and found by their numbers. */
struct tg_blob {
    uint32_t hash, number, uses, n;
    _Alignas(max_align_t) unsigned char bytes[];
};
struct tg_blobs {
    struct tg_blob **items; /* by number - 1; NULL: free */
    size_t n_items, capacity;
    uint32_t *spare; /* numbers that are free */
    size_t n_spare, spare_capacity;
    uint32_t *slots; /* numbers by hash, 0: none; a power of two of them */
    size_t n_slots;
    size_t n; /* how many there are */
};

/* The number of these bytes, used once more. */
uint32_t tg_blobs_use(struct tg_blobs *blobs, const void *bytes, size_t n);
/* The number, or 0; the count of uses is unchanged. */
uint32_t tg_blobs_find(const struct tg_blobs *blobs, const void *bytes, size_t n);
static inline const unsigned char *tg_blobs_get(const struct tg_blobs *blobs, uint32_t number)
{
    return blobs->items[number - 1]->bytes;
}
/* The blob of bytes that tg_blobs_get gave. */
static inline const struct tg_blob *tg_blob_of(const void *bytes)
{
    return (const struct tg_blob *)(const void *)((const unsigned char *)bytes -
                                                  offsetof(struct tg_blob, bytes));
}
/* One use less; true when it was the last one, and the bytes are about to go: dying (may be NULL)
 * is called with them before. */
void tg_blobs_drop(struct tg_blobs *blobs, uint32_t number,
                   void (*dying)(void *data, const unsigned char *bytes), void *data);
void tg_blobs_done(struct tg_blobs *blobs);

#endif
