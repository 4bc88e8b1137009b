/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/owners.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/gather/owner.h"

#define OBJECT_MEMORY ((size_t)1 << 20) /* of one owner's few fields */
#define ASKED_FOR_MAX 4                 /* different owners of one gang that are looked at */

struct entry {
    struct tg_owners *owners;
    char *key;
    struct tg_kind kind; /* strings are the table's or `version` */
    const struct tg_owner_kind *known;
    char *version, *namespace_, *name, *uid;
    struct tg_kube_request *request; /* on its way */
    struct tg_arena *arena;
    struct tg_owner *object; /* NULL: not known, or nothing to know */
    int64_t asked_at;        /* monotonic */
};

struct tg_owners {
    struct tg_kube_client *client;
    const struct tg_clock *clock;
    void (*on_news)(void *data);
    void *data;
    struct tg_map *entries; /* by key; the oldest first */
};

static void entry_free(void *value)
{
    struct entry *entry = value;

    tg_kube_cancel(entry->request);
    tg_arena_free(entry->arena);
    free(entry->key);
    free(entry->version);
    free(entry->namespace_);
    free(entry->name);
    free(entry->uid);
    free(entry);
}

struct tg_owners *tg_owners_new(struct tg_kube_client *client, const struct tg_clock *clock,
                                void (*on_news)(void *data), void *data)
{
    struct tg_owners *owners = tg_xcalloc(1, sizeof(*owners));

    *owners = (struct tg_owners){.client = client,
                                 .clock = clock,
                                 .on_news = on_news,
                                 .data = data,
                                 .entries = tg_map_new(entry_free)};
    return owners;
}

void tg_owners_free(struct tg_owners *owners)
{
    if (owners == NULL)
        return;
    tg_map_free(owners->entries);
    free(owners);
}

/* A reference names an object by UID: another one of the same name is not its owner. */
static struct tg_owner *decode(const struct entry *entry, const struct tg_kube_result *result,
                               struct tg_arena *arena, struct tg_error *err)
{
    void *object;

    if (tg_json_decode_new(entry->known->type, result->body, result->len, arena, &object, err) < 0)
        return NULL;
    if (((struct tg_owner *)object)->metadata == NULL ||
        !tg_streq(((struct tg_owner *)object)->metadata->uid, entry->uid)) {
        tg_error_set(err, TG_NOT_FOUND, "another object has its name by now");
        return NULL;
    }
    return object;
}

static void on_answer(void *data, const struct tg_kube_result *result)
{
    struct entry *entry = data;
    struct tg_owners *owners = entry->owners;
    struct tg_arena *arena = tg_arena_new(OBJECT_MEMORY);
    struct tg_error why = result->error;
    bool knew = entry->object != NULL;

    entry->request = NULL;
    tg_arena_free(entry->arena);
    entry->arena = arena;
    entry->object = why.code == TG_OK ? decode(entry, result, arena, &why) : NULL;
    if (entry->object == NULL)
        TG_V(4, "Nothing is known of an owner", TG_S("owner", entry->key),
             TG_S("why", why.message));
    if (knew || entry->object != NULL)
        owners->on_news(owners->data);
}

static void ask(struct entry *entry)
{
    entry->asked_at = tg_now_monotonic(entry->owners->clock);
    entry->request = tg_kube_send(
        entry->owners->client,
        &(struct tg_kube_call){
            .method = TG_REST_GET,
            .target = {.kind = &entry->kind, .namespace_ = entry->namespace_, .name = entry->name},
            .done = on_answer,
            .data = entry});
}

/* Keeps the number of entries bounded, whoever writes owner references. */
static bool make_room(struct tg_owners *owners)
{
    struct tg_map_entry *next;

    if (tg_map_count(owners->entries) < TG_OWNERS_MAX)
        return true;
    for (struct tg_map_entry *e = tg_map_first(owners->entries); e != NULL; e = next) {
        const struct entry *entry = tg_map_value(e);

        next = tg_map_next(e);
        if (entry->request == NULL)
            return tg_map_remove(owners->entries, entry->key);
    }
    return false;
}

static struct entry *entry_new(struct tg_owners *owners, char *key, const char *namespace_,
                               const struct tg_owner_reference *reference,
                               const struct tg_owner_kind *known)
{
    struct entry *entry = tg_xcalloc(1, sizeof(*entry));

    entry->owners = owners;
    entry->key = key;
    entry->known = known;
    entry->version = tg_xstrdup(strchr(reference->api_version, '/') + 1);
    entry->namespace_ = tg_xstrdup(namespace_);
    entry->name = tg_xstrdup(reference->name);
    entry->uid = tg_xstrdup(reference->uid);
    entry->kind = (struct tg_kind){.kind = known->kind,
                                   .group = known->group,
                                   .version = entry->version,
                                   .resource = known->resource,
                                   .namespaced = true,
                                   .type = known->type};
    tg_map_set(owners->entries, entry->key, entry);
    return entry;
}

/* What is known of an owner; asks if that is nothing, or old. */
static const struct tg_owner *look_up(struct tg_owners *owners, const char *namespace_,
                                      const struct tg_owner_reference *reference,
                                      const struct tg_owner_kind *known)
{
    int64_t now = tg_now_monotonic(owners->clock);
    char *key =
        tg_xasprintf("%s %s/%s %s", known->kind, namespace_, reference->name, reference->uid);
    struct entry *entry = tg_map_get(owners->entries, key);

    if (entry != NULL) {
        free(key);
        if (entry->request == NULL && now - entry->asked_at >= TG_OWNERS_FRESH)
            ask(entry);
        return entry->object;
    }
    if (!make_room(owners)) {
        free(key);
        return NULL;
    }
    ask(entry_new(owners, key, namespace_, reference, known));
    return NULL;
}

/* False: a part of it is not known (yet). */
static bool read_chain(struct tg_owners *owners, const char *namespace_,
                       const struct tg_owner_reference *reference, struct tg_owner_chain *ret)
{
    while (reference != NULL && ret->n < TG_OWNER_CHAIN_MAX) {
        const struct tg_owner_kind *known = tg_owner_kind_find(reference);
        const struct tg_owner *object;

        if (known == NULL || reference->name == NULL || reference->uid == NULL)
            break;
        object = look_up(owners, namespace_, reference, known);
        if (object == NULL)
            return false;
        ret->links[ret->n].kind = known;
        ret->links[ret->n++].object = object;
        reference = tg_meta_controller(object->metadata);
    }
    return true;
}

/* Different direct owners of members, the oldest member's first. */
struct direct {
    const struct tg_owner_reference *reference;
    size_t members;
};

static size_t direct_owners(const struct tg_unit *unit, struct direct ret[ASKED_FOR_MAX])
{
    size_t n = 0, j;

    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_owner_reference *owner = tg_meta_controller(unit->members[i].pod->metadata);

        for (j = 0; owner != NULL && j < n && !tg_streq(ret[j].reference->uid, owner->uid); j++)
            ;
        if (owner == NULL || (j == n && n == ASKED_FOR_MAX))
            continue;
        if (j == n)
            ret[n++] = (struct direct){.reference = owner};
        ret[j].members++;
    }
    return n;
}

static const char *explain(struct tg_owners *owners, const struct tg_unit *unit, size_t wanted,
                           struct tg_arena *arena)
{
    struct direct direct[ASKED_FOR_MAX];
    size_t n = direct_owners(unit, direct);

    for (size_t i = 0; i < n; i++) {
        struct tg_owner_chain chain = {.members = direct[i].members};
        const char *text;

        if (!read_chain(owners, unit->namespace_, direct[i].reference, &chain))
            continue;
        text = tg_owner_explain(&chain, wanted, n == 1, arena);
        if (text != NULL)
            return text;
    }
    return NULL;
}

void tg_owners_explain(struct tg_owners *owners, const struct tg_unit *unit, struct tg_arena *arena,
                       struct tg_decision *decision)
{
    const char *why, *text;

    if (owners == NULL || unit->gang == NULL || !tg_streq(decision->reason, "Gathering"))
        return;
    why = explain(owners, unit, tg_gang_total(unit->gang), arena);
    text = why == NULL ? NULL : tg_arena_printf(arena, "%s %s", decision->text, why);
    if (text != NULL)
        decision->text = text;
}

size_t tg_owners_count(const struct tg_owners *owners)
{
    return tg_map_count(owners->entries);
}
