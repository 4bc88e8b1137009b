/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/awake.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/gather/grant.h"
#include "controller/gather/names.h"
#include "controller/gather/source.h"

#define SCRATCH ((size_t)1 << 20)
#define AT_ONCE 500 /* pods that are looked at before the source may relax */

struct tg_awake {
    struct tg_names pods;  /* "namespace/name" of those that are not known to rest */
    struct tg_map *marked; /* UID of a gang or pod -> its struct claims */
};

/* Claims that were written for one gang or pod, mostly one: "namespace/name", each with its end. A
 * map of them would weigh more than all else that is known of the claim. */
struct claims {
    uint32_t n, size;
    char text[];
};

struct tg_awake *tg_awake_new(void)
{
    struct tg_awake *awake = tg_xcalloc(1, sizeof(*awake));

    awake->marked = tg_map_new(free);
    return awake;
}

void tg_awake_free(struct tg_awake *awake)
{
    if (awake == NULL)
        return;
    tg_names_done(&awake->pods);
    tg_map_free(awake->marked);
    free(awake);
}

size_t tg_awake_count(const struct tg_awake *awake)
{
    return awake->pods.n;
}

static void wake(struct tg_awake *awake, const char *namespace_, const char *name)
{
    TG_AUTOFREE char *key = tg_xasprintf("%s/%s", tg_or(namespace_, ""), name);

    tg_names_add(&awake->pods, key);
}

static void forget(struct tg_awake *awake, const struct tg_object_meta *meta)
{
    TG_AUTOFREE char *key = tg_xasprintf("%s/%s", tg_or(meta->namespace_, ""), meta->name);

    tg_names_remove(&awake->pods, key);
}

/* --- pods ------------------------------------------------------------------------------------ */

void tg_awake_pod_changed(struct tg_awake *awake, const struct tg_pod *before,
                          const struct tg_pod *after)
{
    if (after != NULL && tg_pod_gathered(after))
        wake(awake, after->metadata->namespace_, after->metadata->name);
    else
        forget(awake, (after != NULL ? after : before)->metadata);
}

static bool is_reserved_for(const struct tg_resource_claim *claim, const char *uid)
{
    for (size_t i = 0; claim->status != NULL && i < claim->status->reserved_for.n; i++)
        if (tg_streq(claim->status->reserved_for.items[i].uid, uid))
            return true;
    return false;
}

/* On its node, each of its claims is there and reserved for it (so a claim that changes says whom
 * to wake), and none makes it a member of a gang: gathering makes nothing of it. */
static bool rests(const struct tg_view *view, const struct tg_pod *pod, struct tg_arena *arena)
{
    size_t n = pod->spec->resource_claims.n;
    const struct tg_resource_claim **claims;
    struct tg_membership membership;
    struct tg_error err = TG_ERROR_INIT;

    if (pod->spec->node_name == NULL)
        return false;
    tg_arena_reset(arena);
    claims = tg_arena_alloc_array(arena, n, sizeof(const void *));
    for (size_t i = 0; claims != NULL && i < n; i++) {
        claims[i] = tg_view_claim(view, pod->metadata->namespace_,
                                  tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]));
        if (claims[i] == NULL || !is_reserved_for(claims[i], pod->metadata->uid))
            return false;
    }
    return claims != NULL && tg_membership_of(pod, claims, n, arena, &membership, &err) == 0 &&
           membership.gang == NULL && membership.problem.reason == NULL;
}

static const struct tg_pod *find(const struct tg_view *view, const char *key)
{
    const char *slash = strchr(key, '/');
    TG_AUTOFREE char *namespace_ = tg_xstrndup(key, (size_t)(slash - key));

    return tg_view_pod(view, namespace_, slash + 1);
}

static void relax(const struct tg_view *view)
{
    if (view->source != NULL)
        view->source->relax(view->source->data);
}

/* Some at a time: at the start it is everybody with a claim. */
static void put_to_rest(struct tg_awake *awake, const struct tg_view *view)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(SCRATCH);
    size_t looked = 0, at = 0;
    const char *key;

    while ((key = tg_names_next(&awake->pods, &at)) != NULL) {
        const struct tg_pod *pod = find(view, key);

        if (pod == NULL || !tg_pod_gathered(pod) || rests(view, pod, arena))
            tg_names_remove(&awake->pods, key);
        if (++looked % AT_ONCE == 0)
            relax(view);
    }
    tg_names_tidy(&awake->pods);
    relax(view);
}

void tg_awake_fill(struct tg_awake *awake, struct tg_view *view)
{
    const char *key;
    size_t at = 0;

    put_to_rest(awake, view);
    while ((key = tg_names_next(&awake->pods, &at)) != NULL)
        tg_view_add(view, TG_VIEW_POD, find(view, key));
}

/* --- claims ---------------------------------------------------------------------------------- */

static bool same_object(const struct tg_resource_claim *a, const struct tg_resource_claim *b)
{
    return b != NULL && tg_streq(a->metadata->uid, b->metadata->uid);
}

/* Those for whom it was and is not any more. */
static void wake_users(struct tg_awake *awake, const struct tg_resource_claim *before,
                       const struct tg_resource_claim *after)
{
    for (size_t i = 0; before->status != NULL && i < before->status->reserved_for.n; i++) {
        const struct tg_consumer_reference *user = &before->status->reserved_for.items[i];

        if (user->name != NULL &&
            (!same_object(before, after) || !is_reserved_for(after, user->uid)))
            wake(awake, before->metadata->namespace_, user->name);
    }
}

/* "": it has no marker, or one that names nobody. */
static const char *marked_for(const struct tg_resource_claim *claim, struct tg_arena *arena)
{
    struct tg_plan_marker marker;

    return claim != NULL && tg_claim_marker(claim, arena, &marker)
               ? tg_arena_strdup(arena, marker.gang_uid)
               : "";
}

static char *key_of(const struct tg_object_meta *meta)
{
    return tg_xasprintf("%s/%s", tg_or(meta->namespace_, ""), meta->name);
}

/* NULL: it is not among them. */
static char *find_name(struct claims *claims, const char *name)
{
    char *at = claims == NULL ? NULL : claims->text;

    for (uint32_t i = 0; claims != NULL && i < claims->n; i++, at += strlen(at) + 1) {
        if (strcmp(at, name) == 0)
            return at;
    }
    return NULL;
}

static void unmark(struct tg_awake *awake, const char *uid, const struct tg_object_meta *meta)
{
    struct claims *claims = tg_map_get(awake->marked, uid);
    TG_AUTOFREE char *name = key_of(meta);
    char *at = find_name(claims, name);
    size_t n = strlen(name) + 1;

    if (at == NULL)
        return;
    memmove(at, at + n, claims->size - n - (size_t)(at - claims->text));
    claims->size -= (uint32_t)n;
    if (--claims->n == 0)
        tg_map_remove(awake->marked, uid);
}

static void mark(struct tg_awake *awake, const char *uid, const struct tg_object_meta *meta)
{
    struct claims *claims = tg_map_get(awake->marked, uid);
    TG_AUTOFREE char *name = key_of(meta);
    size_t n = strlen(name) + 1, size = claims == NULL ? 0 : claims->size;
    uint32_t count = claims == NULL ? 0 : claims->n;

    if (find_name(claims, name) != NULL)
        return;
    claims = tg_xrealloc(tg_map_take(awake->marked, uid), sizeof(*claims) + size + n);
    claims->n = count + 1;
    claims->size = (uint32_t)(size + n);
    memcpy(claims->text + size, name, n);
    tg_map_set(awake->marked, uid, claims);
}

void tg_awake_claim_changed(struct tg_awake *awake, const struct tg_resource_claim *before,
                            const struct tg_resource_claim *after)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(SCRATCH);
    const char *was = tg_or(marked_for(before, arena), ""),
               *is = tg_or(marked_for(after, arena), "");

    if (before != NULL)
        wake_users(awake, before, after);
    if (tg_streq(was, is))
        return;
    if (was[0] != '\0')
        unmark(awake, was, before->metadata);
    if (is[0] != '\0')
        mark(awake, is, after->metadata);
}

static int compare_names(const void *a, const void *b)
{
    const struct tg_resource_claim *const *x = a, *const *y = b;
    int r = tg_strcmp((*x)->metadata->namespace_, (*y)->metadata->namespace_);

    return r != 0 ? r : tg_strcmp((*x)->metadata->name, (*y)->metadata->name);
}

int tg_awake_marked(const struct tg_view *view, const char *uid, struct tg_arena *arena,
                    struct tg_view_list *ret)
{
    const struct claims *claims;
    const char *at;

    *ret = view->lists[TG_VIEW_CLAIM];
    if (view->awake == NULL)
        return 0;
    *ret = (struct tg_view_list){0};
    claims = uid == NULL ? NULL : tg_map_get(view->awake->marked, uid);
    if (claims == NULL)
        return 0;
    ret->items = tg_arena_alloc_array(arena, claims->n, sizeof(const void *));
    if (ret->items == NULL)
        return -TG_RESOURCE_EXHAUSTED;
    at = claims->text;
    for (uint32_t i = 0; i < claims->n; i++, at += strlen(at) + 1) {
        const char *slash = strchr(at, '/');
        TG_AUTOFREE char *namespace_ = tg_xstrndup(at, (size_t)(slash - at));
        const struct tg_resource_claim *claim = tg_view_claim(view, namespace_, slash + 1);

        if (claim != NULL)
            ret->items[ret->n++] = claim;
    }
    qsort(ret->items, ret->n, sizeof(const void *), compare_names);
    return 0;
}
