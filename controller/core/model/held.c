/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds which device: allocations of all claims (those that are being deleted and those of
 * other controllers included, adminAccess not), holds, and what was assumed. Devices that no slice
 * publishes at the moment stay held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"

#define KEY_MAX 512 /* namespace 63, name 253 */

/* --- devices that are held --- */

struct held_key {
    const struct tg_fleet_pool *pool;
    uint32_t name;
};

static uint64_t held_hash(const struct held_key *key)
{
    return tg_hash_mix(key->pool->record.hash, key->name);
}

static bool is_held(const struct tg_record *record, const void *key)
{
    const struct tg_held *held = (const struct tg_held *)record;
    const struct held_key *k = key;

    return held->pool == k->pool && held->record.own == k->name;
}

struct tg_held *tg_held_find(const struct tg_model *model, const char *driver, const char *pool,
                             const char *device)
{
    struct held_key key = {.pool = tg_fleet_pool_find(model, driver, pool)};

    if (key.pool == NULL || device == NULL || key.pool->n_held == 0)
        return NULL;
    key.name = tg_blobs_find(&model->strings, device, strlen(device) + 1);
    return key.name == 0
               ? NULL
               : (struct tg_held *)tg_table_find(&model->held, held_hash(&key), is_held, &key);
}

struct tg_held *tg_slot_held(const struct tg_model *model, const struct tg_fleet_pool *pool,
                             const struct tg_slot *slot)
{
    const struct held_key key = {.pool = pool, .name = slot->name};

    if (pool->n_held == 0)
        return NULL;
    return (struct tg_held *)tg_table_find(&model->held, held_hash(&key), is_held, &key);
}

static struct tg_held *held_of(struct tg_model *model, const char *driver, const char *pool,
                               const char *device)
{
    struct tg_held *held = tg_held_find(model, driver, pool, device);
    struct held_key key;

    if (held != NULL)
        return held;
    held = tg_xcalloc(1, sizeof(*held));
    held->pool = tg_fleet_pool_of(model, driver, pool);
    held->pool->n_held++;
    held->record.own = model->pack.put(model->pack.data, device);
    key = (struct held_key){.pool = held->pool, .name = held->record.own};
    held->record.hash = (uint32_t)held_hash(&key);
    tg_table_add(&model->held, &held->record);
    return held;
}

const char *tg_held_holder(const struct tg_held *held)
{
    return held == NULL || tg_grant_share(held->first) != NULL ? NULL : held->first->holder;
}

const struct tg_grant *tg_grant_next(const struct tg_grant *grant)
{
    const char *share = tg_grant_share(grant);

    do
        grant = grant->next;
    while (grant != NULL && tg_streq(tg_grant_share(grant), share));
    return grant;
}

/* Shares that are out of a device that is not shared any more keep it from everybody. */
const char *tg_slot_holder(const struct tg_slot *slot, const struct tg_held *held)
{
    if (held == NULL || held->first == NULL ||
        (tg_grant_share(held->first) != NULL && (slot->flags & TG_SLOT_SHARED) != 0))
        return NULL;
    return held->first->holder;
}

/* The row of a device that is published says who holds it. */
static void show(struct tg_model *model, const struct tg_held *held)
{
    struct tg_fleet_device *row = tg_rows_find(model, held->pool, tg_held_name(model, held));

    tg_news_pool(model, held->pool);
    if (row == NULL)
        return;
    row->holder = tg_slot_holder(row->slot, held);
    tg_rows_face(model, row);
}

/* The whole device before shares of it; allocations before the rest: they are what the API server
 * says. */
static int compare(const struct tg_grant *a, const struct tg_grant *b)
{
    int order = (int)(tg_grant_share(a) != NULL) - (int)(tg_grant_share(b) != NULL);

    if (order == 0)
        order = tg_strcmp(tg_grant_share(a), tg_grant_share(b));
    if (order == 0)
        order = (int)b->allocated - (int)a->allocated;
    return order != 0 ? order : strcmp(a->holder, b->holder);
}

static void link_grant(struct tg_model *model, struct tg_grant *grant)
{
    struct tg_grant **at = &grant->held->first;

    while (*at != NULL && compare(*at, grant) <= 0)
        at = &(*at)->next;
    grant->next = *at;
    *at = grant;
    show(model, grant->held);
}

static void free_share(struct tg_share *share)
{
    if (share == NULL)
        return;
    for (size_t i = 0; i < share->n_consumed; i++) {
        free((char *)(uintptr_t)share->consumed[i].key);
        free((char *)(uintptr_t)share->consumed[i].value);
    }
    free(share->consumed);
    free(share->id);
    free(share);
}

static void free_grant(struct tg_grant *grant)
{
    if (grant->owned)
        free((char *)(uintptr_t)grant->holder);
    free_share(grant->share);
    free(grant);
}

void tg_grant_free(struct tg_model *model, struct tg_grant *grant)
{
    struct tg_held *held = grant->held;
    struct tg_grant **at = &held->first;
    struct tg_fleet_pool *pool = held->pool;

    while (*at != grant)
        at = &(*at)->next;
    *at = grant->next;
    free_grant(grant);
    show(model, held);
    if (held->first != NULL)
        return;
    tg_table_remove(&model->held, &held->record);
    tg_blobs_drop(&model->strings, held->record.own, NULL, NULL);
    free(held);
    pool->n_held--;
    tg_fleet_pool_release(model, pool);
}

void tg_held_free(struct tg_held *held)
{
    while (held->first != NULL) {
        struct tg_grant *grant = held->first;

        held->first = grant->next;
        free_grant(grant);
    }
    free(held);
}

static struct tg_share *new_share(const struct tg_fleet_busy *busy)
{
    struct tg_share *share;

    if (busy->share == NULL && busy->n_consumed == 0)
        return NULL;
    share = tg_xcalloc(1, sizeof(*share));
    share->id = busy->share == NULL ? NULL : tg_xstrdup(busy->share);
    share->n_consumed = busy->n_consumed;
    share->consumed =
        busy->n_consumed == 0 ? NULL : tg_xcalloc(busy->n_consumed, sizeof(*share->consumed));
    for (size_t i = 0; i < busy->n_consumed; i++)
        share->consumed[i] =
            (struct tg_string_pair){.key = tg_xstrdup(tg_or(busy->consumed[i].key, "")),
                                    .value = tg_xstrdup(tg_or(busy->consumed[i].value, ""))};
    return share;
}

static struct tg_grant *new_grant(struct tg_model *model, const struct tg_fleet_busy *busy)
{
    struct tg_grant *grant = tg_xcalloc(1, sizeof(*grant));

    grant->held = held_of(model, busy->driver, busy->pool, busy->device);
    grant->holder = busy->holder;
    grant->share = new_share(busy);
    return grant;
}

static bool names_a_device(const struct tg_fleet_busy *busy)
{
    return busy->driver != NULL && busy->pool != NULL && busy->device != NULL;
}

struct tg_grant *tg_grant_assume(struct tg_model *model, const struct tg_fleet_busy *busy)
{
    struct tg_grant *grant;

    if (!names_a_device(busy))
        return NULL;
    grant = new_grant(model, busy);
    grant->holder = tg_xstrdup(tg_or(busy->holder, "unknown"));
    grant->owned = true;
    link_grant(model, grant);
    return grant;
}

/* --- who holds them --- */

/* "claim namespace/name" */
static char *holder_of(const struct tg_owner *owner)
{
    return (char *)(uintptr_t)(owner->grants + owner->record.own);
}

static bool is_owner(const struct tg_record *record, const void *key)
{
    return strcmp(holder_of((const struct tg_owner *)record), key) == 0;
}

static struct tg_owner *find_owner(const struct tg_model *model, const char *holder)
{
    return (struct tg_owner *)tg_table_find(&model->owners, tg_hash_text(TG_HASH_SEED, holder),
                                            is_owner, holder);
}

static void remove_owner(struct tg_model *model, struct tg_owner *owner)
{
    for (size_t i = 0; i < owner->record.own; i++) {
        if (owner->grants[i] != NULL)
            tg_grant_free(model, owner->grants[i]);
    }
    tg_table_remove(&model->owners, &owner->record);
    free(owner);
}

static struct tg_owner *new_owner(struct tg_model *model, const char *holder, size_t n)
{
    size_t grants = n * sizeof(struct tg_grant *);
    struct tg_owner *owner = tg_xcalloc(1, sizeof(*owner) + grants + strlen(holder) + 1);

    owner->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, holder);
    owner->record.own = (uint32_t)n;
    memcpy(holder_of(owner), holder, strlen(holder) + 1);
    tg_table_add(&model->owners, &owner->record);
    return owner;
}

static void drop_owner(struct tg_model *model, const char *holder)
{
    struct tg_owner *owner = find_owner(model, holder);

    if (owner != NULL)
        remove_owner(model, owner);
}

static const char *claim_holder(char out[KEY_MAX], const char *namespace_, const char *name)
{
    snprintf(out, KEY_MAX, "claim %s/%s", tg_or(namespace_, ""), tg_or(name, "?"));
    return out;
}

void tg_claim_drop(struct tg_model *model, const char *namespace_, const char *name)
{
    char holder[KEY_MAX];

    drop_owner(model, claim_holder(holder, namespace_, name));
}

static bool holds(const struct tg_allocation_device *result)
{
    return !(result->admin_access.set && result->admin_access.value) && result->driver != NULL &&
           result->pool != NULL && result->device != NULL;
}

static const struct tg_allocation_devices *allocated(const struct tg_resource_claim *claim)
{
    if (claim->status == NULL || claim->status->allocation == NULL)
        return NULL;
    return claim->status->allocation->devices;
}

static struct tg_grant *add_result(struct tg_model *model, const struct tg_owner *owner,
                                   const struct tg_allocation_device *result)
{
    struct tg_fleet_busy busy = {.driver = result->driver,
                                 .pool = result->pool,
                                 .device = result->device,
                                 .holder = holder_of(owner),
                                 .share = result->share_id};
    struct tg_grant *grant;

    /* A share of which nobody knows how much it takes counts as the whole device. */
    tg_arena_reset(model->scratch);
    if (tg_capacity_amounts_read(result->consumed_capacity, model->scratch, &busy.consumed,
                                 &busy.n_consumed, NULL) < 0)
        busy.share = NULL;
    grant = new_grant(model, &busy);
    grant->allocated = true;
    link_grant(model, grant);
    return grant;
}

void tg_claim_put(struct tg_model *model, const struct tg_resource_claim *claim)
{
    const struct tg_allocation_devices *devices = allocated(claim);
    struct tg_owner *owner;
    char holder[KEY_MAX];
    size_t n = 0;

    for (size_t i = 0; devices != NULL && i < devices->results.n; i++)
        n += holds(&devices->results.items[i]) ? 1 : 0;
    drop_owner(model, claim_holder(holder, claim->metadata->namespace_, claim->metadata->name));
    if (n == 0)
        return;
    owner = new_owner(model, holder, n);
    n = 0;
    for (size_t i = 0; i < devices->results.n; i++) {
        if (holds(&devices->results.items[i]))
            owner->grants[n++] = add_result(model, owner, &devices->results.items[i]);
    }
}

void tg_owner_hold(struct tg_model *model, const char *key, const struct tg_fleet_busy *busy,
                   size_t n)
{
    char holder[KEY_MAX];
    struct tg_owner *owner;

    snprintf(holder, sizeof(holder), "hold %s", key);
    drop_owner(model, holder);
    if (n == 0)
        return;
    owner = new_owner(model, holder, n);
    for (size_t i = 0; i < n; i++)
        owner->grants[i] = tg_grant_assume(model, &busy[i]); /* or NULL */
}
