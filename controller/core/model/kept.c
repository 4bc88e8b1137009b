/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and taint rules: few, kept as copies of the objects, each with an arena of its own. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/class.h"
#include "controller/core/model/model.h"

/* Of the selectors of one class, which are refused when they need more. The copy of the object has
 * no budget: it is no larger than what the store of the informer admitted. */
#define BUDGET ((size_t)64 << 20)

static bool is_kept(const struct tg_record *record, const void *key)
{
    return strcmp(((const struct tg_kept *)record)->name, key) == 0;
}

static struct tg_kept *find(const struct tg_table *table, const char *name)
{
    return (struct tg_kept *)tg_table_find(table, tg_hash_text(TG_HASH_SEED, name), is_kept, name);
}

void tg_kept_free(struct tg_kept *kept)
{
    tg_arena_free(kept->arena); /* kept lies in it */
}

static void drop(struct tg_model *model, struct tg_table *table, const char *name)
{
    struct tg_kept *kept = find(table, name);

    if (kept == NULL)
        return;
    tg_table_remove(table, &kept->record);
    tg_kept_free(kept);
    model->kept_changed = true;
}

/* A copy in an arena of its own, in the table. */
static struct tg_kept *keep(struct tg_model *model, struct tg_table *table,
                            const struct tg_type *type, const void *object, const char *name)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_kept *kept = tg_arena_alloc(arena, sizeof(*kept));
    size_t n = tg_pack(type, object, NULL, NULL, 0);

    TG_VEC_RESERVE(&model->buffer, n);
    tg_pack(type, object, NULL, model->buffer.items, n);
    if (kept == NULL)
        abort(); /* as tg_xmalloc */
    kept->arena = arena;
    kept->object = tg_unpack(type, model->buffer.items, NULL, arena);
    if (kept->object == NULL)
        abort();
    kept->name = ((const struct tg_object *)kept->object)->metadata->name;
    kept->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, name);
    drop(model, table, name);
    tg_table_add(table, &kept->record);
    model->kept_changed = true;
    return kept;
}

static void free_arena(void *arena)
{
    tg_arena_free(arena);
}

void tg_class_put(struct tg_model *model, const struct tg_device_class *klass)
{
    struct tg_kept *kept =
        keep(model, &model->classes, &tg_device_class_type, klass, klass->metadata->name);

    struct tg_arena *selectors = tg_arena_new(BUDGET);

    if (tg_arena_on_reset(kept->arena, free_arena, selectors) != 0)
        abort();
    kept->klass = tg_class_read(kept->object, model->fleet->instance, &model->selectors,
                                kept->arena, selectors);
    if (kept->klass == NULL)
        abort();
    /* Memory may be there again the next time. */
    model->classes_retry =
        model->classes_retry || kept->klass->compile_code == -TG_RESOURCE_EXHAUSTED;
}

void tg_class_drop(struct tg_model *model, const char *name)
{
    drop(model, &model->classes, name);
}

void tg_classes_compile(struct tg_model *model)
{
    const struct tg_record *record;
    size_t n = 0;
    const void **objects = tg_xcalloc(model->classes.n + 1, sizeof(*objects));

    for (size_t at = 0; (record = tg_table_next(&model->classes, &at)) != NULL;)
        objects[n++] = ((const struct tg_kept *)record)->object;
    for (size_t i = 0; i < n; i++)
        tg_class_put(model, objects[i]);
    free(objects);
}

void tg_rule_put(struct tg_model *model, const struct tg_device_taint_rule *rule)
{
    keep(model, &model->rules, &tg_device_taint_rule_type, rule, rule->metadata->name);
}

void tg_rule_drop(struct tg_model *model, const char *name)
{
    drop(model, &model->rules, name);
}
