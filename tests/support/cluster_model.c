/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "tests/support/cluster_rules.h"

#define KEY_MAX 512

struct tg_cluster {
    struct tg_arena *arena;
    struct tg_map *objects[TG_VIEW_KINDS]; /* key -> snapshot */
    struct tg_map *seen[TG_VIEW_KINDS];
    TG_VEC(const struct tg_snapshot *) log[TG_VIEW_KINDS];
    size_t delivered[TG_VIEW_KINDS];
    uint64_t version, uids;
    size_t unconditional;
    struct tg_cluster_observer observer;
};

static const struct tg_type *const types[TG_VIEW_KINDS] = {
    [TG_VIEW_POD] = &tg_pod_type,
    [TG_VIEW_NODE] = &tg_node_type,
    [TG_VIEW_NAMESPACE] = &tg_namespace_type,
    [TG_VIEW_CLAIM] = &tg_resource_claim_type,
    [TG_VIEW_SLICE] = &tg_resource_slice_type,
    [TG_VIEW_CLASS] = &tg_device_class_type,
    [TG_VIEW_TAINT_RULE] = &tg_device_taint_rule_type,
    [TG_VIEW_VOLUME] = &tg_persistent_volume_type,
    [TG_VIEW_VOLUME_CLAIM] = &tg_persistent_volume_claim_type,
    [TG_VIEW_STORAGE_CLASS] = &tg_storage_class_type,
    [TG_VIEW_GANG] = &tg_gang_type,
};

struct tg_cluster *tg_cluster_new(void)
{
    struct tg_cluster *cluster = tg_xcalloc(1, sizeof(*cluster));

    cluster->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    for (size_t i = 0; i < TG_VIEW_KINDS; i++) {
        cluster->objects[i] = tg_map_new(NULL);
        cluster->seen[i] = tg_map_new(NULL);
    }
    return cluster;
}

void tg_cluster_free(struct tg_cluster *cluster)
{
    for (size_t i = 0; i < TG_VIEW_KINDS; i++) {
        tg_map_free(cluster->objects[i]);
        tg_map_free(cluster->seen[i]);
        TG_VEC_DONE(&cluster->log[i]);
    }
    tg_arena_free(cluster->arena);
    free(cluster);
}

void tg_cluster_observe(struct tg_cluster *cluster, const struct tg_cluster_observer *observer)
{
    cluster->observer = *observer;
}

size_t tg_cluster_unconditional(const struct tg_cluster *cluster)
{
    return cluster->unconditional;
}

static const char *key_of(char out[KEY_MAX], const char *namespace_, const char *name)
{
    snprintf(out, KEY_MAX, "%s/%s", tg_or(namespace_, ""), name);
    return out;
}

const struct tg_snapshot *tg_cluster_get(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                         const char *namespace_, const char *name)
{
    char key[KEY_MAX];

    return tg_map_get(cluster->objects[kind], key_of(key, namespace_, name));
}

const struct tg_snapshot *tg_cluster_nth(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                         size_t i)
{
    for (struct tg_map_entry *e = tg_map_first(cluster->objects[kind]); e != NULL;
         e = tg_map_next(e))
        if (i-- == 0)
            return tg_map_value(e);
    return NULL;
}

/* --- storing --------------------------------------------------------------------------------- */

static struct tg_json *copy_of(struct tg_cluster *cluster, const struct tg_snapshot *snapshot)
{
    return tg_edit_parse(snapshot->text, cluster->arena);
}

static const char *take(struct tg_cluster *cluster, const char *s)
{
    return s == NULL ? NULL : tg_arena_strdup(cluster->arena, s);
}

/* The tree becomes the next state of its object. */
static const struct tg_snapshot *store(struct tg_cluster *cluster, enum tg_view_kind kind,
                                       const struct tg_write *write, struct tg_json *tree)
{
    struct tg_arena *arena = cluster->arena;
    struct tg_snapshot *s = tg_arena_alloc(arena, sizeof(*s));
    struct tg_json *meta = tg_edit_object(tree, "metadata", arena);
    const struct tg_json *finalizers = tg_json_get(meta, "finalizers");
    const struct tg_snapshot *before;
    struct tg_error err = TG_ERROR_INIT;
    char key[KEY_MAX], version[32];
    void *object;

    snprintf(version, sizeof(version), "%llu", (unsigned long long)++cluster->version);
    tg_edit_set(meta, "resourceVersion", tg_edit_new_string(version, arena), arena);
    *s = (struct tg_snapshot){.kind = kind, .version = cluster->version, .tree = tree};
    s->namespace_ = take(cluster, tg_edit_string_at(meta, "namespace", NULL));
    s->name = take(cluster, tg_edit_string_at(meta, "name", NULL));
    s->uid = take(cluster, tg_edit_string_at(meta, "uid", NULL));
    s->key = take(cluster, key_of(key, s->namespace_, s->name));
    s->gone = tg_json_get(meta, "deletionTimestamp") != NULL &&
              (finalizers == NULL || finalizers->n == 0);
    s->text = tg_edit_text(tree, arena);
    if (tg_json_decode_new(types[kind], s->text, strlen(s->text), arena, &object, &err) < 0)
        fail_msg("%s: %s", err.message, s->text);
    s->object = object;
    before = tg_map_get(cluster->objects[kind], s->key);
    if (s->gone)
        tg_map_remove(cluster->objects[kind], s->key);
    else
        tg_map_set(cluster->objects[kind], s->key, s);
    *TG_VEC_PUSH(&cluster->log[kind]) = s;
    if (cluster->observer.on_change != NULL)
        cluster->observer.on_change(cluster->observer.data, write, before, s);
    return s;
}

static void set_default(struct tg_cluster *cluster, struct tg_json *meta, const char *key,
                        const char *value)
{
    if (tg_json_get(meta, key) == NULL)
        tg_edit_set(meta, key, tg_edit_new_string(value, cluster->arena), cluster->arena);
}

static const struct tg_snapshot *create(struct tg_cluster *cluster, enum tg_view_kind kind,
                                        const struct tg_write *write, struct tg_json *tree)
{
    struct tg_json *meta = tg_edit_object(tree, "metadata", cluster->arena);
    char uid[64];

    snprintf(uid, sizeof(uid), "00000000-0000-4000-8000-%012llu",
             (unsigned long long)++cluster->uids);
    set_default(cluster, meta, "uid", uid);
    set_default(cluster, meta, "creationTimestamp", "2026-01-01T00:00:00Z");
    if (kind == TG_VIEW_GANG)
        tg_edit_set(meta, "generation", tg_edit_parse("1", cluster->arena), cluster->arena);
    return store(cluster, kind, write, tree);
}

static struct tg_json *__attribute__((format(printf, 2, 0)))
format_tree(struct tg_cluster *cluster, const char *format, va_list args)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT((size_t)1024 * 1024);

    assert_int_equal(tg_buf_vprintf(&buf, format, args), 0);
    return tg_edit_parse_quoted(tg_buf_str(&buf), cluster->arena);
}

const struct tg_snapshot *tg_cluster_create(struct tg_cluster *cluster, enum tg_view_kind kind,
                                            const char *format, ...)
{
    struct tg_json *tree;
    va_list args;

    va_start(args, format);
    tree = format_tree(cluster, format, args);
    va_end(args);
    return create(cluster, kind, NULL, tree);
}

const struct tg_snapshot *tg_cluster_change(struct tg_cluster *cluster, enum tg_view_kind kind,
                                            const char *namespace_, const char *name,
                                            const char *format, ...)
{
    const struct tg_snapshot *old = tg_cluster_get(cluster, kind, namespace_, name);
    struct tg_json *patch;
    va_list args;

    if (old == NULL)
        fail_msg("no such object: %s/%s", tg_or(namespace_, ""), name);
    va_start(args, format);
    patch = format_tree(cluster, format, args);
    va_end(args);
    return store(cluster, kind, NULL, tg_edit_merge(copy_of(cluster, old), patch, cluster->arena));
}

static void delete (struct tg_cluster *cluster, const struct tg_write *write,
                    const struct tg_snapshot *old)
{
    struct tg_json *tree;

    if (old == NULL || old->object->metadata->deletion_timestamp != NULL)
        return;
    tree = copy_of(cluster, old);
    tg_edit_set(tg_edit_object(tree, "metadata", cluster->arena), "deletionTimestamp",
                tg_edit_new_string("2026-01-01T01:00:00Z", cluster->arena), cluster->arena);
    store(cluster, old->kind, write, tree);
}

void tg_cluster_delete(struct tg_cluster *cluster, enum tg_view_kind kind, const char *namespace_,
                       const char *name)
{
    delete (cluster, NULL, tg_cluster_get(cluster, kind, namespace_, name));
}

/* --- the controller's writes ----------------------------------------------------------------- */

static int conflict(struct tg_error *err, const char *why)
{
    return tg_error_set(err, TG_ABORTED, "conflict: %s", why);
}

/* patched: the old object with the patch applied. */
static int update(struct tg_cluster *cluster, const struct tg_write *write,
                  const struct tg_snapshot *old, struct tg_json *patched, bool status,
                  const struct tg_snapshot **ret, struct tg_error *err)
{
    struct tg_json *meta = tg_edit_object(patched, "metadata", cluster->arena);
    struct tg_json *next = copy_of(cluster, old);
    struct tg_json *other = tg_edit_at(next, "status", NULL);
    int r;

    if (!tg_streq(tg_edit_string_at(meta, "uid", NULL), old->uid))
        return conflict(err, "another uid");
    if (!tg_streq(tg_edit_string_at(meta, "resourceVersion", NULL),
                  tg_edit_string_at(next, "metadata", "resourceVersion")))
        return conflict(err, "the object has been modified");
    if (status)
        tg_edit_set(next, "status", tg_edit_at(patched, "status", NULL), cluster->arena);
    else {
        next = patched;
        tg_edit_set(next, "status", other, cluster->arena);
    }
    r = tg_cluster_check(old->kind, status, old->tree, next, err);
    if (r < 0)
        return r;
    *ret = tg_json_equal(old->tree, next) ? old : store(cluster, old->kind, write, next);
    return 0;
}

static int write_merge(struct tg_cluster *cluster, const struct tg_write *write, const char *body,
                       const struct tg_snapshot *old, bool status, const struct tg_snapshot **ret,
                       struct tg_error *err)
{
    struct tg_json *patch = tg_edit_parse(body, cluster->arena);

    if (tg_edit_string_at(patch, "metadata", "resourceVersion") == NULL)
        cluster->unconditional++;
    return update(cluster, write, old, tg_edit_merge(copy_of(cluster, old), patch, cluster->arena),
                  status, ret, err);
}

static int write_json_patch(struct tg_cluster *cluster, const struct tg_write *write,
                            const struct tg_snapshot *old, const struct tg_snapshot **ret,
                            struct tg_error *err)
{
    struct tg_json *patched = copy_of(cluster, old);
    const char *why;

    if (strstr(write->body, "\"/metadata/resourceVersion\"") == NULL)
        cluster->unconditional++;
    if (tg_edit_patch(patched, tg_edit_parse(write->body, cluster->arena), cluster->arena, &why) <
        0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the patch does not apply: %.200s", why);
    return update(cluster, write, old, patched, false, ret, err);
}

static int write_claim_metadata(struct tg_cluster *cluster, const struct tg_write *write,
                                const struct tg_snapshot *old, const struct tg_snapshot **ret,
                                struct tg_error *err)
{
    struct tg_json *next = copy_of(cluster, old);
    struct tg_json *meta = tg_edit_object(next, "metadata", cluster->arena);
    const struct tg_json *list = tg_json_get(meta, "finalizers");
    char text[1024] = "";

    if (!tg_streq(write->resource_version, tg_edit_string_at(meta, "resourceVersion", NULL)))
        return conflict(err, "decided on another version");
    for (size_t i = 0; list != NULL && i < list->n; i++)
        if (!tg_streq(tg_json_string(list->items[i]), TG_FINALIZER_CLAIM))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "\"%s\",",
                     tg_json_string(list->items[i]));
    if (write->kind != TG_WRITE_CLAIM_EPOCH)
        tg_edit_set(
            meta, "finalizers",
            tg_edit_parse(tg_arena_printf(cluster->arena, "[%s\"" TG_FINALIZER_CLAIM "\"]", text),
                          cluster->arena),
            cluster->arena);
    tg_edit_set(tg_edit_object(meta, "annotations", cluster->arena), TG_ANNOTATION_EPOCH,
                tg_edit_new_string(write->epoch, cluster->arena), cluster->arena);
    return update(cluster, write, old, next, false, ret, err);
}

static int write_gang_create(struct tg_cluster *cluster, const struct tg_write *write,
                             const struct tg_snapshot **ret, struct tg_error *err)
{
    if (tg_cluster_get(cluster, TG_VIEW_GANG, write->namespace_, write->name) != NULL)
        return tg_error_set(err, TG_ALREADY_EXISTS, "gang %s exists", write->name);
    *ret = create(cluster, TG_VIEW_GANG, write, tg_edit_parse(write->body, cluster->arena));
    return 0;
}

/* DELETE of a Gang, or the Eviction of a pod, which has the same options inside. */
static int write_delete(struct tg_cluster *cluster, const struct tg_write *write,
                        const struct tg_snapshot *old, const struct tg_snapshot **ret,
                        struct tg_error *err)
{
    struct tg_json *body = tg_edit_parse(write->body, cluster->arena);
    struct tg_json *options = write->kind == TG_WRITE_POD_EVICT
                                  ? tg_edit_object(body, "deleteOptions", cluster->arena)
                                  : body;
    const char *uid = tg_json_string(tg_edit_at(options, "preconditions", "uid", NULL));
    const char *version =
        tg_json_string(tg_edit_at(options, "preconditions", "resourceVersion", NULL));

    if (uid == NULL || version == NULL)
        cluster->unconditional++;
    if (!tg_streq(uid, old->uid) ||
        !tg_streq(version, tg_edit_string_at(old->tree, "metadata", "resourceVersion")))
        return conflict(err, "preconditions of the deletion");
    delete (cluster, write, old);
    *ret = NULL;
    return 0;
}

static enum tg_view_kind kind_of(enum tg_write_kind kind)
{
    switch (kind) {
    case TG_WRITE_POD:
    case TG_WRITE_POD_EVICT:
        return TG_VIEW_POD;
    case TG_WRITE_CLAIM_ALLOCATE:
    case TG_WRITE_CLAIM_CLEAR:
    case TG_WRITE_CLAIM_EPOCH:
        return TG_VIEW_CLAIM;
    case TG_WRITE_GANG_CREATE:
    case TG_WRITE_GANG_METADATA:
    case TG_WRITE_GANG_STATUS:
    case TG_WRITE_GANG_DELETE:
        break;
    }
    return TG_VIEW_GANG;
}

int tg_cluster_write(struct tg_cluster *cluster, const struct tg_write *write,
                     enum tg_cluster_step step, const char *resource_version,
                     const struct tg_snapshot **ret, struct tg_error *err)
{
    const struct tg_snapshot *old =
        tg_cluster_get(cluster, kind_of(write->kind), write->namespace_, write->name);

    *ret = old;
    if (write->kind == TG_WRITE_GANG_CREATE)
        return write_gang_create(cluster, write, ret, err);
    if (old == NULL)
        return tg_error_set(err, TG_NOT_FOUND, "%s not found", write->name);
    if ((step == TG_CLUSTER_METADATA || write->kind == TG_WRITE_CLAIM_EPOCH) &&
        write->metadata != NULL)
        return write_merge(cluster, write, write->metadata, old, false, ret, err);
    if (step == TG_CLUSTER_METADATA || write->kind == TG_WRITE_CLAIM_EPOCH)
        return write_claim_metadata(cluster, write, old, ret, err);
    switch (write->kind) {
    case TG_WRITE_GANG_METADATA:
        return write_merge(cluster, write, write->body, old, false, ret, err);
    case TG_WRITE_GANG_STATUS:
    case TG_WRITE_CLAIM_CLEAR:
        return write_merge(cluster, write, write->body, old, true, ret, err);
    case TG_WRITE_GANG_DELETE:
    case TG_WRITE_POD_EVICT:
        return write_delete(cluster, write, old, ret, err);
    case TG_WRITE_POD:
        return write_json_patch(cluster, write, old, ret, err);
    case TG_WRITE_GANG_CREATE:
    case TG_WRITE_CLAIM_ALLOCATE:
    case TG_WRITE_CLAIM_EPOCH:
        break;
    }
    return write_merge(cluster, write,
                       tg_arena_printf(cluster->arena,
                                       "{\"metadata\":{\"resourceVersion\":\"%s\",\"uid\":\"%s\"},"
                                       "\"status\":%s}",
                                       resource_version, write->uid, write->body),
                       old, true, ret, err);
}

/* --- the cache ------------------------------------------------------------------------------- */

static void see(struct tg_cluster *cluster, const struct tg_snapshot *s)
{
    const struct tg_snapshot *old = tg_map_get(cluster->seen[s->kind], s->key);

    if (old != NULL && old->version >= s->version)
        return;
    if (s->gone && old == NULL)
        return;
    if (s->gone)
        tg_map_remove(cluster->seen[s->kind], s->key);
    else
        tg_map_set(cluster->seen[s->kind], s->key, (void *)(uintptr_t)s);
    if (cluster->observer.on_seen != NULL)
        cluster->observer.on_seen(cluster->observer.data, old, s->gone ? NULL : s);
}

const struct tg_snapshot *tg_cluster_seen(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                          const char *namespace_, const char *name)
{
    char key[KEY_MAX];

    return tg_map_get(cluster->seen[kind], key_of(key, namespace_, name));
}

/* An object that the watch has already reported as removed stays removed. */
void tg_cluster_see(struct tg_cluster *cluster, const struct tg_snapshot *snapshot)
{
    for (size_t i = 0; i < cluster->delivered[snapshot->kind]; i++) {
        const struct tg_snapshot *past = cluster->log[snapshot->kind].items[i];

        if (past->gone && tg_streq(past->uid, snapshot->uid) && past->version > snapshot->version)
            return;
    }
    see(cluster, snapshot);
}

bool tg_cluster_deliver_one(struct tg_cluster *cluster, enum tg_view_kind kind)
{
    if (cluster->delivered[kind] == cluster->log[kind].n)
        return false;
    see(cluster, cluster->log[kind].items[cluster->delivered[kind]++]);
    return true;
}

void tg_cluster_deliver(struct tg_cluster *cluster)
{
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        while (tg_cluster_deliver_one(cluster, kind))
            continue;
}

/* As an informer does: who watches is told the difference. */
static void relist_kind(struct tg_cluster *cluster, enum tg_view_kind kind)
{
    struct tg_map *before = cluster->seen[kind];

    cluster->seen[kind] = tg_map_new(NULL);
    cluster->delivered[kind] = cluster->log[kind].n;
    for (struct tg_map_entry *e = tg_map_first(cluster->objects[kind]); e != NULL;
         e = tg_map_next(e)) {
        const struct tg_snapshot *old = tg_map_take(before, tg_map_key(e));

        tg_map_set(cluster->seen[kind], tg_map_key(e), tg_map_value(e));
        if (old != tg_map_value(e) && cluster->observer.on_seen != NULL)
            cluster->observer.on_seen(cluster->observer.data, old, tg_map_value(e));
    }
    for (struct tg_map_entry *e = tg_map_first(before); e != NULL; e = tg_map_next(e)) {
        if (cluster->observer.on_seen != NULL)
            cluster->observer.on_seen(cluster->observer.data, tg_map_value(e), NULL);
    }
    tg_map_free(before);
}

void tg_cluster_relist(struct tg_cluster *cluster)
{
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++)
        relist_kind(cluster, kind);
}

void tg_cluster_fill_view(const struct tg_cluster *cluster, size_t rotate, struct tg_view *view)
{
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++) {
        TG_VEC(const struct tg_snapshot *) all = {0};

        for (struct tg_map_entry *e = tg_map_first(cluster->seen[kind]); e != NULL;
             e = tg_map_next(e))
            *TG_VEC_PUSH(&all) = tg_map_value(e);
        for (size_t i = 0; i < all.n; i++)
            tg_view_add(view, kind, all.items[(i + rotate) % all.n]->object);
        TG_VEC_DONE(&all);
    }
}
