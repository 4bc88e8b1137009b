/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/partitions.h"

#include "api/runtime/base/str.h"

#define LOOK_BYTES ((size_t)4 << 10)

int tg_partitions_fill(struct tg_claim_record *record, const struct tg_device_set *set,
                       struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        struct tg_claim_device *one = &record->devices.items[i];
        const struct tg_provider_device *device = tg_device_set_find(set, one->device);
        if (device == NULL) {
            int rc = tg_error_set(err, TG_NOT_FOUND, "device %s is not on this node", one->device);
            if (err != NULL)
                err->retry = true;
            return rc;
        }
        const struct tg_partition *from = device->partition;
        if (from == NULL)
            continue;
        struct tg_claim_partition *to = tg_arena_alloc(arena, sizeof(*to));
        if (to == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the claim needs too much memory");
        *to = (struct tg_claim_partition){
            .card = from->card,
            .card_uuid = from->card_uuid,
            .profile_id = {.set = true, .value = from->profile_id},
            .start = {.set = true, .value = from->start},
            .size = {.set = true, .value = from->size},
            /* Who looks on makes nothing. */
            .owned = {.set = true, .value = from->dynamic && !one->admin_access.value},
        };
        one->partition = to;
    }
    return 0;
}

static int not_there(const struct tg_claim_device *device, const struct tg_error *why,
                     struct tg_error *err)
{
    int rc = tg_error_set(err, TG_FAILED_PRECONDITION, "device %s is not there: %.300s",
                          device->device, why->message);
    if (err != NULL)
        err->retry = true;
    return rc;
}

static int look(const struct tg_claim_device *device, struct tg_provider *provider,
                struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(LOOK_BYTES);
    struct tg_claim_partition *partition = device->partition;
    const struct tg_partition place = tg_claim_partition_place(partition);
    struct tg_error why = TG_ERROR_INIT;
    struct tg_instance there;
    int rc = provider->ops->look(provider, &place, arena, &there, &why);
    if (rc == 0)
        partition->owned.value = false; /* it is there, and was not made for this claim */
    if (rc == 0 || (rc == -TG_NOT_FOUND && partition->owned.value))
        return 0;
    if (rc == -TG_NOT_FOUND)
        return not_there(device, &why, err);
    if (err != NULL)
        *err = why;
    return rc;
}

int tg_partitions_look(const struct tg_claim_record *record, struct tg_provider *provider,
                       struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        int rc = record->devices.items[i].partition == NULL
                     ? 0
                     : look(&record->devices.items[i], provider, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Makes it if it has to be; tells what stands (in `arena`). */
static int ensure(const struct tg_claim_device *device, struct tg_provider *provider,
                  struct tg_arena *arena, struct tg_instance *ret, struct tg_error *err)
{
    const struct tg_partition place = tg_claim_partition_place(device->partition);
    struct tg_error why = TG_ERROR_INIT;
    int rc = provider->ops->look(provider, &place, arena, ret, &why);
    /* In the way may be a half of ours: the maker completes it, or says what is. */
    if ((rc == -TG_NOT_FOUND || rc == -TG_FAILED_PRECONDITION) && place.dynamic) {
        why = TG_ERROR_INIT;
        rc = provider->ops->create(provider, &place, arena, ret, &why);
    }
    if (rc == -TG_NOT_FOUND)
        return not_there(device, &why, err);
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}

static int make(struct tg_claim_device *device, struct tg_provider *provider,
                struct tg_arena *arena, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *scratch = tg_arena_new(LOOK_BYTES);
    struct tg_claim_partition *partition = device->partition;
    struct tg_instance there = {0};
    int rc = ensure(device, provider, scratch, &there, err);
    if (rc < 0)
        return rc;
    partition->gi = (struct tg_opt_int){.set = true, .value = there.gi};
    partition->ci = (struct tg_opt_int){.set = true, .value = there.ci};
    /* Asked any number of times, the claim's arena does not grow. */
    if (!tg_streq(partition->uuid, there.uuid))
        partition->uuid = tg_arena_strdup(arena, there.uuid);
    return partition->uuid == NULL
               ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the claim needs too much memory")
               : 0;
}

int tg_partitions_make(struct tg_claim_record *record, struct tg_provider *provider,
                       struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < record->devices.n; i++) {
        int rc = record->devices.items[i].partition == NULL
                     ? 0
                     : make(&record->devices.items[i], provider, arena, err);
        if (rc < 0)
            return err == NULL ? rc
                               : tg_error_wrap(err, "device %s", record->devices.items[i].device);
    }
    return 0;
}

int tg_partitions_remove(const struct tg_claim_record *record, struct tg_provider *provider,
                         struct tg_error *err)
{
    int first = 0;
    for (size_t i = 0; i < record->devices.n; i++) {
        const struct tg_claim_partition *partition = record->devices.items[i].partition;
        struct tg_error why = TG_ERROR_INIT;
        if (partition == NULL || !partition->owned.value)
            continue;
        const struct tg_partition place = tg_claim_partition_place(partition);
        int rc = provider->ops->destroy(provider, &place, &why);
        if (rc == 0 || first < 0)
            continue;
        first = rc;
        if (err != NULL) {
            *err = why;
            (void)tg_error_wrap(err, "device %s", record->devices.items[i].device);
        }
    }
    return first;
}
