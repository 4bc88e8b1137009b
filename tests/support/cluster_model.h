/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server for the controller's tests, in memory: objects as JSON, writes with the rules of
 * the real server (reference of each rule at its function), and a cache that sees changes late, as
 * an informer does. No network, no time of its own. It plays the kinds of enum tg_view_kind.
 *
 * Refused are: stale resourceVersion or another uid (409), a changed allocation, reservations
 * without an allocation, malformed results (422), added gates, loosened affinity, any other change
 * of a pod's spec, a changed Gang spec, a finalizer added to an object that is being deleted. A
 * status write changes status alone, any other write everything but status. A write that changes
 * nothing does not count. Not played: admission, RBAC, managed fields, quotas.
 */
#ifndef TG_TESTS_SUPPORT_CLUSTER_MODEL_H
#define TG_TESTS_SUPPORT_CLUSTER_MODEL_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/vec.h"
#include "controller/commit/commit.h"
#include "tests/support/json_edit.h"

/* One state of one object; never changed, lives as long as the cluster. */
struct tg_snapshot {
    enum tg_view_kind kind;
    const char *key, *namespace_, *name, *uid; /* key: as in gather/view.h */
    uint64_t version;                          /* resourceVersion */
    bool gone;                                 /* the object was removed with this change */
    const char *text;
    struct tg_json *tree; /* not to be changed: parse text for a copy */
    const struct tg_object *object;
};

struct tg_cluster;

/* What a change means to somebody who watches: see tg_cluster_observe. */
struct tg_cluster_observer {
    void *data;
    /* On the server, at once. write: NULL if not the controller did it. before: NULL for creation.
     */
    void (*on_change)(void *data, const struct tg_write *write, const struct tg_snapshot *before,
                      const struct tg_snapshot *after);
    /* In the cache, when it gets there. before or after may be NULL. */
    void (*on_seen)(void *data, const struct tg_snapshot *before, const struct tg_snapshot *after);
};

struct tg_cluster *tg_cluster_new(void);
void tg_cluster_free(struct tg_cluster *cluster);
void tg_cluster_observe(struct tg_cluster *cluster, const struct tg_cluster_observer *observer);

/* --- others: no preconditions, no rules ------------------------------------------------------ */

/* A printf of JSON, ' for ". uid, resourceVersion and creationTimestamp are set if absent. */
const struct tg_snapshot *tg_cluster_create(struct tg_cluster *cluster, enum tg_view_kind kind,
                                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Merge patch of the whole object, printf of JSON with ' for ". */
const struct tg_snapshot *tg_cluster_change(struct tg_cluster *cluster, enum tg_view_kind kind,
                                            const char *namespace_, const char *name,
                                            const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* DELETE: a deletionTimestamp while there are finalizers; no error if it is absent. */
void tg_cluster_delete(struct tg_cluster *cluster, enum tg_view_kind kind, const char *namespace_,
                       const char *name);

/* NULL if absent. */
const struct tg_snapshot *tg_cluster_get(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                         const char *namespace_, const char *name);
/* The i-th object of the kind in the order of creation, NULL beyond the last. */
const struct tg_snapshot *tg_cluster_nth(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                         size_t i);

/* --- the controller's writes ----------------------------------------------------------------- */

enum tg_cluster_step { TG_CLUSTER_METADATA, TG_CLUSTER_WRITE }; /* METADATA: of a claim */

/* 0 or the code that the client makes of the answer: ABORTED, NOT_FOUND, ALREADY_EXISTS,
 * INVALID_ARGUMENT, and why. resource_version replaces that of an allocation after its metadata. */
int tg_cluster_write(struct tg_cluster *cluster, const struct tg_write *write,
                     enum tg_cluster_step step, const char *resource_version,
                     const struct tg_snapshot **ret, struct tg_error *err);
/* Writes without a precondition so far: the real server would take them; nobody should send one. */
size_t tg_cluster_unconditional(const struct tg_cluster *cluster);

/* --- the cache ------------------------------------------------------------------------------- */

/* Lets the watch of one kind deliver its next change; false if there is none. */
bool tg_cluster_deliver_one(struct tg_cluster *cluster, enum tg_view_kind kind);
void tg_cluster_deliver(struct tg_cluster *cluster);
/* A new list of everything, as after a start. No on_seen. */
void tg_cluster_relist(struct tg_cluster *cluster);
/* What a write or a read returned enters the cache. */
void tg_cluster_see(struct tg_cluster *cluster, const struct tg_snapshot *snapshot);
/* The object as the cache holds it; NULL if it does not. */
const struct tg_snapshot *tg_cluster_seen(const struct tg_cluster *cluster, enum tg_view_kind kind,
                                          const char *namespace_, const char *name);
/* The cache as a view; rotate: with which object of each kind to begin (order must not matter). */
void tg_cluster_fill_view(const struct tg_cluster *cluster, size_t rotate, struct tg_view *view);

#endif
