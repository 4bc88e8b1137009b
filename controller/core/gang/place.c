/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/place.h"

#include "api/runtime/base/str.h"
#include "controller/core/explain/board.h"
#include "controller/core/gang/assign.h"
#include "controller/core/gang/offer.h"
#include "controller/core/gang/pack.h"
#include "controller/core/gang/quick.h"
#include "controller/core/gang/volumes.h"
#include "controller/core/model/sort.h"

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
        struct tg_placed_device *devices = NULL;

        rc = tg_assigned_write(board->fleet, &assigned[i], board->arena, &devices, err);
        pieces[member->index] =
            (struct tg_placed_piece){.node = board->fleet->nodes[member->node].name,
                                     .devices = devices,
                                     .n_devices = assigned[i].n};
    }
    if (rc == 0)
        *ret = (struct tg_placement){.pieces = pieces, .n_pieces = board->n_members};
    return rc;
}

static const char *first_class(const struct tg_piece *piece)
{
    for (size_t i = 0; i < piece->n_claims; i++) {
        const struct tg_resource_claim_spec *spec = piece->claims[i]->spec;
        const struct tg_device_request *request =
            spec == NULL || spec->devices == NULL || spec->devices->requests.n == 0
                ? NULL
                : &spec->devices->requests.items[0];

        if (request != NULL && request->exactly != NULL)
            return request->exactly->device_class_name;
        if (request != NULL && request->first_available.n > 0)
            return request->first_available.items[0].device_class_name;
    }
    return NULL;
}

const char *tg_place_policy(const struct tg_policies *policies, const struct tg_piece *piece)
{
    const char *name = first_class(piece);

    for (size_t i = 0; policies != NULL && name != NULL && i < policies->n_classes; i++) {
        if (tg_streq(policies->classes[i].class_name, name))
            return policies->classes[i].policy;
    }
    return policies == NULL ? NULL : policies->fleet;
}

static int place(const struct tg_fleet *fleet, const struct tg_place_request *request,
                 struct tg_arena *arena, struct tg_placement *ret, struct tg_no_place *ret_why,
                 struct tg_error *err)
{
    struct tg_board *board;
    struct tg_pack pack;
    bool placed = false;
    int rc = 0;

    rc = tg_quick_place(fleet, request, arena, ret, &placed, err);
    if (rc < 0 || placed)
        return rc;
    rc = tg_core_alloc(arena, 1, sizeof(*board), &board, err);
    if (rc == 0)
        rc = tg_board_init(board, fleet, request, arena, err);
    if (rc == 0)
        rc = tg_pack_init(&pack, board, err);
    if (rc == 0)
        rc = tg_pack_place(&pack, board, &placed, err);
    if (rc < 0)
        return rc;
    if (placed)
        return write_placement(board, ret, err);
    rc = tg_pack_open(&pack, board, err);
    if (rc == 0)
        rc = tg_explain_board(board, &pack, ret_why, err);
    return rc < 0 ? rc : tg_error_set(err, TG_UNAVAILABLE, "%s", ret_why->text);
}

int tg_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
             struct tg_arena *arena, struct tg_placement *ret, struct tg_no_place *ret_why,
             struct tg_error *err)
{
    int rc = 0;

    *ret = (struct tg_placement){.n_pieces = 0};
    if (request->n_pieces == 0)
        return 0;
    tg_offers_tick(fleet);
    rc = tg_request_read_volumes(fleet, request, arena, &request, err);
    return rc < 0 ? rc : place(fleet, request, arena, ret, ret_why, err);
}
