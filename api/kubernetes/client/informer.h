/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List and watch of one kind, with a store. List in pages from a consistent snapshot, watch with
 * bookmarks, resume from the last resourceVersion, relist after 410 Gone: handlers see the
 * difference, no invented and no lost event. Relists and reconnects back off with a bound. A watch
 * silent beyond its deadline is cut and resumed.
 */
#ifndef TG_KUBERNETES_CLIENT_INFORMER_H
#define TG_KUBERNETES_CLIENT_INFORMER_H

#include "api/kubernetes/client/client.h"
#include "api/runtime/base/arena.h"

/* An object in the store: immutable, reference counted, one arena. */
struct tg_stored {
    struct tg_object
        *object;      /* of kind->type; metadata, name, uid and resourceVersion are present */
    const char *key;  /* "namespace/name" or "name" */
    uint64_t version; /* resourceVersion as a number (0 if it is none) */
    /* Why this version cannot be read; NULL if it can. Then object is the last one that could be,
     * with its resourceVersion (so that no write on top of it succeeds), and with the parts over it
     * that config.salvage could read. If none was ever read it is name, namespace, uid,
     * resourceVersion, and those parts. */
    const char *stale;
    struct tg_stored *base; /* of a stale one: what its object shares memory with, or NULL */
    unsigned references;
    struct tg_arena *arena;
};
struct tg_stored *tg_stored_ref(struct tg_stored *stored);
void tg_stored_unref(struct tg_stored *stored); /* NULL is allowed */

struct tg_informer;

struct tg_informer_config {
    const struct tg_kind *kind;
    const char *name;           /* in metrics; NULL: the kind's resource */
    const char *namespace_;     /* NULL: all */
    const char *field_selector; /* NULL: none; copied */
    const char *label_selector;
    /* Of a kind with very many objects: those of so many bytes are kept as they were decoded, the
     * others in a tenth of the room, to be decoded again when somebody looks; 0: all. */
    size_t hot_bytes;
    size_t max_object;     /* bytes of JSON of one object; 0: 4 MiB */
    int64_t page_timeout;  /* for one page of a list, from asking to its end; 0: 90 s */
    int64_t watch_timeout; /* what the server is asked for; 0: 5..10 min, drawn per watch */
    int64_t watch_idle;    /* a watch that is silent for so long is resumed; 0: 3 min */
    int64_t backoff;       /* the first delay after a failure, doubled up to 30 s; 0: 800 ms */
    /* What must be known even of an object that does not decode as a whole: tables of the struct
     * of kind->type, with fields of kind TG_FIELD_OBJECT, ended by NULL. The first that decodes is
     * taken. NULL: none. */
    const struct tg_type *const *salvage;
    /* before or after may be NULL (added, deleted). Called on the loop; the store already holds
     * `after`. Objects that do not decode are counted, told by on_error, and are there all the
     * same, marked stale. */
    void (*on_change)(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after);
    void (*on_synced)(void *data,
                      struct tg_informer *informer); /* the first complete list is in the store */
    /* about: the object that cannot be read (name, namespace, uid and resourceVersion of the
     * version in question, nothing else); NULL if the error is not about one that could be named.
     */
    void (*on_error)(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err);
    void *data;
};

/* Starts listing; strings are copied. No callback is called from inside. The informer must be freed
 * before its client, and not from its own callbacks. */
struct tg_informer *tg_informer_new(struct tg_kube_client *client,
                                    const struct tg_informer_config *config);
void tg_informer_free(struct tg_informer *informer);
bool tg_informer_synced(const struct tg_informer *informer);
/* The store. namespace_ NULL for cluster scope. Valid until the next event; ref to keep. NULL if
 * absent. */
const struct tg_stored *tg_informer_get(const struct tg_informer *informer, const char *namespace_,
                                        const char *name);
size_t tg_informer_count(const struct tg_informer *informer);
/* In the order of first arrival; the store must not change meanwhile. Stops when visit returns
 * false. */
void tg_informer_each(const struct tg_informer *informer,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data);
/* The same for at most so many objects, from *place on (0: the first), which is moved on; the store
 * may change between two calls: objects that come meanwhile may not be visited, and none is visited
 * twice unless the store was filled anew. False: the end was reached. */
bool tg_informer_walk(const struct tg_informer *informer, size_t *place, size_t most,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data);
/* As each, for somebody who looks at one after the other: an object is valid during its visit only,
 * and none but it takes room. What tg_informer_get has lent stays. */
void tg_informer_scan(const struct tg_informer *informer,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data);
/* The same for one object; not called if it is absent. */
void tg_informer_peek(const struct tg_informer *informer, const char *namespace_, const char *name,
                      bool (*visit)(void *data, const struct tg_stored *stored), void *data);
/* Another hot_bytes from the next cool on, for an informer that was made with some. */
void tg_informer_keep_hot(struct tg_informer *informer, size_t hot_bytes);
/* Nobody uses any more what was lent by get, each and walk: what is over hot_bytes is packed. */
void tg_informer_cool(const struct tg_informer *informer);
/* The answer to a write of ours (the whole object as JSON): enters the store at once, as an event,
 * unless the store has a newer resourceVersion, or the object of that uid was deleted meanwhile. If
 * it does not decode, that is an error, and the store has it marked stale. */
int tg_informer_apply(struct tg_informer *informer, const char *json, size_t n,
                      struct tg_error *err);
const struct tg_kind *tg_informer_kind(const struct tg_informer *informer);

struct tg_informer_counters {
    uint64_t events, relists, reconnects, decode_errors;
};
struct tg_informer_counters tg_informer_counters(const struct tg_informer *informer);

#endif
