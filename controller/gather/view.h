/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster as one pass sees it: pointers to API objects with look-up by name. Nothing is copied;
 * the objects outlive the view (the stores do not change during a pass). Tests fill it from JSON.
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
    TG_VIEW_KINDS, /* how many there are */
};

struct tg_selector_options;
struct tg_checked;

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

const struct tg_pod *tg_view_pod(const struct tg_view *view, const char *namespace_,
                                 const char *name);
const struct tg_resource_claim *tg_view_claim(const struct tg_view *view, const char *namespace_,
                                              const char *name);
bool tg_view_namespace_terminating(const struct tg_view *view, const char *namespace_);

#endif
