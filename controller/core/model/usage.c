/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/usage.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"
#include "controller/core/model/news.h"
#include "controller/core/model/node_view.h"

#define PART_COUNTER "memory-slice-"
#define SCRATCH ((size_t)64 << 20)

const unsigned tg_usage_requests[TG_USAGE_REQUESTS] = {2, 4, 8};

struct tg_usage_book {
    struct tg_news_reader reader;
    TG_VEC(struct tg_usage) nodes; /* by row */
    struct tg_arena *scratch;
};

struct tg_usage_book *tg_usage_book_new(void)
{
    struct tg_usage_book *book = tg_xcalloc(1, sizeof(*book));

    book->scratch = tg_arena_new(SCRATCH);
    return book;
}

void tg_usage_book_free(struct tg_usage_book *book)
{
    if (book == NULL)
        return;
    TG_VEC_DONE(&book->nodes);
    tg_arena_free(book->scratch);
    free(book);
}

/* --- whole devices --------------------------------------------------------------------------- */

static enum tg_usage_state state_of(const struct tg_fleet_device *device)
{
    if (device->holder != NULL)
        return TG_USAGE_HELD;
    if (device->unsupported != NULL)
        return TG_USAGE_UNSUPPORTED;
    if (device->contested != NULL)
        return TG_USAGE_CONTESTED;
    return device->n_taints > 0 ? TG_USAGE_TAINTED : TG_USAGE_FREE;
}

/* --- parts of cards -------------------------------------------------------------------------- */

/* One memory slice of a card. */
struct part {
    uint64_t bytes; /* 0: the counter is something else, or no device says what it holds */
    bool fits;      /* some free device covers it */
};

static bool is_part(const struct tg_view *view, size_t counter)
{
    const char *name = tg_or(view->counters[counter].name, "");

    return strncmp(name, PART_COUNTER, strlen(PART_COUNTER)) == 0;
}

static uint64_t memory_of(const struct tg_view_device *device)
{
    for (size_t i = 0; i < device->n_capacity; i++)
        if (tg_streq(device->capacity[i].name, "memory") && device->capacity[i].value > 0)
            return (uint64_t)tg_nanos_units(device->capacity[i].value);
    return 0;
}

static bool is_free(const struct tg_view *view, const struct tg_view_device *device)
{
    bool left = !device->taken && device->barred == NULL;

    for (size_t i = 0; left && i < device->n_consumes; i++)
        left = view->counters[device->consumes[i].counter].left >= device->consumes[i].amount;
    return left;
}

static void look_at_device(const struct tg_view *view, const struct tg_view_device *device,
                           struct part *parts)
{
    bool fits = is_free(view, device);
    uint64_t bytes;
    size_t n = 0;

    for (size_t i = 0; i < device->n_consumes; i++)
        n += is_part(view, device->consumes[i].counter);
    bytes = n == 0 ? 0 : memory_of(device) / n;
    for (size_t i = 0; n > 0 && i < device->n_consumes; i++) {
        struct part *part = &parts[device->consumes[i].counter];

        if (!is_part(view, device->consumes[i].counter))
            continue;
        part->fits = part->fits || fits;
        part->bytes = bytes > part->bytes ? bytes : part->bytes;
    }
}

static void add_parts(const struct tg_fleet *fleet, const char *node, struct tg_arena *arena,
                      struct tg_usage *ret)
{
    const struct tg_rules rules = tg_rules_of_objects();
    struct tg_view view;
    struct part *parts;

    tg_arena_reset(arena);
    if (tg_fleet_view(fleet, node, &rules, arena, &view, NULL) < 0 || view.n_counters == 0)
        return;
    parts = tg_arena_alloc_array(arena, view.n_counters, sizeof(*parts));
    if (parts == NULL)
        return;
    for (size_t i = 0; i < view.n_devices; i++)
        look_at_device(&view, &view.devices[i], parts);
    for (size_t i = 0; i < view.n_counters; i++) {
        bool left = view.counters[i].left >= TG_NANOS_ONE;

        ret->parts_memory += parts[i].bytes;
        ret->parts_free += left ? parts[i].bytes : 0;
        ret->parts_stranded += left && !parts[i].fits ? parts[i].bytes : 0;
    }
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void look_at_node(struct tg_usage_book *book, const struct tg_fleet *fleet, size_t row)
{
    const struct tg_fleet_node *node = &fleet->nodes[row];
    struct tg_usage *usage = &book->nodes.items[row];
    bool exact = false;

    *usage = (struct tg_usage){.devices = {0}};
    for (size_t i = 0; i < node->n_devices; i++) {
        const struct tg_fleet_device *device = &fleet->devices[node->devices[i]];

        exact = exact || device->exact;
        if (!device->exact && !device->shared)
            usage->devices[state_of(device)]++;
    }
    for (size_t i = 0; i < TG_USAGE_REQUESTS; i++)
        usage->fragmented[i] = usage->devices[TG_USAGE_FREE] % tg_usage_requests[i];
    if (exact)
        add_parts(fleet, node->name, book->scratch, usage);
}

static void add(struct tg_usage *to, const struct tg_usage *more)
{
    for (size_t i = 0; i < TG_USAGE_STATES; i++)
        to->devices[i] += more->devices[i];
    for (size_t i = 0; i < TG_USAGE_REQUESTS; i++)
        to->fragmented[i] += more->fragmented[i];
    to->parts_memory += more->parts_memory;
    to->parts_free += more->parts_free;
    to->parts_stranded += more->parts_stranded;
}

void tg_usage_read(struct tg_usage_book *book, const struct tg_fleet *fleet, struct tg_usage *ret)
{
    bool known = tg_news_open(fleet, &book->reader);
    size_t row;

    while (book->nodes.n < fleet->n_nodes)
        (void)TG_VEC_PUSH(&book->nodes);
    while ((row = tg_news_next(fleet, &book->reader)) != TG_NO_INDEX)
        if (known && row < fleet->n_nodes)
            look_at_node(book, fleet, row);
    for (row = 0; !known && row < fleet->n_nodes; row++)
        look_at_node(book, fleet, row);
    *ret = (struct tg_usage){.devices = {0}};
    for (row = 0; row < fleet->n_nodes; row++)
        add(ret, &book->nodes.items[row]);
    tg_arena_reset(book->scratch);
}
