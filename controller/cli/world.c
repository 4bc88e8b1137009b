/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/world.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/zoneinfo.h"
#include "api/tangram/kinds.h"
#include "api/tangram/names.h"
#include "api/tangram/syntax.h"

#define CONFIGURATION_MAX ((size_t)1 << 20)

void tg_world_init(struct tg_world *world, struct tg_arena *arena, struct tg_problems *problems,
                   const char *created)
{
    *world = (struct tg_world){.arena = arena, .problems = problems, .created = created};
    tg_view_init(&world->view);
    world->zoneinfo = tg_zoneinfo_new(TG_ZONEINFO_FOLDER);
    world->zones = (struct tg_cel_zones){.find = tg_zoneinfo_find, .context = world->zoneinfo};
    world->selectors.zones = &world->zones;
    world->view.selectors = &world->selectors;
    world->templates = tg_map_new(NULL);
    world->priorities = tg_map_new(NULL);
    world->ignored = tg_map_new(NULL);
    world->owners = tg_map_new(NULL);
    world->fresh = tg_map_new(NULL);
}

void tg_world_done(struct tg_world *world)
{
    tg_view_done(&world->view);
    tg_configuration_free(world->configuration);
    tg_zoneinfo_free(world->zoneinfo);
    tg_map_free(world->templates);
    tg_map_free(world->priorities);
    tg_map_free(world->ignored);
    tg_map_free(world->owners);
    tg_map_free(world->fresh);
    TG_VEC_DONE(&world->makers);
    TG_VEC_DONE(&world->levels);
    TG_VEC_DONE(&world->level_sizes);
}

const char *tg_world_uid(struct tg_world *world)
{
    return tg_arena_printf(world->arena, "00000000-0000-8000-8000-%012zx", ++world->made);
}

/* --- objects --------------------------------------------------------------------------------- */

void tg_world_put(struct tg_world *world, enum tg_view_kind kind, const void *object,
                  const struct tg_document *document)
{
    const struct tg_object_meta *meta = ((const struct tg_object *)object)->metadata;

    if (tg_view_get(&world->view, kind, meta->namespace_, meta->name) == NULL)
        tg_view_add(&world->view, kind, object);
    else if (document != NULL)
        tg_problems_add(world->problems, document->file, document->root, "metadata.name",
                        "there are two objects %s %s", document->kind, meta->name);
}

/* What the API server would have filled in. */
static void complete(struct tg_world *world, struct tg_object *object, bool namespaced,
                     const struct tg_document *document)
{
    struct tg_object_meta *meta = object->metadata;

    if (namespaced && meta->namespace_ == NULL)
        meta->namespace_ = document->namespace_;
    if (meta->uid == NULL)
        meta->uid = tg_world_uid(world);
    if (meta->resource_version == NULL)
        meta->resource_version = "1";
    if (meta->creation_timestamp == NULL)
        meta->creation_timestamp = world->created;
}

bool tg_world_check_names(struct tg_world *world, const struct tg_document *document,
                          const struct tg_object_meta *meta)
{
    const char *namespace_ = meta == NULL ? NULL : meta->namespace_;

    if (meta != NULL && tg_syntax_is_dns_subdomain(meta->name, 253) &&
        (namespace_ == NULL || tg_syntax_is_dns_label(namespace_)))
        return true;
    tg_problems_add(world->problems, document->file, document->root, "metadata",
                    "name (and namespace) must be there, of lower-case letters, digits, '-' and "
                    "'.'");
    return false;
}

static struct tg_object *decode(struct tg_world *world, const struct tg_document *document,
                                const struct tg_type *type, bool namespaced)
{
    struct tg_object *object =
        tg_document_decode(document, document->root, "", type, world->arena, world->problems);

    if (object == NULL)
        return NULL;
    if (!tg_world_check_names(world, document, object->metadata))
        return NULL;
    complete(world, object, namespaced, document);
    return object;
}

static void add_template(struct tg_world *world, const struct tg_document *document)
{
    struct tg_object *object = decode(world, document, &tg_resource_claim_template_type, true);
    const char *key;

    if (object == NULL) {
        world->unreadable_template = true;
        return;
    }
    key = tg_arena_printf(world->arena, "%s/%s", object->metadata->namespace_,
                          object->metadata->name);
    if (key != NULL)
        tg_map_set(world->templates, key, object);
}

static void add_priority(struct tg_world *world, const struct tg_document *document)
{
    const struct tg_json *value = tg_json_get(document->root, "value");

    if (value != NULL)
        tg_map_set(world->priorities, document->name, (void *)(uintptr_t)value);
}

/* The reader of the controller's file, with its own words. */
static void add_configuration(struct tg_world *world, const struct tg_document *document)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(CONFIGURATION_MAX);
    struct tg_error err = TG_ERROR_INIT;
    const char *what;

    tg_configuration_free(world->configuration);
    world->configuration = NULL;
    if (tg_json_write(document->root, &text) == 0 &&
        tg_configuration_parse("", tg_buf_str(&text), text.len, &world->configuration, &err) == 0)
        return;
    /* ":1: FIELD: what is wrong": it knows one line only. */
    what = strstr(err.message, ": ");
    tg_problems_locate(world->problems, document->file, document->root, "",
                       what == NULL ? err.message : what + 2);
}

/* Kinds that stand for themselves. */
static const struct plain_kind {
    const struct tg_kind *kind;
    enum tg_view_kind view;
} plain_kinds[] = {
    {&tg_kind_node, TG_VIEW_NODE},
    {&tg_kind_namespace, TG_VIEW_NAMESPACE},
    {&tg_kind_resource_claim, TG_VIEW_CLAIM},
    {&tg_kind_resource_slice, TG_VIEW_SLICE},
    {&tg_kind_device_class, TG_VIEW_CLASS},
    {&tg_kind_device_taint_rule, TG_VIEW_TAINT_RULE},
    {&tg_kind_gang, TG_VIEW_GANG},
    {&tg_kind_persistent_volume, TG_VIEW_VOLUME},
    {&tg_kind_persistent_volume_claim, TG_VIEW_VOLUME_CLAIM},
    {&tg_kind_storage_class, TG_VIEW_STORAGE_CLASS},
};

static const struct special_kind {
    const char *group, *kind;
    void (*add)(struct tg_world *world, const struct tg_document *document);
} special_kinds[] = {
    {"resource.k8s.io", "ResourceClaimTemplate", add_template},
    {"scheduling.k8s.io", "PriorityClass", add_priority},
    {TG_GROUP, TG_KIND_CONFIGURATION, add_configuration},
    {TG_GROUP, "Fleet", tg_fleet_form_add},
};

static bool is_kind(const struct tg_document *document, const char *group, const char *kind)
{
    return tg_streq(document->kind, kind) && tg_streq(document->group, group);
}

static bool add_plain(struct tg_world *world, const struct tg_document *document)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(plain_kinds); i++) {
        const struct tg_kind *kind = plain_kinds[i].kind;
        struct tg_object *object;

        if (!is_kind(document, kind->group, kind->kind))
            continue;
        object = decode(world, document, kind->type, kind->namespaced);
        if (object != NULL)
            tg_world_put(world, plain_kinds[i].view, object, document);
        return true;
    }
    return false;
}

static void add_one(struct tg_world *world, const struct tg_document *document)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(special_kinds); i++) {
        if (is_kind(document, special_kinds[i].group, special_kinds[i].kind)) {
            special_kinds[i].add(world, document);
            return;
        }
    }
    if (is_kind(document, "", "Pod") || tg_workload_known(document)) {
        *TG_VEC_PUSH(&world->makers) = *document;
        return;
    }
    if (!add_plain(world, document)) {
        uintptr_t n = (uintptr_t)tg_map_get(world->ignored, document->kind) + 1;

        tg_map_set(world->ignored, document->kind, (void *)n);
    }
}

/* What levels there are decides what labels the nodes of a short fleet have. */
static bool is_configuration(const struct tg_document *document)
{
    return is_kind(document, TG_GROUP, TG_KIND_CONFIGURATION);
}

void tg_world_add(struct tg_world *world, const struct tg_documents *documents)
{
    for (size_t i = 0; i < documents->items.n; i++)
        if (is_configuration(&documents->items.items[i]))
            add_one(world, &documents->items.items[i]);
    for (size_t i = 0; i < documents->items.n; i++)
        if (!is_configuration(&documents->items.items[i]))
            add_one(world, &documents->items.items[i]);
}

/* --- what was not said ----------------------------------------------------------------------- */

/* The class of the chart, for fleets in the short form. */
static void add_default_class(struct tg_world *world)
{
    static struct tg_cel_selector guard = {TG_GUARD_EXPRESSION},
                                  driver = {"device.driver == \"" TG_DRIVER_DEFAULT "\""};
    static struct tg_device_selector selectors[] = {{&guard}, {&driver}};
    static struct tg_string_pair label = {TG_LABEL_CONTROLLER, NULL};
    struct tg_device_class *class = tg_arena_alloc(world->arena, sizeof(*class));
    struct tg_device_class_spec *spec = tg_arena_alloc(world->arena, sizeof(*spec));
    struct tg_object_meta *meta = tg_arena_alloc(world->arena, sizeof(*meta));
    struct tg_string_pair *labels = tg_arena_alloc(world->arena, sizeof(*labels));

    if (class == NULL || spec == NULL || meta == NULL || labels == NULL)
        return;
    *labels = label;
    labels->value = tg_arena_strdup(world->arena, tg_configuration_instance(world->configuration));
    *meta = (struct tg_object_meta){.name = TG_DRIVER_DEFAULT, .uid = tg_world_uid(world)};
    meta->labels.items = labels;
    meta->labels.n = 1;
    spec->selectors.items = selectors;
    spec->selectors.n = TG_ARRAY_SIZE(selectors);
    *class = (struct tg_device_class){.metadata = meta, .spec = spec};
    tg_world_put(world, TG_VIEW_CLASS, class, NULL);
}

/* Levels of short fleets, those with the largest domains outermost, where no configuration says
 * what levels there are. */
static void add_levels(struct tg_world *world, struct tg_buf *text)
{
    for (size_t done = 0; done < world->levels.n; done++) {
        size_t best = 0;

        for (size_t i = 1; i < world->levels.n; i++)
            if (world->level_sizes.items[i] > world->level_sizes.items[best])
                best = i;
        tg_buf_printf(
            text, "- {name: %s, nodeLabel: %s}\n", world->levels.items[best],
            tg_streq(world->levels.items[best], "zone")
                ? "topology.kubernetes.io/zone"
                : tg_arena_printf(world->arena, TG_GROUP "/%s", world->levels.items[best]));
        world->level_sizes.items[best] = 0;
    }
}

static void add_default_configuration(struct tg_world *world)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(CONFIGURATION_MAX);
    struct tg_error err = TG_ERROR_INIT;

    if (world->levels.n > 0) {
        tg_buf_append_str(&text, "apiVersion: " TG_API_VERSION "\nkind: " TG_KIND_CONFIGURATION
                                 "\ntopology:\n");
        add_levels(world, &text);
        if (tg_configuration_parse("the levels of the fleet", tg_buf_str(&text), text.len,
                                   &world->configuration, &err) == 0)
            return;
        tg_problems_add(world->problems, "Fleet", NULL, "nodes.per", "%s", err.message);
    }
    world->configuration = tg_configuration_new_default();
}

void tg_world_finish(struct tg_world *world)
{
    if (world->configuration == NULL)
        add_default_configuration(world);
    if (world->short_form &&
        tg_view_get(&world->view, TG_VIEW_CLASS, NULL, TG_DRIVER_DEFAULT) == NULL)
        add_default_class(world);
    for (size_t i = 0; i < world->makers.n; i++)
        tg_workload_add(world, &world->makers.items[i]);
    TG_VEC_CLEAR(&world->makers);
    if (tg_arena_exhausted(world->arena))
        tg_problems_add(world->problems, "the files", NULL, "",
                        "stand for more objects than fit into %zu MiB", TG_CLI_MEMORY >> 20);
}
