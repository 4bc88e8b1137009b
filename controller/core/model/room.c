/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left on the nodes: allocatable less the requests of the pods that are bound there,
 * assumed to be, or nominated by the scheduler after a preemption (they will be bound before
 * anybody else).
 */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/view.h"

static int compare_rooms(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_fleet_room *)a)->name, ((const struct tg_fleet_room *)b)->name);
}

static int say_broken(struct tg_fleet_node *node, const struct tg_error *cause,
                      struct tg_arena *arena, struct tg_error *err)
{
    node->broken = tg_arena_strdup(arena, cause->message);
    if (node->broken == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the decision needs more memory than its budget");
    return 0;
}

int tg_fleet_open_rooms(struct tg_fleet_node *node, struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_node_status *status = node->object->status;
    struct tg_fleet_room *rooms;
    const void **order;
    size_t n = status == NULL ? 0 : status->allocatable.n;
    int rc = tg_core_alloc(arena, n, sizeof(*rooms), &rooms, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(*order), &order, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(*node->rooms), &node->rooms, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tg_string_pair *pair = &status->allocatable.items[i];
        struct tg_error cause = TG_ERROR_INIT;

        rooms[i].name = pair->key;
        order[i] = &rooms[i];
        if (tg_amount_parse(pair->key, pair->value, &rooms[i].allocatable, &cause) < 0)
            rc = say_broken(node, &cause, arena, err);
    }
    if (rc == 0)
        rc = tg_core_sort(order, n, compare_rooms, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        node->rooms[i] = *(const struct tg_fleet_room *)order[i];
    node->n_rooms = n;
    return rc;
}

static struct tg_fleet_room *find_room(const struct tg_fleet_node *node, const char *name)
{
    size_t low = 0, high = node->n_rooms;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(node->rooms[middle].name, name);

        if (order == 0)
            return &node->rooms[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int64_t tg_fleet_room_left(const struct tg_fleet_node *node, const char *resource)
{
    const struct tg_fleet_room *room = find_room(node, resource);

    /* Both are at least 0: no overflow. */
    return room == NULL ? 0 : room->allocatable - room->used;
}

/* Where a pod stands: at most one node a pod, the strongest claim first. */
enum standing { BOUND, ASSUMED, NOMINATED };

struct stay {
    const struct tg_pod *pod;
    const char *node;
    enum standing standing;
};

/* One pod's entries beside each other, the strongest first. */
static int compare_stays(const void *pa, const void *pb, const void *context)
{
    const struct stay *a = pa, *b = pb;
    const struct tg_object_meta *ma = a->pod->metadata, *mb = b->pod->metadata;
    int order = tg_strcmp(ma->namespace_, mb->namespace_);

    (void)context;
    if (order == 0)
        order = tg_strcmp(ma->name, mb->name);
    if (order == 0)
        order = tg_strcmp(ma->uid, mb->uid);
    if (order == 0)
        order = (int)a->standing - (int)b->standing;
    return order != 0 ? order : tg_strcmp(a->node, b->node);
}

static bool same_pod(const struct tg_pod *a, const struct tg_pod *b)
{
    return tg_streq(a->metadata->namespace_, b->metadata->namespace_) &&
           tg_streq(a->metadata->name, b->metadata->name) &&
           tg_streq(a->metadata->uid, b->metadata->uid);
}

static bool stay_of(const struct tg_pod *pod, struct stay *ret)
{
    const char *bound = pod->spec == NULL ? NULL : pod->spec->node_name;
    const char *nominated = pod->status == NULL ? NULL : pod->status->nominated_node_name;

    if (pod->metadata == NULL || tg_pod_finished(pod))
        return false;
    if (bound != NULL && bound[0] != '\0')
        *ret = (struct stay){.pod = pod, .node = bound, .standing = BOUND};
    else if (nominated != NULL && nominated[0] != '\0')
        *ret = (struct stay){.pod = pod, .node = nominated, .standing = NOMINATED};
    else
        return false;
    return true;
}

static size_t gather(const struct tg_fleet_input *input, struct stay *stays)
{
    size_t n = 0;

    for (size_t i = 0; i < input->n_pods; i++) {
        if (stay_of(input->pods[i], &stays[n]))
            n++;
    }
    for (size_t i = 0; i < input->n_assumed; i++) {
        if (input->assumed[i].pod == NULL || input->assumed[i].node == NULL ||
            input->assumed[i].pod->metadata == NULL)
            continue;
        stays[n++] = (struct stay){
            .pod = input->assumed[i].pod, .node = input->assumed[i].node, .standing = ASSUMED};
    }
    return n;
}

/* A pod whose requests cannot be read makes its node unusable: nobody knows what is left there. */
static int take_room(struct tg_fleet *fleet, const struct stay *stay, struct tg_demand_table *table,
                     struct tg_arena *arena, struct tg_error *err)
{
    size_t index = tg_fleet_find_node(fleet, stay->node);
    struct tg_error cause = TG_ERROR_INIT;
    struct tg_fleet_node *node;
    int rc = 0;

    if (index == TG_NO_INDEX)
        return 0;
    node = &fleet->nodes[index];
    rc = tg_demand_count(stay->pod, table, arena, &cause);
    if (rc == -TG_RESOURCE_EXHAUSTED)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", cause.message);
    if (rc < 0) {
        tg_error_wrap(&cause, "pod %s/%s", tg_or(stay->pod->metadata->namespace_, ""),
                      tg_or(stay->pod->metadata->name, "?"));
        return say_broken(node, &cause, arena, err);
    }
    for (size_t i = 0; i < table->n; i++) {
        struct tg_fleet_room *room = find_room(node, table->rows[i].name);

        if (room != NULL)
            room->used = tg_amount_add(room->used, table->rows[i].total);
    }
    return 0;
}

int tg_fleet_add_pods(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                      struct tg_arena *arena, struct tg_error *err)
{
    struct tg_demand_table table = {0};
    struct stay *stays;
    const void **order;
    size_t n = 0;
    int rc = tg_core_alloc(arena, input->n_pods + input->n_assumed, sizeof(*stays), &stays, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, input->n_pods + input->n_assumed, sizeof(*order), &order, err);
    if (rc < 0)
        return rc;
    n = gather(input, stays);
    for (size_t i = 0; i < n; i++)
        order[i] = &stays[i];
    rc = tg_core_sort(order, n, compare_stays, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct stay *stay = order[i];

        if (i > 0 && same_pod(stay->pod, ((const struct stay *)order[i - 1])->pod))
            continue;
        rc = take_room(fleet, stay, &table, arena, err);
    }
    return rc;
}

int tg_fleet_assume(struct tg_fleet *fleet, const struct tg_fleet_busy *busy, size_t n_busy,
                    const struct tg_fleet_assumed *assumed, size_t n_assumed,
                    struct tg_arena *arena, struct tg_error *err)
{
    struct tg_demand_table table = {0};
    int rc = 0;

    for (size_t i = 0; i < n_busy; i++) {
        size_t index = tg_fleet_find_device(fleet, busy[i].driver, busy[i].pool, busy[i].device);

        if (index != TG_NO_INDEX && fleet->devices[index].holder == NULL)
            fleet->devices[index].holder = busy[i].holder;
    }
    for (size_t i = 0; rc == 0 && i < n_assumed; i++) {
        const struct stay stay = {
            .pod = assumed[i].pod, .node = assumed[i].node, .standing = ASSUMED};

        rc = take_room(fleet, &stay, &table, arena, err);
    }
    return rc;
}
