/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata of a claim as a merge patch. The API server refuses it ("spec: field is immutable") when
 * it would write opaque parameters in other bytes than it holds them in, as some clients have sent
 * them; nobody sees which from outside. So only a claim without any is patched. The others are
 * spliced: the same write, with a read before it.
 */
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"
#include "controller/commit/parts.h"

#define PATCH_MAX ((size_t)64 * 1024)

static bool has_opaque(const struct tg_resource_claim *claim)
{
    return claim->spec == NULL || claim->spec->devices == NULL ||
           claim->spec->devices->config.n > 0;
}

static void write_finalizers(struct tg_json_writer *w, const struct tg_object_meta *meta)
{
    if (tg_meta_has_finalizer(meta, TG_FINALIZER_CLAIM))
        return;
    tg_jw_key(w, "finalizers");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < meta->finalizers.n; i++)
        tg_jw_string(w, meta->finalizers.items[i]);
    tg_jw_string(w, TG_FINALIZER_CLAIM);
    tg_jw_end_array(w);
}

int tg_claim_metadata(struct tg_deciding *d, const struct tg_resource_claim *claim,
                      const char *epoch, bool finalizer, const char **ret)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(PATCH_MAX);
    const struct tg_object_meta *meta = claim->metadata;
    struct tg_json_writer w;

    *ret = NULL;
    if (has_opaque(claim))
        return 0;
    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_key(&w, "metadata");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "resourceVersion", meta->resource_version);
    tg_jw_kv_string(&w, "uid", meta->uid);
    tg_jw_key(&w, "annotations");
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, TG_ANNOTATION_EPOCH, epoch);
    tg_jw_end_object(&w);
    if (finalizer)
        write_finalizers(&w, meta);
    tg_jw_end_object(&w);
    tg_jw_end_object(&w);
    /* Longer than anybody's finalizers are: spliced then. */
    if (tg_jw_finish(&w, NULL) < 0)
        return 0;
    *ret = tg_arena_strndup(d->arena, tg_buf_str(&buf), buf.len);
    return *ret == NULL ? tg_decide_out_of_memory(d) : 0;
}
