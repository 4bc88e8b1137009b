/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/prepare/record.h"

#include <ctype.h>
#include <string.h>

#include "api/kubernetes/values/names.h"
#include "api/runtime/base/str.h"

#define ID_MAX 63
#define PROFILE_MAX 0xffff
#define SLICES_MAX 64 /* memory slices: no card has more than eight */

static const struct tg_field partition_fields[] = {
    TG_FIELD_STR(struct tg_claim_partition, card, "card"),
    TG_FIELD_STR(struct tg_claim_partition, card_uuid, "cardUUID"),
    TG_FIELD_INTEGER(struct tg_claim_partition, profile_id, "profile"),
    TG_FIELD_INTEGER(struct tg_claim_partition, start, "start"),
    TG_FIELD_INTEGER(struct tg_claim_partition, size, "size"),
    TG_FIELD_BOOLEAN(struct tg_claim_partition, owned, "owned"),
    TG_FIELD_INTEGER(struct tg_claim_partition, gi, "gi"),
    TG_FIELD_INTEGER(struct tg_claim_partition, ci, "ci"),
    TG_FIELD_STR(struct tg_claim_partition, uuid, "uuid"),
};
static const struct tg_type partition_type = TG_TYPE(struct tg_claim_partition, partition_fields);

static const struct tg_field settings_fields[] = {
    TG_FIELD_STR(struct tg_claim_settings, card_uuid, "cardUUID"),
    TG_FIELD_INTEGER(struct tg_claim_settings, wanted.time_slice, "timeSlice"),
    TG_FIELD_INTEGER(struct tg_claim_settings, wanted.compute_mode, "computeMode"),
    TG_FIELD_INTEGER(struct tg_claim_settings, before.compute_mode, "computeModeBefore"),
};
static const struct tg_type settings_type = TG_TYPE(struct tg_claim_settings, settings_fields);

static const struct tg_field device_fields[] = {
    TG_FIELD_STR(struct tg_claim_device, request, "request"),
    TG_FIELD_STR(struct tg_claim_device, pool, "pool"),
    TG_FIELD_STR(struct tg_claim_device, device, "device"),
    TG_FIELD_STR(struct tg_claim_device, share_id, "shareID"),
    TG_FIELD_BOOLEAN(struct tg_claim_device, admin_access, "adminAccess"),
    TG_FIELD_OBJ(struct tg_claim_device, partition, "partition", &partition_type),
    TG_FIELD_OBJ(struct tg_claim_device, settings, "settings", &settings_type),
};
static const struct tg_type device_type = TG_TYPE(struct tg_claim_device, device_fields);

static const struct tg_field claim_fields[] = {
    TG_FIELD_STR(struct tg_claim_record, uid, "uid"),
    TG_FIELD_STR(struct tg_claim_record, namespace_, "namespace"),
    TG_FIELD_STR(struct tg_claim_record, name, "name"),
    {.name = "devices",
     .kind = TG_FIELD_LIST,
     .item = TG_FIELD_OBJECT,
     .offset = offsetof(struct tg_claim_record, devices),
     .type = &device_type,
     .max_items = TG_RESULTS_MAX},
};
const struct tg_type tg_claim_record_type = TG_TYPE(struct tg_claim_record, claim_fields);

static const struct tg_field record_fields[] = {
    TG_FIELD_STR(struct tg_journal_record, op, "op"),
    TG_FIELD_STR(struct tg_journal_record, boot_id, "bootID"),
    TG_FIELD_STR(struct tg_journal_record, uid, "uid"),
    TG_FIELD_OBJ(struct tg_journal_record, claim, "claim", &tg_claim_record_type),
};
const struct tg_type tg_journal_record_type = TG_TYPE(struct tg_journal_record, record_fields);

/* What the API server makes: a UUID. Anything else that is safe in a file name is taken as well. */
static bool plain_id(const char *s)
{
    size_t n = s == NULL ? 0 : strlen(s);
    bool fits = n > 0 && n <= ID_MAX && s[0] != '-' && s[n - 1] != '-';
    for (size_t i = 0; i < n && fits; i++)
        fits = isalnum((unsigned char)s[i]) || s[i] == '-';
    return fits;
}

/* Puts "WHAT of result I: " before what is wrong with the name. */
static int check_name(enum tg_name_kind kind, const char *name, const char *what, size_t i,
                      struct tg_error *err)
{
    int rc = tg_name_check(kind, tg_or(name, ""), err);
    return rc < 0 && err != NULL ? tg_error_wrap(err, "%s of result %zu", what, i) : rc;
}

static bool in_range(struct tg_opt_int number, int64_t max)
{
    return number.set && number.value >= 0 && number.value <= max;
}

static bool partition_makes_sense(const struct tg_claim_partition *p)
{
    return tg_name_check(TG_NAME_LABEL, tg_or(p->card, ""), NULL) == 0 && plain_id(p->card_uuid) &&
           in_range(p->profile_id, PROFILE_MAX) && in_range(p->start, SLICES_MAX) &&
           in_range(p->size, SLICES_MAX) && p->size.value > 0 && p->owned.set &&
           (p->uuid == NULL ||
            (plain_id(p->uuid) && in_range(p->gi, PROFILE_MAX) && in_range(p->ci, PROFILE_MAX)));
}

static bool absent_or_in_range(struct tg_opt_int number, int64_t max)
{
    return !number.set || in_range(number, max);
}

static bool settings_make_sense(const struct tg_claim_settings *s)
{
    return plain_id(s->card_uuid) && absent_or_in_range(s->wanted.time_slice, TG_TIME_SLICE_MAX) &&
           absent_or_in_range(s->wanted.compute_mode, TG_COMPUTE_MODE_MAX) &&
           absent_or_in_range(s->before.compute_mode, TG_COMPUTE_MODE_MAX);
}

static int validate_device(const struct tg_claim_device *device, size_t i, struct tg_error *err)
{
    int rc = check_name(TG_NAME_LABEL, device->request, "request", i, err);
    if (rc == 0)
        rc = check_name(TG_NAME_POOL, device->pool, "pool", i, err);
    if (rc == 0)
        rc = check_name(TG_NAME_LABEL, device->device, "device", i, err);
    if (rc == 0 && device->share_id != NULL && !plain_id(device->share_id))
        rc = tg_error_set(err, TG_INVALID_ARGUMENT,
                          "shareID of result %zu: \"%.80s\" is not a UUID", i, device->share_id);
    if (rc == 0 && device->partition != NULL && !partition_makes_sense(device->partition))
        rc =
            tg_error_set(err, TG_INVALID_ARGUMENT, "the partition of result %zu makes no sense", i);
    if (rc == 0 && device->settings != NULL && !settings_make_sense(device->settings))
        rc = tg_error_set(err, TG_INVALID_ARGUMENT, "the settings of result %zu make no sense", i);
    return rc;
}

static int validate_identity(const struct tg_claim_record *claim, struct tg_error *err)
{
    if (!plain_id(claim->uid))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "claim uid \"%.80s\" is not a UUID",
                            tg_or(claim->uid, ""));
    int rc = tg_name_check(TG_NAME_LABEL, tg_or(claim->namespace_, ""), err);
    if (rc == 0)
        rc = tg_name_check(TG_NAME_SUBDOMAIN, tg_or(claim->name, ""), err);
    return rc < 0 && err != NULL ? tg_error_wrap(err, "claim %s", claim->uid) : rc;
}

int tg_claim_record_validate(const struct tg_claim_record *claim, struct tg_error *err)
{
    int rc = validate_identity(claim, err);
    if (rc < 0)
        return rc;
    if (claim->devices.n > TG_RESULTS_MAX)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%zu results: a claim has at most %d",
                            claim->devices.n, TG_RESULTS_MAX);
    for (size_t i = 0; i < claim->devices.n; i++) {
        rc = validate_device(&claim->devices.items[i], i, err);
        if (rc < 0)
            return rc;
        for (size_t j = 0; j < i; j++) {
            if (tg_claim_device_conflicts(&claim->devices.items[j], &claim->devices.items[i]))
                return tg_error_set(
                    err, TG_INVALID_ARGUMENT,
                    "results %zu and %zu cannot be had together: the same device, or one "
                    "that overlaps: %s",
                    j, i, claim->devices.items[i].device);
        }
    }
    return 0;
}

static int exhausted(struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the claim needs more than %zu bytes",
                        TG_RECORD_CLAIM_BYTES_MAX);
}

int tg_claim_record_from_results(struct tg_claim_record *ret, const char *driver,
                                 const struct tg_allocation_device *results, size_t n,
                                 struct tg_arena *arena, struct tg_error *err)
{
    /* Bounded before anything is compared with everything else. */
    if (n > TG_RESULTS_MAX)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%zu results: a claim has at most %d", n,
                            TG_RESULTS_MAX);
    ret->devices.n = 0;
    ret->devices.items = tg_arena_alloc_array(arena, n, sizeof(*ret->devices.items));
    if (ret->devices.items == NULL)
        return exhausted(err);
    for (size_t i = 0; i < n; i++) {
        if (!tg_streq(results[i].driver, driver))
            continue;
        const char *request = tg_or(results[i].request, "");
        const char *base = tg_arena_strndup(arena, request, strcspn(request, "/"));
        if (base == NULL)
            return exhausted(err);
        ret->devices.items[ret->devices.n++] = (struct tg_claim_device){
            .request = base,
            .asked = request,
            .pool = results[i].pool,
            .device = results[i].device,
            .share_id = results[i].share_id,
            .admin_access = results[i].admin_access,
        };
    }
    return tg_claim_record_validate(ret, err);
}

static struct tg_claim_partition *copy_partition(const struct tg_claim_partition *from,
                                                 struct tg_arena *arena)
{
    struct tg_claim_partition *to =
        from == NULL ? NULL : tg_arena_alloc(arena, sizeof(struct tg_claim_partition));
    if (to == NULL)
        return NULL;
    *to = *from;
    to->card = tg_arena_strdup(arena, from->card);
    to->card_uuid = tg_arena_strdup(arena, from->card_uuid);
    to->uuid = from->uuid == NULL ? NULL : tg_arena_strdup(arena, from->uuid);
    return to;
}

static struct tg_claim_settings *copy_settings(const struct tg_claim_settings *from,
                                               struct tg_arena *arena)
{
    struct tg_claim_settings *to =
        from == NULL ? NULL : tg_arena_alloc(arena, sizeof(struct tg_claim_settings));
    if (to == NULL)
        return NULL;
    *to = *from;
    to->card_uuid = tg_arena_strdup(arena, from->card_uuid);
    return to;
}

int tg_claim_record_copy(const struct tg_claim_record *claim, struct tg_arena *arena,
                         struct tg_claim_record *ret, struct tg_error *err)
{
    *ret = (struct tg_claim_record){
        .uid = tg_arena_strdup(arena, claim->uid),
        .namespace_ = tg_arena_strdup(arena, claim->namespace_),
        .name = tg_arena_strdup(arena, claim->name),
    };
    ret->devices.items = tg_arena_alloc_array(arena, claim->devices.n, sizeof(*ret->devices.items));
    if (ret->devices.items == NULL)
        return exhausted(err);
    for (size_t i = 0; i < claim->devices.n; i++) {
        const struct tg_claim_device *from = &claim->devices.items[i];
        ret->devices.items[ret->devices.n++] = (struct tg_claim_device){
            .request = tg_arena_strdup(arena, from->request),
            .pool = tg_arena_strdup(arena, from->pool),
            .device = tg_arena_strdup(arena, from->device),
            .share_id = from->share_id == NULL ? NULL : tg_arena_strdup(arena, from->share_id),
            .admin_access = from->admin_access,
            .partition = copy_partition(from->partition, arena),
            .settings = copy_settings(from->settings, arena),
        };
    }
    return tg_arena_exhausted(arena) ? exhausted(err) : 0;
}

static bool same_number(struct tg_opt_int a, struct tg_opt_int b)
{
    return a.set == b.set && (!a.set || a.value == b.value);
}

bool tg_claim_settings_equal(const struct tg_claim_settings *a, const struct tg_claim_settings *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return same_number(a->wanted.time_slice, b->wanted.time_slice) &&
           same_number(a->wanted.compute_mode, b->wanted.compute_mode);
}

static bool device_equal(const struct tg_claim_device *a, const struct tg_claim_device *b)
{
    return tg_streq(a->request, b->request) && tg_streq(a->pool, b->pool) &&
           tg_streq(a->device, b->device) && tg_streq(a->share_id, b->share_id) &&
           a->admin_access.value == b->admin_access.value;
}

bool tg_claim_record_equal(const struct tg_claim_record *a, const struct tg_claim_record *b)
{
    if (!tg_streq(a->uid, b->uid) || !tg_streq(a->namespace_, b->namespace_) ||
        !tg_streq(a->name, b->name) || a->devices.n != b->devices.n)
        return false;
    for (size_t i = 0; i < a->devices.n; i++) {
        if (!device_equal(&a->devices.items[i], &b->devices.items[i]))
            return false;
    }
    return true;
}

struct tg_partition tg_claim_partition_place(const struct tg_claim_partition *partition)
{
    return (struct tg_partition){.card = partition->card,
                                 .card_uuid = partition->card_uuid,
                                 .profile_id = (unsigned)partition->profile_id.value,
                                 .start = (unsigned)partition->start.value,
                                 .size = (unsigned)partition->size.value,
                                 .dynamic = partition->owned.value};
}

static bool overlap(const struct tg_claim_device *a, const struct tg_claim_device *b)
{
    const struct tg_claim_partition *p = a->partition, *q = b->partition;
    if (p == NULL && q == NULL)
        return false;
    if (p == NULL || q == NULL) /* a part, and the whole of its card */
        return tg_streq(p == NULL ? a->device : p->card, q == NULL ? b->device : q->card);
    return tg_streq(p->card, q->card) && p->start.value < q->start.value + q->size.value &&
           q->start.value < p->start.value + p->size.value;
}

bool tg_claim_device_conflicts(const struct tg_claim_device *a, const struct tg_claim_device *b)
{
    if (!tg_streq(a->pool, b->pool) || a->admin_access.value || b->admin_access.value)
        return false;
    if (!tg_streq(a->device, b->device))
        return overlap(a, b);
    return a->share_id == NULL || b->share_id == NULL || tg_streq(a->share_id, b->share_id);
}
