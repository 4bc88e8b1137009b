/* SPDX-License-Identifier: Apache-2.0 */
/* One pass: view -> units -> fleet -> decisions -> writes. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/commit/search.h"
#include "controller/controller.h"
#include "controller/core/gang/drain.h"
#include "controller/judge.h"

#define PATIENCE (2 * TG_SECOND)
#define TURN TG_SECOND
#define REST_SHARE 24 /* times as long as it took: one part in 25 of the time */
#define REST_LONGEST (100 * TG_MILLISECOND)
#define PASS_MEMORY ((size_t)1 << 30)
#define UNIT_MEMORY ((size_t)256 << 20)
#define BACKOFF_FIRST (100 * TG_MILLISECOND)
#define BACKOFF_LAST (30 * TG_SECOND)
#define JUDGE_BYTES ((size_t)1 << 30)
#ifdef TG_JUDGE_PLACEMENTS
#define JUDGES true
#else
#define JUDGES false
#endif

/* A unit with what the pass knows of it. */
struct candidate {
    const struct tg_unit *unit;
    struct tg_unit_state *state;
    const struct tg_plan *plan; /* the record, or what is on its way to become it */
    const struct tg_plan *record;
    bool unreadable;
};

struct pass {
    struct tg_controller *controller;
    struct tg_arena *arena;   /* lives as long as the pass */
    struct tg_arena *scratch; /* for one unit */
    struct tg_view view;
    struct tg_units units;
    struct candidate *candidates;
    struct candidate *reclaimer; /* decided first: what it holds is free for it alone */
    struct candidate *head;      /* the first that waits for devices (drain.h) */
    struct tg_fleet *fleet;
    TG_VEC(struct tg_fleet_busy) busy;
    TG_VEC(struct tg_fleet_assumed) assumed;
    struct tg_error err;
    int64_t now; /* monotonic */
};

/* --- states ---------------------------------------------------------------------------------- */

/* complete: every unit was seen. */
static void sweep_states(const struct pass *pass, bool complete)
{
    struct tg_controller *controller = pass->controller;
    struct tg_map_entry *next;

    for (struct tg_map_entry *e = tg_map_first(controller->units); e != NULL; e = next) {
        struct tg_unit_state *state = tg_map_value(e);

        next = tg_map_next(e);
        if (!complete || state->seen || state->in_flight > 0) {
            state->seen = false;
            continue;
        }
        tg_controller_unfollow(controller, state, &pass->view);
        tg_map_remove(controller->units, state->key);
    }
}

static uint64_t add_version(uint64_t hash, const struct tg_object_meta *meta)
{
    const char *uid = tg_or(meta->uid, ""), *version = tg_or(meta->resource_version, "");

    hash = hash * 31 + tg_hash64(uid, strlen(uid));
    return hash * 31 + tg_hash64(version, strlen(version));
}

/* Of the unit's own objects, as they are now. */
static uint64_t version_of(const struct tg_unit *unit)
{
    uint64_t hash = unit->gang == NULL ? 0 : add_version(0, unit->gang->metadata);

    for (size_t i = 0; i < unit->n_members; i++) {
        hash = add_version(hash, unit->members[i].pod->metadata);
        for (size_t j = 0; j < unit->members[i].n_claims; j++)
            hash = add_version(hash, unit->members[i].claims[j]->metadata);
    }
    return hash;
}

/* Is left alone until its time has come, or one of its objects has changed since: what has failed
 * may succeed then, and what is to be done may be something else. */
static bool backs_off(const struct pass *pass, const struct candidate *c)
{
    return c->state->not_before > pass->now && version_of(c->unit) == c->state->version;
}

static void back_off(const struct pass *pass, struct tg_unit_state *state)
{
    int64_t backoff = BACKOFF_FIRST << (state->failures < 10 ? state->failures : 10);

    state->failures++;
    state->not_before = pass->now + (backoff < BACKOFF_LAST ? backoff : BACKOFF_LAST);
}

/* The writes of the last decision have returned: what was assumed for them is in the stores by now,
 * or never will be. */
static void settle(struct pass *pass, const struct candidate *c)
{
    struct tg_unit_state *state = c->state;

    if (state->in_flight > 0 || !state->returned)
        return;
    state->returned = false;
    state->version = version_of(c->unit);
    free(state->pending);
    state->pending = NULL;
    if (!state->failed) {
        state->failures = 0;
        return;
    }
    state->failed = false;
    back_off(pass, state);
}

/* --- fleet ----------------------------------------------------------------------------------- */

static void assume_pod(struct pass *pass, const struct tg_pod *pod, const char *node)
{
    if (pod->spec->node_name == NULL && !tg_pod_finished(pod))
        *TG_VEC_PUSH(&pass->assumed) = (struct tg_fleet_assumed){.pod = pod, .node = node};
}

static void assume_devices(struct pass *pass, const struct tg_plan *plan,
                           const struct tg_plan_member *member, const struct tg_plan_claim *planned,
                           const char *holder)
{
    TG_VEC_RESERVE(&pass->busy, pass->busy.n + tg_plan_claim_results(planned));
    tg_commit_busy(plan, member, planned, holder, pass->arena, pass->busy.items, &pass->busy.n);
}

static void assume_claim(struct pass *pass, const struct candidate *c,
                         const struct tg_plan_member *member, const struct tg_plan_claim *planned)
{
    const struct tg_resource_claim *claim =
        tg_view_claim(&pass->view, c->unit->namespace_, planned->name);

    /* Allocated: the allocation itself says so. Gone: nothing will be allocated any more. */
    if (claim == NULL || !tg_streq(claim->metadata->uid, planned->uid) || tg_claim_allocated(claim))
        return;
    assume_devices(pass, c->plan, member, planned, c->unit->key);
}

static void assume_plan(struct pass *pass, const struct candidate *c)
{
    for (size_t i = 0; i < c->plan->members.n; i++) {
        const struct tg_plan_member *member = &c->plan->members.items[i];
        const struct tg_pod *pod = tg_view_pod(&pass->view, c->unit->namespace_, member->pod);

        if (pod != NULL && pod->spec != NULL && tg_streq(pod->metadata->uid, member->uid))
            assume_pod(pass, pod, member->node);
        for (size_t j = 0; j < member->claims.n; j++)
            assume_claim(pass, c, member, &member->claims.items[j]);
    }
}

/* Writes may be on their way for a unit that is no more (its pod was deleted meanwhile): what they
 * allocate is taken until they have returned. */
static int assume_orphans(struct pass *pass)
{
    struct tg_map *units = pass->controller->units;

    for (struct tg_map_entry *e = tg_map_first(units); e != NULL; e = tg_map_next(e)) {
        struct tg_unit_state *state = tg_map_value(e);
        struct tg_plan *plan;
        int r;

        if (state->seen || state->in_flight == 0 || state->pending == NULL)
            continue;
        r = tg_plan_decode(state->pending, pass->arena, &plan, &pass->err);
        if (r < 0)
            return r;
        for (size_t i = 0; i < plan->members.n; i++)
            for (size_t j = 0; j < plan->members.items[i].claims.n; j++)
                assume_devices(pass, plan, &plan->members.items[i],
                               &plan->members.items[i].claims.items[j], state->key);
    }
    return 0;
}

/* Members that join a plan that stands: it lists them only when the write has returned. */
static int assume_joining(struct pass *pass, const struct candidate *c)
{
    struct tg_plan *pending = NULL;
    int r = 0;

    if (c->record == NULL || c->state->pending == NULL)
        return 0;
    r = tg_plan_decode(c->state->pending, pass->arena, &pending, &pass->err);
    for (size_t i = 0; r == 0 && i < pending->members.n; i++)
        for (size_t j = 0; j < pending->members.items[i].claims.n; j++)
            assume_devices(pass, pending, &pending->members.items[i],
                           &pending->members.items[i].claims.items[j], c->unit->key);
    return r;
}

static int assume_held(struct pass *pass, const struct candidate *c)
{
    struct tg_held held;
    int r = tg_commit_held(&pass->view, c->unit, tg_now_wall(pass->controller->clock),
                           c->state->lost.items, c->state->lost.n, pass->arena, &held, &pass->err);

    for (size_t i = 0; r == 0 && i < held.n_busy; i++)
        *TG_VEC_PUSH(&pass->busy) = held.busy[i];
    for (size_t i = 0; r == 0 && i < held.n_assumed; i++)
        *TG_VEC_PUSH(&pass->assumed) = held.assumed[i];
    return r;
}

/* Of the units that have somebody for a place that they hold one a pass sees it as free; the others
 * have their turn soon. NULL: there is none. */
static struct candidate *choose_reclaimer(struct pass *pass)
{
    struct candidate *chosen = NULL;

    for (size_t i = 0; i < pass->units.n; i++) {
        struct candidate *c = &pass->candidates[i];

        if (c->state->in_flight > 0 || c->state->not_before > pass->now ||
            !tg_commit_reclaims(c->unit))
            continue;
        if (chosen != NULL)
            tg_controller_wake_at(pass->controller, pass->now + TURN);
        if (chosen == NULL || c->state->reclaimed < chosen->state->reclaimed)
            chosen = c;
    }
    if (chosen != NULL)
        chosen->state->reclaimed = pass->controller->passes;
    return chosen;
}

/* Pods that wait for the scheduler with their claims allocated take their room already. */
static void assume_allocated(struct pass *pass, const struct candidate *c)
{
    if (c->plan != NULL)
        return;
    for (size_t i = 0; i < c->unit->n_members; i++) {
        const struct tg_unit_member *member = &c->unit->members[i];
        const char *node = member->n_claims == 0 ? NULL : tg_claim_node(member->claims[0]);

        if (node != NULL)
            assume_pod(pass, member->pod, node);
    }
}

/* What is planned or on its way counts beside what the API server says, for this pass. */
static void complete_fleet(struct pass *pass)
{
    pass->fleet = pass->controller->fleet;
    tg_fleet_select_for(pass->fleet, pass->view.selectors);
    tg_fleet_assume(pass->fleet, pass->busy.items, pass->busy.n, pass->assumed.items,
                    pass->assumed.n);
    tg_fleet_settle(pass->fleet);
}

/* --- decisions ------------------------------------------------------------------------------- */

/* Until its writes have returned, whatever becomes of the unit. */
static int remember_plan(struct pass *pass, struct candidate *c, const struct tg_plan *plan)
{
    const char *text = tg_plan_encode(plan, pass->scratch);

    if (text == NULL)
        return tg_error_set(&pass->err, TG_RESOURCE_EXHAUSTED, "%s: the plan is too large: %s",
                            c->unit->key, "make the gang smaller");
    free(c->state->pending);
    c->state->pending = tg_xstrdup(text);
    return 0;
}

/* Debug builds: a placement that gives away what is not free ends the program where it is made. */
static void judge(struct pass *pass, const struct candidate *c,
                  const struct tg_place_request *request, const struct tg_placement *placement)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(JUDGE_BYTES);
    struct tg_error why = TG_ERROR_INIT;
    struct tg_view all; /* claims that the pass need not look at hold devices, too */
    int r;

    TG_VEC_CLEAR(&pass->busy);
    TG_VEC_CLEAR(&pass->assumed);
    for (size_t i = 0; i < pass->units.n; i++) {
        struct candidate other = pass->candidates[i];
        struct tg_plan *pending = NULL;

        /* A plan of this pass lay in memory that is no more; its text is what stands. */
        other.plan = other.record;
        if (other.state->pending != NULL &&
            tg_plan_decode(other.state->pending, arena, &pending, NULL) == 0)
            other.plan = pending;
        if (&pass->candidates[i] != c && other.plan != NULL)
            assume_plan(pass, &other);
    }
    tg_view_init(&all);
    tg_controller_fill_view(pass->controller, &all);
    r = tg_judge_placement(&all, pass->busy.items, pass->busy.n, request, placement, arena, &why);
    tg_view_done(&all);
    if (r == -TG_FAILED_PRECONDITION) {
        TG_ERR(&why, "A placement gives away what is not free", TG_S("unit", c->unit->key),
               TG_S("rule", why.reason));
        tg_log_flush();
        abort();
    }
}

static int begin(struct pass *pass, struct candidate *c, const struct tg_commit_input *input,
                 const struct tg_place_request *request, const struct tg_placement *placement,
                 struct tg_decision *decision)
{
    struct tg_plan *plan;
    int r = tg_commit_plan(input, decision, request, placement, pass->scratch, &plan, &pass->err);

    if (r < 0)
        return r;
    if (JUDGES)
        judge(pass, c, request, placement);
    r = tg_commit_begin(input, plan, pass->scratch, decision, &pass->err);
    if (r < 0)
        return r;
    c->plan = plan;
    r = remember_plan(pass, c, plan);
    if (r < 0)
        return r;
    /* The next unit must see the devices taken. */
    TG_VEC_CLEAR(&pass->busy);
    TG_VEC_CLEAR(&pass->assumed);
    assume_plan(pass, c);
    tg_fleet_assume(pass->fleet, pass->busy.items, pass->busy.n, pass->assumed.items,
                    pass->assumed.n);
    return 0;
}

static const struct tg_delays *delays_of(const struct pass *pass)
{
    return tg_configuration_delays(pass->controller->configuration);
}

/* The unit has found no place. */
static int drain_for(struct pass *pass, struct candidate *c, const struct tg_search *search,
                     struct tg_decision *decision)
{
    struct tg_draining *draining = &c->state->draining;
    int64_t wake = 0;

    if (decision->joins || !tg_draining_helps(search)) {
        tg_draining_end(draining);
        return 0;
    }
    if (pass->head != NULL || c == pass->reclaimer)
        return 0;
    pass->head = c;
    if (tg_draining_due(draining, delays_of(pass), pass->now, &wake)) {
        int r = tg_draining_choose(draining, delays_of(pass), pass->fleet, search, pass->now,
                                   tg_now_wall(pass->controller->clock), pass->scratch, decision,
                                   &pass->err);

        if (r < 0)
            return r;
    }
    tg_controller_wake_at(pass->controller, wake);
    return 0;
}

/* Whoever comes behind the head gets nothing of its nodes; of whoever is not the head none are
 * kept.
 */
static void keep_nodes(struct pass *pass, struct candidate *c)
{
    struct tg_draining *draining = &c->state->draining;
    char *holder;

    if (!tg_draining_keeps(draining, delays_of(pass), pass->now))
        return;
    if (pass->head != NULL && pass->head != c) {
        tg_draining_end(draining);
        return;
    }
    pass->head = c;
    holder = tg_arena_printf(pass->arena, "%s (kept free for it)", c->unit->key);
    if (holder != NULL)
        *strchr(holder, '/') = ' '; /* as holders are written */
    for (size_t i = 0; holder != NULL && i < draining->nodes.n; i++) {
        struct tg_fleet_busy *busy;
        size_t n = 0;

        if (tg_drain_hold(pass->fleet, draining->nodes.items[i], holder, pass->arena, &busy, &n,
                          &pass->err) == 0)
            tg_fleet_assume(pass->fleet, busy, n, NULL, 0);
    }
}

static int place(struct pass *pass, struct candidate *c, const struct tg_commit_input *input,
                 struct tg_decision *decision)
{
    int64_t since = tg_now_monotonic(pass->controller->clock);
    struct tg_search search;
    int r = tg_commit_search(pass->controller->configuration, input, pass->scratch, decision,
                             &search, &pass->err);

    if (r < 0)
        return r;
    tg_controller_searched(pass->controller, c->state, since,
                           search.placed             ? TG_SEARCH_PLACED
                           : search.no_place != NULL ? TG_SEARCH_NO_PLACE
                                                     : TG_SEARCH_REFUSED);
    if (search.placed)
        tg_draining_end(&c->state->draining);
    if (search.placed)
        return begin(pass, c, input, &search.request, &search.placement, decision);
    if (search.no_place != NULL)
        tg_controller_explain(pass->controller, &pass->view, c->state, c->unit, &search,
                              pass->scratch, decision);
    r = drain_for(pass, c, &search, decision);
    if (r < 0)
        return r;
    return tg_commit_show(input, decision->joins ? NULL : search.no_place, pass->scratch, decision,
                          &pass->err);
}

/* Is it over since `*since`? Remembers when it began, and asks to be woken at the end. */
static bool over(struct pass *pass, bool now, int64_t *since, int64_t delay)
{
    if (!now) {
        *since = 0;
        return false;
    }
    if (*since == 0)
        *since = pass->now;
    if (pass->now - *since >= delay)
        return true;
    tg_controller_wake_at(pass->controller, *since + delay);
    return false;
}

static int decide(struct pass *pass, struct candidate *c, struct tg_commit_input *input,
                  struct tg_decision *decision)
{
    const struct tg_delays *delays = tg_configuration_delays(pass->controller->configuration);
    int r = tg_commit_decide(input, pass->scratch, decision, &pass->err);

    if (r < 0)
        return r;
    input->stall_over = over(pass, decision->stalled, &c->state->stalled_since, delays->stall);
    input->linger_over = over(pass, decision->abandoned, &c->state->empty_since, delays->linger);
    input->bind_over = over(
        pass, decision->unbound, &c->state->unbound_since,
        c->unit->gang == NULL ? delays->bind : tg_gang_bind_timeout(c->unit->gang, delays->bind));
    if (input->stall_over || input->linger_over || input->bind_over)
        return tg_commit_decide(input, pass->scratch, decision, &pass->err);
    return 0;
}

static int64_t hold_for(const struct pass *pass, const struct tg_unit *unit)
{
    int64_t hold = tg_configuration_delays(pass->controller->configuration)->hold;

    return unit->gang == NULL ? hold : tg_gang_hold_for(unit->gang, hold);
}

/* What was decided is told and written, unless that went wrong: r < 0. */
static int conclude(struct pass *pass, struct candidate *c, const struct tg_decision *decision,
                    int r)
{
    if (r < 0)
        return r;
    tg_controller_report(pass->controller, c->state, c->unit, decision);
    tg_controller_execute(pass->controller, c->state, decision->writes, decision->n_writes);
    return 0;
}

static int process(struct pass *pass, struct candidate *c)
{
    struct tg_controller *controller = pass->controller;
    struct tg_commit_input input = {.view = &pass->view,
                                    .unit = c->unit,
                                    .fleet = pass->fleet,
                                    .plan = c->record,
                                    .plan_unreadable = c->unreadable,
                                    .instance =
                                        tg_configuration_instance(controller->configuration),
                                    .epoch = tg_elector_epoch(controller->elector),
                                    .now = tg_now_wall(controller->clock),
                                    .hold_for = hold_for(pass, c->unit),
                                    .disturbed = c->state->disturbed,
                                    .lost = c->state->lost.items,
                                    .n_lost = c->state->lost.n};
    struct tg_decision decision;
    int r;

    if (c->state->in_flight > 0)
        return 0;
    if (backs_off(pass, c)) {
        tg_controller_wake_at(controller, c->state->not_before);
        return 0;
    }
    tg_arena_reset(pass->scratch);
    r = decide(pass, c, &input, &decision);
    if (r < 0)
        return r;
    /* Most gangs gather within a moment: neither a status write nor an event for that. */
    if (!over(pass, decision.passing, &c->state->passing_since, PATIENCE) && decision.passing)
        return 0;
    if (decision.wake != 0)
        tg_controller_wake_at(controller, pass->now + decision.wake - input.now);
    if (decision.wake_in > 0)
        tg_controller_wake_at(controller, pass->now + decision.wake_in);
    tg_owners_explain(controller->owners, c->unit, pass->scratch, &decision);
    if (decision.kind == TG_DECIDE_PLACE)
        return conclude(pass, c, &decision, place(pass, c, &input, &decision));
    tg_draining_end(&c->state->draining);
    if (decision.kind == TG_DECIDE_WAIT)
        r = tg_commit_show(&input, NULL, pass->scratch, &decision, &pass->err);
    else if (c->record != NULL)
        r = remember_plan(pass, c, c->record);
    return conclude(pass, c, &decision, r);
}

/* --- the pass -------------------------------------------------------------------------------- */

static int prepare_candidate(struct pass *pass, const struct tg_unit *unit, struct candidate *c)
{
    struct tg_unit_state *state = tg_controller_state(pass->controller, unit->key);
    struct tg_plan *pending = NULL;
    const char *uid = tg_unit_marker_uid(unit);
    int r;

    *c = (struct candidate){.unit = unit, .state = state};
    state->seen = true;
    settle(pass, c);
    r = tg_commit_record(unit, pass->arena, &c->record, &c->unreadable, &pass->err);
    if (r < 0)
        return r;
    c->plan = c->record;
    tg_controller_follow(pass->controller, state, unit, c->record);
    if (c->record == NULL)
        state->disturbed = false;
    tg_controller_forget_lost(state, c->record);
    if (c->record == NULL && state->pending != NULL &&
        tg_plan_decode(state->pending, pass->arena, &pending, NULL) == 0)
        c->plan = pending;
    if (!tg_streq(uid, state->marker_uid)) {
        free(state->marker_uid);
        state->marker_uid = uid == NULL ? NULL : tg_xstrdup(uid);
    }
    if (unit->gang != NULL)
        tg_draining_recall(&state->draining, unit->gang, delays_of(pass), pass->now,
                           tg_now_wall(pass->controller->clock));
    if (c->plan != NULL)
        assume_plan(pass, c);
    assume_allocated(pass, c);
    return assume_joining(pass, c);
}

static int prepare(struct pass *pass)
{
    const char *instance = tg_configuration_instance(pass->controller->configuration);
    int r = tg_gather(&pass->view, instance, pass->arena, &pass->units, &pass->err);

    if (r < 0)
        return r;
    pass->candidates = tg_arena_alloc_array(pass->arena, pass->units.n, sizeof(*pass->candidates));
    if (pass->candidates == NULL)
        return tg_error_set(&pass->err, TG_RESOURCE_EXHAUSTED,
                            "the memory budget of a pass is used up");
    for (size_t i = 0; i < pass->units.n; i++) {
        r = prepare_candidate(pass, &pass->units.items[i], &pass->candidates[i]);
        if (r < 0)
            return r;
    }
    r = assume_orphans(pass);
    pass->reclaimer = choose_reclaimer(pass);
    for (size_t i = 0; r == 0 && i < pass->units.n; i++)
        if (&pass->candidates[i] != pass->reclaimer)
            r = assume_held(pass, &pass->candidates[i]);
    if (r == 0)
        complete_fleet(pass);
    return r;
}

static void check_guards(const struct pass *pass)
{
    const struct tg_view_list *classes = &pass->view.lists[TG_VIEW_CLASS];

    for (size_t i = 0; i < classes->n; i++)
        if (tg_class_kind(classes->items[i],
                          tg_configuration_instance(pass->controller->configuration)) ==
            TG_CLASS_UNGUARDED)
            tg_controller_report_class(
                pass->controller, classes->items[i], "UnguardedDeviceClass",
                "The class is labelled for Tangram but lacks the guard: add the selector "
                "expression " TG_GUARD_EXPRESSION " as an entry of its own. It is not served.");
}

static void check_contests(struct pass *pass)
{
    struct tg_fleet_contest contest;
    size_t devices = 0;

    for (size_t i = 0; tg_fleet_contest(pass->fleet, i, &contest); i++) {
        const char *text = tg_arena_printf(
            pass->arena,
            "The class is not managed by Tangram, and matches %zu devices that managed classes "
            "match too (%s of pool %s, driver %s, for one): Tangram gives them to nobody. Narrow "
            "the selectors of this class or of theirs, or make it a managed one (label and guard).",
            contest.devices, contest.device, contest.pool, contest.driver);

        devices += contest.devices;
        if (text != NULL)
            tg_controller_report_class(pass->controller, contest.klass, "ContestedDevices", text);
    }
    pass->controller->contested = devices;
}

static void check_classes(struct pass *pass)
{
    check_guards(pass);
    check_contests(pass);
}

/* One unit that asks too much must not stop the others. */
static void set_aside(struct pass *pass, struct candidate *c)
{
    struct tg_decision decision = {.kind = TG_DECIDE_WAIT,
                                   .reason = tg_search_reason(&pass->err),
                                   .text = pass->err.message,
                                   .warning = true};

    tg_controller_report(pass->controller, c->state, c->unit, &decision);
    back_off(pass, c->state);
    c->state->version = version_of(c->unit);
    tg_controller_wake_at(pass->controller, c->state->not_before);
}

static void process_or_set_aside(struct pass *pass, struct candidate *c)
{
    if (process(pass, c) < 0)
        set_aside(pass, c);
}

/* Afterwards what it holds is taken for the others, too. */
static int process_reclaimer(struct pass *pass)
{
    if (pass->reclaimer == NULL)
        return 0;
    process_or_set_aside(pass, pass->reclaimer);
    TG_VEC_CLEAR(&pass->busy);
    TG_VEC_CLEAR(&pass->assumed);
    if (assume_held(pass, pass->reclaimer) < 0)
        return -1;
    tg_fleet_assume(pass->fleet, pass->busy.items, pass->busy.n, pass->assumed.items,
                    pass->assumed.n);
    return 0;
}

/* What policies go by in this pass. */
static void learn(struct pass *pass)
{
    struct tg_controller *controller = pass->controller;

    tg_lessons_begin(&controller->lessons, pass->fleet, &pass->view, controller->configuration,
                     pass->scratch);
    for (size_t i = 0; i < pass->units.n; i++)
        tg_lessons_learn(pass->fleet, pass->candidates[i].unit, &pass->candidates[i].state->learned,
                         pass->scratch);
    tg_learn_settle(pass->fleet);
}

static void run(struct pass *pass)
{
    int r = prepare(pass);

    if (r == 0) {
        check_classes(pass);
        learn(pass);
        r = process_reclaimer(pass);
    }
    if (r < 0) {
        TG_ERR(&pass->err, "A pass was cut short");
        /* Nothing may ever happen in the cluster that would start the next one. */
        tg_controller_wake_at(pass->controller, pass->now + BACKOFF_LAST);
    }
    for (size_t i = 0; r == 0 && i < pass->units.n; i++) {
        if (&pass->candidates[i] != pass->reclaimer)
            process_or_set_aside(pass, &pass->candidates[i]);
        keep_nodes(pass, &pass->candidates[i]);
    }
    sweep_states(pass, r == 0);
}

/* A pass looks at everything there is. While much happens one of them sees what came meanwhile,
 * instead of each event having its own. */
static void rest(const struct pass *pass)
{
    int64_t now = tg_now_monotonic(pass->controller->clock), took = now - pass->now;
    int64_t least = REST_SHARE * took;

    pass->controller->rests_until = now + (least < REST_LONGEST ? least : REST_LONGEST);
    tg_metric_observe(pass->controller->metric[TG_CONTROLLER_PASS_DURATION], NULL,
                      (double)took / (double)TG_SECOND);
}

void tg_controller_pass(struct tg_controller *controller)
{
    struct pass pass = {.controller = controller, .now = tg_now_monotonic(controller->clock)};

    if (controller->stopping || !tg_controller_synced(controller) ||
        !tg_elector_leading(controller->elector))
        return;
    controller->passes++;
    controller->wake_at = 0;
    tg_controller_start_waiting(controller);
    if (!tg_controller_taken_over(controller))
        return;
    pass.arena = tg_arena_new(PASS_MEMORY);
    pass.scratch = tg_arena_new(UNIT_MEMORY);
    pass.view = *tg_controller_view(controller);
    run(&pass);
    tg_fleet_undo(controller->fleet, 0);
    tg_controller_view_done(controller);
    rest(&pass);
    TG_VEC_DONE(&pass.busy);
    TG_VEC_DONE(&pass.assumed);
    tg_arena_free(pass.scratch);
    tg_arena_free(pass.arena);
}
