/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to pods: the plan of an implicit gang, and the one JSON patch that pins a pod to its node
 * and removes its gate. A gate cannot be put back and a pin cannot be loosened, so the patch
 * carries the resourceVersion on which it was decided ("replace" of it makes the API server answer
 * 409 when the pod has changed).
 */
#include <stdio.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/patch.h"
#include "api/tangram/names.h"
#include "controller/commit/parts.h"

#define PATCH_MAX (2 * 1024 * 1024)

static const char REQUIRED[] = "requiredDuringSchedulingIgnoredDuringExecution";

static int finish(struct tg_deciding *d, const struct tg_pod *pod, struct tg_json_patch *patch,
                  struct tg_buf *buf)
{
    const struct tg_object_meta *meta = pod->metadata;

    if (tg_json_patch_finish(patch, NULL) < 0)
        return tg_decide_out_of_memory(d);
    return tg_decide_write(
        d, &(struct tg_write){.kind = TG_WRITE_POD,
                              .namespace_ = meta->namespace_,
                              .name = meta->name,
                              .uid = meta->uid,
                              .resource_version = meta->resource_version,
                              .body = tg_arena_strndup(d->arena, tg_buf_str(buf), buf->len)});
}

static void begin(const struct tg_pod *pod, struct tg_json_patch *patch, struct tg_buf *buf)
{
    TG_AUTOBUF struct tg_buf value = TG_BUF_INIT(1024);

    tg_json_patch_init(patch, buf);
    tg_json_quote(&value, pod->metadata->uid);
    tg_json_patch_test(patch, tg_buf_str(&value), "metadata", "uid", NULL);
    tg_buf_clear(&value);
    tg_json_quote(&value, pod->metadata->resource_version);
    tg_json_patch_replace(patch, tg_buf_str(&value), "metadata", "resourceVersion", NULL);
}

/* Terms are ORed: the pin goes into each of them. */
static void pin_terms(struct tg_json_patch *patch, const struct tg_node_selector *required,
                      const char *field)
{
    TG_AUTOBUF struct tg_buf list = TG_BUF_INIT(4096);

    tg_buf_printf(&list, "[%s]", field);
    for (size_t i = 0; i < required->terms.n; i++) {
        char index[24];

        snprintf(index, sizeof(index), "%zu", i);
        if (required->terms.items[i].match_fields.n > 0)
            tg_json_patch_add(patch, field, "spec", "affinity", "nodeAffinity", REQUIRED,
                              "nodeSelectorTerms", index, "matchFields", "-", NULL);
        else
            tg_json_patch_add(patch, tg_buf_str(&list), "spec", "affinity", "nodeAffinity",
                              REQUIRED, "nodeSelectorTerms", index, "matchFields", NULL);
    }
}

static void pin(struct tg_json_patch *patch, const struct tg_pod *pod, const char *node)
{
    TG_AUTOBUF struct tg_buf field = TG_BUF_INIT(2048);
    TG_AUTOBUF struct tg_buf value = TG_BUF_INIT(4096);
    const struct tg_affinity *affinity = pod->spec->affinity;

    tg_buf_append_str(&field, "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[");
    tg_json_quote(&field, node);
    tg_buf_append_str(&field, "]}");
    if (affinity != NULL && affinity->node_affinity != NULL &&
        affinity->node_affinity->required != NULL &&
        affinity->node_affinity->required->terms.n > 0) {
        pin_terms(patch, affinity->node_affinity->required, tg_buf_str(&field));
        return;
    }
    tg_buf_printf(&value, "{\"nodeSelectorTerms\":[{\"matchFields\":[%s]}]}", tg_buf_str(&field));
    if (affinity != NULL && affinity->node_affinity != NULL) {
        tg_json_patch_add(patch, tg_buf_str(&value), "spec", "affinity", "nodeAffinity", REQUIRED,
                          NULL);
        return;
    }
    tg_buf_clear(&field);
    tg_buf_printf(&field, "{\"%s\":%s}", REQUIRED, tg_buf_str(&value));
    if (affinity != NULL) {
        tg_json_patch_add(patch, tg_buf_str(&field), "spec", "affinity", "nodeAffinity", NULL);
        return;
    }
    tg_buf_clear(&value);
    tg_buf_printf(&value, "{\"nodeAffinity\":%s}", tg_buf_str(&field));
    tg_json_patch_add(patch, tg_buf_str(&value), "spec", "affinity", NULL);
}

static void ungate(struct tg_json_patch *patch, const struct tg_pod *pod)
{
    for (size_t i = 0; i < pod->spec->scheduling_gates.n; i++) {
        char index[24];

        if (!tg_streq(pod->spec->scheduling_gates.items[i].name, TG_GATE))
            continue;
        snprintf(index, sizeof(index), "%zu", i);
        tg_json_patch_test(patch, "\"" TG_GATE "\"", "spec", "schedulingGates", index, "name",
                           NULL);
        tg_json_patch_remove(patch, "spec", "schedulingGates", index, NULL);
        return;
    }
}

int tg_write_release_pod(struct tg_deciding *d, const struct tg_pod *pod, const char *node,
                         bool drop_plan)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(PATCH_MAX);
    struct tg_json_patch patch;

    begin(pod, &patch, &buf);
    if (node != NULL && tg_pod_has_gate(pod, TG_GATE)) {
        pin(&patch, pod, node);
        ungate(&patch, pod);
    }
    if (drop_plan && tg_meta_annotation(pod->metadata, TG_ANNOTATION_PLAN) != NULL)
        tg_json_patch_remove(&patch, "metadata", "annotations", TG_ANNOTATION_PLAN, NULL);
    return finish(d, pod, &patch, &buf);
}

static void annotate(struct tg_json_patch *patch, const struct tg_pod *pod, const char *key,
                     const char *value)
{
    TG_AUTOBUF struct tg_buf quoted = TG_BUF_INIT(PATCH_MAX);

    tg_json_quote(&quoted, value);
    if (pod->metadata->annotations.n == 0)
        tg_json_patch_add(patch, "{}", "metadata", "annotations", NULL);
    tg_json_patch_add(patch, tg_buf_str(&quoted), "metadata", "annotations", key, NULL);
}

int tg_write_pod_epoch(struct tg_deciding *d, const struct tg_pod *pod)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(PATCH_MAX);
    struct tg_json_patch patch;
    const char *epoch = tg_deciding_epoch(d);

    if (epoch == NULL)
        return tg_decide_out_of_memory(d);
    begin(pod, &patch, &buf);
    annotate(&patch, pod, TG_ANNOTATION_EPOCH, epoch);
    return finish(d, pod, &patch, &buf);
}

int tg_write_pod_plan(struct tg_deciding *d, const struct tg_pod *pod, const struct tg_plan *plan)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(PATCH_MAX);
    struct tg_json_patch patch;
    char *text = tg_plan_encode(plan, d->arena);

    if (text == NULL)
        return tg_decide_out_of_memory(d);
    begin(pod, &patch, &buf);
    annotate(&patch, pod, TG_ANNOTATION_PLAN, text);
    return finish(d, pod, &patch, &buf);
}
