/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/place.h"

#include "controller/core/explain/why.h"
#include "controller/core/gang/assign.h"
#include "controller/core/gang/pack.h"
#include "controller/core/model/sort.h"

static int write_piece(const struct tg_board *board, const struct tg_board_member *member,
                       const struct tg_assignment *assigned, struct tg_placed_piece *piece,
                       struct tg_error *err)
{
    struct tg_placed_device *out;
    int rc = tg_core_alloc(board->arena, assigned->n, sizeof(*out), &out, err);

    for (size_t i = 0; rc == 0 && i < assigned->n; i++) {
        const struct tg_fleet_device *device = &board->fleet->devices[assigned->items[i].device];

        out[i] = (struct tg_placed_device){.claim = assigned->items[i].claim,
                                           .request = assigned->items[i].request,
                                           .driver = device->driver,
                                           .pool = device->pool,
                                           .device = device->name,
                                           .admin = assigned->items[i].admin,
                                           .consumed = assigned->items[i].consumed};
        if (!device->binding)
            continue;
        out[i].bindings =
            tg_fleet_device(board->fleet, device->driver, device->pool, device->name, board->arena);
        if (out[i].bindings == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
    }
    *piece = (struct tg_placed_piece){
        .node = board->fleet->nodes[member->node].name, .devices = out, .n_devices = assigned->n};
    return rc;
}

static int write_placement(struct tg_board *board, struct tg_placement *ret, struct tg_error *err)
{
    struct tg_placed_piece *pieces;
    struct tg_assignment *assigned;
    int rc = tg_core_alloc(board->arena, board->n_members, sizeof(*pieces), &pieces, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->n_members, sizeof(*assigned), &assigned, err);
    if (rc == 0)
        rc = tg_assign_devices(board, assigned, err);
    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        const struct tg_board_member *member = &board->members[i];

        rc = write_piece(board, member, &assigned[i], &pieces[member->index], err);
    }
    if (rc == 0)
        *ret = (struct tg_placement){.pieces = pieces, .n_pieces = board->n_members};
    return rc;
}

int tg_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
             struct tg_arena *arena, struct tg_placement *ret, struct tg_no_place *ret_why,
             struct tg_error *err)
{
    struct tg_board *board;
    struct tg_pack pack;
    bool placed = false;
    int rc = 0;

    *ret = (struct tg_placement){.n_pieces = 0};
    if (request->n_pieces == 0)
        return 0;
    rc = tg_core_alloc(arena, 1, sizeof(*board), &board, err);
    if (rc == 0)
        rc = tg_board_init(board, fleet, request, arena, err);
    if (rc == 0)
        rc = tg_pack_init(&pack, board, err);
    if (rc == 0)
        rc = tg_pack_search(&pack, board, &placed, err);
    if (rc < 0)
        return rc;
    if (placed)
        return write_placement(board, ret, err);
    rc = tg_explain(board, &pack, ret_why, err);
    return rc < 0 ? rc : tg_error_set(err, TG_UNAVAILABLE, "%s", ret_why->text);
}
