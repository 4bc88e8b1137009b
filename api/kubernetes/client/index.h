/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects by key, in the order of their first arrival. A limited number of bytes of them is held as
 * structs (hot); the others are packed (api/runtime/json/pack.h) and made whole when somebody
 * looks. Seen by this folder and its tests only.
 */
#ifndef TG_KUBERNETES_CLIENT_INDEX_H
#define TG_KUBERNETES_CLIENT_INDEX_H

#include "api/kubernetes/client/informer.h"
#include "api/runtime/json/pool.h"

struct tg_index;

/* pool: shared by all indexes between which objects move; must outlive them. hot: bytes of structs
 * that are kept as such, SIZE_MAX: all. */
struct tg_index *tg_index_new(const struct tg_kind *kind, struct tg_pool *pool, size_t hot);
/* NULL is allowed. */
void tg_index_free(struct tg_index *index);
size_t tg_index_count(const struct tg_index *index);
bool tg_index_has(const struct tg_index *index, const char *key);
/* NULL if it is not there. Borrowed: valid until that key is set or taken, or tg_index_cool. */
struct tg_stored *tg_index_get(struct tg_index *index, const char *key);
/* Inserts or replaces (a replaced key keeps its place in the order); the reference is taken over.
 */
void tg_index_set(struct tg_index *index, struct tg_stored *stored);
/* Removes and hands the reference over; NULL if it was not there. */
struct tg_stored *tg_index_take(struct tg_index *index, const char *key);
/* Places are 0 to tg_index_end - 1; an empty one is NULL. Borrowed as by get. */
size_t tg_index_end(const struct tg_index *index);
struct tg_stored *tg_index_at(struct tg_index *index, size_t place);
/* Calls visit with the object of a place, or of a key, if there is one: a packed one is made whole
 * for that time only, and what get and at have lent stays. Returns what visit does, else true. */
bool tg_index_show(const struct tg_index *index, size_t place,
                   bool (*visit)(void *data, const struct tg_stored *stored), void *data);
bool tg_index_show_key(const struct tg_index *index, const char *key,
                       bool (*visit)(void *data, const struct tg_stored *stored), void *data);
/* As at, and hands the reference over; the index can only be walked on and freed afterwards. */
struct tg_stored *tg_index_pull(struct tg_index *index, size_t place);
/* The limit from now on; not of an index of which all are structs. */
void tg_index_limit(struct tg_index *index, size_t hot);
/* Packs what is over the limit and nobody else refers to. */
void tg_index_cool(struct tg_index *index);
/* Objects that are structs now. */
size_t tg_index_hot_count(const struct tg_index *index);

#endif
