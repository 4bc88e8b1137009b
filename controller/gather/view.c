/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/view.h"

#include <stdio.h>

#include "api/runtime/base/str.h"

#define KEY_MAX 512 /* namespace 63, name 253 */

void tg_view_init(struct tg_view *view)
{
    *view = (struct tg_view){0};
    for (size_t i = 0; i < TG_VIEW_KINDS; i++) {
        view->by_key[i] = tg_map_new(NULL);
        view->unreadable[i] = tg_map_new(NULL);
    }
}

void tg_view_done(struct tg_view *view)
{
    for (size_t i = 0; i < TG_VIEW_KINDS; i++) {
        tg_map_free(view->by_key[i]);
        tg_map_free(view->unreadable[i]);
        TG_VEC_DONE(&view->lists[i]);
    }
}

void tg_view_clear(struct tg_view *view, enum tg_view_kind kind)
{
    tg_map_clear(view->by_key[kind]);
    tg_map_clear(view->unreadable[kind]);
    TG_VEC_CLEAR(&view->lists[kind]);
}

static const char *key_of(char out[KEY_MAX], const char *namespace_, const char *name)
{
    snprintf(out, KEY_MAX, "%s/%s", tg_or(namespace_, ""), name);
    return out;
}

void tg_view_add(struct tg_view *view, enum tg_view_kind kind, const void *object)
{
    const struct tg_object_meta *meta = ((const struct tg_object *)object)->metadata;
    char key[KEY_MAX];

    *TG_VEC_PUSH(&view->lists[kind]) = object;
    /* The map hands out what it was given; nobody writes through it. */
    tg_map_set(view->by_key[kind], key_of(key, meta->namespace_, meta->name),
               (void *)(uintptr_t)object);
}

void tg_view_add_unreadable(struct tg_view *view, enum tg_view_kind kind, const void *object,
                            const char *why)
{
    const struct tg_object_meta *meta = ((const struct tg_object *)object)->metadata;
    char key[KEY_MAX];

    tg_map_set(view->unreadable[kind], key_of(key, meta->namespace_, meta->name),
               (void *)(uintptr_t)why);
}

const char *tg_view_unreadable(const struct tg_view *view, enum tg_view_kind kind,
                               const struct tg_object_meta *meta)
{
    char key[KEY_MAX];

    if (tg_map_count(view->unreadable[kind]) == 0)
        return NULL;
    return tg_map_get(view->unreadable[kind], key_of(key, meta->namespace_, meta->name));
}

const void *tg_view_get(const struct tg_view *view, enum tg_view_kind kind, const char *namespace_,
                        const char *name)
{
    char key[KEY_MAX];
    const void *object;

    if (name == NULL)
        return NULL;
    object = tg_map_get(view->by_key[kind], key_of(key, namespace_, name));
    if (object == NULL && view->source != NULL)
        object = view->source->find(view->source->data, kind, namespace_, name);
    return object;
}

void tg_view_show(const struct tg_view *view, enum tg_view_kind kind, const char *namespace_,
                  const char *name, void (*visit)(void *data, const void *object), void *data)
{
    const struct tg_view_list *list = &view->lists[kind];
    const void *object;

    if (view->source != NULL) {
        view->source->show(view->source->data, kind, namespace_, name, visit, data);
        return;
    }
    if (name == NULL) {
        for (size_t i = 0; i < list->n; i++)
            visit(data, list->items[i]);
        return;
    }
    object = tg_view_get(view, kind, namespace_, name);
    if (object != NULL)
        visit(data, object);
}

const struct tg_pod *tg_view_pod(const struct tg_view *view, const char *namespace_,
                                 const char *name)
{
    return tg_view_get(view, TG_VIEW_POD, namespace_, name);
}

const struct tg_resource_claim *tg_view_claim(const struct tg_view *view, const char *namespace_,
                                              const char *name)
{
    return tg_view_get(view, TG_VIEW_CLAIM, namespace_, name);
}

bool tg_view_namespace_terminating(const struct tg_view *view, const char *namespace_)
{
    const struct tg_namespace *ns = tg_view_get(view, TG_VIEW_NAMESPACE, NULL, namespace_);

    return ns != NULL && ns->metadata->deletion_timestamp != NULL;
}
