/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/device.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/cel/number.h"

static int no_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the device needs more memory than its budget");
}

static struct tg_cel_entry entry_of(const char *key, const struct tg_cel_device *device)
{
    const char *slash = strchrnul(key, '/');

    if (*slash == '\0')
        return (struct tg_cel_entry){.domain = device->driver,
                                     .domain_n = device->driver_n,
                                     .name = key,
                                     .name_n = (size_t)(slash - key)};
    return (struct tg_cel_entry){.domain = key,
                                 .domain_n = (size_t)(slash - key),
                                 .name = slash + 1,
                                 .name_n = strlen(slash + 1)};
}

/* Puts the entry in its place: beside the others, or over the same name in the other spelling.
 * *own: a name with the driver's domain was among them; without one there is nothing to look for.
 */
static void add(struct tg_cel_entry *entries, size_t *n, const struct tg_cel_entry *entry,
                const struct tg_cel_device *device, bool *own)
{
    bool qualified = entry->domain != device->driver && entry->domain_n == device->driver_n &&
                     memcmp(entry->domain, device->driver, entry->domain_n) == 0;
    size_t at = *n;

    if (qualified || (*own && entry->domain == device->driver)) {
        for (at = 0; at < *n; at++) {
            if (entries[at].name_n == entry->name_n && entries[at].domain_n == entry->domain_n &&
                memcmp(entries[at].name, entry->name, entry->name_n) == 0 &&
                memcmp(entries[at].domain, entry->domain, entry->domain_n) == 0)
                break;
        }
    }
    *own = *own || qualified;
    if (at < *n && !qualified)
        return; /* the short spelling */
    entries[at] = *entry;
    if (at == *n)
        (*n)++;
}

static int unsupported(const char *key, struct tg_error *err)
{
    return tg_error_set(err, TG_FAILED_PRECONDITION, "attribute %s: unsupported attribute value",
                        key);
}

static int bad_version(const char *key, const char *text, struct tg_error *err)
{
    return tg_error_set(err, TG_FAILED_PRECONDITION,
                        "attribute %s: parse semantic version: '%.80s'", key, text);
}

static int version_value(struct tg_cel_scratch *scratch, const char *key, const char *text,
                         struct tg_cel_value *ret, struct tg_error *err)
{
    struct tg_semver *version = tg_cel_alloc(scratch, sizeof(*version));

    if (version == NULL)
        return no_memory(err);
    if (tg_semver_parse(text, version, NULL) < 0)
        return bad_version(key, text, err);
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_SEMVER, .semver = version};
    return 0;
}

static int text_list(struct tg_cel_scratch *scratch, const char *key, const char *const *texts,
                     size_t n, bool versions, struct tg_cel_value *ret, struct tg_error *err)
{
    struct tg_cel_value *items = tg_cel_list_reserve(scratch, n, ret);
    int rc = 0;

    if (items == NULL)
        return no_memory(err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        items[i] = tg_cel_text(texts[i], strlen(texts[i]));
        if (versions)
            rc = version_value(scratch, key, texts[i], &items[i], err);
    }
    return rc;
}

/* One element of "[1, -2]" or "[true, false]": its length; 0: there is none. */
static size_t plain_element(const char *text, struct tg_cel_value *ret)
{
    size_t n = strcspn(text, ", \t\r\n]");

    if (n == 4 && memcmp(text, "true", 4) == 0)
        *ret = tg_cel_bool(true);
    else if (n == 5 && memcmp(text, "false", 5) == 0)
        *ret = tg_cel_bool(false);
    else if (!tg_cel_parse_int(text, n, &ret->integer))
        return 0;
    else
        ret->tag = TG_CEL_V_INT;
    return n;
}

/* Integers or truth values, as the API server writes them. */
static int plain_list(struct tg_cel_scratch *scratch, const char *key, const char *json,
                      struct tg_cel_value *ret, struct tg_error *err)
{
    struct tg_cel_value *items;
    size_t n = 0, most = 1;

    for (const char *c = json; *c != '\0'; c++)
        most += *c == ',' ? 1 : 0;
    items = tg_cel_list_reserve(scratch, most, ret);
    if (items == NULL)
        return no_memory(err);
    json += strspn(json, "[ \t\r\n");
    while (*json != '\0' && *json != ']') {
        size_t length = n < most ? plain_element(json, &items[n]) : 0;

        if (length == 0)
            return tg_error_set(err, TG_FAILED_PRECONDITION,
                                "attribute %s: unsupported attribute value", key);
        n++;
        json += length;
        json += strspn(json, ", \t\r\n");
    }
    return n == most || tg_cel_list_make(scratch, items, n, ret) ? 0 : no_memory(err);
}

static int list_value(struct tg_cel_scratch *scratch, const char *key,
                      const struct tg_device_attribute *a, struct tg_cel_value *ret,
                      struct tg_error *err)
{
    if (a->ints != NULL || a->bools != NULL)
        return plain_list(scratch, key, a->ints != NULL ? a->ints : a->bools, ret, err);
    if (a->strings.n > 0)
        return text_list(scratch, key, a->strings.items, a->strings.n, false, ret, err);
    if (a->versions.n > 0)
        return text_list(scratch, key, a->versions.items, a->versions.n, true, ret, err);
    return unsupported(key, err);
}

static int attribute_value(struct tg_cel_scratch *scratch, const char *key,
                           const struct tg_device_attribute *a, bool lists,
                           struct tg_cel_value *ret, struct tg_error *err)
{
    if (a->int_.set)
        *ret = tg_cel_int(a->int_.value);
    else if (a->bool_.set)
        *ret = tg_cel_bool(a->bool_.value);
    else if (a->string != NULL)
        *ret = tg_cel_text(a->string, strlen(a->string));
    else if (a->version != NULL)
        return version_value(scratch, key, a->version, ret, err);
    else if (lists)
        return list_value(scratch, key, a, ret, err);
    else
        return unsupported(key, err);
    return 0;
}

/* Can `key` be a spelling of what is read? The first characters decide most of the time; a key too
 * many does no harm. */
static bool is_spelling(const char *key, const struct tg_cel_read *read,
                        const struct tg_cel_device *device)
{
    size_t n;

    if (read->domain == NULL)
        return true;
    if (read->name == NULL ? strchr(key, '/') == NULL : strcmp(key, read->name) == 0)
        return strcmp(read->domain, device->driver) == 0;
    if (key[0] != read->domain[0] && read->domain[0] != '\0')
        return false;
    n = strlen(read->domain);
    return strncmp(key, read->domain, n) == 0 && key[n] == '/' &&
           (read->name == NULL || strcmp(key + n + 1, read->name) == 0);
}

static bool is_read(const char *key, bool capacity, const struct tg_cel_reads *reads,
                    const struct tg_cel_device *device)
{
    unsigned char first = (unsigned char)key[0];

    if (reads == NULL || reads->all)
        return true;
    if ((reads->first[first / 64] >> first % 64 & 1) == 0)
        return false;
    for (size_t i = 0; i < reads->n; i++) {
        if (reads->items[i].capacity == capacity && is_spelling(key, &reads->items[i], device))
            return true;
    }
    return false;
}

/* Of an attribute whose value nobody wants: is it one? */
static int check_attribute(struct tg_cel_scratch *scratch, const char *key,
                           const struct tg_device_attribute *a, bool lists, struct tg_error *err)
{
    struct tg_cel_value value;
    struct tg_semver version;

    if (a->int_.set || a->bool_.set || a->string != NULL)
        return 0;
    if (a->version == NULL)
        return attribute_value(scratch, key, a, lists, &value, err);
    return tg_semver_parse(a->version, &version, NULL) < 0 ? bad_version(key, a->version, err) : 0;
}

static int add_attributes(struct tg_cel_device *ret, const struct tg_cel_reads *reads,
                          struct tg_cel_scratch *scratch, const struct tg_device *device,
                          bool lists, struct tg_error *err)
{
    bool own = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < device->attributes.n; i++) {
        const struct tg_keyed_attribute *a = &device->attributes.items[i];
        struct tg_cel_entry entry;

        if (!is_read(a->key, false, reads, ret)) {
            rc = check_attribute(scratch, a->key, &a->value, lists, err);
            continue;
        }
        entry = entry_of(a->key, ret);
        rc = attribute_value(scratch, a->key, &a->value, lists, &entry.value, err);
        if (rc == 0)
            add(ret->attributes, &ret->n_attributes, &entry, ret, &own);
    }
    return rc;
}

static void add_capacity(struct tg_cel_device *ret, const struct tg_cel_reads *reads,
                         const struct tg_device *device)
{
    bool own = false;

    for (size_t i = 0; i < device->capacity.n; i++) {
        const struct tg_keyed_capacity *c = &device->capacity.items[i];
        struct tg_cel_entry entry;

        if (!is_read(c->key, true, reads, ret))
            continue;
        entry = entry_of(c->key, ret);
        entry.quantity = tg_or(c->value.value, "");
        add(ret->capacity, &ret->n_capacity, &entry, ret, &own);
    }
}

int tg_cel_device_init(struct tg_cel_device *ret, const struct tg_cel_reads *reads,
                       struct tg_cel_scratch *scratch, const char *driver,
                       const struct tg_device *device, unsigned flags, struct tg_error *err)
{
    int rc;

    *ret = (struct tg_cel_device){
        .driver = tg_or(driver, ""),
        .allow_multiple_allocations =
            device->allow_multiple_allocations.set && device->allow_multiple_allocations.value,
    };
    ret->driver_n = strlen(ret->driver);
    ret->attributes =
        tg_cel_alloc(scratch, (device->attributes.n + 1) * sizeof(struct tg_cel_entry));
    ret->capacity = tg_cel_alloc(scratch, (device->capacity.n + 1) * sizeof(struct tg_cel_entry));
    if (ret->attributes == NULL || ret->capacity == NULL)
        return no_memory(err);
    rc = add_attributes(ret, reads, scratch, device, (flags & TG_CEL_DEVICE_LISTS) != 0, err);
    add_capacity(ret, reads, device);
    if (rc == 0 && (flags & TG_CEL_DEVICE_GUARD) != 0)
        ret->attributes[ret->n_attributes++] = (struct tg_cel_entry){
            .domain = TG_GUARD_DOMAIN,
            .domain_n = strlen(TG_GUARD_DOMAIN),
            .name = TG_GUARD_ATTRIBUTE,
            .name_n = strlen(TG_GUARD_ATTRIBUTE),
            .value = tg_cel_bool(true),
        };
    return rc;
}
