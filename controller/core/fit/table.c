/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/table.h"

#include "api/kubernetes/values/semver.h"
#include "controller/core/fit/capacity.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

enum result { RESULT_UNKNOWN, RESULT_YES, RESULT_NO, RESULT_ERROR };
enum soundness { SOUND_UNKNOWN, SOUND_YES, SOUND_NO_VALUE, SOUND_NO_VERSION };

int tg_fit_table_init(struct tg_fit_table *table, const struct tg_fit_book *book,
                      const struct tg_view *view, struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    *table = (struct tg_fit_table){.book = book, .view = view, .arena = arena};
    rc = tg_core_alloc(arena, book->n_wants * view->n_devices, 1, &table->cells, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, book->n_selectors * view->n_devices, 1, &table->results, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_devices, 1, &table->sound, err);
    return rc < 0 ? rc : tg_core_alloc(arena, book->n_wants, sizeof(*table->all), &table->all, err);
}

bool tg_fit_shareable(const struct tg_view *view, size_t device)
{
    const struct tg_opt_bool *multiple = &view->devices[device].object->allow_multiple_allocations;

    return tg_rules_have(&view->rules, TG_FEATURE_CONSUMABLE_CAPACITY) && multiple->set &&
           multiple->value;
}

bool tg_fit_in_use_shared(const struct tg_view *view, size_t device)
{
    const struct tg_view_device *d = &view->devices[device];
    bool used = d->shares > 0;

    for (size_t i = 0; i < d->n_capacity; i++)
        used = used || d->capacity[i].used > 0;
    return used && tg_fit_shareable(view, device);
}

static bool has_list(const struct tg_device_attribute *a)
{
    return a->bools != NULL || a->ints != NULL || a->strings.n > 0 || a->versions.n > 0;
}

/* The built-in allocator hands all attributes of a device to an expression: one without a value
 * that it knows is an error for each. Lists are known from 37 on, or with their gate. */
static enum soundness soundness_of(const struct tg_view *view, const struct tg_device *device)
{
    bool lists =
        view->rules.release >= 37 || tg_rules_have(&view->rules, TG_FEATURE_LIST_TYPE_ATTRIBUTES);

    for (size_t i = 0; i < device->attributes.n; i++) {
        const struct tg_device_attribute *a = &device->attributes.items[i].value;
        struct tg_semver version;

        if (a->version != NULL && tg_semver_parse(a->version, &version, NULL) < 0)
            return SOUND_NO_VERSION;
        if (a->version == NULL && a->string == NULL && !a->int_.set && !a->bool_.set &&
            !(lists && has_list(a)))
            return SOUND_NO_VALUE;
    }
    return SOUND_YES;
}

static enum soundness soundness(struct tg_fit_table *table, size_t device)
{
    unsigned char *sound = &table->sound[device];

    if (*sound == SOUND_UNKNOWN)
        *sound = (unsigned char)soundness_of(table->view, table->view->devices[device].object);
    return (enum soundness) * sound;
}

static enum result selector_result(struct tg_fit_table *table, size_t selector, size_t device)
{
    unsigned char *cell = &table->results[selector * table->view->n_devices + device];
    const struct tg_fit_selector *s = &table->book->selectors[selector];
    const struct tg_view_device *d = &table->view->devices[device];
    bool match = false;

    if (*cell != RESULT_UNKNOWN)
        return (enum result) * cell;
    if (s->compiled == NULL || soundness(table, device) != SOUND_YES ||
        tg_selector_matches(s->compiled, d->driver, d->object, &match, NULL) < 0)
        *cell = RESULT_ERROR;
    else
        *cell = match ? RESULT_YES : RESULT_NO;
    return (enum result) * cell;
}

/* Class, then request, and then whether the device is for this node: in this order, each only if
 * the one before said yes. */
static enum result selectable(struct tg_fit_table *table, const struct tg_fit_want *want,
                              size_t device)
{
    const struct tg_view_device *d = &table->view->devices[device];

    if (d->bindings && !tg_rules_have(&table->view->rules, TG_FEATURE_DEVICE_BINDING_AND_STATUS))
        return RESULT_NO;
    for (size_t i = 0; i < want->n_selectors; i++) {
        enum result result = selector_result(table, want->selectors[i], device);

        if (result != RESULT_YES)
            return result;
    }
    return d->reach == TG_REACH_NONE ? RESULT_NO : RESULT_YES;
}

/* Is it somebody's already, as far as this want is concerned? A device that is no longer shared but
 * has shares is: here we are stricter than the built-in allocator, which looks at capacity only. */
static bool in_use(const struct tg_fit_table *table, const struct tg_fit_want *want, size_t device)
{
    const struct tg_view_device *d = &table->view->devices[device];

    if (d->barred != NULL)
        return true;
    if (want->admin)
        return false;
    return d->taken || (d->shares > 0 && !tg_fit_shareable(table->view, device));
}

/* A counter of its scope that is overdrawn already keeps every device with counters away. */
static bool counters_overdrawn(const struct tg_view *view, const struct tg_view_device *d)
{
    for (size_t i = 0; i < d->n_counters; i++) {
        if (view->counters[d->first_counter + i].left < 0)
            return true;
    }
    return false;
}

static bool counters_refuse(const struct tg_fit_table *table, size_t device)
{
    const struct tg_view *view = table->view;
    const struct tg_view_device *d = &view->devices[device];

    /* With the gate off there still are counters that the controller makes up. */
    if (d->wants_counters && !tg_rules_have(&view->rules, TG_FEATURE_PARTITIONABLE_DEVICES))
        return true;
    if (!d->wants_counters && d->n_consumes == 0)
        return false;
    return !tg_fit_in_use_shared(view, device) && counters_overdrawn(view, d);
}

static bool tainted(const struct tg_view_device *d, const struct tg_fit_want *want)
{
    for (size_t i = 0; i < d->n_taints; i++) {
        if (!tg_taint_tolerated(d->taints[i], want->request->tolerations.items,
                                want->request->tolerations.n))
            return true;
    }
    return false;
}

static bool has_capacity(const struct tg_fit_table *table, const struct tg_fit_want *want,
                         size_t device, bool used)
{
    const struct tg_rules *rules = &table->view->rules;

    if (!tg_rules_have(rules, TG_FEATURE_CONSUMABLE_CAPACITY))
        return true;
    return tg_fit_capacity_fits(&table->view->devices[device], want,
                                tg_rules_have(rules, TG_FEATURE_FRACTIONAL_CAPACITY_RANGE), used,
                                NULL);
}

static enum tg_fit_cell judge(struct tg_fit_table *table, const struct tg_fit_want *want,
                              size_t device)
{
    const struct tg_view_device *d = &table->view->devices[device];
    bool busy = in_use(table, want, device), refused = false;
    enum result result = RESULT_NO;

    if (busy && !want->all)
        return TG_CELL_NO;
    result = selectable(table, want, device);
    if (result != RESULT_YES)
        return result == RESULT_ERROR ? TG_CELL_ERROR : TG_CELL_NO;
    /* Which devices are "all": those with the capacity. Whether that means what is left of it is a
     * matter of the release. */
    if (!has_capacity(table, want, device,
                      !want->all || (table->view->rules.features & TG_QUIRK_ALL_SKIPS_USED) != 0))
        return TG_CELL_NO;
    refused = busy || counters_refuse(table, device) || tainted(d, want) ||
              !has_capacity(table, want, device, true);
    if (!refused)
        return TG_CELL_YES;
    return want->all ? TG_CELL_BLOCKED : TG_CELL_NO;
}

enum tg_fit_cell tg_fit_table_cell(struct tg_fit_table *table, size_t want, size_t device)
{
    unsigned char *cell = &table->cells[want * table->view->n_devices + device];

    if (*cell == TG_CELL_UNKNOWN)
        *cell = (unsigned char)judge(table, &table->book->wants[want], device);
    return (enum tg_fit_cell) * cell;
}

static bool pool_forbids(const struct tg_fit_table *table, const struct tg_view_pool *pool,
                         struct tg_fit_problem *problem)
{
    switch (pool->state) {
    case TG_POOL_USABLE:
        break;
    case TG_POOL_INCOMPLETE:
        return tg_fit_fail(problem, table->arena, TG_FAULT_POOL_INCOMPLETE_ALL,
                           "a request asks for all devices, but resource pool %s/%s is currently "
                           "being updated",
                           pool->driver, pool->name);
    case TG_POOL_INVALID:
        return tg_fit_fail(problem, table->arena, TG_FAULT_INVALID_POOLS,
                           "a request asks for all devices, but resource pool %s/%s is invalid: %s",
                           pool->driver, pool->name, pool->why);
    }
    return false;
}

int tg_fit_table_list(struct tg_fit_table *table, size_t want, struct tg_fit_problem *problem,
                      struct tg_error *err)
{
    const struct tg_view *view = table->view;
    struct tg_fit_all *all = &table->all[want];
    int rc = all->known ? 0
                        : tg_core_alloc(table->arena, view->n_devices, sizeof(*all->devices),
                                        &all->devices, err);

    if (rc < 0 || all->known)
        return rc;
    for (size_t p = 0; p < view->n_pools; p++) {
        const struct tg_view_pool *pool = &view->pools[p];

        if (pool_forbids(table, pool, problem))
            return 0;
        for (size_t d = pool->first; d < pool->first + pool->n_devices; d++) {
            enum tg_fit_cell cell = tg_fit_table_cell(table, want, d);

            if (cell == TG_CELL_ERROR) {
                tg_fit_table_explain(table, want, d, problem);
                return 0;
            }
            if (cell != TG_CELL_NO)
                all->devices[all->n++] = d;
        }
    }
    all->known = true;
    return 0;
}

void tg_fit_table_explain(struct tg_fit_table *table, size_t want, size_t device,
                          struct tg_fit_problem *problem)
{
    const struct tg_fit_want *w = &table->book->wants[want];
    const struct tg_view_device *d = &table->view->devices[device];
    const struct tg_fit_selector *s = NULL;
    struct tg_error why = TG_ERROR_INIT;
    bool match = false;
    size_t i = 0;

    while (i + 1 < w->n_selectors &&
           selector_result(table, w->selectors[i], device) != RESULT_ERROR)
        i++;
    s = &table->book->selectors[w->selectors[i]];
    if (s->compiled == NULL) {
        tg_fit_fail(problem, table->arena, TG_FAULT_CEL_COMPILE, "selector %.120s: %s",
                    s->expression, s->problem);
        return;
    }
    if (soundness(table, device) == SOUND_NO_VALUE) {
        tg_fit_fail(problem, table->arena, TG_FAULT_UNSUPPORTED_ATTRIBUTE_VALUE,
                    "device %s/%s/%s: unsupported attribute value", d->driver, d->pool_name,
                    d->name);
        return;
    }
    if (soundness(table, device) == SOUND_NO_VERSION)
        tg_error_set(&why, TG_INVALID_ARGUMENT, "an attribute is no semantic version");
    else
        tg_selector_matches(s->compiled, d->driver, d->object, &match, &why);
    tg_fit_fail(problem, table->arena, TG_FAULT_CEL_RUNTIME,
                "selector %.120s on device %s/%s/%s: %s", s->expression, d->driver, d->pool_name,
                d->name, why.message);
}
