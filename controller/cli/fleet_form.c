/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short form of a fleet (design 11), decoded strictly:
 *
 *   kind: Fleet
 *   nodes:
 *   - {count: 100, prefix: h, gpus: 8, product: NVIDIA H100 80GB HBM3, mig: off, cpu: 96,
 *      memory: 1Ti, per: {rack: 16, zone: 128}, labels: {}}
 *   busy: [{node: h-0, gpus: 7}]
 *
 * Nodes become Node objects h-0, h-1..., cards ResourceSlices, what is busy allocated claims. `per`
 * gives every so many nodes in a row a domain of that level.
 */
#include <inttypes.h>

#include "api/kubernetes/values/names.h"
#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/syntax.h"
#include "controller/cli/cards.h"
#include "controller/cli/world.h"

#define NODES_MAX 100000
#define CARDS_MAX 1000000
#define DEFAULT_CPU "128"
#define DEFAULT_MEMORY "1Ti"
#define DEFAULT_PODS "110"
#define BUSY_NAMESPACE "busy"

struct form {
    struct tg_world *world;
    const struct tg_document *document;
};

/* One entry of `nodes`. */
struct group {
    int64_t count, gpus;
    const char *prefix, *name, *product, *card_memory, *mig, *cpu, *memory, *pods;
    const struct tg_json *per, *labels;
    const struct tg_json *at;
    const struct tg_card *card;
};

static void problem(struct form *f, const struct tg_json *at, const char *field, const char *text)
{
    tg_problems_add(f->world->problems, f->document->file, at, field, "%s", text);
}

/* --- fields ---------------------------------------------------------------------------------- */

enum field_kind { FIELD_COUNT, FIELD_TEXT, FIELD_QUANTITY, FIELD_MAP };

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    int64_t min, max;
};

#define FIELD(type, member, json, kind, ...)                                                       \
    {                                                                                              \
        json, kind, offsetof(type, member), __VA_ARGS__                                            \
    }

static void take(struct form *f, const struct field *field, const struct tg_json *value,
                 const char *path, void *target)
{
    void *to = (char *)target + field->offset;
    struct tg_quantity quantity;
    int64_t n;

    switch (field->kind) {
    case FIELD_COUNT:
        if (tg_json_i64(value, &n) != 0 || n < field->min || n > field->max)
            tg_problems_add(f->world->problems, f->document->file, value, path,
                            "expected a whole number from %" PRId64 " to %" PRId64, field->min,
                            field->max);
        else
            *(int64_t *)to = n;
        return;
    case FIELD_TEXT:
        /* `mig: off` is the word, whatever YAML's forefathers made of it. */
        if (tg_or(tg_json_string(value), "")[0] == '\0')
            problem(f, value, path, "expected a text");
        else
            *(const char **)to = value->text;
        return;
    case FIELD_QUANTITY:
        if ((value->kind != TG_JSON_STRING && value->kind != TG_JSON_NUMBER) ||
            tg_quantity_parse(value->text, &quantity, NULL) < 0)
            problem(f, value, path, "expected a quantity such as 96 or 1Ti");
        else
            *(const char **)to = value->text;
        return;
    case FIELD_MAP:
        if (value->kind != TG_JSON_OBJECT)
            problem(f, value, path, "expected a mapping");
        else
            *(const struct tg_json **)to = value;
        return;
    }
}

static void unknown(struct form *f, const struct tg_json *value, const char *path,
                    const struct field *fields, size_t n)
{
    char known[256] = "";

    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ", fields[i].name);
    }
    tg_problems_add(f->world->problems, f->document->file, value, path,
                    "unknown field; known here: %s", known);
}

static bool take_all(struct form *f, const struct tg_json *object, const char *path,
                     const struct field *fields, size_t n, void *target)
{
    if (object->kind != TG_JSON_OBJECT) {
        problem(f, object, path, "expected a mapping");
        return false;
    }
    for (size_t i = 0; i < object->n; i++) {
        char below[160];
        size_t k = 0;

        snprintf(below, sizeof(below), "%.80s%s%.60s", path, path[0] == '\0' ? "" : ".",
                 object->keys[i]);
        while (k < n && !tg_streq(fields[k].name, object->keys[i]))
            k++;
        if (k == n)
            unknown(f, object->items[i], below, fields, n);
        else
            take(f, &fields[k], object->items[i], below, target);
    }
    return true;
}

/* --- nodes ----------------------------------------------------------------------------------- */

static const struct field group_fields[] = {
    FIELD(struct group, count, "count", FIELD_COUNT, 1, NODES_MAX),
    FIELD(struct group, prefix, "prefix", FIELD_TEXT, 0, 0),
    FIELD(struct group, name, "name", FIELD_TEXT, 0, 0),
    FIELD(struct group, gpus, "gpus", FIELD_COUNT, 0, TG_CARDS_NODE_MAX),
    FIELD(struct group, product, "product", FIELD_TEXT, 0, 0),
    FIELD(struct group, card_memory, "gpuMemory", FIELD_QUANTITY, 0, 0),
    FIELD(struct group, mig, "mig", FIELD_TEXT, 0, 0),
    FIELD(struct group, cpu, "cpu", FIELD_QUANTITY, 0, 0),
    FIELD(struct group, memory, "memory", FIELD_QUANTITY, 0, 0),
    FIELD(struct group, pods, "pods", FIELD_QUANTITY, 0, 0),
    FIELD(struct group, per, "per", FIELD_MAP, 0, 0),
    FIELD(struct group, labels, "labels", FIELD_MAP, 0, 0),
};

static void check_product(struct form *f, struct group *g, const char *path)
{
    const struct tg_json *at = tg_json_get(g->at, "product");
    const char *near[3];
    char text[400];
    size_t n, used;

    if (g->product == NULL) {
        if (g->gpus > 0)
            problem(f, g->at, path,
                    "product is missing: the name of the card, as nvidia-smi -L "
                    "prints it");
        return;
    }
    g->card = tg_card_find(g->product);
    if (g->card != NULL || g->card_memory != NULL)
        return;
    used = (size_t)snprintf(text, sizeof(text), "no card is known as \"%.80s\"", g->product);
    n = tg_card_suggest(g->product, near, TG_ARRAY_SIZE(near));
    for (size_t i = 0; i < n && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s \"%s\"",
                                 i == 0 ? "; the nearest:" : ",", near[i]);
    if (used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, "; for any other card give gpuMemory");
    problem(f, at, path, text);
}

static bool mig_known(const char *mig)
{
    return mig == NULL || tg_streq(mig, "off") || tg_streq(mig, "dynamic");
}

static void check_group(struct form *f, struct group *g, const char *path)
{
    const struct tg_json *mig = tg_json_get(g->at, "mig");

    check_product(f, g, path);
    if (!mig_known(g->mig))
        problem(f, mig, path, "mig is off or dynamic");
    else if (tg_streq(g->mig, "dynamic") && g->card != NULL && g->card->n_profiles == 0)
        problem(f, mig, path, "this card has no MIG profiles");
    if (!tg_syntax_is_dns_label(tg_or(g->name, g->prefix)))
        problem(f, g->at, path, "prefix (or name) must be lower-case letters, digits and '-'");
    if (g->name != NULL && g->count != 1)
        problem(f, g->at, path,
                "a node with a name is one node: leave count out, or give a prefix");
}

static void note_level(struct tg_world *world, const char *level, int64_t size)
{
    for (size_t i = 0; i < world->levels.n; i++) {
        if (!tg_streq(world->levels.items[i], level))
            continue;
        if (world->level_sizes.items[i] < (size_t)size)
            world->level_sizes.items[i] = (size_t)size;
        return;
    }
    *TG_VEC_PUSH(&world->levels) = level;
    *TG_VEC_PUSH(&world->level_sizes) = (size_t)size;
}

static void note_levels(struct form *f, const struct group *g, const char *path)
{
    for (size_t i = 0; g->per != NULL && i < g->per->n; i++) {
        int64_t size;

        if (tg_json_i64(g->per->items[i], &size) != 0 || size < 1 || size > NODES_MAX ||
            !tg_syntax_is_dns_label(g->per->keys[i]) || tg_streq(g->per->keys[i], TG_LEVEL_HOST))
            problem(f, g->per->items[i], path,
                    "per: expected the name of a level and how many nodes make one domain of it, "
                    "such as {rack: 16}");
        else
            note_level(f->world, g->per->keys[i], size);
    }
}

/* The node label of a level: that of the configuration, if one was given. */
static const char *label_of(struct tg_world *world, const char *level)
{
    struct tg_level found;

    if (world->configuration != NULL &&
        tg_configuration_find_level(world->configuration, level, &found, NULL) == 0 &&
        found.node_label != NULL)
        return found.node_label;
    return tg_streq(level, "zone") ? "topology.kubernetes.io/zone"
                                   : tg_arena_printf(world->arena, TG_GROUP "/%s", level);
}

static struct tg_object_meta *node_meta(struct form *f, const struct group *g, const char *name,
                                        int64_t index)
{
    struct tg_arena *arena = f->world->arena;
    size_t most = 1 + (g->per == NULL ? 0 : g->per->n) + (g->labels == NULL ? 0 : g->labels->n);
    struct tg_object_meta *meta = tg_arena_alloc(arena, sizeof(*meta));
    struct tg_string_pair *labels = tg_arena_alloc_array(arena, most, sizeof(*labels));
    size_t n = 0;

    if (meta == NULL || labels == NULL)
        return NULL;
    labels[n++] = (struct tg_string_pair){TG_LABEL_HOSTNAME, name};
    for (size_t i = 0; g->per != NULL && i < g->per->n; i++) {
        int64_t size = 1;

        (void)tg_json_i64(g->per->items[i], &size);
        labels[n++] = (struct tg_string_pair){
            label_of(f->world, g->per->keys[i]),
            tg_arena_printf(arena, "%s-%s-%" PRId64, tg_or(g->prefix, name), g->per->keys[i],
                            index / (size < 1 ? 1 : size))};
    }
    for (size_t i = 0; g->labels != NULL && i < g->labels->n; i++)
        labels[n++] = (struct tg_string_pair){g->labels->keys[i],
                                              tg_or(tg_json_string(g->labels->items[i]), "")};
    *meta = (struct tg_object_meta){.name = name, .uid = tg_world_uid(f->world)};
    meta->labels.items = labels;
    meta->labels.n = n;
    return meta;
}

static struct tg_node_status *node_status(struct form *f, const struct group *g)
{
    static struct tg_condition ready = {.type = "Ready", .status = "True"};
    struct tg_node_status *status = tg_arena_alloc(f->world->arena, sizeof(*status));
    struct tg_string_pair *room = tg_arena_alloc_array(f->world->arena, 3, sizeof(*room));

    if (status == NULL || room == NULL)
        return NULL;
    room[0] = (struct tg_string_pair){"cpu", g->cpu};
    room[1] = (struct tg_string_pair){"memory", g->memory};
    room[2] = (struct tg_string_pair){"pods", g->pods};
    status->allocatable.items = room;
    status->allocatable.n = 3;
    status->conditions.items = &ready;
    status->conditions.n = 1;
    return status;
}

static void add_slices(struct form *f, const struct group *g, const char *name)
{
    const struct tg_cards cards = {.node = name,
                                   .driver = TG_DRIVER_DEFAULT,
                                   .n = (size_t)g->gpus,
                                   .card = g->card,
                                   .product = g->product,
                                   .memory = g->card_memory,
                                   .mig = tg_streq(g->mig, "dynamic") ? TG_CARDS_DYNAMIC
                                                                      : TG_CARDS_WHOLE};
    size_t n = 0;
    const struct tg_resource_slice *slices =
        g->gpus == 0 ? NULL : tg_cards_slices(&cards, f->world->arena, &n);

    for (size_t i = 0; slices != NULL && i < n; i++)
        tg_world_put(f->world, TG_VIEW_SLICE, &slices[i], f->document);
}

static void add_nodes(struct form *f, const struct group *g)
{
    static struct tg_node_spec spec;
    struct tg_arena *arena = f->world->arena;

    for (int64_t i = 0; i < g->count && !tg_arena_exhausted(arena); i++) {
        const char *name =
            g->name != NULL ? g->name : tg_arena_printf(arena, "%s-%" PRId64, g->prefix, i);
        struct tg_node *node = tg_arena_alloc(arena, sizeof(*node));

        if (name == NULL || node == NULL)
            return;
        *node = (struct tg_node){
            .metadata = node_meta(f, g, name, i), .spec = &spec, .status = node_status(f, g)};
        if (node->metadata == NULL || node->status == NULL)
            return;
        tg_world_put(f->world, TG_VIEW_NODE, node, f->document);
        add_slices(f, g, name);
    }
}

static void add_group(struct form *f, const struct tg_json *entry, size_t index)
{
    struct group g = {.count = 1,
                      .prefix = "node",
                      .cpu = DEFAULT_CPU,
                      .memory = DEFAULT_MEMORY,
                      .pods = DEFAULT_PODS,
                      .at = entry};
    size_t before = f->world->problems->n;
    char path[32];

    snprintf(path, sizeof(path), "nodes[%zu]", index);
    if (!take_all(f, entry, path, group_fields, TG_ARRAY_SIZE(group_fields), &g))
        return;
    check_group(f, &g, path);
    note_levels(f, &g, path);
    f->world->cards += g.count * g.gpus;
    if (f->world->cards > CARDS_MAX)
        problem(f, entry, path, "the fleet has more than a million cards: make it smaller");
    if (f->world->problems->n == before)
        add_nodes(f, &g);
}

/* --- what is taken already ------------------------------------------------------------------- */

struct busy {
    const char *node;
    int64_t gpus;
};

static const struct field busy_fields[] = {
    FIELD(struct busy, node, "node", FIELD_TEXT, 0, 0),
    FIELD(struct busy, gpus, "gpus", FIELD_COUNT, 1, TG_CARDS_NODE_MAX),
};

static void add_busy_claim(struct form *f, const struct busy *b)
{
    struct tg_arena *arena = f->world->arena;
    struct {
        struct tg_resource_claim claim;
        struct tg_object_meta meta;
        struct tg_resource_claim_status status;
        struct tg_allocation allocation;
        struct tg_allocation_devices devices;
    } *made = tg_arena_alloc(arena, sizeof(*made));
    struct tg_allocation_device *results =
        tg_arena_alloc_array(arena, (size_t)b->gpus, sizeof(*results));

    if (made == NULL || results == NULL)
        return;
    for (int64_t i = 0; i < b->gpus; i++)
        results[i] = (struct tg_allocation_device){.request = "gpus",
                                                   .driver = TG_DRIVER_DEFAULT,
                                                   .pool = b->node,
                                                   .device = tg_cards_device((size_t)i, arena)};
    made->meta = (struct tg_object_meta){
        .name = b->node, .namespace_ = BUSY_NAMESPACE, .uid = tg_world_uid(f->world)};
    made->devices.results.items = results;
    made->devices.results.n = (size_t)b->gpus;
    made->allocation.devices = &made->devices;
    made->status.allocation = &made->allocation;
    made->claim.metadata = &made->meta;
    made->claim.status = &made->status;
    tg_world_put(f->world, TG_VIEW_CLAIM, &made->claim, f->document);
}

/* Cards of the node that can be had as a whole: gpu-0, gpu-1 ... */
static size_t count_whole_cards(struct form *f, const char *node)
{
    const struct tg_view_list *slices = &f->world->view.lists[TG_VIEW_SLICE];
    size_t n = 0;

    for (size_t i = 0; i < slices->n; i++) {
        const struct tg_resource_slice *slice = slices->items[i];

        if (slice->spec == NULL || slice->spec->pool == NULL ||
            !tg_streq(slice->spec->pool->name, node))
            continue;
        for (size_t k = 0; k < slice->spec->devices.n; k++) {
            if (tg_streq(slice->spec->devices.items[k].name, tg_cards_device(n, f->world->arena)))
                n++;
        }
    }
    return n;
}

static void add_busy(struct form *f, const struct tg_json *entry, size_t index)
{
    struct busy b = {.node = NULL};
    size_t before = f->world->problems->n;
    char path[32];

    snprintf(path, sizeof(path), "busy[%zu]", index);
    if (!take_all(f, entry, path, busy_fields, TG_ARRAY_SIZE(busy_fields), &b))
        return;
    if (b.node == NULL || b.gpus == 0)
        problem(f, entry, path, "node and gpus are needed");
    else if (tg_view_get(&f->world->view, TG_VIEW_NODE, NULL, b.node) == NULL)
        problem(f, tg_json_get(entry, "node"), path, "there is no such node above");
    else if (count_whole_cards(f, b.node) < (size_t)b.gpus)
        problem(f, tg_json_get(entry, "gpus"), path,
                "the node has fewer whole cards (none where mig is dynamic): name fewer, or give "
                "fleet and claims as manifests");
    else if (f->world->problems->n == before)
        add_busy_claim(f, &b);
}

/* --- the document ---------------------------------------------------------------------------- */

static void each(struct form *f, const char *key,
                 void (*add)(struct form *f, const struct tg_json *entry, size_t index))
{
    const struct tg_json *list = tg_json_get(f->document->root, key);

    if (list == NULL)
        return;
    if (list->kind != TG_JSON_ARRAY)
        problem(f, list, key, "expected a list");
    else
        for (size_t i = 0; i < list->n; i++)
            add(f, list->items[i], i);
}

void tg_fleet_form_add(struct tg_world *world, const struct tg_document *document)
{
    static const struct field known[] = {{"apiVersion", FIELD_TEXT, 0, 0, 0},
                                         {"kind", FIELD_TEXT, 0, 0, 0},
                                         {"metadata", FIELD_TEXT, 0, 0, 0},
                                         {"nodes", FIELD_TEXT, 0, 0, 0},
                                         {"busy", FIELD_TEXT, 0, 0, 0}};
    struct form f = {.world = world, .document = document};

    if (!tg_streq(document->api_version, TG_API_VERSION))
        problem(&f, tg_json_get(document->root, "apiVersion"), "apiVersion",
                "this version reads " TG_API_VERSION);
    for (size_t i = 0; i < document->root->n; i++) {
        size_t k = 0;

        while (k < TG_ARRAY_SIZE(known) && !tg_streq(known[k].name, document->root->keys[i]))
            k++;
        if (k == TG_ARRAY_SIZE(known))
            unknown(&f, document->root->items[i], document->root->keys[i], known,
                    TG_ARRAY_SIZE(known));
    }
    world->short_form = true;
    if (tg_json_get(document->root, "nodes") == NULL)
        problem(&f, document->root, "nodes", "is missing");
    each(&f, "nodes", add_group);
    each(&f, "busy", add_busy);
}
