/* SPDX-License-Identifier: Apache-2.0 */
/* Device classes: whose they are, and their selectors compiled once a fleet. */
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/view.h"

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

static int refuse(struct tg_fleet_class *row, const struct tg_error *cause, struct tg_arena *arena,
                  struct tg_error *err)
{
    row->compile_code = -(int)cause->code;
    row->compile_error = tg_arena_strdup(arena, cause->message);
    return row->compile_error == NULL || cause->code == TG_RESOURCE_EXHAUSTED
               ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                              "the decision needs more memory than its budget")
               : 0;
}

static int compile_class(struct tg_fleet_class *row, const struct tg_selector_options *options,
                         struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_device_class_spec *spec = row->object->spec;
    int rc =
        tg_core_alloc(arena, spec->selectors.n, sizeof(struct tg_selector *), &row->selectors, err);

    for (size_t i = 0; rc == 0 && row->compile_code == 0 && i < spec->selectors.n; i++) {
        const struct tg_cel_selector *cel = spec->selectors.items[i].cel;
        struct tg_error cause = TG_ERROR_INIT;

        if (cel == NULL || cel->expression == NULL)
            tg_error_set(&cause, TG_UNIMPLEMENTED,
                         "a selector of a kind that this version does not know");
        else
            tg_selector_compile_with(cel->expression, options, arena, &row->selectors[i], &cause);
        if (cause.code != TG_OK)
            rc = refuse(row, &cause, arena, err);
        else
            row->n_selectors++;
    }
    return rc;
}

static int compare_classes(const void *pa, const void *pb, const void *context)
{
    const struct tg_device_class *a = *(const struct tg_device_class *const *)pa;
    const struct tg_device_class *b = *(const struct tg_device_class *const *)pb;

    (void)context;
    return tg_strcmp(a->metadata->name, b->metadata->name);
}

int tg_fleet_add_classes(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                         struct tg_arena *arena, struct tg_error *err)
{
    const void **order;
    size_t n = 0;
    int rc = tg_core_alloc(arena, input->n_classes, sizeof(*order), &order, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, input->n_classes, sizeof(*fleet->classes), &fleet->classes, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < input->n_classes; i++) {
        if (input->classes[i]->metadata != NULL && input->classes[i]->metadata->name != NULL)
            order[n++] = &input->classes[i];
    }
    rc = tg_core_sort(order, n, compare_classes, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tg_device_class *klass = *(const struct tg_device_class *const *)order[i];
        struct tg_fleet_class *row = &fleet->classes[fleet->n_classes++];

        *row = (struct tg_fleet_class){.object = klass,
                                       .name = klass->metadata->name,
                                       .kind = tg_class_kind(klass, fleet->instance)};
        if (row->kind == TG_CLASS_MANAGED)
            rc = compile_class(row, fleet->selectors, arena, err);
    }
    return rc;
}
