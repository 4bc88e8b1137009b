/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/class.h"

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"

static bool guarded(const struct tg_device_class *klass)
{
    for (size_t i = 0; klass->spec != NULL && i < klass->spec->selectors.n; i++) {
        const struct tg_cel_selector *cel = klass->spec->selectors.items[i].cel;

        if (cel != NULL && tg_streq(cel->expression, TG_GUARD_EXPRESSION))
            return true;
    }
    return false;
}

enum tg_class_kind tg_class_kind(const struct tg_device_class *klass, const char *instance)
{
    const char *controller =
        klass->metadata == NULL ? NULL : tg_meta_label(klass->metadata, TG_LABEL_CONTROLLER);

    if (controller == NULL)
        return TG_CLASS_UNMANAGED;
    if (!tg_streq(controller, instance))
        return TG_CLASS_OTHER_INSTANCE;
    return guarded(klass) ? TG_CLASS_MANAGED : TG_CLASS_UNGUARDED;
}

static void refuse(struct tg_fleet_class *row, const struct tg_error *cause, struct tg_arena *arena)
{
    const char *text = tg_arena_strdup(arena, cause->message);

    row->compile_code = -(int)cause->code;
    row->compile_error = text == NULL ? "its selectors need more memory than they may" : text;
}

static void compile(struct tg_fleet_class *row, const struct tg_selector_options *options,
                    struct tg_arena *arena)
{
    const struct tg_device_class_spec *spec = row->object->spec;
    struct tg_error cause = TG_ERROR_INIT;

    row->selectors = tg_arena_alloc_array(arena, spec->selectors.n, sizeof(struct tg_selector *));
    if (row->selectors == NULL)
        tg_error_set(&cause, TG_RESOURCE_EXHAUSTED, "too many selectors");
    for (size_t i = 0; cause.code == TG_OK && i < spec->selectors.n; i++) {
        const struct tg_cel_selector *cel = spec->selectors.items[i].cel;

        if (cel == NULL || cel->expression == NULL)
            tg_error_set(&cause, TG_UNIMPLEMENTED,
                         "a selector of a kind that this version does not know");
        else
            tg_selector_compile_with(cel->expression, options, arena, &row->selectors[i], &cause);
        row->n_selectors += cause.code == TG_OK ? 1 : 0;
    }
    if (cause.code != TG_OK)
        refuse(row, &cause, arena);
}

struct tg_fleet_class *tg_class_read(const struct tg_device_class *klass, const char *instance,
                                     const struct tg_selector_options *options,
                                     struct tg_arena *arena, struct tg_arena *selectors)
{
    struct tg_fleet_class *row = tg_arena_alloc(arena, sizeof(*row));

    if (row == NULL)
        return NULL;
    *row = (struct tg_fleet_class){
        .object = klass, .name = klass->metadata->name, .kind = tg_class_kind(klass, instance)};
    if (row->kind == TG_CLASS_MANAGED)
        compile(row, options, selectors);
    return row;
}
