/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that take room: bound to a node, assumed to go to one, or nominated by the scheduler after a
 * preemption (they will be bound before anybody else). Each counts once: where it is bound, else
 * where it was last assumed to go, else where it is nominated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"

/* Bytes that the requests of one pod may need while they are counted: far more than any pod has. */
#define SCRATCH ((size_t)1 << 20)

/* --- keys ------------------------------------------------------------------------------------ */

struct key {
    const struct tg_model *model;
    char text[TG_STAY_KEY];
};

const char *tg_stay_key(const struct tg_model *model, const struct tg_stay *stay,
                        char out[TG_STAY_KEY])
{
    snprintf(out, TG_STAY_KEY, "%s%s", (const char *)tg_blobs_get(&model->strings, stay->head),
             stay->tail);
    return out;
}

static bool is_stay(const struct tg_record *record, const void *data)
{
    const struct tg_stay *stay = (const struct tg_stay *)record;
    const struct key *key = data;
    const char *head = (const char *)tg_blobs_get(&key->model->strings, stay->head);
    size_t n = strlen(head);

    return strncmp(head, key->text, n) == 0 && strcmp(key->text + n, stay->tail) == 0;
}

static void make_key(struct key *key, const struct tg_model *model, const char *namespace_,
                     const char *name)
{
    key->model = model;
    snprintf(key->text, sizeof(key->text), "%s/%s", tg_or(namespace_, ""), tg_or(name, "?"));
}

static struct tg_stay *find(const struct key *key)
{
    return (struct tg_stay *)tg_table_find(&key->model->stays,
                                           tg_hash_text(TG_HASH_SEED, key->text), is_stay, key);
}

/* Behind the last dash is what the API server made up; there is a slash in every key. */
static const char *tail_of(const char *key)
{
    const char *dash = strrchr(key, '-'), *slash = strrchr(key, '/');

    return (dash != NULL && dash > slash ? dash : slash) + 1;
}

static struct tg_stay *new_stay(struct tg_model *model, char *key)
{
    char *tail = (char *)(uintptr_t)tail_of(key), first = *tail;
    struct tg_stay *stay = tg_xcalloc(1, offsetof(struct tg_stay, tail) + strlen(tail) + 1);

    memcpy(stay->tail, tail, strlen(tail) + 1);
    stay->record.hash = (uint32_t)tg_hash_text(TG_HASH_SEED, key);
    *tail = '\0';
    stay->head = tg_blobs_use(&model->strings, key, strlen(key) + 1);
    *tail = first;
    tg_table_add(&model->stays, &stay->record);
    return stay;
}

static struct tg_stay *stay_of(struct tg_model *model, const struct tg_object_meta *meta)
{
    struct key key;
    struct tg_stay *stay;

    make_key(&key, model, meta->namespace_, meta->name);
    stay = find(&key);
    return stay != NULL ? stay : new_stay(model, key.text);
}

/* --- what few have --------------------------------------------------------------------------- */

static struct tg_place *own_of(const struct tg_stay *stay)
{
    return stay->has_more ? stay->more->own : stay->own;
}

const struct tg_assumed_stay *tg_stay_assumed(const struct tg_stay *stay)
{
    return stay->has_more ? stay->more->assumed : NULL;
}

static void set_own(struct tg_stay *stay, struct tg_place *place)
{
    if (stay->has_more)
        stay->more->own = place;
    else
        stay->own = place;
}

static struct tg_stay_more *more_of(struct tg_stay *stay)
{
    struct tg_stay_more *more;

    if (stay->has_more)
        return stay->more;
    more = tg_xcalloc(1, sizeof(*more));
    more->own = stay->own;
    stay->more = more;
    stay->has_more = true;
    return more;
}

/* Without what it does not need any more. */
static void slim(struct tg_stay *stay)
{
    struct tg_place *own = own_of(stay);

    if (!stay->has_more || stay->more->assumed != NULL || stay->more->problem != 0)
        return;
    free(stay->more);
    stay->has_more = false;
    stay->own = own;
}

/* --- what a pod takes --- */

static void drop_names(void *data, const unsigned char *bytes)
{
    struct tg_model *model = data;
    const struct tg_amount *amounts = (const struct tg_amount *)(const void *)bytes;

    for (size_t i = 0; amounts[i].name != NULL; i++)
        tg_model_drop_string(model, amounts[i].name);
}

const struct tg_amount *tg_stay_amounts(const struct tg_model *model, const struct tg_stay *stay)
{
    static const struct tg_amount none = {.name = NULL};

    return stay->record.own == 0 ? &none
                                 : (const struct tg_amount *)(const void *)tg_blobs_get(
                                       &model->demands, stay->record.own);
}

const char *tg_stay_problem(const struct tg_model *model, const struct tg_stay *stay)
{
    return !stay->has_more || stay->more->problem == 0
               ? NULL
               : (const char *)tg_blobs_get(&model->strings, stay->more->problem);
}

struct tg_place *tg_stay_place(const struct tg_stay *stay)
{
    const struct tg_assumed_stay *assumed = tg_stay_assumed(stay);

    return assumed != NULL && !stay->bound ? assumed->place : own_of(stay);
}

static void drop_demand(struct tg_model *model, struct tg_stay *stay)
{
    if (stay->record.own != 0)
        tg_blobs_drop(&model->demands, stay->record.own, drop_names, model);
    stay->record.own = 0;
    if (!stay->has_more || stay->more->problem == 0)
        return;
    tg_blobs_drop(&model->strings, stay->more->problem, NULL, NULL);
    stay->more->problem = 0;
    slim(stay);
}

/* The rows as one blob, by name, ended by an empty one. */
static int keep_demand(struct tg_model *model, struct tg_stay *stay, struct tg_error *err)
{
    struct tg_demand_table *table = &model->table;
    struct tg_amount *amounts =
        tg_arena_alloc_array(model->scratch, table->n + 1, sizeof(*amounts));
    size_t bytes = (table->n + 1) * sizeof(*amounts);

    if (amounts == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for what it requests");
    for (size_t i = 0; i < table->n; i++) {
        struct tg_amount amount = {.name = tg_model_string(model, table->rows[i].name),
                                   .value = table->rows[i].total};
        size_t at = i;

        for (; at > 0 && strcmp(amounts[at - 1].name, amount.name) > 0; at--)
            amounts[at] = amounts[at - 1];
        amounts[at] = amount;
    }
    /* A blob that is there already has its own use of the names. */
    if (tg_blobs_find(&model->demands, amounts, bytes) != 0) {
        for (size_t i = 0; i < table->n; i++)
            tg_model_drop_string(model, amounts[i].name);
    }
    stay->record.own = tg_blobs_use(&model->demands, amounts, bytes);
    return 0;
}

static void read_demand(struct tg_model *model, struct tg_stay *stay, const struct tg_pod *pod)
{
    struct tg_error cause = TG_ERROR_INIT;
    char key[TG_STAY_KEY];

    drop_demand(model, stay);
    tg_arena_reset(model->scratch);
    model->table = (struct tg_demand_table){.n = 0};
    if (tg_demand_count(pod, &model->table, model->scratch, &cause) < 0 ||
        keep_demand(model, stay, &cause) < 0) {
        tg_error_wrap(&cause, "pod %s", tg_stay_key(model, stay, key));
        more_of(stay)->problem =
            tg_blobs_use(&model->strings, cause.message, strlen(cause.message) + 1);
    }
}

/* --- where it takes it --- */

int64_t tg_usage_amount(const struct tg_usage *usage)
{
    return usage->sum > INT64_MAX ? INT64_MAX : (int64_t)usage->sum;
}

static struct tg_usage *usage_of(struct tg_model *model, struct tg_place *place, const char *name)
{
    struct tg_usage *usage;

    for (size_t i = 0; i < place->usage.n; i++) {
        if (place->usage.items[i].name == name)
            return &place->usage.items[i];
    }
    usage = TG_VEC_PUSH(&place->usage);
    usage->name = tg_model_string(model, name);
    return usage;
}

static void change(struct tg_model *model, struct tg_place *place, const struct tg_amount *amount,
                   bool takes)
{
    struct tg_usage *usage = usage_of(model, place, amount->name);
    bool port = tg_is_host_port(amount->name);

    usage->sum += takes ? amount->value : -(__int128)amount->value;
    usage->users += takes ? 1 : -(size_t)1;
    for (size_t i = 0; i < place->n_rooms; i++) {
        if (place->rooms[i].name == usage->name)
            place->rooms[i].used = tg_usage_amount(usage);
    }
    if (usage->users == 0) {
        tg_model_drop_string(model, usage->name);
        *usage = place->usage.items[--place->usage.n];
    }
    if (port)
        tg_place_open_rooms(model, place);
}

static void change_unreadable(struct tg_place *place, struct tg_stay *stay, bool there)
{
    if (there) {
        *TG_VEC_PUSH(&place->unreadable) = stay;
        return;
    }
    for (size_t i = 0; i < place->unreadable.n; i++) {
        if (place->unreadable.items[i] == stay) {
            place->unreadable.items[i] = place->unreadable.items[--place->unreadable.n];
            return;
        }
    }
}

static void count(struct tg_model *model, struct tg_stay *stay, bool takes)
{
    struct tg_place *place = tg_stay_place(stay);

    if (place == NULL)
        return;
    for (const struct tg_amount *a = tg_stay_amounts(model, stay); a->name != NULL; a++)
        change(model, place, a, takes);
    if (tg_stay_problem(model, stay) != NULL)
        change_unreadable(place, stay, takes);
    tg_place_show(model, place);
}

/* After a change of where it may count: it is not counted anywhere at the moment. */
static void settle(struct tg_model *model, struct tg_stay *stay)
{
    count(model, stay, true);
    if (!stay->known && tg_stay_assumed(stay) == NULL) {
        tg_table_remove(&model->stays, &stay->record);
        tg_stay_free(model, stay);
    }
}

static void link_own(struct tg_model *model, struct tg_stay *stay, const char *node)
{
    struct tg_place *before = own_of(stay);
    struct tg_place *after = node == NULL ? NULL : tg_place_of(model, node);

    set_own(stay, after);
    if (after != NULL)
        after->links++;
    if (before != NULL) {
        before->links--;
        tg_place_release(model, before);
    }
}

static const char *present(const char *s)
{
    return s == NULL || s[0] == '\0' ? NULL : s;
}

void tg_stay_put(struct tg_model *model, const struct tg_pod *pod)
{
    const char *bound = pod->spec == NULL ? NULL : present(pod->spec->node_name);
    const char *nominated = pod->status == NULL ? NULL : present(pod->status->nominated_node_name);
    struct tg_stay *stay;

    if (tg_pod_finished(pod) || (bound == NULL && nominated == NULL)) {
        tg_stay_drop(model, pod->metadata->namespace_, pod->metadata->name);
        return;
    }
    stay = stay_of(model, pod->metadata);
    count(model, stay, false);
    read_demand(model, stay, pod);
    stay->known = true;
    stay->bound = bound != NULL;
    link_own(model, stay, bound != NULL ? bound : nominated);
    settle(model, stay);
}

void tg_stay_drop(struct tg_model *model, const char *namespace_, const char *name)
{
    struct key key;
    struct tg_stay *stay;

    make_key(&key, model, namespace_, name);
    stay = find(&key);
    if (stay == NULL || !stay->known)
        return;
    count(model, stay, false);
    stay->known = stay->bound = false;
    link_own(model, stay, NULL);
    settle(model, stay);
}

struct tg_stay *tg_stay_assume(struct tg_model *model, const struct tg_pod *pod, const char *node)
{
    struct tg_stay *stay = stay_of(model, pod->metadata);
    struct tg_assumed_stay *assumed = tg_xcalloc(1, sizeof(*assumed));

    count(model, stay, false);
    if (!stay->known && tg_stay_assumed(stay) == NULL)
        read_demand(model, stay, pod);
    assumed->place = tg_place_of(model, node);
    assumed->place->links++;
    assumed->next = more_of(stay)->assumed;
    stay->more->assumed = assumed;
    settle(model, stay);
    return stay;
}

static void drop_assumed(struct tg_model *model, struct tg_stay *stay)
{
    struct tg_assumed_stay *assumed = stay->more->assumed;

    stay->more->assumed = assumed->next;
    slim(stay);
    assumed->place->links--;
    tg_place_release(model, assumed->place);
    free(assumed);
}

void tg_stay_forget(struct tg_model *model, struct tg_stay *stay)
{
    count(model, stay, false);
    drop_assumed(model, stay);
    settle(model, stay);
}

void tg_stay_free(struct tg_model *model, struct tg_stay *stay)
{
    while (tg_stay_assumed(stay) != NULL)
        drop_assumed(model, stay);
    link_own(model, stay, NULL);
    drop_demand(model, stay);
    tg_blobs_drop(&model->strings, stay->head, NULL, NULL);
    free(stay);
}
