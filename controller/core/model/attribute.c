/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/attribute.h"

#include <string.h>

static bool has_domain(const char *key, const char *driver, const char *domain)
{
    const char *slash = strchr(key, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - key);

    if (slash == NULL)
        return strcmp(driver, domain) == 0;
    return strlen(domain) == n && memcmp(key, domain, n) == 0;
}

const struct tg_device_attribute *tg_attribute_own(const struct tg_device *device,
                                                   const char *driver, const char *name)
{
    const struct tg_device_attribute *bare = NULL;

    for (size_t i = 0; i < device->attributes.n; i++) {
        const struct tg_keyed_attribute *a = &device->attributes.items[i];
        const char *slash = strchr(a->key, '/');

        if (slash == NULL && strcmp(a->key, name) == 0)
            bare = &a->value;
        if (slash != NULL && has_domain(a->key, driver, driver) && strcmp(slash + 1, name) == 0)
            return &a->value;
    }
    return bare;
}

const struct tg_device_attribute *tg_attribute_find(const struct tg_device *device,
                                                    const char *driver, const char *name)
{
    size_t n = strlen(driver);

    for (size_t i = 0; i < device->attributes.n; i++) {
        if (strcmp(device->attributes.items[i].key, name) == 0)
            return &device->attributes.items[i].value;
    }
    return strncmp(name, driver, n) == 0 && name[n] == '/'
               ? tg_attribute_own(device, driver, name + n + 1)
               : NULL;
}

bool tg_attribute_has_domain(const struct tg_device *device, const char *driver, const char *domain)
{
    for (size_t i = 0; i < device->attributes.n; i++) {
        if (has_domain(device->attributes.items[i].key, driver, domain))
            return true;
    }
    return false;
}
