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

/* The members on a node in their order, and what they need one by one. */
static int assign_node(struct tg_board *board, size_t node, const size_t *members, size_t n_members,
                       size_t **devices, struct tg_error *err)
{
    struct tg_need *needs;
    size_t *found, n = 0;
    int rc = tg_core_alloc(board->arena, board->used[node], sizeof(*needs), &needs, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->used[node], sizeof(*found), &found, err);
    for (size_t i = 0; rc == 0 && i < n_members; i++) {
        devices[members[i]] = found + n;
        n += fill_needs(&board->members[members[i]], needs + n);
    }
    return rc < 0
               ? rc
               : tg_match_lowest(&board->match, &board->fleet->nodes[node], needs, n, found, err);
}

int tg_assign_devices(struct tg_board *board, size_t **devices, struct tg_error *err)
{
    size_t *members;
    int rc = tg_core_alloc(board->arena, board->n_members, sizeof(*members), &members, err);

    for (size_t node = 0; rc == 0 && node < board->fleet->n_nodes; node++) {
        size_t n = 0;

        for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
            n++;
        /* The list has the last one first. */
        for (size_t m = board->head[node], i = n; m != TG_NO_INDEX; m = board->members[m].next)
            members[--i] = m;
        if (n > 0)
            rc = assign_node(board, node, members, n, devices, err);
    }
    return rc;
}
