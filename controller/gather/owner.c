/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/owner.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/syntax.h"

/* --- what is read ---------------------------------------------------------------------------- */

static const struct tg_field strategy_fields[] = {
    TG_FIELD_STR(struct tg_owner_strategy, type, "type"),
};
static const struct tg_type strategy_type = TG_TYPE(struct tg_owner_strategy, strategy_fields);

static const struct tg_field startup_fields[] = {
    TG_FIELD_STR(struct tg_owner_startup, order, "startupPolicyOrder"),
};
static const struct tg_type startup_type = TG_TYPE(struct tg_owner_startup, startup_fields);

static const struct tg_field dependency_fields[] = {
    TG_FIELD_STR(struct tg_owner_dependency, name, "name"),
};
static const struct tg_type dependency_type =
    TG_TYPE(struct tg_owner_dependency, dependency_fields);

static const struct tg_field replicated_job_fields[] = {
    TG_FIELD_STR(struct tg_owner_replicated_job, name, "name"),
    TG_FIELD_OBJ_LIST(struct tg_owner_replicated_job, depends_on, "dependsOn", &dependency_type),
};
static const struct tg_type replicated_job_type =
    TG_TYPE(struct tg_owner_replicated_job, replicated_job_fields);

static const struct tg_field status_fields[] = {
    TG_FIELD_STR(struct tg_owner_status, current_revision, "currentRevision"),
    TG_FIELD_STR(struct tg_owner_status, update_revision, "updateRevision"),
};
static const struct tg_type status_type = TG_TYPE(struct tg_owner_status, status_fields);

/* One table a kind: startupPolicy is text in one and an object in another. */
#define OWNER_TYPE(kind)                                                                           \
    static const struct tg_type kind##_spec_type =                                                 \
        TG_TYPE(struct tg_owner_spec, kind##_spec_fields);                                         \
    static const struct tg_field kind##_fields[] = {                                               \
        TG_FIELD_OBJ(struct tg_owner, metadata, "metadata", &tg_object_meta_type),                 \
        TG_FIELD_OBJ(struct tg_owner, spec, "spec", &kind##_spec_type),                            \
        TG_FIELD_OBJ(struct tg_owner, status, "status", &status_type),                             \
    };                                                                                             \
    static const struct tg_type kind##_type = TG_TYPE(struct tg_owner, kind##_fields)

static const struct tg_field stateful_set_spec_fields[] = {
    TG_FIELD_INTEGER(struct tg_owner_spec, replicas, "replicas"),
    TG_FIELD_STR(struct tg_owner_spec, pod_management_policy, "podManagementPolicy"),
    TG_FIELD_OBJ(struct tg_owner_spec, strategy, "updateStrategy", &strategy_type),
};
OWNER_TYPE(stateful_set);

static const struct tg_field deployment_spec_fields[] = {
    TG_FIELD_INTEGER(struct tg_owner_spec, replicas, "replicas"),
    TG_FIELD_OBJ(struct tg_owner_spec, strategy, "strategy", &strategy_type),
};
OWNER_TYPE(deployment); /* and ReplicaSet, which has no strategy */

static const struct tg_field job_spec_fields[] = {
    TG_FIELD_INTEGER(struct tg_owner_spec, parallelism, "parallelism"),
    TG_FIELD_INTEGER(struct tg_owner_spec, completions, "completions"),
    TG_FIELD_BOOLEAN(struct tg_owner_spec, suspend, "suspend"),
};
OWNER_TYPE(job);

static const struct tg_field leader_worker_set_spec_fields[] = {
    TG_FIELD_INTEGER(struct tg_owner_spec, replicas, "replicas"),
    TG_FIELD_STR(struct tg_owner_spec, startup_policy, "startupPolicy"),
};
OWNER_TYPE(leader_worker_set);

static const struct tg_field job_set_spec_fields[] = {
    TG_FIELD_BOOLEAN(struct tg_owner_spec, suspend, "suspend"),
    TG_FIELD_OBJ(struct tg_owner_spec, startup, "startupPolicy", &startup_type),
    TG_FIELD_OBJ_LIST(struct tg_owner_spec, replicated_jobs, "replicatedJobs",
                      &replicated_job_type),
};
OWNER_TYPE(job_set);

enum kind { STATEFUL_SET, REPLICA_SET, DEPLOYMENT, JOB, LEADER_WORKER_SET, JOB_SET };

static const struct tg_owner_kind kinds[] = {
    [STATEFUL_SET] = {"StatefulSet", "apps", "statefulsets", &stateful_set_type},
    [REPLICA_SET] = {"ReplicaSet", "apps", "replicasets", &deployment_type},
    [DEPLOYMENT] = {"Deployment", "apps", "deployments", &deployment_type},
    [JOB] = {"Job", "batch", "jobs", &job_type},
    [LEADER_WORKER_SET] = {"LeaderWorkerSet", "leaderworkerset.x-k8s.io", "leaderworkersets",
                           &leader_worker_set_type},
    [JOB_SET] = {"JobSet", "jobset.x-k8s.io", "jobsets", &job_set_type},
};

const struct tg_owner_kind *tg_owner_kind_find(const struct tg_owner_reference *reference)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        size_t n = strlen(kinds[i].group);

        if (tg_streq(reference->kind, kinds[i].kind) && reference->api_version != NULL &&
            strncmp(reference->api_version, kinds[i].group, n) == 0 &&
            reference->api_version[n] == '/' &&
            tg_syntax_is_dns_label(reference->api_version + n + 1))
            return &kinds[i];
    }
    return NULL;
}

/* --- what keeps pods from being created ------------------------------------------------------- */

/* One look at a chain. Rules see the owner at `at`; what lies further out is after it. */
struct looking {
    const struct tg_owner_chain *chain;
    size_t at;
    size_t wanted;
    bool alone;
    struct tg_arena *arena;
};

static const struct tg_owner_spec *spec_of(const struct looking *l)
{
    return l->chain->links[l->at].object->spec;
}

static const char *name_of(const struct looking *l)
{
    return l->chain->links[l->at].object->metadata->name;
}

static const char *kind_of(const struct looking *l)
{
    return l->chain->links[l->at].kind->kind;
}

/* Sizes of what others have made say nothing: those made them so. */
static bool is_outermost(const struct looking *l)
{
    return l->at + 1 == l->chain->n;
}

static const char *suspended(const struct looking *l)
{
    if (!spec_of(l)->suspend.set || !spec_of(l)->suspend.value)
        return NULL;
    return tg_arena_printf(l->arena,
                           "%s %s is suspended and creates no pods until spec.suspend is false.",
                           kind_of(l), name_of(l));
}

static const char *in_order(const struct looking *l)
{
    const struct tg_owner_spec *spec = spec_of(l);

    if (spec->startup != NULL && tg_streq(spec->startup->order, "InOrder"))
        return tg_arena_printf(l->arena,
                               "JobSet %s creates a job only when the pods of the one before are "
                               "ready, and pods that wait for their gang never are: set "
                               "spec.startupPolicy.startupPolicyOrder: AnyOrder.",
                               name_of(l));
    for (size_t i = 0; i < spec->replicated_jobs.n; i++) {
        const struct tg_owner_replicated_job *job = &spec->replicated_jobs.items[i];

        if (job->depends_on.n > 0)
            return tg_arena_printf(l->arena,
                                   "JobSet %s creates job %s only after job %s, whose pods wait "
                                   "for their gang: remove dependsOn of spec.replicatedJobs, or "
                                   "give job %s a gang of its own.",
                                   name_of(l), tg_or(job->name, "?"),
                                   tg_or(job->depends_on.items[0].name, "?"),
                                   tg_or(job->name, "?"));
    }
    return NULL;
}

static const char *leader_first(const struct looking *l)
{
    if (!tg_streq(spec_of(l)->startup_policy, "LeaderReady"))
        return NULL;
    return tg_arena_printf(l->arena,
                           "LeaderWorkerSet %s creates the workers of a group only when its "
                           "leader is ready, and a leader that waits for its gang never is: set "
                           "spec.startupPolicy: LeaderCreated.",
                           name_of(l));
}

static const char *one_by_one(const struct looking *l)
{
    const struct tg_owner_spec *spec = spec_of(l);
    int64_t replicas = spec->replicas.set ? spec->replicas.value : 1;

    if (tg_streq(spec->pod_management_policy, "Parallel") || l->at != 0 || replicas < 0 ||
        l->chain->members >= (size_t)replicas)
        return NULL;
    return tg_arena_printf(l->arena,
                           "StatefulSet %s creates a pod only when the one before is ready, and "
                           "a pod that waits for its gang never is: create the StatefulSet anew "
                           "with spec.podManagementPolicy: Parallel.",
                           name_of(l));
}

static const char *updates_one_by_one(const struct looking *l)
{
    const struct tg_owner_status *status = l->chain->links[l->at].object->status;
    const struct tg_owner_strategy *strategy = spec_of(l)->strategy;

    if (status == NULL || status->current_revision == NULL || status->update_revision == NULL ||
        tg_streq(status->current_revision, status->update_revision) ||
        (strategy != NULL && tg_streq(strategy->type, "OnDelete")))
        return NULL;
    return tg_arena_printf(l->arena,
                           "StatefulSet %s is being updated pod by pod, and goes on only when the "
                           "new pod is ready, which it is not before all are new: delete its old "
                           "pods, and set spec.updateStrategy.type: OnDelete.",
                           name_of(l));
}

/* Of a Deployment in the middle of an update the new ReplicaSet has fewer replicas than it will
 * get. */
static const char *rolls(const struct looking *l)
{
    const struct tg_owner_spec *spec = spec_of(l), *inner;

    if (l->at == 0 || l->chain->links[l->at - 1].kind != &kinds[REPLICA_SET] ||
        (spec->strategy != NULL && tg_streq(spec->strategy->type, "Recreate")))
        return NULL;
    inner = l->chain->links[l->at - 1].object->spec;
    if (inner == NULL || !inner->replicas.set || !spec->replicas.set ||
        inner->replicas.value >= spec->replicas.value)
        return NULL;
    return tg_arena_printf(l->arena,
                           "Deployment %s replaces its pods step by step, and goes on only when "
                           "new pods are ready, which they are not before all are new: set "
                           "spec.strategy.type: Recreate.",
                           name_of(l));
}

static const char *too_small(const struct looking *l, const char *field, int64_t creates)
{
    if (!l->alone || !is_outermost(l) || creates < 0 || (size_t)creates >= l->wanted)
        return NULL;
    return tg_arena_printf(l->arena,
                           "%s %s creates at most %lld %s at a time (spec.%s), fewer than the "
                           "%zu members of the gang: raise it, or make the gang smaller.",
                           kind_of(l), name_of(l), (long long)creates,
                           creates == 1 ? "pod" : "pods", field, l->wanted);
}

static const char *too_few_replicas(const struct looking *l)
{
    const struct tg_opt_int replicas = spec_of(l)->replicas;

    return too_small(l, "replicas", replicas.set ? replicas.value : 1);
}

static const char *too_few_at_a_time(const struct looking *l)
{
    const struct tg_opt_int parallelism = spec_of(l)->parallelism;
    const struct tg_opt_int completions = spec_of(l)->completions;
    const char *text = too_small(l, "parallelism", parallelism.set ? parallelism.value : 1);

    return text != NULL || !completions.set ? text : too_small(l, "completions", completions.value);
}

static const struct rule {
    enum kind kind;
    const char *(*look)(const struct looking *l);
} rules[] = {
    {JOB_SET, suspended},
    {JOB_SET, in_order},
    {LEADER_WORKER_SET, leader_first},
    {DEPLOYMENT, rolls},
    {DEPLOYMENT, too_few_replicas},
    {REPLICA_SET, too_few_replicas},
    {JOB, suspended},
    {JOB, too_few_at_a_time},
    {STATEFUL_SET, one_by_one},
    {STATEFUL_SET, updates_one_by_one},
    {STATEFUL_SET, too_few_replicas},
};

const char *tg_owner_explain(const struct tg_owner_chain *chain, size_t wanted, bool alone,
                             struct tg_arena *arena)
{
    struct looking l = {.chain = chain, .wanted = wanted, .alone = alone, .arena = arena};

    /* From outside in: who stands further out decides how the rest is made. */
    for (l.at = chain->n; l.at-- > 0;) {
        if (spec_of(&l) == NULL)
            continue;
        for (size_t i = 0; i < TG_ARRAY_SIZE(rules); i++) {
            const char *text =
                chain->links[l.at].kind != &kinds[rules[i].kind] ? NULL : rules[i].look(&l);

            if (text != NULL)
                return text;
        }
    }
    return NULL;
}
