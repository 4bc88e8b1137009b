/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"
#include "controller/core/model/taint.h"

/* Of the scratch in which one event is read: a pool of many slices needs the most. */
#define SCRATCH ((size_t)256 << 20)

int tg_fleet_compare_id(const char *a_driver, const char *a_pool, const char *a_device,
                        const char *b_driver, const char *b_pool, const char *b_device)
{
    int order = strcmp(a_driver, b_driver);

    if (order == 0)
        order = strcmp(a_pool, b_pool);
    return order != 0 ? order : strcmp(a_device, b_device);
}

/* --- strings --------------------------------------------------------------------------------- */

static uint32_t put_string(void *data, const char *s)
{
    return tg_blobs_use(&((struct tg_model *)data)->strings, s, strlen(s) + 1);
}

static const char *get_string(void *data, uint32_t number)
{
    return (const char *)tg_blobs_get(&((struct tg_model *)data)->strings, number);
}

const char *tg_model_string(struct tg_model *model, const char *s)
{
    return s == NULL ? NULL : get_string(model, put_string(model, s));
}

void tg_model_drop_string(struct tg_model *model, const char *s)
{
    if (s != NULL)
        tg_blobs_drop(&model->strings, tg_blobs_find(&model->strings, s, strlen(s) + 1), NULL,
                      NULL);
}

/* --- its life -------------------------------------------------------------------------------- */

struct tg_fleet *tg_fleet_open(const char *instance)
{
    struct tg_fleet *fleet = tg_xcalloc(1, sizeof(*fleet));
    struct tg_model *model = tg_xcalloc(1, sizeof(*model));

    fleet->model = model;
    fleet->instance = tg_xstrdup(instance);
    fleet->selectors = &model->selectors;
    model->fleet = fleet;
    model->pack = (struct tg_pack_strings){.put = put_string, .get = get_string, .data = model};
    tg_rows_init(model);
    model->scratch = tg_arena_new(SCRATCH);
    return fleet;
}

static void free_stays(struct tg_model *model)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->stays, &at)) != NULL;)
        tg_stay_free(model, (struct tg_stay *)record);
    tg_table_done(&model->stays);
}

static void free_slices(struct tg_model *model)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->slices, &at)) != NULL;)
        tg_slice_free(model, (struct tg_fleet_slice *)record);
    tg_table_done(&model->slices);
    for (size_t at = 0; (record = tg_table_next(&model->pools, &at)) != NULL;) {
        struct tg_fleet_pool *pool = (struct tg_fleet_pool *)record;

        TG_VEC_DONE(&pool->slices);
        free(pool);
    }
    tg_table_done(&model->pools);
    TG_VEC_DONE(&model->wide);
}

static void free_owners(struct tg_model *model)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->held, &at)) != NULL;)
        tg_held_free((struct tg_held *)record);
    tg_table_done(&model->held);
    for (size_t at = 0; (record = tg_table_next(&model->owners, &at)) != NULL;) {
        free(record);
    }
    tg_table_done(&model->owners);
}

static void free_kept(struct tg_table *table)
{
    struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(table, &at)) != NULL;)
        tg_kept_free((struct tg_kept *)record);
    tg_table_done(table);
}

static void empty(struct tg_attic *attic)
{
    if (attic->kept != NULL)
        attic->free(attic->kept);
    attic->kept = NULL;
}

void **tg_fleet_attic(const struct tg_fleet *fleet, void (*free)(void *kept))
{
    fleet->model->attic.free = free;
    return &fleet->model->attic.kept;
}

void **tg_fleet_learned(const struct tg_fleet *fleet, void (*free)(void *kept))
{
    fleet->model->learned.free = free;
    return &fleet->model->learned.kept;
}

/* Places last: pods and slices let go of them. A place is freed by itself when the last link goes.
 */
void tg_fleet_close(struct tg_fleet *fleet)
{
    struct tg_model *model;
    struct tg_record *record;

    if (fleet == NULL)
        return;
    model = fleet->model;
    empty(&model->attic);
    empty(&model->learned);
    tg_selections_free(model);
    tg_makes_done(&model->makes);
    free_stays(model);
    free_slices(model);
    free_owners(model);
    free_kept(&model->classes);
    free_kept(&model->rules);
    tg_shelves_free(model);
    for (size_t at = 0; (record = tg_table_next(&model->places, &at)) != NULL;)
        tg_place_free(model, (struct tg_place *)record);
    tg_table_done(&model->places);
    tg_blobs_done(&model->labels);
    tg_blobs_done(&model->strings);
    tg_blobs_done(&model->shapes);
    tg_blobs_done(&model->contents);
    tg_blobs_done(&model->demands);
    TG_VEC_DONE(&model->log);
    TG_VEC_DONE(&model->buffer);
    TG_VEC_DONE(&model->attributes);
    TG_VEC_DONE(&model->numbers);
    TG_VEC_DONE(&model->contests);
    TG_VEC_DONE(&model->news.nodes);
    tg_rows_done(model);
    tg_arena_free(model->contest_arena);
    tg_arena_free(model->scratch);
    free(model);
    free((char *)(uintptr_t)fleet->instance);
    free(fleet);
}

void tg_fleet_select_for(struct tg_fleet *fleet, const struct tg_selector_options *options)
{
    static const struct tg_selector_options newest;
    struct tg_model *model = fleet->model;

    options = options == NULL ? &newest : options;
    if (options->minor == model->selectors.minor && options->zones == model->selectors.zones)
        return;
    model->selectors = *options;
    empty(&model->attic);
    tg_selections_free(model);
    tg_classes_compile(model);
}

/* --- events ---------------------------------------------------------------------------------- */

static void put_node(struct tg_model *model, const void *object)
{
    tg_place_put(model, object);
}

static void put_slice(struct tg_model *model, const void *object)
{
    tg_slice_put(model, object);
}

static void put_class(struct tg_model *model, const void *object)
{
    tg_class_put(model, object);
}

static void put_claim(struct tg_model *model, const void *object)
{
    tg_claim_put(model, object);
}

static void put_pod(struct tg_model *model, const void *object)
{
    tg_stay_put(model, object);
}

static void put_rule(struct tg_model *model, const void *object)
{
    tg_rule_put(model, object);
}

static void put_volume(struct tg_model *model, const void *object)
{
    tg_shelf_put(model, TG_SHELF_VOLUME, object);
}

static void put_volume_claim(struct tg_model *model, const void *object)
{
    tg_shelf_put(model, TG_SHELF_VOLUME_CLAIM, object);
}

static void put_storage_class(struct tg_model *model, const void *object)
{
    tg_shelf_put(model, TG_SHELF_STORAGE_CLASS, object);
}

static void drop_node(struct tg_model *model, const char *namespace_, const char *name)
{
    (void)namespace_;
    tg_place_drop(model, name);
}

static void drop_slice(struct tg_model *model, const char *namespace_, const char *name)
{
    (void)namespace_;
    tg_slice_drop(model, name);
}

static void drop_class(struct tg_model *model, const char *namespace_, const char *name)
{
    (void)namespace_;
    tg_class_drop(model, name);
}

static void drop_rule(struct tg_model *model, const char *namespace_, const char *name)
{
    (void)namespace_;
    tg_rule_drop(model, name);
}

static void drop_volume(struct tg_model *model, const char *namespace_, const char *name)
{
    tg_shelf_drop(model, TG_SHELF_VOLUME, namespace_, name);
}

static void drop_volume_claim(struct tg_model *model, const char *namespace_, const char *name)
{
    tg_shelf_drop(model, TG_SHELF_VOLUME_CLAIM, namespace_, name);
}

static void drop_storage_class(struct tg_model *model, const char *namespace_, const char *name)
{
    tg_shelf_drop(model, TG_SHELF_STORAGE_CLASS, namespace_, name);
}

static const struct {
    void (*put)(struct tg_model *model, const void *object);
    void (*drop)(struct tg_model *model, const char *namespace_, const char *name);
} kinds[TG_FLEET_KINDS] = {
    [TG_FLEET_NODE] = {put_node, drop_node},
    [TG_FLEET_SLICE] = {put_slice, drop_slice},
    [TG_FLEET_CLASS] = {put_class, drop_class},
    [TG_FLEET_CLAIM] = {put_claim, tg_claim_drop},
    [TG_FLEET_POD] = {put_pod, tg_stay_drop},
    [TG_FLEET_TAINT_RULE] = {put_rule, drop_rule},
    [TG_FLEET_VOLUME] = {put_volume, drop_volume},
    [TG_FLEET_VOLUME_CLAIM] = {put_volume_claim, drop_volume_claim},
    [TG_FLEET_STORAGE_CLASS] = {put_storage_class, drop_storage_class},
};

void tg_fleet_put(struct tg_fleet *fleet, enum tg_fleet_kind kind, const void *object)
{
    const struct tg_object_meta *meta = ((const struct tg_object *)object)->metadata;

    if (meta != NULL && meta->name != NULL)
        kinds[kind].put(fleet->model, object);
}

void tg_fleet_drop(struct tg_fleet *fleet, enum tg_fleet_kind kind, const char *namespace_,
                   const char *name)
{
    if (name != NULL)
        kinds[kind].drop(fleet->model, namespace_, name);
}

void tg_fleet_hold(struct tg_fleet *fleet, const char *owner, const struct tg_fleet_busy *busy,
                   size_t n)
{
    tg_owner_hold(fleet->model, owner, busy, n);
}

void tg_fleet_assume(struct tg_fleet *fleet, const struct tg_fleet_busy *busy, size_t n_busy,
                     const struct tg_fleet_assumed *assumed, size_t n_assumed)
{
    struct tg_model *model = fleet->model;

    for (size_t i = 0; i < n_busy; i++) {
        struct tg_grant *grant = tg_grant_assume(model, &busy[i]);

        if (grant != NULL)
            *TG_VEC_PUSH(&model->log) = (struct tg_undo){.grant = grant};
    }
    for (size_t i = 0; i < n_assumed; i++) {
        const struct tg_fleet_assumed *a = &assumed[i];

        if (a->pod != NULL && a->node != NULL && a->pod->metadata != NULL)
            *TG_VEC_PUSH(&model->log) =
                (struct tg_undo){.stay = tg_stay_assume(model, a->pod, a->node)};
    }
}

size_t tg_fleet_mark(const struct tg_fleet *fleet)
{
    return fleet->model->log.n;
}

void tg_fleet_undo(struct tg_fleet *fleet, size_t mark)
{
    struct tg_model *model = fleet->model;

    while (model->log.n > mark) {
        const struct tg_undo *undo = &model->log.items[--model->log.n];

        if (undo->grant != NULL)
            tg_grant_free(model, undo->grant);
        else
            tg_stay_forget(model, undo->stay);
    }
}

void tg_fleet_settle(struct tg_fleet *fleet)
{
    tg_rows_settle(fleet->model);
}

static void put_all(struct tg_fleet *fleet, enum tg_fleet_kind kind, const void *list, size_t n)
{
    const void *const *objects = list;

    for (size_t i = 0; i < n; i++)
        tg_fleet_put(fleet, kind, objects[i]);
}

/* No API server has two slices of one name, but the cases of the built-in allocator do: the second
 * one gets a name that comes next. */
static int put_slices(struct tg_fleet *fleet, const struct tg_fleet_input *input,
                      struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < input->n_slices; i++) {
        struct tg_resource_slice slice = *input->slices[i];
        struct tg_object_meta meta = {.name = slice.metadata == NULL ? NULL : slice.metadata->name};

        for (unsigned k = 2; meta.name != NULL && tg_slice_find(fleet->model, meta.name) != NULL;
             k++) {
            meta.name = tg_arena_printf(arena, "%s (%u)", slice.metadata->name, k);
            if (meta.name == NULL)
                return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                    "the decision needs more memory than its budget");
        }
        slice.metadata = &meta;
        tg_fleet_put(fleet, TG_FLEET_SLICE, &slice);
    }
    return 0;
}

static void close_fleet(void *data)
{
    tg_fleet_close(data);
}

int tg_fleet_new(const struct tg_fleet_input *input, struct tg_arena *arena, struct tg_fleet **ret,
                 struct tg_error *err)
{
    struct tg_fleet *fleet = tg_fleet_open(input->instance);
    int rc = 0;

    if (tg_arena_on_reset(arena, close_fleet, fleet) < 0) {
        tg_fleet_close(fleet);
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the decision needs more memory than its budget");
    }
    tg_fleet_select_for(fleet, input->selectors);
    put_all(fleet, TG_FLEET_NODE, input->nodes, input->n_nodes);
    rc = put_slices(fleet, input, arena, err);
    if (rc < 0)
        return rc;
    put_all(fleet, TG_FLEET_CLASS, input->classes, input->n_classes);
    put_all(fleet, TG_FLEET_CLAIM, input->claims, input->n_claims);
    put_all(fleet, TG_FLEET_POD, input->pods, input->n_pods);
    put_all(fleet, TG_FLEET_TAINT_RULE, input->taint_rules, input->n_taint_rules);
    put_all(fleet, TG_FLEET_VOLUME, input->volumes, input->n_volumes);
    put_all(fleet, TG_FLEET_VOLUME_CLAIM, input->volume_claims, input->n_volume_claims);
    put_all(fleet, TG_FLEET_STORAGE_CLASS, input->storage_classes, input->n_storage_classes);
    tg_fleet_assume(fleet, input->busy, input->n_busy, input->assumed, input->n_assumed);
    tg_fleet_settle(fleet);
    *ret = fleet;
    return 0;
}

/* --- questions ------------------------------------------------------------------------------- */

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

static int compare_class_key(const void *key, size_t index)
{
    const struct key *k = key;

    return strcmp(k->name, k->fleet->classes[index].name);
}

size_t tg_fleet_find_node(const struct tg_fleet *fleet, const char *name)
{
    const struct tg_place *place = tg_place_find(fleet->model, name);

    return place == NULL ? TG_NO_INDEX : place->index;
}

size_t tg_fleet_find_device(const struct tg_fleet *fleet, const char *driver, const char *pool,
                            const char *device)
{
    const struct tg_fleet_pool *found = tg_fleet_pool_find(fleet->model, driver, pool);
    const struct tg_fleet_device *row =
        found == NULL || device == NULL ? NULL : tg_rows_find(fleet->model, found, device);

    return row == NULL ? TG_NO_INDEX : (size_t)(row - fleet->devices);
}

const struct tg_fleet_class *tg_fleet_find_class(const struct tg_fleet *fleet, const char *name)
{
    const struct key key = {.fleet = fleet, .name = name};
    size_t index = name == NULL ? TG_NO_INDEX : search(fleet->n_classes, compare_class_key, &key);

    return index == TG_NO_INDEX ? NULL : &fleet->classes[index];
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

const char *tg_fleet_device_holder(const struct tg_fleet *fleet, const char *driver,
                                   const char *pool, const char *device)
{
    return tg_held_holder(tg_held_find(fleet->model, driver, pool, device));
}

const struct tg_device *tg_fleet_device(const struct tg_fleet *fleet, const char *driver,
                                        const char *pool, const char *device,
                                        struct tg_arena *arena)
{
    size_t index = tg_fleet_find_device(fleet, driver, pool, device);
    struct tg_device *ret;

    if (index == TG_NO_INDEX)
        return NULL;
    ret = tg_arena_alloc(arena, sizeof(*ret));
    if (ret == NULL ||
        tg_slot_device(fleet->model, fleet->devices[index].slot, arena, ret, NULL) < 0)
        return NULL;
    return ret;
}

int tg_fleet_selects(const struct tg_fleet *fleet, const struct tg_selector *selector,
                     size_t device, bool *ret, struct tg_error *err)
{
    const struct tg_fleet_device *row = &fleet->devices[device];
    struct tg_device object;
    int rc = 0;

    tg_arena_reset(fleet->model->scratch);
    rc = tg_slot_device(fleet->model, row->slot, fleet->model->scratch, &object, err);
    return rc < 0 ? rc : tg_selector_matches(selector, row->driver, &object, ret, err);
}

int64_t tg_fleet_room_left(const struct tg_fleet_node *node, const char *resource)
{
    size_t low = 0, high = node->n_rooms;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tg_fleet_room *room = &node->rooms[middle];
        int order = strcmp(room->name, resource);

        /* Both are at least 0: no overflow. */
        if (order == 0)
            return room->allocatable - room->used;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return tg_is_host_port(resource) ? 1 : 0;
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

        if (room->allocatable <= 0 || tg_is_host_port(room->name))
            continue;
        share = left <= 0 ? 0 : (int64_t)((__int128)left * TG_SLACK_WHOLE / room->allocatable);
        least = share < least ? share : least;
    }
    return least;
}
