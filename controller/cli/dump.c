/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/dump.h"

#include <stdio.h>

#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/kubernetes/objects/storage.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/field.h"
#include "api/tangram/gang.h"
#include "api/tangram/kinds.h"
#include "api/tangram/names.h"

#define PAGE_MAX ((size_t)64 << 20)
#define ITEM_MEMORY ((size_t)64 << 20)

struct part;

struct dumping {
    struct tg_link *link;
    struct tg_buf *out;
    const struct part *part; /* under way */
    bool any;
    struct tg_error *err;
};

/* --- what is left out ------------------------------------------------------------------------ */

static bool is_read(const char *annotation)
{
    return tg_has_prefix(annotation, TG_GROUP "/") || tg_streq(annotation, TG_VOLUME_BOUND) ||
           tg_streq(annotation, TG_VOLUME_NODE) || tg_streq(annotation, TG_VOLUME_CLASS);
}

static void clean_meta(struct tg_object_meta *meta)
{
    size_t kept = 0;

    for (size_t i = 0; i < meta->annotations.n; i++)
        if (is_read(meta->annotations.items[i].key))
            meta->annotations.items[kept++] = meta->annotations.items[i];
    meta->annotations.n = kept;
}

static void clean_config(struct tg_device_config *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].opaque != NULL && !tg_streq(items[i].opaque->driver, TG_MARKER_DRIVER))
            items[i].opaque->parameters = "{}";
}

static void clean_spec(struct tg_resource_claim_spec *spec)
{
    if (spec != NULL && spec->devices != NULL)
        clean_config(spec->devices->config.items, spec->devices->config.n);
}

static void clean_claim(void *object)
{
    struct tg_resource_claim *claim = object;

    clean_spec(claim->spec);
    if (claim->status == NULL)
        return;
    claim->status->devices = NULL;
    if (claim->status->allocation != NULL && claim->status->allocation->devices != NULL)
        clean_config(claim->status->allocation->devices->config.items,
                     claim->status->allocation->devices->config.n);
}

static void clean_template(void *object)
{
    struct tg_resource_claim_template *template = object;

    if (template->spec == NULL)
        return;
    if (template->spec->metadata != NULL)
        clean_meta(template->spec->metadata);
    clean_spec(template->spec->spec);
}

static void clean_class(void *object)
{
    struct tg_device_class *class = object;

    if (class->spec != NULL)
        clean_config(class->spec->config.items, class->spec->config.n);
}

/* Messages of conditions may quote anything. */
static void clean_pod(void *object)
{
    struct tg_pod *pod = object;

    for (size_t i = 0; pod->status != NULL && i < pod->status->conditions.n; i++)
        pod->status->conditions.items[i].message = NULL;
}

static void clean_node(void *object)
{
    struct tg_node *node = object;

    for (size_t i = 0; node->status != NULL && i < node->status->conditions.n; i++)
        node->status->conditions.items[i].message = NULL;
}

/* It knows its version and kind itself, and they are written for all. */
static void clean_gang(void *object)
{
    struct tg_gang *gang = object;

    gang->api_version = NULL;
    gang->kind = NULL;
}

struct priority_class {
    struct tg_object_meta *metadata;
    struct tg_opt_int value;
};
static const struct tg_field priority_fields[] = {
    TG_FIELD_OBJ(struct priority_class, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_INTEGER(struct priority_class, value, "value"),
};
static const struct tg_type priority_type = TG_TYPE(struct priority_class, priority_fields);
static const struct tg_kind priority_kind = {
    "PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", false, &priority_type, NULL};

static const struct part {
    const struct tg_kind *kind;
    void (*clean)(void *object);
    bool optional; /* not every server has the kind */
} parts[] = {
    {&tg_kind_node, clean_node, false},
    {&tg_kind_namespace, NULL, false},
    {&priority_kind, NULL, false},
    {&tg_kind_device_class, clean_class, false},
    {&tg_kind_device_taint_rule, NULL, true},
    {&tg_kind_resource_slice, NULL, false},
    {&tg_kind_resource_claim_template, clean_template, false},
    {&tg_kind_gang, clean_gang, true},
    {&tg_kind_resource_claim, clean_claim, false},
    {&tg_kind_persistent_volume, NULL, false},
    {&tg_kind_persistent_volume_claim, NULL, false},
    {&tg_kind_storage_class, NULL, false},
    {&tg_kind_pod, clean_pod, false},
};

/* --- objects --------------------------------------------------------------------------------- */

static bool is_over(const struct part *part, const void *object)
{
    return part->kind == &tg_kind_pod && tg_pod_finished(object);
}

static int write_item(struct dumping *d, const struct part *part, struct tg_object *object,
                      struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(PAGE_MAX);
    char version[128];
    int r;

    if (object->metadata == NULL || is_over(part, object))
        return 0;
    clean_meta(object->metadata);
    if (part->clean != NULL)
        part->clean(object);
    r = tg_json_encode(part->kind->type, object, &text, err);
    if (r < 0)
        return r;
    tg_buf_printf(d->out, "%s\n{\"apiVersion\":\"%s\",\"kind\":\"%s\",%s", d->any ? "," : "",
                  tg_kind_api_version(part->kind, version), part->kind->kind,
                  tg_buf_str(&text) + 1);
    d->any = true;
    return 0;
}

/* An object that cannot be read is left out, and told: it must not hide the others. */
static int on_item(void *data, const char *json, size_t n, struct tg_error *err)
{
    struct dumping *d = data;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ITEM_MEMORY);
    struct tg_error why = TG_ERROR_INIT;
    void *object = NULL;

    if (tg_json_decode_new(d->part->kind->type, json, n, arena, &object, &why) == 0)
        return write_item(d, d->part, object, err);
    fprintf(stderr, "kubectl-tangram: an object of kind %s is left out: %s\n", d->part->kind->kind,
            why.message);
    return 0;
}

static int add_part(struct dumping *d, const char *namespace_)
{
    int r = tg_link_list(d->link, d->part->kind, namespace_, on_item, d, d->err);

    return r == -TG_NOT_FOUND && d->part->optional ? 0 : r;
}

int tg_dump_take(struct tg_link *link, const char *namespace_, struct tg_buf *out,
                 struct tg_error *err)
{
    struct dumping d = {.link = link, .out = out, .err = err};
    int r = 0;

    tg_buf_append_str(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for (size_t i = 0; r == 0 && i < TG_ARRAY_SIZE(parts); i++) {
        d.part = &parts[i];
        r = add_part(&d, namespace_);
    }
    tg_buf_append_str(out, "\n]}\n");
    if (r == 0 && out->failed)
        r = tg_error_set(err, TG_RESOURCE_EXHAUSTED, "the cluster is larger than %zu MiB",
                         TG_DUMP_MAX >> 20);
    return r;
}
