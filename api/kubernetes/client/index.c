/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/hash.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "api/runtime/json/pack.h"

enum { FIRST_SLOTS = 64, MAX_PACKED = 1 << 30, LONGEST_TAIL = 15 };

/* Slots of the hash table: 0 is empty, GONE was removed, else place + 1. */
#define GONE UINT32_MAX

/*
 * An object as few bytes. Of its key "namespace/web-7d9c-x2x9z" the part up to the last dash is
 * shared by all that one controller made. Of its metadata what the key and the version say is left
 * out.
 */
struct packed {
    uint64_t version;
    uint32_t hash;
    uint32_t head; /* of the key, in the pool */
    uint8_t flags;
    uint8_t n;    /* bytes of the tail of the key */
    char bytes[]; /* the tail, then the object */
};
enum {
    PACKED_GENERATED = 1, /* generateName is the name without its tail */
    PACKED_VERSION = 2,   /* resourceVersion is the version in digits */
};

struct tg_index {
    const struct tg_kind *kind;
    struct tg_pool *pool;
    /* struct tg_stored, or struct packed with the lowest bit set; 0: nothing. */
    TG_VEC(uintptr_t) places;
    size_t count;
    uint32_t *slots;
    size_t n_slots, used; /* used: those that are not empty */
    size_t hot_limit, hot_bytes;
    TG_VEC(uint32_t) hot; /* places in the order in which they became hot; some are not any more */
    size_t hot_first;
    TG_VEC(struct tg_stored *) lent; /* made whole for somebody who walks over all */
};

static bool is_packed(uintptr_t entry)
{
    return (entry & 1) != 0;
}

static struct packed *packed_of(uintptr_t entry)
{
    return (struct packed *)(entry & ~(uintptr_t)1);
}

static struct tg_stored *stored_of(uintptr_t entry)
{
    return (struct tg_stored *)entry;
}

static size_t bytes_of(const struct tg_stored *stored)
{
    return tg_arena_used(stored->arena);
}

/* --- packing --- */

/* Where the tail of a key begins. */
static size_t split_key(const char *key)
{
    size_t n = strlen(key);

    for (size_t i = n; i-- > 0;) {
        if ((key[i] == '-' || key[i] == '/') && n - i - 1 <= LONGEST_TAIL)
            return i + 1;
        if (n - i > LONGEST_TAIL)
            break;
    }
    return n;
}

static const char *name_in(const char *key)
{
    const char *slash = strchr(key, '/');

    return slash == NULL ? key : slash + 1;
}

static bool is_version(const struct tg_stored *stored, const char *text)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%" PRIu64, stored->version);
    return tg_streq(text, digits);
}

static struct packed *pack(const struct tg_index *index, const struct tg_stored *stored)
{
    TG_AUTOBUF struct tg_buf bytes = TG_BUF_INIT(MAX_PACKED);
    TG_AUTOFREE struct tg_object *object = tg_xmalloc(index->kind->type->size);
    struct tg_object_meta meta = *stored->object->metadata;
    const char *name = name_in(stored->key);
    size_t head = split_key(stored->key);
    size_t name_head = head - (size_t)(name - stored->key);
    struct packed *packed;
    uint8_t flags = 0;

    memcpy(object, stored->object, index->kind->type->size);
    object->metadata = &meta;
    meta.name = meta.namespace_ = NULL;
    if (meta.generate_name != NULL && strlen(meta.generate_name) == name_head &&
        memcmp(meta.generate_name, name, name_head) == 0) {
        flags |= PACKED_GENERATED;
        meta.generate_name = NULL;
    }
    if (is_version(stored, meta.resource_version)) {
        flags |= PACKED_VERSION;
        meta.resource_version = NULL;
    }
    tg_buf_append_str(&bytes, stored->key + head);
    tg_json_pack(index->kind->type, object, index->pool, &bytes);
    /* Without the padding at its end, where the bytes begin; so it is not assigned as a whole. */
    packed = tg_xmalloc(offsetof(struct packed, bytes) + bytes.len);
    packed->version = stored->version;
    packed->hash = tg_hash_secret(stored->key, strlen(stored->key));
    packed->head = tg_pool_take(index->pool, stored->key, head);
    packed->flags = flags;
    packed->n = (uint8_t)strlen(stored->key + head);
    memcpy(packed->bytes, bytes.data, bytes.len);
    return packed;
}

static void free_packed(const struct tg_index *index, struct packed *packed)
{
    tg_json_pack_release(index->kind->type, packed->bytes + packed->n, index->pool);
    tg_pool_release(index->pool, packed->head);
    free(packed);
}

static const char *make_key(const struct tg_index *index, const struct packed *packed,
                            struct tg_arena *arena)
{
    size_t head;
    const char *bytes = tg_pool_get(index->pool, packed->head, &head);
    char *key = tg_arena_alloc(arena, head + packed->n + 1);

    if (key == NULL)
        return NULL;
    memcpy(key, bytes, head);
    memcpy(key + head, packed->bytes, packed->n);
    return key;
}

/* What was left out of the metadata. */
static void fill_meta(const struct packed *packed, struct tg_stored *stored)
{
    struct tg_object_meta *meta = stored->object->metadata;
    const char *name = name_in(stored->key);

    meta->name = name;
    if (name != stored->key)
        meta->namespace_ =
            tg_arena_strndup(stored->arena, stored->key, (size_t)(name - stored->key) - 1);
    if ((packed->flags & PACKED_GENERATED) != 0)
        meta->generate_name = tg_arena_strndup(stored->arena, name, strlen(name) - packed->n);
    if ((packed->flags & PACKED_VERSION) != 0)
        meta->resource_version = tg_arena_printf(stored->arena, "%" PRIu64, packed->version);
}

/* One reference. It was within a budget when it was decoded, so it is made without one. */
static struct tg_stored *unpack(const struct tg_index *index, const struct packed *packed)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_stored *stored = tg_arena_alloc(arena, sizeof(*stored));

    if (stored == NULL)
        abort(); /* as tg_xmalloc */
    *stored = (struct tg_stored){.arena = arena, .references = 1, .version = packed->version};
    stored->key = make_key(index, packed, arena);
    stored->object = tg_arena_alloc(arena, index->kind->type->size);
    if (stored->key == NULL || stored->object == NULL ||
        tg_json_unpack(index->kind->type, packed->bytes + packed->n, index->pool, arena,
                       stored->object) != 0)
        abort();
    fill_meta(packed, stored);
    if (tg_arena_exhausted(arena))
        abort();
    return stored;
}

/* --- the table --- */

static bool has_key(const struct tg_index *index, uintptr_t entry, uint32_t hash, const char *key,
                    size_t n)
{
    const struct packed *packed;
    const char *head;
    size_t n_head;

    if (!is_packed(entry))
        return strcmp(stored_of(entry)->key, key) == 0;
    packed = packed_of(entry);
    if (packed->hash != hash)
        return false;
    head = tg_pool_get(index->pool, packed->head, &n_head);
    return n == n_head + packed->n && memcmp(head, key, n_head) == 0 &&
           memcmp(packed->bytes, key + n_head, packed->n) == 0;
}

/* The slot of a key; NULL if it is not there. */
static uint32_t *find_slot(const struct tg_index *index, const char *key)
{
    size_t n = strlen(key);
    uint32_t hash = tg_hash_secret(key, n);

    for (size_t i = hash & (index->n_slots - 1);; i = (i + 1) & (index->n_slots - 1)) {
        uint32_t *slot = &index->slots[i];

        if (*slot == 0)
            return NULL;
        if (*slot != GONE && has_key(index, index->places.items[*slot - 1], hash, key, n))
            return slot;
    }
}

static uint32_t hash_of(uintptr_t entry)
{
    if (is_packed(entry))
        return packed_of(entry)->hash;
    return tg_hash_secret(stored_of(entry)->key, strlen(stored_of(entry)->key));
}

static void add_slot(struct tg_index *index, uint32_t place)
{
    size_t i = hash_of(index->places.items[place]) & (index->n_slots - 1);

    while (index->slots[i] != 0)
        i = (i + 1) & (index->n_slots - 1);
    index->slots[i] = place + 1;
    index->used++;
}

/* Closes the gaps between the places and makes the table anew, large enough for one more. */
static void rebuild(struct tg_index *index)
{
    size_t kept = 0;

    free(index->slots);
    index->n_slots = FIRST_SLOTS;
    while (3 * index->n_slots < 4 * (index->count + 1))
        index->n_slots *= 2;
    index->slots = tg_xcalloc(index->n_slots, sizeof(*index->slots));
    index->used = 0;
    index->hot.n = index->hot_first = 0;
    for (size_t i = 0; i < index->places.n; i++) {
        uintptr_t entry = index->places.items[i];

        if (entry == 0)
            continue;
        index->places.items[kept] = entry;
        add_slot(index, (uint32_t)kept);
        if (!is_packed(entry))
            *TG_VEC_PUSH(&index->hot) = (uint32_t)kept;
        kept++;
    }
    index->places.n = kept;
}

struct tg_index *tg_index_new(const struct tg_kind *kind, struct tg_pool *pool, size_t hot)
{
    struct tg_index *index = tg_xcalloc(1, sizeof(*index));

    index->kind = kind;
    index->pool = pool;
    index->hot_limit = hot;
    rebuild(index);
    return index;
}

static void drop_lent(struct tg_index *index)
{
    for (size_t i = 0; i < index->lent.n; i++)
        tg_stored_unref(index->lent.items[i]);
    TG_VEC_DONE(&index->lent);
}

void tg_index_free(struct tg_index *index)
{
    if (index == NULL)
        return;
    drop_lent(index);
    for (size_t i = 0; i < index->places.n; i++) {
        uintptr_t entry = index->places.items[i];

        if (is_packed(entry))
            free_packed(index, packed_of(entry));
        else
            tg_stored_unref(stored_of(entry)); /* NULL is allowed */
    }
    TG_VEC_DONE(&index->places);
    TG_VEC_DONE(&index->hot);
    free(index->slots);
    free(index);
}

size_t tg_index_count(const struct tg_index *index)
{
    return index->count;
}

size_t tg_index_end(const struct tg_index *index)
{
    return index->places.n;
}

bool tg_index_has(const struct tg_index *index, const char *key)
{
    return find_slot(index, key) != NULL;
}

static void put_hot(struct tg_index *index, size_t place, struct tg_stored *stored)
{
    index->places.items[place] = (uintptr_t)stored;
    index->hot_bytes += bytes_of(stored);
    *TG_VEC_PUSH(&index->hot) = (uint32_t)place;
}

/* The place is empty afterwards. */
static struct tg_stored *empty_place(struct tg_index *index, size_t place)
{
    uintptr_t entry = index->places.items[place];
    struct tg_stored *stored;

    index->places.items[place] = 0;
    if (!is_packed(entry)) {
        stored = stored_of(entry);
        index->hot_bytes -= bytes_of(stored);
        return stored;
    }
    stored = unpack(index, packed_of(entry));
    free_packed(index, packed_of(entry));
    return stored;
}

struct tg_stored *tg_index_get(struct tg_index *index, const char *key)
{
    const uint32_t *slot = find_slot(index, key);

    if (slot == NULL)
        return NULL;
    if (is_packed(index->places.items[*slot - 1]))
        put_hot(index, *slot - 1, empty_place(index, *slot - 1));
    return stored_of(index->places.items[*slot - 1]);
}

void tg_index_set(struct tg_index *index, struct tg_stored *stored)
{
    const uint32_t *slot = find_slot(index, stored->key);

    if (slot != NULL) {
        tg_stored_unref(empty_place(index, *slot - 1));
        put_hot(index, *slot - 1, stored);
        return;
    }
    if (4 * (index->used + 1) > 3 * index->n_slots)
        rebuild(index);
    assert(index->places.n < GONE - 1);
    if (index->places.n == index->places.capacity)
        TG_VEC_RESERVE_EXACTLY(&index->places, index->places.n + index->places.n / 4 + FIRST_SLOTS);
    *TG_VEC_PUSH(&index->places) = 0;
    put_hot(index, index->places.n - 1, stored);
    index->count++;
    add_slot(index, (uint32_t)index->places.n - 1);
}

struct tg_stored *tg_index_take(struct tg_index *index, const char *key)
{
    uint32_t *slot = find_slot(index, key);
    struct tg_stored *stored;

    if (slot == NULL)
        return NULL;
    stored = empty_place(index, *slot - 1);
    *slot = GONE;
    index->count--;
    return stored;
}

struct tg_stored *tg_index_at(struct tg_index *index, size_t place)
{
    uintptr_t entry = index->places.items[place];
    struct tg_stored *stored;

    if (!is_packed(entry))
        return stored_of(entry);
    stored = unpack(index, packed_of(entry));
    *TG_VEC_PUSH(&index->lent) = stored;
    return stored;
}

bool tg_index_show(const struct tg_index *index, size_t place,
                   bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    uintptr_t entry = index->places.items[place];
    struct tg_stored *stored;
    bool more;

    if (entry == 0)
        return true;
    if (!is_packed(entry))
        return visit(data, stored_of(entry));
    stored = unpack(index, packed_of(entry));
    more = visit(data, stored);
    tg_stored_unref(stored);
    return more;
}

bool tg_index_show_key(const struct tg_index *index, const char *key,
                       bool (*visit)(void *data, const struct tg_stored *stored), void *data)
{
    const uint32_t *slot = find_slot(index, key);

    return slot == NULL || tg_index_show(index, *slot - 1, visit, data);
}

struct tg_stored *tg_index_pull(struct tg_index *index, size_t place)
{
    if (index->places.items[place] == 0)
        return NULL;
    index->count--;
    return empty_place(index, place);
}

/* The next place that became hot; false if there is none. */
static bool next_hot(struct tg_index *index, uint32_t *ret)
{
    if (index->hot_first == index->hot.n) {
        index->hot_first = index->hot.n = 0;
        return false;
    }
    *ret = index->hot.items[index->hot_first++];
    if (index->hot_first > index->hot.n / 2) {
        index->hot.n -= index->hot_first;
        memmove(index->hot.items, index->hot.items + index->hot_first,
                index->hot.n * sizeof(*index->hot.items));
        index->hot_first = 0;
    }
    return true;
}

void tg_index_limit(struct tg_index *index, size_t hot)
{
    if (index->hot_limit != SIZE_MAX)
        index->hot_limit = hot;
}

void tg_index_cool(struct tg_index *index)
{
    size_t rounds = index->hot.n - index->hot_first;
    uint32_t place;

    drop_lent(index);
    while (index->hot_bytes > index->hot_limit && rounds-- > 0 && next_hot(index, &place)) {
        uintptr_t entry = index->places.items[place];
        struct tg_stored *stored;

        if (entry == 0 || is_packed(entry))
            continue;
        stored = stored_of(entry);
        if (stored->references > 1 || stored->stale != NULL) {
            *TG_VEC_PUSH(&index->hot) = place; /* later */
            continue;
        }
        index->places.items[place] = (uintptr_t)pack(index, stored) | 1;
        index->hot_bytes -= bytes_of(stored);
        tg_stored_unref(stored);
    }
}

size_t tg_index_hot_count(const struct tg_index *index)
{
    size_t n = 0;

    for (size_t i = 0; i < index->places.n; i++)
        n += index->places.items[i] != 0 && !is_packed(index->places.items[i]);
    return n;
}
