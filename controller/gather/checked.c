/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/checked.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/cel/selector.h"

struct tg_checked {
    struct tg_map *now, *before; /* by UID: what this look has asked about, and the last one */
    uint64_t classes;
};

struct tg_checked *tg_checked_new(void)
{
    struct tg_checked *checked = tg_xcalloc(1, sizeof(*checked));

    checked->now = tg_map_new(NULL);
    checked->before = tg_map_new(NULL);
    return checked;
}

void tg_checked_free(struct tg_checked *checked)
{
    if (checked == NULL)
        return;
    tg_map_free(checked->now);
    tg_map_free(checked->before);
    free(checked);
}

static uint64_t hash_text(const char *text)
{
    return tg_hash64(tg_or(text, ""), strlen(tg_or(text, "")) + 1);
}

/* In whatever order: versions are of the whole server. */
static uint64_t hash_classes(const struct tg_view *view)
{
    const struct tg_view_list *classes = &view->lists[TG_VIEW_CLASS];
    uint64_t hash = view->selectors == NULL ? 0 : view->selectors->minor;

    for (size_t i = 0; i < classes->n; i++) {
        const struct tg_device_class *klass = classes->items[i];

        hash +=
            hash_text(klass->metadata->uid) ^ (hash_text(klass->metadata->resource_version) * 3);
    }
    return hash;
}

void tg_checked_begin(struct tg_checked *checked, const struct tg_view *view)
{
    uint64_t classes = hash_classes(view);
    struct tg_map *last = checked->now;

    checked->now = checked->before;
    checked->before = last;
    tg_map_clear(checked->now);
    if (classes != checked->classes)
        tg_map_clear(checked->before);
    checked->classes = classes;
}

void tg_checked_note(struct tg_checked *checked, const struct tg_resource_claim *claim)
{
    if (claim->metadata->uid != NULL)
        tg_map_set(checked->now, claim->metadata->uid, checked);
}

bool tg_checked_knows(struct tg_checked *checked, const struct tg_resource_claim *claim)
{
    const char *uid = claim->metadata->uid;

    if (uid == NULL)
        return false;
    if (tg_map_has(checked->now, uid))
        return true;
    if (!tg_map_has(checked->before, uid))
        return false;
    tg_checked_note(checked, claim);
    return true;
}
