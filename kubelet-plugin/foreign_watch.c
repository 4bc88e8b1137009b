/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/foreign_watch.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

#include "api/kubernetes/client/informer.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

#define WHY_MAX ((size_t)1024)

/* --- whose cards these are --- */

/* What identifies a card. A part of a card names the card. */
static const struct identity {
    const char *name; /* of the attribute, without its domain */
    enum { CARD_UUID, CARD_ADDRESS } kind;
} identities[] = {
    {"uuid", CARD_UUID},
    {"parentUUID", CARD_UUID},
    {"pciBusID", CARD_ADDRESS},
};

static const struct identity *identity_of(const struct tg_keyed_attribute *attribute)
{
    const char *slash = strchr(attribute->key, '/');
    const char *name = slash == NULL ? attribute->key : slash + 1;

    for (size_t i = 0; attribute->value.string != NULL && i < TG_ARRAY_SIZE(identities); i++)
        if (tg_streq(name, identities[i].name))
            return &identities[i];
    return NULL;
}

/* Letters of hexadecimal numbers are written in both ways. */
static bool same(const struct identity *a, const char *value, const struct identity *b,
                 const char *other)
{
    return a->kind == b->kind && value[0] != '\0' && strcasecmp(value, other) == 0;
}

/* The device of ours that is, or is a part of, the card that has this identity. */
static const struct tg_provider_device *ours(const struct tg_device_set *devices,
                                             const struct identity *identity, const char *value)
{
    for (size_t i = 0; i < devices->devices.n; i++) {
        const struct tg_provider_device *device = &devices->devices.items[i];

        if (device->uuid != NULL && same(identity, value, &identities[0], device->uuid))
            return device;
        for (size_t k = 0; k < device->device.attributes.n; k++) {
            const struct tg_keyed_attribute *attribute = &device->device.attributes.items[k];
            const struct identity *mine = identity_of(attribute);

            if (mine != NULL && same(identity, value, mine, attribute->value.string))
                return device;
        }
    }
    return NULL;
}

/* One conflict. */
struct clash {
    const char *driver, *device, *key, *value;
    const struct tg_provider_device *ours; /* NULL: none */
};

static bool comes_first(const struct clash *a, const struct clash *b)
{
    int order = b->ours == NULL ? -1 : strcmp(a->driver, b->driver);

    return order < 0 || (order == 0 && strcmp(a->device, b->device) < 0);
}

static void look_at_device(const struct tg_device_set *devices, const char *driver,
                           const struct tg_device *device, struct clash *first)
{
    for (size_t i = 0; i < device->attributes.n; i++) {
        const struct tg_keyed_attribute *attribute = &device->attributes.items[i];
        const struct identity *identity = identity_of(attribute);

        if (identity == NULL)
            continue;
        const struct clash clash = {driver, tg_or(device->name, ""), attribute->key,
                                    attribute->value.string,
                                    ours(devices, identity, attribute->value.string)};
        if (clash.ours != NULL && comes_first(&clash, first))
            *first = clash;
    }
}

bool tg_foreign_conflict(const struct tg_device_set *devices,
                         const struct tg_resource_slice *const *slices, size_t n,
                         struct tg_buf *why)
{
    struct clash first = {0};

    for (size_t i = 0; i < n; i++) {
        const struct tg_resource_slice_spec *spec = slices[i]->spec;

        for (size_t k = 0; spec != NULL && k < spec->devices.n; k++)
            look_at_device(devices, tg_or(spec->driver, ""), &spec->devices.items[k], &first);
    }
    if (first.ours == NULL)
        return false;
    tg_buf_printf(
        why,
        "driver %.63s publishes our card %.63s too, as its device %.63s (%.100s is %.64s): "
        "one card would have two owners, so nothing is published; remove one of the two "
        "drivers from this node",
        first.driver, first.ours->device.name, first.device, first.key, first.value);
    return true;
}

/* --- the watch --- */

struct tg_foreign_watch {
    struct tg_foreign_watch_config config;
    struct tg_loop *loop;
    struct tg_informer *informer;
    const struct tg_device_set *devices; /* NULL: not known yet */
    bool told;
    char *blocked;         /* as told */
    struct tg_timer grace; /* runs while a conflict is not to be seen any more, but not over */
};

struct collect {
    const struct tg_resource_slice **items;
    size_t n;
};

static bool collect(void *data, const struct tg_stored *stored)
{
    struct collect *to = data;
    to->items[to->n++] = (const struct tg_resource_slice *)(const void *)stored->object;
    return true;
}

static bool conflict(const struct tg_foreign_watch *watch, struct tg_buf *why)
{
    size_t n = tg_informer_count(watch->informer);
    struct collect to = {.items = tg_xcalloc(n + 1, sizeof(*to.items))};

    tg_informer_each(watch->informer, collect, &to);
    bool found = tg_foreign_conflict(watch->devices, to.items, to.n, why);
    free(to.items);
    return found;
}

static void tell(struct tg_foreign_watch *watch, const char *blocked)
{
    if (watch->told && tg_streq(watch->blocked, blocked))
        return;
    free(watch->blocked);
    watch->blocked = blocked == NULL ? NULL : tg_xstrdup(blocked);
    watch->told = true;
    watch->config.changed(watch->config.data, watch->blocked);
}

static int64_t spread(int64_t delay)
{
    uint64_t x = 0;

    if (delay < 4 || getrandom(&x, sizeof(x), GRND_NONBLOCK) != (ssize_t)sizeof(x))
        return delay;
    return delay + (int64_t)(x % (uint64_t)(delay / 4));
}

static void look(struct tg_foreign_watch *watch, bool grace_over)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(WHY_MAX);

    if (watch->devices == NULL || !tg_informer_synced(watch->informer))
        return;
    if (conflict(watch, &why)) {
        tg_timer_stop(&watch->grace);
        tell(watch, tg_buf_str(&why));
    } else if (watch->blocked == NULL || grace_over) {
        tell(watch, NULL);
    } else if (!watch->grace.active) {
        tg_timer_start(watch->loop, &watch->grace, spread(watch->config.grace));
        tell(watch, "no other driver publishes our cards any more; they are published again when "
                    "it has stayed so for a while");
    }
}

static void on_grace_over(struct tg_timer *timer)
{
    look(timer->data, true);
}

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    (void)informer;
    (void)before;
    (void)after;
    look(data, false);
}

static void on_synced(void *data, struct tg_informer *informer)
{
    (void)informer;
    look(data, false);
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    (void)data;
    (void)informer;
    (void)about; /* the error names it */
    TG_ERR(err, "Cannot watch the slices of other drivers, trying on");
}

struct tg_foreign_watch *tg_foreign_watch_new(struct tg_kube_client *client,
                                              const struct tg_foreign_watch_config *config)
{
    struct tg_foreign_watch *watch = tg_xcalloc(1, sizeof(*watch));
    TG_AUTOFREE char *selector =
        tg_xasprintf("spec.nodeName=%s,spec.driver!=%s", config->node_name, config->driver);

    watch->config = *config;
    watch->loop = tg_kube_client_loop(client);
    watch->grace = (struct tg_timer){.callback = on_grace_over, .data = watch};
    const struct tg_informer_config informer = {
        .kind = &tg_kind_resource_slice,
        .name = "foreign-resourceslices",
        .field_selector = selector,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_error = on_error,
        .data = watch,
    };
    watch->informer = tg_informer_new(client, &informer);
    return watch;
}

void tg_foreign_watch_free(struct tg_foreign_watch *watch)
{
    if (watch == NULL)
        return;
    tg_timer_stop(&watch->grace);
    tg_informer_free(watch->informer);
    free(watch->blocked);
    free(watch);
}

void tg_foreign_watch_set_devices(struct tg_foreign_watch *watch,
                                  const struct tg_device_set *devices)
{
    watch->devices = devices;
    look(watch, false);
}
