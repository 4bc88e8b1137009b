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

#define KEY_MAX 512 /* namespace 63, name 253 */
/* Bytes that the requests of one pod may need while they are counted: far more than any pod has. */
#define SCRATCH ((size_t)1 << 20)

static bool is_stay(const struct tg_record *record, const void *key)
{
    return strcmp(((const struct tg_stay *)record)->key, key) == 0;
}

static const char *key_of(char out[KEY_MAX], const char *namespace_, const char *name)
{
    snprintf(out, KEY_MAX, "%s/%s", tg_or(namespace_, ""), tg_or(name, "?"));
    return out;
}

static struct tg_stay *find(const struct tg_model *model, const char *key)
{
    return (struct tg_stay *)tg_table_find(&model->stays, tg_hash_text(TG_HASH_SEED, key), is_stay,
                                           key);
}

static struct tg_stay *stay_of(struct tg_model *model, const struct tg_object_meta *meta)
{
    char key[KEY_MAX];
    struct tg_stay *stay = find(model, key_of(key, meta->namespace_, meta->name));

    if (stay == NULL) {
        stay = tg_xcalloc(1, sizeof(*stay) + strlen(key) + 1);
        memcpy(stay->key, key, strlen(key) + 1);
        stay->record.hash = tg_hash_text(TG_HASH_SEED, key);
        tg_table_add(&model->stays, &stay->record);
    }
    return stay;
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

    return stay->demand == 0 ? &none
                             : (const struct tg_amount *)(const void *)tg_blobs_get(&model->demands,
                                                                                    stay->demand);
}

const char *tg_stay_problem(const struct tg_model *model, const struct tg_stay *stay)
{
    return stay->problem == 0 ? NULL : (const char *)tg_blobs_get(&model->strings, stay->problem);
}

struct tg_place *tg_stay_place(const struct tg_stay *stay)
{
    return stay->assumed != NULL && !stay->bound ? stay->assumed->place : stay->own;
}

static void drop_demand(struct tg_model *model, struct tg_stay *stay)
{
    if (stay->demand != 0)
        tg_blobs_drop(&model->demands, stay->demand, drop_names, model);
    if (stay->problem != 0)
        tg_blobs_drop(&model->strings, stay->problem, NULL, NULL);
    stay->demand = stay->problem = 0;
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
    stay->demand = tg_blobs_use(&model->demands, amounts, bytes);
    return 0;
}

static void read_demand(struct tg_model *model, struct tg_stay *stay, const struct tg_pod *pod)
{
    struct tg_error cause = TG_ERROR_INIT;

    drop_demand(model, stay);
    tg_arena_reset(model->scratch);
    model->table = (struct tg_demand_table){.n = 0};
    if (tg_demand_count(pod, &model->table, model->scratch, &cause) < 0 ||
        keep_demand(model, stay, &cause) < 0) {
        tg_error_wrap(&cause, "pod %s", stay->key);
        stay->problem = tg_blobs_use(&model->strings, cause.message, strlen(cause.message) + 1);
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
    if (stay->problem != 0)
        change_unreadable(place, stay, takes);
    tg_place_show(model, place);
}

/* After a change of where it may count: it is not counted anywhere at the moment. */
static void settle(struct tg_model *model, struct tg_stay *stay)
{
    count(model, stay, true);
    if (!stay->known && stay->assumed == NULL) {
        tg_table_remove(&model->stays, &stay->record);
        tg_stay_free(model, stay);
    }
}

static void link_own(struct tg_model *model, struct tg_stay *stay, const char *node)
{
    struct tg_place *before = stay->own;

    stay->own = node == NULL ? NULL : tg_place_of(model, node);
    if (stay->own != NULL)
        stay->own->links++;
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
    char key[KEY_MAX];
    struct tg_stay *stay = find(model, key_of(key, namespace_, name));

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
    if (!stay->known && stay->assumed == NULL)
        read_demand(model, stay, pod);
    assumed->place = tg_place_of(model, node);
    assumed->place->links++;
    assumed->next = stay->assumed;
    stay->assumed = assumed;
    settle(model, stay);
    return stay;
}

static void drop_assumed(struct tg_model *model, struct tg_stay *stay)
{
    struct tg_assumed_stay *assumed = stay->assumed;

    stay->assumed = assumed->next;
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
    while (stay->assumed != NULL)
        drop_assumed(model, stay);
    link_own(model, stay, NULL);
    drop_demand(model, stay);
    free(stay);
}
