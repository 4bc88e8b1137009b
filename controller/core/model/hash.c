/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of a fleet as one number. Everything goes in by name and in an order of its own, not by
 * the numbers and places that the history of the model has given it: what differs in history alone
 * is equal.
 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"

static uint64_t mix_amount(uint64_t hash, __int128 amount)
{
    return tg_hash_mix(tg_hash_mix(hash, (uint64_t)amount), (uint64_t)(amount >> 64));
}

/* --- rows: in the order of names --- */

static uint64_t hash_node(uint64_t hash, const struct tg_fleet *fleet,
                          const struct tg_fleet_node *node)
{
    const struct tg_node *object = node->object;

    hash = tg_hash_text(tg_hash_text(hash, node->name), node->broken);
    for (size_t i = 0; i < object->metadata->labels.n; i++)
        hash = tg_hash_text(tg_hash_text(hash, object->metadata->labels.items[i].key),
                            object->metadata->labels.items[i].value);
    for (size_t i = 0; i < object->spec->taints.n; i++)
        hash = tg_hash_text(tg_hash_text(tg_hash_text(hash, object->spec->taints.items[i].key),
                                         object->spec->taints.items[i].value),
                            object->spec->taints.items[i].effect);
    hash = tg_hash_mix(hash, object->spec->unschedulable.set && object->spec->unschedulable.value);
    for (size_t i = 0; i < object->status->conditions.n; i++)
        hash = tg_hash_text(hash, object->status->conditions.items[i].status);
    for (size_t i = 0; i < node->n_rooms; i++) {
        hash = tg_hash_text(hash, node->rooms[i].name);
        hash = tg_hash_mix(hash, (uint64_t)node->rooms[i].allocatable);
        hash = tg_hash_mix(hash, (uint64_t)node->rooms[i].used);
    }
    for (size_t i = 0; i < node->n_devices; i++) {
        const struct tg_fleet_device *d = &fleet->devices[node->devices[i]];

        hash = tg_hash_text(tg_hash_text(tg_hash_text(hash, d->driver), d->pool), d->name);
    }
    return hash;
}

static uint64_t hash_device(uint64_t hash, const struct tg_fleet *fleet,
                            const struct tg_fleet_device *d)
{
    hash = tg_hash_text(tg_hash_text(tg_hash_text(hash, d->driver), d->pool), d->name);
    hash = tg_hash_text(hash, d->node == TG_NO_INDEX ? NULL : fleet->nodes[d->node].name);
    hash = tg_hash_text(tg_hash_text(hash, d->contested), d->unsupported);
    hash = tg_hash_text(tg_hash_mix(hash, d->exact), d->holder);
    for (size_t i = 0; i < d->n_taints; i++)
        hash =
            tg_hash_text(tg_hash_text(tg_hash_text(hash, d->taints[i]->key), d->taints[i]->value),
                         d->taints[i]->effect);
    return hash;
}

static uint64_t hash_rows(uint64_t hash, const struct tg_fleet *fleet)
{
    struct tg_fleet_walk nodes = {.next = 0}, devices = {.next = 0};
    size_t i;

    hash = tg_hash_mix(tg_hash_mix(hash, fleet->n_devices), fleet->n_exact);
    hash = tg_hash_mix(hash, fleet->n_bad_pools);
    while ((i = tg_fleet_next_node(fleet, &nodes)) != TG_NO_INDEX)
        hash = hash_node(hash, fleet, &fleet->nodes[i]);
    while ((i = tg_fleet_next_device(fleet, &devices)) != TG_NO_INDEX)
        hash = hash_device(hash, fleet, &fleet->devices[i]);
    for (i = 0; i < fleet->n_classes; i++) {
        hash = tg_hash_text(hash, fleet->classes[i].name);
        hash = tg_hash_mix(hash, fleet->classes[i].kind);
        hash = tg_hash_mix(hash, (uint64_t)fleet->classes[i].compile_code);
        hash = tg_hash_mix(hash, fleet->classes[i].n_selectors);
        hash = tg_hash_mix(hash, fleet->classes[i].contests);
    }
    for (i = 0; i < fleet->n_taint_rules; i++)
        hash = tg_hash_text(hash, fleet->taint_rules[i]->metadata->name);
    return hash;
}

/* --- records: in no order, so what they give is added up --- */

static uint64_t hash_slice(const struct tg_model *model, const struct tg_fleet_slice *slice,
                           struct tg_arena *arena)
{
    uint64_t hash = tg_hash_text(tg_hash_text(TG_HASH_SEED, slice->name), slice->node_name);

    hash = tg_hash_text(tg_hash_text(hash, slice->pool->driver), slice->pool->name);
    hash = tg_hash_mix(tg_hash_mix(hash, (uint64_t)slice->generation), (uint64_t)slice->count);
    hash = tg_hash_mix(hash, slice->all_nodes);
    for (size_t i = 0; i < slice->n_counters; i++)
        hash = tg_hash_text(hash, slice->counters[i].name);
    for (size_t i = 0; i < slice->n_slots; i++) {
        struct tg_device device;
        unsigned char *bytes;
        size_t n;

        tg_arena_reset(arena);
        if (tg_slot_device(model, &slice->slots[i], arena, &device, NULL) < 0)
            abort(); /* as tg_xmalloc */
        n = tg_pack(&tg_device_type, &device, NULL, NULL, 0);
        bytes = tg_xmalloc(n);
        tg_pack(&tg_device_type, &device, NULL, bytes, n);
        hash = tg_hash_mix(hash, tg_hash64(bytes, n));
        free(bytes);
    }
    return hash;
}

static uint64_t hash_held(const struct tg_model *model, const struct tg_held *held)
{
    uint64_t hash = tg_hash_text(tg_hash_text(TG_HASH_SEED, held->pool->driver), held->pool->name);

    hash = tg_hash_text(hash, tg_held_name(model, held));
    for (const struct tg_grant *g = held->first; g != NULL; g = g->next) {
        hash = tg_hash_text(tg_hash_text(hash, g->holder), tg_grant_share(g));
        hash = tg_hash_mix(hash, g->allocated);
        for (size_t i = 0; g->share != NULL && i < g->share->n_consumed; i++)
            hash = tg_hash_text(tg_hash_text(hash, g->share->consumed[i].key),
                                g->share->consumed[i].value);
    }
    return hash;
}

static uint64_t hash_stay(const struct tg_model *model, const struct tg_stay *stay)
{
    const struct tg_place *place = tg_stay_place(stay);
    char key[TG_STAY_KEY];
    uint64_t hash = tg_hash_text(TG_HASH_SEED, tg_stay_key(model, stay, key));

    hash = tg_hash_text(hash, place == NULL ? NULL : place->name);
    hash = tg_hash_mix(tg_hash_text(hash, tg_stay_problem(model, stay)), stay->bound);
    for (const struct tg_amount *a = tg_stay_amounts(model, stay); a->name != NULL; a++)
        hash = tg_hash_mix(tg_hash_text(hash, a->name), (uint64_t)a->value);
    for (const struct tg_assumed_stay *a = tg_stay_assumed(stay); a != NULL; a = a->next)
        hash = tg_hash_text(hash, a->place->name);
    return hash;
}

static uint64_t hash_place(const struct tg_place *place)
{
    uint64_t hash = tg_hash_text(TG_HASH_SEED, place->name), usage = 0;

    hash = tg_hash_mix(tg_hash_mix(hash, place->object != NULL), place->links);
    for (size_t i = 0; i < place->usage.n; i++)
        usage += mix_amount(tg_hash_text(TG_HASH_SEED, place->usage.items[i].name),
                            place->usage.items[i].sum);
    hash = tg_hash_mix(hash, usage);
    for (size_t i = 0; i < place->pools.n; i++)
        hash = tg_hash_text(tg_hash_text(hash, place->pools.items[i]->driver),
                            place->pools.items[i]->name);
    return hash;
}

static uint64_t hash_pool(const struct tg_fleet_pool *pool)
{
    uint64_t hash = tg_hash_text(tg_hash_text(TG_HASH_SEED, pool->driver), pool->name);

    hash = tg_hash_mix(tg_hash_mix(hash, pool->n_held), pool->n_wide);
    for (size_t i = 0; i < pool->slices.n; i++)
        hash = tg_hash_text(hash, pool->slices.items[i]->name);
    return tg_hash_text(hash, pool->why);
}

static uint64_t hash_records(const struct tg_model *model)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    uint64_t sum = tg_hash_mix(model->owners.n, model->log.n);
    const struct tg_record *record;

    for (size_t at = 0; (record = tg_table_next(&model->slices, &at)) != NULL;)
        sum += hash_slice(model, (const struct tg_fleet_slice *)record, arena);
    for (size_t at = 0; (record = tg_table_next(&model->held, &at)) != NULL;)
        sum += hash_held(model, (const struct tg_held *)record);
    for (size_t at = 0; (record = tg_table_next(&model->stays, &at)) != NULL;)
        sum += hash_stay(model, (const struct tg_stay *)record);
    for (size_t at = 0; (record = tg_table_next(&model->places, &at)) != NULL;)
        sum += hash_place((const struct tg_place *)record);
    for (size_t at = 0; (record = tg_table_next(&model->pools, &at)) != NULL;)
        sum += hash_pool((const struct tg_fleet_pool *)record);
    /* What is kept once is kept as often as it is needed, no more. */
    sum += tg_hash_mix(tg_hash_mix(model->strings.n, model->contents.n), model->demands.n);
    sum += model->shapes.n + tg_shelves_hash(model);
    for (size_t i = 0; i < model->wide.n; i++)
        sum = tg_hash_text(tg_hash_text(sum, model->wide.items[i]->driver),
                           model->wide.items[i]->name);
    tg_arena_free(arena);
    return sum;
}

uint64_t tg_fleet_hash(struct tg_fleet *fleet)
{
    tg_fleet_settle(fleet);
    return hash_rows(hash_records(fleet->model), fleet);
}
