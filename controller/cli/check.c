/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/check.h"

#include <stdarg.h>

#include "api/kubernetes/objects/kinds.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/field.h"
#include "api/tangram/gang.h"
#include "api/tangram/names.h"
#include "api/tangram/syntax.h"
#include "controller/cli/world.h"

/* --- places ---------------------------------------------------------------------------------- */

void tg_check_problem(const struct tg_check_at *at, const char *format, ...)
{
    char text[900];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tg_problems_add(at->run->problems, at->document->file, at->value, at->path, "%s", text);
}

struct tg_check_at tg_check_member(const struct tg_check_at *at, const char *key)
{
    struct tg_check_at below = *at;

    below.value = tg_json_get(at->value, key);
    below.path = tg_or(
        tg_arena_printf(at->run->arena, "%s%s%s", at->path, at->path[0] == '\0' ? "" : ".", key),
        at->path);
    return below;
}

struct tg_check_at tg_check_item(const struct tg_check_at *at, size_t index)
{
    struct tg_check_at below = *at;

    below.value = at->value->items[index];
    below.path = tg_or(tg_arena_printf(at->run->arena, "%s[%zu]", at->path, index), at->path);
    return below;
}

size_t tg_check_items(const struct tg_check_at *at)
{
    if (at->value == NULL || at->value->kind == TG_JSON_NULL)
        return 0;
    if (at->value->kind == TG_JSON_ARRAY)
        return at->value->n;
    tg_check_problem(at, "expected a list");
    return 0;
}

size_t tg_check_most(const struct tg_check_at *at, size_t most)
{
    size_t n = tg_check_items(at);

    if (n > most)
        tg_check_problem(at, "has %zu entries: at most %zu are allowed", n, most);
    return n < most ? n : most;
}

bool tg_check_is_twice(const struct tg_check_at *list, size_t index, const char *key)
{
    const char *text = tg_json_string(tg_json_get(list->value->items[index], key));

    for (size_t i = 0; text != NULL && i < index; i++)
        if (tg_streq(tg_json_string(tg_json_get(list->value->items[i], key)), text))
            return true;
    return false;
}

/* --- fields ---------------------------------------------------------------------------------- */

static const struct tg_field *find_field(const struct tg_type *type, const char *name)
{
    for (size_t i = 0; i < type->n; i++)
        if (tg_streq(type->fields[i].name, name))
            return &type->fields[i];
    return NULL;
}

static void unknown(const struct tg_check_at *at, const struct tg_type *type)
{
    char known[400] = "";

    for (size_t i = 0; i < type->n; i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
                 type->fields[i].name);
    }
    tg_check_problem(at, "unknown field; known here: %s", known);
}

static void check_children(const struct tg_check_at *at, const struct tg_field *field)
{
    for (size_t i = 0; at->value->kind == TG_JSON_ARRAY && i < at->value->n; i++) {
        const struct tg_check_at item = tg_check_item(at, i);

        tg_check_fields(&item, field->type);
    }
    for (size_t i = 0; at->value->kind == TG_JSON_OBJECT && i < at->value->n; i++) {
        const struct tg_check_at item = tg_check_member(at, at->value->keys[i]);

        tg_check_fields(&item, field->type);
    }
}

void tg_check_fields(const struct tg_check_at *at, const struct tg_type *type)
{
    for (size_t i = 0; at->value->kind == TG_JSON_OBJECT && i < at->value->n; i++) {
        const char *key = at->value->keys[i];
        const struct tg_check_at member = tg_check_member(at, key);
        const struct tg_field *field = find_field(type, key);

        if (tg_streq(key, "metadata") || tg_streq(key, "status") || tg_streq(key, "kind") ||
            tg_streq(key, "apiVersion"))
            continue;
        if (field == NULL)
            unknown(&member, type);
        else if (field->kind == TG_FIELD_OBJECT)
            tg_check_fields(&member, field->type);
        else if ((field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP) &&
                 field->item == TG_FIELD_OBJECT)
            check_children(&member, field);
    }
}

/* --- kinds ----------------------------------------------------------------------------------- */

/* Decoded without complaint, and with a name. */
static bool decodes(const struct tg_check_at *root, const struct tg_type *type)
{
    const struct tg_check_at name = tg_check_member(root, "metadata");

    if (!tg_syntax_is_dns_subdomain(root->document->name, 253) &&
        tg_json_at(root->value, "metadata", "generateName", NULL) == NULL)
        tg_check_problem(name.value == NULL ? root : &name,
                         "name is missing, or is not of lower-case letters, digits, '-' and '.'");
    return tg_document_decode(root->document, root->value, "", type, root->run->arena,
                              root->run->problems) != NULL;
}

static void check_claim(const struct tg_check_at *root)
{
    const struct tg_check_at spec = tg_check_member(root, "spec");

    tg_check_fields(root, &tg_resource_claim_type);
    if (decodes(root, &tg_resource_claim_type))
        tg_check_claim_spec(&spec);
}

static void check_template(const struct tg_check_at *root)
{
    const struct tg_check_at outer = tg_check_member(root, "spec");
    const struct tg_check_at spec = tg_check_member(&outer, "spec");

    tg_check_fields(root, &tg_resource_claim_template_type);
    if (!decodes(root, &tg_resource_claim_template_type))
        return;
    if (spec.value == NULL)
        tg_check_problem(root, "spec.spec is missing: it is the spec of the claims");
    else
        tg_check_claim_spec(&spec);
}

static void check_class(const struct tg_check_at *root)
{
    tg_check_fields(root, &tg_device_class_type);
    if (decodes(root, &tg_device_class_type))
        tg_check_class(root);
}

static void check_gang(const struct tg_check_at *root)
{
    struct tg_error err = TG_ERROR_INIT;
    const struct tg_gang *gang;

    tg_check_fields(root, &tg_gang_type);
    if (!decodes(root, &tg_gang_type))
        return;
    gang = tg_document_decode(root->document, root->value, "", &tg_gang_type, root->run->arena,
                              root->run->problems);
    if (gang != NULL && (tg_gang_validate(gang, &err) < 0 || tg_gang_unsupported(gang, &err) < 0))
        tg_problems_locate(root->run->problems, root->document->file, root->value, "", err.message);
}

static void check_slice(const struct tg_check_at *root)
{
    if (decodes(root, &tg_resource_slice_type))
        tg_check_slice(root);
}

static void check_bare_pod(const struct tg_check_at *root)
{
    if (decodes(root, &tg_pod_type))
        tg_check_pod(root);
}

/* Where the pod templates are; a list is written "replicatedJobs[]". */
static void check_templates(const struct tg_check_at *at, const char *const *way)
{
    struct tg_check_at below;

    if (*way == NULL) {
        if (at->value != NULL)
            tg_check_pod(at);
        return;
    }
    if (tg_streq(*way, "[]")) {
        size_t n = tg_check_items(at);

        for (size_t i = 0; i < n; i++) {
            below = tg_check_item(at, i);
            check_templates(&below, way + 1);
        }
        return;
    }
    below = tg_check_member(at, *way);
    if (below.value != NULL)
        check_templates(&below, way + 1);
}

static void check_maker(const struct tg_check_at *root)
{
    static const char *const ways[][8] = {
        {"spec", "template"},
        {"spec", "replicatedJobs", "[]", "template", "spec", "template"},
        {"spec", "leaderWorkerTemplate", "leaderTemplate"},
        {"spec", "leaderWorkerTemplate", "workerTemplate"},
    };

    for (size_t i = 0; i < TG_ARRAY_SIZE(ways); i++)
        check_templates(root, ways[i]);
}

/* What the simulation reads, it judges. */
static void check_by_world(const struct tg_check_at *root)
{
    const struct tg_documents one = {
        .arena = root->run->arena,
        .items = {.items = (struct tg_document[]){*root->document}, .n = 1}};
    struct tg_world world;

    tg_world_init(&world, root->run->arena, root->run->problems, "2026-01-01T00:00:00Z");
    tg_world_add(&world, &one);
    tg_world_finish(&world);
    tg_world_done(&world);
}

static const struct check_kind {
    const char *group, *kind;
    void (*check)(const struct tg_check_at *root);
} kinds[] = {
    {"resource.k8s.io", "ResourceClaim", check_claim},
    {"resource.k8s.io", "ResourceClaimTemplate", check_template},
    {"resource.k8s.io", "DeviceClass", check_class},
    {"resource.k8s.io", "ResourceSlice", check_slice},
    {TG_GROUP, TG_KIND_GANG, check_gang},
    {TG_GROUP, TG_KIND_CONFIGURATION, check_by_world},
    {TG_GROUP, "Fleet", check_by_world},
    {"", "Pod", check_bare_pod},
};

/* A group of ours or one that we read in a version that we do not know, or a kind misspelt. */
static bool refuse_version(const struct tg_check_at *root, const char *wanted)
{
    const struct tg_check_at version = tg_check_member(root, "apiVersion");

    if (tg_streq(root->document->api_version, wanted))
        return false;
    tg_check_problem(&version, "%s is read in version %s", root->document->kind, wanted);
    return true;
}

static const char *version_of(const char *group)
{
    return tg_streq(group, TG_GROUP)            ? TG_API_VERSION
           : tg_streq(group, "resource.k8s.io") ? "resource.k8s.io/v1"
                                                : "v1";
}

bool tg_check_document(struct tg_check_run *run, const struct tg_document *document)
{
    const struct tg_check_at root = {
        .run = run, .document = document, .value = document->root, .path = ""};

    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        if (!tg_streq(kinds[i].kind, document->kind) || !tg_streq(kinds[i].group, document->group))
            continue;
        if (!refuse_version(&root, version_of(document->group)))
            kinds[i].check(&root);
        return true;
    }
    if (tg_workload_known(document)) {
        check_maker(&root);
        return true;
    }
    if (tg_streq(document->group, TG_GROUP)) {
        const struct tg_check_at kind = tg_check_member(&root, "kind");

        tg_check_problem(&kind,
                         "there is no kind \"%s\" in " TG_GROUP
                         "; known are Gang, Fleet and TangramConfiguration (GangMember "
                         "stands in a claim's configuration)",
                         document->kind);
        return true;
    }
    return false;
}
