/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/slice_body.h"

#include "api/kubernetes/objects/kinds.h"
#include "api/runtime/json/encode.h"

int tg_slice_body_write(const struct tg_resource_slice *slice, struct tg_buf *out,
                        struct tg_error *err)
{
    struct tg_json_writer w;
    char version[128];

    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", tg_kind_api_version(&tg_kind_resource_slice, version));
    tg_jw_kv_string(&w, "kind", tg_kind_resource_slice.kind);
    tg_jw_kv_object(&w, "metadata", &tg_object_meta_type, slice->metadata);
    tg_jw_kv_object(&w, "spec", &tg_resource_slice_spec_type, slice->spec);
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, err);
}

int tg_slice_body_delete(const struct tg_resource_slice *slice, struct tg_buf *out,
                         struct tg_error *err)
{
    const struct tg_object_meta *meta = slice->metadata;
    struct tg_json_writer w;

    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", "v1");
    tg_jw_kv_string(&w, "kind", "DeleteOptions");
    tg_jw_key(&w, "preconditions");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "uid", meta->uid);
    tg_jw_kv_string(&w, "resourceVersion", meta->resource_version);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    return tg_jw_finish(&w, err);
}
