/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/loss.h"

#include <string.h>

#include "controller/core/model/attribute.h"
#include "controller/core/model/sort.h"

struct place {
    size_t device;
    size_t loss;
};

/* Profiles with media engines, without them or with graphics differ from the plain ones in engines,
 * not in their places: they are not counted again. */
static bool is_variant(const struct tg_view_device *device)
{
    const struct tg_device_attribute *profile =
        tg_attribute_own(device->object, device->driver, "profile");

    return profile != NULL && profile->string != NULL &&
           (strchr(profile->string, '+') != NULL || strstr(profile->string, "-me") != NULL);
}

/* Memory slices; of a device that does not say how many, the counters that it draws on. */
static size_t weight_of(const struct tg_view_device *device)
{
    const struct tg_device_attribute *size =
        tg_attribute_own(device->object, device->driver, "memorySliceSize");

    if (is_variant(device))
        return 0;
    return size != NULL && size->int_.set && size->int_.value > 0 && size->int_.value <= 64
               ? (size_t)size->int_.value
               : device->n_consumes;
}

static bool is_open(const struct tg_view *view, const struct tg_view_device *device)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        if (view->counters[device->consumes[i].counter].left < device->consumes[i].amount)
            return false;
    }
    return device->n_consumes > 0 && !device->taken && device->barred == NULL;
}

/* Is b, which is open, no longer so when a is taken? */
static bool closes(const struct tg_view *view, const struct tg_view_device *a,
                   const struct tg_view_device *b)
{
    for (size_t i = 0, k = 0; i < a->n_consumes && k < b->n_consumes;) {
        size_t own = a->consumes[i].counter, other = b->consumes[k].counter;

        if (own == other &&
            view->counters[own].left - a->consumes[i].amount < b->consumes[k].amount)
            return true;
        i += own <= other;
        k += other <= own;
    }
    return false;
}

static bool is_wanted(struct tg_fit_table *table, size_t device)
{
    for (size_t w = 0; w < table->book->n_wants; w++) {
        if (tg_fit_table_cell(table, w, device) == TG_CELL_YES)
            return true;
    }
    return false;
}

/* weights: one a device of the view; 0: not open. Devices of one pool stand beside each other. */
static size_t loss_of(const struct tg_view *view, const size_t *weights, size_t device)
{
    const struct tg_view_device *a = &view->devices[device];
    const struct tg_view_pool *pool = &view->pools[a->pool];
    size_t low = a->consumes[0].counter, high = a->consumes[a->n_consumes - 1].counter, loss = 0;

    for (size_t i = pool->first; i < pool->first + pool->n_devices; i++) {
        const struct tg_view_device *b = &view->devices[i];

        if (weights[i] == 0 || b->consumes[0].counter > high ||
            b->consumes[b->n_consumes - 1].counter < low)
            continue;
        loss += closes(view, a, b) ? weights[i] : 0;
    }
    return loss;
}

static int compare_places(const void *a, const void *b, const void *context)
{
    const struct place *x = a, *y = b;

    (void)context;
    return (x->loss > y->loss) - (x->loss < y->loss);
}

static int weigh(const struct tg_fit_table *table, size_t **ret, struct tg_error *err)
{
    const struct tg_view *view = table->view;
    int rc = tg_core_alloc(table->arena, view->n_devices, sizeof(**ret), ret, err);

    for (size_t i = 0; rc == 0 && i < view->n_devices; i++)
        (*ret)[i] = is_open(view, &view->devices[i]) ? weight_of(&view->devices[i]) : 0;
    return rc;
}

int tg_fit_loss_sort(struct tg_fit_table *table, size_t *devices, size_t n, struct tg_error *err)
{
    const struct tg_view *view = table->view;
    struct place *places;
    const void **order;
    size_t *weights;
    int rc = weigh(table, &weights, err);

    if (rc == 0)
        rc = tg_core_alloc(table->arena, n, sizeof(*places), &places, err);
    if (rc == 0)
        rc = tg_core_alloc(table->arena, n, sizeof(*order), &order, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        places[i] = (struct place){.device = devices[i]};
        if (view->devices[devices[i]].n_consumes > 0 && is_wanted(table, devices[i]))
            places[i].loss = loss_of(view, weights, devices[i]);
        order[i] = &places[i];
    }
    if (rc == 0)
        rc = tg_core_sort(order, n, compare_places, NULL, table->arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        devices[i] = ((const struct place *)order[i])->device;
    return rc;
}
