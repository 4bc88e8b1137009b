/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/place.h"

#include "controller/core/explain/why.h"
#include "controller/core/gang/assign.h"
#include "controller/core/gang/pack.h"
#include "controller/core/model/sort.h"

static int write_piece(const struct tg_board *board, const struct tg_board_member *member,
                       const size_t *devices, struct tg_placed_piece *piece, struct tg_error *err)
{
    struct tg_placed_device *out;
    size_t n = 0;
    int rc = tg_core_alloc(board->arena, member->devices, sizeof(*out), &out, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < member->n_slots; i++) {
        const struct tg_board_slot *slot = &member->slots[i];

        for (size_t k = 0; k < slot->count; k++, n++) {
            const struct tg_fleet_device *device = &board->fleet->devices[devices[n]];

            out[n] = (struct tg_placed_device){.claim = slot->claim,
                                               .request = slot->request,
                                               .driver = device->driver,
                                               .pool = device->pool,
                                               .device = device->name};
        }
    }
    *piece = (struct tg_placed_piece){.node = board->fleet->nodes[member->node].name,
                                      .devices = out,
                                      .n_devices = member->devices};
    return 0;
}

static int write_placement(struct tg_board *board, struct tg_placement *ret, struct tg_error *err)
{
    struct tg_placed_piece *pieces;
    size_t **devices;
    int rc = tg_core_alloc(board->arena, board->n_members, sizeof(*pieces), &pieces, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->n_members, sizeof(*devices), &devices, err);
    if (rc == 0)
        rc = tg_assign_devices(board, devices, err);
    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        const struct tg_board_member *member = &board->members[i];

        rc = write_piece(board, member, devices[i], &pieces[member->index], err);
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
