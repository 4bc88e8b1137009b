/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/plan_marker.h"

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"

struct document {
    const char *api_version, *kind, *gang_uid, *instance;
    struct tg_opt_int epoch;
};
/* In the order of the keys' names, as Go writes maps: a server or client that decodes and
 * re-encodes the parameters leaves these bytes alone. */
static const struct tg_field fields[] = {
    TG_FIELD_STR(struct document, api_version, "apiVersion"),
    TG_FIELD_INTEGER(struct document, epoch, "epoch"),
    TG_FIELD_STR(struct document, gang_uid, "gangUID"),
    TG_FIELD_STR(struct document, instance, "instance"),
    TG_FIELD_STR(struct document, kind, "kind"),
};
static const struct tg_type document_type = TG_TYPE(struct document, fields);

static void write_parameters(const struct tg_plan_marker *marker, struct tg_json_writer *w)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "apiVersion", TG_API_VERSION);
    tg_jw_kv_int(w, "epoch", marker->epoch);
    tg_jw_kv_string(w, "gangUID", tg_or(marker->gang_uid, ""));
    if (!tg_streq(tg_or(marker->instance, TG_INSTANCE_DEFAULT), TG_INSTANCE_DEFAULT))
        tg_jw_kv_string(w, "instance", marker->instance);
    tg_jw_kv_string(w, "kind", TG_KIND_PLAN);
    tg_jw_end_object(w);
}

int tg_plan_marker_encode(const struct tg_plan_marker *marker, struct tg_buf *out,
                          struct tg_error *err)
{
    struct tg_json_writer w;
    tg_json_writer_init(&w, out);
    write_parameters(marker, &w);
    return tg_jw_finish(&w, err);
}

int tg_plan_marker_encode_config(const struct tg_plan_marker *marker, struct tg_buf *out,
                                 struct tg_error *err)
{
    struct tg_json_writer w;
    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    tg_jw_key(&w, "opaque");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "driver", TG_MARKER_DRIVER);
    tg_jw_key(&w, "parameters");
    write_parameters(marker, &w);
    tg_jw_end_object(&w);
    tg_jw_kv_string(&w, "source", "FromClass");
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, err);
}

int tg_plan_marker_decode(const char *json, size_t n, struct tg_arena *arena,
                          struct tg_plan_marker *ret, struct tg_error *err)
{
    struct document d = {0};
    int rc = tg_json_decode(&document_type, json, n, &d, arena, err);
    if (rc < 0)
        return tg_error_wrap(err, TG_KIND_PLAN);
    if (!tg_streq(d.kind, TG_KIND_PLAN))
        return tg_error_set(err, TG_NOT_FOUND, "kind is \"%s\", not \"%s\"", tg_or(d.kind, ""),
                            TG_KIND_PLAN);
    if (!tg_has_prefix(tg_or(d.api_version, ""), TG_GROUP "/"))
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: apiVersion is \"%s\", not of group %s",
                            TG_KIND_PLAN, tg_or(d.api_version, ""), TG_GROUP);
    if (d.gang_uid == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: gangUID is missing", TG_KIND_PLAN);
    if (!d.epoch.set || d.epoch.value < 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: epoch is missing or negative",
                            TG_KIND_PLAN);
    *ret = (struct tg_plan_marker){
        .gang_uid = d.gang_uid, .epoch = d.epoch.value, .instance = d.instance};
    return 0;
}
