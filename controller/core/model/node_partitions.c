/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_partitions.h"

#include <string.h>

#include "controller/core/model/attribute.h"
#include "controller/core/model/sort.h"

struct window {
    const char *card;
    size_t start, size;
};

static bool is_derived(const struct tg_device *device, const char *driver)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, driver, "derived");

    return a != NULL && a->bool_.set && a->bool_.value;
}

static const char *text_of(const struct tg_device *device, const char *driver, const char *name)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, driver, name);

    return a == NULL ? NULL : a->string;
}

static bool number_of(const struct tg_device *device, const char *driver, const char *name,
                      int64_t least, size_t *ret)
{
    const struct tg_device_attribute *a = tg_attribute_own(device, driver, name);

    if (a == NULL || !a->int_.set || a->int_.value < least || a->int_.value > TG_MEMORY_SLICES_MAX)
        return false;
    *ret = (size_t)a->int_.value;
    return true;
}

/* false: a derived device that does not say what it is. */
static bool window_of(const struct tg_device *device, const char *driver, struct window *ret)
{
    ret->card = text_of(device, driver, "parentUUID");
    return ret->card != NULL && number_of(device, driver, "memorySliceStart", 0, &ret->start) &&
           number_of(device, driver, "memorySliceSize", 1, &ret->size) &&
           ret->start + ret->size <= TG_MEMORY_SLICES_MAX;
}

static int compare_windows(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct window *)a)->card, ((const struct window *)b)->card);
}

static size_t count_derived(const struct tg_node_pool *pool)
{
    size_t n = 0;

    for (size_t i = 0; i < pool->n_all; i++) {
        for (size_t k = 0; k < pool->all[i].slice->n_slots; k++)
            n += (pool->all[i].slice->slots[k].flags & TG_SLOT_DERIVED) != 0 ? 1 : 0;
    }
    return n;
}

/* The windows of the pool, those of a card beside each other. */
static int gather(const struct tg_node_pool *pool, size_t n, struct tg_arena *arena,
                  const void ***ret, size_t *ret_n, struct tg_error *err)
{
    struct window *windows;
    int rc = tg_core_alloc(arena, n, sizeof(*windows), &windows, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(**ret), ret, err);
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < pool->n_all; i++) {
        const struct tg_fleet_slice *slice = pool->all[i].slice;

        for (size_t k = 0; (slice->flags & TG_SLOT_DERIVED) != 0 && k < slice->n_slots; k++) {
            if ((slice->slots[k].flags & TG_SLOT_DERIVED) != 0 &&
                window_of(&pool->all[i].devices[k], pool->pool->driver, &windows[*ret_n])) {
                (*ret)[*ret_n] = &windows[*ret_n];
                (*ret_n)++;
            }
        }
    }
    return rc < 0 ? rc : tg_core_sort(*ret, *ret_n, compare_windows, NULL, arena, err);
}

static int open_card(struct tg_node_partitions *p, const char *uuid, size_t slices,
                     struct tg_arena *arena, struct tg_error *err)
{
    struct tg_node_card *card = &p->cards[p->n_cards++];
    int rc = 0;

    *card = (struct tg_node_card){.uuid = uuid, .first = p->pile->n, .n = slices};
    for (size_t i = 0; rc == 0 && i < slices; i++) {
        struct tg_view_counter counter = {.set = uuid,
                                          .name = tg_arena_printf(arena, "memory-slice-%zu", i),
                                          .left = TG_NANOS_ONE};

        if (counter.name == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
        rc = tg_counter_pile_add(p->pile, &counter, arena, err);
    }
    return rc;
}

static int open_cards(struct tg_node_partitions *p, const void *const *windows, size_t n,
                      struct tg_arena *arena, struct tg_error *err)
{
    int rc = tg_core_alloc(arena, n, sizeof(*p->cards), &p->cards, err);

    for (size_t i = 0; rc == 0 && i < n;) {
        const struct window *first = windows[i];
        size_t slices = 0;

        for (; i < n && compare_windows(first, windows[i], NULL) == 0; i++) {
            const struct window *w = windows[i];

            slices = w->start + w->size > slices ? w->start + w->size : slices;
        }
        rc = open_card(p, first->card, slices, arena, err);
    }
    return rc;
}

static const struct tg_node_card *find_card(const struct tg_node_partitions *p, const char *uuid)
{
    size_t low = 0, high = p->n_cards;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(p->cards[middle].uuid, uuid);

        if (order == 0)
            return &p->cards[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Which memory slices a device takes: *ret_n of them from *ret_first on, 0 if it has to do with
 * none. */
static void covers(const struct tg_node_partitions *p, const struct tg_device *device,
                   const char *driver, size_t *ret_first, size_t *ret_n)
{
    const struct tg_node_card *card = NULL;
    struct window window;
    const char *uuid = NULL;

    *ret_n = 0;
    if (is_derived(device, driver)) {
        if (!window_of(device, driver, &window))
            return;
        card = find_card(p, window.card);
        if (card == NULL)
            return;
        *ret_first = card->first + window.start;
        *ret_n = window.size;
        return;
    }
    uuid = text_of(device, driver, "uuid");
    card = uuid == NULL ? NULL : find_card(p, uuid);
    if (card != NULL) {
        *ret_first = card->first;
        *ret_n = card->n;
    }
}

/* Of slices that nobody opened no device is a window; a card among them is none of this node's. */
static void charge(struct tg_node_partitions *p, const struct tg_model *model,
                   const struct tg_node_pool *pool, const struct tg_seen_slice *seen)
{
    for (size_t k = 0; seen->devices != NULL && k < seen->slice->n_slots; k++) {
        size_t first = 0, n = 0;

        if (tg_slot_held(model, pool->pool, &seen->slice->slots[k]) == NULL)
            continue;
        covers(p, &seen->devices[k], pool->pool->driver, &first, &n);
        for (size_t slice = first; slice < first + n; slice++)
            p->pile->items[slice].left -= TG_NANOS_ONE;
    }
}

int tg_node_partitions_init(struct tg_node_partitions *ret, const struct tg_model *model,
                            const struct tg_node_pool *pool, struct tg_counter_pile *pile,
                            struct tg_arena *arena, struct tg_error *err)
{
    size_t n = count_derived(pool);
    const void **windows = NULL;
    int rc = 0;

    *ret = (struct tg_node_partitions){.pile = pile, .first = pile->n};
    if (n == 0)
        return 0;
    rc = gather(pool, n, arena, &windows, &n, err);
    if (rc == 0)
        rc = open_cards(ret, windows, n, arena, err);
    ret->n = pile->n - ret->first;
    for (size_t i = 0; rc == 0 && i < pool->n_all; i++)
        charge(ret, model, pool, &pool->all[i]);
    return rc;
}

int tg_node_partitions_of(const struct tg_node_partitions *partitions, struct tg_view_device *row,
                          struct tg_arena *arena, struct tg_error *err)
{
    struct tg_view_consumes *consumes;
    size_t first = 0, n = 0;
    struct window window;
    int rc = 0;

    if (is_derived(row->object, row->driver)) {
        if (!window_of(row->object, row->driver, &window))
            row->barred = "a derived partition without parentUUID, memorySliceStart and "
                          "memorySliceSize";
        else if (row->wants_counters)
            row->barred = "a derived partition that consumes counters besides";
        if (row->barred != NULL)
            return 0;
    }
    if (row->wants_counters || partitions->n_cards == 0)
        return 0;
    covers(partitions, row->object, row->driver, &first, &n);
    rc = tg_core_alloc(arena, n, sizeof(*consumes), &consumes, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        consumes[i] = (struct tg_view_consumes){.counter = first + i, .amount = TG_NANOS_ONE};
    if (rc == 0 && n > 0) {
        row->consumes = consumes;
        row->n_consumes = n;
        row->first_counter = first;
        row->n_counters = n;
    }
    return rc;
}
