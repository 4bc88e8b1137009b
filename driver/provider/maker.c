/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/maker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/str.h"

void tg_device_maker_init(struct tg_device_maker *maker, struct tg_arena *arena, const char *name,
                          size_t attributes, size_t capacities, struct tg_provider_device *to)
{
    struct tg_device *device = &to->device;
    *maker = (struct tg_device_maker){.arena = arena, .to = to};
    device->name = tg_arena_strdup(arena, name);
    device->attributes.items =
        tg_arena_alloc_array(arena, attributes, sizeof(*device->attributes.items));
    device->capacity.items =
        tg_arena_alloc_array(arena, capacities, sizeof(*device->capacity.items));
}

static void add(struct tg_device_maker *maker, const char *key,
                const struct tg_device_attribute *value)
{
    struct tg_device *device = &maker->to->device;
    if (device->attributes.items != NULL)
        device->attributes.items[device->attributes.n++] =
            (struct tg_keyed_attribute){.key = key, .value = *value};
}

static void add_capacity(struct tg_device_maker *maker, const char *key, const char *value)
{
    struct tg_device *device = &maker->to->device;
    if (device->capacity.items != NULL)
        device->capacity.items[device->capacity.n++] =
            (struct tg_keyed_capacity){.key = key, .value = {.value = value}};
}

void tg_device_maker_string(struct tg_device_maker *maker, const char *key, const char *value)
{
    if (tg_or(value, "")[0] != '\0')
        add(maker, key,
            &(struct tg_device_attribute){.string = tg_arena_strdup(maker->arena, value)});
}

void tg_device_maker_version(struct tg_device_maker *maker, const char *key, const char *value)
{
    if (tg_or(value, "")[0] != '\0')
        add(maker, key,
            &(struct tg_device_attribute){.version = tg_arena_strdup(maker->arena, value)});
}

void tg_device_maker_int(struct tg_device_maker *maker, const char *key, int64_t value)
{
    add(maker, key, &(struct tg_device_attribute){.int_ = {.set = true, .value = value}});
}

void tg_device_maker_quantity(struct tg_device_maker *maker, const char *key, const char *value)
{
    add_capacity(maker, key, tg_arena_strdup(maker->arena, value));
}

void tg_device_maker_count(struct tg_device_maker *maker, const char *key, uint64_t value)
{
    add_capacity(maker, key, tg_arena_printf(maker->arena, "%" PRIu64, value));
}

static const char *copied(struct tg_device_maker *maker, const char *s)
{
    return s == NULL ? NULL : tg_arena_strdup(maker->arena, s);
}

void tg_device_maker_replace(struct tg_device_maker *maker, const struct tg_keyed_attribute *given)
{
    struct tg_device *device = &maker->to->device;
    struct tg_device_attribute value = given->value;
    size_t at = 0;
    value.string = copied(maker, value.string);
    value.version = copied(maker, value.version);
    while (at < device->attributes.n && !tg_streq(device->attributes.items[at].key, given->key))
        at++;
    if (at < device->attributes.n)
        device->attributes.items[at].value = value;
    else
        add(maker, copied(maker, given->key), &value);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct tg_keyed_attribute *)a)->key,
                  ((const struct tg_keyed_attribute *)b)->key);
}

void tg_device_maker_finish(struct tg_device_maker *maker)
{
    struct tg_device *device = &maker->to->device;
    if (tg_arena_exhausted(maker->arena) || device->attributes.n == 0)
        return; /* keys may be missing */
    qsort(device->attributes.items, device->attributes.n, sizeof(*device->attributes.items),
          compare_keys);
}

const char *tg_device_variable(struct tg_arena *arena, const char *name, const char *uuid)
{
    char *line = tg_arena_printf(arena, "TANGRAM_DEVICE_%s=%s", name, uuid);
    for (char *p = line; p != NULL && *p != '='; p++) {
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
        else if (*p == '-')
            *p = '_';
    }
    return line;
}
