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
    uint64_t reach, first_counter, n_counters;
};

/* Writes what fits into n bytes; returns what it takes. */
static size_t write(const struct tg_view_device *row, unsigned char *out, size_t n)
{
    struct tg_device device = *row->object;
    const struct rest rest = {
        .reach = row->reach, .first_counter = row->first_counter, .n_counters = row->n_counters};
    size_t at = sizeof(rest), driver = strlen(row->driver) + 1;

    if (n >= at)
        memcpy(out, &rest, sizeof(rest));
    if (n >= at + driver)
        memcpy(out + at, row->driver, driver);
    at += driver;
    /* Taints are those of the row; where it is reached from is the row's too. */
    device.name = device.node_name = NULL;
    device.node_selector = NULL;
    device.all_nodes.set = false;
    device.taints.n = 0;
    at += tg_pack(&tg_device_type, &device, NULL, at < n ? out + at : NULL, at < n ? n - at : 0);
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

static int read(const struct tg_view_device *row, struct content *ret, struct tg_arena *arena,
                struct tg_error *err)
{
    int rc = 0;

    *ret = (struct content){.n = write(row, NULL, 0)};
    rc = tg_core_alloc(arena, ret->n, 1, &ret->bytes, err);
    if (rc < 0)
        return rc;
    write(row, ret->bytes, ret->n);
    ret->hash = tg_hash64(ret->bytes, ret->n);
    return 0;
}

static bool same(const struct content *a, const struct content *b)
{
    return a->hash == b->hash && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

int tg_node_shapes(struct tg_view_device *rows, size_t n, struct tg_arena *arena, size_t *ret_n,
                   struct tg_error *err)
{
    struct content *contents;
    const struct content **table;
    size_t size = 4;
    int rc = tg_core_alloc(arena, n, sizeof(*contents), &contents, err);

    while (size < 2 * n)
        size *= 2;
    if (rc == 0)
        rc = tg_core_alloc(arena, size, sizeof(*table), &table, err);
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct content *c = &contents[i];
        size_t at = 0;

        rc = read(&rows[i], c, arena, err);
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
