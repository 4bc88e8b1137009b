/* SPDX-License-Identifier: Apache-2.0 */
/* What other controllers do to a pod before ours sees it: claims of its templates, the gate, the
 * number of its priority class. */
#include <inttypes.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/world.h"

static struct tg_owner_reference *owner_of(struct tg_world *world, const struct tg_pod *pod)
{
    struct tg_owner_reference *owner = tg_arena_alloc(world->arena, sizeof(*owner));

    if (owner != NULL)
        *owner = (struct tg_owner_reference){.api_version = "v1",
                                             .kind = "Pod",
                                             .name = pod->metadata->name,
                                             .uid = pod->metadata->uid,
                                             .controller = {.set = true, .value = true}};
    return owner;
}

/* The claim controller's work. */
static const char *make_claim(struct tg_world *world, const struct tg_pod *pod,
                              const struct tg_pod_claim *entry,
                              const struct tg_resource_claim_template *template)
{
    struct tg_resource_claim *claim = tg_arena_alloc(world->arena, sizeof(*claim));
    struct tg_object_meta *meta = tg_arena_alloc(world->arena, sizeof(*meta));
    struct tg_owner_reference *owner = owner_of(world, pod);
    const struct tg_object_meta *own = template->spec == NULL ? NULL : template->spec->metadata;

    if (claim == NULL || meta == NULL || owner == NULL)
        return NULL;
    *meta = (struct tg_object_meta){
        .name = tg_arena_printf(world->arena, "%s-%s", pod->metadata->name, entry->name),
        .namespace_ = pod->metadata->namespace_,
        .uid = tg_world_uid(world),
        .resource_version = "1",
        .creation_timestamp = pod->metadata->creation_timestamp};
    meta->owner_references.items = owner;
    meta->owner_references.n = 1;
    if (own != NULL) {
        meta->labels.items = own->labels.items;
        meta->labels.n = own->labels.n;
        meta->annotations.items = own->annotations.items;
        meta->annotations.n = own->annotations.n;
    }
    *claim = (struct tg_resource_claim){
        .metadata = meta, .spec = template->spec == NULL ? NULL : template->spec->spec};
    if (meta->name != NULL)
        tg_world_put(world, TG_VIEW_CLAIM, claim, NULL);
    return meta->name;
}

static const struct tg_resource_claim_template *
find_template(const struct tg_world *world, const struct tg_pod *pod, const char *name)
{
    const char *key = tg_arena_printf(world->arena, "%s/%s", pod->metadata->namespace_, name);

    return key == NULL ? NULL : tg_map_get(world->templates, key);
}

static void add_claims(struct tg_world *world, struct tg_pod *pod,
                       const struct tg_document *document)
{
    size_t n = pod->spec->resource_claims.n;
    struct tg_pod_claim_status *statuses = tg_arena_alloc_array(world->arena, n, sizeof(*statuses));
    struct tg_pod_status *status = tg_arena_alloc(world->arena, sizeof(*status));

    if (statuses == NULL || status == NULL)
        return;
    if (pod->status != NULL)
        *status = *pod->status;
    status->resource_claim_statuses.items = statuses;
    status->resource_claim_statuses.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tg_pod_claim *entry = &pod->spec->resource_claims.items[i];
        const struct tg_resource_claim_template *template;

        if (entry->resource_claim_template_name == NULL || entry->name == NULL)
            continue;
        template = find_template(world, pod, entry->resource_claim_template_name);
        if (template == NULL && !world->unreadable_template)
            tg_problems_add(world->problems, document->file, document->root, "",
                            "%s %s: claim \"%s\" is made of ResourceClaimTemplate %s, which is not "
                            "among the files: add it",
                            document->kind, document->name, entry->name,
                            entry->resource_claim_template_name);
        if (template == NULL)
            continue;
        statuses[status->resource_claim_statuses.n++] = (struct tg_pod_claim_status){
            .name = entry->name, .resource_claim_name = make_claim(world, pod, entry, template)};
    }
    pod->status = status;
}

/* As the policies of Kubernetes 1.36 and newer do. */
static void add_gate(struct tg_world *world, struct tg_pod *pod)
{
    static struct tg_named gate = {TG_GATE};
    struct tg_named *gates =
        tg_arena_alloc_array(world->arena, pod->spec->scheduling_gates.n + 1, sizeof(*gates));
    struct tg_pod_spec *spec = tg_arena_alloc(world->arena, sizeof(*spec));

    if (gates == NULL || spec == NULL)
        return;
    *spec = *pod->spec;
    for (size_t i = 0; i < spec->scheduling_gates.n; i++)
        gates[i] = spec->scheduling_gates.items[i];
    gates[spec->scheduling_gates.n++] = gate;
    spec->scheduling_gates.items = gates;
    pod->spec = spec;
    world->gates_added++;
}

static void set_priority(struct tg_world *world, struct tg_pod *pod)
{
    const struct tg_json *value;
    int64_t number;

    if (pod->spec->priority.set || pod->spec->priority_class_name == NULL)
        return;
    value = tg_map_get(world->priorities, pod->spec->priority_class_name);
    if (value != NULL && tg_json_i64(value, &number) == 0)
        pod->spec->priority = (struct tg_opt_int){.set = true, .value = number};
}

void tg_world_add_pod(struct tg_world *world, struct tg_pod *pod, bool fresh,
                      const struct tg_document *document)
{
    if (world->view.lists[TG_VIEW_POD].n == TG_WORLD_PODS_MAX) {
        tg_problems_add(world->problems, document->file, document->root, "",
                        "more than %d pods all together", TG_WORLD_PODS_MAX);
        return;
    }
    if (pod->spec == NULL || pod->metadata->name == NULL)
        return;
    set_priority(world, pod);
    if (fresh && pod->spec->node_name == NULL) {
        tg_map_set(world->fresh, pod->metadata->uid, pod);
        add_claims(world, pod, document);
        if ((pod->spec->resource_claims.n > 0 ||
             tg_meta_label(pod->metadata, TG_LABEL_GANG) != NULL) &&
            !tg_pod_has_gate(pod, TG_GATE))
            add_gate(world, pod);
    }
    tg_world_put(world, TG_VIEW_POD, pod, document);
}
