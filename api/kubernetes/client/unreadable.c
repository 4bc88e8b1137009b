/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of an object that cannot be decoded. It is there all the same: a claim that would
 * count as absent would free devices that are in use. So the last version that was read stays, with
 * what can be salvaged of the new one over it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/probe.h"

enum { BUDGET_FACTOR = 4, BUDGET_LEAST = 64 << 10 };

int tg_store_identify(const struct tg_store *store, const char *json, size_t n,
                      struct tg_store_identity *ret, struct tg_error *err)
{
    const struct tg_json_place places[] = {
        {.path = {"metadata", "name"}, .text = ret->name, .size = sizeof(ret->name)},
        {.path = {"metadata", "namespace"},
         .text = ret->namespace_,
         .size = sizeof(ret->namespace_)},
        {.path = {"metadata", "uid"}, .text = ret->uid, .size = sizeof(ret->uid)},
        {.path = {"metadata", "resourceVersion"},
         .text = ret->version,
         .size = sizeof(ret->version)},
    };
    bool namespaced = store->kind->namespaced;
    int rc = tg_json_probe(json, n, places, TG_ARRAY_SIZE(places), err);

    if (rc != 0)
        return rc;
    if (ret->name[0] == '\0' || ret->version[0] == '\0' || ret->uid[0] == '\0' ||
        (namespaced && ret->namespace_[0] == '\0') ||
        !tg_store_key(namespaced ? ret->namespace_ : NULL, ret->name, ret->key))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: without a name%s, uid and resourceVersion", store->kind->kind,
                            namespaced ? ", namespace" : "");
    ret->meta = (struct tg_object_meta){.name = ret->name,
                                        .namespace_ = namespaced ? ret->namespace_ : NULL,
                                        .uid = ret->uid,
                                        .resource_version = ret->version};
    return 0;
}

/* The version to start from; NULL if none was ever read. */
static struct tg_stored *last_read(struct tg_stored *before)
{
    while (before != NULL && before->stale != NULL)
        before = before->base;
    return before;
}

/* The nearest version that has a content of its own: those that only pass on what another has would
 * make a chain without end. */
static struct tg_stored *last_known(struct tg_stored *before)
{
    while (before != NULL && before->base != NULL && before->object == before->base->object)
        before = before->base;
    return before;
}

static struct tg_object_meta *copy_meta(const struct tg_object_meta *meta, struct tg_arena *arena)
{
    struct tg_object_meta *copy = tg_arena_alloc(arena, sizeof(*copy));

    assert(copy != NULL);
    copy->name = tg_arena_strdup(arena, meta->name);
    copy->namespace_ = meta->namespace_ == NULL ? NULL : tg_arena_strdup(arena, meta->namespace_);
    copy->uid = tg_arena_strdup(arena, meta->uid);
    copy->resource_version = tg_arena_strdup(arena, meta->resource_version);
    return copy;
}

/* The parts that a table of the store can read, over the last version that was read. NULL if no
 * table can. */
static struct tg_object *salvage(const struct tg_store *store, const char *json, size_t n,
                                 const struct tg_object *read, struct tg_arena *arena)
{
    size_t size = store->kind->type->size;

    for (const struct tg_type *const *type = store->salvage; type != NULL && *type != NULL;
         type++) {
        char *merged = tg_arena_alloc(arena, size);
        void *parts = NULL;

        assert((*type)->size == size);
        if (merged == NULL || tg_json_decode_new(*type, json, n, arena, &parts, NULL) != 0)
            continue;
        if (read != NULL)
            memcpy(merged, read, size);
        for (size_t i = 0; i < (*type)->n; i++) {
            const struct tg_field *field = &(*type)->fields[i];

            assert(field->kind == TG_FIELD_OBJECT);
            memcpy(merged + field->offset, (const char *)parts + field->offset, sizeof(void *));
        }
        return (struct tg_object *)(void *)merged;
    }
    return NULL;
}

static void free_arena(void *arena)
{
    tg_arena_free(arena);
}

struct tg_stored *tg_store_unreadable(const struct tg_store *store, const char *json, size_t n,
                                      const struct tg_store_identity *identity, const char *why)
{
    /* What is always kept is of our size; what is salvaged is of theirs. */
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_arena *parts = tg_arena_new(BUDGET_FACTOR * store->max_object + BUDGET_LEAST);
    struct tg_stored *before = tg_index_get(store->objects, identity->key);
    struct tg_stored *stored = tg_arena_alloc(arena, sizeof(*stored));
    struct tg_object *blank = tg_arena_alloc(arena, store->kind->type->size);
    struct tg_object *salvaged;

    assert(stored != NULL && blank != NULL);
    if (tg_arena_on_reset(arena, free_arena, parts) != 0)
        abort(); /* as tg_xmalloc */
    *stored = (struct tg_stored){.arena = arena,
                                 .references = 1,
                                 .key = tg_arena_strdup(arena, identity->key),
                                 .stale = tg_arena_strdup(arena, why)};
    blank->metadata = copy_meta(&identity->meta, arena);
    (void)tg_parse_u64(identity->version, strlen(identity->version), &stored->version);
    if (before != NULL && !tg_streq(before->object->metadata->uid, identity->uid))
        before = NULL;
    stored->base = last_read(before);
    salvaged = salvage(store, json, n, stored->base == NULL ? NULL : stored->base->object, parts);
    if (salvaged == NULL) {
        stored->base = last_known(before);
        salvaged = stored->base == NULL ? blank : stored->base->object;
    }
    if (salvaged->metadata == NULL)
        salvaged->metadata = blank->metadata;
    stored->object = salvaged;
    if (stored->base != NULL)
        tg_stored_ref(stored->base);
    return stored;
}
