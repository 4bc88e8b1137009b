/* SPDX-License-Identifier: Apache-2.0 */
/* Seen inside this folder and by its tests only. */
#ifndef TG_KUBERNETES_CLIENT_INTERNAL_H
#define TG_KUBERNETES_CLIENT_INTERNAL_H

#include "api/kubernetes/client/client.h"
#include "api/kubernetes/client/index.h"
#include "api/kubernetes/client/informer.h"
#include "api/kubernetes/client/lease.h"

/* What an answer that is no 2xx means: code, reason and message of its Status body. what: "GET
 * /api/v1/pods". */
void tg_kube_error_from_answer(const struct tg_rest_response *response, const char *what,
                               struct tg_error *ret);
/* What a failed transport means for a caller: everything that may have happened is TG_UNAVAILABLE.
 */
void tg_kube_error_from_transport(const struct tg_error *cause, struct tg_error *ret);
/* Generation of the credentials that the next request carries, and what to do when the server
 * refuses them: as in credentials.h. */
unsigned tg_kube_client_credentials(const struct tg_kube_client *client);
bool tg_kube_client_refused(struct tg_kube_client *client, unsigned credentials);

/* Growing delays with jitter, for one thing that is tried again and again. */
struct tg_backoff {
    int64_t first, most; /* ns */
    unsigned failures;
};
/* first * 2^failures, at most `most`, plus up to as much again by chance; counts the failure. */
int64_t tg_backoff_next(struct tg_backoff *backoff);
void tg_backoff_reset(struct tg_backoff *backoff);
/* low..high (inclusive), by chance: spreads timers of many processes, decides nothing. */
int64_t tg_backoff_spread(int64_t low, int64_t high);

enum { TG_STORE_KEY = 576 }; /* a namespace of 63, a name of 253, and room to be generous */

/* The objects of one kind. Changes are told by on_change when the map already holds what is after.
 * Callbacks may read the store and put answers into it. */
struct tg_store {
    const struct tg_kind *kind;
    size_t max_object;
    const struct tg_type *const *salvage; /* as in tg_informer_config */
    struct tg_pool *pool;
    struct tg_index *objects;
    size_t hot;        /* bytes of objects that are kept as structs */
    uint64_t position; /* everything up to this resourceVersion was seen */
    uint64_t highest;  /* of any object that was seen, answers to our writes included */
    void (*on_change)(void *data, const struct tg_stored *before, const struct tg_stored *after);
    void *data;
};
void tg_store_init(struct tg_store *store, const struct tg_kind *kind, size_t max_object);
/* Only so many bytes of objects are kept as structs (tg_index_new), at first all. Before the first
 * object. */
void tg_store_keep_hot(struct tg_store *store, size_t bytes);
/* For the objects of a list in the making. */
struct tg_index *tg_store_new_list(const struct tg_store *store);
void tg_store_done(struct tg_store *store);
/* A new object (one reference) from its JSON. */
int tg_store_decode(const struct tg_store *store, const char *json, size_t n,
                    struct tg_stored **ret, struct tg_error *err);
/* An object as the watch shows it; the reference is taken over. False and no event if it is not
 * newer than what is there. */
bool tg_store_put(struct tg_store *store, struct tg_stored *stored);
/* The same with an object as an answer to a write shows it: also ignored if it was deleted since.
 */
bool tg_store_put_answer(struct tg_store *store, struct tg_stored *stored);
/* False if it was not there, or is newer than the deletion. */
bool tg_store_delete(struct tg_store *store, const char *key, uint64_t version);
/* Adds an object (one reference) to a list in the making. Where all objects are kept as structs,
 * one that the store has already is not held twice; of packed ones the second copy is small. */
void tg_store_list(struct tg_store *store, struct tg_index *list, struct tg_stored *stored);
/* Makes the store equal to a complete list of that version, but for what is known to be newer; the
 * list is empty afterwards, and still to be freed. highest_before: store->highest when the list was
 * begun. */
void tg_store_replace(struct tg_store *store, struct tg_index *list, uint64_t version,
                      uint64_t highest_before);
/* Which object a text is about although it cannot be decoded. */
struct tg_store_identity {
    char name[256], namespace_[256], uid[128], version[64];
    char key[TG_STORE_KEY];
    struct tg_object_meta meta; /* points to the above */
};
int tg_store_identify(const struct tg_store *store, const char *json, size_t n,
                      struct tg_store_identity *ret, struct tg_error *err);
/* What is to be kept of it (one reference), given what the store holds of that object now. why: the
 * error, for tg_stored.stale. */
struct tg_stored *tg_store_unreadable(const struct tg_store *store, const char *json, size_t n,
                                      const struct tg_store_identity *identity, const char *why);
/* "namespace/name", or "name" for NULL; false if it does not fit. */
bool tg_store_key(const char *namespace_, const char *name, char out[TG_STORE_KEY]);

/* One step of the elector with the clock as it is; the timer calls it, and tests after moving their
 * clock. */
void tg_elector_tick(struct tg_elector *elector);
struct tg_events;
void tg_events_pump(struct tg_events *events);

#endif
