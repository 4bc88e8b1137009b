/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/hash.h"
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
};

/* Keys are often chosen by users of the cluster. The iteration order does not depend on the hash.
 */
static unsigned int hash_key(const char *key, size_t n)
{
    return tg_hash_secret(key, n);
}

struct tg_map *tg_map_new(void (*free_value)(void *value))
{
    struct tg_map *map = tg_xcalloc(1, sizeof(*map));

    map->free_value = free_value;
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

    HASH_FIND_BYHASHVALUE(hh, map->entries, key, n, hash_key(key, n), entry);
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
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, map->entries, entry->key, n, hash_key(key, n), entry);
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
