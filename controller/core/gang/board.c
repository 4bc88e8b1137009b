/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/board.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/claim.h"
#include "controller/core/gang/key.h"
#include "controller/core/gang/leeway.h"
#include "controller/core/gang/offer.h"
#include "controller/core/gang/rule.h"
#include "controller/core/model/sort.h"

bool tg_board_usable(const struct tg_fleet_device *device)
{
    return device->unsupported == NULL && device->contested == NULL && device->holder == NULL;
}

static int read_member(struct tg_board *board, size_t index, struct tg_board_member *member,
                       struct tg_error *err)
{
    const struct tg_piece *piece = &board->request->pieces[index];
    const struct tg_object_meta *meta = NULL;
    struct tg_demand demand = {0};
    int rc = 0;

    if (piece->n_pods > 0)
        meta = piece->pods[0]->metadata;
    else if (piece->n_claims > 0)
        meta = piece->claims[0]->metadata;
    *member = (struct tg_board_member){.piece = piece,
                                       .index = index,
                                       .namespace_ = meta == NULL ? NULL : meta->namespace_,
                                       .name = meta == NULL ? NULL : meta->name,
                                       .node = TG_NO_INDEX,
                                       .next = TG_NO_INDEX};
    for (size_t i = 0; rc == 0 && i < piece->n_claims; i++) {
        size_t devices = 0;

        rc = tg_claim_supported(piece->claims[i], &devices, err);
        member->devices += devices;
        member->exact = member->exact || tg_exact_needed(piece->claims[i]);
        member->admin = member->admin || tg_exact_is_admin(piece->claims[i]);
    }
    if (rc == 0)
        rc = tg_demand_sum(piece->pods, piece->n_pods, board->arena, &demand, err);
    return rc < 0 ? rc : tg_piece_key(piece, &demand, board->arena, &member->key, err);
}

/* Those with the most devices first, then equal ones beside each other, then by name. */
static int compare_members(const void *pa, const void *pb, const void *context)
{
    const struct tg_board_member *a = pa, *b = pb;
    int order = 0;

    (void)context;
    if (a->devices != b->devices)
        return a->devices > b->devices ? -1 : 1;
    order = strcmp(a->key, b->key);
    if (order == 0 && a->piece->role != b->piece->role)
        return a->piece->role < b->piece->role ? -1 : 1;
    if (order == 0)
        order = tg_strcmp(a->namespace_, b->namespace_);
    return order != 0 ? order : tg_strcmp(a->name, b->name);
}

static int read_members(struct tg_board *board, struct tg_error *err)
{
    size_t n = board->request->n_pieces;
    struct tg_board_member *members;
    const void **order;
    int rc = tg_core_alloc(board->arena, n, sizeof(*members), &members, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, n, sizeof(*order), &order, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, n, sizeof(*board->members), &board->members, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = read_member(board, i, &members[i], err);
        order[i] = &members[i];
    }
    if (rc == 0)
        rc = tg_core_sort(order, n, compare_members, NULL, board->arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        board->members[i] = *(const struct tg_board_member *)order[i];
    board->n_members = n;
    return rc;
}

static int add_slot(struct tg_board *board, struct tg_board_member *member,
                    const struct tg_resource_claim *claim, const char *name,
                    const struct tg_exact_request *request, struct tg_error *err)
{
    struct tg_board_slot *slot = &member->slots[member->n_slots++];
    int rc = tg_ask_book_add(&board->book, request, &slot->ask, err);

    if (rc < 0)
        return tg_error_wrap(err, "claim %s/%s: request %s", tg_or(claim->metadata->namespace_, ""),
                             tg_or(claim->metadata->name, "?"), tg_or(name, "?"));
    slot->claim = claim;
    slot->request = name;
    slot->count = tg_request_count(request);
    return 0;
}

static int read_claim(struct tg_board *board, struct tg_board_member *member,
                      const struct tg_resource_claim *claim, struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    int rc = 0;

    for (size_t i = 0; rc == 0 && devices != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (request->first_available.n == 0)
            rc = add_slot(board, member, claim, request->name, request->exactly, err);
        for (size_t k = 0; rc == 0 && k < request->first_available.n; k++)
            rc = add_slot(board, member, claim, request->name, &request->first_available.items[k],
                          err);
    }
    return rc;
}

static int read_slots(struct tg_board *board, struct tg_board_member *member, struct tg_error *err)
{
    int rc = tg_core_alloc(board->arena, tg_offer_count_slots(member->piece),
                           sizeof(*member->slots), &member->slots, err);

    for (size_t i = 0; rc == 0 && i < member->piece->n_claims; i++)
        rc = read_claim(board, member, member->piece->claims[i], err);
    return rc;
}

static int merge_needs(struct tg_board *board, struct tg_board_group *group,
                       const struct tg_board_member *member, struct tg_error *err)
{
    int rc =
        tg_core_alloc(board->arena, member->n_slots, sizeof(*group->needs), &group->needs, err);

    for (size_t i = 0; rc == 0 && i < member->n_slots; i++) {
        size_t k = 0;

        while (k < group->n_needs && group->needs[k].ask != member->slots[i].ask)
            k++;
        if (k == group->n_needs)
            group->needs[group->n_needs++] = (struct tg_need){.ask = member->slots[i].ask};
        group->needs[k].count += member->slots[i].count;
    }
    group->devices = member->devices;
    group->exact = member->exact;
    group->admin = member->admin;
    return rc;
}

static size_t fixed_row(const struct tg_board *board, const struct tg_piece *piece)
{
    return piece->fixed_node == NULL ? TG_NO_INDEX
                                     : tg_fleet_find_node(board->fleet, piece->fixed_node);
}

static int open_group(struct tg_board *board, size_t first, struct tg_error *err)
{
    const struct tg_board_member *member = &board->members[first];
    struct tg_board_group *group = &board->groups[board->n_groups++];
    size_t nodes = board->fleet->n_nodes;
    int rc = 0;

    *group = (struct tg_board_group){
        .piece = member->piece, .first = first, .fixed = fixed_row(board, member->piece)};
    rc = tg_demand_sum(member->piece->pods, member->piece->n_pods, board->arena, &group->demand,
                       err);
    if (rc == 0)
        rc = merge_needs(board, group, member, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, nodes, sizeof(*group->failed), &group->failed, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, nodes, sizeof(*group->capacity), &group->capacity,
                                 err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, nodes, sizeof(*group->exact_on), &group->exact_on,
                                 err);
    return rc < 0
               ? rc
               : tg_core_alloc_unset(board->arena, nodes, sizeof(*group->free), &group->free, err);
}

static int read_groups(struct tg_board *board, struct tg_error *err)
{
    int rc =
        tg_core_alloc(board->arena, board->n_members, sizeof(*board->groups), &board->groups, err);

    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        struct tg_board_member *member = &board->members[i];

        rc = read_slots(board, member, err);
        if (rc == 0 && (i == 0 || strcmp(member->key, board->members[i - 1].key) != 0 ||
                        member->piece->role != board->members[i - 1].piece->role))
            rc = open_group(board, i, err);
        if (rc < 0)
            return rc;
        member->group = board->n_groups - 1;
        board->groups[member->group].n++;
    }
    return rc;
}

static int open_scratch(struct tg_board *board, struct tg_error *err)
{
    size_t nodes = board->fleet->n_nodes, asks = board->book.n_asks;
    struct tg_arena *arena = board->arena;
    int rc = tg_core_alloc(arena, nodes, sizeof(*board->read), &board->read, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->head), &board->head, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->used), &board->used, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->free_any), &board->free_any, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->shared), &board->shared, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->free_wanted), &board->free_wanted,
                                 err);
    if (rc == 0)
        rc = tg_core_alloc(arena, board->n_members + 1, sizeof(*board->taken), &board->taken, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, asks, sizeof(*board->needs), &board->needs, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, asks, sizeof(*board->need_of_ask), &board->need_of_ask, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->candidates), &board->candidates, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, nodes, sizeof(*board->order), &board->order, err);
    for (size_t i = 0; rc == 0 && i < asks; i++)
        board->need_of_ask[i] = TG_NO_INDEX;
    return rc;
}

/* What the fleet offers to the group. A piece that is fixed to a node fails the rules of all
 * others. */
static int read_offer(struct tg_board *board, struct tg_board_group *group, struct tg_error *err)
{
    bool is_fixed = group->piece->fixed_node != NULL;
    int rc = tg_offer_get(board->fleet, group->piece,
                          tg_place_policy(board->request->policies, group->piece), board->arena,
                          &group->offer, err);

    if (rc == 0 && (!is_fixed || group->fixed != TG_NO_INDEX))
        rc = tg_offer_fault(group->offer, group->fixed, err);
    if (rc == 0)
        group->rank = tg_offer_rank(group->offer, &group->type);
    return rc;
}

static void read_group(struct tg_board *board, struct tg_board_group *group, size_t i)
{
    const struct tg_offer_node *node = &tg_offer_nodes(group->offer)[i];

    board->free_any[i] = node->any;
    board->shared[i] = node->shared;
    group->failed[i] = node->failed;
    group->capacity[i] = group->free[i] = 0;
    group->exact_on[i] = false;
    if (group->piece->fixed_node != NULL && i != group->fixed)
        group->failed[i] = (unsigned char)(tg_fit_rules_count + 1);
    if (group->failed[i] != tg_fit_rules_count)
        return;
    group->free[i] = node->free;
    group->exact_on[i] = node->exact;
    group->capacity[i] = node->copies < group->n ? node->copies : (uint32_t)group->n;
    if (node->free > board->free_wanted[i])
        board->free_wanted[i] = node->free;
}

/* Numbers do not tell how many members the exact search finds devices for. */
static int search_capacity(struct tg_board *board, size_t k, size_t i, struct tg_error *err)
{
    struct tg_board_group *group = &board->groups[k];
    size_t copies = 0;
    int rc = 0;

    /* Nor when a search has said already that there is none. */
    if (group->failed[i] != tg_fit_rules_count || !tg_board_is_exact(board, i, k) ||
        tg_offer_nodes(group->offer)[i].copies == 0)
        return 0;
    rc = tg_board_copies(board, i, k, group->n, &copies, err);
    group->capacity[i] = (uint32_t)copies;
    return rc;
}

int tg_board_everything(struct tg_board *board, struct tg_scope *ret, struct tg_error *err)
{
    struct tg_fleet_walk walk = {.next = 0};
    size_t *nodes, node, n = 0;
    int rc = 0;

    if (board->everything.nodes == NULL) {
        rc = tg_core_alloc_unset(board->arena, board->fleet->n_nodes, sizeof(*nodes), &nodes, err);
        while (rc == 0 && (node = tg_fleet_next_node(board->fleet, &walk)) != TG_NO_INDEX)
            nodes[n++] = node;
        if (rc == 0)
            board->everything = (struct tg_scope){.nodes = nodes, .n = n};
    }
    *ret = board->everything;
    return rc;
}

int tg_board_read(struct tg_board *board, const struct tg_scope *scope, struct tg_error *err)
{
    int rc = 0;

    for (size_t n = 0; rc == 0 && n < scope->n; n++) {
        size_t i = scope->nodes[n];

        if (board->read[i])
            continue;
        board->read[i] = true;
        board->head[i] = TG_NO_INDEX;
        board->used[i] = 0;
        board->free_wanted[i] = 0;
        for (size_t k = 0; k < board->n_groups; k++)
            read_group(board, &board->groups[k], i);
        for (size_t k = 0; rc == 0 && k < board->n_groups; k++)
            rc = search_capacity(board, k, i, err);
    }
    return rc;
}

/* Once one member needs the exact search, all that share a node with it do. */
static int read_exact(struct tg_board *board, struct tg_error *err)
{
    size_t n = 0, most = 0, with_claims = 0;
    int rc = 0;

    board->any_exact = board->fleet->n_exact > 0;
    for (size_t i = 0; i < board->n_members; i++) {
        board->any_exact = board->any_exact || board->members[i].exact;
        with_claims += board->members[i].piece->n_claims > 0 ? 1 : 0;
        n += board->members[i].piece->n_claims;
        if (board->members[i].piece->n_claims > most)
            most = board->members[i].piece->n_claims;
    }
    if (!board->any_exact)
        return 0;
    rc = tg_exact_init(&board->exact, board->fleet, with_claims > 1, board->arena, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, n + most, sizeof(*board->claims), &board->claims, err);
    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        struct tg_board_member *member = &board->members[i];

        rc = tg_core_alloc(board->arena, member->piece->n_claims, sizeof(*member->claims),
                           &member->claims, err);
        for (size_t k = 0; rc == 0 && k < member->piece->n_claims; k++)
            rc = tg_exact_add(&board->exact, member->piece->claims[k], &member->claims[k], err);
    }
    return rc;
}

int tg_board_init(struct tg_board *board, const struct tg_fleet *fleet,
                  const struct tg_place_request *request, struct tg_arena *arena,
                  struct tg_error *err)
{
    int rc = 0;

    *board = (struct tg_board){.fleet = fleet,
                               .request = request,
                               .arena = arena,
                               .max_steps = request->max_steps == 0 ? TG_DEFAULT_MAX_STEPS
                                                                    : request->max_steps};
    tg_ask_book_init(&board->book, fleet, arena);
    rc = read_members(board, err);
    if (rc == 0)
        rc = read_groups(board, err);
    if (rc == 0)
        rc = read_exact(board, err);
    if (rc == 0)
        rc = open_scratch(board, err);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++)
        rc = read_offer(board, &board->groups[k], err);
    return rc < 0 ? rc : tg_rules_init(board, err);
}

void tg_board_clear(struct tg_board *board)
{
    for (size_t i = 0; i < board->n_members; i++) {
        struct tg_board_member *member = &board->members[i];

        if (member->node != TG_NO_INDEX) {
            board->head[member->node] = TG_NO_INDEX;
            board->used[member->node] = 0;
        }
        member->node = member->next = TG_NO_INDEX;
    }
    tg_rules_clear(board);
}

void tg_board_put(struct tg_board *board, size_t member, size_t node)
{
    tg_rules_count(board, board->members[member].group, node, 1);
    board->members[member].node = node;
    board->members[member].next = board->head[node];
    board->head[node] = member;
    /* Admin access leaves devices to others. */
    if (!board->members[member].admin)
        board->used[node] += board->members[member].devices;
}

void tg_board_take(struct tg_board *board, size_t member)
{
    size_t node = board->members[member].node;

    tg_rules_count(board, board->members[member].group, node, -1);
    board->head[node] = board->members[member].next;
    if (!board->members[member].admin)
        board->used[node] -= board->members[member].devices;
    board->members[member].node = board->members[member].next = TG_NO_INDEX;
}

/* Adds needs of some members of a group to the scratch list; returns its new length. */
static size_t add_needs(struct tg_board *board, size_t n, const struct tg_board_group *group,
                        size_t times)
{
    for (size_t i = 0; i < group->n_needs && times > 0; i++) {
        size_t *at = &board->need_of_ask[group->needs[i].ask];

        if (*at == TG_NO_INDEX) {
            *at = n++;
            board->needs[*at] = (struct tg_need){.ask = group->needs[i].ask};
        }
        board->needs[*at].count += group->needs[i].count * times;
    }
    return n;
}

static bool is_exact_group(const struct tg_board *board, size_t node, size_t group)
{
    return board->groups[group].exact || board->groups[group].exact_on[node];
}

bool tg_board_is_exact(const struct tg_board *board, size_t node, size_t group)
{
    bool exact = group != TG_NO_INDEX && is_exact_group(board, node, group);

    for (size_t m = board->head[node]; m != TG_NO_INDEX && !exact; m = board->members[m].next)
        exact = is_exact_group(board, node, board->members[m].group);
    return exact;
}

static size_t add_claims(struct tg_board *board, size_t n, const struct tg_board_member *member,
                         bool admin)
{
    for (size_t i = 0; member->admin == admin && i < member->piece->n_claims; i++)
        board->claims[n++] = member->claims[i];
    return n;
}

/* Have too few devices what they consume left of their counters? Of nodes that fail a rule devices
 * are not counted. */
static bool lacks_counters(const struct tg_board *board, size_t node, size_t k, size_t times)
{
    const struct tg_board_group *group = &board->groups[k];

    return group->failed[node] == tg_fit_rules_count && group->devices > 0 && !group->admin &&
           !board->shared[node] &&
           group->free[node] <
               group->devices * times + tg_leeway_count_short(board->fleet, &board->book,
                                                              group->needs, group->n_needs, node);
}

static int exact_fits(struct tg_board *board, size_t node, size_t k, size_t times, bool *ret,
                      struct tg_error *err)
{
    bool gave_up = false;
    size_t n = 0;
    int rc = tg_exact_learn(&board->exact, node, err);

    *ret = false;
    if (rc < 0 || lacks_counters(board, node, k, times))
        return rc;
    /* What others have by admin access is free all the same, but a search gives nothing twice to
     * those that come later: they come last. */
    for (int admin = 0; admin < 2; admin++) {
        for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
            n = add_claims(board, n, &board->members[m], admin == 1);
        for (size_t i = 0; i < times; i++)
            n = add_claims(board, n, &board->members[board->groups[k].first], admin == 1);
    }
    rc = tg_exact_search(&board->exact, node, board->claims, n, ret, &gave_up, NULL, err);
    board->gave_up = board->gave_up || gave_up;
    return rc;
}

int tg_board_open_match(struct tg_board *board, size_t node, struct tg_error *err)
{
    size_t devices = board->fleet->nodes[node].n_devices;

    if (board->match.book != NULL && devices <= board->match.max_devices)
        return 0;
    devices = 2 * devices + 8;
    return tg_match_init(&board->match, &board->book, devices, board->book.n_asks + devices,
                         board->arena, err);
}

int tg_board_devices_fit(struct tg_board *board, size_t node, size_t k, size_t times, bool *ret,
                         struct tg_error *err)
{
    const struct tg_board_group *group = &board->groups[k];
    size_t n = 0;
    int rc = 0;

    if (tg_board_is_exact(board, node, k))
        return exact_fits(board, node, k, times, ret, err);
    n = add_needs(board, 0, group, times);
    for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
        n = add_needs(board, n, &board->groups[board->members[m].group], 1);
    rc = tg_board_open_match(board, node, err);
    if (rc == 0)
        rc =
            tg_match_feasible(&board->match, &board->fleet->nodes[node], board->needs, n, ret, err);
    for (size_t i = 0; i < n; i++)
        board->need_of_ask[board->needs[i].ask] = TG_NO_INDEX;
    return rc;
}

int tg_board_copies(struct tg_board *board, size_t node, size_t k, size_t max, size_t *ret,
                    struct tg_error *err)
{
    const struct tg_board_group *group = &board->groups[k];
    size_t low = 0, high = max, n_taken = 0;

    *ret = 0;
    if (group->failed[node] != tg_fit_rules_count || max == 0)
        return 0;
    for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
        board->taken[n_taken++] = &board->groups[board->members[m].group].demand;
    high = tg_room_copies(&board->fleet->nodes[node], board->taken, n_taken, &group->demand, max,
                          NULL);
    if (group->devices > 0 && !group->admin && !board->shared[node]) {
        size_t rest = board->free_any[node] < board->used[node]
                          ? 0
                          : board->free_any[node] - board->used[node];

        high = rest / group->devices < high ? rest / group->devices : high;
    }
    /* What fits n times fits fewer times: halve. */
    while (group->devices > 0 && low < high) {
        size_t middle = high - (high - low) / 2;
        bool fits = false;
        int rc = tg_board_devices_fit(board, node, k, middle, &fits, err);

        if (rc < 0)
            return rc;
        if (fits)
            low = middle;
        else
            high = middle - 1;
    }
    *ret = high;
    return 0;
}
