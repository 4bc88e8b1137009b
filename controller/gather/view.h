/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster as one pass sees it: pointers to API objects with look-up by name. Nothing is copied;
 * the objects outlive the view (the stores do not change during a pass). Tests fill it from JSON.
 * Of kinds with very many objects the lists may hold only what a pass has to look at (awake.h); the
 * others are found by name in the stores.
 */
#ifndef TG_CONTROLLER_GATHER_VIEW_H
#define TG_CONTROLLER_GATHER_VIEW_H

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/kinds.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/vec.h"
#include "api/tangram/gang.h"

enum tg_view_kind {
    TG_VIEW_POD,
    TG_VIEW_NODE,
    TG_VIEW_NAMESPACE,
    TG_VIEW_CLAIM,
    TG_VIEW_SLICE,
    TG_VIEW_CLASS,
    TG_VIEW_TAINT_RULE,
    TG_VIEW_GANG,
    /* In no view of the controller, which tells only the fleet of them. */
    TG_VIEW_VOLUME,
    TG_VIEW_VOLUME_CLAIM,
    TG_VIEW_STORAGE_CLASS,
    TG_VIEW_KINDS, /* how many there are */
};

struct tg_selector_options;
struct tg_checked;
struct tg_awake;
struct tg_view;

/* Where objects are that are in no list. */
struct tg_view_source {
    /* NULL: there is none. Valid until relax. */
    const void *(*find)(void *data, enum tg_view_kind kind, const char *namespace_,
                        const char *name);
    /* Visits one object, if it is there, or (name NULL) all of the kind. Valid during the visit. */
    void (*show)(void *data, enum tg_view_kind kind, const char *namespace_, const char *name,
                 void (*visit)(void *visitor, const void *object), void *visitor);
    /* What was found need not stay. */
    void (*relax)(void *data);
    void *data;
};

struct tg_view_list {
    const void **items;
    size_t n;
    size_t capacity;
};

struct tg_view {
    struct tg_view_list lists[TG_VIEW_KINDS];
    struct tg_map *by_key[TG_VIEW_KINDS];
    struct tg_map *unreadable[TG_VIEW_KINDS]; /* by the same key: why */
    /* What selectors are compiled for; NULL: the newest release. */
    const struct tg_selector_options *selectors;
    /* What is known of claims since the last look; NULL: nothing. */
    struct tg_checked *checked;
    /* NULL: everything is in the lists. */
    const struct tg_view_source *source;
    /* Knows claims by their markers; NULL: they are looked for in the list. */
    const struct tg_awake *awake;
};

void tg_view_init(struct tg_view *view);
void tg_view_done(struct tg_view *view);
/* Without the objects of that kind. */
void tg_view_clear(struct tg_view *view, enum tg_view_kind kind);
/* object begins with struct tg_object and has a name. */
void tg_view_add(struct tg_view *view, enum tg_view_kind kind, const void *object);
/* The server has a version of it that cannot be read; object (already added) is what is known:
 * an earlier version, or little more than its name. why outlives the view. */
void tg_view_add_unreadable(struct tg_view *view, enum tg_view_kind kind, const void *object,
                            const char *why);
/* Why the newest version of the object cannot be read; NULL if it can. */
const char *tg_view_unreadable(const struct tg_view *view, enum tg_view_kind kind,
                               const struct tg_object_meta *meta);
/* namespace_ NULL for cluster scope; NULL if absent. */
const void *tg_view_get(const struct tg_view *view, enum tg_view_kind kind, const char *namespace_,
                        const char *name);

/* Visits the object of that name, or (name NULL) all of the kind, one after the other: valid during
 * the visit only, if it is in no list. */
void tg_view_show(const struct tg_view *view, enum tg_view_kind kind, const char *namespace_,
                  const char *name, void (*visit)(void *data, const void *object), void *data);

const struct tg_pod *tg_view_pod(const struct tg_view *view, const char *namespace_,
                                 const char *name);
const struct tg_resource_claim *tg_view_claim(const struct tg_view *view, const char *namespace_,
                                              const char *name);
bool tg_view_namespace_terminating(const struct tg_view *view, const char *namespace_);

#endif
