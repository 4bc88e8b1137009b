/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/core/explain/parts.h"
#include "controller/core/fit/capacity.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/assign.h"
#include "controller/core/gang/leeway.h"
#include "controller/core/gang/offer.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

/* Nodes of which views are made for what is not kept of them (gang/leeway.h): amounts of capacity,
 * counters of pools that are of several nodes. */
#define VIEWS 64

static const char *const stage_names[TG_FUNNEL_STAGES] = {
    [TG_FUNNEL_SEEN] = "seen",         [TG_FUNNEL_CLASS] = "class",
    [TG_FUNNEL_SELECTED] = "selected", [TG_FUNNEL_TOLERATED] = "tolerated",
    [TG_FUNNEL_FREE] = "free",         [TG_FUNNEL_UNCONTESTED] = "uncontested",
    [TG_FUNNEL_CAPACITY] = "capacity", [TG_FUNNEL_TOGETHER] = "together",
    [TG_FUNNEL_NODE_FIT] = "nodeFit",  [TG_FUNNEL_DOMAIN] = "domain",
    [TG_FUNNEL_LEFT] = "left",
};

const char *tg_funnel_stage_name(enum tg_funnel_stage stage)
{
    return stage_names[stage];
}

struct funnel {
    struct tg_explaining *e;
    const struct tg_fit_want *wants[TG_EXPLAIN_REQUESTS]; /* NULL: nothing about capacity */
    const struct tg_view **views;                         /* one a node */
    bool *roomy; /* one a device: its counters suffice, if its node was looked into */
    size_t n_views;
    unsigned char *shapes; /* one a shape */
};

/* What selectors of all requests say of a shape: not asked yet, that all match, that devices are to
 * be judged one by one. */
enum { SHAPE_UNKNOWN, SHAPE_MATCHES, SHAPE_EACH };

/* --- one device and one request -------------------------------------------------------------- */

struct verdict {
    enum tg_funnel_stage stage; /* the last that it reaches, of those before TG_FUNNEL_CAPACITY */
    size_t selectors_failed;
    size_t selector; /* the first of them */
    size_t taints_failed;
    const struct tg_taint *taint; /* the first of them */
    bool ours, held;
};

static void judge_selectors(const struct tg_explaining *e, size_t request, size_t device,
                            struct verdict *v)
{
    const struct tg_ask *ask = &e->board->book.asks[e->slots[request]->ask];

    for (size_t i = e->guards[request] ? 1 : 0; i < ask->n_selectors && v->selectors_failed < 2;
         i++) {
        bool match = false;

        if (tg_selection_matches(ask->selectors[i], e->board->fleet, device, &match, NULL) == 0 &&
            match)
            continue;
        if (v->selectors_failed++ == 0)
            v->selector = i;
    }
}

static void judge_taints(const struct tg_ask *ask, const struct tg_fleet_device *row,
                         struct verdict *v)
{
    for (size_t i = 0; i < row->n_taints; i++) {
        if (tg_taint_tolerated(row->taints[i], ask->request->tolerations.items,
                               ask->request->tolerations.n))
            continue;
        if (v->taints_failed++ == 0)
            v->taint = row->taints[i];
    }
}

static enum tg_funnel_stage stage_of(const struct tg_ask *ask, const struct verdict *v)
{
    if (v->selectors_failed > 0)
        return v->selector < ask->klass->n_selectors ? TG_FUNNEL_SEEN : TG_FUNNEL_CLASS;
    if (v->taints_failed > 0)
        return TG_FUNNEL_SELECTED;
    if (v->held)
        return TG_FUNNEL_TOLERATED;
    return v->ours ? TG_FUNNEL_UNCONTESTED : TG_FUNNEL_FREE;
}

static void judge(const struct tg_explaining *e, size_t request, size_t device, struct verdict *v)
{
    const struct tg_ask *ask = &e->board->book.asks[e->slots[request]->ask];
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];

    *v = (struct verdict){.ours = row->unsupported == NULL && row->contested == NULL,
                          .held = row->holder != NULL && !e->group->admin};
    judge_selectors(e, request, device, v);
    if (v->selectors_failed < 2)
        judge_taints(ask, row, v);
    v->stage = stage_of(ask, v);
}

/* --- counters and capacity ------------------------------------------------------------------- */

static int look_into(struct funnel *f, size_t node, struct tg_error *err)
{
    struct tg_board *board = f->e->board;
    struct tg_view *own;
    int rc = 0;

    if (f->views[node] != NULL)
        return 0;
    if (f->n_views < VIEWS) {
        const struct tg_rules rules = tg_rules_of_objects();

        f->n_views++;
        rc = tg_core_alloc(f->e->arena, 1, sizeof(*own), &own, err);
        if (rc == 0)
            rc = tg_fleet_view(board->fleet, board->fleet->nodes[node].name, &rules, f->e->arena,
                               own, err);
        if (rc < 0)
            return rc;
        f->views[node] = own;
    }
    for (size_t i = 0; f->views[node] != NULL && i < f->views[node]->n_devices; i++) {
        const struct tg_view_device *d = &f->views[node]->devices[i];
        size_t row = tg_fleet_find_device(board->fleet, d->driver, d->pool_name, d->name);

        if (row != TG_NO_INDEX)
            f->roomy[row] = tg_leeway_suffices(f->views[node], d);
    }
    return 0;
}

static const struct tg_view_device *find_in(const struct tg_view *view,
                                            const struct tg_fleet_device *row)
{
    for (size_t i = 0; i < view->n_devices; i++) {
        const struct tg_view_device *d = &view->devices[i];

        if (tg_fleet_compare_id(d->driver, d->pool_name, d->name, row->driver, row->pool,
                                row->name) == 0)
            return d;
    }
    return NULL;
}

/* Does what it shares with others suffice for the request? What was not looked into does. */
static int has_capacity(struct funnel *f, size_t request, size_t device, bool *ret,
                        struct tg_error *err)
{
    const struct tg_fleet *fleet = f->e->board->fleet;
    const struct tg_fleet_device *row = &fleet->devices[device];
    const struct tg_view_device *d;
    enum tg_leeway leeway;
    int rc = 0;

    *ret = true;
    if (row->node == TG_NO_INDEX || (!row->exact && f->wants[request] == NULL))
        return 0;
    rc = tg_leeway_look(fleet, row->node, err);
    leeway = rc < 0 ? TG_LEEWAY_UNKNOWN : tg_leeway_of(fleet, device);
    *ret = leeway != TG_LEEWAY_SHORT;
    if (rc < 0 || !*ret || (leeway == TG_LEEWAY_ENOUGH && f->wants[request] == NULL))
        return rc;
    rc = look_into(f, row->node, err);
    if (rc < 0 || f->views[row->node] == NULL)
        return rc;
    *ret = f->roomy[device];
    if (!*ret || f->wants[request] == NULL)
        return 0;
    d = find_in(f->views[row->node], row);
    *ret = d != NULL && tg_fit_capacity_fits(d, f->wants[request], true, true, NULL);
    return 0;
}

/* --- all devices ----------------------------------------------------------------------------- */

static bool node_passes(const struct tg_explaining *e, const struct tg_fleet_device *row)
{
    if (row->node == TG_NO_INDEX)
        return row->wide;
    return e->group->failed[row->node] == tg_fit_rules_count;
}

/* One thing alone keeps the device away. */
static void note_suspect(struct tg_explaining *e, size_t request, size_t device,
                         const struct verdict *v)
{
    const struct tg_ask *ask = &e->board->book.asks[e->slots[request]->ask];
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    size_t failed = v->selectors_failed + v->taints_failed + (v->ours ? 0 : 1);
    struct tg_explain_suspect suspect = {.request = request,
                                         .special = row->exact || row->shared || row->wide};

    if (failed != 1 || v->held || !node_passes(e, row))
        return;
    if (v->selectors_failed == 1) {
        bool of_class = v->selector < ask->klass->n_selectors;

        suspect.rule = of_class ? "ClassMismatch" : "SelectorMismatch";
        suspect.text = tg_selection_expression(ask->selectors[v->selector]);
    } else if (v->taints_failed == 1) {
        suspect.rule =
            tg_streq(v->taint->key, TG_TAINT_UNHEALTHY_KEY) ? "DeviceUnhealthy" : "DeviceTainted";
        suspect.taint = v->taint;
    } else {
        suspect.rule = row->contested != NULL ? "DeviceContested" : "DeviceUnsupported";
        suspect.text = row->contested != NULL ? row->contested : row->unsupported;
    }
    e->near_device[device] = tg_explain_suspect(e, &suspect, row->node, 1);
}

/* What all requests say of one device: bit i is of request i. */
struct looks {
    uint32_t selected; /* by selectors */
    uint32_t whole;    /* could be given if nobody held it */
    uint32_t could;    /* can be given */
};

/* What is the matter with a device of the supply. */
static void count_supply(struct tg_explaining *e, size_t device, const struct looks *looks)
{
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    struct tg_explained_supply *supply = &e->out->supply;

    if (looks->selected == 0 || row->unsupported != NULL || row->contested != NULL ||
        !node_passes(e, row) || (row->node != TG_NO_INDEX && !e->in_scope[row->node]))
        return;
    supply->matching++;
    if (row->holder != NULL && !e->group->admin)
        supply->held++;
    else if (looks->whole == 0)
        supply->tainted++;
    else if (looks->could == 0)
        supply->used_up++;
    else if (e->taken[device] && !row->shared)
        supply->taken++;
    else
        supply->free++;
}

static int look_at(struct funnel *f, size_t request, size_t device, struct looks *looks,
                   struct tg_error *err)
{
    struct tg_explaining *e = f->e;
    struct tg_explained_request *r = &e->out->requests[request];
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    struct verdict v;
    bool enough = false;
    int rc = 0;

    judge(e, request, device, &v);
    for (size_t s = 0; s <= v.stage; s++)
        r->devices[s]++;
    if (v.selectors_failed == 0) {
        looks->selected |= 1U << request;
        looks->whole |= v.taints_failed == 0 && v.ours ? 1U << request : 0;
        e->fits_alone[request] = e->fits_alone[request] || node_passes(e, row);
    }
    note_suspect(e, request, device, &v);
    if (v.stage != TG_FUNNEL_UNCONTESTED)
        return 0;
    rc = has_capacity(f, request, device, &enough, err);
    if (rc == 0 && enough) {
        looks->could |= 1U << request;
        r->devices[TG_FUNNEL_CAPACITY]++;
    }
    return rc;
}

static void count_on_node(struct tg_explaining *e, size_t device, const struct looks *looks)
{
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    bool left = !e->taken[device] || row->shared;

    if (row->node != TG_NO_INDEX) {
        e->whole_on[row->node] += looks->whole != 0 ? 1 : 0;
        e->free_on[row->node] += looks->could != 0 ? 1 : 0;
        e->left_on[row->node] += looks->could != 0 && left ? 1 : 0;
        /* The board does not look at devices of nodes that fail a rule. */
        if (looks->could != 0 && row->exact)
            e->board->groups[e->group_index].exact_on[row->node] = true;
    } else if (row->wide) {
        e->whole_wide += looks->whole != 0 ? 1 : 0;
        e->wide += looks->could != 0 ? 1 : 0;
    }
}

/* Does everything but who holds it speak for the device, whatever the request? Then nothing is the
 * matter with it that is to be told. Most are like that. */
static bool matches_all(struct funnel *f, size_t device)
{
    const struct tg_explaining *e = f->e;
    unsigned char *shape = &f->shapes[tg_fleet_shape(e->board->fleet, device)];
    bool known = true, yes = true;

    if ((e->board->fleet->faces[device] & TG_FACE_PLAIN) == 0)
        return false;
    for (size_t i = 0; *shape == SHAPE_UNKNOWN && known && yes && i < e->out->n_requests; i++) {
        known = f->wants[i] == NULL &&
                tg_ask_shape(&e->board->book, e->slots[i]->ask, device, &known, &yes, NULL) == 0 &&
                known;
    }
    if (*shape == SHAPE_UNKNOWN)
        *shape = known && yes ? SHAPE_MATCHES : SHAPE_EACH;
    return *shape == SHAPE_MATCHES;
}

/* As look_at for each request, of such a device that is nobody's but ours. */
static void look_at_match(struct funnel *f, size_t device, struct looks *looks)
{
    struct tg_explaining *e = f->e;
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    bool free = row->holder == NULL || e->group->admin, passes = node_passes(e, row);
    size_t last = free ? TG_FUNNEL_CAPACITY : TG_FUNNEL_TOLERATED;

    looks->selected = looks->whole = (1U << e->out->n_requests) - 1;
    looks->could = free ? looks->selected : 0;
    for (size_t i = 0; i < e->out->n_requests; i++) {
        for (size_t s = 0; s <= last; s++)
            e->out->requests[i].devices[s]++;
        e->fits_alone[i] = e->fits_alone[i] || passes;
    }
}

static int look_at_all(struct funnel *f, size_t device, struct looks *looks, struct tg_error *err)
{
    const struct tg_fleet_device *row = &f->e->board->fleet->devices[device];
    int rc = 0;

    if (row->unsupported == NULL && row->contested == NULL && matches_all(f, device)) {
        look_at_match(f, device, looks);
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < f->e->out->n_requests; i++)
        rc = look_at(f, i, device, looks, err);
    return rc;
}

static int walk_device(struct funnel *f, size_t device, struct tg_error *err)
{
    struct tg_explaining *e = f->e;
    struct looks looks = {0};
    int rc = look_at_all(f, device, &looks, err);

    if (rc < 0)
        return rc;
    e->whole[device] = looks.whole != 0;
    count_supply(e, device, &looks);
    count_on_node(e, device, &looks);
    if (looks.whole != 0 && e->board->fleet->devices[device].holder != NULL && !e->group->admin &&
        e->n_held < TG_EXPLAIN_HELD)
        e->held[e->n_held++] = (uint32_t)device;
    if (looks.could != 0)
        e->choices[e->n_choices++] =
            (struct tg_explain_choice){.device = (uint32_t)device, .requests = looks.could};
    return 0;
}

/* --- the devices of a node at once --------------------------------------------------------- */

/* Has nothing been put on the node, is nothing told of it for itself, and are its devices rows one
 * after the other? */
static bool is_one_of_many(const struct tg_explaining *e, size_t node)
{
    return !e->in_scope[node] && e->board->head[node] == TG_NO_INDEX && !e->group->admin &&
           e->board->fleet->nodes[node].first_device != TG_NO_ROW;
}

/* Are all of its devices ours, whatever the request? *ret_free: of nobody yet. */
static bool all_match(struct funnel *f, const struct tg_fleet_node *row, size_t *ret_free)
{
    const struct tg_fleet *fleet = f->e->board->fleet;

    *ret_free = 0;
    for (size_t d = row->first_device; d < row->first_device + row->n_devices; d++) {
        uint32_t face = fleet->faces[d];

        if ((face & TG_FACE_PLAIN) == 0 || (face & TG_FACE_OURS) == 0 ||
            (f->shapes[face >> TG_FACE_SHAPE] != SHAPE_MATCHES && !matches_all(f, d)))
            return false;
        *ret_free += face & TG_FACE_FREE;
    }
    return true;
}

/* Each device in the lists that have one entry a device. */
static void list_devices(struct tg_explaining *e, const struct tg_fleet_node *row)
{
    uint32_t requests = (1U << e->out->n_requests) - 1;

    if (e->out->n_requests == 0)
        return;
    memset(&e->whole[row->first_device], 1, row->n_devices * sizeof(*e->whole));
    for (uint32_t d = row->first_device;
         (!e->brief || e->n_held < TG_EXPLAIN_HELD) && d < row->first_device + row->n_devices;
         d++) {
        bool is_free = (e->board->fleet->faces[d] & TG_FACE_FREE) != 0;

        if (is_free && !e->brief)
            e->choices[e->n_choices++] =
                (struct tg_explain_choice){.device = d, .requests = requests};
        else if (!is_free && e->n_held < TG_EXPLAIN_HELD)
            e->held[e->n_held++] = d;
    }
}

/* As walk_device for all of its devices, if there is nothing about any of them that needs a look.
 * false: there is. */
static bool walk_alike(struct funnel *f, size_t node)
{
    struct tg_explaining *e = f->e;
    const struct tg_fleet_node *row = &e->board->fleet->nodes[node];
    bool passes = e->group->failed[node] == tg_fit_rules_count;
    size_t free = 0;

    if (!is_one_of_many(e, node) || !all_match(f, row, &free))
        return false;
    for (size_t i = 0; i < e->out->n_requests; i++) {
        for (size_t s = 0; s <= TG_FUNNEL_CAPACITY; s++)
            e->out->requests[i].devices[s] += s <= TG_FUNNEL_TOLERATED ? row->n_devices : free;
        e->fits_alone[i] = e->fits_alone[i] || (passes && row->n_devices > 0);
    }
    if (e->out->n_requests > 0) {
        e->whole_on[node] = row->n_devices;
        e->free_on[node] = e->left_on[node] = (uint32_t)free;
    }
    list_devices(e, row);
    return true;
}

/* Node by node in order of names, then those that are of no node. */
static int walk_devices(struct funnel *f, struct tg_error *err)
{
    const struct tg_fleet *fleet = f->e->board->fleet;
    const struct tg_scope *everything = &f->e->pack.everything;
    struct tg_fleet_walk walk = {.next = 0};
    size_t seen = 0, device;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < everything->n; i++) {
        const struct tg_fleet_node *row = &fleet->nodes[everything->nodes[i]];

        seen += row->n_devices;
        if (walk_alike(f, everything->nodes[i]))
            continue;
        for (size_t d = 0; rc == 0 && d < row->n_devices; d++)
            rc = walk_device(f, row->devices[d], err);
    }
    while (rc == 0 && seen < fleet->n_devices &&
           (device = tg_fleet_next_device(fleet, &walk)) != TG_NO_INDEX) {
        if (fleet->devices[device].node == TG_NO_INDEX)
            rc = walk_device(f, device, err);
    }
    return rc;
}

/* --- all nodes ------------------------------------------------------------------------------- */

/* Do numbers leave it possible that the devices of the node meet all requests? */
static bool may_meet(const struct tg_explaining *e, size_t node)
{
    return e->group->admin || e->board->shared[node] ||
           e->free_on[node] + e->wide >= e->group->devices;
}

/* Beside the members on the board: the devices would do, the room would not. */
static int judge_room(struct tg_explaining *e, size_t node, struct tg_error *err)
{
    struct tg_board *board = e->board;
    bool enough = false;
    size_t n_taken = 0;
    int rc = 0;

    if (!e->in_scope[node] || e->group->failed[node] != tg_fit_rules_count || !may_meet(e, node))
        return 0;
    for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
        board->taken[n_taken++] = &board->groups[board->members[m].group].demand;
    if (tg_room_copies(&board->fleet->nodes[node], board->taken, n_taken, &e->group->demand, 1,
                       NULL) > 0)
        return 0;
    rc = tg_board_devices_fit(board, node, e->group_index, 1, &enough, err);
    e->short_of[node] = enough;
    return rc;
}

/* Is it known that the node has no devices for a member: it takes none, and not for want of room?
 */
static bool is_ruled_out(const struct tg_explaining *e, size_t node)
{
    return e->group->failed[node] == tg_fit_rules_count &&
           tg_offer_nodes(e->group->offer)[node].copies == 0 &&
           tg_room_copies(&e->board->fleet->nodes[node], NULL, 0, &e->group->demand, 1, NULL) > 0;
}

/* With an empty board. */
static int judge_node(struct tg_explaining *e, size_t node, struct tg_error *err)
{
    bool enough = e->group->capacity[node] > 0;
    int rc = 0;

    e->stage_of[node] = enough ? TG_FUNNEL_NODE_FIT : TG_FUNNEL_CAPACITY;
    if (enough || e->free_on[node] + e->wide == 0 || !may_meet(e, node) || is_ruled_out(e, node))
        return 0;
    rc = tg_board_devices_fit(e->board, node, e->group_index, 1, &enough, err);
    if (enough)
        e->stage_of[node] = TG_FUNNEL_TOGETHER;
    /* What the search makes of a node may depend on what it knows of it; a selector that fails
     * there fails there only. */
    return rc == -TG_FAILED_PRECONDITION ? 0 : rc;
}

static void count_choice(struct tg_explaining *e, const struct tg_explain_choice *choice,
                         const bool any[2][TG_FUNNEL_STAGES])
{
    const struct tg_fleet_device *row = &e->board->fleet->devices[choice->device];
    bool wide = row->node == TG_NO_INDEX;
    size_t stage = wide ? 0 : e->stage_of[row->node];
    bool here =
        wide ? any[1][TG_FUNNEL_NODE_FIT] : stage >= TG_FUNNEL_NODE_FIT && e->in_scope[row->node];
    bool holds[TG_FUNNEL_STAGES] = {
        [TG_FUNNEL_TOGETHER] = wide ? any[0][TG_FUNNEL_TOGETHER] : stage >= TG_FUNNEL_TOGETHER,
        [TG_FUNNEL_NODE_FIT] = wide ? any[0][TG_FUNNEL_NODE_FIT] : stage >= TG_FUNNEL_NODE_FIT,
        [TG_FUNNEL_DOMAIN] = here,
        [TG_FUNNEL_LEFT] = here && !(e->taken[choice->device] && !row->shared)};

    for (size_t i = 0; i < e->out->n_requests; i++) {
        for (size_t s = TG_FUNNEL_TOGETHER; s < TG_FUNNEL_STAGES && holds[s]; s++)
            e->out->requests[i].devices[s] += choice->requests >> i & 1U;
    }
}

static void count_choices(struct tg_explaining *e)
{
    bool any[2][TG_FUNNEL_STAGES] = {{false}}; /* anywhere, in scope */

    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        for (size_t s = TG_FUNNEL_TOGETHER; s <= e->stage_of[i]; s++) {
            any[0][s] = true;
            any[1][s] = any[1][s] || e->in_scope[i];
        }
    }
    for (size_t i = 0; i < e->n_choices; i++)
        count_choice(e, &e->choices[i], any);
}

/* --- the requests ---------------------------------------------------------------------------- */

static bool is_all(const struct tg_exact_request *request)
{
    return tg_streq(request->allocation_mode, "All");
}

static bool is_guarded(const struct tg_fleet_class *klass)
{
    return klass->n_selectors > 0 && klass->object->spec->selectors.items[0].cel != NULL &&
           tg_streq(klass->object->spec->selectors.items[0].cel->expression, TG_GUARD_EXPRESSION);
}

static int list_requests(struct tg_explaining *e, struct tg_error *err)
{
    size_t n = e->member->n_slots;

    e->out->more_requests = n > TG_EXPLAIN_REQUESTS;
    for (size_t i = 0; i < n && i < TG_EXPLAIN_REQUESTS; i++) {
        const struct tg_board_slot *slot = &e->member->slots[i];
        const struct tg_ask *ask = &e->board->book.asks[slot->ask];
        const struct tg_object_meta *meta = slot->claim->metadata;
        const char *claim =
            tg_arena_printf(e->arena, "%s/%s", tg_or(meta->namespace_, ""), tg_or(meta->name, "?"));

        if (claim == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
        e->slots[i] = slot;
        e->guards[i] = is_guarded(ask->klass);
        e->out->requests[i] =
            (struct tg_explained_request){.claim = claim,
                                          .request = slot->request,
                                          .device_class = ask->klass->name,
                                          .count = is_all(ask->request) ? 0 : slot->count};
        e->out->n_requests++;
    }
    return 0;
}

/* The wants of requests that ask for capacity, in the order of slots. */
static void find_wants(struct funnel *f)
{
    const struct tg_explaining *e = f->e;
    const struct tg_board_member *member = e->member;
    size_t at = 0;

    for (size_t c = 0; member->claims != NULL && c < member->piece->n_claims; c++) {
        for (size_t r = 0; r < member->claims[c].n_requests; r++) {
            const struct tg_fit_request *request = &member->claims[c].requests[r];

            for (size_t k = 0; k < request->n_choices && at < e->out->n_requests; k++) {
                const struct tg_fit_want *want =
                    &e->board->exact.book.wants[request->choices[k].want];

                f->wants[at++] = want->n_capacity > 0 ? want : NULL;
            }
        }
    }
}

static int mark_taken(struct tg_explaining *e, struct tg_error *err)
{
    struct tg_board *board = e->board;
    struct tg_assignment *assigned;
    int rc = tg_core_alloc(e->arena, board->n_members, sizeof(*assigned), &assigned, err);

    if (rc == 0)
        rc = tg_core_alloc(e->arena, board->fleet->device_rows, sizeof(*e->taken), &e->taken, err);
    if (rc == 0)
        rc = tg_assign_devices(board, assigned, err);
    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        for (size_t k = 0; k < assigned[i].n; k++)
            e->taken[assigned[i].items[k].device] =
                e->taken[assigned[i].items[k].device] || !assigned[i].items[k].admin;
    }
    return rc;
}

static int open(struct funnel *f, struct tg_error *err)
{
    struct tg_explaining *e = f->e;
    size_t nodes = e->board->fleet->n_nodes, devices = e->board->fleet->device_rows;
    int rc = tg_core_alloc(e->arena, nodes, sizeof(*e->free_on), &e->free_on, err);

    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->left_on), &e->left_on, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->whole_on), &e->whole_on, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->stage_of), &e->stage_of, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->short_of), &e->short_of, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->suspect_on), &e->suspect_on, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*e->near_node), &e->near_node, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, devices, sizeof(*e->whole), &e->whole, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, devices, sizeof(*e->near_device), &e->near_device, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*f->views), &f->views, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, devices, sizeof(*f->roomy), &f->roomy, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, tg_fleet_shapes(e->board->fleet), sizeof(*f->shapes),
                           &f->shapes, err);
    return rc < 0 ? rc
                  : tg_core_alloc_unset(e->arena, devices, sizeof(*e->choices), &e->choices, err);
}

int tg_explain_walk(struct tg_explaining *e, struct tg_error *err)
{
    struct funnel f = {.e = e};
    int rc = open(&f, err);

    if (rc == 0)
        rc = mark_taken(e, err);
    if (rc == 0)
        rc = list_requests(e, err);
    if (rc < 0)
        return rc;
    find_wants(&f);
    rc = walk_devices(&f, err);
    for (size_t i = 0; rc == 0 && i < e->board->fleet->n_nodes; i++)
        rc = judge_room(e, i, err);
    return rc;
}

int tg_explain_stages(struct tg_explaining *e, struct tg_error *err)
{
    int rc = 0;

    tg_board_clear(e->board);
    for (size_t i = 0; rc == 0 && i < e->board->fleet->n_nodes; i++)
        rc = judge_node(e, i, err);
    if (rc == 0)
        count_choices(e);
    return rc;
}
