/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/projection.h"

#include <string.h>

#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/str.h"
#include "controller/core/cel/program.h"

static void add_bytes(struct tg_projection *p, const void *bytes, size_t n)
{
    if (!p->fits || n > sizeof(p->bytes) - p->n) {
        p->fits = false;
        return;
    }
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
}

/* With its end, so that no two rows of texts give the same bytes. */
static void add_text(struct tg_projection *p, char kind, const char *text)
{
    add_bytes(p, &kind, 1);
    add_bytes(p, text, strlen(text) + 1);
}

static void add_attribute(struct tg_projection *p, const struct tg_device_attribute *a)
{
    if (a->string != NULL) {
        add_text(p, 's', a->string);
    } else if (a->version != NULL) {
        add_text(p, 'v', a->version);
    } else if (a->int_.set) {
        add_bytes(p, "i", 1);
        add_bytes(p, &a->int_.value, sizeof(a->int_.value));
    } else {
        add_text(p, 'b', a->bool_.value ? "t" : "f");
    }
}

bool tg_projection_is_sound(const struct tg_device_attribute *a)
{
    int kinds = (a->string != NULL) + (a->version != NULL) + a->int_.set + a->bool_.set;
    struct tg_semver version;

    return kinds == 1 && (a->version == NULL || tg_semver_parse(a->version, &version, NULL) == 0);
}

void tg_projection_init(struct tg_projection *p, const char *driver, const struct tg_device *device)
{
    bool shared =
        device->allow_multiple_allocations.set && device->allow_multiple_allocations.value;

    p->driver = driver;
    p->n = 0;
    p->fits = true;
    for (size_t i = 0; i < device->attributes.n; i++)
        p->fits = p->fits && tg_projection_is_sound(&device->attributes.items[i].value);
    add_text(p, shared ? '+' : '-', driver);
}

/* Is it what is read, or part of the domain that is read as a whole? Keys without a domain are in
 * that of the driver. */
static bool is_read(const char *driver, const char *key, const struct tg_cel_read *read)
{
    const char *slash = strchr(key, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - key);

    if (read->name != NULL && !tg_streq(slash == NULL ? key : slash + 1, read->name))
        return false;
    if (slash == NULL)
        return tg_streq(driver, read->domain);
    return strncmp(key, read->domain, n) == 0 && read->domain[n] == '\0';
}

static void add_read(struct tg_projection *p, const struct tg_cel_read *read,
                     const struct tg_device *device)
{
    size_t n = read->capacity ? device->capacity.n : device->attributes.n;

    for (size_t i = 0; i < n; i++) {
        const char *key =
            read->capacity ? device->capacity.items[i].key : device->attributes.items[i].key;

        if (!is_read(p->driver, key, read))
            continue;
        add_text(p, 'n', key);
        if (read->capacity)
            add_text(p, 'c', tg_or(device->capacity.items[i].value.value, ""));
        else
            add_attribute(p, &device->attributes.items[i].value);
    }
    add_bytes(p, ".", 1);
}

void tg_projection_add(struct tg_projection *p, const struct tg_selector *selector,
                       const struct tg_device *device)
{
    const struct tg_cel_reads *reads = tg_selector_reads(selector);

    p->fits = p->fits && !reads->all;
    for (size_t i = 0; p->fits && i < reads->n; i++) {
        if (reads->items[i].domain == NULL)
            p->fits = false;
        else
            add_read(p, &reads->items[i], device);
    }
}

bool tg_projection_reads(const struct tg_selector *selector, const char *driver, const char *key)
{
    const struct tg_cel_reads *reads = tg_selector_reads(selector);
    bool is = reads->all;

    for (size_t i = 0; i < reads->n && !is; i++) {
        const struct tg_cel_read *read = &reads->items[i];

        is = !read->capacity && (read->domain == NULL || is_read(driver, key, read));
    }
    return is;
}
