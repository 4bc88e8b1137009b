/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: of each what decisions read is kept, in one block; strings are those of the model. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/labels.h"
#include "controller/core/model/model.h"
#include "controller/core/model/sort.h"

static bool is_place(const struct tg_record *record, const void *key)
{
    return strcmp(((const struct tg_place *)record)->name, key) == 0;
}

struct tg_place *tg_place_find(const struct tg_model *model, const char *name)
{
    if (name == NULL)
        return NULL;
    return (struct tg_place *)tg_table_find(&model->places, tg_hash_text(TG_HASH_SEED, name),
                                            is_place, name);
}

struct tg_place *tg_place_of(struct tg_model *model, const char *name)
{
    struct tg_place *place = tg_place_find(model, name);

    if (place != NULL)
        return place;
    place = tg_xcalloc(1, sizeof(*place));
    place->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, name);
    place->name = tg_model_string(model, name);
    place->index = TG_NO_INDEX;
    tg_table_add(&model->places, &place->record);
    return place;
}

/* The Node as decisions read it, and its strings. */
struct copy {
    struct tg_node node;
    struct tg_object_meta meta;
    struct tg_node_spec spec;
    struct tg_node_status status;
    struct tg_condition ready;
};

static void drop_pairs(struct tg_model *model, const struct tg_string_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tg_model_drop_string(model, pairs[i].key);
        tg_model_drop_string(model, pairs[i].value);
    }
}

static void drop_object(struct tg_model *model, struct tg_place *place)
{
    struct tg_node *node = place->object;

    if (node == NULL)
        return;
    tg_labels_leave(model, place->labels);
    place->labels = 0;
    drop_pairs(model, node->metadata->labels.items, node->metadata->labels.n);
    drop_pairs(model, node->status->allocatable.items, node->status->allocatable.n);
    for (size_t i = 0; i < node->spec->taints.n; i++) {
        tg_model_drop_string(model, node->spec->taints.items[i].key);
        tg_model_drop_string(model, node->spec->taints.items[i].value);
        tg_model_drop_string(model, node->spec->taints.items[i].effect);
    }
    tg_model_drop_string(model, ((struct copy *)node)->ready.status);
    tg_model_drop_string(model, place->broken);
    place->broken = NULL;
    place->object = NULL;
    free(node);
}

static void copy_pairs(struct tg_model *model, const struct tg_string_pair *from, size_t n,
                       struct tg_string_pair *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (struct tg_string_pair){.key = tg_model_string(model, from[i].key),
                                        .value = tg_model_string(model, from[i].value)};
}

static void copy_taints(struct tg_model *model, const struct tg_node_spec *spec,
                        struct tg_taint *to)
{
    for (size_t i = 0; spec != NULL && i < spec->taints.n; i++) {
        const struct tg_taint *t = &spec->taints.items[i];

        to[i] = (struct tg_taint){.key = tg_model_string(model, t->key),
                                  .value = tg_model_string(model, t->value),
                                  .effect = tg_model_string(model, t->effect)};
    }
}

static struct tg_node *copy_node(struct tg_model *model, const struct tg_node *node,
                                 const char *name)
{
    const struct tg_node_status *status = node->status;
    size_t labels = node->metadata->labels.n;
    size_t taints = node->spec == NULL ? 0 : node->spec->taints.n;
    size_t allocatable = status == NULL ? 0 : status->allocatable.n;
    struct copy *c =
        tg_xcalloc(1, sizeof(*c) + (labels + allocatable) * sizeof(struct tg_string_pair) +
                          taints * sizeof(struct tg_taint));
    struct tg_string_pair *pairs = (struct tg_string_pair *)(c + 1);
    const struct tg_condition *ready =
        status == NULL ? NULL
                       : tg_condition_find(status->conditions.items, status->conditions.n, "Ready");

    c->node = (struct tg_node){.metadata = &c->meta, .spec = &c->spec, .status = &c->status};
    c->meta.name = name;
    c->meta.labels.items = pairs;
    c->meta.labels.n = labels;
    copy_pairs(model, node->metadata->labels.items, labels, pairs);
    c->status.allocatable.items = pairs + labels;
    c->status.allocatable.n = allocatable;
    if (status != NULL)
        copy_pairs(model, status->allocatable.items, allocatable, pairs + labels);
    c->spec.taints.items = (struct tg_taint *)(pairs + labels + allocatable);
    c->spec.taints.n = taints;
    copy_taints(model, node->spec, c->spec.taints.items);
    if (node->spec != NULL)
        c->spec.unschedulable = node->spec->unschedulable;
    if (ready != NULL) {
        c->ready =
            (struct tg_condition){.type = "Ready", .status = tg_model_string(model, ready->status)};
        c->status.conditions.items = &c->ready;
        c->status.conditions.n = 1;
    }
    return &c->node;
}

static const struct tg_usage *usage_of(const struct tg_place *place, const char *name)
{
    for (size_t i = 0; i < place->usage.n; i++) {
        if (strcmp(place->usage.items[i].name, name) == 0)
            return &place->usage.items[i];
    }
    return NULL;
}

static void add_room(struct tg_model *model, struct tg_place *place,
                     const struct tg_string_pair *pair)
{
    struct tg_fleet_room room = {.name = pair->key};
    const struct tg_usage *usage = usage_of(place, pair->key);
    struct tg_error cause = TG_ERROR_INIT;
    size_t at = place->n_rooms++;

    if (tg_amount_parse(pair->key, pair->value, &room.allocatable, &cause) < 0) {
        tg_model_drop_string(model, place->broken);
        place->broken = tg_model_string(model, cause.message);
    }
    if (usage != NULL)
        room.used = tg_usage_amount(usage);
    for (; at > 0 && strcmp(place->rooms[at - 1].name, room.name) > 0; at--)
        place->rooms[at] = place->rooms[at - 1];
    place->rooms[at] = room;
}

void tg_place_open_rooms(struct tg_model *model, struct tg_place *place)
{
    size_t n = place->object == NULL ? 0 : place->object->status->allocatable.n;

    free(place->rooms);
    place->rooms = n == 0 ? NULL : tg_xcalloc(n + place->usage.n, sizeof(*place->rooms));
    place->n_rooms = 0;
    for (size_t i = 0; i < n; i++)
        add_room(model, place, &place->object->status->allocatable.items[i]);
    /* No node speaks of its ports: those in use are there. */
    for (size_t i = 0; n > 0 && i < place->usage.n; i++) {
        if (tg_is_host_port(place->usage.items[i].name))
            add_room(model, place,
                     &(struct tg_string_pair){.key = place->usage.items[i].name, .value = "1"});
    }
}

void tg_place_put(struct tg_model *model, const struct tg_node *node)
{
    struct tg_place *place = tg_place_of(model, node->metadata->name);
    bool is_new = place->object == NULL;
    struct tg_node *copy = copy_node(model, node, place->name);

    drop_object(model, place);
    place->object = copy;
    place->labels =
        tg_labels_keep(model, place->name, copy->metadata->labels.items, copy->metadata->labels.n);
    tg_place_open_rooms(model, place);
    if (is_new)
        tg_rows_add_node(model, place);
    else
        tg_place_show(model, place);
}

void tg_place_drop(struct tg_model *model, const char *name)
{
    struct tg_place *place = tg_place_find(model, name);

    if (place == NULL || place->object == NULL)
        return;
    tg_rows_drop_node(model, place);
    drop_object(model, place);
    tg_place_open_rooms(model, place);
    tg_place_release(model, place);
}

void tg_place_release(struct tg_model *model, struct tg_place *place)
{
    if (place->object != NULL || place->links > 0)
        return;
    tg_table_remove(&model->places, &place->record);
    tg_place_free(model, place);
}

void tg_place_free(struct tg_model *model, struct tg_place *place)
{
    drop_object(model, place);
    free(place->rooms);
    for (size_t i = 0; i < place->usage.n; i++)
        tg_model_drop_string(model, place->usage.items[i].name);
    TG_VEC_DONE(&place->usage);
    TG_VEC_DONE(&place->unreadable);
    TG_VEC_DONE(&place->pools);
    tg_model_drop_string(model, place->name);
    free(place);
}

/* Of several pods that cannot be read the first by name is told. */
static const char *why_broken(const struct tg_model *model, const struct tg_place *place)
{
    const struct tg_stay *first = NULL;
    char key[TG_STAY_KEY], least[TG_STAY_KEY];

    for (size_t i = 0; i < place->unreadable.n; i++) {
        const struct tg_stay *stay = place->unreadable.items[i];

        if (first != NULL && strcmp(tg_stay_key(model, stay, key), least) >= 0)
            continue;
        tg_stay_key(model, stay, least);
        first = stay;
    }
    return first == NULL ? place->broken : tg_stay_problem(model, first);
}

const char *const tg_main_rooms[TG_MAIN_ROOMS] = {[TG_MAIN_CPU] = TG_RESOURCE_CPU,
                                                  [TG_MAIN_MEMORY] = TG_RESOURCE_MEMORY,
                                                  [TG_MAIN_PODS] = TG_RESOURCE_PODS};

static bool is_plain(const struct tg_fleet_node *row)
{
    const struct tg_node *object = row->object;

    return row->broken == NULL && object->status->conditions.n > 0 &&
           tg_streq(object->status->conditions.items[0].status, "True") &&
           object->spec->taints.n == 0 &&
           !(object->spec->unschedulable.set && object->spec->unschedulable.value);
}

void tg_place_fill(const struct tg_model *model, struct tg_fleet_node *row,
                   const struct tg_place *place)
{
    row->object = place->object;
    row->name = place->name;
    row->broken = why_broken(model, place);
    row->labels = place->labels;
    row->rooms = place->rooms;
    row->n_rooms = (uint32_t)place->n_rooms;
    for (size_t i = 0; i < TG_MAIN_ROOMS; i++)
        row->left[i] = tg_fleet_room_left(row, tg_main_rooms[i]);
    row->plain = is_plain(row);
}

void tg_place_show(struct tg_model *model, const struct tg_place *place)
{
    if (place->index == TG_NO_INDEX)
        return;
    tg_news_node(model, place->index);
    tg_place_fill(model, &model->fleet->nodes[place->index], place);
}
