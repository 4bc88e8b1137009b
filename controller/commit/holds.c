/* SPDX-License-Identifier: Apache-2.0 */
/* What the places that a gang holds mean for everybody else: devices that are busy, and room that a
 * pod like the lost one takes. */
#include <string.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/str.h"
#include "controller/commit/parts.h"

struct building {
    const struct tg_view *view;
    const struct tg_unit *unit;
    struct tg_arena *arena;
    struct tg_held *out;
};

/* "driver/pool/device", where a pool may have slashes. */
static bool split(const struct building *b, const char *name, struct tg_fleet_busy *ret)
{
    const char *first = name == NULL ? NULL : strchr(name, '/');
    const char *last = name == NULL ? NULL : strrchr(name, '/');

    if (first == NULL || first == last)
        return false;
    *ret = (struct tg_fleet_busy){
        .driver = tg_arena_strndup(b->arena, name, (size_t)(first - name)),
        .pool = tg_arena_strndup(b->arena, first + 1, (size_t)(last - first - 1)),
        .device = tg_arena_strdup(b->arena, last + 1),
        .holder = b->unit->key};
    return ret->driver != NULL && ret->pool != NULL && ret->device != NULL;
}

static bool has_ended(const struct tg_gang_hold *hold, int64_t now)
{
    int64_t end;

    return tg_time_parse(hold->until, &end, NULL) < 0 || end <= now;
}

static const char *role_of(const struct tg_gang *gang, const char *pod)
{
    const struct tg_plan *plan = gang->status->plan;

    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        if (tg_streq(plan->members.items[i].pod, pod))
            return plan->members.items[i].role;
    return NULL;
}

/* A living member of the same role: its requests are those of the lost one. */
static const struct tg_pod *alike(const struct building *b, const char *role)
{
    for (size_t i = 0; i < b->unit->n_members; i++)
        if (tg_streq(b->unit->members[i].role, role))
            return b->unit->members[i].pod;
    return NULL;
}

static bool is_first_of_pod(const struct tg_gang_status *status, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (tg_streq(status->holds.items[j].pod, status->holds.items[i].pod))
            return false;
    return true;
}

/* While the pod is there it takes its room itself. */
static void hold_room(struct building *b, const struct tg_gang_hold *hold)
{
    const struct tg_pod *there = tg_view_pod(b->view, b->unit->namespace_, hold->pod);
    const struct tg_pod *like = alike(b, role_of(b->unit->gang, hold->pod));
    struct tg_object_meta *meta = tg_arena_alloc(b->arena, sizeof(*meta));
    struct tg_pod_spec *spec = tg_arena_alloc(b->arena, sizeof(*spec));
    struct tg_pod *ghost = tg_arena_alloc(b->arena, sizeof(*ghost));

    if ((there != NULL && !tg_pod_finished(there)) || hold->node == NULL || like == NULL ||
        like->spec == NULL || meta == NULL || spec == NULL || ghost == NULL)
        return;
    *spec = *like->spec;
    spec->node_name = NULL;
    *meta = (struct tg_object_meta){
        .namespace_ = b->unit->namespace_,
        .name = hold->pod,
        .uid = tg_arena_printf(b->arena, "held/%s/%s", b->unit->key, hold->pod)};
    *ghost = (struct tg_pod){.metadata = meta, .spec = spec};
    b->out->assumed[b->out->n_assumed++] =
        (struct tg_fleet_assumed){.pod = ghost, .node = hold->node};
}

static bool is_held(const struct tg_gang_status *status, const char *pod)
{
    for (size_t i = 0; i < status->holds.n; i++)
        if (tg_streq(status->holds.items[i].pod, pod))
            return true;
    return false;
}

/* A pod whose allocation was cleared may still run on the devices; of one that is gone the place is
 * about to be held, if the gang holds places. */
static bool still_needs(const struct building *b, const struct tg_plan_member *member)
{
    const struct tg_gang *gang = b->unit->gang;
    struct tg_plan_pod state = tg_plan_pod_state(b->view, b->unit->namespace_, member);

    if (state.pod != NULL && !state.finished)
        return true;
    if (state.pod != NULL && !tg_pod_was_disrupted(state.pod))
        return false;
    return tg_gang_on_loss(gang) == TG_LOSS_HOLD && gang->metadata->deletion_timestamp == NULL &&
           !tg_view_namespace_terminating(b->view, b->unit->namespace_) &&
           !is_held(gang->status, member->pod);
}

static void take_lost(struct building *b, const struct tg_lost_device *lost)
{
    const struct tg_plan *plan = b->unit->gang->status->plan;

    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        if (tg_streq(plan->members.items[i].uid, lost->pod_uid) &&
            still_needs(b, &plan->members.items[i]))
            b->out->n_busy += split(b, lost->device, &b->out->busy[b->out->n_busy]);
}

int tg_commit_held(const struct tg_view *view, const struct tg_unit *unit, int64_t now,
                   const struct tg_lost_device *lost, size_t n_lost, struct tg_arena *arena,
                   struct tg_held *ret, struct tg_error *err)
{
    const struct tg_gang_status *status = unit->gang == NULL ? NULL : unit->gang->status;
    struct building b = {.view = view, .unit = unit, .arena = arena, .out = ret};
    /* Without the plan nobody can take the places. */
    size_t n = status == NULL || status->plan == NULL ? 0 : status->holds.n;

    *ret = (struct tg_held){.busy = tg_arena_alloc_array(arena, n + n_lost, sizeof(*ret->busy)),
                            .assumed = tg_arena_alloc_array(arena, n, sizeof(*ret->assumed))};
    if (ret->busy == NULL || ret->assumed == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s: the memory budget of a pass is used up", unit->key);
    for (size_t i = 0; i < n; i++) {
        const struct tg_gang_hold *hold = &status->holds.items[i];

        if (has_ended(hold, now))
            continue;
        ret->n_busy += split(&b, hold->device, &ret->busy[ret->n_busy]);
        if (is_first_of_pod(status, i))
            hold_room(&b, hold);
    }
    for (size_t i = 0; status != NULL && i < n_lost; i++)
        take_lost(&b, &lost[i]);
    return 0;
}

static void take_share(const struct tg_plan *plan, const struct tg_plan_claim *planned,
                       const struct tg_plan_result *result, size_t index, struct tg_arena *arena,
                       struct tg_fleet_busy *busy)
{
    char id[TG_PLAN_SHARE_ID];

    if (result->consumed == NULL)
        return;
    tg_plan_share_id(plan, planned, index, id);
    if (tg_capacity_amounts_read(result->consumed, arena, &busy->consumed, &busy->n_consumed,
                                 NULL) == 0)
        busy->share = tg_arena_strdup(arena, id);
}

void tg_commit_busy(const struct tg_plan *plan, const struct tg_plan_member *member,
                    const struct tg_plan_claim *planned, const char *holder, struct tg_arena *arena,
                    struct tg_fleet_busy *ret, size_t *ret_n)
{
    size_t index = 0;

    for (size_t i = 0; i < planned->results.n; i++) {
        const struct tg_plan_result *result = &planned->results.items[i];

        for (size_t j = 0; j < result->devices.n; j++, index++) {
            struct tg_fleet_busy busy = {.driver = tg_plan_result_driver(plan, result),
                                         .pool = tg_plan_result_pool(member, result),
                                         .device = result->devices.items[j],
                                         .holder = holder};

            if (result->admin_access.value)
                continue;
            take_share(plan, planned, result, index, arena, &busy);
            ret[(*ret_n)++] = busy;
        }
    }
}

bool tg_commit_reclaims(const struct tg_unit *unit)
{
    const struct tg_gang_status *status = unit->gang == NULL ? NULL : unit->gang->status;

    if (status == NULL || status->plan == NULL || status->holds.n == 0)
        return false;
    for (size_t i = 0; i < unit->n_members; i++) {
        bool planned = false;

        for (size_t j = 0; j < status->plan->members.n && !planned; j++)
            planned =
                tg_streq(status->plan->members.items[j].uid, unit->members[i].pod->metadata->uid);
        if (!planned && unit->members[i].gated && unit->members[i].wait == NULL)
            return true;
    }
    return false;
}
