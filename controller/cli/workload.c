/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods of what makes pods, as its controller would make them while none of them runs yet: names,
 * labels and how many. Field names: batch/v1, apps/v1, leaderworkerset.x-k8s.io/v1,
 * jobset.x-k8s.io/v1alpha2.
 */
#include <inttypes.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/world.h"

#define LABELS_MADE 8
#define JOB_PREFIX "batch.kubernetes.io/"
#define JOBSET_PREFIX "jobset.sigs.k8s.io/"
#define LWS_PREFIX "leaderworkerset.sigs.k8s.io/"

/* A pod template, decoded once, and what is common to its pods. */
struct maker {
    struct tg_world *world;
    const struct tg_document *document;
    const struct tg_pod *template;
    const char *owner_uid;
};

static int64_t number_at(struct maker *m, const struct tg_json *object, const char *key,
                         int64_t fallback)
{
    const struct tg_json *value = tg_json_get(object, key);
    int64_t n;

    if (value == NULL || value->kind == TG_JSON_NULL)
        return fallback;
    if (tg_json_i64(value, &n) == 0 && n >= 0 && n <= TG_WORLD_PODS_MAX)
        return n;
    tg_problems_add(m->world->problems, m->document->file, value, key,
                    "expected a whole number from 0 to %d", TG_WORLD_PODS_MAX);
    return 0;
}

/* So many more pods may be made; false: a problem was added. */
static bool room_for(struct maker *m, int64_t n)
{
    if ((int64_t)m->world->view.lists[TG_VIEW_POD].n + n <= TG_WORLD_PODS_MAX)
        return true;
    tg_problems_add(m->world->problems, m->document->file, m->document->root, "spec",
                    "more than %d pods all together", TG_WORLD_PODS_MAX);
    return false;
}

/* false: there is no usable template; a problem was added. */
static bool use_template(struct maker *m, const struct tg_json *spec, const char *key,
                         const char *path)
{
    const struct tg_json *template = tg_json_get(spec, key);

    m->template = NULL;
    if (template == NULL || tg_json_get(template, "spec") == NULL) {
        tg_problems_add(m->world->problems, m->document->file,
                        template == NULL ? m->document->root : template, path,
                        "there is no pod template with a spec");
        return false;
    }
    m->template = tg_document_decode(m->document, template, path, &tg_pod_type, m->world->arena,
                                     m->world->problems);
    return m->template != NULL;
}

static void add_pod(struct maker *m, const char *name, const struct tg_string_pair *labels,
                    size_t n)
{
    struct tg_arena *arena = m->world->arena;
    const struct tg_object_meta *from = m->template->metadata;
    size_t own = from == NULL ? 0 : from->labels.n;
    struct tg_pod *pod = tg_arena_alloc(arena, sizeof(*pod));
    struct tg_object_meta *meta = tg_arena_alloc(arena, sizeof(*meta));
    struct tg_owner_reference *owner = tg_arena_alloc(arena, sizeof(*owner));
    struct tg_string_pair *all = tg_arena_alloc_array(arena, own + n, sizeof(*all));

    if (pod == NULL || meta == NULL || owner == NULL || all == NULL || name == NULL)
        return;
    for (size_t i = 0; i < own; i++)
        all[i] = from->labels.items[i];
    for (size_t i = 0; i < n; i++)
        all[own + i] = labels[i];
    if (from != NULL)
        *meta = *from;
    meta->name = name;
    meta->namespace_ = m->document->namespace_;
    meta->uid = tg_world_uid(m->world);
    meta->resource_version = "1";
    meta->creation_timestamp = m->world->created;
    meta->labels.items = all;
    meta->labels.n = own + n;
    *owner = (struct tg_owner_reference){.api_version = m->document->api_version,
                                         .kind = m->document->kind,
                                         .name = m->document->name,
                                         .uid = m->owner_uid,
                                         .controller = {.set = true, .value = true}};
    meta->owner_references.items = owner;
    meta->owner_references.n = 1;
    *pod = (struct tg_pod){.metadata = meta, .spec = m->template->spec};
    tg_world_add_pod(m->world, pod, true, m->document);
}

static const char *indexed(struct maker *m, const char *name, int64_t i)
{
    return tg_arena_printf(m->world->arena, "%s-%" PRId64, name, i);
}

static const char *text_of(struct maker *m, int64_t i)
{
    return tg_arena_printf(m->world->arena, "%" PRId64, i);
}

/* Does the pod wait for others? Then an owner that waits for it to be ready makes no more. */
static bool waits_for_others(struct maker *m)
{
    const struct tg_pod *pod = m->template;

    if (pod->metadata != NULL && tg_meta_label(pod->metadata, TG_LABEL_GANG) != NULL)
        return true;
    for (size_t i = 0; i < pod->spec->resource_claims.n; i++) {
        const char *name = pod->spec->resource_claims.items[i].resource_claim_template_name;
        const char *key =
            tg_arena_printf(m->world->arena, "%s/%s", m->document->namespace_, tg_or(name, ""));
        const struct tg_resource_claim_template *t =
            key == NULL ? NULL : tg_map_get(m->world->templates, key);

        if (t == NULL || t->spec == NULL || t->spec->spec == NULL || t->spec->spec->devices == NULL)
            continue;
        for (size_t k = 0; k < t->spec->spec->devices->config.n; k++) {
            const struct tg_opaque_config *opaque = t->spec->spec->devices->config.items[k].opaque;

            if (opaque != NULL && tg_streq(opaque->driver, TG_MARKER_DRIVER))
                return true;
        }
    }
    return false;
}

/* --- Job ------------------------------------------------------------------------------------- */

static int64_t job_pods(struct maker *m, const struct tg_json *spec)
{
    const struct tg_json *suspend = tg_json_get(spec, "suspend");
    int64_t parallelism = number_at(m, spec, "parallelism", 1);
    int64_t completions = number_at(m, spec, "completions", parallelism);

    if (suspend != NULL && suspend->boolean)
        return 0;
    return completions < parallelism ? completions : parallelism;
}

static void make_job(struct maker *m, const char *job, const struct tg_json *spec, const char *uid,
                     const struct tg_string_pair *more, size_t n_more)
{
    int64_t n = job_pods(m, spec);

    for (int64_t i = 0; i < n; i++) {
        const char *index = text_of(m, i);
        struct tg_string_pair labels[LABELS_MADE + 5] = {{JOB_PREFIX "controller-uid", uid},
                                                         {JOB_PREFIX "job-name", job},
                                                         {JOB_PREFIX "job-completion-index", index},
                                                         {"controller-uid", uid},
                                                         {"job-name", job}};
        size_t used = 5;

        for (size_t k = 0; k < n_more && k < LABELS_MADE; k++)
            labels[used++] = more[k];
        add_pod(m, indexed(m, job, i), labels, used);
    }
}

static void add_job(struct maker *m, const struct tg_json *spec)
{
    if (use_template(m, spec, "template", "spec.template") && room_for(m, job_pods(m, spec)))
        make_job(m, m->document->name, spec, m->owner_uid, NULL, 0);
}

/* --- JobSet ---------------------------------------------------------------------------------- */

static bool in_order(const struct tg_json *spec)
{
    return tg_streq(tg_json_string(tg_json_at(spec, "startupPolicy", "startupPolicyOrder", NULL)),
                    "InOrder");
}

static void add_replicated_job(struct maker *m, const struct tg_json *entry, const char *path)
{
    const char *name = tg_or(tg_json_string(tg_json_get(entry, "name")), "");
    const struct tg_json *spec = tg_json_at(entry, "template", "spec", NULL);
    int64_t n = number_at(m, entry, "replicas", 1);

    if (!use_template(m, spec, "template", path) || !room_for(m, n * job_pods(m, spec)))
        return;
    for (int64_t i = 0; i < n; i++) {
        const char *job =
            tg_arena_printf(m->world->arena, "%s-%s-%" PRId64, m->document->name, name, i);
        const char *uid = tg_world_uid(m->world);
        const struct tg_string_pair labels[] = {{JOBSET_PREFIX "jobset-name", m->document->name},
                                                {JOBSET_PREFIX "jobset-uid", m->owner_uid},
                                                {JOBSET_PREFIX "replicatedjob-name", name},
                                                {JOBSET_PREFIX "job-index", text_of(m, i)},
                                                {JOBSET_PREFIX "job-key", uid}};

        if (job != NULL)
            make_job(m, job, spec, uid, labels, TG_ARRAY_SIZE(labels));
    }
}

static void add_job_set(struct maker *m, const struct tg_json *spec)
{
    const struct tg_json *jobs = tg_json_get(spec, "replicatedJobs");

    for (size_t i = 0; jobs != NULL && i < jobs->n; i++) {
        const struct tg_json *depends = tg_json_get(jobs->items[i], "dependsOn");
        char path[96];

        snprintf(path, sizeof(path), "spec.replicatedJobs[%zu].template.spec.template", i);
        if (depends != NULL && depends->n > 0)
            continue; /* only after another one */
        add_replicated_job(m, jobs->items[i], path);
        if (in_order(spec) && m->template != NULL && waits_for_others(m))
            return;
    }
}

/* --- LeaderWorkerSet ------------------------------------------------------------------------- */

static void add_group(struct maker *m, const struct tg_json *spec, int64_t group, int64_t size)
{
    const struct tg_json *pods = tg_json_get(spec, "leaderWorkerTemplate");
    bool own_leader = tg_json_get(pods, "leaderTemplate") != NULL;
    const char *leader = indexed(m, m->document->name, group);
    bool alone = tg_streq(tg_json_string(tg_json_get(spec, "startupPolicy")), "LeaderReady");

    if (!use_template(m, pods, own_leader ? "leaderTemplate" : "workerTemplate",
                      own_leader ? "spec.leaderWorkerTemplate.leaderTemplate"
                                 : "spec.leaderWorkerTemplate.workerTemplate"))
        return;
    for (int64_t i = 0; i < size && leader != NULL; i++) {
        const struct tg_string_pair labels[] = {{LWS_PREFIX "name", m->document->name},
                                                {LWS_PREFIX "group-index", text_of(m, group)},
                                                {LWS_PREFIX "group-key", leader},
                                                {LWS_PREFIX "worker-index", text_of(m, i)}};

        add_pod(m, i == 0 ? leader : indexed(m, leader, i), labels, TG_ARRAY_SIZE(labels));
        if (i == 0 && alone && waits_for_others(m))
            return;
        if (i == 0 && own_leader &&
            !use_template(m, pods, "workerTemplate", "spec.leaderWorkerTemplate.workerTemplate"))
            return;
    }
}

static void add_leader_worker_set(struct maker *m, const struct tg_json *spec)
{
    int64_t groups = number_at(m, spec, "replicas", 1);
    int64_t size = number_at(m, tg_json_get(spec, "leaderWorkerTemplate"), "size", 1);

    if (!room_for(m, groups * size))
        return;
    for (int64_t i = 0; i < groups; i++)
        add_group(m, spec, i, size);
}

/* --- sets of equal pods ---------------------------------------------------------------------- */

static void add_stateful_set(struct maker *m, const struct tg_json *spec)
{
    int64_t n = number_at(m, spec, "replicas", 1);
    bool parallel = tg_streq(tg_json_string(tg_json_get(spec, "podManagementPolicy")), "Parallel");

    if (!use_template(m, spec, "template", "spec.template") || !room_for(m, n))
        return;
    for (int64_t i = 0; i < n; i++) {
        const char *name = indexed(m, m->document->name, i);
        const struct tg_string_pair labels[] = {{"apps.kubernetes.io/pod-index", text_of(m, i)},
                                                {"statefulset.kubernetes.io/pod-name", name}};

        add_pod(m, name, labels, TG_ARRAY_SIZE(labels));
        if (!parallel && waits_for_others(m))
            return;
    }
}

static void add_replica_set(struct maker *m, const struct tg_json *spec)
{
    int64_t n = number_at(m, spec, "replicas", 1);

    if (!use_template(m, spec, "template", "spec.template") || !room_for(m, n))
        return;
    for (int64_t i = 0; i < n; i++)
        add_pod(m, indexed(m, m->document->name, i), NULL, 0);
}

/* --- all of them ----------------------------------------------------------------------------- */

static const struct maker_kind {
    const char *group, *kind;
    void (*add)(struct maker *m, const struct tg_json *spec);
} maker_kinds[] = {
    {"batch", "Job", add_job},
    {"jobset.x-k8s.io", "JobSet", add_job_set},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", add_leader_worker_set},
    {"apps", "StatefulSet", add_stateful_set},
    {"apps", "ReplicaSet", add_replica_set},
    {"apps", "Deployment", add_replica_set},
};

static const struct maker_kind *find_kind(const struct tg_document *document)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(maker_kinds); i++)
        if (tg_streq(document->kind, maker_kinds[i].kind) &&
            tg_streq(document->group, maker_kinds[i].group))
            return &maker_kinds[i];
    return NULL;
}

bool tg_workload_known(const struct tg_document *document)
{
    return find_kind(document) != NULL;
}

/* What the owner says of how it makes pods, for explanations. */
static void note_owner(struct maker *m)
{
    const struct tg_owner_reference reference = {.api_version = m->document->api_version,
                                                 .kind = m->document->kind,
                                                 .name = m->document->name,
                                                 .uid = m->owner_uid};
    struct tg_world_owner *owner = tg_arena_alloc(m->world->arena, sizeof(*owner));

    if (owner == NULL)
        return;
    owner->kind = tg_owner_kind_find(&reference);
    owner->uid = m->owner_uid;
    if (owner->kind == NULL)
        return;
    owner->object = tg_document_decode(m->document, m->document->root, "", owner->kind->type,
                                       m->world->arena, m->world->problems);
    if (owner->object != NULL)
        tg_map_set(m->world->owners, m->owner_uid, owner);
}

static void add_bare_pod(struct tg_world *world, const struct tg_document *document)
{
    struct tg_pod *pod = tg_document_decode(document, document->root, "", &tg_pod_type,
                                            world->arena, world->problems);
    bool fresh;

    if (pod == NULL)
        return;
    if (!tg_world_check_names(world, document, pod->metadata))
        return;
    if (pod->spec == NULL) {
        tg_problems_add(world->problems, document->file, document->root, "spec", "is missing");
        return;
    }
    pod->metadata->namespace_ = document->namespace_;
    fresh = pod->metadata->uid == NULL;
    if (fresh)
        pod->metadata->uid = tg_world_uid(world);
    if (pod->metadata->resource_version == NULL)
        pod->metadata->resource_version = "1";
    if (pod->metadata->creation_timestamp == NULL)
        pod->metadata->creation_timestamp = world->created;
    tg_world_add_pod(world, pod, fresh, document);
}

void tg_workload_add(struct tg_world *world, const struct tg_document *document)
{
    const struct maker_kind *kind = find_kind(document);
    struct maker m = {.world = world, .document = document};
    const struct tg_json *spec = tg_json_get(document->root, "spec");

    if (kind == NULL) {
        add_bare_pod(world, document);
        return;
    }
    if (!tg_world_check_names(
            world, document,
            &(struct tg_object_meta){.name = document->name, .namespace_ = document->namespace_}))
        return;
    if (spec == NULL) {
        tg_problems_add(world->problems, document->file, document->root, "spec", "is missing");
        return;
    }
    m.owner_uid = tg_or(tg_json_string(tg_json_at(document->root, "metadata", "uid", NULL)), NULL);
    /* Gangs may be named after it. */
    if (m.owner_uid == NULL)
        m.owner_uid = tg_arena_printf(world->arena, "%.40s-%zu", document->name, ++world->made);
    if (m.owner_uid == NULL)
        return;
    note_owner(&m);
    kind->add(&m, spec);
}
