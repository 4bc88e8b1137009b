/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/move.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/defrag/empty.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/claim.h"
#include "controller/core/model/sort.h"

/* Nodes that a plan looks at: those with the most free devices. */
#define PLAN_NODES 256
/* What it costs beside the search, in the steps of trials, to take claims off and put them back. */
#define TRIAL_COST ((size_t)1000)
/* Of a plan, in an explanation that is not to try everything: 1 ms. */
#define PLAN_STEPS 50000
#define PLAN_TRIALS 500
/* Pods that use one claim. */
#define PODS_MAX 16

struct mover {
    struct tg_explaining *e;
    struct tg_trial *trial;
    struct tg_fleet *fleet;
    struct tg_explained_help *out;
    /* The claims that are moved in the trial under way: */
    struct tg_resident residents[TG_EXPLAIN_MOVES];
    const char *names[TG_EXPLAIN_MOVES];
    size_t to[TG_EXPLAIN_MOVES]; /* rows of the nodes that a plan sends them to, or TG_NO_INDEX */
    size_t n;
};

/* --- a resident as a request ------------------------------------------------------------------ */

static bool names_a_node(const struct tg_selector_requirement *field)
{
    return tg_streq(field->key, "metadata.name");
}

/* The pod as its owner would make it again: not tied to the node where it is. */
static struct tg_pod *untie(struct tg_arena *arena, const struct tg_pod *pod)
{
    struct tg_pod *ret = tg_arena_alloc(arena, sizeof(*ret));
    struct tg_pod_spec *spec = tg_arena_alloc(arena, sizeof(*spec));
    struct tg_node_selector *required;

    if (ret == NULL || spec == NULL || pod->spec == NULL)
        return NULL;
    *ret = *pod;
    *spec = *pod->spec;
    ret->spec = spec;
    spec->node_name = NULL;
    required = spec->affinity == NULL || spec->affinity->node_affinity == NULL
                   ? NULL
                   : spec->affinity->node_affinity->required;
    for (size_t i = 0; required != NULL && i < required->terms.n; i++) {
        const struct tg_selector_term *term = &required->terms.items[i];

        /* A term that only names the node is what a placement of ours leaves of no affinity. */
        if (term->match_expressions.n == 0 && term->match_fields.n == 1 &&
            names_a_node(&term->match_fields.items[0]))
            spec->affinity = NULL;
        else if (term->match_fields.n > 0)
            return NULL;
        if (spec->affinity == NULL)
            break;
    }
    return ret;
}

static const struct tg_piece *piece_of(struct tg_arena *arena, const struct tg_resident *resident)
{
    struct tg_piece *piece = tg_arena_alloc(arena, sizeof(*piece));
    const struct tg_pod **pods = tg_arena_alloc_array(arena, resident->n_pods + 1, sizeof(*pods));
    const struct tg_resource_claim **claims = tg_arena_alloc_array(arena, 1, sizeof(*claims));

    if (piece == NULL || pods == NULL || claims == NULL)
        return NULL;
    for (size_t i = 0; i < resident->n_pods; i++) {
        pods[i] = untie(arena, resident->pods[i]);
        if (pods[i] == NULL)
            return NULL;
    }
    claims[0] = resident->claim;
    *piece = (struct tg_piece){
        .pods = pods, .n_pods = resident->n_pods, .claims = claims, .n_claims = 1};
    return piece;
}

/* Can it be looked at by itself: a claim whose pods use no other? */
static bool is_movable(const struct tg_resident *resident)
{
    if (resident->claim == NULL || resident->claim->spec == NULL ||
        resident->claim->spec->devices == NULL || resident->claim->spec->devices->requests.n == 0 ||
        resident->n_pods == 0 || resident->n_pods > PODS_MAX)
        return false;
    for (size_t i = 0; i < resident->n_pods; i++) {
        const struct tg_pod_spec *spec = resident->pods[i]->spec;

        if (spec == NULL || spec->resource_claims.n > 1 ||
            tg_fit_claims_volumes(resident->pods[i]) || tg_pod_check(resident->pods[i], NULL) < 0)
            return false;
    }
    return true;
}

/* --- the trial -------------------------------------------------------------------------------- */

static void take_off(struct mover *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct tg_resident *r = &m->residents[i];

        tg_fleet_drop(m->fleet, TG_FLEET_CLAIM, r->claim->metadata->namespace_,
                      r->claim->metadata->name);
        for (size_t p = 0; p < r->n_pods; p++)
            tg_fleet_drop(m->fleet, TG_FLEET_POD, r->pods[p]->metadata->namespace_,
                          r->pods[p]->metadata->name);
    }
    tg_fleet_settle(m->fleet);
}

static void put_back(struct mover *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct tg_resident *r = &m->residents[i];

        tg_fleet_put(m->fleet, TG_FLEET_CLAIM, r->claim);
        for (size_t p = 0; p < r->n_pods; p++)
            tg_fleet_put(m->fleet, TG_FLEET_POD, r->pods[p]);
    }
    tg_fleet_settle(m->fleet);
}

/* What was placed counts as taken from now on. */
static bool assume(struct mover *m, const struct tg_place_request *request,
                   const struct tg_placement *placement)
{
    for (size_t i = 0; i < placement->n_pieces; i++) {
        const struct tg_placed_piece *placed = &placement->pieces[i];
        const struct tg_piece *piece = &request->pieces[i];
        struct tg_fleet_busy *busy =
            tg_arena_alloc_array(m->trial->scratch, placed->n_devices + 1, sizeof(*busy));
        struct tg_fleet_assumed *pods =
            tg_arena_alloc_array(m->trial->scratch, piece->n_pods + 1, sizeof(*pods));
        size_t n = 0;

        if (busy == NULL || pods == NULL)
            return false;
        for (size_t d = 0; d < placed->n_devices; d++) {
            const struct tg_placed_device *device = &placed->devices[d];

            /* Shares are beyond what is tried here. */
            if (device->consumed != NULL)
                return false;
            if (!device->admin)
                busy[n++] = (struct tg_fleet_busy){.driver = device->driver,
                                                   .pool = device->pool,
                                                   .device = device->device,
                                                   .holder = "tried"};
        }
        for (size_t p = 0; p < piece->n_pods; p++)
            pods[p] = (struct tg_fleet_assumed){.pod = piece->pods[p], .node = placed->node};
        tg_fleet_assume(m->fleet, busy, n, pods, piece->n_pods);
    }
    tg_fleet_settle(m->fleet);
    return true;
}

static const char *node_of(const struct tg_fleet *fleet, const struct tg_resource_claim *claim)
{
    const struct tg_allocation *allocation =
        claim->status == NULL ? NULL : claim->status->allocation;
    const struct tg_allocation_device *first;
    size_t row;

    if (allocation == NULL || allocation->devices == NULL || allocation->devices->results.n == 0)
        return NULL;
    first = &allocation->devices->results.items[0];
    row = tg_fleet_find_device(fleet, first->driver, first->pool, first->device);
    return row == TG_NO_INDEX || fleet->devices[row].node == TG_NO_INDEX
               ? NULL
               : fleet->nodes[fleet->devices[row].node].name;
}

static const char *keep(struct mover *m, const char *text)
{
    return text == NULL ? NULL : tg_arena_strdup(m->e->arena, text);
}

/* Free devices of the node that the request accepts, as many as it asks for; false: too few. */
static bool pick_devices(const struct mover *m, const struct tg_device_request *request,
                         size_t node, struct tg_placed_device *ret)
{
    const struct tg_fleet *fleet = m->fleet;
    const struct tg_fleet_node *row = &fleet->nodes[node];
    size_t n = 0, count = tg_request_count(request->exactly), ask = 0;
    struct tg_ask_book book;

    tg_ask_book_init(&book, fleet, m->trial->scratch);
    if (tg_ask_book_add(&book, request->exactly, &ask, NULL) < 0)
        return false;
    for (size_t d = 0; d < row->n_devices && n < count; d++) {
        const struct tg_fleet_device *device = &fleet->devices[row->devices[d]];
        enum tg_ask_answer answer = TG_ASK_NO;

        if (!tg_board_usable(device) || device->exact || device->shared || device->binding ||
            tg_ask_answer(&book, ask, row->devices[d], &answer, NULL) < 0 || answer != TG_ASK_YES)
            continue;
        ret[n++] = (struct tg_placed_device){
            .driver = device->driver, .pool = device->pool, .device = device->name};
    }
    return n == count;
}

/* On that very node, without a search: for a claim with one plain request. */
static bool place_on(struct mover *m, const struct tg_place_request *request, size_t node,
                     struct tg_placement *ret)
{
    const struct tg_piece *piece = request->pieces;
    const struct tg_fleet_node *row = &m->fleet->nodes[node];
    struct tg_placed_piece *placed = tg_arena_alloc(m->trial->scratch, sizeof(*placed));
    struct tg_placed_device *devices =
        tg_arena_alloc_array(m->trial->scratch, TG_RESULTS_MAX, sizeof(*devices));
    const struct tg_device_claim *claim = piece->claims[0]->spec->devices;
    struct tg_demand demand;
    size_t least = 0;

    if (placed == NULL || devices == NULL || claim->requests.n != 1 ||
        tg_exact_needed(piece->claims[0]) ||
        tg_claim_supported(piece->claims[0], &least, NULL) < 0 ||
        tg_demand_sum(piece->pods, piece->n_pods, m->trial->scratch, &demand, NULL) < 0 ||
        tg_room_copies(row, NULL, 0, &demand, 1, NULL) == 0)
        return false;
    for (size_t p = 0; p < piece->n_pods; p++) {
        const struct tg_fit_guest guest = {.pod = piece->pods[p], .volumes = piece->volumes};

        if (tg_fit_first_failed(row, &guest) < tg_fit_rules_count)
            return false;
    }
    if (!pick_devices(m, &claim->requests.items[0], node, devices))
        return false;
    *placed = (struct tg_placed_piece){.node = row->name, .devices = devices, .n_devices = least};
    *ret = (struct tg_placement){.pieces = placed, .n_pieces = 1};
    return true;
}

/* Where the plan sends it, else wherever it fits. */
static bool place_resident(struct mover *m, size_t i, const struct tg_place_request *request,
                           struct tg_placement *ret)
{
    struct tg_no_place why;

    if (m->to[i] != TG_NO_INDEX && place_on(m, request, m->to[i], ret))
        return true;
    return tg_trial_charge(m->trial, m->fleet->n_nodes + m->fleet->n_devices) &&
           tg_place(m->fleet, request, m->trial->scratch, ret, &why, NULL) == 0;
}

/* Each of those that were taken off finds a place again. */
static bool settle_residents(struct mover *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct tg_resident *r = &m->residents[i];
        const struct tg_piece *piece = piece_of(m->trial->scratch, r);
        const struct tg_place_request request = {
            .name = m->names[i], .pieces = piece, .n_pieces = 1};
        const struct tg_object_meta *pod = r->pods[0]->metadata;
        struct tg_explained_move *move = &m->out->moves[m->out->n_moves++];
        struct tg_placement placement;

        if (piece == NULL || !place_resident(m, i, &request, &placement) ||
            !assume(m, &request, &placement))
            return false;
        *move = (struct tg_explained_move){
            .holder = m->names[i],
            .from = node_of(m->fleet, r->claim),
            .to = keep(m, placement.pieces[0].node),
            .pod = tg_arena_printf(m->e->arena, "%s/%s", tg_or(pod->namespace_, ""),
                                   tg_or(pod->name, "?")),
            .devices = r->claim->status->allocation->devices->results.n};
        if (move->from == NULL || move->to == NULL || move->pod == NULL)
            return false;
    }
    return true;
}

/* The claims of m->names, all of them known and movable. */
static bool try_these(struct mover *m)
{
    size_t mark = tg_fleet_mark(m->fleet);
    struct tg_placement placement;
    bool ok = false;

    if (!tg_trial_charge(m->trial, TRIAL_COST))
        return false;
    m->out->n_moves = 0;
    take_off(m);
    if (tg_trial_fits(m->trial, m->e->in->request, NULL, &placement))
        ok = assume(m, m->e->in->request, &placement) && settle_residents(m);
    tg_fleet_undo(m->fleet, mark);
    put_back(m);
    return ok;
}

static bool add_name(struct mover *m, const char *name, size_t to)
{
    struct tg_resident *resident;

    if (m->n == TG_EXPLAIN_MOVES)
        return false;
    resident = &m->residents[m->n];
    *resident = (struct tg_resident){.claim = NULL};
    if (!m->e->in->find(m->e->in->data, name, resident) || !is_movable(resident) ||
        node_of(m->fleet, resident->claim) == NULL)
        return false;
    m->to[m->n] = to;
    /* The fleet's own goes with the claim when that is taken off. */
    m->names[m->n] = tg_arena_strdup(m->e->arena, name);
    return m->names[m->n++] != NULL;
}

/* --- a plan ----------------------------------------------------------------------------------- */

struct plan {
    uint32_t nodes[PLAN_NODES]; /* rows of the fleet */
    uint16_t left[PLAN_NODES];
    bool target[PLAN_NODES];
    uint32_t n_nodes;
    struct tg_empty_resident *residents;
    const char **holders;
    uint32_t n_residents;
};

static bool has_more(const struct tg_explaining *e, size_t a, size_t b)
{
    const struct tg_fleet_node *nodes = e->board->fleet->nodes;

    if (e->free_on[a] != e->free_on[b])
        return e->free_on[a] > e->free_on[b];
    return nodes[a].order < nodes[b].order;
}

/* The nodes with the most free devices. */
static void choose_nodes(const struct tg_explaining *e, struct plan *plan)
{
    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        uint32_t at;

        if (e->group->failed[i] != tg_fit_rules_count || e->whole_on[i] == 0 ||
            (plan->n_nodes == PLAN_NODES && !has_more(e, i, plan->nodes[PLAN_NODES - 1])))
            continue;
        at = plan->n_nodes < PLAN_NODES ? plan->n_nodes++ : PLAN_NODES - 1;
        for (; at > 0 && has_more(e, i, plan->nodes[at - 1]); at--)
            plan->nodes[at] = plan->nodes[at - 1];
        plan->nodes[at] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < plan->n_nodes; i++) {
        uint32_t free = e->free_on[plan->nodes[i]];

        plan->left[i] = (uint16_t)(free < TG_EMPTY_CARDS_MAX ? free : TG_EMPTY_CARDS_MAX);
        plan->target[i] = e->in_scope[plan->nodes[i]];
    }
}

/* The residents of one node: holders of devices that the request could use. */
static void list_residents(const struct tg_explaining *e, struct plan *plan, uint32_t node)
{
    const struct tg_fleet *fleet = e->board->fleet;
    const struct tg_fleet_node *row = &fleet->nodes[plan->nodes[node]];
    uint32_t first = plan->n_residents;

    for (size_t i = 0; i < row->n_devices; i++) {
        const struct tg_fleet_device *device = &fleet->devices[row->devices[i]];
        uint32_t r = first;

        if (device->holder == NULL || !e->whole[row->devices[i]])
            continue;
        while (r < plan->n_residents && strcmp(plan->holders[r], device->holder) != 0)
            r++;
        if (r == plan->n_residents) {
            plan->holders[r] = device->holder;
            plan->residents[plan->n_residents++] = (struct tg_empty_resident){
                .node = node, .movable = strncmp(device->holder, "claim ", 6) == 0};
        }
        plan->residents[r].cards++;
    }
}

static int make_plan(struct mover *m, bool *ret, struct tg_error *err)
{
    struct tg_explaining *e = m->e;
    struct plan *plan;
    struct tg_empty_plan moves = {.n_moves = 0};
    struct tg_empty_fleet fleet;
    const struct tg_empty_want want = {.members = (uint32_t)e->board->n_members,
                                       .cards = (uint16_t)e->group->devices,
                                       .max_moves = TG_EXPLAIN_MOVES,
                                       .max_steps = e->in->max_steps == 0 ? PLAN_STEPS : 0,
                                       .max_trials = e->in->max_steps == 0 ? PLAN_TRIALS : 0};
    size_t most = 0, left = 0;
    int rc = tg_core_alloc(e->arena, 1, sizeof(*plan), &plan, err);

    *ret = false;
    if (rc < 0)
        return rc;
    choose_nodes(e, plan);
    for (uint32_t i = 0; i < plan->n_nodes; i++)
        most += e->board->fleet->nodes[plan->nodes[i]].n_devices;
    for (uint32_t i = 0; i < plan->n_nodes; i++)
        left += plan->left[i];
    /* Whoever moves takes as many devices as it leaves. */
    if (left < want.members * (size_t)want.cards)
        return 0;
    rc = tg_core_alloc(e->arena, most, sizeof(*plan->residents), &plan->residents, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, most, sizeof(*plan->holders), &plan->holders, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < plan->n_nodes; i++)
        list_residents(e, plan, i);
    fleet = (struct tg_empty_fleet){.left = plan->left,
                                    .target = plan->target,
                                    .n_nodes = plan->n_nodes,
                                    .residents = plan->residents,
                                    .n_residents = plan->n_residents};
    rc = tg_empty_plan(&fleet, &want, e->arena, ret, &moves, err);
    if (rc < 0 || !*ret || moves.n_moves == 0) {
        *ret = false;
        return rc;
    }
    m->n = 0;
    for (uint32_t i = 0; i < moves.n_moves && *ret; i++)
        *ret = add_name(m, plan->holders[moves.moves[i].resident], plan->nodes[moves.moves[i].to]);
    return 0;
}

/* Cards that are alike: all devices that the request could use may go to anybody. */
static bool can_plan(const struct tg_explaining *e)
{
    return e->board->n_groups == 1 && !e->group->exact && !e->board->any_exact &&
           e->out->n_requests == 1 && e->group->devices <= TG_EMPTY_CARDS_MAX;
}

/* --- one by one, two by two ------------------------------------------------------------------- */

/* Claims that are tried: those that are told as holders, and those whose pods are where the devices
 * would do and the room does not. */
#define CANDIDATES_MAX 16
struct candidates {
    const char *names[CANDIDATES_MAX];
    size_t n;
    bool more;
};

static void add_candidate(struct mover *m, struct candidates *c, const char *name)
{
    size_t i = 0;

    while (i < c->n && strcmp(c->names[i], name) != 0)
        i++;
    if (i < c->n)
        return;
    if (c->n == CANDIDATES_MAX) {
        c->more = true;
        return;
    }
    /* The fleet's own goes with the claim when that is taken off. */
    name = tg_arena_strdup(m->e->arena, name);
    if (name == NULL)
        c->more = true;
    else
        c->names[c->n++] = name;
}

static void add_of_node(struct mover *m, struct candidates *c, size_t node)
{
    const struct tg_fleet_node *row = &m->fleet->nodes[node];

    for (size_t i = 0; i < row->n_devices; i++) {
        const char *holder = m->fleet->devices[row->devices[i]].holder;

        if (holder != NULL)
            add_candidate(m, c, holder);
    }
}

static void find_candidates(struct mover *m, struct candidates *c)
{
    const struct tg_explaining *e = m->e;
    struct tg_fleet_walk walk = {.next = 0};
    size_t node;

    c->more = e->out->more_holders;
    for (size_t i = 0; i < e->out->n_holders; i++)
        add_candidate(m, c, e->out->holders[i].name);
    while ((node = tg_fleet_next_node(m->fleet, &walk)) != TG_NO_INDEX && !c->more) {
        if (e->group->failed[node] == tg_fit_rules_count &&
            (e->short_of[node] || e->stage_of[node] == TG_FUNNEL_TOGETHER))
            add_of_node(m, c, node);
    }
}

static bool try_pair(struct mover *m, const char *a, const char *b)
{
    m->n = 0;
    return add_name(m, a, TG_NO_INDEX) && (b == NULL || add_name(m, b, TG_NO_INDEX)) &&
           try_these(m);
}

static bool try_candidates(struct mover *m, const struct candidates *c)
{
    for (size_t a = 0; a < c->n && !m->trial->refused; a++) {
        if (try_pair(m, c->names[a], NULL))
            return true;
    }
    for (size_t a = 0; a < c->n; a++) {
        for (size_t b = a + 1; b < c->n && !m->trial->refused; b++) {
            if (try_pair(m, c->names[a], c->names[b]))
                return true;
        }
    }
    return false;
}

/* Are there too few domains for a limit of the gang, whatever is free in them? */
static bool is_in_vain(const struct tg_explaining *e)
{
    for (size_t i = 0; i < e->out->n_topology; i++) {
        const struct tg_explained_topology *told = &e->out->topology[i];

        if (told->most > 0 && told->domains < told->members &&
            told->domains * told->most < told->members)
            return true;
    }
    return false;
}

int tg_explain_move(struct tg_explaining *e, struct tg_trial *trial, bool *ret_found,
                    struct tg_explained_help *ret, bool *ret_complete, struct tg_error *err)
{
    struct mover m = {.e = e, .trial = trial, .fleet = trial->fleet, .out = ret};
    struct candidates candidates = {.n = 0};
    bool planned = false;
    int rc = 0;

    *ret_found = false;
    *ret_complete = true;
    if (is_in_vain(e))
        return 0;
    /* Where the room for a second member is short is not known but for the best domain. */
    *ret_complete = e->in->find != NULL && (e->pack.required.n == 1 || e->board->n_members == 1);
    if (e->in->find == NULL || e->group->devices == 0 || e->group->admin || e->out->never)
        return 0;
    *ret = (struct tg_explained_help){.kind = TG_HELP_MOVE};
    find_candidates(&m, &candidates);
    *ret_complete = *ret_complete && !candidates.more;
    if (can_plan(e))
        rc = make_plan(&m, &planned, err);
    if (rc < 0)
        return rc;
    *ret_found = (planned && try_these(&m)) || try_candidates(&m, &candidates);
    return 0;
}
