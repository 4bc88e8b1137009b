/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one kind, and the rules by which what a list, a watch and answers to our own
 * writes say becomes one history. They all carry resourceVersions of the same etcd, which are
 * comparable numbers (KEP-5504); a version that is none is 0 and switches the comparison off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "api/runtime/json/decode.h"

/* Structs take more room than text: {} is two bytes of JSON and a struct of a hundred. */
enum { BUDGET_FACTOR = 4, BUDGET_LEAST = 64 << 10 };

struct tg_stored *tg_stored_ref(struct tg_stored *stored)
{
    stored->references++;
    return stored;
}

void tg_stored_unref(struct tg_stored *stored)
{
    while (stored != NULL && --stored->references == 0) {
        struct tg_stored *base = stored->base;

        tg_arena_free(stored->arena); /* stored lies in it */
        stored = base;
    }
}

void tg_store_init(struct tg_store *store, const struct tg_kind *kind, size_t max_object)
{
    *store = (struct tg_store){.kind = kind, .max_object = max_object, .hot = SIZE_MAX};
    store->pool = tg_pool_new();
    store->objects = tg_index_new(kind, store->pool, SIZE_MAX);
}

void tg_store_done(struct tg_store *store)
{
    tg_index_free(store->objects);
    tg_pool_free(store->pool);
    store->objects = NULL;
    store->pool = NULL;
}

void tg_store_keep_hot(struct tg_store *store, size_t bytes)
{
    store->hot = bytes;
    tg_index_free(store->objects);
    store->objects = tg_index_new(store->kind, store->pool, bytes);
}

struct tg_index *tg_store_new_list(const struct tg_store *store)
{
    return tg_index_new(store->kind, store->pool, store->hot);
}

bool tg_store_key(const char *namespace_, const char *name, char out[TG_STORE_KEY])
{
    int n = namespace_ == NULL ? snprintf(out, TG_STORE_KEY, "%s", name)
                               : snprintf(out, TG_STORE_KEY, "%s/%s", namespace_, name);

    return n > 0 && n < TG_STORE_KEY;
}

static uint64_t version_of(const struct tg_object_meta *meta)
{
    uint64_t version = 0;

    if (meta->resource_version == NULL ||
        tg_parse_u64(meta->resource_version, strlen(meta->resource_version), &version) != 0)
        return 0;
    return version;
}

static int make_key(const struct tg_store *store, const struct tg_object_meta *meta,
                    struct tg_arena *arena, const char **ret, struct tg_error *err)
{
    char key[TG_STORE_KEY];

    if (meta == NULL || meta->name == NULL || (store->kind->namespaced && meta->namespace_ == NULL))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: metadata.name%s is missing",
                            store->kind->kind,
                            store->kind->namespaced ? " or metadata.namespace" : "");
    if (!tg_store_key(store->kind->namespaced ? meta->namespace_ : NULL, meta->name, key))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: metadata.name is too long",
                            store->kind->kind);
    *ret = tg_arena_strdup(arena, key);
    if (*ret == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s \"%s\": larger than it may be",
                            store->kind->kind, key);
    return 0;
}

static int decode_into(const struct tg_store *store, const char *json, size_t n,
                       struct tg_arena *arena, struct tg_stored **ret, struct tg_error *err)
{
    struct tg_stored *stored = tg_arena_alloc(arena, sizeof(*stored));
    void *object = NULL;
    int rc;

    if (stored == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: larger than it may be",
                            store->kind->kind);
    rc = tg_json_decode_new(store->kind->type, json, n, arena, &object, err);
    if (rc != 0)
        return rc;
    stored->arena = arena;
    stored->object = object;
    stored->references = 1;
    rc = make_key(store, stored->object->metadata, arena, &stored->key, err);
    if (rc != 0)
        return rc;
    if (stored->object->metadata->uid == NULL || stored->object->metadata->resource_version == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s \"%s\": metadata.uid or metadata.resourceVersion is missing",
                            store->kind->kind, stored->key);
    stored->version = version_of(stored->object->metadata);
    if (store->kind->trim != NULL)
        store->kind->trim(stored->object);
    *ret = stored;
    return 0;
}

int tg_store_decode(const struct tg_store *store, const char *json, size_t n,
                    struct tg_stored **ret, struct tg_error *err)
{
    struct tg_arena *arena;
    int rc;

    if (n > store->max_object)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: an object of %zu bytes, more than %zu",
                            store->kind->kind, n, store->max_object);
    arena = tg_arena_new(BUDGET_FACTOR * store->max_object + BUDGET_LEAST);
    rc = decode_into(store, json, n, arena, ret, err);
    if (rc != 0)
        tg_arena_free(arena);
    return rc;
}

static void see(struct tg_store *store, uint64_t version)
{
    if (version > store->highest)
        store->highest = version;
}

/* Hands `before` over to the callback and gives up the reference that the map had. */
static void remove_object(struct tg_store *store, const char *key)
{
    struct tg_stored *before = tg_index_take(store->objects, key);

    store->on_change(store->data, before, NULL);
    tg_stored_unref(before);
}

static void insert_object(struct tg_store *store, struct tg_stored *stored)
{
    struct tg_stored *before = tg_index_get(store->objects, stored->key);

    if (before != NULL && !tg_streq(before->object->metadata->uid, stored->object->metadata->uid)) {
        /* Deleted and made again while we did not look: two objects, two events. */
        remove_object(store, stored->key);
        before = NULL;
    }
    if (before != NULL)
        tg_stored_ref(before);
    tg_stored_ref(stored); /* the callback may change the store */
    tg_index_set(store->objects, stored);
    store->on_change(store->data, before, stored);
    tg_stored_unref(stored);
    tg_stored_unref(before);
    tg_index_cool(store->objects);
}

bool tg_store_put(struct tg_store *store, struct tg_stored *stored)
{
    const struct tg_stored *before = tg_index_get(store->objects, stored->key);
    bool old = before != NULL && stored->version != 0 && stored->version <= before->version;

    see(store, stored->version);
    if (old) {
        tg_stored_unref(stored);
        return false;
    }
    insert_object(store, stored);
    return true;
}

bool tg_store_put_answer(struct tg_store *store, struct tg_stored *stored)
{
    /* Not there although the watch has passed its version: it was deleted since. */
    if (!tg_index_has(store->objects, stored->key) && stored->version <= store->position) {
        tg_stored_unref(stored);
        return false;
    }
    return tg_store_put(store, stored);
}

bool tg_store_delete(struct tg_store *store, const char *key, uint64_t version)
{
    const struct tg_stored *before = tg_index_get(store->objects, key);

    see(store, version);
    if (before == NULL || (version != 0 && version < before->version))
        return false;
    remove_object(store, key);
    return true;
}

/* Those that the list does not have and that are not newer than it. */
static void delete_absent(struct tg_store *store, const struct tg_index *list, uint64_t version,
                          bool rewound)
{
    TG_VEC(struct tg_stored *) gone = {0};

    for (size_t i = 0; i < tg_index_end(store->objects); i++) {
        struct tg_stored *stored = tg_index_at(store->objects, i);

        if (stored == NULL)
            continue;
        if (!tg_index_has(list, stored->key) && (rewound || stored->version <= version))
            *TG_VEC_PUSH(&gone) = tg_stored_ref(tg_index_get(store->objects, stored->key));
        tg_index_cool(store->objects);
    }
    for (size_t i = 0; i < gone.n; i++) {
        /* A callback may have changed it meanwhile. */
        if (tg_index_get(store->objects, gone.items[i]->key) == gone.items[i])
            remove_object(store, gone.items[i]->key);
        tg_stored_unref(gone.items[i]);
    }
    TG_VEC_DONE(&gone);
}

static bool is_same(const struct tg_stored *a, const struct tg_stored *b)
{
    return a->version == b->version && (a->stale == NULL) == (b->stale == NULL) &&
           tg_streq(a->object->metadata->resource_version, b->object->metadata->resource_version) &&
           tg_streq(a->object->metadata->uid, b->object->metadata->uid);
}

void tg_store_list(struct tg_store *store, struct tg_index *list, struct tg_stored *stored)
{
    struct tg_stored *same =
        store->hot == SIZE_MAX ? tg_index_get(store->objects, stored->key) : NULL;

    if (same != NULL && is_same(same, stored)) {
        tg_stored_unref(stored);
        stored = tg_stored_ref(same);
    }
    tg_index_set(list, stored);
    tg_index_cool(list);
}

void tg_store_replace(struct tg_store *store, struct tg_index *list, uint64_t version,
                      uint64_t highest_before)
{
    /* A list is a quorum read: older than what was seen before it began means that the server was
     * restored from a backup. Then its word is the only one that counts. */
    bool rewound = version < highest_before;

    if (rewound)
        store->highest = version;
    store->position = version;
    see(store, version);
    delete_absent(store, list, version, rewound);
    for (size_t i = 0; i < tg_index_end(list); i++) {
        struct tg_stored *listed = tg_index_pull(list, i);
        const struct tg_stored *before;

        if (listed == NULL)
            continue;
        before = tg_index_get(store->objects, listed->key);
        if (before != NULL && ((before->version > version && !rewound) || is_same(before, listed)))
            tg_stored_unref(listed);
        else
            insert_object(store, listed);
        tg_index_cool(store->objects);
    }
}
