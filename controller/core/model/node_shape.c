/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_shape.h"

#include <string.h>

#include "api/kubernetes/objects/pack.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

struct content {
    unsigned char *bytes;
    size_t n;
    uint64_t hash;
    size_t shape;
};

/* Everything of a row beside the device itself that makes it differ. */
struct rest {
    uint64_t content; /* the number of the device's, which is not written then; else 0 */
    uint64_t reach, first_counter, n_counters;
};

/* Is there nothing in any of the devices that its row says better: taints, where it is reached
 * from? Then they are alike if their contents are. */
static bool are_plain(const struct tg_view_device *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_device *device = rows[i].object;

        if (device->taints.n > 0 || device->node_name != NULL || device->node_selector != NULL ||
            device->all_nodes.set)
            return false;
    }
    return true;
}

/* The driver and the device without its name and without what the row says better. Writes what fits
 * into n bytes; returns what it takes. */
static size_t write_device(const struct tg_view_device *row, unsigned char *out, size_t n)
{
    struct tg_device device = *row->object;
    size_t at = strlen(row->driver) + 1;

    if (n >= at)
        memcpy(out, row->driver, at);
    device.name = device.node_name = NULL;
    device.node_selector = NULL;
    device.all_nodes.set = false;
    device.taints.n = 0;
    return at +
           tg_pack(&tg_device_type, &device, NULL, at < n ? out + at : NULL, at < n ? n - at : 0);
}

/* content: 0, the device itself is written. Writes what fits into n bytes; returns what it takes.
 */
static size_t write(const struct tg_view_device *row, uint32_t content, unsigned char *out,
                    size_t n)
{
    const struct rest rest = {.content = content,
                              .reach = row->reach,
                              .first_counter = row->first_counter,
                              .n_counters = row->n_counters};
    size_t at = sizeof(rest);

    if (n >= at)
        memcpy(out, &rest, sizeof(rest));
    if (rest.content == 0)
        at += write_device(row, at < n ? out + at : NULL, at < n ? n - at : 0);
    for (size_t i = 0; i < row->n_taints; i++) {
        struct tg_taint taint = *row->taints[i];

        taint.time_added = NULL;
        at += tg_pack(&tg_taint_type, &taint, NULL, at < n ? out + at : NULL, at < n ? n - at : 0);
    }
    if (row->selector != NULL)
        at += tg_pack(&tg_node_selector_type, row->selector, NULL, at < n ? out + at : NULL,
                      at < n ? n - at : 0);
    return at;
}

static int read(const struct tg_view_device *row, uint32_t content, struct content *ret,
                struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    *ret = (struct content){.n = write(row, content, NULL, 0)};
    rc = tg_core_alloc(arena, ret->n, 1, &ret->bytes, err);
    if (rc < 0)
        return rc;
    write(row, content, ret->bytes, ret->n);
    ret->hash = tg_hash64(ret->bytes, ret->n);
    return 0;
}

static bool same(const struct content *a, const struct content *b)
{
    return a->hash == b->hash && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

int tg_node_shapes(struct tg_view_device *rows, const uint32_t *numbers, size_t n,
                   struct tg_arena *arena, size_t *ret_n, struct tg_error *err)
{
    struct content *contents;
    const struct content **table;
    size_t size = 4;
    bool plain = are_plain(rows, n);
    int rc = tg_core_alloc(arena, n, sizeof(*contents), &contents, err);

    while (size < 2 * n)
        size *= 2;
    if (rc == 0)
        rc = tg_core_alloc(arena, size, sizeof(*table), &table, err);
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct content *c = &contents[i];
        size_t at = 0;

        rc = read(&rows[i], plain ? numbers[i] : 0, c, arena, err);
        if (rc < 0)
            return rc;
        at = c->hash & (size - 1);
        while (table[at] != NULL && !same(table[at], c))
            at = (at + 1) & (size - 1);
        if (table[at] == NULL) {
            c->shape = (*ret_n)++;
            table[at] = c;
        }
        rows[i].shape = table[at]->shape;
    }
    return rc;
}
