/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/numbers.h"

#include <string.h>

#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/model/sort.h"

#define UNKNOWN UINT32_MAX

static bool is_special(const struct tg_explaining *e)
{
    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        if (e->group->exact_on[i] || e->board->shared[i])
            return true;
    }
    return e->wide > 0 || e->whole_wide > 0;
}

int tg_numbers_init(struct tg_numbers *numbers, const struct tg_explaining *e, struct tg_error *err)
{
    size_t nodes = e->board->fleet->n_nodes;
    int rc;

    *numbers = (struct tg_numbers){.e = e};
    rc = tg_core_alloc(e->arena, nodes, sizeof(*numbers->room), &numbers->room, err);
    if (rc == 0)
        rc = tg_core_alloc(e->arena, nodes, sizeof(*numbers->more), &numbers->more, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < nodes; i++)
        numbers->room[i] = UNKNOWN;
    numbers->decide = e->board->n_groups == 1 && e->board->n_rules == 0 && !e->group->exact &&
                      !e->group->admin && e->out->n_requests <= 1 && !e->out->more_requests &&
                      !is_special(e);
    return 0;
}

bool tg_numbers_decide(const struct tg_numbers *numbers, const struct tg_numbers_change *change)
{
    return numbers->decide &&
           (change->suspect == TG_NO_SUSPECT || !numbers->e->suspects[change->suspect].special);
}

/* Devices that come with the suspect gone. */
static void count_more(struct tg_numbers *n, size_t suspect)
{
    const struct tg_fleet *fleet = n->e->board->fleet;

    memset(n->more, 0, fleet->n_nodes * sizeof(*n->more));
    for (size_t d = 0; suspect != TG_NO_SUSPECT && d < fleet->device_rows; d++) {
        if (n->e->near_device[d] == suspect + 1 && fleet->devices[d].node != TG_NO_INDEX)
            n->more[fleet->devices[d].node]++;
    }
}

static size_t room_for(struct tg_numbers *n, const struct tg_numbers_change *change, size_t node)
{
    const struct tg_fleet_node *row = &n->e->board->fleet->nodes[node];
    size_t max = n->e->board->n_members;

    if (change->demand != NULL)
        return tg_room_copies(row, NULL, 0, change->demand, max, NULL);
    if (n->room[node] == UNKNOWN)
        n->room[node] = (uint32_t)tg_room_copies(row, NULL, 0, &n->e->group->demand, max, NULL);
    return n->room[node];
}

static size_t copies_on(struct tg_numbers *n, const struct tg_numbers_change *change, size_t node)
{
    const struct tg_explaining *e = n->e;
    size_t devices = change->devices == 0 ? e->group->devices : change->devices, room;
    bool passes = e->group->failed[node] == tg_fit_rules_count ||
                  (change->suspect != TG_NO_SUSPECT && e->near_node[node] == change->suspect + 1);

    if (!passes || e->free_on[node] + n->more[node] < devices)
        return 0;
    room = room_for(n, change, node);
    if (devices == 0)
        return room;
    devices = (e->free_on[node] + n->more[node]) / devices;
    return devices < room ? devices : room;
}

bool tg_numbers_fit(struct tg_numbers *n, const struct tg_numbers_change *change)
{
    const struct tg_domains *domains =
        change->domains == NULL ? &n->e->pack.required : change->domains;

    count_more(n, change->suspect);
    for (size_t i = 0; i < domains->n; i++) {
        const struct tg_scope *scope = &domains->items[i].scope;
        size_t members = 0;

        for (size_t k = 0; k < scope->n && members < n->e->board->n_members; k++)
            members += copies_on(n, change, scope->nodes[k]);
        if (members >= n->e->board->n_members)
            return true;
    }
    return false;
}
