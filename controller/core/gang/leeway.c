/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/leeway.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/gang/board.h"
#include "controller/core/gang/memory.h"
#include "controller/core/model/news.h"

struct leeways {
    struct tg_news_reader reader;
    bool *known;               /* one a node */
    unsigned char *of_device;  /* enum tg_leeway, right while its node is known */
    size_t n_nodes, n_devices; /* rows */
    struct tg_arena *view;     /* of one view */
};

static void free_leeways(void *data)
{
    struct leeways *l = data;

    free(l->known);
    free(l->of_device);
    tg_arena_free(l->view);
    free(l);
}

/* --- up to date ------------------------------------------------------------------------------- */

static void make_room(struct leeways *l, const struct tg_fleet *fleet)
{
    if (fleet->n_nodes > l->n_nodes) {
        l->known = tg_xreallocarray(l->known, fleet->n_nodes, sizeof(*l->known));
        memset(l->known + l->n_nodes, 0, (fleet->n_nodes - l->n_nodes) * sizeof(*l->known));
        l->n_nodes = fleet->n_nodes;
    }
    if (fleet->device_rows > l->n_devices) {
        l->of_device = tg_xreallocarray(l->of_device, fleet->device_rows, sizeof(*l->of_device));
        l->n_devices = fleet->device_rows;
    }
}

static struct leeways *leeways_of(const struct tg_fleet *fleet)
{
    void **kept = tg_memory_of(fleet, TG_MEMORY_LEEWAYS, free_leeways);
    struct leeways *l = *kept;
    size_t node;

    if (l == NULL) {
        l = *kept = tg_xcalloc(1, sizeof(*l));
        l->view = tg_arena_new(TG_ARENA_UNLIMITED);
    }
    if (!tg_news_open(fleet, &l->reader) && l->n_nodes > 0)
        memset(l->known, 0, l->n_nodes * sizeof(*l->known));
    make_room(l, fleet);
    while ((node = tg_news_next(fleet, &l->reader)) != TG_NO_INDEX)
        l->known[node] = false;
    return l;
}

/* --- one node --------------------------------------------------------------------------------- */

bool tg_leeway_suffices(const struct tg_view *view, const struct tg_view_device *device)
{
    if (device->shares > 0) /* charged already */
        return true;
    for (size_t i = 0; i < device->n_counters && device->n_consumes > 0; i++) {
        if (view->counters[device->first_counter + i].left < 0)
            return false;
    }
    for (size_t i = 0; i < device->n_consumes; i++) {
        if (view->counters[device->consumes[i].counter].left < device->consumes[i].amount)
            return false;
    }
    return true;
}

/* A device of a pool of that node alone is short until the view says otherwise: what is not in it
 * is not given away either. */
static void begin(struct leeways *l, const struct tg_fleet *fleet, const struct tg_fleet_node *row)
{
    const struct tg_fleet_device *before = NULL;
    bool local = false;

    for (size_t i = 0; i < row->n_devices; i++) {
        const struct tg_fleet_device *device = &fleet->devices[row->devices[i]];

        if (before == NULL || before->pool != device->pool || before->driver != device->driver)
            local = tg_fleet_pool_is_local(fleet, device->driver, device->pool);
        l->of_device[row->devices[i]] = local ? TG_LEEWAY_SHORT : TG_LEEWAY_UNKNOWN;
        before = device;
    }
}

static void learn(struct leeways *l, const struct tg_fleet *fleet, size_t node,
                  const struct tg_view *view)
{
    begin(l, fleet, &fleet->nodes[node]);
    for (size_t i = 0; i < view->n_devices; i++) {
        const struct tg_view_device *d = &view->devices[i];
        size_t row = tg_fleet_find_device(fleet, d->driver, d->pool_name, d->name);

        if (row != TG_NO_INDEX && fleet->devices[row].node == node &&
            l->of_device[row] == TG_LEEWAY_SHORT && tg_leeway_suffices(view, d))
            l->of_device[row] = TG_LEEWAY_ENOUGH;
    }
    l->known[node] = true;
}

void tg_leeway_learn(const struct tg_fleet *fleet, size_t node, const struct tg_view *view)
{
    learn(leeways_of(fleet), fleet, node, view);
}

int tg_leeway_look(const struct tg_fleet *fleet, size_t node, struct tg_error *err)
{
    const struct tg_rules rules = tg_rules_of_objects();
    struct leeways *l = leeways_of(fleet);
    struct tg_view view;
    int rc = 0;

    if (l->known[node])
        return 0;
    tg_arena_reset(l->view);
    rc = tg_fleet_view(fleet, fleet->nodes[node].name, &rules, l->view, &view, err);
    if (rc == 0)
        learn(l, fleet, node, &view);
    return rc;
}

/* --- questions -------------------------------------------------------------------------------- */

bool tg_leeway_is_known(const struct tg_fleet *fleet, size_t node)
{
    return leeways_of(fleet)->known[node];
}

enum tg_leeway tg_leeway_of(const struct tg_fleet *fleet, size_t device)
{
    const struct leeways *l = leeways_of(fleet);
    size_t node = fleet->devices[device].node;

    return node != TG_NO_INDEX && l->known[node] ? l->of_device[device] : TG_LEEWAY_UNKNOWN;
}

static bool accepts(const struct tg_ask_book *book, const struct tg_need *needs, size_t n,
                    size_t device)
{
    enum tg_ask_answer answer = TG_ASK_NO;

    for (size_t i = 0; i < n && answer != TG_ASK_YES; i++) {
        /* A selector that fails is for the search to tell. */
        if (tg_ask_answer(book, needs[i].ask, device, &answer, NULL) < 0)
            return false;
    }
    return answer == TG_ASK_YES;
}

size_t tg_leeway_count_short(const struct tg_fleet *fleet, const struct tg_ask_book *book,
                             const struct tg_need *needs, size_t n_needs, size_t node)
{
    const struct leeways *l = leeways_of(fleet);
    const struct tg_fleet_node *row = &fleet->nodes[node];
    size_t n = 0;

    for (size_t i = 0; l->known[node] && i < row->n_devices; i++) {
        size_t device = row->devices[i];

        n += l->of_device[device] == TG_LEEWAY_SHORT && tg_board_usable(&fleet->devices[device]) &&
                     accepts(book, needs, n_needs, device)
                 ? 1
                 : 0;
    }
    return n;
}
