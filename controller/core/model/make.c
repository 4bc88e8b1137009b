/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/attribute.h"
#include "controller/core/model/model.h"
#include "controller/core/model/nanos.h"
#include "controller/core/model/node_capacity.h"

/* More than that of a name is not looked at. */
#define NAME_MAX 255
#define SLICES_MAX 64
#define OTHERS "others"

static const char *text_of(const struct tg_device *device, const char *driver, const char *name)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, driver, name);

    return a == NULL ? NULL : a->string;
}

static uint8_t number_of(const struct tg_device *device, const char *driver, const char *name)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, driver, name);

    return a == NULL || !a->int_.set || a->int_.value < 0 || a->int_.value > SLICES_MAX
               ? 0
               : (uint8_t)a->int_.value;
}

static void append(char name[NAME_MAX + 1], const char *text)
{
    size_t used = strlen(name), n = strlen(text);

    n = n < NAME_MAX - used ? n : NAME_MAX - used;
    memcpy(name + used, text, n);
    name[used + n] = '\0';
}

static void name_kind(const struct tg_device *device, const char *driver, char name[NAME_MAX + 1])
{
    const char *product = text_of(device, driver, "productName");

    name[0] = '\0';
    append(name, driver);
    append(name, " ");
    if (product != NULL)
        append(name, product);
    for (size_t i = 0; product == NULL && i < device->capacity.n; i++) {
        append(name, device->capacity.items[i].key);
        append(name, "=");
        append(name, tg_or(device->capacity.items[i].value.value, ""));
        append(name, " ");
    }
}

/* The number of the kind, old or new. */
static uint16_t kind_of(struct tg_makes *makes, const char *name)
{
    uint32_t number = tg_blobs_find(&makes->kinds, name, strlen(name) + 1);

    if (number == 0 && makes->kinds.n_items >= TG_MAKE_KINDS)
        name = OTHERS;
    if (number == 0)
        number = tg_blobs_use(&makes->kinds, name, strlen(name) + 1);
    return (uint16_t)number;
}

static struct tg_make look(struct tg_model *model, const struct tg_fleet_device *row)
{
    struct tg_device device = {.name = row->name};
    char name[NAME_MAX + 1];
    const char *parent, *uuid;
    struct tg_make make = {.size = 0};

    tg_arena_reset(model->scratch);
    if (tg_slot_device(model, row->slot, model->scratch, &device, NULL) < 0)
        return (struct tg_make){.kind = kind_of(&model->makes, OTHERS)};
    name_kind(&device, row->driver, name);
    make.kind = kind_of(&model->makes, name);
    parent = text_of(&device, row->driver, "parentUUID");
    uuid = parent != NULL ? parent : text_of(&device, row->driver, "uuid");
    if (uuid != NULL)
        make.card = (uint32_t)tg_hash64(uuid, strlen(uuid)) | 1U;
    if (parent == NULL)
        return make;
    make.start = number_of(&device, row->driver, "memorySliceStart");
    make.size = number_of(&device, row->driver, "memorySliceSize");
    return make;
}

struct tg_make tg_make_of(const struct tg_fleet *fleet, size_t device)
{
    struct tg_model *model = fleet->model;
    struct tg_makes *makes = &model->makes;
    uint32_t content = fleet->devices[device].slot->content;

    if (content >= makes->n) {
        size_t n = content + content / 2 + 64;

        makes->items = tg_xreallocarray(makes->items, n, sizeof(*makes->items));
        memset(makes->items + makes->n, 0, (n - makes->n) * sizeof(*makes->items));
        makes->n = n;
    }
    if (makes->items[content].kind == 0)
        makes->items[content] = look(model, &fleet->devices[device]);
    return makes->items[content];
}

const char *tg_make_kind_name(const struct tg_fleet *fleet, uint16_t kind)
{
    return (const char *)tg_blobs_get(&fleet->model->makes.kinds, kind);
}

void tg_makes_forget(struct tg_model *model, uint32_t content)
{
    if (content < model->makes.n)
        model->makes.items[content].kind = 0;
}

void tg_makes_done(struct tg_makes *makes)
{
    free(makes->items);
    tg_blobs_done(&makes->kinds);
    *makes = (struct tg_makes){.n = 0};
}

unsigned tg_make_left(const struct tg_fleet *fleet, size_t device)
{
    const struct tg_fleet_device *row = &fleet->devices[device];
    struct tg_model *model = fleet->model;
    struct tg_device object = {.name = row->name};
    struct tg_view_device view = {.object = &object};
    unsigned left = 1000;

    if (row->holder != NULL)
        return 0;
    tg_arena_reset(model->scratch);
    if (tg_slot_device(model, row->slot, model->scratch, &object, NULL) < 0 ||
        tg_node_capacity_of(tg_held_find(model, row->driver, row->pool, row->name), &view,
                            model->scratch, NULL) < 0)
        return 0;
    for (size_t i = 0; i < view.n_capacity; i++) {
        const struct tg_view_capacity *c = &view.capacity[i];
        __int128 rest = c->value - c->used;
        unsigned part = c->value <= 0 || rest <= 0 ? 0 : (unsigned)(rest * 1000 / c->value);

        left = part < left && c->value > 0 ? part : left;
    }
    return left;
}

bool tg_fleet_attribute(const struct tg_fleet *fleet, size_t device, const char *name,
                        char ret[TG_FLEET_ATTRIBUTE])
{
    const struct tg_fleet_device *row = &fleet->devices[device];
    struct tg_model *model = fleet->model;
    struct tg_device object = {.name = row->name};
    const struct tg_device_attribute *a;
    int n = -1;

    tg_arena_reset(model->scratch);
    if (tg_slot_device(model, row->slot, model->scratch, &object, NULL) < 0)
        return false;
    a = tg_attribute_find(&object, row->driver, name);
    if (a == NULL)
        return false;
    if (a->string != NULL)
        n = snprintf(ret, TG_FLEET_ATTRIBUTE, "string %s", a->string);
    else if (a->version != NULL)
        n = snprintf(ret, TG_FLEET_ATTRIBUTE, "version %s", a->version);
    else if (a->int_.set)
        n = snprintf(ret, TG_FLEET_ATTRIBUTE, "int %" PRId64, a->int_.value);
    else if (a->bool_.set)
        n = snprintf(ret, TG_FLEET_ATTRIBUTE, "bool %d", a->bool_.value);
    return n >= 0 && n < TG_FLEET_ATTRIBUTE;
}

/* In thousandths of the capacity of that name, rounded up; 0: there is none. */
static unsigned part_of(const struct tg_view_device *view, const struct tg_string_pair *wanted)
{
    __int128 amount = 0;

    if (tg_nanos_parse(tg_or(wanted->value, ""), &amount, NULL) < 0 || amount <= 0)
        return 0;
    for (size_t i = 0; i < view->n_capacity; i++) {
        const struct tg_view_capacity *c = &view->capacity[i];

        if (!tg_streq(c->name, wanted->key) || c->value <= 0)
            continue;
        return amount >= c->value ? 1000 : (unsigned)((amount * 1000 + c->value - 1) / c->value);
    }
    return 0;
}

unsigned tg_make_part(const struct tg_fleet *fleet, size_t device, const char *capacity)
{
    struct tg_model *model = fleet->model;
    struct tg_device object = {.name = fleet->devices[device].name};
    struct tg_view_device view = {.object = &object};
    const struct tg_string_pair *wanted = NULL;
    size_t n = 0;
    unsigned most = 0;

    tg_arena_reset(model->scratch);
    if (capacity == NULL || !fleet->devices[device].shared ||
        tg_slot_device(model, fleet->devices[device].slot, model->scratch, &object, NULL) < 0 ||
        tg_node_capacity_of(NULL, &view, model->scratch, NULL) < 0 ||
        tg_capacity_requests_read(capacity, model->scratch, &wanted, &n, NULL) < 0)
        return 1000;
    for (size_t i = 0; i < n; i++) {
        unsigned part = part_of(&view, &wanted[i]);

        most = part > most ? part : most;
    }
    return most == 0 ? 1000 : most;
}
