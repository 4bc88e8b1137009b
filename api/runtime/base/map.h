/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String -> pointer maps, iterated in the order of insertion (deterministic). Keys are copied.
 * Behind it is uthash.
 */
#ifndef TG_RUNTIME_BASE_MAP_H
#define TG_RUNTIME_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct tg_map;

/* free_value (may be NULL) is called for values that are replaced or removed and at tg_map_free. */
struct tg_map *tg_map_new(void (*free_value)(void *value));
void tg_map_free(struct tg_map *map); /* NULL is allowed */
size_t tg_map_count(const struct tg_map *map);
/* The value or NULL. */
void *tg_map_get(const struct tg_map *map, const char *key);
bool tg_map_has(const struct tg_map *map, const char *key);
/* Inserts or replaces (a replaced key keeps its place in the order). */
void tg_map_set(struct tg_map *map, const char *key, void *value);
/* Removes and frees the value; false if there was none. */
bool tg_map_remove(struct tg_map *map, const char *key);
/* Removes and hands the value over; NULL if there was none. */
void *tg_map_take(struct tg_map *map, const char *key);
void tg_map_clear(struct tg_map *map);

/* for (struct tg_map_entry *e = tg_map_first(m); e != NULL; e = tg_map_next(e)): the current entry
 * may be removed if next was fetched before. */
struct tg_map_entry;
struct tg_map_entry *tg_map_first(const struct tg_map *map);
struct tg_map_entry *tg_map_next(const struct tg_map_entry *entry);
const char *tg_map_key(const struct tg_map_entry *entry);
void *tg_map_value(const struct tg_map_entry *entry);

static inline void tg_cleanup_map(struct tg_map **map)
{
    tg_map_free(*map);
}
#define TG_AUTOMAP __attribute__((cleanup(tg_cleanup_map)))

#endif
