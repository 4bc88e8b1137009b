/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and pod templates: their claims, and what placement cannot model. */
#include "api/kubernetes/objects/core.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/check.h"
#include "controller/core/gang/place.h"

/* From here on policies add gate and label. */
#define MUTATING_MINOR 36

static const struct tg_document *find(const struct tg_check_run *run, const char *kind,
                                      const char *namespace_, const char *name)
{
    for (size_t i = 0; i < run->documents->items.n; i++) {
        const struct tg_document *d = &run->documents->items.items[i];

        if (tg_streq(d->kind, kind) && tg_streq(d->name, name) &&
            tg_streq(d->namespace_, namespace_))
            return d;
    }
    return NULL;
}

static bool has_name(const struct tg_json *list, const char *name)
{
    for (size_t i = 0; list != NULL && i < list->n; i++)
        if (tg_streq(tg_json_string(tg_json_get(list->items[i], "name")), name))
            return true;
    return false;
}

/* resources.claims of containers name entries of the pod. */
static void check_containers(const struct tg_check_at *spec, const char *key)
{
    const struct tg_check_at list = tg_check_member(spec, key);
    const struct tg_json *entries = tg_json_get(spec->value, "resourceClaims");
    size_t n = tg_check_items(&list);

    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at container = tg_check_item(&list, i);
        const struct tg_check_at resources = tg_check_member(&container, "resources");
        const struct tg_check_at claims = tg_check_member(&resources, "claims");
        size_t used = tg_check_items(&claims);

        for (size_t k = 0; k < used; k++) {
            const struct tg_check_at one = tg_check_item(&claims, k);
            const char *name = tg_json_string(tg_json_get(one.value, "name"));

            if (!has_name(entries, name))
                tg_check_problem(&one, "the pod has no entry \"%s\" in spec.resourceClaims",
                                 tg_or(name, ""));
        }
    }
}

/* Templates and claims that go through our policies need the label where the server cannot set it.
 */
static void check_label(const struct tg_check_at *entry, const struct tg_document *used)
{
    if (entry->run->minor < MUTATING_MINOR &&
        !tg_streq(
            tg_json_string(tg_json_at(used->root, "metadata", "labels", TG_LABEL_MANAGED, NULL)),
            TG_LABEL_TRUE))
        tg_problems_add(entry->run->problems, used->file, used->root, "metadata.labels",
                        "on Kubernetes 1.%u the label " TG_LABEL_MANAGED
                        ": \"true\" is needed: policies add it on 1.%d and newer",
                        entry->run->minor, MUTATING_MINOR);
}

static void check_entry(const struct tg_check_at *entry)
{
    const char *claim = tg_json_string(tg_json_get(entry->value, "resourceClaimName"));
    const char *template = tg_json_string(tg_json_get(entry->value, "resourceClaimTemplateName"));
    const struct tg_document *used;

    if (tg_or(tg_json_string(tg_json_get(entry->value, "name")), "")[0] == '\0')
        tg_check_problem(entry, "name is missing");
    if ((claim == NULL) == (template == NULL)) {
        tg_check_problem(entry, "exactly one of resourceClaimName and resourceClaimTemplateName "
                                "must be set");
        return;
    }
    used = find(entry->run, claim != NULL ? "ResourceClaim" : "ResourceClaimTemplate",
                entry->document->namespace_, claim != NULL ? claim : template);
    if (used != NULL)
        check_label(entry, used);
}

static void check_gate(const struct tg_check_at *spec)
{
    if (spec->run->minor < MUTATING_MINOR &&
        !has_name(tg_json_get(spec->value, "schedulingGates"), TG_GATE))
        tg_check_problem(spec,
                         "on Kubernetes 1.%u schedulingGates: [{name: " TG_GATE
                         "}] is needed: policies add it on 1.%d and newer",
                         spec->run->minor, MUTATING_MINOR);
}

void tg_check_pod(const struct tg_check_at *at)
{
    const struct tg_check_at spec = tg_check_member(at, "spec");
    const struct tg_check_at entries = tg_check_member(&spec, "resourceClaims");
    struct tg_object_meta meta = {.name = at->document->name,
                                  .namespace_ = at->document->namespace_};
    struct tg_error err = TG_ERROR_INIT;
    struct tg_pod *pod;
    size_t n;

    if (spec.value == NULL) {
        tg_check_problem(at, "spec is missing");
        return;
    }
    pod = tg_document_decode(at->document, at->value, at->path, &tg_pod_type, at->run->arena,
                             at->run->problems);
    n = tg_check_items(&entries);
    for (size_t i = 0; i < n; i++) {
        const struct tg_check_at entry = tg_check_item(&entries, i);

        check_entry(&entry);
    }
    check_containers(&spec, "containers");
    check_containers(&spec, "initContainers");
    if (pod == NULL || n == 0)
        return;
    check_gate(&spec);
    pod->metadata = &meta;
    if (tg_pod_check(pod, &err) < 0) {
        const char *what = strstr(err.message, ": ");

        tg_problems_locate(at->run->problems, at->document->file, at->document->root, at->path,
                           what == NULL ? err.message : what + 2);
    }
}
