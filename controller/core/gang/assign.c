/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/assign.h"

#include "controller/core/model/sort.h"

static size_t fill_needs(const struct tg_board_member *member, struct tg_need *needs)
{
    size_t n = 0;

    for (size_t i = 0; i < member->n_slots; i++) {
        for (size_t k = 0; k < member->slots[i].count; k++)
            needs[n++] = (struct tg_need){.ask = member->slots[i].ask, .count = 1};
    }
    return n;
}

/* The devices found for a member's needs, one after the other, with what they are for. */
static void write_member(const struct tg_board_member *member, const size_t *found,
                         struct tg_assigned *out)
{
    for (size_t i = 0; i < member->n_slots; i++) {
        for (size_t k = 0; k < member->slots[i].count; k++)
            *out++ = (struct tg_assigned){.device = *found++,
                                          .claim = member->slots[i].claim,
                                          .request = member->slots[i].request};
    }
}

/* The members on a node in their order, and what they need one by one. */
static int assign_plain(struct tg_board *board, size_t node, const size_t *members,
                        size_t n_members, struct tg_assignment *ret, struct tg_error *err)
{
    struct tg_assigned *items;
    struct tg_need *needs;
    size_t *found, n = 0;
    int rc = tg_core_alloc(board->arena, board->used[node], sizeof(*needs), &needs, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->used[node], sizeof(*found), &found, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->used[node], sizeof(*items), &items, err);
    for (size_t i = 0; rc == 0 && i < n_members; i++)
        n += fill_needs(&board->members[members[i]], needs + n);
    if (rc == 0)
        rc = tg_board_open_match(board, node, err);
    if (rc == 0)
        rc = tg_match_lowest(&board->match, &board->fleet->nodes[node], needs, n, found, err);
    n = 0;
    for (size_t i = 0; rc == 0 && i < n_members; i++) {
        const struct tg_board_member *member = &board->members[members[i]];

        write_member(member, found + n, items + n);
        ret[members[i]] = (struct tg_assignment){.items = items + n, .n = member->devices};
        n += member->devices;
    }
    return rc;
}

static int write_take(const struct tg_board *board, size_t node, const struct tg_fit_take *take,
                      struct tg_assigned *out, struct tg_error *err)
{
    *out = (struct tg_assigned){.device = tg_exact_row(&board->exact, node, take->device),
                                .claim = board->claims[take->claim].object,
                                .request = take->choice->name,
                                .admin = board->exact.book.wants[take->choice->want].admin};
    return tg_exact_consumed(&board->exact, node, take, &out->consumed, err);
}

/* Those with admin access last, as in the search that found their place (board.c). */
static void order_admin(const struct tg_board *board, size_t *members, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t member = members[i], at = i;

        for (; at > 0 && board->members[members[at - 1]].admin && !board->members[member].admin;
             at--)
            members[at] = members[at - 1];
        members[at] = member;
    }
}

/* The same by the exact search: takes come claim after claim. */
static int assign_exact(struct tg_board *board, size_t node, size_t *members, size_t n_members,
                        struct tg_assignment *ret, struct tg_error *err)
{
    struct tg_fit_answer answer = {.n_takes = 0};
    bool found = false, gave_up = false;
    struct tg_assigned *items;
    size_t n = 0, claim = 0, at = 0;
    int rc = 0;

    order_admin(board, members, n_members);
    for (size_t i = 0; i < n_members; i++) {
        const struct tg_board_member *member = &board->members[members[i]];

        for (size_t k = 0; k < member->piece->n_claims; k++)
            board->claims[n++] = member->claims[k];
    }
    rc = tg_exact_search(&board->exact, node, board->claims, n, &found, &gave_up, &answer, err);
    if (rc == 0 && !found)
        rc = tg_error_set(err, TG_INTERNAL, "node %s: devices of a placement cannot be found",
                          board->fleet->nodes[node].name);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, answer.n_takes, sizeof(*items), &items, err);
    for (size_t i = 0; rc == 0 && i < n_members; i++) {
        struct tg_assignment *own = &ret[members[i]];

        *own = (struct tg_assignment){.items = items + at};
        claim += board->members[members[i]].piece->n_claims;
        for (; rc == 0 && at < answer.n_takes && answer.takes[at].claim < claim; at++, own->n++)
            rc = write_take(board, node, &answer.takes[at], &items[at], err);
    }
    return rc;
}

/* All members of the node. */
static int assign_node(struct tg_board *board, size_t node, size_t *members,
                       struct tg_assignment *ret, struct tg_error *err)
{
    size_t n = 0;

    for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
        n++;
    /* The list has the last one first. */
    for (size_t m = board->head[node], i = n; m != TG_NO_INDEX; m = board->members[m].next)
        members[--i] = m;
    return tg_board_is_exact(board, node, TG_NO_INDEX)
               ? assign_exact(board, node, members, n, ret, err)
               : assign_plain(board, node, members, n, ret, err);
}

int tg_assign_devices(struct tg_board *board, struct tg_assignment *ret, struct tg_error *err)
{
    size_t *members;
    int rc = tg_core_alloc(board->arena, board->n_members, sizeof(*members), &members, err);

    for (size_t m = 0; rc == 0 && m < board->n_members; m++) {
        size_t node = board->members[m].node;

        /* Once a node: with the member that was put there last. */
        if (node != TG_NO_INDEX && board->head[node] == m)
            rc = assign_node(board, node, members, ret, err);
    }
    return rc;
}

int tg_assigned_write(const struct tg_fleet *fleet, const struct tg_assignment *assigned,
                      struct tg_arena *arena, struct tg_placed_device **ret, struct tg_error *err)
{
    struct tg_placed_device *out;
    int rc = tg_core_alloc(arena, assigned->n, sizeof(*out), &out, err);

    for (size_t i = 0; rc == 0 && i < assigned->n; i++) {
        const struct tg_fleet_device *device = &fleet->devices[assigned->items[i].device];

        out[i] = (struct tg_placed_device){.claim = assigned->items[i].claim,
                                           .request = assigned->items[i].request,
                                           .driver = device->driver,
                                           .pool = device->pool,
                                           .device = device->name,
                                           .admin = assigned->items[i].admin,
                                           .consumed = assigned->items[i].consumed};
        if (!device->binding)
            continue;
        out[i].bindings = tg_fleet_device(fleet, device->driver, device->pool, device->name, arena);
        if (out[i].bindings == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
    }
    *ret = out;
    return rc;
}
