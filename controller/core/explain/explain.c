/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/explain.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/explain/board.h"
#include "controller/core/explain/parts.h"
#include "controller/core/explain/words.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/offer.h"
#include "controller/core/gang/rule.h"
#include "controller/core/gang/volumes.h"
#include "controller/core/model/sort.h"

/* --- where it comes closest ------------------------------------------------------------------ */

/* The domain in which most members have a place; with as many, the one with the most free devices.
 */
static int find_domain(struct tg_explaining *e, struct tg_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < e->pack.required.n; i++) {
        const struct tg_domain *domain = &e->pack.required.items[i];
        size_t placed = domain->places; /* right for members that are all alike */
        int rc = 0;

        if (e->domain != NULL && !e->blocked &&
            (domain->places < most || (domain->places == most && domain->free <= e->domain->free)))
            continue;
        if (e->board->n_groups > 1 || e->blocked)
            rc = tg_explain_attempt(e, &domain->scope, &placed, err);
        if (rc < 0)
            return rc;
        if (e->domain == NULL || placed > most ||
            (placed == most && domain->free > e->domain->free)) {
            e->domain = domain;
            most = placed;
        }
    }
    return 0;
}

static int mark_scope(struct tg_explaining *e, struct tg_error *err)
{
    const struct tg_fleet *fleet = e->board->fleet;
    const char *fixed = e->group->piece->fixed_node;
    size_t row = fixed == NULL ? TG_NO_INDEX : tg_fleet_find_node(fleet, fixed);
    int rc = tg_core_alloc(e->arena, fleet->n_nodes, sizeof(*e->in_scope), &e->in_scope, err);

    if (rc < 0)
        return rc;
    e->out->fixed_node = fixed;
    /* Nodes where the rules leave no room for this member are not where it comes closest. */
    for (size_t i = 0; fixed == NULL && i < e->domain->scope.n; i++)
        e->in_scope[e->domain->scope.nodes[i]] =
            tg_rules_allow(e->board, e->group_index, e->domain->scope.nodes[i]);
    if (row != TG_NO_INDEX)
        e->in_scope[row] = true;
    return 0;
}

/* The best attempt is put on the board again, and the first member that it leaves out is looked at.
 */
static int look_at_member(struct tg_explaining *e, struct tg_error *err)
{
    struct tg_board *board = e->board;
    size_t first = 0;
    int rc = tg_explain_attempt(e, &e->domain->scope, &e->out->placed, err);

    if (rc < 0)
        return rc;
    while (first + 1 < board->n_members && board->members[first].node != TG_NO_INDEX)
        first++;
    e->member = &board->members[first];
    e->group_index = e->member->group;
    e->group = &board->groups[e->group_index];
    e->out->devices = e->group->devices;
    e->out->member = tg_arena_printf(e->arena, "%s/%s", tg_or(e->member->namespace_, ""),
                                     tg_or(e->member->name, "?"));
    return mark_scope(e, err);
}

/* --- the reason ------------------------------------------------------------------------------ */

static bool lacks_match(const struct tg_explaining *e, size_t stage)
{
    bool any = false, all = true;

    for (size_t i = 0; i < e->out->n_requests; i++) {
        any = any || e->out->requests[i].devices[stage] > 0;
        all = all && e->out->requests[i].devices[stage] > 0;
    }
    /* Of alternatives one is enough. */
    return e->out->n_requests > 0 && (e->group->exact ? !any : !all);
}

static bool lacks_fitting_match(const struct tg_explaining *e)
{
    bool any = false, all = true;

    for (size_t i = 0; i < e->out->n_requests; i++) {
        any = any || e->fits_alone[i];
        all = all && e->fits_alone[i];
    }
    return e->out->n_requests > 0 && (e->group->exact ? !any : !all);
}

static bool is_short_of_room(const struct tg_explaining *e)
{
    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        if (e->short_of[i])
            return true;
    }
    return false;
}

static bool has_constraints(const struct tg_explaining *e)
{
    const struct tg_piece *piece = e->group->piece;

    for (size_t i = 0; i < piece->n_claims; i++) {
        const struct tg_resource_claim_spec *spec = piece->claims[i]->spec;

        if (spec != NULL && spec->devices != NULL && spec->devices->constraints.n > 0)
            return true;
    }
    return false;
}

static bool is_contested(const struct tg_explaining *e)
{
    for (size_t i = 0; i < e->n_suspects; i++) {
        if (strcmp(e->suspects[i].rule, "DeviceContested") == 0)
            return true;
    }
    return false;
}

static const char *reason_of_devices(const struct tg_explaining *e)
{
    const struct tg_explained_supply *supply = &e->out->supply;

    if (lacks_match(e, TG_FUNNEL_SELECTED))
        return "NoMatchingDevice";
    if (e->out->never)
        return "NeverFits";
    if (lacks_fitting_match(e))
        return "NodesUnavailable";
    if (lacks_match(e, TG_FUNNEL_TOLERATED))
        return "DevicesTainted";
    if (!lacks_match(e, TG_FUNNEL_FREE) && lacks_match(e, TG_FUNNEL_UNCONTESTED))
        return is_contested(e) ? "DevicesContested" : "DevicesUnsupported";
    if (is_short_of_room(e))
        return "InsufficientNodeResources";
    if (supply->free < e->group->devices)
        return "InsufficientDevices";
    if (supply->most < e->group->devices)
        return "FragmentedDevices";
    return has_constraints(e) ? "ConstraintsUnmet" : "InsufficientDevices";
}

static const char *reason_of(const struct tg_explaining *e)
{
    if (e->out->gave_up)
        return "GaveUp";
    if (e->blocked)
        return "TopologyUnsatisfied";
    if (e->domain == NULL || (e->board->request->pack_required != NULL &&
                              e->out->best_domain.whole_fleet_fits && !e->out->never))
        return "NoDomain";
    if (e->out->nodes_fit == 0)
        return "NodesUnavailable";
    return e->group->devices == 0 ? "InsufficientNodeResources" : reason_of_devices(e);
}

/* --- all of it ------------------------------------------------------------------------------- */

/* All but what would help. */
static int find_reason(struct tg_explaining *e, struct tg_error *err)
{
    const struct tg_level *level = e->board->request->pack_required;
    int rc = 0;

    e->out->gave_up = e->board->gave_up;
    e->out->steps = e->board->max_steps;
    if (e->pack.required.n == 0) {
        e->out->best_domain =
            (struct tg_explained_domain){.level = level->name, .node_label = level->node_label};
        e->out->devices = e->board->members[0].devices;
        e->out->reason = reason_of(e);
        return 0;
    }
    rc = tg_explain_topology(e, err);
    if (rc == 0 && level != NULL)
        rc = tg_pack_anywhere(e->board, &e->out->best_domain.whole_fleet_fits, err);
    if (rc == 0)
        rc = find_domain(e, err);
    if (rc == 0)
        rc = look_at_member(e, err);
    if (rc == 0)
        rc = tg_explain_limits(e, err);
    if (rc == 0)
        rc = tg_explain_walk(e, err);
    if (rc == 0)
        rc = tg_explain_closest(e, err);
    if (rc == 0)
        rc = tg_explain_misses(e, err);
    if (rc == 0)
        e->out->reason = reason_of(e);
    return rc;
}

int tg_explain_board(struct tg_board *board, const struct tg_pack *pack, struct tg_no_place *ret,
                     struct tg_error *err)
{
    const struct tg_explain_input input = {.request = board->request};
    struct tg_explaining *e;
    struct tg_explanation *out;
    struct tg_text text;
    int rc = tg_core_alloc(board->arena, 1, sizeof(*e), &e, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, 1, sizeof(*out), &out, err);
    if (rc < 0)
        return rc;
    *out = (struct tg_explanation){.members = board->n_members};
    *e = (struct tg_explaining){.in = &input,
                                .out = out,
                                .arena = board->arena,
                                .board = board,
                                .pack = *pack,
                                .brief = true};
    rc = find_reason(e, err);
    if (rc < 0)
        return rc;
    tg_explanation_sentence(out, &text);
    *ret = (struct tg_no_place){.reason = out->reason,
                                .text = tg_arena_strdup(board->arena, text.data),
                                .members_short = out->members - out->placed,
                                .devices_per_member = out->devices};
    return ret->text != NULL ? 0
                             : tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                            "the decision needs more memory than its budget");
}

int tg_explain_request(struct tg_fleet *fleet, const struct tg_explain_input *input,
                       struct tg_arena *arena, struct tg_explanation *ret, struct tg_error *err)
{
    struct tg_explain_input in = *input;
    struct tg_explaining *e;
    bool placed = false;
    int rc = tg_core_alloc(arena, 1, sizeof(*e), &e, err);

    *ret = (struct tg_explanation){.members = input->request->n_pieces};
    if (rc < 0 || input->request->n_pieces == 0)
        return rc;
    tg_offers_tick(fleet);
    rc = tg_request_read_volumes(fleet, input->request, arena, &in.request, err);
    if (rc < 0)
        return rc;
    *e = (struct tg_explaining){.in = &in, .out = ret, .arena = arena};
    rc = tg_core_alloc(arena, 1, sizeof(*e->board), &e->board, err);
    if (rc == 0)
        rc = tg_board_init(e->board, fleet, in.request, arena, err);
    if (rc == 0)
        rc = tg_pack_init(&e->pack, e->board, err);
    if (rc == 0)
        rc = tg_pack_place(&e->pack, e->board, &placed, err);
    if (rc == 0 && !placed)
        rc = tg_pack_open(&e->pack, e->board, err);
    if (rc < 0 || placed) {
        ret->placed = placed ? ret->members : 0;
        return rc;
    }
    rc = find_reason(e, err);
    if (rc < 0 || e->domain == NULL)
        return rc;
    rc = tg_explain_stages(e, err);
    return rc < 0 ? rc : tg_explain_helps(e, fleet, err);
}
