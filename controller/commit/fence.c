/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fencing (design 5.2). A leader that was stopped may have decided writes that leave only when
 * somebody else leads: each is bound to a resourceVersion, so a write of ours to the object first,
 * of nothing but our epoch, makes it fail. It comes before the first decision of a new leader, and
 * before a rollback clears anything: a gate cannot be put back, and a device that has been given to
 * somebody else must not be allocated by a late write.
 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "api/tangram/plan_marker.h"
#include "controller/commit/parts.h"
#include "controller/gather/instance.h"

#define EPOCH_LIMIT (UINT64_C(1) << 53)

struct fencing {
    struct tg_deciding *d;
    const char *epoch;
    struct tg_map *pods, *claims; /* names of those that were looked at: of one namespace */
    uint64_t highest;
};

static int begin(struct fencing *f, struct tg_deciding *d)
{
    *f = (struct fencing){.d = d, .epoch = tg_deciding_epoch(d)};
    if (f->epoch == NULL)
        return tg_decide_out_of_memory(d);
    f->pods = tg_map_new(NULL);
    f->claims = tg_map_new(NULL);
    return 0;
}

static void end(struct fencing *f)
{
    tg_map_free(f->pods);
    tg_map_free(f->claims);
}

static bool first_look(struct tg_map *map, const char *name)
{
    if (tg_map_has(map, name))
        return false;
    tg_map_set(map, name, map);
    return true;
}

static const char *epoch_of(const struct tg_object_meta *meta)
{
    return tg_meta_annotation(meta, TG_ANNOTATION_EPOCH);
}

/* Finished pods have no gate to lose. */
static int fence_pod(struct fencing *f, const struct tg_pod *pod)
{
    if (!tg_pod_has_gate(pod, TG_GATE) || tg_pod_finished(pod) ||
        tg_streq(epoch_of(pod->metadata), f->epoch) ||
        tg_view_unreadable(f->d->in->view, TG_VIEW_POD, pod->metadata) != NULL)
        return 0;
    return tg_write_pod_epoch(f->d, pod);
}

/* A predecessor sends an allocation on the version that its epoch made: a claim without an epoch
 * has none to fear. */
static int fence_claim(struct fencing *f, const struct tg_resource_claim *claim)
{
    const struct tg_object_meta *meta = claim->metadata;
    const char *written = epoch_of(meta), *metadata;

    if (written == NULL || tg_streq(written, f->epoch) || tg_claim_allocated(claim) ||
        tg_view_unreadable(f->d->in->view, TG_VIEW_CLAIM, meta) != NULL)
        return 0;
    if (tg_claim_metadata(f->d, claim, f->epoch, false, &metadata) < 0)
        return -TG_RESOURCE_EXHAUSTED;
    return tg_decide_write(f->d, &(struct tg_write){.kind = TG_WRITE_CLAIM_EPOCH,
                                                    .namespace_ = meta->namespace_,
                                                    .name = meta->name,
                                                    .uid = meta->uid,
                                                    .resource_version = meta->resource_version,
                                                    .body = "",
                                                    .epoch = f->epoch,
                                                    .metadata = metadata});
}

/* --- one unit, before it is rolled back ------------------------------------------------------ */

static int fence_planned_pod(struct fencing *f, const char *namespace_,
                             const struct tg_plan_member *member)
{
    struct tg_plan_pod state = tg_plan_pod_state(f->d->in->view, namespace_, member);

    return state.pod != NULL && first_look(f->pods, member->pod) ? fence_pod(f, state.pod) : 0;
}

static int fence_member(struct fencing *f, const struct tg_unit_member *member)
{
    int r = 0;

    if (first_look(f->pods, member->pod->metadata->name))
        r = fence_pod(f, member->pod);
    for (size_t i = 0; r == 0 && i < member->n_claims; i++)
        if (first_look(f->claims, member->claims[i]->metadata->name))
            r = fence_claim(f, member->claims[i]);
    return r;
}

/* Members of the plan that the unit does not count (any more). */
static int fence_planned(struct fencing *f, const struct tg_plan_member *member)
{
    const char *ns = f->d->in->unit->namespace_;
    int r = fence_planned_pod(f, ns, member);

    for (size_t i = 0; r == 0 && i < member->claims.n; i++) {
        const struct tg_plan_claim *planned = &member->claims.items[i];
        const struct tg_resource_claim *claim = tg_view_claim(f->d->in->view, ns, planned->name);

        if (claim != NULL && tg_streq(claim->metadata->uid, planned->uid) &&
            first_look(f->claims, planned->name))
            r = fence_claim(f, claim);
    }
    return r;
}

static int fence(struct tg_deciding *d, size_t n_members, const struct tg_plan *plan)
{
    struct fencing f;
    int r = begin(&f, d);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n_members; i++)
        r = fence_member(&f, &d->in->unit->members[i]);
    for (size_t i = 0; r == 0 && plan != NULL && i < plan->members.n; i++)
        r = fence_planned(&f, &plan->members.items[i]);
    end(&f);
    return r;
}

int tg_fence_unit(struct tg_deciding *d, const struct tg_plan *plan)
{
    return fence(d, d->in->unit->n_members, plan);
}

int tg_fence_plan(struct tg_deciding *d, const struct tg_plan *plan)
{
    return fence(d, 0, plan);
}

/* --- everything, when taking over ------------------------------------------------------------ */

static void see(struct fencing *f, uint64_t epoch)
{
    if (epoch < EPOCH_LIMIT && epoch > f->highest)
        f->highest = epoch;
}

static void see_text(struct fencing *f, const char *text)
{
    uint64_t epoch;

    if (text != NULL && tg_parse_u64(text, strlen(text), &epoch) == 0)
        see(f, epoch);
}

static void see_signed(struct fencing *f, int64_t epoch)
{
    if (epoch > 0)
        see(f, (uint64_t)epoch);
}

static bool of_another_instance(const struct fencing *f, const char *instance)
{
    return instance != NULL && !tg_streq(instance, f->d->in->instance);
}

static int take_claims(struct fencing *f)
{
    const struct tg_view_list *claims = &f->d->in->view->lists[TG_VIEW_CLAIM];
    int r = 0;

    for (size_t i = 0; r == 0 && i < claims->n; i++) {
        const struct tg_resource_claim *claim = claims->items[i];
        struct tg_plan_marker marker;

        if (of_another_instance(f, tg_instance_of_claim(f->d->in->view, claim, f->d->arena)))
            continue;
        if (tg_claim_marker(claim, f->d->arena, &marker))
            see_signed(f, marker.epoch);
        see_text(f, epoch_of(claim->metadata));
        r = fence_claim(f, claim);
    }
    return r;
}

/* Open: its plan has not shrunk to where the members are, or is about to be written. */
static bool is_open(const struct tg_gang *gang)
{
    const struct tg_plan *plan = gang->status == NULL ? NULL : gang->status->plan;

    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        if (plan->members.items[i].claims.n > 0)
            return true;
    return tg_meta_has_finalizer(gang->metadata, TG_FINALIZER_PLAN);
}

static int take_gang(struct fencing *f, const struct tg_gang *gang)
{
    const struct tg_gang_status *status = gang->status;
    const struct tg_plan *plan = status == NULL ? NULL : status->plan;
    int r = 0;

    /* A plan is written to a Gang that says whose it is. */
    if (of_another_instance(f, tg_or(tg_instance_of_gang(gang), TG_INSTANCE_DEFAULT)))
        return 0;
    if (plan != NULL)
        see_signed(f, plan->epoch.value);
    if (status != NULL)
        see_signed(f, status->epoch.value);
    if (tg_view_unreadable(f->d->in->view, TG_VIEW_GANG, gang->metadata) != NULL)
        return 0;
    if (is_open(gang) &&
        (status == NULL || !status->epoch.set || (uint64_t)status->epoch.value != f->d->in->epoch))
        r = tg_write_gang_epoch(f->d, gang);
    for (size_t i = 0; r == 0 && plan != NULL && i < plan->members.n; i++) {
        struct tg_plan_pod state =
            tg_plan_pod_state(f->d->in->view, gang->metadata->namespace_, &plan->members.items[i]);

        if (state.pod != NULL)
            r = fence_pod(f, state.pod);
    }
    return r;
}

/* Pods that carry a plan themselves; and whatever epoch a pod says. */
static int take_pods(struct fencing *f)
{
    const struct tg_view_list *pods = &f->d->in->view->lists[TG_VIEW_POD];
    int r = 0;

    for (size_t i = 0; r == 0 && i < pods->n; i++) {
        const struct tg_pod *pod = pods->items[i];

        if (of_another_instance(f, tg_instance_of_pod(f->d->in->view, pod, f->d->arena)))
            continue;
        see_text(f, epoch_of(pod->metadata));
        if (pod->spec != NULL && tg_meta_annotation(pod->metadata, TG_ANNOTATION_PLAN) != NULL)
            r = fence_pod(f, pod);
    }
    return r;
}

static int compare_writes(const void *a, const void *b)
{
    const struct tg_write *x = a, *y = b;
    int r = tg_strcmp(x->namespace_, y->namespace_);

    if (r == 0)
        r = (int)x->kind - (int)y->kind;
    return r == 0 ? tg_strcmp(x->name, y->name) : r;
}

void tg_commit_sort_fences(struct tg_write *writes, size_t n)
{
    if (n > 0)
        qsort(writes, n, sizeof(*writes), compare_writes);
}

int tg_commit_fence(const struct tg_commit_input *input, struct tg_arena *arena,
                    struct tg_decision *ret, uint64_t *ret_highest, struct tg_error *err)
{
    struct tg_deciding d = {.in = input, .arena = arena, .out = ret, .err = err};
    const struct tg_view_list *gangs = &input->view->lists[TG_VIEW_GANG];
    struct fencing f;
    int r;

    *ret = (struct tg_decision){0};
    r = begin(&f, &d);
    if (r < 0)
        return r;
    r = take_claims(&f);
    for (size_t i = 0; r == 0 && i < gangs->n; i++)
        r = take_gang(&f, gangs->items[i]);
    if (r == 0)
        r = take_pods(&f);
    tg_commit_sort_fences(ret->writes, ret->n_writes);
    *ret_highest = f.highest;
    end(&f);
    return r;
}
