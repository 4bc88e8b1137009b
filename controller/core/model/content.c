/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices are, kept once among all that are the same, as bytes. A content is a shape and what
 * tells the device from others of its shape: serial numbers, addresses and the like. Cards of one
 * product share few shapes, so that they weigh little, and a selector that reads nothing of the
 * rest is asked once for all of them.
 *
 *   content: number of the shape | a device that has the telling attributes only
 *   shape:   driver | how many keys of telling attributes | the keys | a device without them
 */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/semver.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"
#include "controller/core/model/projection.h"
#include "controller/core/model/sort.h"

#define NUMBER sizeof(uint32_t)

static uint32_t number_at(const unsigned char *bytes, size_t i)
{
    uint32_t number;

    memcpy(&number, bytes + i * NUMBER, NUMBER);
    return number;
}

static void drop_string(void *data, uint32_t number)
{
    tg_blobs_drop(&((struct tg_model *)data)->strings, number, NULL, NULL);
}

/* --- shapes --- */

static size_t n_telling(const unsigned char *shape)
{
    return number_at(shape, 1);
}

static const unsigned char *body_of(const unsigned char *shape)
{
    return shape + (2 + n_telling(shape)) * NUMBER;
}

static void drop_shape(void *data, const unsigned char *shape)
{
    drop_string(data, number_at(shape, 0));
    for (size_t i = 0; i < n_telling(shape); i++)
        drop_string(data, number_at(shape, 2 + i));
    tg_pack_each_string(&tg_device_type, body_of(shape), drop_string, data);
}

static void drop_content(void *data, const unsigned char *content)
{
    struct tg_model *model = data;
    uint32_t shape = number_at(content, 0);

    tg_pack_each_string(&tg_device_type, content + NUMBER, drop_string, data);
    if (model->shapes.items[shape - 1]->uses == 1)
        tg_selections_forget_shape(model, shape);
    tg_blobs_drop(&model->shapes, shape, drop_shape, model);
}

/* Numbers, then the device, kept once; copied says how to let go of the strings of bytes that are
 * there already, for those have their own use of them. */
static uint32_t keep(struct tg_model *model, struct tg_blobs *blobs, const uint32_t *head,
                     size_t n_head, const struct tg_device *device,
                     void (*copied)(void *data, const unsigned char *bytes))
{
    size_t size = n_head * NUMBER, n;

    TG_VEC_RESERVE(&model->buffer, 4096 + size);
    memcpy(model->buffer.items, head, size);
    n = size + tg_pack(&tg_device_type, device, &model->pack, model->buffer.items + size,
                       model->buffer.capacity - size);
    if (n > model->buffer.capacity) {
        TG_VEC_RESERVE(&model->buffer, n);
        tg_pack(&tg_device_type, device, &model->pack, model->buffer.items + size, n - size);
        /* The strings were used once too often. */
        tg_pack_each_string(&tg_device_type, model->buffer.items + size, drop_string, model);
    }
    if (tg_blobs_find(blobs, model->buffer.items, n) != 0)
        copied(model, model->buffer.items);
    return tg_blobs_use(blobs, model->buffer.items, n);
}

/* --- what tells devices of one shape apart --- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* By its form, whatever its name: eight or more digits in a row (UUIDs, serial numbers), or groups
 * of digits with colons between them (addresses on a bus or network). What is taken for one by
 * mistake costs time, nothing else. */
static bool is_telling(const struct tg_device_attribute *a)
{
    size_t run = 0, longest = 0, colons = 0;

    if (a->string == NULL)
        return false;
    for (const char *c = a->string; *c != '\0'; c++) {
        run = is_hex(*c) ? run + 1 : 0;
        longest = run > longest ? run : longest;
        colons += *c == ':' ? 1 : 0;
    }
    return longest >= 8 || (colons >= 2 && longest <= 4);
}

struct split { /* a device in two */
    struct tg_device common, own;
};

/* The parts are of the model's scratch. */
static void split_device(struct tg_model *model, const struct tg_device *device, struct split *ret)
{
    size_t n = device->attributes.n, common = 0, own = 0;
    struct tg_keyed_attribute *items;
    bool sound = true;

    TG_VEC_RESERVE(&model->attributes, 2 * n);
    items = model->attributes.items;
    for (size_t i = 0; i < n; i++)
        sound = sound && tg_projection_is_sound(&device->attributes.items[i].value);
    for (size_t i = 0; i < n; i++) {
        /* What fails every selector is seen by all of them. */
        if (sound && is_telling(&device->attributes.items[i].value))
            items[n + own++] = device->attributes.items[i];
        else
            items[common++] = device->attributes.items[i];
    }
    ret->common = *device;
    ret->common.name = NULL;
    ret->common.attributes.items = items;
    ret->common.attributes.n = common;
    ret->own = (struct tg_device){.name = NULL};
    ret->own.attributes.items = items == NULL ? NULL : items + n;
    ret->own.attributes.n = own;
}

static uint32_t keep_shape(struct tg_model *model, const char *driver, const struct split *split)
{
    size_t n = split->own.attributes.n;

    TG_VEC_RESERVE(&model->numbers, 2 + n);
    model->numbers.items[0] = model->pack.put(model->pack.data, driver);
    model->numbers.items[1] = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        model->numbers.items[2 + i] =
            model->pack.put(model->pack.data, split->own.attributes.items[i].key);
    return keep(model, &model->shapes, model->numbers.items, 2 + n, &split->common, drop_shape);
}

uint32_t tg_content_keep(struct tg_model *model, const char *driver, const struct tg_device *device)
{
    struct split split;
    uint32_t shape;

    split_device(model, device, &split);
    shape = keep_shape(model, driver, &split);
    return keep(model, &model->contents, &shape, 1, &split.own, drop_content);
}

void tg_content_leave(struct tg_model *model, uint32_t content)
{
    if (model->contents.items[content - 1]->uses == 1) {
        tg_contests_forget(model, content);
        tg_selections_forget(model, content);
        tg_makes_forget(model, content);
    }
    tg_blobs_drop(&model->contents, content, drop_content, model);
}

/* --- read again --- */

uint32_t tg_content_shape(const struct tg_model *model, uint32_t content)
{
    return number_at(tg_blobs_get(&model->contents, content), 0);
}

bool tg_shape_tells(const struct tg_model *model, uint32_t shape,
                    bool (*reads)(const void *data, const char *driver, const char *key),
                    const void *data)
{
    const unsigned char *bytes = tg_blobs_get(&model->shapes, shape);
    const char *driver = (const char *)tg_blobs_get(&model->strings, number_at(bytes, 0));

    for (size_t i = 0; i < n_telling(bytes); i++) {
        if (reads(data, driver,
                  (const char *)tg_blobs_get(&model->strings, number_at(bytes, 2 + i))))
            return true;
    }
    return false;
}

size_t tg_fleet_shapes(const struct tg_fleet *fleet)
{
    return fleet->model->shapes.n_items + 1;
}

static int no_memory(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the decision needs more memory than its budget");
}

int tg_shape_device(const struct tg_model *model, uint32_t shape, struct tg_arena *arena,
                    struct tg_device *ret, struct tg_error *err)
{
    return tg_unpack_into(&tg_device_type, body_of(tg_blobs_get(&model->shapes, shape)),
                          &model->pack, arena, ret) < 0
               ? no_memory(err)
               : 0;
}

int tg_slot_device(const struct tg_model *model, const struct tg_slot *slot, struct tg_arena *arena,
                   struct tg_device *ret, struct tg_error *err)
{
    const unsigned char *content = tg_blobs_get(&model->contents, slot->content);
    struct tg_device own;
    struct tg_keyed_attribute *items;
    size_t n;
    int rc = tg_shape_device(model, number_at(content, 0), arena, ret, err);

    if (rc < 0)
        return rc;
    if (tg_unpack_into(&tg_device_type, content + NUMBER, &model->pack, arena, &own) < 0)
        return no_memory(err);
    ret->name = (const char *)tg_blobs_get(&model->strings, slot->name);
    if (own.attributes.n == 0)
        return 0;
    n = ret->attributes.n;
    rc = tg_core_alloc(arena, n + own.attributes.n, sizeof(*items), &items, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++)
        items[i] = ret->attributes.items[i];
    for (size_t i = 0; i < own.attributes.n; i++)
        items[n + i] = own.attributes.items[i];
    ret->attributes.items = items;
    ret->attributes.n = n + own.attributes.n;
    return 0;
}
