/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/fleet.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/contest.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"
#include "controller/core/model/view.h"

int tg_fleet_compare_id(const char *a_driver, const char *a_pool, const char *a_device,
                        const char *b_driver, const char *b_pool, const char *b_device)
{
    int order = strcmp(a_driver, b_driver);

    if (order == 0)
        order = strcmp(a_pool, b_pool);
    return order != 0 ? order : strcmp(a_device, b_device);
}

static int compare_nodes(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_node *)a)->metadata->name,
                  ((const struct tg_node *)b)->metadata->name);
}

static int compare_rules(const void *a, const void *b, const void *context)
{
    const struct tg_object_meta *ma = ((const struct tg_device_taint_rule *)a)->metadata;
    const struct tg_object_meta *mb = ((const struct tg_device_taint_rule *)b)->metadata;

    (void)context;
    return tg_strcmp(ma == NULL ? NULL : ma->name, mb == NULL ? NULL : mb->name);
}

static int add_taint_rules(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                           struct tg_arena *arena, struct tg_error *err)
{
    int rc = tg_core_alloc(arena, input->n_taint_rules, sizeof(*fleet->taint_rules),
                           &fleet->taint_rules, err);

    for (size_t i = 0; rc == 0 && i < input->n_taint_rules; i++)
        fleet->taint_rules[i] = input->taint_rules[i];
    fleet->n_taint_rules = input->n_taint_rules;
    return rc < 0 ? rc
                  : tg_core_sort((const void **)fleet->taint_rules, fleet->n_taint_rules,
                                 compare_rules, NULL, arena, err);
}

static int add_nodes(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                     struct tg_arena *arena, struct tg_error *err)
{
    const void **order;
    size_t n = 0;
    int rc = tg_core_alloc(arena, input->n_nodes, sizeof(*order), &order, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, input->n_nodes, sizeof(*fleet->nodes), &fleet->nodes, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < input->n_nodes; i++) {
        if (input->nodes[i]->metadata != NULL && input->nodes[i]->metadata->name != NULL)
            order[n++] = input->nodes[i];
    }
    rc = tg_core_sort(order, n, compare_nodes, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct tg_fleet_node *node = &fleet->nodes[fleet->n_nodes++];

        node->object = order[i];
        node->name = node->object->metadata->name;
        rc = tg_fleet_open_rooms(node, arena, err);
    }
    return rc;
}

int tg_fleet_new(const struct tg_fleet_input *input, struct tg_arena *arena, struct tg_fleet **ret,
                 struct tg_error *err)
{
    struct tg_fleet *fleet;
    int rc = tg_core_alloc(arena, 1, sizeof(*fleet), &fleet, err);

    if (rc < 0)
        return rc;
    fleet->instance = input->instance;
    fleet->selectors = input->selectors;
    rc = add_taint_rules(fleet, input, arena, err);
    if (rc == 0)
        rc = add_nodes(fleet, input, arena, err);
    if (rc == 0)
        rc = tg_fleet_add_devices(fleet, input, arena, err);
    if (rc == 0)
        rc = tg_fleet_add_holders(fleet, input, arena, err);
    if (rc == 0)
        rc = tg_fleet_add_pods(fleet, input, arena, err);
    if (rc == 0)
        rc = tg_fleet_add_classes(fleet, input, arena, err);
    if (rc == 0)
        rc = tg_fleet_add_contests(fleet, arena, err);
    if (rc == 0)
        *ret = fleet;
    return rc;
}

/* Binary search over n rows: compare gets the row's index; TG_NO_INDEX if none compares as 0. */
static size_t search(size_t n, int (*compare)(const void *key, size_t index), const void *key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(key, middle);

        if (order == 0)
            return middle;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return TG_NO_INDEX;
}

struct key {
    const struct tg_fleet *fleet;
    const char *driver, *pool, *name;
};

static int compare_node_key(const void *key, size_t index)
{
    const struct key *k = key;

    return strcmp(k->name, k->fleet->nodes[index].name);
}

static int compare_device_key(const void *key, size_t index)
{
    const struct key *k = key;
    const struct tg_fleet_device *d = &k->fleet->devices[index];

    return tg_fleet_compare_id(k->driver, k->pool, k->name, d->driver, d->pool, d->name);
}

static int compare_holder_key(const void *key, size_t index)
{
    const struct key *k = key;
    const struct tg_fleet_holder *h = &k->fleet->holders[index];

    return tg_fleet_compare_id(k->driver, k->pool, k->name, h->driver, h->pool, h->device);
}

static int compare_class_key(const void *key, size_t index)
{
    const struct key *k = key;

    return strcmp(k->name, k->fleet->classes[index].name);
}

static int compare_bad_pool_key(const void *key, size_t index)
{
    const struct key *k = key;
    const struct tg_fleet_bad_pool *p = &k->fleet->bad_pools[index];

    return tg_fleet_compare_id(k->driver, k->pool, "", p->driver, p->pool, "");
}

size_t tg_fleet_find_node(const struct tg_fleet *fleet, const char *name)
{
    const struct key key = {.fleet = fleet, .name = name};

    return name == NULL ? TG_NO_INDEX : search(fleet->n_nodes, compare_node_key, &key);
}

size_t tg_fleet_find_device(const struct tg_fleet *fleet, const char *driver, const char *pool,
                            const char *device)
{
    const struct key key = {.fleet = fleet, .driver = driver, .pool = pool, .name = device};

    if (driver == NULL || pool == NULL || device == NULL)
        return TG_NO_INDEX;
    return search(fleet->n_devices, compare_device_key, &key);
}

const struct tg_fleet_class *tg_fleet_find_class(const struct tg_fleet *fleet, const char *name)
{
    const struct key key = {.fleet = fleet, .name = name};
    size_t index = name == NULL ? TG_NO_INDEX : search(fleet->n_classes, compare_class_key, &key);

    return index == TG_NO_INDEX ? NULL : &fleet->classes[index];
}

const struct tg_fleet_bad_pool *tg_fleet_find_bad_pool(const struct tg_fleet *fleet,
                                                       const char *driver, const char *pool)
{
    const struct key key = {.fleet = fleet, .driver = driver, .pool = pool};
    size_t index = driver == NULL || pool == NULL
                       ? TG_NO_INDEX
                       : search(fleet->n_bad_pools, compare_bad_pool_key, &key);

    return index == TG_NO_INDEX ? NULL : &fleet->bad_pools[index];
}

enum tg_device_state tg_fleet_device_state(const struct tg_fleet *fleet, const char *driver,
                                           const char *pool, const char *device,
                                           const struct tg_toleration *tolerations, size_t n)
{
    size_t index = tg_fleet_find_device(fleet, driver, pool, device);
    const struct tg_fleet_device *row;

    if (index == TG_NO_INDEX)
        return TG_DEVICE_ABSENT;
    row = &fleet->devices[index];
    for (size_t i = 0; i < row->n_taints; i++) {
        if (!tg_taint_tolerated(row->taints[i], tolerations, n))
            return TG_DEVICE_TAINTED;
    }
    return TG_DEVICE_OK;
}

const struct tg_fleet_holder *tg_fleet_find_holders(const struct tg_fleet *fleet,
                                                    const char *driver, const char *pool,
                                                    const char *device, size_t *ret_n)
{
    const struct key key = {.fleet = fleet, .driver = driver, .pool = pool, .name = device};
    size_t first = search(fleet->n_holders, compare_holder_key, &key), end = first;

    *ret_n = 0;
    if (first == TG_NO_INDEX)
        return NULL;
    while (first > 0 && compare_holder_key(&key, first - 1) == 0)
        first--;
    while (end < fleet->n_holders && compare_holder_key(&key, end) == 0)
        end++;
    *ret_n = end - first;
    return &fleet->holders[first];
}

const char *tg_fleet_device_holder(const struct tg_fleet *fleet, const char *driver,
                                   const char *pool, const char *device)
{
    size_t index = tg_fleet_find_device(fleet, driver, pool, device), n = 0;
    const struct tg_fleet_holder *holders;

    /* Devices that nobody publishes have no row; what was assumed stands in the row alone. */
    if (index != TG_NO_INDEX)
        return fleet->devices[index].holder;
    if (driver == NULL || pool == NULL || device == NULL)
        return NULL;
    holders = tg_fleet_find_holders(fleet, driver, pool, device, &n);
    return n == 0 || holders[0].share != NULL ? NULL : holders[0].holder;
}

bool tg_fleet_is_held(const struct tg_fleet *fleet, const char *driver, const char *pool,
                      const char *device)
{
    size_t n = 0;

    if (tg_fleet_device_holder(fleet, driver, pool, device) != NULL)
        return true;
    if (device != NULL)
        tg_fleet_find_holders(fleet, driver, pool, device, &n);
    return n > 0;
}

const struct tg_device *tg_fleet_device(const struct tg_fleet *fleet, const char *driver,
                                        const char *pool, const char *device)
{
    size_t index = tg_fleet_find_device(fleet, driver, pool, device);

    return index == TG_NO_INDEX ? NULL : fleet->devices[index].object;
}

enum tg_node_state tg_fleet_node_state(const struct tg_fleet *fleet, const char *node)
{
    size_t index = tg_fleet_find_node(fleet, node);
    const struct tg_node *object;
    const struct tg_condition *ready = NULL;

    if (index == TG_NO_INDEX)
        return TG_NODE_GONE;
    object = fleet->nodes[index].object;
    if (object->status != NULL)
        ready = tg_condition_find(object->status->conditions.items, object->status->conditions.n,
                                  "Ready");
    if (ready == NULL || !tg_streq(ready->status, "True"))
        return TG_NODE_NOT_READY;
    if (object->spec != NULL && object->spec->unschedulable.set &&
        object->spec->unschedulable.value)
        return TG_NODE_NOT_READY;
    return TG_NODE_OK;
}

int64_t tg_fleet_node_slack(const struct tg_fleet *fleet, const char *node)
{
    size_t index = tg_fleet_find_node(fleet, node);
    int64_t least = TG_SLACK_WHOLE;

    if (index == TG_NO_INDEX)
        return least;
    for (size_t i = 0; i < fleet->nodes[index].n_rooms; i++) {
        const struct tg_fleet_room *room = &fleet->nodes[index].rooms[i];
        int64_t left = room->allocatable - room->used, share;

        if (room->allocatable <= 0)
            continue;
        share = left <= 0 ? 0 : (int64_t)((__int128)left * TG_SLACK_WHOLE / room->allocatable);
        least = share < least ? share : least;
    }
    return least;
}
