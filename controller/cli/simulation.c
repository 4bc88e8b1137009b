/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/simulation.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/tangram/names.h"
#include "controller/commit/search.h"
#include "controller/core/explain/document.h"
#include "controller/core/explain/words.h"
#include "controller/gather/fleet.h"
#include "controller/lessons.h"

#define UNIT_MEMORY ((size_t)256 << 20)
#define PAGE_MAX ((size_t)256 << 10)
#define OWNERS_MAX 8 /* different owners of a gang's members that are looked at */

struct simulating {
    struct tg_world *world;
    struct tg_arena *scratch; /* for one unit */
    struct tg_units units;
    int64_t now;
    struct tg_simulation *out;
    struct tg_error *err;
};

static int out_of_memory(struct simulating *s)
{
    return tg_error_set(s->err, TG_RESOURCE_EXHAUSTED,
                        "the files need more than the %zu MiB that a simulation may take",
                        TG_CLI_MEMORY >> 20);
}

static const char *instance_of(const struct simulating *s)
{
    return tg_configuration_instance(s->world->configuration);
}

static struct tg_commit_input input_for(const struct simulating *s, const struct tg_unit *unit)
{
    int64_t hold = tg_configuration_delays(s->world->configuration)->hold;

    return (struct tg_commit_input){
        .view = &s->world->view,
        .unit = unit,
        .fleet = s->out->fleet,
        .instance = instance_of(s),
        .epoch = 1,
        .now = s->now,
        .hold_for = unit->gang == NULL ? hold : tg_gang_hold_for(unit->gang, hold)};
}

/* --- Gangs that the controller makes --------------------------------------------------------- */

static int make_gang(struct simulating *s, const struct tg_write *write)
{
    struct tg_world *world = s->world;
    void *object = NULL;
    struct tg_gang *gang;

    if (tg_json_decode_new(&tg_gang_type, write->body, strlen(write->body), world->arena, &object,
                           NULL) < 0)
        return out_of_memory(s);
    gang = object;
    if (gang->metadata == NULL)
        return out_of_memory(s);
    gang->metadata->namespace_ = tg_arena_strdup(world->arena, write->namespace_);
    gang->metadata->uid = tg_world_uid(world);
    gang->metadata->resource_version = "1";
    gang->metadata->creation_timestamp = world->created;
    if (gang->metadata->namespace_ == NULL)
        return out_of_memory(s);
    tg_world_put(world, TG_VIEW_GANG, gang, NULL);
    return 0;
}

/* *ret_made: some were made, so the units have to be gathered again. */
static int make_gangs(struct simulating *s, bool *ret_made)
{
    *ret_made = false;
    for (size_t i = 0; i < s->units.n; i++) {
        const struct tg_commit_input input = input_for(s, &s->units.items[i]);
        struct tg_decision decision;
        int r;

        if (input.unit->kind != TG_UNIT_GANG || input.unit->gang != NULL)
            continue;
        tg_arena_reset(s->scratch);
        r = tg_commit_decide(&input, s->scratch, &decision, s->err);
        for (size_t k = 0; r == 0 && k < decision.n_writes; k++) {
            if (decision.writes[k].kind != TG_WRITE_GANG_CREATE)
                continue;
            *ret_made = true;
            r = make_gang(s, &decision.writes[k]);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- what is given away already --------------------------------------------------------------- */

static void assume_claim(struct simulating *s, const struct tg_unit *unit,
                         const struct tg_plan *plan, const struct tg_plan_member *member,
                         const struct tg_plan_claim *planned)
{
    const struct tg_resource_claim *claim =
        tg_view_claim(&s->world->view, unit->namespace_, planned->name);
    struct tg_fleet_busy busy[TG_RESULTS_MAX];
    size_t n = 0;

    if (claim == NULL || tg_claim_allocated(claim) ||
        tg_plan_claim_results(planned) > TG_RESULTS_MAX)
        return;
    tg_commit_busy(plan, member, planned, unit->key, s->world->arena, busy, &n);
    tg_fleet_assume(s->out->fleet, busy, n, NULL, 0);
}

/* What the plan takes counts for the units after this one. */
static void assume(struct simulating *s, const struct tg_unit *unit, const struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];
        const struct tg_fleet_assumed assumed = {
            .pod = tg_view_pod(&s->world->view, unit->namespace_, member->pod),
            .node = member->node};

        if (assumed.pod != NULL && assumed.pod->spec->node_name == NULL)
            tg_fleet_assume(s->out->fleet, NULL, 0, &assumed, 1);
        for (size_t k = 0; k < member->claims.n; k++)
            assume_claim(s, unit, plan, member, &member->claims.items[k]);
    }
}

static int assume_standing(struct simulating *s)
{
    for (size_t i = 0; i < s->units.n; i++) {
        const struct tg_unit *unit = &s->units.items[i];
        const struct tg_plan *plan = NULL;
        struct tg_held held;
        bool unreadable;
        int r = tg_commit_record(unit, s->world->arena, &plan, &unreadable, s->err);

        if (r == 0)
            r = tg_commit_held(&s->world->view, unit, s->now, NULL, 0, s->world->arena, &held,
                               s->err);
        if (r < 0)
            return r;
        tg_fleet_assume(s->out->fleet, held.busy, held.n_busy, held.assumed, held.n_assumed);
        if (plan != NULL)
            assume(s, unit, plan);
    }
    return 0;
}

/* --- decisions ------------------------------------------------------------------------------- */

static const char *keep(struct simulating *s, const char *text)
{
    return text == NULL ? NULL : tg_arena_strdup(s->world->arena, text);
}

/* The setting of an owner that keeps it from making all members, if that is known. */
static const char *explain_owner(struct simulating *s, const struct tg_unit *unit)
{
    struct {
        const char *uid;
        size_t members;
    } direct[OWNERS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < unit->n_members; i++) {
        const struct tg_owner_reference *owner = tg_meta_controller(unit->members[i].pod->metadata);
        size_t k = 0;

        while (owner != NULL && k < n && !tg_streq(direct[k].uid, owner->uid))
            k++;
        if (owner == NULL || owner->uid == NULL || k == OWNERS_MAX)
            continue;
        if (k == n) {
            direct[n].uid = owner->uid;
            direct[n++].members = 0;
        }
        direct[k].members++;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tg_world_owner *owner = tg_map_get(s->world->owners, direct[i].uid);
        struct tg_owner_chain chain = {.n = 1, .members = direct[i].members};
        const char *text;

        if (owner == NULL)
            continue;
        chain.links[0].kind = owner->kind;
        chain.links[0].object = owner->object;
        text = tg_owner_explain(&chain, tg_gang_total(unit->gang), n == 1, s->world->arena);
        if (text != NULL)
            return text;
    }
    return NULL;
}

static void tell(struct simulating *s, const struct tg_decision *decision, struct tg_outcome *o)
{
    const char *why = NULL;

    o->phase = keep(s, decision->phase);
    o->reason = keep(s, decision->reason);
    o->text = keep(s, decision->text);
    if (o->unit->gang != NULL && tg_streq(o->reason, "Gathering"))
        why = explain_owner(s, o->unit);
    if (why != NULL)
        o->text = tg_arena_printf(s->world->arena, "%s %s", tg_or(o->text, ""), why);
}

static void tell_error(struct simulating *s, const struct tg_error *why, struct tg_outcome *o)
{
    o->phase = TG_PHASE_WAITING;
    o->reason = tg_search_reason(why);
    o->text = keep(s, why->message);
}

static int commit(struct simulating *s, const struct tg_commit_input *input,
                  struct tg_decision *decision, const struct tg_search *search,
                  struct tg_outcome *o)
{
    struct tg_error why = TG_ERROR_INIT;
    struct tg_plan *plan = NULL, *copy = NULL;
    const char *text = NULL;
    int r = tg_commit_plan(input, decision, &search->request, &search->placement, s->scratch, &plan,
                           &why);

    /* What begins also finds out whether the plan fits into its record. */
    if (r == 0)
        r = tg_commit_begin(input, plan, s->scratch, decision, &why);
    if (r < 0) {
        tell_error(s, &why, o);
        return 0;
    }
    text = tg_plan_encode(plan, s->scratch);
    if (text == NULL || tg_plan_decode(text, s->world->arena, &copy, NULL) < 0)
        return out_of_memory(s);
    o->plan = copy;
    o->phase = TG_PHASE_ALLOCATED;
    assume(s, o->unit, copy);
    return 0;
}

/* Who is behind a holder's name: a claim and the pods that it is reserved for. */
static bool find_resident(void *data, const char *holder, struct tg_resident *ret)
{
    struct simulating *s = data;
    const char *name = tg_has_prefix(holder, "claim ") ? strchr(holder, '/') : NULL;
    const struct tg_pod **pods;
    char *namespace_;

    *ret = (struct tg_resident){.claim = NULL};
    if (name == NULL)
        return false;
    namespace_ = tg_arena_strndup(s->scratch, holder + strlen("claim "),
                                  (size_t)(name - holder) - strlen("claim "));
    ret->claim = namespace_ == NULL ? NULL : tg_view_claim(&s->world->view, namespace_, name + 1);
    if (ret->claim == NULL || ret->claim->status == NULL)
        return false;
    pods = tg_arena_alloc_array(s->scratch, ret->claim->status->reserved_for.n, sizeof(*pods));
    for (size_t i = 0; pods != NULL && i < ret->claim->status->reserved_for.n; i++) {
        pods[ret->n_pods] = tg_view_pod(&s->world->view, namespace_,
                                        ret->claim->status->reserved_for.items[i].name);
        ret->n_pods += pods[ret->n_pods] != NULL;
    }
    ret->pods = pods;
    return true;
}

static void explain(struct simulating *s, const struct tg_place_request *request,
                    struct tg_outcome *o)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(PAGE_MAX);
    TG_AUTOBUF struct tg_buf json = TG_BUF_INIT(PAGE_MAX);
    struct tg_explain_input input = {.request = request, .find = find_resident, .data = s};
    struct tg_explanation *explanation = tg_arena_alloc(s->scratch, sizeof(*explanation));
    struct tg_text sentence;
    struct tg_json_writer w;

    input.levels = tg_configuration_levels(s->world->configuration, &input.n_levels);
    /* It is about a request that has been refused: what cannot be explained is refused all the
     * same. */
    if (explanation == NULL ||
        tg_explain_request(s->out->fleet, &input, s->scratch, explanation, NULL) < 0 ||
        explanation->reason == NULL)
        return;
    tg_explanation_sentence(explanation, &sentence);
    o->reason = keep(s, explanation->reason);
    o->text = keep(s, sentence.data);
    if (tg_explanation_page(explanation, &page, NULL) == 0)
        o->page = keep(s, tg_buf_str(&page));
    tg_json_writer_init(&w, &json);
    tg_explanation_write(explanation, &w);
    if (tg_jw_finish(&w, NULL) == 0)
        o->details = keep(s, tg_buf_str(&json));
}

static int place(struct simulating *s, const struct tg_commit_input *input,
                 struct tg_decision *decision, struct tg_outcome *o)
{
    struct tg_search search;
    int r = tg_commit_search(s->world->configuration, input, s->scratch, decision, &search, s->err);

    if (r < 0)
        return r;
    if (search.placed)
        return commit(s, input, decision, &search, o);
    tell(s, decision, o);
    if (search.no_place != NULL) {
        o->members_short = search.no_place->members_short;
        o->devices_per_member = search.no_place->devices_per_member;
        if (s->out->explain)
            explain(s, &search.request, o);
    }
    return 0;
}

static int decide(struct simulating *s, struct tg_outcome *o)
{
    struct tg_commit_input input = input_for(s, o->unit);
    struct tg_error why = TG_ERROR_INIT;
    struct tg_decision decision;
    int r;

    tg_arena_reset(s->scratch);
    r = tg_commit_record(o->unit, s->scratch, &input.plan, &input.plan_unreadable, &why);
    if (r == 0)
        r = tg_commit_decide(&input, s->scratch, &decision, &why);
    if (r < 0) {
        tell_error(s, &why, o);
        return 0;
    }
    if (decision.kind == TG_DECIDE_PLACE)
        return place(s, &input, &decision, o);
    tell(s, &decision, o);
    o->standing = decision.kind == TG_DECIDE_WRITE || input.plan != NULL || o->reason == NULL;
    return 0;
}

/* Pods that no cluster has seen yet; without any, everything is asked about. */
static bool is_asked(const struct simulating *s, const struct tg_unit *unit)
{
    return tg_map_count(s->world->fresh) == 0 ||
           tg_map_has(s->world->fresh, unit->members[0].pod->metadata->uid);
}

static void count(struct tg_simulation *simulation, const struct tg_outcome *o)
{
    if (o->standing)
        simulation->standing++;
    else if (o->plan != NULL)
        simulation->placed += o->asked;
    else if (o->asked)
        simulation->waiting++;
    else
        simulation->others_waiting++;
}

/* What packing policies go by: the controller sees all of it come. */
static void learn(struct simulating *s)
{
    struct tg_lessons lessons = {0};

    tg_lessons_begin(&lessons, s->out->fleet, &s->world->view, s->world->configuration, s->scratch);
    for (size_t i = 0; i < s->units.n; i++) {
        size_t learned = 0;

        tg_lessons_learn(s->out->fleet, &s->units.items[i], &learned, s->scratch);
    }
    tg_learn_settle(s->out->fleet);
}

static int decide_all(struct simulating *s)
{
    struct tg_simulation *out = s->out;
    int r = 0;

    out->items = tg_arena_alloc_array(s->world->arena, s->units.n, sizeof(*out->items));
    if (out->items == NULL)
        return out_of_memory(s);
    for (size_t i = 0; r == 0 && i < s->units.n; i++) {
        const struct tg_unit *unit = &s->units.items[i];

        /* A Gang of the fleet whose members have all ended, or are yet to come. */
        if (unit->n_members == 0)
            continue;
        out->items[out->n].unit = unit;
        out->items[out->n].asked = is_asked(s, unit);
        r = decide(s, &out->items[out->n]);
        count(out, &out->items[out->n++]);
    }
    return r;
}

static int run(struct simulating *s)
{
    bool made = false;
    int r = tg_gather(&s->world->view, instance_of(s), s->world->arena, &s->units, s->err);

    if (r == 0)
        r = make_gangs(s, &made);
    if (r == 0 && made)
        r = tg_gather(&s->world->view, instance_of(s), s->world->arena, &s->units, s->err);
    if (r == 0)
        r = assume_standing(s);
    if (r < 0)
        return r;
    if (s->out->learn)
        learn(s);
    return decide_all(s);
}

int tg_simulate_in(struct tg_world *world, int64_t now, struct tg_simulation *ret,
                   struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *scratch = tg_arena_new(UNIT_MEMORY);
    struct simulating s = {.world = world, .scratch = scratch, .now = now, .out = ret, .err = err};

    *ret =
        (struct tg_simulation){.fleet = ret->fleet, .explain = ret->explain, .learn = ret->learn};
    return run(&s);
}

int tg_simulation_fleet(struct tg_world *world, struct tg_fleet **ret, struct tg_error *err)
{
    return tg_view_fleet(&world->view, tg_configuration_instance(world->configuration),
                         world->arena, ret, err);
}

int tg_simulate(struct tg_world *world, int64_t now, struct tg_simulation *ret,
                struct tg_error *err)
{
    int r = tg_simulation_fleet(world, &ret->fleet, err);

    ret->explain = true;
    ret->learn = true;
    return r < 0 ? r : tg_simulate_in(world, now, ret, err);
}

const char *tg_outcome_name(const struct tg_outcome *outcome, struct tg_arena *arena)
{
    static const char *const kinds[] = {
        [TG_UNIT_GANG] = "gang", [TG_UNIT_POD] = "pod", [TG_UNIT_CLAIM] = "claim"};

    return tg_arena_printf(arena, "%s %s/%s", kinds[outcome->unit->kind], outcome->unit->namespace_,
                           outcome->unit->name);
}
