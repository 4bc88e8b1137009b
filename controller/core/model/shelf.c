/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that say nothing of a node by themselves and are read when a pod speaks of them: kept as
 * bytes, by kind and name. */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/objects/storage.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/model.h"
#include "controller/core/model/sort.h"

static const struct tg_type *const types[TG_SHELVES] = {
    [TG_SHELF_VOLUME] = &tg_persistent_volume_type,
    [TG_SHELF_VOLUME_CLAIM] = &tg_persistent_volume_claim_type,
    [TG_SHELF_STORAGE_CLASS] = &tg_storage_class_type,
};

struct shelved {
    struct tg_record record;
    size_t n;
    unsigned char bytes[]; /* n of them, then namespace and name, each with its NUL */
};

struct key {
    const char *namespace_, *name;
};

static bool is_it(const struct tg_record *record, const void *key)
{
    const struct shelved *shelved = (const struct shelved *)record;
    const char *namespace_ = (const char *)shelved->bytes + shelved->n;
    const struct key *k = key;

    return strcmp(namespace_, k->namespace_) == 0 &&
           strcmp(namespace_ + strlen(namespace_) + 1, k->name) == 0;
}

static uint64_t hash_of(const struct key *key)
{
    return tg_hash_text(tg_hash_text(TG_HASH_SEED, key->namespace_), key->name);
}

static struct shelved *find(const struct tg_table *table, const struct key *key)
{
    return (struct shelved *)tg_table_find(table, hash_of(key), is_it, key);
}

void tg_shelf_drop(struct tg_model *model, enum tg_shelf shelf, const char *namespace_,
                   const char *name)
{
    struct tg_table *table = &model->shelves[shelf];
    const struct key key = {.namespace_ = tg_or(namespace_, ""), .name = name};
    struct shelved *shelved = find(table, &key);

    if (shelved == NULL)
        return;
    tg_table_remove(table, &shelved->record);
    free(shelved);
}

void tg_shelf_put(struct tg_model *model, enum tg_shelf shelf, const struct tg_object *object)
{
    const struct tg_object_meta *meta = object->metadata;
    const struct key key = {.namespace_ = tg_or(meta->namespace_, ""), .name = meta->name};
    size_t n = tg_pack(types[shelf], object, NULL, NULL, 0);
    size_t space = strlen(key.namespace_) + 1, name = strlen(key.name) + 1;
    struct shelved *shelved = tg_xcalloc(1, sizeof(*shelved) + n + space + name);

    tg_pack(types[shelf], object, NULL, shelved->bytes, n);
    shelved->n = n;
    memcpy(shelved->bytes + n, key.namespace_, space);
    memcpy(shelved->bytes + n + space, key.name, name);
    shelved->record.hash = (uint32_t)hash_of(&key);
    tg_shelf_drop(model, shelf, key.namespace_, key.name);
    tg_table_add(&model->shelves[shelf], &shelved->record);
}

void tg_shelves_free(struct tg_model *model)
{
    for (size_t i = 0; i < TG_SHELVES; i++) {
        struct tg_record *record;

        for (size_t at = 0; (record = tg_table_next(&model->shelves[i], &at)) != NULL;)
            free(record);
        tg_table_done(&model->shelves[i]);
    }
}

uint64_t tg_shelves_hash(const struct tg_model *model)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < TG_SHELVES; i++) {
        const struct tg_record *record;

        for (size_t at = 0; (record = tg_table_next(&model->shelves[i], &at)) != NULL;) {
            const struct shelved *shelved = (const struct shelved *)record;

            sum += tg_hash_mix(tg_hash_mix(shelved->record.hash, i),
                               tg_hash64(shelved->bytes, shelved->n));
        }
    }
    return sum;
}

int tg_fleet_shelved(const struct tg_fleet *fleet, enum tg_shelf shelf, const char *namespace_,
                     const char *name, struct tg_arena *arena, const void **ret,
                     struct tg_error *err)
{
    const struct key key = {.namespace_ = tg_or(namespace_, ""), .name = tg_or(name, "")};
    const struct shelved *shelved = find(&fleet->model->shelves[shelf], &key);

    *ret = shelved == NULL ? NULL : tg_unpack(types[shelf], shelved->bytes, NULL, arena);
    if (shelved != NULL && *ret == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the decision needs more memory than its budget");
    return 0;
}
