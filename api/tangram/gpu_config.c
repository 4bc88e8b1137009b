/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/gpu_config.h"

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"

/* The API bounds opaque parameters to 10 KiB; what is larger was not stored by it. */
enum { MAX_PARAMETERS = 10 * 1024 };

struct time_slicing {
    const char *interval;
};
struct document {
    const char *api_version, *kind, *sharing, *compute_mode;
    struct time_slicing *time_slicing;
};

#define STRICT(T, fields_)                                                                         \
    {                                                                                              \
        .name = TG_KIND_GPU_CONFIG, .size = sizeof(T), .fields = (fields_),                        \
        .n = sizeof(fields_) / sizeof((fields_)[0]), .strict = true                                \
    }

static const struct tg_field time_slicing_fields[] = {
    TG_FIELD_STR(struct time_slicing, interval, "interval"),
};
static const struct tg_type time_slicing_type = STRICT(struct time_slicing, time_slicing_fields);
static const struct tg_field document_fields[] = {
    TG_FIELD_STR(struct document, api_version, "apiVersion"),
    TG_FIELD_STR(struct document, kind, "kind"),
    TG_FIELD_STR(struct document, sharing, "sharing"),
    TG_FIELD_OBJ(struct document, time_slicing, "timeSlicing", &time_slicing_type),
    TG_FIELD_STR(struct document, compute_mode, "computeMode"),
};
static const struct tg_type document_type = STRICT(struct document, document_fields);

struct word {
    const char *name;
    int64_t number;
};
static const struct word intervals[] = {{"Default", 0}, {"Short", 1}, {"Medium", 2}, {"Long", 3}};
static const struct word compute_modes[] = {
    {"Default", TG_COMPUTE_MODE_DEFAULT},
    {"ExclusiveProcess", TG_COMPUTE_MODE_EXCLUSIVE_PROCESS},
};

static const char *name_of(const struct word *words, size_t n, int64_t number)
{
    for (size_t i = 0; i < n; i++) {
        if (words[i].number == number)
            return words[i].name;
    }
    return "?";
}

const char *tg_time_slice_name(int64_t time_slice)
{
    return name_of(intervals, TG_ARRAY_SIZE(intervals), time_slice);
}

const char *tg_compute_mode_name(int64_t compute_mode)
{
    return name_of(compute_modes, TG_ARRAY_SIZE(compute_modes), compute_mode);
}

static int read_word(const char *kind, const char *field, const char *value,
                     const struct word *words, size_t n, struct tg_opt_int *ret,
                     struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf known = TG_BUF_INIT(200);
    if (value == NULL)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (tg_streq(words[i].name, value)) {
            *ret = (struct tg_opt_int){.set = true, .value = words[i].number};
            return 0;
        }
        (void)tg_buf_printf(&known, "%s%s", i == 0 ? "" : ", ", words[i].name);
    }
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: %s is \"%.60s\": known are %s", kind, field,
                        value, tg_buf_str(&known));
}

static int check_header(const struct document *d, struct tg_error *err)
{
    if (!tg_streq(d->api_version, TG_API_VERSION))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "apiVersion is \"%.80s\": it must be \"%s\" for the driver of the "
                            "devices",
                            tg_or(d->api_version, ""), TG_API_VERSION);
    if (!tg_streq(d->kind, TG_KIND_GPU_CONFIG) && !tg_streq(d->kind, TG_KIND_MIG_CONFIG))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "kind is \"%.80s\": the driver of the devices knows %s and %s",
                            tg_or(d->kind, ""), TG_KIND_GPU_CONFIG, TG_KIND_MIG_CONFIG);
    return 0;
}

static int check_sharing(const struct document *d, struct tg_error *err)
{
    if (d->sharing == NULL || tg_streq(d->sharing, "TimeSlicing"))
        return 0;
    if (tg_streq(d->sharing, "MPS"))
        return tg_error_set(err, TG_UNIMPLEMENTED,
                            "%s: sharing is \"MPS\", which this version does not have: leave it "
                            "out, or use TimeSlicing",
                            d->kind);
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "%s: sharing is \"%.60s\": the only known value is TimeSlicing", d->kind,
                        d->sharing);
}

/* Neither can be set for a part of a card (nvmlDeviceSetComputeMode; nvidia-smi compute-policy). */
static int check_partition(const struct document *d, struct tg_error *err)
{
    const char *field = d->time_slicing != NULL   ? "timeSlicing"
                        : d->compute_mode != NULL ? "computeMode"
                                                  : NULL;
    if (field == NULL)
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "%s: %s is a setting of a whole card, and a partition has none of its "
                        "own: remove it",
                        d->kind, field);
}

static int read_settings(const struct document *d, struct tg_gpu_settings *ret,
                         struct tg_error *err)
{
    const char *interval = d->time_slicing == NULL ? NULL : d->time_slicing->interval;
    if (d->time_slicing != NULL && interval == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: timeSlicing is empty: set timeSlicing.interval, or remove it",
                            d->kind);
    int rc = read_word(d->kind, "timeSlicing.interval", interval, intervals,
                       TG_ARRAY_SIZE(intervals), &ret->time_slice, err);
    if (rc == 0)
        rc = read_word(d->kind, "computeMode", d->compute_mode, compute_modes,
                       TG_ARRAY_SIZE(compute_modes), &ret->compute_mode, err);
    if (rc == 0 && ret->time_slice.set &&
        ret->compute_mode.value == TG_COMPUTE_MODE_EXCLUSIVE_PROCESS)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "%s: timeSlicing and computeMode ExclusiveProcess contradict each "
                            "other: a card for one process is not shared in time",
                            d->kind);
    return rc;
}

int tg_gpu_config_decode(const char *json, size_t n, struct tg_arena *arena,
                         struct tg_gpu_config *ret, struct tg_error *err)
{
    struct document d = {0};
    *ret = (struct tg_gpu_config){0};
    if (n > MAX_PARAMETERS)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "the parameters are %zu bytes long, the API allows %d", n,
                            MAX_PARAMETERS);
    int rc = tg_json_decode(&document_type, json, n, &d, arena, err);
    if (rc == 0)
        rc = check_header(&d, err);
    if (rc == 0)
        rc = check_sharing(&d, err);
    if (rc < 0)
        return rc;
    ret->mig = tg_streq(d.kind, TG_KIND_MIG_CONFIG);
    return ret->mig ? check_partition(&d, err) : read_settings(&d, &ret->settings, err);
}
