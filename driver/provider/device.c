/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of devices: lookup, and the rules of the ResourceSlice API (resource.k8s.io/v1 types and
 * validation). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/kubernetes/values/names.h"
#include "api/kubernetes/values/quantity.h"
#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "driver/provider/provider.h"

#define ATTRIBUTES_AND_CAPACITIES_MAX 32 /* ResourceSliceMaxAttributesAndCapacitiesPerDevice */
#define VALUE_MAX 64                     /* DeviceAttributeMaxValueLength */

void tg_device_set_done(struct tg_device_set *set)
{
    tg_arena_free(set->arena);
    *set = (struct tg_device_set){0};
}

const struct tg_provider_device *tg_device_set_find(const struct tg_device_set *set,
                                                    const char *name)
{
    for (size_t i = 0; i < set->devices.n; i++) {
        if (tg_streq(set->devices.items[i].device.name, name))
            return &set->devices.items[i];
    }
    return NULL;
}

bool tg_device_pattern_fits(const char *pattern, size_t n, const char *text)
{
    bool prefix = n > 0 && pattern[n - 1] == '*';
    return prefix ? strncmp(pattern, text, n - 1) == 0
                  : strlen(text) == n && memcmp(pattern, text, n) == 0;
}

static int wrong(struct tg_error *err, const char *what)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s", what);
}

int tg_device_key_validate(const char *key, struct tg_error *err)
{
    size_t domain = strcspn(key, "/");
    /* The names of domains are of any case, those of attributes are not. */
    if (key[domain] == '/' && domain == strlen(TG_GUARD_DOMAIN) &&
        strncasecmp(key, TG_GUARD_DOMAIN, domain) == 0)
        return wrong(err, "attributes of domain " TG_GUARD_DOMAIN
                          " are never published: the guard of managed classes relies on it");
    return tg_name_check(TG_NAME_ATTRIBUTE, key, err);
}

static int check_text(const char *text, struct tg_error *err)
{
    size_t n = strlen(text);
    if (n > VALUE_MAX)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "the value has %zu bytes, at most %d are allowed", n, VALUE_MAX);
    return tg_utf8_valid(text, n) ? 0 : wrong(err, "the value is not UTF-8");
}

static int check_attribute(const struct tg_device_attribute *attribute, struct tg_error *err)
{
    int kinds = attribute->int_.set + attribute->bool_.set + (attribute->string != NULL) +
                (attribute->version != NULL);
    struct tg_semver version;
    if (kinds != 1)
        return wrong(err, "exactly one of int, bool, string and version must be set");
    if (attribute->string != NULL)
        return check_text(attribute->string, err);
    if (attribute->version == NULL)
        return 0;
    int rc = check_text(attribute->version, err);
    return rc < 0 ? rc : tg_semver_parse(attribute->version, &version, err);
}

static int check_capacity(const struct tg_device_capacity *capacity, struct tg_error *err)
{
    struct tg_quantity quantity;
    if (capacity->value == NULL)
        return wrong(err, "the value is missing");
    return tg_quantity_parse(capacity->value, &quantity, err);
}

/* Puts "device NAME: WHAT KEY" before the message. */
static int at(const struct tg_device *device, const char *what, const char *key, int rc,
              struct tg_error *err)
{
    if (rc < 0 && err != NULL)
        return tg_error_wrap(err, "device %s: %s \"%.100s\"", device->name, what, key);
    return rc;
}

static int check_attributes(const struct tg_device *device, struct tg_error *err)
{
    for (size_t i = 0; i < device->attributes.n; i++) {
        const struct tg_keyed_attribute *item = &device->attributes.items[i];
        int rc = tg_device_key_validate(item->key, err);
        if (rc == 0)
            rc = check_attribute(&item->value, err);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (tg_streq(device->attributes.items[j].key, item->key))
                rc = wrong(err, "is there twice");
        }
        if (rc < 0)
            return at(device, "attribute", item->key, rc, err);
    }
    return 0;
}

static int check_capacities(const struct tg_device *device, struct tg_error *err)
{
    for (size_t i = 0; i < device->capacity.n; i++) {
        const struct tg_keyed_capacity *item = &device->capacity.items[i];
        int rc = tg_device_key_validate(item->key, err);
        if (rc == 0)
            rc = check_capacity(&item->value, err);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (tg_streq(device->capacity.items[j].key, item->key))
                rc = wrong(err, "is there twice");
        }
        if (rc < 0)
            return at(device, "capacity", item->key, rc, err);
    }
    return 0;
}

int tg_device_validate(const struct tg_device *device, struct tg_error *err)
{
    const char *name = tg_or(device->name, "");
    size_t n = device->attributes.n + device->capacity.n;
    int rc = tg_name_check(TG_NAME_LABEL, name, err);
    if (rc < 0)
        return err == NULL ? rc : tg_error_wrap(err, "name of a device");
    if (n > ATTRIBUTES_AND_CAPACITIES_MAX)
        return tg_error_set(
            err, TG_INVALID_ARGUMENT,
            "device %s: %zu attributes and capacities, at most %d are allowed together", name, n,
            ATTRIBUTES_AND_CAPACITIES_MAX);
    rc = check_attributes(device, err);
    return rc < 0 ? rc : check_capacities(device, err);
}

int tg_device_set_validate(const struct tg_device_set *set, struct tg_error *err)
{
    TG_AUTOMAP struct tg_map *names = tg_map_new(NULL);
    for (size_t i = 0; i < set->devices.n; i++) {
        const struct tg_device *device = &set->devices.items[i].device;
        int rc = tg_device_validate(device, err);
        if (rc < 0)
            return rc;
        if (tg_map_has(names, device->name))
            return tg_error_set(err, TG_INVALID_ARGUMENT, "two devices are named %s", device->name);
        tg_map_set(names, device->name, (void *)(uintptr_t)device);
    }
    return 0;
}
