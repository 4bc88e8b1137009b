/* SPDX-License-Identifier: Apache-2.0 */
/* I1, beyond counters: shares of one device take no more of a capacity than it has (KEP-5075), and
 * partitions that are published without counters do not overlap. */
#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/str.h"
#include "controller/audit/parts.h"

static const struct tg_device *device_of(const struct tg_audit_pool *pool, const char *name,
                                         const struct tg_resource_slice **ret_slice)
{
    for (size_t i = 0; i < pool->n; i++) {
        const struct tg_resource_slice_spec *spec = pool->slices[i]->spec;

        for (size_t j = 0; j < spec->devices.n; j++) {
            *ret_slice = pool->slices[i];
            if (tg_streq(spec->devices.items[j].name, name))
                return &spec->devices.items[j];
        }
    }
    return NULL;
}

/* --- shares --- */

/* Adds what the allocation says that it takes. False: it does not say it, or not as a quantity. */
static bool add_taken(struct tg_auditing *a, const struct tg_allocation_device *result,
                      const char *capacity, struct tg_quantity *sum)
{
    const struct tg_string_pair *amounts = NULL;
    struct tg_quantity amount;
    size_t n = 0;

    if (tg_capacity_amounts_read(result->consumed_capacity, a->arena, &amounts, &n, NULL) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (tg_streq(amounts[i].key, capacity))
            return tg_quantity_parse(tg_or(amounts[i].value, ""), &amount, NULL) == 0 &&
                   tg_quantity_add(sum, &amount, NULL) == 0;
    }
    return false;
}

static int check_capacity(struct tg_auditing *a, const struct tg_resource_slice *slice,
                          const struct tg_keyed_capacity *capacity,
                          const struct tg_audit_hold *holds, size_t n)
{
    struct tg_quantity value, taken = {0};
    char text[TG_QUANTITY_TEXT];

    if (tg_quantity_parse(tg_or(capacity->value.value, ""), &value, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        add_taken(a, holds[i].result, capacity->key, &taken);
    if (tg_quantity_cmp(&taken, &value) <= 0)
        return 0;
    if (tg_quantity_format(&taken, text, sizeof(text)) < 0)
        text[0] = '\0';
    return tg_audit_found(a, TG_FOUND_CAPACITY_EXCEEDED, &tg_kind_resource_slice, slice->metadata,
                          "device %s has %s of %s, and %zu shares of it take %s",
                          tg_or(holds[0].result->device, ""), capacity->value.value, capacity->key,
                          n, text);
}

int tg_audit_shares(struct tg_auditing *a, const struct tg_audit_pool *pool)
{
    const struct tg_resource_slice *slice = NULL;
    int r = 0;

    for (size_t i = 0, end; r == 0 && i < pool->n_holds; i = end) {
        const struct tg_device *device = device_of(pool, pool->holds[i].result->device, &slice);

        for (end = i; end < pool->n_holds &&
                      tg_streq(pool->holds[end].result->device, pool->holds[i].result->device);)
            end++;
        for (size_t k = 0; r == 0 && device != NULL && k < device->capacity.n; k++)
            r = check_capacity(a, slice, &device->capacity.items[k], &pool->holds[i], end - i);
    }
    return r;
}

/* --- windows of a card --- */

struct window {
    const char *card;
    int64_t start, end;
};

static const struct tg_device_attribute *attribute(const struct tg_device *device,
                                                   const char *driver, const char *name)
{
    const struct tg_device_attribute *found = NULL;

    for (size_t i = 0; i < device->attributes.n; i++) {
        const char *key = device->attributes.items[i].key;
        size_t n = strlen(driver);

        if (tg_streq(key, name) || (key != NULL && strncmp(key, driver, n) == 0 && key[n] == '/' &&
                                    strcmp(key + n + 1, name) == 0))
            found = &device->attributes.items[i].value;
    }
    return found;
}

/* A derived partition, or (all of it) a card that may have some. */
static bool window_of(const struct tg_device *device, const char *driver, struct window *ret)
{
    const struct tg_device_attribute *derived = attribute(device, driver, "derived");
    const struct tg_device_attribute *start = attribute(device, driver, "memorySliceStart");
    const struct tg_device_attribute *size = attribute(device, driver, "memorySliceSize");
    const struct tg_device_attribute *card;

    if (derived == NULL || !derived->bool_.value) {
        card = attribute(device, driver, "uuid");
        *ret = (struct window){.card = card == NULL ? NULL : card->string, .end = INT64_MAX};
        return ret->card != NULL;
    }
    card = attribute(device, driver, "parentUUID");
    if (card == NULL || card->string == NULL || start == NULL || !start->int_.set || size == NULL ||
        !size->int_.set || start->int_.value < 0 || size->int_.value < 0 ||
        start->int_.value > INT64_MAX - size->int_.value)
        return false;
    *ret = (struct window){.card = card->string,
                           .start = start->int_.value,
                           .end = start->int_.value + size->int_.value};
    return true;
}

/* The hold before this one, of another device, whose window it overlaps; NULL: none. */
static const struct tg_audit_hold *overlapped(const struct tg_audit_pool *pool, const char *driver,
                                              size_t index, const struct window *own)
{
    const struct tg_resource_slice *slice = NULL;

    for (size_t i = 0; i < index; i++) {
        const char *name = pool->holds[i].result->device;
        const struct tg_device *other = device_of(pool, name, &slice);
        struct window window;

        if (other != NULL && !tg_streq(name, pool->holds[index].result->device) &&
            window_of(other, driver, &window) && tg_streq(window.card, own->card) &&
            window.start < own->end && own->start < window.end)
            return &pool->holds[i];
    }
    return NULL;
}

int tg_audit_windows(struct tg_auditing *a, const struct tg_audit_pool *pool)
{
    const char *driver = tg_or(pool->slices[0]->spec->driver, "");
    const struct tg_resource_slice *slice = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < pool->n_holds; i++) {
        const struct tg_device *device = device_of(pool, pool->holds[i].result->device, &slice);
        const struct tg_audit_hold *other;
        struct window own;

        if (device == NULL || !window_of(device, driver, &own))
            continue;
        other = overlapped(pool, driver, i, &own);
        if (other != NULL)
            r = tg_audit_found(a, TG_FOUND_COUNTERS_EXCEEDED, &tg_kind_resource_slice,
                               slice->metadata,
                               "devices %s and %s are parts of card %s that overlap, and both are "
                               "allocated",
                               other->result->device, device->name, own.card);
    }
    return r;
}
